package repo

import (
	"os"
	"strings"
	"testing"

	"gust/internal/gittest"
)

// TestUpstreamAgainstGit compares what a branch tracks with git for-each-ref,
// and URLs with git ls-remote --get-url and git remote get-url --push. The
// branch is main unless the script leaves another.
func TestUpstreamAgainstGit(t *testing.T) {
	const origin = "[remote \"origin\"]\nurl=u:o\nfetch=+refs/heads/*:refs/remotes/origin/*\n"
	const main = "[branch \"main\"]\nremote=origin\nmerge=refs/heads/main\n"
	tests := []struct {
		name   string
		config string
		script string
		global string
		newest bool // older gits differ
	}{
		{name: "none"},
		{name: "plain", config: origin + main},
		{name: "tracked", config: origin + main, script: "git update-ref refs/remotes/origin/main HEAD"},
		{name: "other-branch", config: origin + "[branch \"main\"]\nremote=origin\nmerge=refs/heads/feature/x\n"},
		{name: "no-merge", config: origin + "[branch \"main\"]\nremote=origin\n"},
		{name: "no-remote", config: origin + "[branch \"main\"]\nmerge=refs/heads/main\n"},
		{name: "empty-merge", config: origin + "[branch \"main\"]\nremote=origin\nmerge=\n"},
		{name: "two-merges", config: origin + main + "[branch \"main\"]\nmerge=refs/heads/second\n"},
		{name: "two-remotes", config: origin + main + "[branch \"main\"]\nremote=other\n[remote \"other\"]\nurl=u:x\nfetch=refs/heads/*:refs/remotes/x/*\n"},
		{name: "merge-after-global", config: origin + main, global: "[branch \"main\"]\nmerge=refs/heads/global\n"},
		{name: "short-merge", config: origin + "[branch \"main\"]\nremote=origin\nmerge=main\n"},
		{name: "local", config: "[branch \"main\"]\nremote=.\nmerge=refs/heads/other\n", script: "git branch other"},
		{name: "local-gone", config: "[branch \"main\"]\nremote=.\nmerge=refs/heads/other\n"},
		{name: "local-short", config: "[branch \"main\"]\nremote=.\nmerge=other\n", script: "git branch other"},
		{name: "local-tag", config: "[branch \"main\"]\nremote=.\nmerge=refs/tags/t\n", script: "git tag t"},
		{name: "local-remote-branch", config: "[branch \"main\"]\nremote=.\nmerge=refs/remotes/x/y\n", script: "git update-ref refs/remotes/x/y HEAD"},
		{name: "local-remote-short", config: "[branch \"main\"]\nremote=.\nmerge=x/y\n", script: "git update-ref refs/remotes/x/y HEAD"},
		{name: "local-remote-head", config: "[branch \"main\"]\nremote=.\nmerge=x\n", script: "git update-ref refs/remotes/x/y HEAD; git symbolic-ref refs/remotes/x/HEAD refs/remotes/x/y"},
		{name: "local-short-tag-and-branch", config: "[branch \"main\"]\nremote=.\nmerge=t\n", script: "git tag t; git branch t"},
		{name: "local-symbolic", config: "[branch \"main\"]\nremote=.\nmerge=refs/heads/s\n", script: "git branch other; git symbolic-ref refs/heads/s refs/heads/other"},
		{name: "local-with-fetch", config: "[remote \".\"]\nfetch=refs/heads/*:refs/remotes/dot/*\n[branch \"main\"]\nremote=.\nmerge=refs/heads/other\n", script: "git branch other"},
		{name: "slash-remote", config: "[remote \"team/one\"]\nurl=u:t\nfetch=+refs/heads/*:refs/remotes/team/one/*\n[branch \"main\"]\nremote=team/one\nmerge=refs/heads/main\n"},
		{name: "other-namespace", config: "[remote \"origin\"]\nurl=u:o\nfetch=+refs/heads/*:refs/remotes/upstream-x/*\n" + main},
		{name: "heads-namespace", config: "[remote \"origin\"]\nurl=u:o\nfetch=+refs/heads/*:refs/heads/from/*\n" + main},
		{name: "exact-refspec", config: "[remote \"origin\"]\nurl=u:o\nfetch=refs/heads/main:refs/remotes/o/m\n" + main},
		{name: "exact-refspec-other", config: "[remote \"origin\"]\nurl=u:o\nfetch=refs/heads/x:refs/remotes/o/m\n" + main},
		{name: "short-refspec", config: "[remote \"origin\"]\nurl=u:o\nfetch=main:refs/remotes/o/m\n" + main},
		{name: "refspec-no-destination", config: "[remote \"origin\"]\nurl=u:o\nfetch=refs/heads/main\nfetch=refs/heads/*:refs/remotes/o/*\n" + main},
		{name: "refspec-empty-destination", config: "[remote \"origin\"]\nurl=u:o\nfetch=refs/heads/main:\nfetch=refs/heads/*:refs/remotes/o/*\n" + main},
		{name: "wildcard-prefix", config: "[remote \"origin\"]\nurl=u:o\nfetch=refs/heads/m*:refs/remotes/o/x*\n" + main},
		{name: "wildcard-suffix", config: "[remote \"origin\"]\nurl=u:o\nfetch=refs/heads/*in:refs/remotes/o/*x\n" + main},
		{name: "wildcard-middle", config: "[remote \"origin\"]\nurl=u:o\nfetch=refs/heads/m*n:refs/remotes/o/a*b\n" + main},
		{name: "wildcard-component", config: "[remote \"origin\"]\nurl=u:o\nfetch=refs/*/main:refs/remotes/o/*\n" + main},
		{name: "wildcard-everything", config: "[remote \"origin\"]\nurl=u:o\nfetch=refs/*:refs/mirror/*\n" + main},
		{name: "wildcard-overlap", config: "[remote \"origin\"]\nurl=u:o\nfetch=refs/heads/mai*ain:refs/remotes/o/*\n" + main},
		{name: "wildcard-slash", config: "[remote \"origin\"]\nurl=u:o\nfetch=refs/heads/*:refs/remotes/o/*\n[branch \"main\"]\nremote=origin\nmerge=refs/heads/a/b/c\n"},
		{name: "first-refspec-wins", config: "[remote \"origin\"]\nurl=u:o\nfetch=refs/heads/*:refs/remotes/one/*\nfetch=refs/heads/main:refs/remotes/two/main\n" + main},
		{name: "negative", config: origin + "[remote \"origin\"]\nfetch=^refs/heads/main\n" + main},
		{name: "negative-first", config: "[remote \"origin\"]\nurl=u:o\nfetch=^refs/heads/main\nfetch=refs/heads/*:refs/remotes/o/*\n" + main},
		{name: "negative-wildcard", config: origin + "[remote \"origin\"]\nfetch=^refs/heads/m*\n" + main},
		{name: "negative-other", config: origin + "[remote \"origin\"]\nfetch=^refs/heads/side\n" + main},
		{name: "negative-short", config: origin + "[remote \"origin\"]\nfetch=^main\n" + main},
		{name: "negative-mirror", config: "[remote \"origin\"]\nurl=u:o\nfetch=refs/*:refs/*\nfetch=^refs/heads/main\n" + main},
		{name: "negative-mirror-wildcard", config: "[remote \"origin\"]\nurl=u:o\nfetch=refs/*:refs/*\nfetch=^refs/heads/m*\n" + main},
		{name: "negative-same-namespace", config: "[remote \"origin\"]\nurl=u:o\nfetch=refs/heads/*:refs/heads/from/*\nfetch=^refs/heads/x\n[branch \"main\"]\nremote=origin\nmerge=refs/heads/from/x\n"},
		{name: "negative-exact", config: "[remote \"origin\"]\nurl=u:o\nfetch=refs/heads/x:refs/heads/main\nfetch=^refs/heads/x\nfetch=refs/heads/main:refs/remotes/o/main\n" + main},
		{name: "negative-no-destination", config: "[remote \"origin\"]\nurl=u:o\nfetch=refs/heads/main\nfetch=^refs/heads/main\nfetch=refs/heads/*:refs/remotes/o/*\n" + main},
		{name: "url-remote", config: "[branch \"main\"]\nremote=https://x.org/r.git\nmerge=refs/heads/main\n"},
		{name: "path-remote", config: "[branch \"main\"]\nremote=../o\nmerge=refs/heads/main\n"},
		{name: "url-remote-known", config: origin + "[branch \"main\"]\nremote=u:o\nmerge=refs/heads/main\n"},
		{name: "unknown-remote", config: "[branch \"main\"]\nremote=nothing\nmerge=refs/heads/main\n"},
		{name: "remote-without-url", config: "[remote \"origin\"]\nfetch=refs/heads/*:refs/remotes/origin/*\n" + main},
		{name: "remote-pushurl-only", config: "[remote \"origin\"]\npushurl=u:p\nfetch=refs/heads/*:refs/remotes/origin/*\n" + main},
		{name: "remote-with-two-urls", config: "[remote \"origin\"]\nurl=u:1\nurl=u:2\nfetch=refs/heads/*:refs/remotes/origin/*\n" + main},
		{name: "remote-with-empty-url", newest: true, config: "[remote \"origin\"]\nurl=u:1\nurl=\nurl=u:2\nfetch=refs/heads/*:refs/remotes/origin/*\n" + main},
		{name: "remote-case", config: "[remote \"Origin\"]\nurl=u:O\n" + origin + main},
		{name: "branch-with-dots", config: origin + "[branch \"a.b/c\"]\nremote=origin\nmerge=refs/heads/x.y\n", script: "git checkout -q -b a.b/c"},
		{name: "branch-case", config: origin + "[branch \"Main\"]\nremote=origin\nmerge=refs/heads/x\n"},
		{name: "instead-of", config: origin + main + "[url \"https://long/\"]\ninsteadOf=u:\n"},
		{name: "instead-of-longest", config: origin + main + "[url \"A\"]\ninsteadOf=u\n[url \"B\"]\ninsteadOf=u:o\n[url \"C\"]\ninsteadOf=u:\n"},
		{name: "instead-of-equal", config: origin + main + "[url \"A\"]\ninsteadOf=u:\n[url \"B\"]\ninsteadOf=u:\n"},
		{name: "instead-of-once", config: origin + main + "[url \"A\"]\ninsteadOf=u:\n[url \"B\"]\ninsteadOf=A\n"},
		{name: "instead-of-empty", config: origin + main + "[url \"A\"]\ninsteadOf=\n"},
		{name: "instead-of-two", config: origin + main + "[url \"A:\"]\ninsteadOf=x\ninsteadOf=u:\n"},
		{name: "instead-of-url-remote", config: "[url \"A:\"]\ninsteadOf=u:\n[branch \"main\"]\nremote=u:x\nmerge=refs/heads/main\n"},
		{name: "instead-of-name", config: "[url \"A:\"]\ninsteadOf=nothing\n[branch \"main\"]\nremote=nothing\nmerge=refs/heads/main\n"},
		{name: "instead-of-global", config: origin + main, global: "[url \"G:\"]\ninsteadOf=u:\n"},
		{name: "push-remote", config: origin + main + "[remote \"p\"]\nurl=u:p\nfetch=refs/heads/*:refs/remotes/p/*\n[branch \"main\"]\npushRemote=p\n", script: "git update-ref refs/remotes/p/main HEAD"},
		{name: "push-default", config: origin + main + "[remote \"p\"]\nurl=u:p\nfetch=refs/heads/*:refs/remotes/p/*\n[remote]\npushDefault=p\n", script: "git update-ref refs/remotes/p/main HEAD"},
		{name: "push-both", config: origin + main + "[remote \"p\"]\nurl=u:p\nfetch=refs/heads/*:refs/remotes/p/*\n[remote]\npushDefault=origin\n[branch \"main\"]\npushRemote=p\n"},
		{name: "push-same", config: origin + main + "[branch \"main\"]\npushRemote=origin\n"},
		{name: "push-without-upstream", config: origin + "[branch \"main\"]\npushRemote=origin\n"},
		{name: "push-other-branch", config: origin + "[branch \"main\"]\nremote=origin\nmerge=refs/heads/x\npushRemote=origin\n"},
		{name: "push-unknown", config: "[branch \"main\"]\npushRemote=nothing\n"},
		{name: "push-url", config: "[branch \"main\"]\npushRemote=u:x\n"},
		{name: "push-empty", config: origin + "[branch \"main\"]\npushRemote=\n[remote]\npushDefault=origin\n"},
		{name: "push-refspec", config: origin + "[remote \"origin\"]\npush=refs/heads/*:refs/heads/me/*\n[branch \"main\"]\npushRemote=origin\n"},
		{name: "push-refspec-exact", config: origin + "[remote \"origin\"]\npush=refs/heads/main:refs/heads/there\n[branch \"main\"]\npushRemote=origin\n"},
		{name: "push-refspec-other", config: origin + "[remote \"origin\"]\npush=refs/heads/side\n[branch \"main\"]\npushRemote=origin\n"},
		{name: "push-refspec-no-destination", config: origin + "[remote \"origin\"]\npush=refs/heads/main\n[branch \"main\"]\npushRemote=origin\n"},
		{name: "push-refspec-head", config: origin + "[remote \"origin\"]\npush=HEAD\n[branch \"main\"]\npushRemote=origin\n"},
		{name: "push-refspec-matching", config: origin + "[remote \"origin\"]\npush=:\n[branch \"main\"]\npushRemote=origin\n"},
		{name: "push-refspec-forced", config: origin + "[remote \"origin\"]\npush=+refs/heads/main:refs/heads/there\n[branch \"main\"]\npushRemote=origin\n"},
		{name: "push-refspec-two", config: origin + "[remote \"origin\"]\npush=refs/heads/side:refs/heads/a\npush=refs/heads/*:refs/heads/b/*\npush=refs/heads/main:refs/heads/c\n[branch \"main\"]\npushRemote=origin\n"},
		{name: "push-mirror", config: "[remote \"origin\"]\nurl=u:o\nmirror=true\nfetch=refs/*:refs/*\n[branch \"main\"]\npushRemote=origin\n"},
		{name: "push-negative", config: origin + "[remote \"origin\"]\nfetch=^refs/heads/main\n[branch \"main\"]\npushRemote=origin\n"},
		{name: "pushurl", config: origin + "[remote \"origin\"]\npushurl=w:o\npushurl=w:2\n[branch \"main\"]\npushRemote=origin\n[url \"A\"]\npushInsteadOf=u:\n[url \"B\"]\npushInsteadOf=w:\n[url \"C\"]\ninsteadOf=w:\n"},
		{name: "pushurl-empty", newest: true, config: origin + "[remote \"origin\"]\npushurl=w:o\npushurl=\n[branch \"main\"]\npushRemote=origin\n"},
		{name: "push-instead-of", config: origin + "[branch \"main\"]\npushRemote=origin\n[url \"A:\"]\npushInsteadOf=u:\n[url \"B:\"]\ninsteadOf=u:\n"},
		{name: "push-instead-of-none", config: origin + "[branch \"main\"]\npushRemote=origin\n[url \"B:\"]\ninsteadOf=u:\n"},
		{name: "push-instead-of-longest", config: origin + "[branch \"main\"]\npushRemote=origin\n[url \"A:\"]\npushInsteadOf=u:\n[url \"B:\"]\npushInsteadOf=u\n"},
		{name: "push-dot", config: "[branch \"main\"]\npushRemote=.\n"},
		{name: "remotes-file", script: "mkdir -p .git/remotes; printf 'URL: u:x\\nURL: u:2\\nPush: refs/heads/main:refs/heads/q\\nPull: refs/heads/main:refs/remotes/x/main\\n' >.git/remotes/x", config: "[branch \"main\"]\nremote=x\nmerge=refs/heads/main\npushRemote=x\n"},
		{name: "remotes-file-and-url", script: "mkdir -p .git/remotes; printf 'URL: u:x\\nPull: refs/heads/main:refs/remotes/x/main\\n' >.git/remotes/x", config: "[remote \"x\"]\nurl=u:c\n[branch \"main\"]\nremote=x\nmerge=refs/heads/main\n"},
		{name: "remotes-file-and-fetch", script: "mkdir -p .git/remotes; printf 'URL:u:x  \\nPull:   refs/heads/main:refs/remotes/x/main\\n' >.git/remotes/x", config: "[remote \"x\"]\nfetch=refs/heads/*:refs/remotes/c/*\n[branch \"main\"]\nremote=x\nmerge=refs/heads/main\n"},
		{name: "remotes-file-instead-of", script: "mkdir -p .git/remotes; printf 'URL: u:x\\n' >.git/remotes/x", config: "[url \"A:\"]\ninsteadOf=u:\n[branch \"main\"]\nremote=x\nmerge=refs/heads/main\n"},
		{name: "branches-file", script: "mkdir -p .git/branches; echo 'u:y#side' >.git/branches/y", config: "[branch \"main\"]\nremote=y\nmerge=refs/heads/side\npushRemote=y\n"},
		{name: "branches-file-default", script: "mkdir -p .git/branches; echo ' u:y ' >.git/branches/y", config: "[branch \"main\"]\nremote=y\nmerge=refs/heads/main\n"},
		{name: "detached", config: origin + main, script: "git checkout -q --detach"},
	}
	for _, g := range gittest.All(t) {
		e := gittest.New(t, g)
		e.Script(t, "git init -q template; git -C template commit -q --allow-empty -m a; mkdir -p $HOME/.config/git")
		for i, test := range tests {
			t.Run(g.String()+"/"+test.name, func(t *testing.T) {
				if test.newest && !g.AtLeast(2, 51) {
					t.Skipf("NOT TESTED with %s, which differs from newer versions", g)
				}
				dir := "r" + strings.Repeat("x", i)
				if err := os.CopyFS(e.Path(dir), os.DirFS(e.Path("template"))); err != nil {
					t.Fatal(err)
				}
				e.Script(t, "cd "+dir+"\n"+test.script+"\ncat >>.git/config <<'EOF'\n"+test.config+"EOF\ncat >$HOME/.config/git/config <<'EOF'\n"+test.global+"EOF\n")
				compareUpstream(t, e, dir)
			})
		}
	}
}

