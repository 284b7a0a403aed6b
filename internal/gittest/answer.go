package gittest

import (
	"fmt"
	"strconv"
	"strings"
)

// Options are the options of gitstatusd that change its answers, with the
// meaning of the flags of the same letters. The zero value is not the default;
// see [Unlimited] and [Defaults].
type Options struct {
	Staged, Unstaged, Conflicted, Untracked int  // -s -u -c -d; negative: no limit
	DirtyMaxIndexSize                       int  // -m; negative: never
	SummaryBytes                            int  // -z
	RecurseUntracked                        bool // -e
	IgnoreStatusUntracked                   bool // -U
	IgnoreBashUntracked                     bool // -W
	IgnoreBashDirty                         bool // -D
	Threads                                 int  // -t
}

// Defaults returns what gitstatusd does without options.
func Defaults() Options {
	return Options{Staged: 1, Unstaged: 1, Conflicted: 1, Untracked: 1, DirtyMaxIndexSize: -1, SummaryBytes: 256, Threads: 1}
}

// Unlimited returns options under which every count is exact.
func Unlimited() Options {
	o := Defaults()
	o.Staged, o.Unstaged, o.Conflicted, o.Untracked = -1, -1, -1, -1
	o.SummaryBytes = 1 << 20
	return o
}

// Args returns the command line that stands for o.
func (o Options) Args() []string {
	n := strconv.Itoa
	args := []string{"-s", n(o.Staged), "-u", n(o.Unstaged), "-c", n(o.Conflicted), "-d", n(o.Untracked),
		"-m", n(o.DirtyMaxIndexSize), "-z", n(o.SummaryBytes), "-t", n(max(o.Threads, 1))}
	for _, f := range []struct {
		on   bool
		flag string
	}{{o.RecurseUntracked, "-e"}, {o.IgnoreStatusUntracked, "-U"}, {o.IgnoreBashUntracked, "-W"}, {o.IgnoreBashDirty, "-D"}} {
		if f.on {
			args = append(args, f.flag)
		}
	}
	return args
}

func (o Options) statusHidesUntracked(conf config) bool {
	return !o.IgnoreStatusUntracked && conf.isFalse("status.showuntrackedfiles")
}

func (o Options) hidesUntracked(conf config) bool {
	return o.statusHidesUntracked(conf) || !o.IgnoreBashUntracked && conf.isFalse("bash.showuntrackedfiles")
}

// untracked returns the value for git status --untracked-files, or "config" where
// git's own setting decides: a submodule whose only change is an untracked file
// then is not listed either.
func (o Options) untracked(conf config) string {
	switch {
	case o.statusHidesUntracked(conf):
		return "config"
	case o.RecurseUntracked || conf.last("status.showuntrackedfiles") == "all":
		return "all"
	}
	return "normal"
}

// fieldNames are the fields of a response; the first has number 1.
var fieldNames = [...]string{"", "id", "found", "work-tree", "commit", "branch", "upstream-branch", "remote-name",
	"remote-url", "action", "index-size", "staged", "unstaged", "conflicted", "untracked", "ahead", "behind", "stashes",
	"tag", "unstaged-deleted", "staged-new", "staged-deleted", "push-remote-name", "push-remote-url", "push-ahead",
	"push-behind", "skip-worktree", "assume-unchanged", "encoding", "summary"}

// NumFields is the number of fields of a response about a repository.
const NumFields = len(fieldNames) - 1

// FieldName returns the name of field n, counted from 1 as docs/protocol.md does.
func FieldName(n int) string { return fieldNames[n] }

// A Mismatch is one field that is not as git says.
type Mismatch struct {
	Field     int // 0: the shape of the response
	Got, Want string
}

func (m Mismatch) String() string {
	name := "response"
	if m.Field > 0 {
		name = fmt.Sprintf("field %d (%s)", m.Field, FieldName(m.Field))
	}
	return fmt.Sprintf("%s: got %q, want %q", name, m.Got, m.Want)
}

// Printable returns text as a response shows it: bytes below 32 and byte 127 are
// question marks.
func Printable(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c < 32 || c == 127 {
			b[i] = '?'
		}
	}
	return string(b)
}

