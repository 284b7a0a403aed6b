package differential

import "fmt"

// stateOps begin operations that stop half-way, and go on with them.
func stateOps() []op {
	return []op{
		{"state", 3, (*gen).diverge},
		{"state", 6, func(g *gen) []string {
			begin := pick(g, "git merge -q --no-edit side", "git rebase -q side", "git rebase -q --apply side", "git rebase -q --merge side", "git cherry-pick side",
				"git cherry-pick side~1 side", "git cherry-pick side side~1", "git revert --no-edit HEAD", "git revert --no-edit HEAD~1", "git revert --no-edit HEAD~1 HEAD~2",
				"git revert --no-edit HEAD~1 HEAD", "git format-patch -q -1 --stdout side | git am -q", "git format-patch -q -2 --stdout side | git am -q -3",
				"git merge -q --no-commit --no-ff side", "git cherry-pick -n side", "git revert -n HEAD", "git merge --squash -q side", "git cherry-pick --allow-empty HEAD")
			if g.IntN(3) == 0 {
				return []string{begin}
			}
			return append(g.diverge(), begin) // mostly stops at a conflict
		}},
		oneOf("state", 3, "GIT_SEQUENCE_EDITOR='sed -i 1s/^pick/edit/' git rebase -q -i HEAD~2", "GIT_SEQUENCE_EDITOR='sed -i 1ibreak' git rebase -q -i HEAD~1",
			"git rebase -q -i --root -x false", "git rebase -q -x false HEAD~2", "GIT_SEQUENCE_EDITOR='sed -i 2s/^pick/reword/' git rebase -q -i --rebase-merges HEAD~2"),
		oneOf("state", 2, "git bisect start", "git bisect start HEAD HEAD~2", "git bisect bad", "git bisect good HEAD~2", "git bisect reset", "git bisect skip"),
		oneOf("state", 4, "git rebase --abort", "git rebase --continue", "git rebase --skip", "git rebase --quit", "git merge --abort", "git merge --quit", "git cherry-pick --abort", "git cherry-pick --continue", "git cherry-pick --skip",
			"git cherry-pick --quit", "git revert --abort", "git revert --continue", "git am --abort", "git am --skip", "git am --quit", "git commit -q -am resolved", "git add -A; git commit -q --no-edit", "git reset -q --hard",
			"git reset -q --merge", "git rebase --edit-todo"),
		oneOf("state", 1, "rm -f .git/rebase-merge/msgnum .git/rebase-apply/next", "rm -f .git/rebase-merge/interactive", "rm -f .git/rebase-apply/applying .git/rebase-apply/rebasing", "rm -f .git/CHERRY_PICK_HEAD", "rm -f .git/REVERT_HEAD"),
	}
}

// diverge gives both sides another content of one file, in a clean tree.
func (g *gen) diverge() []string {
	name := g.name()
	p, d := quote("./"+name), quote("./"+dirOf(name))
	edit := func(branch string) string {
		return fmt.Sprintf("git switch -q %[1]s && { [ -d %[2]s ] || mkdir -p %[2]s; } && put %[3]s '%[1]s\\n' && git add -f %[3]s && git commit -qm '%[1]s edit' && put %[3]s '%[1]s\\nmore\\n' && git commit -qam '%[1]s more'", branch, d, p)
	}
	return []string{"git reset -q --hard; git clean -qfd", edit("side"), edit("main")}
}

