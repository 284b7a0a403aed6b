package pktline

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestReaderNext(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"line", "0006a\n", `data "a\n"; EOF`},
		{"empty-line", "0004", `data ""; EOF`},
		{"marks", "000000010002", "flush; delim; end; EOF"},
		{"upper-case", "000Aabcdef", `data "abcdef"; EOF`},
		{"three", "0003", `malformed pkt-line: length "0003"`},
		{"too-long", "fff1", `malformed pkt-line: length "fff1"`},
		{"not-hex", "zzzz", `malformed pkt-line: length "zzzz"`},
		{"cut-head", "00", "unexpected EOF"},
		{"cut-payload", "0008ab", "unexpected EOF"},
		{"no-payload", "0008", "unexpected EOF"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := NewReader(strings.NewReader(tt.in))
			var got []string
			for {
				kind, payload, err := r.Next()
				if err != nil {
					got = append(got, err.Error())
					break
				}
				got = append(got, []string{fmt.Sprintf("data %q", payload), "flush", "delim", "end"}[kind])
			}
			if s := strings.Join(got, "; "); s != tt.want {
				t.Errorf("reading %q gives %s, want %s", tt.in, s, tt.want)
			}
		})
	}
}

func TestAppendContent(t *testing.T) {
	for _, n := range []int{0, 1, MaxPayload - 1, MaxPayload, MaxPayload + 1, 3*MaxPayload + 7} {
		content := bytes.Repeat([]byte("x\x00\n"), n/3+1)[:n]
		r := NewReader(bytes.NewReader(AppendContent(nil, content)))
		var got []byte
		for {
			kind, payload, err := r.Next()
			if err != nil {
				t.Fatalf("reading %d bytes back: %v", n, err)
			}
			if kind == Flush {
				break
			}
			got = append(got, payload...)
		}
		if !bytes.Equal(got, content) {
			t.Errorf("%d bytes come back as %d others", n, len(got))
		}
		if _, _, err := r.Next(); err != io.EOF {
			t.Errorf("behind the content of %d bytes: %v, want EOF", n, err)
		}
	}
}

// TestNextReadsGit reads what git itself frames: the answer of upload-pack.
func TestNextReadsGit(t *testing.T) {
	dir := t.TempDir()
	git := func(args ...string) []byte {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_PROTOCOL=version=2")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %q: %v", args, err)
		}
		return out
	}
	git("init", "-q")
	r := NewReader(bytes.NewReader(git("upload-pack", "--advertise-refs", ".")))
	kind, payload, err := r.Next()
	if kind != Data || string(payload) != "version 2\n" || err != nil {
		t.Errorf("git begins with %v %q, %v, want the line \"version 2\"", kind, payload, err)
	}
	for err == nil {
		if kind, _, err = r.Next(); err == nil && kind == Flush {
			_, _, err = r.Next()
			break
		}
	}
	if err != io.EOF {
		t.Errorf("git's answer ends with %v, want a flush and EOF", err)
	}
}

func FuzzReaderNext(f *testing.F) {
	f.Add([]byte("0006a\n00000004"))
	f.Add([]byte("00010002ffff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := NewReader(bytes.NewReader(data))
		var again []byte
		for {
			kind, payload, err := r.Next()
			if err != nil {
				if err != io.EOF && err != io.ErrUnexpectedEOF && !errors.Is(err, ErrMalformed) {
					t.Errorf("reading %q: unexpected error %v", data, err)
				}
				break
			}
			switch kind {
			case Data:
				again = AppendLine(again, payload)
			case Flush:
				again = AppendFlush(again)
			default:
				again = append(again, []string{"0001", "0002"}[kind-Delim]...)
			}
		}
		if !bytes.EqualFold(data[:len(again)], again) {
			t.Errorf("%q is read as %q", data, again)
		}
	})
}
