package odb

import (
	"errors"
	"io/fs"
	"strings"

	"gust/internal/disk/filestat"
	"gust/internal/pure/quote"
)

// maxAlternates bounds the alternates file, in bytes.
const maxAlternates = 1 << 20

// readAlternates returns the directories that the info/alternates file at path
// names, as they are written there, unquoted (gitrepository-layout(5)). One that
// does not exist names none.
func readAlternates(path string) ([]string, error) {
	data, _, err := filestat.ReadFile(path, maxAlternates)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		if line[0] == '"' {
			if name, rest, ok := quote.Cut(line); ok && rest == "" {
				line = name
			}
		}
		names = append(names, line)
	}
	return names, nil
}

// SplitAlternates splits the value of GIT_ALTERNATE_OBJECT_DIRECTORIES at sep,
// the system's path list separator, and unquotes its parts (git(1)). A quoted
// part may hold the separator.
func SplitAlternates(value string, sep byte) []string {
	var names []string
	for value != "" {
		if value[0] == '"' {
			if name, rest, ok := quote.Cut(value); ok {
				names = append(names, name)
				value = rest[min(1, len(rest)):] // Git does not look which byte it is
				continue
			}
		}
		name, rest, _ := strings.Cut(value, string(sep))
		if name != "" {
			names = append(names, name)
		}
		value = rest
	}
	return names
}