// Expect returns the fields of a right answer to a request with the given ID. It
// is the only one, unless a limit cuts a count that has parts (deleted, new): see
// Check.
func (t *Truth) Expect(id string, o Options, noIndex bool) []string {
	if !t.Found {
		return []string{Printable(id), "0"}
	}
	c := t.counts(o, noIndex)
	c.StagedNew = limit(c.StagedNew, o.Staged)
	c.StagedDeleted = min(c.StagedDeleted, limit(c.Staged, o.Staged)-c.StagedNew)
	c.UnstagedDeleted = limit(c.UnstagedDeleted, o.Unstaged)
	n := strconv.Itoa
	fields := []string{id, "1", t.WorkDir, t.Commit, t.Branch, t.UpstreamBranch, t.RemoteName, t.RemoteURL, t.Action,
		n(c.IndexSize), n(limit(c.Staged, o.Staged)), n(limit(c.Unstaged, o.Unstaged)), n(limit(c.Conflicted, o.Conflicted)),
		n(limit(c.Untracked, o.Untracked)), n(t.Ahead), n(t.Behind), n(t.Stashes), t.Tag, n(c.UnstagedDeleted),
		n(c.StagedNew), n(c.StagedDeleted), t.PushRemoteName, t.PushRemoteURL, n(t.PushAhead), n(t.PushBehind),
		n(c.SkipWorktree), n(c.Assumed), t.Encoding, t.Subject[:min(len(t.Subject), max(o.SummaryBytes, 0))]}
	if t.IndexError && !noIndex {
		fields[8] = "index-error"
	}
	for i := range fields {
		fields[i] = Printable(fields[i])
	}
	return fields
}

// counts is t with the counts that o hides, or that a request asked to leave
// out, at 0.
func (t *Truth) counts(o Options, noIndex bool) Truth {
	c := *t
	if noIndex {
		c.IndexSize, c.SkipWorktree, c.Assumed, c.Conflicted = 0, 0, 0, 0
	}
	if noIndex || !o.IgnoreBashDirty && t.BashHidesDirty {
		c.Staged, c.StagedNew, c.StagedDeleted = 0, 0, 0
		c.Unstaged, c.UnstagedDeleted, c.Conflicted = 0, 0, 0
	}
	if noIndex || o.DirtyMaxIndexSize >= 0 && t.IndexSize > o.DirtyMaxIndexSize {
		c.Unstaged, c.UnstagedDeleted, c.Untracked = 0, 0, 0
	}
	return c
}

func limit(n, most int) int {
	if most >= 0 {
		return min(n, most)
	}
	return n
}

// Check compares the fields of a response with what git says. Where a limit cuts
// a count, any choice of that many files is right, so the counts of parts only
// have to be possible.
func (t *Truth) Check(id string, o Options, noIndex bool, got []string) []Mismatch {
	want := t.Expect(id, o, noIndex)
	if len(got) != len(want) {
		return []Mismatch{{0, strings.Join(got, "|"), strings.Join(want, "|")}}
	}
	var bad []Mismatch
	c := t.counts(o, noIndex)
	for i := range want {
		ok := got[i] == want[i]
		switch n, err := strconv.Atoi(got[i]); {
		case !t.Found || err != nil:
		case i+1 == 12 && c.Unstaged != 0 && t.Unstaged != t.UnstagedSettled:
			ok = n >= limit(min(t.Unstaged, t.UnstagedSettled), o.Unstaged) && n <= limit(max(t.Unstaged, t.UnstagedSettled), o.Unstaged)
		case i+1 == 19 && o.Unstaged >= 0 && c.Unstaged > o.Unstaged:
			ok = possible(n, c.UnstagedDeleted, c.Unstaged, o.Unstaged)
		case i+1 == 10 && o.mayStop() && !noIndex:
			ok = ok || n == t.IndexSizeFile
		case i+1 == 26 && o.mayStop() && !noIndex:
			ok = ok || n >= min(t.SkipWorktree, t.SkipWorktreeFile) && n <= max(t.SkipWorktree, t.SkipWorktreeFile)
		case (i+1 == 20 || i+1 == 21) && o.Staged >= 0 && c.Staged > o.Staged:
			part := []int{c.StagedNew, c.StagedDeleted}[i+1-20]
			ok = possible(n, part, c.Staged, o.Staged)
			if i+1 == 21 { // both parts together are no more than what is reported
				added, _ := strconv.Atoi(got[19])
				ok = ok && possible(added+n, c.StagedNew+c.StagedDeleted, c.Staged, o.Staged)
			}
		}
		if !ok {
			bad = append(bad, Mismatch{i + 1, got[i], want[i]})
		}
	}
	return bad
}

// mayStop reports whether a scan may end before it has seen every file.
func (o Options) mayStop() bool {
	return o.Unstaged >= 0 || o.Untracked >= 0 || o.DirtyMaxIndexSize >= 0
}

// possible reports whether n of part can be among some choice of reported files
// of total.
func possible(n, part, total, reported int) bool {
	return n <= part && n <= reported && n >= reported-(total-part)
}
