package filter

import (
	"bytes"
	"errors"
	"runtime"

	"gust/internal/pure/oid"
	"gust/internal/rules/attr"
)

// ErrNotSmudged means that a content needs a conversion that is not done here.
var ErrNotSmudged = errors.New("conversion is left to git")

// An EOL is the value of core.eol.
type EOL uint8

const (
	EOLNative EOL = iota // also: not set
	EOLLF
	EOLCRLF
)

// A Smudge says what a checkout has to do to one blob (gitattributes(5),
// "Checking-out and checking-in"): ident first, then line endings. The zero Smudge
// does nothing.
type Smudge struct {
	crlf  eolAction
	ident bool
	left  bool // to git: an encoding or a driver
}

// Smudge returns what the attribute values, in the order of NewQuery, ask a
// checkout for.
func (s *Settings) Smudge(values []attr.Value) Smudge {
	text, crlf, eol, ident, filter, encoding := values[0], values[1], values[2], values[3], values[4], values[5]
	m := Smudge{ident: ident.State == attr.Set}
	if encoding.State == attr.String && encoding.Text != "" && !isUTF8(encoding.Text) {
		m.left = true
	}
	if filter.State == attr.String {
		if _, ok := s.Drivers[filter.Text]; ok {
			m.left = true
		}
	}
	action := s.eolAction(text, crlf, eol)
	if action != eolNone && s.writesCRLF(text, crlf, eol) {
		m.crlf = action
	}
	return m
}

// writesCRLF reports whether a checkout of a file whose line endings are
// normalised writes CRLF.
func (s *Settings) writesCRLF(text, crlf, eol attr.Value) bool {
	v := text
	if !decidesText(v) {
		v = crlf
	}
	switch {
	case v.Is("input"), eol.Is("lf"):
		return false
	case eol.Is("crlf"):
		return true
	case s.AutoCRLF == AutoTrue:
		return true
	case s.AutoCRLF == AutoInput:
		return false
	case s.EOL == EOLNative:
		return runtime.GOOS == "windows"
	}
	return s.EOL == EOLCRLF
}

// Identity reports whether the blob is written as it is.
func (m *Smudge) Identity() bool { return *m == Smudge{} }

// Left reports whether the conversion is not done here.
func (m *Smudge) Left() bool { return m.left }

// Apply returns what a checkout writes for the blob src with the given object ID:
// src itself if nothing changes, which is never written to. The error is
// ErrNotSmudged.
func (m *Smudge) Apply(src []byte, id oid.ID) ([]byte, error) {
	if m.left {
		return nil, ErrNotSmudged
	}
	out := src
	if m.ident && bytes.Contains(out, []byte("$Id")) {
		if bytes.Contains(out, []byte("$Id:")) {
			return nil, ErrNotSmudged // what is between the dollars may be another system's
		}
		out = bytes.ReplaceAll(out, []byte("$Id$"), []byte("$Id: "+id.String()+" $"))
	}
	if m.crlf == eolNone {
		return out, nil
	}
	var st Stats
	st.Add(out)
	lone := int64(bytes.Count(out, []byte("\n"))) - st.crlf
	if lone == 0 || m.crlf == eolAuto && (st.crlf > 0 || st.Binary()) {
		return out, nil
	}
	return appendCRLF(make([]byte, 0, int64(len(out))+lone), out), nil
}

// appendCRLF appends src with CRLF for each LF that no CR precedes.
func appendCRLF(dst, src []byte) []byte {
	last := byte(0)
	for _, c := range src {
		if c == '\n' && last != '\r' {
			dst = append(dst, '\r')
		}
		dst = append(dst, c)
		last = c
	}
	return dst
}
