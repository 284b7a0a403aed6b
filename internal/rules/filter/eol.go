package filter

// Stats counts what decides whether content is text. The zero value has seen
// nothing; content is added in pieces.
type Stats struct {
	crlf         int64
	loneCR       int64
	nul          int64
	printable    int64
	nonPrintable int64
	last         byte // the last byte seen
	pendingCR    bool // it is a carriage return that is not counted yet
}

// Add counts one more piece of the content.
func (s *Stats) Add(p []byte) {
	if len(p) == 0 {
		return
	}
	pending := s.pendingCR
	for _, c := range p {
		if pending {
			pending = false
			if c == '\n' {
				s.crlf++
				continue
			}
			s.loneCR++
		}
		switch {
		case c == '\r':
			pending = true
		case c == '\n':
		case c >= ' ' && c != 0x7f, c == '\b', c == '\t', c == 0x1b, c == '\f':
			s.printable++
		default:
			s.nonPrintable++
			if c == 0 {
				s.nul++
			}
		}
	}
	s.pendingCR, s.last = pending, p[len(p)-1]
}

// CRLF returns the number of line endings CRLF.
func (s *Stats) CRLF() int64 { return s.crlf }

// Binary reports whether Git's guess about the content is that it is binary: it
// has a NUL, a carriage return that no line feed follows, or more than one
// control byte for 128 others. A last byte ^Z, the end of a DOS file, does not
// count.
func (s *Stats) Binary() bool {
	if s.loneCR > 0 || s.pendingCR || s.nul > 0 {
		return true
	}
	n := s.nonPrintable
	if s.last == 0x1a {
		n--
	}
	return s.printable>>7 < n
}

// CleansEOL reports whether CRLF becomes LF in content with the given counts.
// It is for gitattributes(5)'s text=auto that indexed matters, see Clean: a
// text file that has CRLF in the index keeps it.
func (p *Plan) CleansEOL(s *Stats, indexed func() ([]byte, error)) (bool, error) {
	if p.eol == eolNone || s.crlf == 0 {
		return false, nil
	}
	if p.eol == eolText {
		return true, nil
	}
	if s.Binary() {
		return false, nil
	}
	if indexed == nil {
		return true, nil
	}
	blob, err := indexed()
	if err != nil {
		return false, err
	}
	var old Stats
	old.Add(blob)
	return old.crlf == 0 || old.Binary(), nil
}

// AppendWithoutCR appends src to dst, a piece of a content that CleansEOL
// reported true for, with LF for CRLF. next is the byte that follows src in the
// content, or 0 at its end.
func (p *Plan) AppendWithoutCR(dst, src []byte, next byte) []byte {
	for i, c := range src {
		if c == '\r' {
			behind := next
			if i+1 < len(src) {
				behind = src[i+1]
			}
			if behind == '\n' {
				continue
			}
		}
		dst = append(dst, c)
	}
	return dst
}
