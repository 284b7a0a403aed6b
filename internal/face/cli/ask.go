package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

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
	*state
}

type state struct {
	WorkDir         string `json:"workdir"`
	Commit          string `json:"commit"`
	Branch          string `json:"branch"`
	Tag             string `json:"tag"`
	Action          string `json:"action"`
	RemoteName      string `json:"remote_name"`
	RemoteBranch    string `json:"remote_branch"`
	RemoteURL       string `json:"remote_url"`
	Ahead           int    `json:"ahead"`
	Behind          int    `json:"behind"`
	PushRemoteName  string `json:"push_remote_name"`
	PushRemoteURL   string `json:"push_remote_url"`
	PushAhead       int    `json:"push_ahead"`
	PushBehind      int    `json:"push_behind"`
	Stashes         int    `json:"stashes"`
	IndexSize       int    `json:"index_size"`
	Staged          int    `json:"staged"`
	StagedNew       int    `json:"staged_new"`
	StagedDeleted   int    `json:"staged_deleted"`
	Unstaged        int    `json:"unstaged"`
	UnstagedDeleted int    `json:"unstaged_deleted"`
	Conflicted      int    `json:"conflicted"`
	Untracked       int    `json:"untracked"`
	SkipWorktree    int    `json:"skip_worktree"`
	AssumeUnchanged int    `json:"assume_unchanged"`
	Encoding        string `json:"encoding"`
	Summary         string `json:"summary"`
}

func stateOf(s *summary.Summary) *state {
	return &state{
		WorkDir: s.WorkDir, Commit: s.Commit, Branch: s.Branch, Tag: s.Tag, Action: s.Action,
		RemoteName: s.RemoteName, RemoteBranch: s.UpstreamBranch, RemoteURL: s.RemoteURL, Ahead: s.Ahead, Behind: s.Behind,
		PushRemoteName: s.PushRemoteName, PushRemoteURL: s.PushRemoteURL, PushAhead: s.PushAhead, PushBehind: s.PushBehind,
		Stashes: s.Stashes, IndexSize: s.IndexSize,
		Staged: s.Staged, StagedNew: s.StagedNew, StagedDeleted: s.StagedDeleted,
		Unstaged: s.Unstaged, UnstagedDeleted: s.UnstagedDeleted, Conflicted: s.Conflicted, Untracked: s.Untracked,
		SkipWorktree: s.SkipWorktree, AssumeUnchanged: s.AssumeUnchanged, Encoding: s.Encoding, Summary: s.Subject,
	}
}

// writeJSON writes one line about s, or about there being none. Bytes that are no
// UTF-8 come out as U+FFFD; JSON cannot say them.
func (p *Program) writeJSON(s *summary.Summary, problem error) error {
	a := answer{Repository: s != nil}
	if s != nil {
		a.state = stateOf(s)
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
	data, err := json.Marshal(stateOf(s))
	if err != nil {
		return err
	}
	return writePairs(p.Out, data)
}
