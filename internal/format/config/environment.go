package config

import (
	"strconv"
	"strings"
)

// environment returns the settings of GIT_CONFIG_COUNT and its pairs, then those
// of GIT_CONFIG_PARAMETERS, which git -c sets and which wins.
func environment(env map[string]string) ([]Entry, error) {
	var entries []Entry
	if count := env["GIT_CONFIG_COUNT"]; count != "" {
		n, err := strconv.Atoi(strings.TrimLeft(count, " \t"))
		switch {
		case err != nil:
			return nil, &SyntaxError{Problem: "bogus count in GIT_CONFIG_COUNT"}
		case n < 0 || n > 1<<20:
			return nil, &SyntaxError{Problem: "too many entries in GIT_CONFIG_COUNT"}
		}
		for i := range n {
			suffix := strconv.Itoa(i)
			key, ok := env["GIT_CONFIG_KEY_"+suffix]
			if !ok {
				return nil, &SyntaxError{Problem: "missing config key GIT_CONFIG_KEY_" + suffix}
			}
			value, ok := env["GIT_CONFIG_VALUE_"+suffix]
			if !ok {
				return nil, &SyntaxError{Problem: "missing config value GIT_CONFIG_VALUE_" + suffix}
			}
			if entries, err = appendEnv(entries, key, value, false); err != nil {
				return nil, err
			}
		}
	}
	return parameters(entries, env["GIT_CONFIG_PARAMETERS"])
}

// appendEnv appends one setting of the environment.
func appendEnv(entries []Entry, key, value string, noValue bool) ([]Entry, error) {
	if problem := checkKey(key); problem != "" {
		return nil, &SyntaxError{Problem: problem + ": '" + key + "'"}
	}
	return append(entries, Entry{Key: CanonicalKey(key), Value: value, NoValue: noValue, Scope: Command}), nil
}

// checkKey returns what is wrong with a key given as one string, or "".
func checkKey(key string) string {
	first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.')
	switch {
	case key == "":
		return "empty config key"
	case first <= 0:
		return "key does not contain a section"
	case last == len(key)-1:
		return "key does not contain a variable name"
	}
	for i := range first {
		if !isKeyChar(int(key[i])) {
			return "invalid key"
		}
	}
	for i := last + 1; i < len(key); i++ {
		if !isKeyChar(int(key[i])) || i == last+1 && !isAlpha(int(key[i])) {
			return "invalid key"
		}
	}
	if strings.ContainsRune(key, '\n') {
		return "invalid key (newline)"
	}
	return ""
}

// parameters appends the settings of GIT_CONFIG_PARAMETERS: shell-quoted words,
// each 'key=value' (or 'key'), or 'key'='value' (or 'key'=).
func parameters(entries []Entry, s string) ([]Entry, error) {
	bogus := &SyntaxError{Problem: "bogus format in GIT_CONFIG_PARAMETERS"}
	for s != "" {
		word, rest, ok := unquote(s)
		if !ok {
			return nil, bogus
		}
		key, value, noValue := word, "", false
		if strings.HasPrefix(rest, "=") {
			rest = rest[1:]
			noValue = rest == "" || isSpace(int(rest[0]))
			if !noValue {
				if value, rest, ok = unquote(rest); !ok {
					return nil, bogus
				}
			}
		} else {
			key, value, ok = strings.Cut(word, "=")
			noValue = !ok
		}
		if rest != "" && !isSpace(int(rest[0])) {
			return nil, bogus
		}
		var err error
		if entries, err = appendEnv(entries, key, value, noValue); err != nil {
			return nil, err
		}
		s = strings.TrimLeft(rest, " \t\n\r")
	}
	return entries, nil
}

// unquote reads one word in single quotes from the front of s. A quote and an
// exclamation mark within stand outside of the quotes, behind a backslash.
func unquote(s string) (word, rest string, ok bool) {
	if !strings.HasPrefix(s, "'") {
		return "", "", false
	}
	var b strings.Builder
	s = s[1:]
	for {
		end := strings.IndexByte(s, '\'')
		if end < 0 {
			return "", "", false
		}
		b.WriteString(s[:end])
		s = s[end+1:]
		if len(s) >= 3 && s[0] == '\\' && (s[1] == '\'' || s[1] == '!') && s[2] == '\'' {
			b.WriteByte(s[1])
			s = s[3:]
			continue
		}
		return b.String(), s, true
	}
}
