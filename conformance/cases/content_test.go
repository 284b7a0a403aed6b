package cases

func contentCases() []reported {
	return []reported{
		{id: "C17", title: "clean and smudge filters", script: `
			git config --global gust.trustFilters true
			git init -q r; cd r; git config filter.up.clean 'tr a-z A-Z'; git config filter.up.smudge 'tr A-Z a-z'
			echo '*.up filter=up'>.gitattributes; echo hello>x.up; git add .; git commit -qm a
			touch -d '1 hour ago' x.up; ask $PWD; echo hellO>x.up; ask $PWD; echo other>x.up; ask $PWD`,
			want: []string{"clean", "clean", "clean unstaged=1"}},
		{id: "C18", title: "autocrlf", script: `
			git init -q r; cd r; printf 'a\r\nb\r\n'>f; git add f; git commit -qm a
			git config --global core.autocrlf input; touch -d '1 hour ago' f; ask $PWD`,
			want: []string{"clean"}},
		{id: "C19", title: "core.fileMode", script: `
			git init -q r; cd r; echo a>f; git add f; git commit -qm a; chmod +x f; ask $PWD
			git config core.fileMode false; ask $PWD; git config core.fileMode true; ask $PWD`,
			want: []string{"clean unstaged=1", "clean", "clean unstaged=1"}},
		// Without the second between the two writes that git needs to be sure.
		{id: "C20", title: "a restored mtime", script: `
			git init -q r; cd r; echo aaa>f; touch -d @1700000000 f; git add f; git commit -qm a; sleep 1.1
			echo bbb>f; touch -d @1700000000 f; ask $PWD
			git config core.trustctime false; ask $PWD; git config core.trustctime true; ask $PWD
			echo bbb>g; touch -d @1700000000 g; mv g f; ask $PWD; git config core.checkStat minimal; git config core.trustctime false; ask $PWD`,
			want: []string{"clean unstaged=1", "clean", "clean unstaged=1", "clean unstaged=1", "clean"}},
		{id: "C21", title: "touched but unchanged", script: `
			git init -q r; cd r; echo a>f; git add f; git commit -qm a; git tag -a -m t v1; touch -d '1 hour ago' f
			ask $PWD; chmod -w .git; touch f; ask $PWD; chmod +w .git`,
			want: []string{"clean tag=v1", "clean tag=v1"}},
		{id: "C22", title: "a file that became a symbolic link", script: `
			git init -q r; cd r; echo a>f; echo b>g; git add .; git commit -qm a; ln -sf g f
			ask $PWD; git add f; ask $PWD; git commit -qm b; rm f; echo g>f; ask $PWD`,
			want: []string{"clean unstaged=1", "clean staged=1", "clean unstaged=1"}},
		{id: "C23", title: "a staged rename", script: `
			git init -q r; cd r; seq 20 >Rold; git add .; git commit -qm a; git mv Rold Unew; ask $PWD`,
			want: []string{"clean staged=2 staged-new=1 staged-deleted=1"}},
		{id: "C24", title: "an unborn branch", script: `
			git init -q r; cd r; echo a>f; git add f; echo b>g; ask $PWD`,
			want: []string{"branch=main commit= clean staged=1 staged-new=1 untracked=1"}},
		{id: "C25", title: "conflicts", script: `
			git init -q r; cd r; echo 0>f; echo 0>g; git add .; git commit -qm base
			git switch -q -c o; echo o>f; git rm -q g; echo oo>new; git add .; git commit -qam o
			git switch -q main; echo m>f; echo m>g; echo mm>new; git add .; git commit -qam m; git merge -q o
			ask $PWD; git add f; ask $PWD`,
			want: []string{"clean conflicted=3 action=merge", "conflicted=2 staged=1 action=merge"}},
		{id: "C27", title: "ignore=all in .gitmodules", script: `
			git init -q lib; git -C lib commit -q --allow-empty -m l; git init -q r; cd r
			git submodule --quiet add ../lib lib; git config -f .gitmodules submodule.lib.ignore all; git add .gitmodules; git commit -qam one
			git -C lib commit -q --allow-empty -m l2; ask $PWD
			git config submodule.lib.ignore none; ask $PWD`,
			want: []string{"clean", "clean unstaged=1"}},
		{id: "C28", title: "dirty content in a submodule", script: `
			git init -q lib; (cd lib; echo x>f; git add f; git commit -qm l); git init -q r; cd r
			git submodule --quiet add ../lib lib; git commit -qam one; ask $PWD; echo y>>lib/f; ask $PWD
			git config diff.ignoreSubmodules dirty; ask $PWD; git config --unset diff.ignoreSubmodules
			git -C lib checkout -q f; touch lib/n; ask $PWD; git config submodule.lib.ignore untracked; ask $PWD`,
			want: []string{"clean", "clean unstaged=1", "clean", "clean unstaged=1", "clean"}},
		{id: "C29", title: "a submodule whose git directory is elsewhere", script: `
			git init -q lib; git -C lib commit -q --allow-empty -m l; git init -q r; cd r
			git submodule --quiet add ../lib lib; git commit -qam one
			mv .git/modules/lib .git/modules/real; echo 'gitdir: ../.git/modules/real'>lib/.git
			git clone -q --bare ../lib .git/modules/lib
			c=$(git --git-dir=.git/modules/lib commit-tree -m x $(git mktree </dev/null))
			git --git-dir=.git/modules/lib update-ref refs/heads/main $c; ask $PWD`,
			want: []string{"clean"}},
		{id: "C44", title: "names that a shell would expand", script: `
			git init -q r; cd r; git commit -q --allow-empty -m 'sum %F{red} $(touch P1) ` + "`touch P2`" + `'
			git switch -q -c 'x%F{red}$(touch${IFS}PWNED)'; git tag '$(touch${IFS}P3)'; ask $PWD
			must test ! -e PWNED -a ! -e P1 -a ! -e P2 -a ! -e P3`,
			want: []string{"branch=x%F{red}$(touch${IFS}PWNED) tag=$(touch${IFS}P3) clean"}},
		{id: "C46", title: "names with any byte", script: `
			git init -q r; cd r; git commit -q --allow-empty -m a
			touch "$(printf 'a\nb')" "tab${T}x" 'q"uote' ' lead' 'ünï' "$(printf 'bad\377')"; ask $PWD
			git add .; ask $PWD; git commit -qm b; for f in *; do echo x >"$f"; done; echo x >' lead'; ask $PWD`,
			want: []string{"clean untracked=6", "clean staged=6", "clean unstaged=6"}},
	}
}
