package filter

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/ianaindex"
)

// A utfForm is a name of UTF-16 or UTF-32 as Git reads it, in upper case and
// without the dash behind UTF.
type utfForm struct {
	unit     int // bytes
	order    binary.ByteOrder
	bom      bool // a byte order mark chooses the order and is dropped
	needsBOM bool // without a byte order mark Git leaves the content alone
	noBOM    bool // with a byte order mark Git leaves the content alone
}

// utfFormOf returns the form that name stands for.
func utfFormOf(name string) (utfForm, bool) {
	name = strings.ToUpper(name)
	name, ok := strings.CutPrefix(name, "UTF")
	if !ok {
		return utfForm{}, false
	}
	le, be := binary.LittleEndian, binary.BigEndian
	switch strings.TrimPrefix(name, "-") {
	case "16":
		return utfForm{unit: 2, order: le, bom: true, needsBOM: true}, true
	case "16LE":
		return utfForm{unit: 2, order: le, noBOM: true}, true
	case "16BE":
		return utfForm{unit: 2, order: be, noBOM: true}, true
	case "16LE-BOM":
		return utfForm{unit: 2, order: le, bom: true}, true
	case "32":
		return utfForm{unit: 4, order: le, bom: true, needsBOM: true}, true
	case "32LE":
		return utfForm{unit: 4, order: le, noBOM: true}, true
	case "32BE":
		return utfForm{unit: 4, order: be, noBOM: true}, true
	}
	return utfForm{}, false
}

// isUTF8 reports whether name is one of Git's names for UTF-8, the encoding of
// blobs, which asks for no conversion.
func isUTF8(name string) bool {
	return strings.EqualFold(name, "utf-8") || strings.EqualFold(name, "utf8")
}

// decode returns src, which is in the encoding called name, in UTF-8
// (gitattributes(5), "working-tree-encoding"). It returns src itself where
// git-status(1) compares the content as it is: the content is not valid, the
// rule about byte order marks is broken, or the encoding is not known.
func decode(src []byte, name string) []byte {
	if len(src) == 0 {
		return src
	}
	if form, ok := utfFormOf(name); ok {
		if out, ok := form.decode(src); ok {
			return out
		}
		return src
	}
	e, err := ianaindex.IANA.Encoding(ianaName(name))
	if err != nil || e == nil {
		return src
	}
	if m, ok := e.(*charmap.Charmap); ok {
		return decodeBytes(src, m)
	}
	out, err := e.NewDecoder().Bytes(src)
	// The decoders put U+FFFD for what is not valid. No encoding that gets
	// here can express that character otherwise but GB18030.
	if err != nil || bytes.ContainsRune(out, utf8.RuneError) {
		return src
	}
	return out
}

// decodeBytes is decode for an encoding with one byte per character.
func decodeBytes(src []byte, m *charmap.Charmap) []byte {
	// The tables lack the control characters that ISO-8859 has in common.
	controls := strings.HasPrefix(m.String(), "ISO 8859")
	out := make([]byte, 0, len(src)+len(src)/4)
	for _, c := range src {
		r := m.DecodeByte(c)
		switch {
		// Two Belarusian letters of the table are box drawings in RFC 2319.
		case m == charmap.KOI8U && c == 0xae:
			r = '╝'
		case m == charmap.KOI8U && c == 0xbe:
			r = '╬'
		case r != utf8.RuneError:
		case controls && 0x80 <= c && c < 0xa0:
			r = rune(c)
		default:
			return src
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}

// ianaName returns the registered name for those that iconv(1) knows and the
// registry does not.
func ianaName(name string) string {
	lower := strings.ToLower(name)
	switch lower {
	case "latin-1":
		return "ISO-8859-1"
	case "sjis":
		return "Shift_JIS"
	case "eucjp":
		return "EUC-JP"
	case "euckr":
		return "EUC-KR"
	case "cp866", "cp437", "cp850", "cp852", "cp855", "cp858", "cp860", "cp862", "cp863", "cp865":
		return "IBM" + lower[2:]
	}
	if page, ok := strings.CutPrefix(lower, "cp125"); ok && len(page) == 1 {
		return "windows-125" + page
	}
	return name
}

// decode returns src in UTF-8 and whether Git would convert it.
func (f utfForm) decode(src []byte) ([]byte, bool) {
	order, hasBOM := f.mark(src)
	if hasBOM && f.noBOM || !hasBOM && f.needsBOM {
		return nil, false
	}
	if f.bom && hasBOM {
		f.order, src = order, src[f.unit:]
	}
	if len(src)%f.unit != 0 {
		return nil, false
	}
	out := make([]byte, 0, len(src))
	for len(src) > 0 {
		r := f.at(src)
		src = src[f.unit:]
		if f.unit == 2 && 0xd800 <= r && r < 0xdc00 && len(src) > 0 {
			if low := f.at(src); 0xdc00 <= low && low < 0xe000 {
				r = 0x10000 + (r-0xd800)<<10 + (low - 0xdc00)
				src = src[f.unit:]
			}
		}
		if r > utf8.MaxRune || 0xd800 <= r && r < 0xe000 {
			return nil, false
		}
		out = utf8.AppendRune(out, rune(r))
	}
	return out, true
}

// at returns the first unit of src.
func (f utfForm) at(src []byte) uint32 {
	if f.unit == 2 {
		return uint32(f.order.Uint16(src))
	}
	return f.order.Uint32(src)
}

// mark returns the byte order that the mark at the start of src tells, and
// whether there is one.
func (f utfForm) mark(src []byte) (binary.ByteOrder, bool) {
	if len(src) < f.unit {
		return nil, false
	}
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		g := utfForm{unit: f.unit, order: order}
		if g.at(src) == 0xfeff {
			return order, true
		}
	}
	return nil, false
}
