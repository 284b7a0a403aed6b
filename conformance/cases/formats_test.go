package cases

func formatCases() []reported {
	return []reported{
		{id: "C01", title: "refs in reftables", newOnly: true, script: `
			git init -q --ref-format=reftable r; cd r
			git commit -q --allow-empty -m one; git switch -q -c feat; touch n
			ask $PWD
			git tag -a -m t v1; git stash -q -u; ask $PWD
			git pack-refs --all; git branch -m feat other; ask $PWD
			git checkout -q --detach; ask $PWD
			git worktree add -q ../w -b side; ask $(cd ../w; pwd)`,
			want: []string{"branch=feat clean untracked=1", "branch=feat clean stashes=1 tag=v1", "branch=other stashes=1 tag=v1", "branch= tag=v1", "branch=side stashes=1 tag=v1"}},
		{id: "C02", title: "extensions.worktreeConfig", script: `
			git init -q r; cd r; git commit -q --allow-empty -m one
			git config core.repositoryformatversion 1; git config extensions.worktreeConfig true
			ask $PWD
			mkdir d; touch d/1 d/2; git config --worktree status.showUntrackedFiles all; ask $PWD
			git config core.repositoryformatversion 0; ask $PWD`,
			want: []string{"branch=main clean", "branch=main untracked=2", "branch=main untracked=2"}},
		{id: "C03", title: "SHA-256 objects", script: `
			git init -q --object-format=sha256 r; cd r; git commit -q --allow-empty -m one; touch n
			must test $(git rev-parse HEAD | wc -c) = 65
			ask $PWD`,
			want: []string{"branch=main untracked=1"}},
		{id: "C04", title: "split index", script: `
			git init -q r; cd r; echo a>f; git add f; git commit -qm a
			git config core.splitIndex true; git update-index --split-index; echo b>>f
			ask $PWD
			echo c>g; git add g; ask $PWD
			git update-index --no-split-index; ask $PWD
			git branch -q up; git branch -q -u up; git stash -q; head -c 20 .git/index >x; mv x .git/index; ask $PWD`,
			want: []string{"branch=main clean unstaged=1", "staged=1 unstaged=1 index-size=2", "staged=1 unstaged=1",
				"clean branch=main action=index-error upstream-branch=up remote-name=. stashes=1"}},
		{id: "C05", title: "sparse index", script: `
			git init -q r; cd r; for i in 1 2 3; do mkdir d$i; echo $i>d$i/f; done
			git add .; git commit -qm one; git sparse-checkout set --cone --sparse-index d1
			ask $PWD
			echo x >>d1/f; mkdir d4; touch d4/n; ask $PWD`,
			want: []string{"branch=main clean skip-worktree=2 index-size=3", "unstaged=1 untracked=1"}},
		{id: "C06", title: "sparse checkout", script: `
			git init -q r; cd r; for i in 1 2 3; do mkdir d$i; echo $i>d$i/f; done
			git add .; git commit -qm one; git sparse-checkout set --cone --no-sparse-index d1
			ask $PWD; git sparse-checkout disable; ask $PWD`,
			want: []string{"branch=main clean skip-worktree=2 index-size=3", "clean skip-worktree=0"}},
		{id: "C08", title: "skip-worktree", script: `
			git init -q r; cd r; echo a>f; git add .; git commit -qm one
			git update-index --skip-worktree f; rm f; ask $PWD; echo edited >f; ask $PWD
			git update-index --no-skip-worktree f; ask $PWD`,
			want: []string{"clean skip-worktree=1", "clean skip-worktree=1", "unstaged=1 skip-worktree=0"}},
		{id: "C09", title: "index version 4", script: `
			git init -q r; cd r; for i in 1 2 3; do echo a>dir-file-$i; done; git add .; git commit -qm a
			git update-index --index-version 4; echo b>>dir-file-2; ask $PWD`,
			want: []string{"clean unstaged=1 index-size=3"}},
	}
}
