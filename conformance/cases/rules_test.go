package cases

func ruleCases() []reported {
	return []reported{
		{id: "C10", title: "an allow-list", script: `
			git init -q r; cd r; printf '*\n!/.conf\n!/keep/\n!/keep/me\n' >.gitignore
			mkdir keep; touch keep/me keep/not other; ask $PWD; ask $PWD -e`,
			want: []string{"untracked=1", "untracked=1"}},
		{id: "C11", title: "a class, and an anchored negation", script: `
			git init -q r; cd r; printf '[Ii]gn/\n!/my/ign/\n/my/ign/*\n!/my/ign/some.txt\n' >.gitignore
			git add .; git commit -qm a; mkdir -p my/ign; touch my/ign/some.txt my/ign/no.txt; ask $PWD -e`,
			want: []string{"untracked=1"}},
		{id: "C12", title: "rules inside an ignored directory", script: `
			git init -q r; cd r; echo sub>.gitignore; mkdir sub; echo '!file.txt'>sub/.gitignore
			git add .gitignore; git commit -qm a; touch sub/file.txt; ask $PWD`,
			want: []string{"clean"}},
		{id: "C13", title: "a tracked but ignored file", script: `
			git init -q r; cd r; echo a>f; git add f; git commit -qm a; echo f>.gitignore; git add .gitignore; git commit -qm b
			echo b>>f; ask $PWD`,
			want: []string{"clean unstaged=1"}},
		{id: "C14", title: "global excludes", script: `
			git init -q r; cd r; git commit -q --allow-empty -m a; mkdir -p $HOME/.config/git; echo '*.swp'>$HOME/.config/git/ignore
			touch x.swp y z.bak; ask $PWD
			echo '*.bak'>$HOME/gi; git config --global core.excludesFile '~/gi'; ask $PWD
			rm y; ask $PWD; echo '*.swp' >>$HOME/gi; ask $PWD`,
			want: []string{"untracked=2", "untracked=2", "untracked=1", "untracked=0"}},
		{id: "C15", title: "showUntrackedFiles=all", script: `
			git init -q r; cd r; git commit -q --allow-empty -m a; mkdir d; touch d/1 d/2 d/3
			git config status.showUntrackedFiles all; ask $PWD`,
			want: []string{"untracked=3"}},
		{id: "C16", title: "showUntrackedFiles=no", script: `
			git init -q r; cd r; git commit -q --allow-empty -m a; touch d; git config status.showUntrackedFiles no
			ask $PWD; ask $PWD -U`,
			want: []string{"untracked=0", "untracked=1"}},
		{id: "C26", title: "a nested repository", script: `
			git init -q r; cd r; git commit -q --allow-empty -m a; git init -q inner; ask $PWD
			(cd inner; git commit -q --allow-empty -m i; touch z); ask $PWD; ask $PWD -e`,
			want: []string{"untracked=1", "untracked=1", "untracked=1"}},
		{id: "C53", title: "a tracked file in an ignored directory", script: `
			git init -q r; cd r; mkdir -p build/sub; echo a>build/sub/f; git add .; git commit -qm 1; echo build/ >.gitignore; git add .gitignore; git commit -qm 2
			ask $PWD; echo b>>build/sub/f; ask $PWD; touch build/new; ask $PWD`,
			want: []string{"clean", "clean unstaged=1", "clean unstaged=1"}},
		{id: "C54", title: "a file in a directory that was empty", script: `
			git init -q r; cd r; git commit -q --allow-empty -m 1; mkdir -p x/y; ask $PWD
			touch x/y/f; ask $PWD; rm x/y/f; ask $PWD`,
			want: []string{"clean", "clean untracked=1", "clean"}},
	}
}
