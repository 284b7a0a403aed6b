package differential

import "fmt"

// onPath returns an op that runs one of the git commands on a path.
func onPath(feature string, weight int, commands ...string) op {
	return op{feature, weight, func(g *gen) []string { return []string{pick(g, commands...) + " " + g.path()} }}
}

// oneOf returns an op that runs one of the commands.
func oneOf(feature string, weight int, commands ...string) op {
	return op{feature, weight, func(g *gen) []string { return []string{pick(g, commands...)} }}
}

// indexOps change the index, its flags and its form.
func indexOps() []op {
	return []op{
		onPath("", 5, "git add"),
		oneOf("", 4, "git add -A", "git add -u", "git add ."),
		onPath("", 2, "git rm -q --cached", "git rm -q -r --cached", "git rm -q -f"),
		onPath("", 1, "git reset -q --", "git checkout -q --", "git restore -q", "git restore -q --staged"),
		oneOf("", 1, "git update-index -q --refresh", "git status", "git read-tree HEAD", "git reset -q"),
		{"", 1, func(g *gen) []string { return []string{fmt.Sprintf("git mv -f %s %s", g.path(), g.path())} }},
		onPath("intent", 5, "git add -N", "rm -f"),
		onPath("flags", 4, "git update-index --assume-unchanged", "git update-index --skip-worktree", "git update-index --no-assume-unchanged", "git update-index --no-skip-worktree"),
		oneOf("flags", 1, "git ls-files -z | git update-index -z --stdin --assume-unchanged", "git update-index --really-refresh", "git config core.ignoreStat true"),
		{"conflict", 5, (*gen).unmerged},
		{"conflict", 1, func(g *gen) []string {
			// An entry that has no file, and maybe no object.
			return []string{fmt.Sprintf(`git update-index --add --cacheinfo %s,"$(blob '%s')",%s`, pick(g, "100644", "100755", "120000"), g.content(), quote(g.name()))}
		}},
		oneOf("indexversion", 4, "git update-index --index-version 2", "git update-index --index-version 3", "git update-index --index-version 4", "git config index.version 4"),
		oneOf("split", 4, "git update-index --split-index", "git update-index --no-split-index", "git config core.splitIndex true", "git config splitIndex.maxPercentChange 0", "git config splitIndex.maxPercentChange 100"),
		{"sparse", 5, (*gen).sparse},
		{"sparse", 2, func(g *gen) []string { return g.write(g.name(), "put") }},
		oneOf("extensions", 3, "git update-index --untracked-cache", "git update-index --no-untracked-cache", "git config core.untrackedCache true", "git config index.threads 4",
			"git config index.recordEndOfIndexEntries true; git config index.recordOffsetTable true", "git config core.untrackedCache true; git status", "git status -uall"),
		oneOf("skiphash", 2, "git config index.skipHash true", "git config feature.manyFiles true"),
		{"inplace", 3, (*gen).indexInPlace},
	}
}

// unmerged gives a path any set of stages.
func (g *gen) unmerged() []string {
	mode := func() string { return pick(g, "100644", "100644", "100755", "120000") }
	name := quote(g.name())
	stages := 1 + g.IntN(7)
	cmd := `{ printf '0 %s\t%s\0' "$(git hash-object -t tree /dev/null | tr 0-9a-f 0)" ` + name
	for s := range 3 {
		if stages>>s&1 == 1 {
			cmd += fmt.Sprintf(`; printf '%s %%s %d\t%%s\0' "$(blob '%s')" %s`, mode(), s+1, g.content(), name)
		}
	}
	return []string{cmd + "; } | git update-index -z --index-info"}
}

