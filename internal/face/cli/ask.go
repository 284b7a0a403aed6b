package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"gust/internal/daemon/wire"
	"gust/internal/face/prompt"
	"gust/internal/pure/summary"
)

// absolute returns dir as an absolute path, the working directory for "".
func (p *Program) absolute(dir string) (string, error) {
	if filepath.IsAbs(dir) {
		return dir, nil
	}
	cwd, err := p.Dir()
	if err != nil {
		return "", fmt.Errorf("cannot find the working directory: %w", err)
	}
	// Not joined: that would take 'link/..' for no step at all.
	if dir != "" {
		cwd += string(filepath.Separator) + dir
	}
	return cwd, nil
}

// prompt is `gust prompt`: a prompt may show its output and nothing else, so that
// every trouble is silence, and code 0.
func (p *Program) prompt(ctx context.Context, args []string) int {
	var asJSON bool
	shell := "plain"
	if p.Terminal {
		shell = "ansi"
	}
	dir, err := parse(args, map[string]*bool{"--json": &asJSON}, map[string]*string{"--shell": &shell})
	if err != nil {
		return p.fail(exitUsage, "prompt: %v", err)
	}
	form, ok := prompt.ParseForm(shell)
	if !ok {
		return p.fail(exitUsage, "prompt: unknown shell '%s': it is one of ansi, bash, plain, zsh", shell)
	}
	st := prompt.NewStyle(p.lookup)
	s, err := p.ask(ctx, dir, st)
	if asJSON {
		p.writeJSON(s, err)
		return exitOK
	}
	if s == nil {
		return exitOK
	}
	text := prompt.Append(nil, s, st, form)
	if form == prompt.Plain || form == prompt.ANSI {
		text = append(text, '\n')
	}
	if _, err := p.Out.Write(text); err != nil {
		return exitFail
	}
	return exitOK
}

// query is `gust query`: everything there is to know, for scripts.
func (p *Program) query(ctx context.Context, args []string) int {
	var asJSON bool
	var deadline string
	dir, err := parse(args, map[string]*bool{"--json": &asJSON}, map[string]*string{"--deadline": &deadline})
	if err != nil {
		return p.fail(exitUsage, "query: %v", err)
	}
	if deadline != "" {
		limit, err := time.ParseDuration(deadline)
		if err != nil || limit <= 0 || !asJSON {
			return p.fail(exitUsage, "query: --deadline takes a time like 20ms, and goes with --json")
		}
		return p.queryBy(ctx, dir, limit)
	}
	s, err := p.ask(ctx, dir, prompt.NewStyle(p.lookup))
	if s == nil && err == nil && dir != "" {
		// A prompt may stand in a directory that is gone; who names one means it.
		_, err = os.Stat(dir)
	}
	if asJSON {
		if p.writeJSON(s, err) != nil || err != nil {
			return exitFail
		}
		return exitOK
	}
	if err != nil {
		p.fail(exitFail, "%v", err)
	}
	if s != nil {
		if err := p.writeText(s); err != nil {
			return exitFail
		}
	}
	if err != nil {
		return exitFail
	}
	return exitOK
}

// An answer is what the JSON forms say. Names stay; new ones may come.
type answer struct {
	Repository bool   `json:"repository"`
	Error      string `json:"error,omitempty"`
	*wire.State
}

// writeJSON writes one line about s, or about there being none. Bytes that are no
// UTF-8 come out as U+FFFD; JSON cannot say them.
func (p *Program) writeJSON(s *summary.Summary, problem error) error {
	a := answer{Repository: s != nil}
	if s != nil {
		a.State = wire.StateOf(s)
	}
	if problem != nil {
		a.Error = problem.Error()
	}
	e := json.NewEncoder(p.Out)
	e.SetEscapeHTML(false)
	return e.Encode(a)
}

// writeText writes the names of the JSON form and their values, one a line.
func (p *Program) writeText(s *summary.Summary) error {
	data, err := json.Marshal(wire.StateOf(s))
	if err != nil {
		return err
	}
	return writePairs(p.Out, data)
}
