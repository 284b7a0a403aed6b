package gittest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// config is what git config -l prints: the values of each key, in order.
type config map[string][]string

// parseConfig reads the output of git config -l -z (git-config(1)): each key is
// followed by a newline and its value, or by nothing at all where it has none.
func parseConfig(out string) config {
	c := config{}
	for item := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		key, value, ok := strings.Cut(item, "\n")
		if !ok {
			value = "true"
		}
		c[key] = append(c[key], value)
	}
	return c
}

func (c config) last(key string) string {
	if v := c[key]; len(v) > 0 {
		return v[len(v)-1]
	}
	return ""
}

// isFalse reports whether key is set to one of git's words for false.
func (c config) isFalse(key string) bool {
	if len(c[key]) == 0 {
		return false
	}
	switch strings.ToLower(c.last(key)) {
	case "false", "no", "off", "", "0":
		return true
	}
	return false
}

// parseRefs reads the output of git show-ref, leaving out the peeled values.
func parseRefs(out string) map[string]string {
	refs := map[string]string{}
	for line := range strings.Lines(out) {
		id, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !strings.HasSuffix(name, "^{}") {
			refs[name] = id
		}
	}
	return refs
}

// lastTag returns the last tag in byte order that peels to commit, from the
// output of git show-ref -d, which follows chains of tags to their end.
func lastTag(out, commit string) string {
	values := map[string]string{}
	for line := range strings.Lines(out) {
		id, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if tag, ok := strings.CutPrefix(name, "refs/tags/"); ok {
			values[strings.TrimSuffix(tag, "^{}")] = id // the peeled value comes second
		}
	}
	last := ""
	for tag, id := range values {
		if commit != "" && id == commit && tag > last {
			last = tag
		}
	}
	return last
}

// head fills in what HEAD's name and commit tell.
func (v *view) head(t *Truth, facts string) {
	if t.Branch == "(detached)" {
		// A branch may have that name.
		full, _ := v.git("symbolic-ref", "-q", "HEAD")
		t.Branch = strings.TrimSuffix(strings.TrimPrefix(full, "refs/heads/"), "\n")
	}
	if t.Commit == "" {
		return
	}
	// A message is printed as it was written only where the output encoding is its
	// own; what has no encoding header is taken for UTF-8.
	log := []string{"log", "-1", "--no-show-signature", "--no-color"}
	t.Encoding = strings.TrimSuffix(v.remembered(facts+t.Commit, append(log, "--format=%e")...), "\n")
	enc := t.Encoding
	if enc == "" {
		enc = "UTF-8"
	}
	t.Subject = strings.TrimSuffix(v.remembered(facts+t.Commit, append(log, "--encoding="+enc, "--format=%s")...), "\n")
}

// tracking fills in the upstream and the push remote.
func (v *view) tracking(t *Truth, facts string, conf config, refs map[string]string) {
	b := t.Branch
	if b == "" {
		return
	}
	remote, merge := conf.last("branch."+b+".remote"), conf.last("branch."+b+".merge")
	push := conf.last("branch." + b + ".pushremote")
	if push == "" {
		push = conf.last("remote.pushdefault")
	}
	var upstream, pushRef string
	if t.Commit != "" && (remote != "" || push != "") {
		// With push.default=current, %(push) is the tracking ref of the branch of the
		// same name; the setting does not touch %(upstream).
		out := v.remembered(facts+b, "-c", "push.default=current", "for-each-ref",
			"--format=%(refname)%00%(upstream)%00%(upstream:remotename)%00%(upstream:remoteref)%00%(push)", "refs/heads/"+b)
		for line := range strings.Lines(out) {
			f := strings.Split(strings.TrimSuffix(line, "\n"), "\x00")
			if len(f) == 5 && f[0] == "refs/heads/"+b {
				upstream, remote, merge, pushRef = f[1], f[2], f[3], f[4]
			}
		}
	} else if remote != "" {
		out := v.remembered(facts+b, "rev-parse", "--symbolic-full-name", b+"@{upstream}")
		upstream = strings.TrimSuffix(out, "\n")
		if upstream == "" && merge != "" {
			upstream = "gone"
		}
	}
	if upstream != "" {
		t.RemoteName, t.RemoteURL = remote, v.url(facts, conf, remote, false)
		if refs[upstream] != "" {
			t.UpstreamBranch = strings.TrimPrefix(merge, "refs/heads/")
		}
	}
	if push == "" {
		return
	}
	t.PushRemoteName, t.PushRemoteURL = push, v.url(facts, conf, push, true)
	if id := refs[pushRef]; id != "" && t.Commit != "" {
		out := v.remembered(facts, "rev-list", "--left-right", "--count", t.Commit+"..."+id)
		fmt.Sscanf(out, "%d\t%d", &t.PushAhead, &t.PushBehind)
	}
}

// url returns the URL that a remote is fetched from or pushed to, after the rules
// of insteadOf. What has no URL is its own, as git-fetch(1) takes it; this
// repository has none.
func (v *view) url(facts string, conf config, remote string, push bool) string {
	if remote == "." {
		return ""
	}
	args := []string{"ls-remote", "--get-url", remote}
	if push {
		if conf.last("remote."+remote+".url") == "" && conf.last("remote."+remote+".pushurl") == "" {
			return remote // git knows no command that prints this one
		}
		args = []string{"remote", "get-url", "--push", remote}
	}
	first, _, _ := strings.Cut(v.remembered(facts, args...), "\n")
	return first
}

// action names the operation in progress, from the files that git keeps while it
// is (docs/protocol.md). A rebase stopped in a merge or a pick is a rebase.
func (v *view) action(gitDir string, reftable bool) string {
	has := func(name string) bool {
		_, err := os.Stat(filepath.Join(gitDir, name))
		return err == nil
	}
	pseudo := func(name string) bool {
		if !reftable {
			return has(name)
		}
		_, err := v.git("rev-parse", "-q", "--verify", name)
		return err == nil
	}
	progress := func(n, total string) string {
		at, end := contents(filepath.Join(gitDir, n)), contents(filepath.Join(gitDir, total))
		if at, end = strings.TrimSpace(at), strings.TrimSpace(end); at != "" && end != "" {
			return " " + at + "/" + end
		}
		return ""
	}
	sequence := func(name string) string {
		if has("sequencer/todo") {
			return name + "-seq"
		}
		return name
	}
	switch todo := firstWord(contents(filepath.Join(gitDir, "sequencer/todo"))); {
	case has("rebase-merge/interactive"):
		return "rebase-i" + progress("rebase-merge/msgnum", "rebase-merge/end")
	case has("rebase-merge"):
		return "rebase-m" + progress("rebase-merge/msgnum", "rebase-merge/end")
	case has("rebase-apply/rebasing"):
		return "rebase" + progress("rebase-apply/next", "rebase-apply/last")
	case has("rebase-apply/applying"):
		return "am" + progress("rebase-apply/next", "rebase-apply/last")
	case has("rebase-apply"):
		return "am/rebase" + progress("rebase-apply/next", "rebase-apply/last")
	case has("MERGE_HEAD"):
		return "merge"
	case pseudo("REVERT_HEAD"):
		return sequence("revert")
	case pseudo("CHERRY_PICK_HEAD"):
		return sequence("cherry")
	case todo == "revert":
		return "revert-seq" // between two steps of the sequence
	case todo == "pick" || todo == "p":
		return "cherry-seq"
	case has("BISECT_LOG"):
		return "bisect"
	}
	return ""
}

func firstWord(s string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(s), " ")
	return word
}
