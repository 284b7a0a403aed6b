// Package wire is what travels over the per-user socket: lines of JSON, and the
// records of a gitstatusd that passes its requests on.
//
// docs/server.md is the description; its examples are run by a test.
package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"gust/internal/daemon/live"
)

// Protocol is the version of what is spoken. A server greets with it, and a
// client that needs a higher one than the server has must not ask it anything but
// Hello, Ping and Stop, which stay what they are in every version.
const Protocol = 1

// MaxLine bounds a line or record from a client, in bytes. A longer one ends the
// connection. The longest honest one is a path and an environment.
const MaxLine = 1 << 20

// Operations of a Request.
const (
	Hello  = "hello"  // says who the client is
	Ping   = "ping"   // asks for a sign of life
	Stop   = "stop"   // asks the server to finish
	Status = "status" // asks about the server itself
	Query  = "query"  // asks about a repository
	Cancel = "cancel" // takes back a query or a subscription
	Relay  = "relay"  // turns to records for the rest of the connection
)

// A Greeting is the first line on every connection, from the server.
type Greeting struct {
	Protocol int   `json:"gust"`
	Build    Build `json:"build"`
	PID      int   `json:"pid"`
	// View is what the server sees of the file systems, as process.View has it: a
	// client that sees another is told of other files. "" is unknown.
	View string `json:"view,omitempty"`
}

// A Request is one line from a client.
type Request struct {
	ID string `json:"id,omitempty"` // comes back with every line that answers
	Op string `json:"op"`

	Protocol int    `json:"protocol,omitempty"` // Hello: what the client speaks
	Build    *Build `json:"build,omitempty"`    // Hello

	Dir       string `json:"dir,omitempty"`
	DirBytes  []byte `json:"dir_bytes,omitempty"` // in place of Dir where that is no UTF-8
	GitDir    bool   `json:"git_dir,omitempty"`
	NoIndex   bool   `json:"no_index,omitempty"`
	Env       Env    `json:"env,omitempty"`
	EnvBytes  Bytes  `json:"env_bytes,omitempty"`
	Limits    Limits `json:"limits,omitzero"`
	Deadline  int    `json:"deadline_ms,omitempty"` // milliseconds; 0: none
	Subscribe bool   `json:"subscribe,omitempty"`

	Extended bool `json:"extended,omitempty"` // Relay: records may carry variables
	TTL      int  `json:"ttl,omitempty"`      // Relay: seconds; negative: for ever; 0: the server's own

	Of string `json:"of,omitempty"` // Cancel: the ID of what ends
}

// Env is a set of environment variables by name.
type Env map[string]string

// Bytes are texts that JSON cannot hold, by name.
type Bytes map[string][]byte

// Limits are live.Limits as they travel. What is absent has no limit, and the
// switches are off.
type Limits struct {
	Staged            *int `json:"staged,omitempty"`
	Unstaged          *int `json:"unstaged,omitempty"`
	Conflicted        *int `json:"conflicted,omitempty"`
	Untracked         *int `json:"untracked,omitempty"`
	DirtyMaxIndexSize *int `json:"dirty_max_index_size,omitempty"`
	SummaryLen        *int `json:"summary,omitempty"` // bytes

	RecurseUntracked          bool `json:"recurse_untracked,omitempty"`
	IgnoreStatusShowUntracked bool `json:"ignore_status_show_untracked,omitempty"`
	IgnoreBashShowUntracked   bool `json:"ignore_bash_show_untracked,omitempty"`
	IgnoreBashShowDirty       bool `json:"ignore_bash_show_dirty,omitempty"`
}

// defaultSummaryLen is gitstatusd's default, in bytes.
const defaultSummaryLen = 256

// LimitsOf returns l as it travels.
func LimitsOf(l live.Limits) Limits {
	return Limits{
		Staged: &l.Staged, Unstaged: &l.Unstaged, Conflicted: &l.Conflicted, Untracked: &l.Untracked,
		DirtyMaxIndexSize: &l.DirtyMaxIndexSize, SummaryLen: &l.SummaryLen,
		RecurseUntracked: l.RecurseUntracked, IgnoreStatusShowUntracked: l.IgnoreStatusShowUntracked,
		IgnoreBashShowUntracked: l.IgnoreBashShowUntracked, IgnoreBashShowDirty: l.IgnoreBashShowDirty,
	}
}

// Live returns what travelled, as the engine takes it.
func (l Limits) Live() live.Limits {
	or := func(p *int, absent int) int {
		if p == nil {
			return absent
		}
		return *p
	}
	return live.Limits{
		Staged: or(l.Staged, -1), Unstaged: or(l.Unstaged, -1), Conflicted: or(l.Conflicted, -1), Untracked: or(l.Untracked, -1),
		DirtyMaxIndexSize: or(l.DirtyMaxIndexSize, -1), SummaryLen: max(0, or(l.SummaryLen, defaultSummaryLen)),
		RecurseUntracked: l.RecurseUntracked, IgnoreStatusShowUntracked: l.IgnoreStatusShowUntracked,
		IgnoreBashShowUntracked: l.IgnoreBashShowUntracked, IgnoreBashShowDirty: l.IgnoreBashShowDirty,
	}
}

// ParseRequest parses a line from a client, with or without its line feed.
// Members that it does not know are left out of account: they may come from a
// later version.
func ParseRequest(line []byte) (Request, error) {
	var r Request
	if err := json.Unmarshal(line, &r); err != nil {
		return Request{}, fmt.Errorf("bad request: %w", err)
	}
	if r.Op == "" {
		return r, errors.New("bad request: no op")
	}
	return r, nil
}

// Live returns the question of a Query request.
func (r *Request) Live() (live.Request, error) {
	dir := r.Dir
	if r.DirBytes != nil {
		dir = string(r.DirBytes)
	}
	if dir == "" || dir[0] != '/' {
		return live.Request{}, fmt.Errorf("'%s' is not an absolute directory", clip(dir))
	}
	return live.Request{Dir: dir, GitDir: r.GitDir, NoIndex: r.NoIndex, Env: r.Environ(), Limits: r.Limits.Live()}, nil
}

// SetLive makes r ask what q does. Of the environment, only what Allowed lets
// pass travels.
func (r *Request) SetLive(q live.Request) {
	r.Dir, r.DirBytes = text(q.Dir)
	r.GitDir, r.NoIndex, r.Limits = q.GitDir, q.NoIndex, LimitsOf(q.Limits)
	r.SetEnviron(q.Env)
}

// AppendLine appends v, a Greeting, Request or Answer, as one line.
func AppendLine(dst []byte, v any) []byte {
	b := bytes.NewBuffer(dst)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("what travels cannot be JSON: " + err.Error())
	}
	return b.Bytes()
}

// clip shortens what is quoted in a message.
func clip(s string) string { return s[:min(len(s), 200)] }
