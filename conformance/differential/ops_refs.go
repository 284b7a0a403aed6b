package differential

import "fmt"

// refOps change refs, how they are stored, and where branches come from and go to.
func refOps() []op {
	return []op{
		{"tag", 7, func(g *gen) []string {
			t := quote(pick(g, g.tags...))
			return []string{pick(g, "git tag -f "+t, "git tag -f -a -m t "+t, "git tag -f -a -m nested "+t+" "+quote(pick(g, g.tags...)),
				"git tag -d "+t, "git tag -f "+t+" HEAD~1", "git tag -f "+t+" 'HEAD^{tree}'")}
		}},
		{"tag", 1, func(g *gen) []string { return []string{"git pack-refs " + pick(g, "--all", "--all --no-prune", "")} }},
		{"head", 2, func(g *gen) []string {
			b := quote(g.branch())
			return []string{pick(g, "git branch -f "+b, "git switch -q -C "+b, "git branch -D "+b, "git symbolic-ref HEAD refs/heads/"+b, "git branch -m "+b+" renamed", "git update-ref refs/heads/"+b+" HEAD~1")}
		}},
		{"inplace", 4, (*gen).refsInPlace},
		{"upstream", 6, (*gen).upstream},
		{"upstream", 3, (*gen).moveTracking},
		{"push", 6, (*gen).push},
		{"push", 2, (*gen).moveTracking},
		oneOf("pack", 5, "git gc -q", "git repack -q -ad", "git repack -q -d", "git pack-refs --all", "git commit-graph write --reachable", "git commit-graph write --reachable --split",
			"git multi-pack-index write", "git prune-packed -q", "git repack -q -a -d --depth=50 --window=10", "git pack-refs --all --no-prune",
			"rm -f .git/objects/info/commit-graph; rm -rf .git/objects/info/commit-graphs", "git repack -q -adb", "git commit-graph write --reachable --changed-paths", "git prune --expire=now", "git repack -q -d --geometric=2 --write-midx"),
		oneOf("replace", 3, "git replace -f HEAD HEAD~1", "git replace -f --graft HEAD", "git replace -f --graft HEAD HEAD~2", "git replace -d HEAD", "git config core.useReplaceRefs false", "git config core.useReplaceRefs true",
			`git replace -f "$(git rev-parse HEAD^{tree})" "$(git rev-parse HEAD~1^{tree})"`),
		oneOf("replace", 1, `mkdir -p .git/info; c=$(git rev-parse -q --verify HEAD) && put .git/info/grafts "$c\n"`, `mkdir -p .git/info; c=$(git rev-parse -q --verify HEAD) && d=$(git rev-parse -q --verify HEAD~2) && put .git/info/grafts "$c $d\n"`, "rm -f .git/info/grafts"),
		oneOf("shallow", 3, `c=$(git rev-parse -q --verify HEAD) && put .git/shallow "$c\n"`, `c=$(git rev-parse -q --verify HEAD~1) && put .git/shallow "$c\n"`, "rm -f .git/shallow"),
		oneOf("alternates", 2, `git clone -q --bare --no-local "$R" "$B/alt.git"; echo "$B/alt.git/objects" >.git/objects/info/alternates; git repack -q -a -d -l; git prune-packed`,
			`git -C "$B" init -q --bare alt2.git; rm -rf "$B/alt2.git/objects"; cp -r .git/objects "$B/alt2.git/objects"; echo ../../../../alt2.git/objects >.git/objects/info/alternates; rm -rf .git/objects/??`),
	}
}

// refsInPlace overwrites files of the refs with others of the same size, in place,
// as nothing that locks does.
func (g *gen) refsInPlace() []string {
	if g.on["reftable"] {
		return nil
	}
	return []string{pick(g,
		`head 'ref: refs/heads/side\n'`,
		`head 'ref: refs/heads/main\n'`,
		`c=$(git rev-parse -q --verify HEAD~1) && put .git/refs/heads/main "$c\n"`,
		`c=$(git rev-parse -q --verify HEAD~1) && head "$c\n"`,
		`c=$(git rev-parse -q --verify side~1) && put .git/refs/heads/side "$c\n"`,
		`git tag -f v1; c=$(git rev-parse -q --verify HEAD~1) && put .git/refs/tags/v1 "$c\n"`,
		`git tag -f v1; git pack-refs --all; sed 's,refs/tags/v1$,refs/tags/v9,' .git/packed-refs >"$B/.new"; cat "$B/.new" >.git/packed-refs`,
		`mkdir -p .git/refs/tags; c=$(git rev-parse -q --verify HEAD) && put .git/refs/tags/v2 "$c\n"`,
		`git pack-refs --all; sed -i '/^#/d' .git/packed-refs`,
		`git pack-refs --all; sed -i '/^#/d; /^\^/d' .git/packed-refs`,
		`git pack-refs --all; sed -i '/^#/d' .git/packed-refs; sort -r .git/packed-refs >"$B/.new"; grep -v '^^' "$B/.new" >.git/packed-refs`,
		`rm -f .git/HEAD; ln -s refs/heads/`+pick(g, "main", "side", "fresh")+` .git/HEAD`,
		`head 'ref:refs/heads/side'`,
		`head 'ref: \t refs/heads/main \n'`,
		`git symbolic-ref refs/heads/alias refs/heads/side; git symbolic-ref HEAD refs/heads/alias`,
		`touch -r .git/HEAD "$B/.ref"; head 'ref: refs/heads/side\n'; touch -r "$B/.ref" .git/HEAD`,
	)}
}

