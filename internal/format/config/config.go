// Package config reads git-config files: parse, include and includeIf, scopes,
// and typed lookups.
//
// The syntax is git-config(1)'s. A Config is what Git sees after all files of
// all scopes, in order: the last value of a key wins. The package knows no
// repository: the paths, and the facts that conditions ask for, are passed in.
package config

import (
	"fmt"
	"strings"

	"gust/internal/disk/filestat"
)

// A Scope is where a setting comes from; higher scopes are read later and win
// (git-config(1), SCOPES).
type Scope uint8

const (
	System   Scope = iota // $(prefix)/etc/gitconfig
	Global                // ~/.gitconfig and $XDG_CONFIG_HOME/git/config
	Local                 // $GIT_DIR/config
	Worktree              // $GIT_DIR/config.worktree
	Command               // GIT_CONFIG_COUNT, GIT_CONFIG_PARAMETERS
)

// String returns the name that git config --show-scope prints.
func (s Scope) String() string {
	return [...]string{"system", "global", "local", "worktree", "command"}[s]
}

// Protected reports whether s is protected configuration (git-config(1)), which
// a repository cannot set.
func (s Scope) Protected() bool { return s != Local && s != Worktree }

// An Entry is one setting, in the order Git reads them.
type Entry struct {
	Key     string // canonical: section and name in lower case, subsection as written
	Value   string // "" if NoValue
	NoValue bool   // the key stands without "=": true as a boolean, an error as anything else
	Scope   Scope
	File    string // "" for the environment
	Line    int    // from 1; 0 for the environment
}

// A Config is a set of settings. It is immutable and safe for concurrent use.
type Config struct {
	entries []Entry
	byKey   map[string][]int32 // indices in entries, ascending
	home    string
	files   []watched
	conds   []condition
}

// watched is a file that was read, or looked for.
type watched struct {
	path string
	sig  filestat.Signature
}

// A SyntaxError reports a line that is not git-config(1) syntax, or a file that
// breaks the rules for including.
type SyntaxError struct {
	File    string // "" for the environment
	Line    int
	Problem string
}

func (e *SyntaxError) Error() string {
	if e.File == "" {
		return fmt.Sprintf("bad configuration in the environment: %s", e.Problem)
	}
	return fmt.Sprintf("bad config line %d in file '%s': %s", e.Line, e.File, e.Problem)
}

// A ValueError reports a value that is not of the type that was asked for.
type ValueError struct {
	Entry   Entry
	Problem string
}

func (e *ValueError) Error() string {
	where := "in the environment"
	if e.Entry.File != "" {
		where = fmt.Sprintf("in file '%s' at line %d", e.Entry.File, e.Entry.Line)
	}
	return fmt.Sprintf("bad value '%s' of '%s' %s: %s", e.Entry.Value, e.Entry.Key, where, e.Problem)
}

// fromEntries returns the Config of entries, which it keeps.
func fromEntries(entries []Entry, home string) *Config {
	c := &Config{entries: entries, byKey: make(map[string][]int32, len(entries)), home: home}
	for i := range entries {
		c.byKey[entries[i].Key] = append(c.byKey[entries[i].Key], int32(i))
	}
	return c
}

// CanonicalKey returns key with its section and its name, but not its
// subsection, in lower case.
func CanonicalKey(key string) string {
	first := strings.IndexByte(key, '.')
	if first < 0 {
		return strings.ToLower(key)
	}
	last := strings.LastIndexByte(key, '.')
	return strings.ToLower(key[:first]) + key[first:last] + strings.ToLower(key[last:])
}

// last returns the entry of key that wins.
func (c *Config) last(key string) (*Entry, bool) {
	is, ok := c.byKey[key]
	if !ok {
		if is, ok = c.byKey[CanonicalKey(key)]; !ok {
			return nil, false
		}
	}
	return &c.entries[is[len(is)-1]], true
}

// Entry returns the entry of key that wins, and whether there is one.
func (c *Config) Entry(key string) (Entry, bool) {
	if e, ok := c.last(key); ok {
		return *e, true
	}
	return Entry{}, false
}

// Get returns the last value of key and whether key is set. A key without "="
// is set and has the value "".
func (c *Config) Get(key string) (string, bool) {
	if e, ok := c.last(key); ok {
		return e.Value, true
	}
	return "", false
}

// GetAll returns all values of key, in order.
func (c *Config) GetAll(key string) []string {
	var all []string
	for _, e := range c.Entries(key) {
		all = append(all, e.Value)
	}
	return all
}

// Entries returns all entries of key, in order.
func (c *Config) Entries(key string) []Entry {
	is := c.byKey[CanonicalKey(key)]
	if len(is) == 0 {
		return nil
	}
	all := make([]Entry, len(is))
	for n, i := range is {
		all[n] = c.entries[i]
	}
	return all
}

// All returns every entry, in order. The caller must not change it.
func (c *Config) All() []Entry { return c.entries }

// Subsections returns the distinct subsections of section that have settings,
// in the order in which they appear first.
func (c *Config) Subsections(section string) []string {
	prefix := strings.ToLower(section) + "."
	var subs []string
	seen := make(map[string]bool)
	for i := range c.entries {
		rest, ok := strings.CutPrefix(c.entries[i].Key, prefix)
		if !ok {
			continue
		}
		dot := strings.LastIndexByte(rest, '.')
		if dot < 0 || seen[rest[:dot]] {
			continue
		}
		seen[rest[:dot]] = true
		subs = append(subs, rest[:dot])
	}
	return subs
}

// Unchanged reports whether Load would return the same again: every file that
// was read or looked for still matches its signature, and the conditions of
// includeIf that were consulted still hold or still fail.
func (c *Config) Unchanged() bool {
	for i := range c.files {
		if !c.files[i].sig.Matches(c.files[i].path) {
			return false
		}
	}
	for i := range c.conds {
		if c.conds[i].holds() != c.conds[i].held {
			return false
		}
	}
	return true
}
