// Package shell holds shell init scripts, embedded and rendered for one shell and
// one set of options.
//
// The scripts directory also has gitstatus's drop-in files. They are complete as
// they lie there; the part between their marks is what `gust init` prints under
// names of gust's own, so that both run the same code.
package shell

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"text/template"
)

//go:embed scripts
var embedded embed.FS

// ErrUnknownShell is the error for a shell that gust has no script for.
var ErrUnknownShell = errors.New("unknown shell")

// Options say what Init renders. The paths are absolute.
type Options struct {
	Gust   string // the gust binary
	Daemon string // the gitstatusd binary
	// Full sets the whole prompt; otherwise the script only keeps variables up to
	// date that a prompt can use.
	Full bool
}

// Shells lists the shells that Init knows, sorted.
func Shells() []string { return []string{"bash", "zsh"} }

// Files returns the scripts, as they are installed.
func Files() fs.FS {
	sub, err := fs.Sub(embedded, "scripts")
	if err != nil {
		panic("shell: no scripts directory was embedded: " + err.Error())
	}
	return sub
}

// Init returns the script that an rc file of the named shell evaluates. The error
// wraps ErrUnknownShell if there is none.
func Init(name string, o Options) ([]byte, error) {
	if !slices.Contains(Shells(), name) {
		return nil, fmt.Errorf("%w '%s': it is one of %s", ErrUnknownShell, name, strings.Join(Shells(), ", "))
	}
	ending := map[string]string{"bash": "sh", "zsh": "zsh"}[name]
	plugin, err := shared("gitstatus.plugin." + ending)
	if err != nil {
		return nil, err
	}
	prompt, err := shared("gitstatus.prompt." + ending)
	if err != nil {
		return nil, err
	}
	text, err := fs.ReadFile(Files(), "init."+name)
	if err != nil {
		return nil, err
	}
	// No shell has a use for these two delimiters.
	t, err := template.New(name).Delims("@{", "}@").Parse(string(text))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = t.Execute(&out, map[string]any{
		"Gust": Quote(o.Gust), "Daemon": Quote(o.Daemon), "Full": o.Full, "Plugin": plugin, "Prompt": prompt,
	})
	return out.Bytes(), err
}

const (
	sharedBegin = "# >>> shared with gust init\n"
	sharedEnd   = "# <<< shared with gust init\n"
)

// shared returns the part of a drop-in file that gust's own script has too, with
// gust's own names.
func shared(name string) (string, error) {
	text, err := fs.ReadFile(Files(), name)
	if err != nil {
		return "", err
	}
	_, rest, found := strings.Cut(string(text), sharedBegin)
	part, _, ended := strings.Cut(rest, sharedEnd)
	if !found || !ended {
		return "", fmt.Errorf("no shared part in '%s'", name)
	}
	return indent(strings.TrimSpace(ownNames().Replace(part))), nil
}

// indent indents what stands inside of a condition. No string of the scripts goes
// over several lines.
func indent(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line != "\n" {
			b.WriteString("  ")
		}
		b.WriteString(line)
	}
	return b.String()
}

// ownNames turns gitstatus's names into gust's. The state of the zsh plugin is a
// variable whose name is the prefix of the functions' names.
func ownNames() *strings.Replacer {
	return strings.NewReplacer(
		"_gitstatus_SFX", "__gust_state", "_gitstatus[", "__gust_state[", "_SFX", "",
		"_gitstatus_", "__gust_", "gitstatus_", "__gust_",
		"GITSTATUS_PROMPT", "GUST_PROMPT", "GITSTATUS_DAEMON_PID", "GUST_DAEMON_PID",
	)
}

// Quote returns s as one word for any shell of the Bourne family, whatever is in
// it.
func Quote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