func compareUpstream(t *testing.T, e *gittest.Env, dir string) {
	t.Helper()
	env := EnvFrom(e.Environ())
	loc, err := Locate(e.Path(dir), false, env)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Open(loc, env)
	if err != nil {
		t.Fatal(err)
	}
	head, err := r.Refs.Head()
	if err != nil {
		t.Fatal(err)
	}
	up, push := r.Upstream(head), r.PushRemote(head)
	if head.Branch == "" {
		if up != (Tracking{}) || push != (Tracking{}) {
			t.Errorf("detached: %+v, %+v, want none", up, push)
		}
		return
	}
	out := e.Run(t, dir, "-c", "push.default=current", "for-each-ref", "--format=%(upstream)%00%(upstream:remotename)%00%(upstream:remoteref)%00%(push)", head.Branch)
	want := strings.Split(strings.TrimSuffix(out, "\n"), "\x00")
	if up.Ref != want[0] {
		t.Errorf("upstream: %q; git says %q", up.Ref, want[0])
	}
	if want[0] != "" && (up.Remote != want[1] || up.Merge != want[2]) {
		t.Errorf("upstream: remote %q, ref %q; git says %q, %q", up.Remote, up.Merge, want[1], want[2])
	}
	if up.Remote != "" && up.Remote != "." {
		if url := e.Run(t, dir, "ls-remote", "--get-url", up.Remote); up.URL+"\n" != url {
			t.Errorf("upstream: URL %q; git says %q", up.URL, url)
		}
	}
	if push.Remote == "" {
		return
	}
	if push.Ref != want[3] {
		t.Errorf("push: %q; git says %q", push.Ref, want[3])
	}
	if url, err := e.Command(dir, "remote", "get-url", "--push", push.Remote).Output(); err == nil {
		if first, _, _ := strings.Cut(string(url), "\n"); push.URL != first {
			t.Errorf("push: URL %q; git says %q", push.URL, first)
		}
	}
}
