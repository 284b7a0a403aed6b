// Package summary holds what one prompt needs to know about a repository: HEAD,
// upstream, counts and state.
package summary

// A Summary is the state of one repository at one moment. Its fields mean what
// `git status` and docs/protocol.md say; text fields hold Git's bytes as they
// are, unescaped.
type Summary struct {
	WorkDir string // the working tree's root, absolute, without a trailing slash
	Commit  string // HEAD's commit in hex; empty on an unborn branch
	Branch  string // short name of the branch; empty when HEAD is detached

	UpstreamBranch string // name on the remote; empty when there is none or its ref is gone
	RemoteName     string // "." when the upstream is a local branch
	RemoteURL      string
	PushRemoteName string
	PushRemoteURL  string

	Action string // the operation in progress, with its progress: "rebase-i 3/7"

	IndexSize       int // index entries
	Staged          int // paths that differ between HEAD and the index
	StagedNew       int // … of these, not in HEAD
	StagedDeleted   int // … of these, not in the index
	Unstaged        int // index entries that differ from the working tree
	UnstagedDeleted int // … of these, without a file
	Conflicted      int // unmerged paths
	Untracked       int
	SkipWorktree    int // index entries with the skip-worktree bit
	AssumeUnchanged int // index entries with the assume-unchanged bit

	Ahead, Behind         int // commits, against the upstream
	PushAhead, PushBehind int // commits, against the push remote's tracking ref
	Stashes               int

	Tag      string // the last in byte order of the tags at HEAD
	Encoding string // of HEAD's commit message; empty means UTF-8
	Subject  string // first paragraph of the message, on one line
}