// upstream changes what the current branch follows.
func (g *gen) upstream() []string {
	b := "$(git symbolic-ref -q --short HEAD)"
	set := func(remote, merge string) string {
		return fmt.Sprintf(`b="%s"; [ -n "$b" ] && git config "branch.$b.remote" %s && git config "branch.$b.merge" %s`, b, quote(remote), quote(merge))
	}
	return []string{pick(g,
		set("origin", "refs/heads/main"), set("origin", "refs/heads/side"), set("team/one", "refs/heads/main"), set(".", "refs/heads/side"),
		set(".", "refs/heads/main"), set("origin", "refs/heads/gone"), set("nowhere", "refs/heads/main"), set("origin", "refs/heads/feature/x"),
		"git branch --unset-upstream",
		"git config remote.origin.fetch '+refs/heads/*:refs/remotes/other/*'; git update-ref refs/remotes/other/main side",
		"git config --add remote.origin.fetch '^refs/heads/main'",
		"git config --unset-all remote.origin.fetch; git config --add remote.origin.fetch '+refs/heads/main:refs/heads/side'",
		"git config --replace-all remote.origin.fetch '+refs/heads/*:refs/remotes/origin/*'",
		"git config remote.origin.fetch '+refs/heads/m*n:refs/remotes/origin/x*y'; git update-ref refs/remotes/origin/xaiy side",
		"git config --add remote.origin.fetch 'refs/heads/feature/x:refs/remotes/origin/fx'; git update-ref refs/remotes/origin/fx main",
		"git update-ref refs/remotes/origin/feature/x side",
		"git config url.git@host:.insteadOf https://example.com/",
		"git config url./tmp/.insteadOf ../",
		"git config remote.team/one.url git@host:x.git",
		"git config --add remote.origin.url second",
		"git remote rename origin upst", "git remote remove team/one",
		"git config --unset remote.origin.url",
	)}
}

// moveTracking moves the refs that stand for branches of a remote.
func (g *gen) moveTracking() []string {
	ref := pick(g, "origin/main", "origin/main", "origin/side", "team/one/main", "other/main")
	return []string{pick(g,
		fmt.Sprintf("git update-ref refs/remotes/%s %s", ref, pick(g, "HEAD", "HEAD~1", "side", "main", "side~1", "HEAD~2")),
		fmt.Sprintf("git update-ref -d refs/remotes/%s", ref),
		fmt.Sprintf(`c=$(git commit-tree -p HEAD -p side -m merge 'HEAD^{tree}') && git update-ref refs/remotes/%s "$c"`, ref),
		fmt.Sprintf(`c=$(git commit-tree -p refs/remotes/%[1]s -m theirs 'HEAD^{tree}') && git update-ref refs/remotes/%[1]s "$c"`, ref),
		"git merge -q -s ours --no-edit side",
		fmt.Sprintf("git symbolic-ref refs/remotes/%s refs/heads/%s", ref, pick(g, "main", "side")),
	)}
}

// push changes where the current branch is pushed to.
func (g *gen) push() []string {
	b := `b=$(git symbolic-ref -q --short HEAD); [ -n "$b" ] && `
	return []string{pick(g,
		b+`git config "branch.$b.pushRemote" team/one`, b+`git config "branch.$b.pushRemote" origin`, b+`git config --unset-all "branch.$b.pushRemote"`,
		b+`git config "branch.$b.pushRemote" nowhere`,
		"git config remote.pushDefault origin", "git config remote.pushDefault team/one", "git config --unset-all remote.pushDefault",
		"git config remote.origin.pushurl ssh://push/one", "git config --add remote.origin.pushurl ssh://push/two",
		"git config url.ssh://rw/.pushInsteadOf https://example.com/", "git config url.ssh://short/.insteadOf ssh://push/",
		"git config push.default nothing", "git config push.default current", "git config push.default simple",
		"git config remote.team/one.url https://example.com/other", "git config --global remote.pushDefault team/one",
	)}
}
