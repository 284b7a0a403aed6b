// Package gitstatusd is gitstatusd's request and response framing, and the
// options of its command line.
//
// Requests and responses are fields separated by byte 31 (US) and ended by byte
// 30 (RS). docs/protocol.md lists the fields.
package gitstatusd

import (
	"bytes"
	"fmt"
	"strconv"

	"gust/internal/pure/summary"
)

// RecordSeparator ends requests and responses.
const RecordSeparator = 0x1e

const (
	fieldSep  = 0x1f // US
	recordSep = RecordSeparator
)

// MaxRequest bounds a request in bytes: a longer one is refused before its end
// is seen. Paths are at most a few kilobytes.
const MaxRequest = 1 << 20

// A Request is one parsed request.
type Request struct {
	ID      string
	Dir     string
	GitDir  bool     // Dir is a git directory
	NoIndex bool     // compute nothing that reads the index
	Env     []string // NAME=value pairs, only behind --gust
	Hello   bool     // the start-up handshake; only ID is set
}

// helloID is the ID of the request that both classic plugins send first.
const helloID = "}hello"

// ParseRequest parses a request without its record separator. extended allows
// the further fields of --gust.
func ParseRequest(data []byte, extended bool) (Request, error) {
	id, rest, ok := bytes.Cut(data, []byte{fieldSep})
	if !ok {
		return Request{}, fmt.Errorf("malformed request: no field separator in %q", clip(data))
	}
	q := Request{ID: string(id)}
	if q.ID == helloID && len(rest) == 0 {
		q.Hello = true
		return q, nil
	}
	fields := bytes.Split(rest, []byte{fieldSep})
	if len(fields) > 2 && !extended {
		return Request{}, fmt.Errorf("malformed request: %d fields in %q", len(fields)+1, clip(data))
	}
	dir := fields[0]
	if len(dir) > 0 && dir[0] == ':' {
		q.GitDir, dir = true, dir[1:]
	}
	q.Dir = string(dir)
	if len(fields) > 1 {
		switch flag := string(fields[1]); flag {
		case "0":
		case "1":
			q.NoIndex = true
		default:
			return Request{}, fmt.Errorf("malformed request: flag %q in %q", clip(fields[1]), clip(data))
		}
	}
	for _, f := range fields[min(2, len(fields)):] {
		v, err := decodePercent(f)
		if err != nil || bytes.IndexByte(f, '=') <= 0 {
			return Request{}, fmt.Errorf("malformed request: variable %q", clip(f))
		}
		q.Env = append(q.Env, v)
	}
	return q, nil
}

// decodePercent decodes %1E, %1F and %25, as any other percent code.
func decodePercent(f []byte) (string, error) {
	if bytes.IndexByte(f, '%') < 0 {
		return string(f), nil
	}
	out := make([]byte, 0, len(f))
	for i := 0; i < len(f); i++ {
		if f[i] != '%' {
			out = append(out, f[i])
			continue
		}
		if len(f)-i < 3 {
			return "", strconv.ErrSyntax
		}
		n, err := strconv.ParseUint(string(f[i+1:i+3]), 16, 8)
		if err != nil {
			return "", err
		}
		out = append(out, byte(n))
		i += 2
	}
	return string(out), nil
}

// clip shortens what is quoted in a message.
func clip(data []byte) []byte { return data[:min(len(data), 200)] }

// AppendResponse appends the response to request id, including its trailing
// record separator. A nil s means the directory is in no repository. Field order
// is gitstatusd's and is listed in docs/protocol.md.
//
// Hot path: once per prompt. Does not allocate if dst has room.
func AppendResponse(dst []byte, id string, s *summary.Summary) []byte {
	dst = appendPrintable(dst, id)
	if s == nil {
		return append(dst, fieldSep, '0', recordSep)
	}
	dst = append(dst, fieldSep, '1')
	dst = appendText(dst, s.WorkDir)
	dst = appendText(dst, s.Commit)
	dst = appendText(dst, s.Branch)
	dst = appendText(dst, s.UpstreamBranch)
	dst = appendText(dst, s.RemoteName)
	dst = appendText(dst, s.RemoteURL)
	dst = appendText(dst, s.Action)
	dst = appendCount(dst, s.IndexSize)
	dst = appendCount(dst, s.Staged)
	dst = appendCount(dst, s.Unstaged)
	dst = appendCount(dst, s.Conflicted)
	dst = appendCount(dst, s.Untracked)
	dst = appendCount(dst, s.Ahead)
	dst = appendCount(dst, s.Behind)
	dst = appendCount(dst, s.Stashes)
	dst = appendText(dst, s.Tag)
	dst = appendCount(dst, s.UnstagedDeleted)
	dst = appendCount(dst, s.StagedNew)
	dst = appendCount(dst, s.StagedDeleted)
	dst = appendText(dst, s.PushRemoteName)
	dst = appendText(dst, s.PushRemoteURL)
	dst = appendCount(dst, s.PushAhead)
	dst = appendCount(dst, s.PushBehind)
	dst = appendCount(dst, s.SkipWorktree)
	dst = appendCount(dst, s.AssumeUnchanged)
	dst = appendText(dst, s.Encoding)
	dst = appendText(dst, s.Subject)
	return append(dst, recordSep)
}

func appendText(dst []byte, s string) []byte {
	return appendPrintable(append(dst, fieldSep), s)
}

func appendCount(dst []byte, n int) []byte {
	return strconv.AppendInt(append(dst, fieldSep), int64(n), 10)
}

// appendPrintable appends s with every ASCII control byte as a question mark.
func appendPrintable(dst []byte, s string) []byte {
	for i := range len(s) {
		c := s[i]
		if c < 32 || c == 127 {
			c = '?'
		}
		dst = append(dst, c)
	}
	return dst
}
