// Package quote undoes the C-style quoting of paths and patterns (core.quotePath
// in git-config(1), gitattributes(5), git(1)).
package quote

import "strings"

// Cut reads the C-style quoted string that s begins with, and returns what it
// stands for and what is behind it. ok is false where s does not begin with a
// well-formed one.
func Cut(s string) (text, rest string, ok bool) {
	if s == "" || s[0] != '"' {
		return "", "", false
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; c {
		case '"':
			return b.String(), s[i+1:], true
		case '\\':
			c, n := unescape(s[i+1:])
			if n == 0 {
				return "", "", false
			}
			b.WriteByte(c)
			i += n
		default:
			b.WriteByte(c)
		}
	}
	return "", "", false
}

// unescape returns the byte that s, what follows a backslash, stands for and
// how many bytes of s that takes, 0 if it is no escape.
func unescape(s string) (byte, int) {
	if s == "" {
		return 0, 0
	}
	if i := strings.IndexByte(`abfnrtv\"`, s[0]); i >= 0 {
		return "\a\b\f\n\r\t\v\\\""[i], 1
	}
	if len(s) < 3 || s[0] < '0' || s[0] > '3' {
		return 0, 0
	}
	v := 0
	for _, c := range []byte(s[:3]) {
		if c < '0' || c > '7' {
			return 0, 0
		}
		v = v<<3 | int(c-'0')
	}
	return byte(v), 3
}