// nestedOps make repositories inside the repository, and other work trees of it.
func nestedOps() []op {
	return []op{
		{"nested", 5, func(g *gen) []string {
			n := pick(g, "nest", "nest", "u/nest", g.dir()+"/nest")
			return []string{pick(g,
				fmt.Sprintf("git init -q %s", quote(n)),
				fmt.Sprintf("git init -q %[1]s; git -C %[1]s commit -q --allow-empty -m n; touch %[1]s/z", quote(n)),
				fmt.Sprintf("git -C %s commit -q --allow-empty -m n", quote(n)),
				fmt.Sprintf("rm -rf %s/.git", quote(n)),
				fmt.Sprintf("mkdir -p %[1]s; touch %[1]s/z", quote(n)),
				fmt.Sprintf("git init -q --bare %s", quote(n)),
				fmt.Sprintf("mkdir -p %[1]s/.git; touch %[1]s/z", quote(n)),
				fmt.Sprintf("mkdir -p %[1]s; echo 'gitdir: nowhere' >%[1]s/.git; touch %[1]s/z", quote(n)),
				fmt.Sprintf("git add %s", quote(n)),
				fmt.Sprintf("rm -rf %s", quote(n)),
				fmt.Sprintf("mkdir -p %[1]s/deep; git init -q %[1]s/deep; git -C %[1]s/deep commit -q --allow-empty -m n", quote(n)))}
		}},
		oneOf("worktree", 4, "git worktree add -q ../w1 -b wb1", "git worktree add -q --detach ../w1", "git worktree remove -f ../w1", "rm -rf ../w1", "git worktree prune", "git worktree move ../w1 ../w9; git worktree move ../w9 ../w1",
			"git worktree lock ../w1", "git config worktree.useRelativePaths true; git worktree repair ../w1", "git -C ../w1 commit -q --allow-empty -m w", "git config extensions.worktreeConfig true; git -C ../w1 config --worktree status.showUntrackedFiles all"),
		{"worktree", 4, func(g *gen) []string {
			if !g.on["worktree"] {
				return nil
			}
			change := pick(g, fileOps()[:4]...).make(g)
			return append([]string{`cd "$B/p/w1" || cd "$B"`}, append(change, pick(g, "true", "git add -A", "git commit -qam w", "git stash -q", "git bisect start", "git tag -f v1"))...)
		}},
		oneOf("submodule", 8, "put sub/f 'changed\\n'", "put sub/f 'f\\n'", "git -C sub commit -q --allow-empty -m s", "git -C sub commit -qam s", "touch sub/new", "rm -f sub/new", "git -C sub add new", "git -C sub checkout -q HEAD~1",
			"git -C sub reset -q --hard", "git submodule -q update", "git submodule -q deinit -f sub", "git submodule -q update --init", "rm -rf sub", "rm -rf sub; mkdir sub", "rm -rf sub; put sub 'a'", "git add sub", "git rm -q --cached sub",
			"rm -f .gitmodules", "git checkout -q -- .gitmodules", "git submodule -q sync", "flip sub/f", "mkdir sub/d; git init -q sub/d", "rm -rf sub/.git", "chmod +x sub/f", "git -C sub switch -q -C other",
			"mkdir -p sub; put sub/f 'f\\n'", "git -C sub stash -q", "git -C sub rm -q f", "rm sub/f"),
		oneOf("submodule", 4, "git config submodule.sub.ignore all", "git config submodule.sub.ignore dirty", "git config submodule.sub.ignore untracked", "git config submodule.sub.ignore none", "git config -f .gitmodules submodule.sub.ignore all",
			"git config -f .gitmodules submodule.sub.ignore untracked", "git config -f .gitmodules submodule.sub.ignore dirty", "git config diff.ignoreSubmodules all", "git config diff.ignoreSubmodules untracked", "git config diff.ignoreSubmodules dirty", "git config --unset-all submodule.sub.ignore", "git config --unset diff.ignoreSubmodules",
			"git config submodule.sub.active false", "git config -f .gitmodules submodule.sub.path elsewhere", "git config -f .gitmodules --rename-section submodule.sub submodule.named"),
		oneOf("submodule", 2, `git -C sub submodule --quiet add "$B/lib" deep; git -C sub commit -qm deep; git add sub`, "put sub/deep/f 'x\\n'", "touch sub/deep/new", "git submodule -q update --init --recursive", "git -C sub config submodule.deep.ignore untracked",
			"git submodule absorbgitdirs", `rm -rf sub; git clone -q "$B/lib" sub`, "git -C sub config status.showUntrackedFiles no", "git -C sub config core.fileMode false", "echo '*' >>.git/modules/sub/info/exclude",
			`git update-index --add --cacheinfo 160000,"$(git rev-parse HEAD)",lost`, `git update-index --add --cacheinfo 160000,"$(git rev-parse HEAD)",lost; mkdir -p lost`, "mkdir -p lost; touch lost/f", "git init -q lost; git -C lost commit -q --allow-empty -m l"),
	}
}
