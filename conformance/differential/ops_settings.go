package differential

// settingOps change configuration, in every place that git reads it from.
func settingOps() []op {
	return []op{
		oneOf("settings", 4, "git config core.fileMode false", "git config core.fileMode true", "git config --unset core.fileMode", "git config core.symlinks false", "git config core.symlinks true", "git config core.quotePath false",
			"git config status.relativePaths false", "git config status.branch true; git config status.short true", "git config status.aheadBehind false", "git config status.renames copies", "git config core.preloadIndex false", "git config core.logAllRefUpdates false",
			"git config core.abbrev 5", "git config status.submoduleSummary true", "git config diff.renames false", "git config log.showSignature true"),
		oneOf("settings", 3, `printf '[include]\n\tpath = ../../inc\n' >>.git/config; printf '[core]\n\tfileMode = false\n' >"$B/p/inc"`,
			`printf '[core]\n\tfileMode = true \n' >"$B/p/inc"`, `rm -f "$B/p/inc"`,
			`git config "includeIf.gitdir:$B/p/.path" "$B/inc2"; printf '[status]\n\tshowUntrackedFiles = all\n' >"$B/inc2"`,
			`git config --global "includeIf.onbranch:side.path" "$B/inc3"; printf '[status]\n\tshowUntrackedFiles = no\n' >"$B/inc3"`,
			`git config --global "includeIf.hasconfig:remote.*.url:https://example.com/**.path" "$B/inc4"; printf '[remote]\n\tpushDefault = origin\n' >"$B/inc4"`,
			"git config core.repositoryFormatVersion 1; git config extensions.worktreeConfig true; git config --worktree core.fileMode false",
			"git config core.repositoryFormatVersion 1; git config extensions.noop true",
			"git config extensions.preciousObjects true", "git config core.repositoryFormatVersion 1; git config extensions.partialClone origin", "git config core.repositoryFormatVersion 1; git config extensions.noop-v1 1",
			"git config extensions.objectFormat sha256", "git config core.repositoryFormatVersion 1; git config extensions.unheard 1", "git config core.bare maybe", "git config core.fileMode 2", "git config core.fileMode ''",
			`printf '[core] fileMode = fal\\\nse\n' >>.git/config`, `printf '[Core]\n\tFILEMODE\n' >>.git/config`, `printf '\tfileMode = "false" ; note\n' >>.git/config`, `printf '\357\273\277[core]\n\tfileMode = false\n' >"$B/p/inc"`, "git config core.repositoryFormatVersion 0; git config extensions.unheardOf true"),
		// Where these make git overlook a change, it is on the word of its own index.
		{"statsettings", 4, func(g *gen) []string {
			g.ownIndex = true
			return []string{pick(g, "git config core.trustctime false", "git config core.checkStat minimal", "git config core.trustctime false; git config core.checkStat minimal")}
		}},
		oneOf("untrackedsetting", 4, "git config status.showUntrackedFiles no", "git config status.showUntrackedFiles all", "git config status.showUntrackedFiles normal", "git config --unset status.showUntrackedFiles",
			"git config bash.showUntrackedFiles false", "git config bash.showUntrackedFiles true", "git config bash.showDirtyState false", "git config bash.showDirtyState true", "git config --global status.showUntrackedFiles all"),
		{"global", 4, func(g *gen) []string {
			return []string{pick(g,
				`mkdir -p "$HOME/.config/git"; put "$HOME/.config/git/ignore" '`+g.patterns()+`'`,
				`put "$HOME/gi" '`+g.patterns()+`'; git config --global core.excludesFile '~/gi'`,
				"git config --global --unset core.excludesFile",
				`flip_keep "$HOME/gi"`,
				"git config --global core.fileMode false", "git config --global core.fileMode true", "git config --global --unset core.fileMode",
				`mkdir -p "$HOME/.config/git"; printf '[status]\n\tshowUntrackedFiles = all\n' >"$HOME/.config/git/config"`, `rm -rf "$HOME/.config"`,
				`sed 's/true/TRUE/; s/false/FALSE/' "$HOME/.gitconfig" >"$B/.new"; cat "$B/.new" >"$HOME/.gitconfig"`,
				`git config --global core.autocrlf input`, "git config --global --unset core.autocrlf", `printf '*.txt text\n' >"$HOME/at"; git config --global core.attributesFile '~/at'`)}
		}},
		{"global", 1, func(g *gen) []string { // another value of the same size, in place, with the time restored
			return []string{`git config --global core.fileMode false; touch -r "$HOME/.gitconfig" "$B/.ref"; sed 's/fileMode = false/fileMode =  true/' "$HOME/.gitconfig" >"$B/.new"; cat "$B/.new" >"$HOME/.gitconfig"; touch -r "$B/.ref" "$HOME/.gitconfig"`}
		}},
		oneOf("owner", 3, `chown 12345 "$R"`, `chown 12345 "$R/.git"`, `chown 0 "$R" "$R/.git"`, `git config --global --add safe.directory "$R"`, `git config --global --add safe.directory "*"`, "git config --global --unset-all safe.directory",
			`git config --global --add safe.directory "$B/p/*"`, "git config --global --add safe.directory ''", `git config --add safe.directory "*"`),
	}
}

