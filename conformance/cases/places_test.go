package cases

func placeCases() []reported {
	return []reported{
		{id: "C30", title: "a bare repository behind a .git file", script: `
			git init -q s; git -C s commit -q --allow-empty -m a; mkdir top; cd top
			git clone -q --bare ../s .bare; echo 'gitdir: ./.bare'>.git; git worktree add -q one main; touch one/n
			ask $PWD/one; ask $PWD`,
			want: []string{"branch=main untracked=1", "none"}},
		{id: "C31", title: "GIT_WORK_TREE with a bare repository", script: `
			mkdir h; cd h; git init -q --bare .dots; export GIT_DIR=$PWD/.dots GIT_WORK_TREE=$PWD
			echo a>.rc; git add .rc; git commit -qm a; echo b>>.rc; ask :$PWD/.dots
			git config status.showUntrackedFiles no; ask :$PWD/.dots`,
			want: []string{"branch=main unstaged=1", "branch=main clean unstaged=1"}},
		{id: "C32", title: "a linked worktree of a submodule", script: `
			git init -q lib; git -C lib commit -q --allow-empty -m l; git init -q r; cd r
			git submodule --quiet add ../lib lib; git commit -qam one; cd lib; git switch -q -c primary
			git worktree add -q ../../libwt -b second; cd ../../libwt; touch n; ask $PWD; ask $D/r/lib`,
			want: []string{"branch=second clean untracked=1", "branch=primary clean"}},
		{id: "C33", title: "symbolic links inside .git", script: `
			git init -q a; git -C a commit -q --allow-empty -m x; mkdir -p rp/.git; cd rp
			for x in config objects refs info; do ln -s ../../a/.git/$x .git/$x; done
			echo 'ref: refs/heads/main'>.git/HEAD; touch q; ask $PWD; cd ..; ln -s rp lnk; ask $PWD/lnk`,
			want: []string{"branch=main untracked=1", "branch=main untracked=1"}},
		{id: "C38", title: "stashes in a linked worktree", script: `
			git init -q r; cd r; echo a>f; git add f; git commit -qm a; echo b>f; git stash -q
			git worktree add -q ../w -b side; cd ../w; git bisect start -q
			ask $PWD; ask $(cd ../r; pwd)`,
			want: []string{"stashes=1 action=bisect branch=side", "stashes=1 action= branch=main"}},
		{id: "C45", title: "a command in core.fsmonitor", noOracle: true, script: `
			git init -q r; cd r; git commit -q --allow-empty -m a; git config core.fsmonitor "touch $PWD/../RAN; false"
			ask $PWD; must test ! -e ../RAN
			git status -s; must test -e ../RAN`,
			want: []string{"branch=main clean"}},
		{id: "C55", title: "a filter command of an unpacked archive", noOracle: true, script: `
			git init -q r; cd r; echo a>f; echo 'f filter=x' >.gitattributes; git add .; git commit -qm 1
			git config filter.x.clean "touch $D/ran; cat"; touch -d '1 hour ago' f; ask $PWD; must test ! -e $D/ran
			echo b>f; ask $PWD; must test ! -e $D/ran; echo a>f
			git config --global gust.trustFilters true; touch f; ask $PWD; must test -e $D/ran`,
			want: []string{"clean", "clean unstaged=1", "clean"}},
	}
}
