package cases

func trackingCases() []reported {
	return []reported{
		{id: "C34", title: "an upstream that is gone", script: `
			git init -q --bare up.git; git clone -q up.git r 2>/dev/null; cd r; git commit -q --allow-empty -m a
			git push -q -u origin HEAD; git switch -q -c topic; git push -q -u origin topic; ask $PWD
			git push -q origin :topic; git fetch -q -p; ask $PWD`,
			want: []string{"branch=topic upstream-branch=topic remote-name=origin ahead=0 behind=0", "branch=topic upstream-branch= ahead=0 behind=0"}},
		{id: "C35", title: "a tracking namespace of another name", script: `
			git init -q --bare up.git; git clone -q up.git r 2>/dev/null; cd r; git commit -q --allow-empty -m a; git push -q -u origin HEAD
			git config remote.origin.fetch '+refs/heads/*:refs/remotes/upstream-x/*'; git fetch -q; git commit -q --allow-empty -m b
			ask $PWD
			git remote rename origin team/one; ask $PWD
			git remote add team/two $D/up.git; git push -q -u team/two HEAD:feature/x; git commit -q --allow-empty -m c; ask $PWD
			git branch loc HEAD~1; git branch -q -u loc; ask $PWD`,
			want: []string{"upstream-branch=main remote-name=origin ahead=1 behind=0", "upstream-branch=main remote-name=team/one ahead=1 behind=0",
				"upstream-branch=feature/x remote-name=team/two ahead=1 behind=0", "upstream-branch=loc remote-name=. ahead=1 behind=0"}},
		{id: "C36", title: "a shallow clone", script: `
			git init -q up; cd up; for i in 1 2 3 4; do echo $i>f; git add f; git commit -qm c$i; done; cd ..
			git clone -q --depth 1 "file://$PWD/up" r; (cd up; echo 5>f; git commit -qam c5); cd r
			git commit -q --allow-empty -m mine; ask $PWD; git fetch -q; ask $PWD; must test $(git rev-list --count HEAD) = 2`,
			want: []string{"ahead=1 behind=0", "ahead=1 behind=1"}},
		{id: "C37", title: "operations in progress", script: `
			git init -q r; cd r; echo 0>f; git add f; git commit -qm base; git switch -q -c other; echo o>f; git commit -qam o
			echo o2>f; git commit -qam o2; git switch -q main; echo m>f; git commit -qam m
			git rebase -i main other; must test $(cat .git/rebase-merge/head-name) = refs/heads/other; ask $PWD
			echo m>f; git add f; git rebase --continue; ask $PWD
			git rebase --abort; git rebase --apply main other; ask $PWD
			git rebase --abort; git switch -q main; git merge other; ask $PWD
			git merge --abort; git format-patch -q -1 --stdout other | git am; ask $PWD
			git am --abort; git cherry-pick other~1; ask $PWD
			git cherry-pick --abort; git cherry-pick other~1 other; ask $PWD
			git add f; git commit -qm picked; ask $PWD
			git cherry-pick --quit; git revert --no-edit HEAD~1; ask $PWD
			git revert --abort; git revert --no-edit HEAD~1 HEAD~2; ask $PWD
			git revert --abort; git bisect start -q; ask $PWD; git bisect reset; ask $PWD`,
			want: []string{"action=rebase-i_1/2 branch= conflicted=1", "action=rebase-i_2/2 branch=", "action=rebase_1/2 branch=", "action=merge branch=main",
				"action=am_1/1 branch=main", "action=cherry branch=main", "action=cherry-seq branch=main", "action=cherry-seq conflicted=0", "action=revert branch=main",
				"action=revert-seq branch=main", "action=bisect branch=main", "action="}},
	}
}
