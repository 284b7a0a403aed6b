// Package pktline is pkt-line framing, for long-running filter processes.
//
// gitprotocol-common(5): a line is four hexadecimal digits that give its
// length with the digits, and the payload. Lengths 0, 1 and 2 are not lines
// but marks; 3 means nothing.
package pktline

import (
	"errors"
	"fmt"
	"io"
)

// MaxPayload is the number of bytes that fit in one line.
const MaxPayload = 65520 - headSize

const headSize = 4

// A Kind says what was read.
type Kind uint8

const (
	Data        Kind = iota // a line with a payload, perhaps an empty one
	Flush                   // 0000: the end of a list or of a content
	Delim                   // 0001
	ResponseEnd             // 0002
)

// ErrMalformed means that the other side does not speak pkt-line.
var ErrMalformed = errors.New("malformed pkt-line")

// AppendLine appends a line with the given payload of at most MaxPayload bytes
// to dst.
func AppendLine[S string | []byte](dst []byte, payload S) []byte {
	const digits = "0123456789abcdef"
	n := len(payload) + headSize
	if n > MaxPayload+headSize {
		panic("pktline: payload is too long for one line")
	}
	dst = append(dst, digits[n>>12], digits[n>>8&15], digits[n>>4&15], digits[n&15])
	return append(dst, payload...)
}

// AppendFlush appends the flush mark to dst.
func AppendFlush(dst []byte) []byte { return append(dst, "0000"...) }

// AppendContent appends content of any length in as many lines as it takes, and
// the flush mark that ends it.
func AppendContent(dst, content []byte) []byte {
	for len(content) > 0 {
		n := min(len(content), MaxPayload)
		dst = AppendLine(dst, content[:n])
		content = content[n:]
	}
	return AppendFlush(dst)
}

// A Reader reads lines.
type Reader struct {
	r   io.Reader
	buf [MaxPayload + headSize]byte
}

// NewReader returns a Reader of r, which should be buffered.
func NewReader(r io.Reader) *Reader { return &Reader{r: r} }

// Next reads one line or mark. The payload is valid until the next call. The
// error is io.EOF if the input ends between lines, io.ErrUnexpectedEOF if it
// ends within one, and wraps ErrMalformed if what is there is no line.
func (r *Reader) Next() (Kind, []byte, error) {
	head := r.buf[:headSize]
	if _, err := io.ReadFull(r.r, head); err != nil {
		return 0, nil, err
	}
	n := 0
	for _, c := range head {
		d := unhex(c)
		if d > 15 {
			return 0, nil, fmt.Errorf("%w: length %q", ErrMalformed, head)
		}
		n = n<<4 | int(d)
	}
	switch {
	case n <= 2:
		return []Kind{Flush, Delim, ResponseEnd}[n], nil, nil
	case n < headSize || n > len(r.buf):
		return 0, nil, fmt.Errorf("%w: length %q", ErrMalformed, head)
	}
	payload := r.buf[headSize:n]
	if _, err := io.ReadFull(r.r, payload); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return 0, nil, err
	}
	return Data, payload, nil
}

func unhex(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10
	}
	return 0xff
}
