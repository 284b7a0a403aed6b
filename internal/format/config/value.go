package config

import (
	"errors"
	"math"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
)

// ParseBool returns the boolean that s spells (git-config(1), "boolean").
func ParseBool(s string) (v, ok bool) {
	switch strings.ToLower(s) {
	case "true", "yes", "on":
		return true, true
	case "false", "no", "off", "":
		return false, true
	}
	if n, err := ParseInt(s); err == nil && n >= math.MinInt32 && n <= math.MaxInt32 {
		return n != 0, true
	}
	return false, false
}

var (
	errNotInt = errors.New("not an integer")
	errRange  = errors.New("out of range")
)

// ParseInt returns the integer that s spells: decimal, octal with a leading 0 or
// hexadecimal with a leading 0x, scaled by a suffix k, m or g of either case.
func ParseInt(s string) (int64, error) {
	s = strings.TrimLeft(s, " \t\n\v\f\r")
	shift := uint(0)
	if s != "" {
		switch s[len(s)-1] | 0x20 {
		case 'k':
			shift = 10
		case 'm':
			shift = 20
		case 'g':
			shift = 30
		}
		if shift != 0 {
			s = s[:len(s)-1]
		}
	}
	n, err := parseC(s)
	if err != nil {
		return 0, err
	}
	if n > math.MaxInt64>>shift || n < math.MinInt64>>shift {
		return 0, errRange
	}
	return n << shift, nil
}

// parseC parses as strtoimax(3) does with base 0: Go's own rules for base 0
// would also take 0o and underscores. Some C libraries take 0b too; most do not.
func parseC(s string) (int64, error) {
	digits, sign := s, ""
	if digits != "" && (digits[0] == '-' || digits[0] == '+') {
		sign, digits = digits[:1], digits[1:]
	}
	base := 10
	switch {
	case len(digits) > 2 && digits[0] == '0' && digits[1]|0x20 == 'x':
		base, digits = 16, digits[2:]
	case len(digits) > 1 && digits[0] == '0':
		base, digits = 8, digits[1:]
	}
	if digits == "" || digits[0] == '-' || digits[0] == '+' {
		return 0, errNotInt
	}
	n, err := strconv.ParseInt(sign+digits, base, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, errRange
	case err != nil:
		return 0, errNotInt
	}
	return n, nil
}

// Bool returns the boolean value of key and whether it is set. The error is a
// *ValueError.
func (c *Config) Bool(key string) (v, set bool, err error) {
	e, ok := c.last(key)
	if !ok {
		return false, false, nil
	}
	if e.NoValue {
		return true, true, nil
	}
	if v, ok = ParseBool(e.Value); !ok {
		return false, true, &ValueError{Entry: *e, Problem: "not a boolean"}
	}
	return v, true, nil
}

// Int returns the integer value of key and whether it is set. The error is a
// *ValueError.
func (c *Config) Int(key string) (n int64, set bool, err error) {
	e, ok := c.last(key)
	if !ok {
		return 0, false, nil
	}
	if e.NoValue {
		return 0, true, &ValueError{Entry: *e, Problem: "missing value"}
	}
	if n, err = ParseInt(e.Value); err != nil {
		return 0, true, &ValueError{Entry: *e, Problem: err.Error()}
	}
	return n, true, nil
}

// Path returns the value of key as a path, with a leading ~/ or ~user/ expanded,
// and whether it is set. A value marked ":(optional)" that names no file counts
// as not set. The error is a *ValueError.
func (c *Config) Path(key string) (path string, set bool, err error) {
	e, ok := c.last(key)
	if !ok {
		return "", false, nil
	}
	if e.NoValue {
		return "", true, &ValueError{Entry: *e, Problem: "missing value"}
	}
	value, optional := strings.CutPrefix(e.Value, ":(optional)")
	if path, err = ExpandPath(value, c.home); err != nil {
		return "", true, &ValueError{Entry: *e, Problem: err.Error()}
	}
	if optional && absent(path) {
		return "", false, nil
	}
	return path, true, nil
}

// ExpandPath expands a leading ~/ to home and ~user/ to that user's home
// (git-config(1), "pathname"). Other paths are returned as they are.
func ExpandPath(path, home string) (string, error) {
	if !strings.HasPrefix(path, "~") {
		return path, nil
	}
	name, rest, found := strings.Cut(path[1:], "/")
	dir := home
	if name != "" {
		u, err := user.Lookup(name)
		if err != nil {
			return "", errors.New("no such user: " + strconv.Quote(name))
		}
		dir = u.HomeDir
	}
	if dir == "" {
		return "", errors.New("no home directory is known")
	}
	if !found {
		return dir, nil
	}
	return strings.TrimSuffix(dir, string(filepath.Separator)) + "/" + rest, nil
}