// placeOps move repositories about, and damage them.
func placeOps() []op {
	known := func(g *gen, q Query) {
		for _, o := range g.others {
			if o == q {
				return
			}
		}
		g.others = append(g.others, q)
	}
	return []op{
		{"moved", 4, func(g *gen) []string {
			known(g, Query{Dir: "p2/r"})
			return []string{`cd "$B"; ` + pick(g, "mv -T p p2", "mv -T p2 p", "mv -T p/r p/r2; mkdir -p p2; mv -T p/r2 p2/r", "mv -T p2/r p/r", "mv -T p p3; mv -T p3 p", "ln -s p p2")}
		}},
		{"moved", 1, func(g *gen) []string {
			known(g, Query{Dir: "lnk"})
			known(g, Query{Dir: "lnk/" + g.dir()})
			return []string{`cd "$B"; rm -f lnk; ln -s ` + pick(g, "p/r", "p/r/"+quote(g.dir()), "p2/r", "nowhere", "alt") + " lnk"}
		}},
		{"replaced", 4, func(g *gen) []string {
			return []string{`cd "$B"; mv -T p/r tmp && mv -T alt p/r; mv -T tmp alt`}
		}},
		{"replaced", 1, func(g *gen) []string {
			return []string{"rm -rf .git; " + pick(g, "git init -q", "cp -r \"$B/alt/.git\" .git", "true")}
		}},
		{"gitfile", 4, func(g *gen) []string {
			return []string{pick(g,
				`[ -d .git ] && mv -T .git ../g1; echo 'gitdir: ../g1' >.git`,
				`[ -f .git ] && { [ -d ../g2 ] || cp -r ../g1 ../g2; echo 'gitdir: ../g2' >.git; GIT_DIR=../g2 git symbolic-ref HEAD refs/heads/side; }`,
				`[ -f .git ] && { put .git 'gitdir: ../g1\n'; }`,
				`[ -f .git ] && { put .git 'gitdir: ../g2\n'; }`,
				`[ -f .git ] && { rm .git; mv -T ../g1 .git; }`,
				`[ -d .git ] && { mv -T .git ../g1; ln -s ../g1 .git; }`,
				`put .git 'gitdir: nowhere\n'`,
			)}
		}},
		{"damage", 4, (*gen).damage},
	}
}

// damage breaks something; the step after it mends that.
func (g *gen) damage() []string {
	broken := pick(g,
		[]string{`cp .git/index "$B/whole"; head -c 20 "$B/whole" >.git/index`, `[ -f "$B/whole" ] && cp "$B/whole" .git/index`},
		[]string{`cp .git/index "$B/whole"; printf garbage >.git/index`, `[ -f "$B/whole" ] && cp "$B/whole" .git/index`},
		[]string{`cp .git/index "$B/whole"; printf 'x' | dd of=.git/index bs=1 seek=20 conv=notrunc status=none`, `[ -f "$B/whole" ] && cp "$B/whole" .git/index`},
		[]string{`cp .git/index "$B/whole"; : >.git/index`, `[ -f "$B/whole" ] && cp "$B/whole" .git/index`},
		[]string{`rm -f .git/index`, `git reset -q`},
		[]string{`touch .git/index.lock .git/HEAD.lock`, `rm -f .git/index.lock .git/HEAD.lock`},
		[]string{`mv .git/HEAD .git/H`, `mv .git/H .git/HEAD`},
		[]string{`cp .git/config "$B/conf"; printf '[bad' >>.git/config`, `[ -f "$B/conf" ] && cp "$B/conf" .git/config`},
		[]string{`git config core.repositoryFormatVersion 1; git config extensions.unheardOf 1`, `git config -f .git/config --unset extensions.unheardOf`},
		[]string{`git config core.bare true`, `git config core.bare false`},
		[]string{`git config core.worktree ../../elsewhere; mkdir -p "$B/elsewhere"; touch "$B/elsewhere/x"`, `git config -f .git/config --unset core.worktree`},
		[]string{`mv .git/objects .git/obj`, `mv .git/obj .git/objects`},
		[]string{`cp .git/HEAD "$B/HEAD"; printf 'garbage\n' >.git/HEAD`, `cp "$B/HEAD" .git/HEAD`},
		[]string{`mv .git/refs .git/refs2`, `mv .git/refs2 .git/refs`},
		[]string{`git config core.repositoryFormatVersion 99`, `git config -f .git/config core.repositoryFormatVersion 0`},
	)
	g.add([]string{broken[0]})
	return []string{broken[1]}
}
