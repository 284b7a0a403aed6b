package quote

import "strings"

// Path returns path as Git prints paths: as it is, or quoted in C's style where it
// holds control characters, quotes, backslashes or, if high is set (core.quotePath),
// bytes above 0x7f.
func Path(path string, high bool) string {
	plain := true
	for i := 0; i < len(path) && plain; i++ {
		plain = !special(path[i], high)
	}
	if plain {
		return path
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(path) {
		c := path[i]
		if !special(c, high) {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('\\')
		if n := strings.IndexByte("\a\b\f\n\r\t\v\\\"", c); n >= 0 {
			b.WriteByte(`abfnrtv\"`[n])
		} else {
			b.Write([]byte{'0' + c>>6, '0' + c>>3&7, '0' + c&7})
		}
	}
	b.WriteByte('"')
	return b.String()
}

func special(c byte, high bool) bool {
	return c < 0x20 || c == '"' || c == '\\' || c == 0x7f || high && c >= 0x80
}