func (g *gen) sparse() []string {
	d := quote(g.dir())
	return []string{pick(g,
		"git sparse-checkout set --cone --no-sparse-index "+d,
		"git sparse-checkout set --cone --sparse-index "+d,
		"git sparse-checkout set --cone --sparse-index",
		"git sparse-checkout set --no-cone '/*' '!/d/'",
		"git sparse-checkout set --no-cone '*.o' 'd'",
		"git sparse-checkout disable",
		"git sparse-checkout reapply",
		"git sparse-checkout add "+d,
		"git config index.sparse "+pick(g, "true", "false"),
		"git config --worktree "+pick(g, "core.sparseCheckout", "core.sparseCheckoutCone", "index.sparse")+" "+pick(g, "true", "false"),
		"git config --worktree --unset "+pick(g, "core.sparseCheckout", "core.sparseCheckoutCone", "index.sparse"),
		`printf '/*\n!/*/\n`+pick(g, "/d/", "/d", "d/", "/d/\\n!/d/*/", "!/d/", "/**/", "/d*/")+`\n' >"$(git rev-parse --git-path info/sparse-checkout)"`,
		`rm -f "$(git rev-parse --git-path info/sparse-checkout)"`,
	)}
}

// indexInPlace overwrites the index file in place with one of the same size, the
// way no git does: a copy, a synchronised directory, a restored backup.
func (g *gen) indexInPlace() []string {
	flag := pick(g, "--assume-unchanged", "--skip-worktree", "--chmod=+x")
	return []string{
		`cp -p .git/index "$B/idx"`,
		fmt.Sprintf("git update-index %s %s", flag, g.path()),
		fmt.Sprintf(`cp .git/index "$B/idx2"; %s; cat "$B/idx2" >.git/index%s`, pick(g, `cat "$B/idx" >.git/index`, "true"),
			pick(g, "", `; touch -r "$B/idx" .git/index`)),
	}
}

// commitOps make commits and move HEAD with them.
func commitOps() []op {
	return []op{
		oneOf("", 4, "git commit -qam work", "git commit -qm work", "git add -A; git commit -qm all"),
		oneOf("", 2, "git commit -q --allow-empty -m 'empty one'", "git commit -q --amend --allow-empty -m amended"),
		{"encoding", 4, func(g *gen) []string {
			return []string{"git commit -q --allow-empty --cleanup=" + pick(g, "verbatim", "whitespace", "strip") + " -m \"$(printf '" + pick(g,
				`first line\nsecond line\n\nbody`, `\n\n  leading`, `sum\t%%F{red} \033[1m`, `\303\274n\303\257`, `bad \377 byte`, `a\rb\n`,
				`trailing  \nnext `, `  \n \n spaces`, `# hash\nx`, `one\n \ntwo`, `$(id) `+"`id`") + "')\""}
		}},
		oneOf("encoding", 2, `git -c i18n.commitEncoding=ISO-8859-1 commit -q --allow-empty -m "$(printf 'caf\351')"`, `git -c i18n.commitEncoding=x-odd commit -q --allow-empty -m odd`,
			"git config i18n.commitEncoding ISO-8859-1", "git config i18n.logOutputEncoding ISO-8859-1", "git config i18n.commitEncoding EUC-JP"),
		oneOf("encoding", 1, `git commit -q --allow-empty --allow-empty-message -m ''`, `git commit -q --allow-empty -m "$(printf 'long %0500d' 7)"`,
			`git commit -q --allow-empty -m "$(printf '\303\274%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24)"`),
		{"stash", 5, func(g *gen) []string {
			return append(g.write(g.name(), "put"), pick(g, "git stash -q", "git stash -q -u", "git add -A; git stash -q"))
		}},
		oneOf("stash", 5, "git stash -q", "git stash -q -u", "git stash -q pop", "git stash drop -q", "git stash clear", "git stash apply -q", `git stash push -q -m "x y"`),
		oneOf("stash", 1, "git update-ref -d refs/stash", "git update-ref refs/stash HEAD", "rm -f .git/logs/refs/stash", "git reflog expire --expire=all refs/stash"),
		oneOf("head", 4, "git reset -q --soft HEAD~1", "git reset -q HEAD~1", "git reset -q --hard", "git reset -q --hard HEAD~1", "git checkout -q HEAD~1",
			"git checkout -q --detach", "git switch -q main", "git switch -q side", "git switch -q -", "git switch -q --orphan fresh", "git checkout -q -f side"),
	}
}
