package wire

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"gust/internal/pure/summary"
)

// An Answer is one line from the server. Which of its members are there says what
// it is: Ack a request that was taken, Error one that failed, Complete the answer
// to a query.
type Answer struct {
	ID    string `json:"id,omitempty"`
	Ack   bool   `json:"ack,omitempty"`
	OK    bool   `json:"ok,omitempty"` // Hello, Ping, Stop, Cancel: done
	Error string `json:"error,omitempty"`

	// Complete is false where the deadline came before the answer: what is said
	// then is what was last known, with Stale, or nothing.
	Complete   *bool `json:"complete,omitempty"`
	Stale      bool  `json:"stale,omitempty"`
	Repository *bool `json:"repository,omitempty"`
	*State
	// Bytes are the members of State that are no UTF-8. In their own places, what
	// is none is U+FFFD.
	Bytes Bytes `json:"bytes,omitempty"`

	Server *ServerStatus `json:"server,omitempty"` // Status
}

// A State is a summary.Summary as it travels.
type State struct {
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

// A Repository is what the server knows of one repository.
type Repository struct {
	WorkDir string `json:"workdir"`
	GitDir  string `json:"git_dir,omitempty"`
	// Mode is "watched" or "polled", with Why; empty for one that is not kept now.
	Mode    string  `json:"mode,omitempty"`
	Why     string  `json:"why,omitempty"`
	Queries int     `json:"queries"`
	Median  float64 `json:"median_ms"` // of the last queries
	P99     float64 `json:"p99_ms"`
	Error   string  `json:"last_error,omitempty"`
}

// A ServerStatus is what a server says of itself.
type ServerStatus struct {
	Protocol      int          `json:"protocol"`
	Build         Build        `json:"build"`
	PID           int          `json:"pid"`
	Socket        string       `json:"socket"`
	Uptime        int          `json:"uptime_s"`
	Clients       int          `json:"clients"`
	Subscriptions int          `json:"subscriptions"`
	Queries       int          `json:"queries"`
	Memory        int          `json:"memory_bytes"` // that the process got from the system
	Goroutines    int          `json:"goroutines"`
	Watches       int          `json:"watches"`
	Repositories  []Repository `json:"repositories"`
}

// AnswerOf returns the answer to the query id: s, nil where there is no
// repository, and what is wrong with it.
func AnswerOf(id string, s *summary.Summary, problem error) Answer {
	found, complete := s != nil, true
	a := Answer{ID: id, Complete: &complete, Repository: &found}
	if problem != nil {
		a.Error = problem.Error()
	}
	if s == nil {
		return a
	}
	a.State = StateOf(s)
	for _, t := range a.texts() {
		if !utf8.ValidString(*t.value) {
			if a.Bytes == nil {
				a.Bytes = make(Bytes)
			}
			a.Bytes[t.name] = []byte(*t.value)
		}
	}
	return a
}

// StateOf returns s as it travels.
func StateOf(s *summary.Summary) *State {
	return &State{
		WorkDir: s.WorkDir, Commit: s.Commit, Branch: s.Branch, Tag: s.Tag, Action: s.Action,
		RemoteName: s.RemoteName, RemoteBranch: s.UpstreamBranch, RemoteURL: s.RemoteURL, Ahead: s.Ahead, Behind: s.Behind,
		PushRemoteName: s.PushRemoteName, PushRemoteURL: s.PushRemoteURL, PushAhead: s.PushAhead, PushBehind: s.PushBehind,
		Stashes: s.Stashes, IndexSize: s.IndexSize,
		Staged: s.Staged, StagedNew: s.StagedNew, StagedDeleted: s.StagedDeleted,
		Unstaged: s.Unstaged, UnstagedDeleted: s.UnstagedDeleted, Conflicted: s.Conflicted, Untracked: s.Untracked,
		SkipWorktree: s.SkipWorktree, AssumeUnchanged: s.AssumeUnchanged, Encoding: s.Encoding, Summary: s.Subject,
	}
}

type namedText struct {
	name  string
	value *string
}

// texts returns the members of State that hold a repository's own bytes.
func (s *State) texts() []namedText {
	return []namedText{
		{"workdir", &s.WorkDir}, {"branch", &s.Branch}, {"tag", &s.Tag}, {"action", &s.Action},
		{"remote_name", &s.RemoteName}, {"remote_branch", &s.RemoteBranch}, {"remote_url", &s.RemoteURL},
		{"push_remote_name", &s.PushRemoteName}, {"push_remote_url", &s.PushRemoteURL},
		{"encoding", &s.Encoding}, {"summary", &s.Summary},
	}
}

// Summary returns what a complete answer says, as live.State.Query would.
func (a *Answer) Summary() (*summary.Summary, error) {
	var problem error
	if a.Error != "" {
		problem = errors.New(a.Error)
	}
	switch {
	case a.State == nil || a.Repository == nil || !*a.Repository:
		return nil, problem
	case a.Complete == nil || !*a.Complete:
		return nil, fmt.Errorf("the answer %q is incomplete", a.ID)
	}
	s := *a.State
	for _, t := range s.texts() {
		if b, ok := a.Bytes[t.name]; ok {
			*t.value = string(b)
		}
	}
	return &summary.Summary{
		WorkDir: s.WorkDir, Commit: s.Commit, Branch: s.Branch, Tag: s.Tag, Action: s.Action,
		RemoteName: s.RemoteName, UpstreamBranch: s.RemoteBranch, RemoteURL: s.RemoteURL, Ahead: s.Ahead, Behind: s.Behind,
		PushRemoteName: s.PushRemoteName, PushRemoteURL: s.PushRemoteURL, PushAhead: s.PushAhead, PushBehind: s.PushBehind,
		Stashes: s.Stashes, IndexSize: s.IndexSize,
		Staged: s.Staged, StagedNew: s.StagedNew, StagedDeleted: s.StagedDeleted,
		Unstaged: s.Unstaged, UnstagedDeleted: s.UnstagedDeleted, Conflicted: s.Conflicted, Untracked: s.Untracked,
		SkipWorktree: s.SkipWorktree, AssumeUnchanged: s.AssumeUnchanged, Encoding: s.Encoding, Subject: s.Summary,
	}, problem
}
