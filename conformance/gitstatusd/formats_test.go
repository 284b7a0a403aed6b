package gitstatusd

import (
	"os/exec"
	"strings"
	"testing"

	"gust/conformance/daemon"
	"gust/internal/gittest"
)

// TestEveryFormatAtOnce asks about a repository that has everything: references in
// reftables, SHA-256 objects, a sparse index of version 4 without a checksum, a
// partial clone, Git LFS files, and a submodule with changes. The first answer and
// those after changes are git's.
func TestEveryFormatAtOnce(t *testing.T) {
	git := gittest.Newest(t)
	if !git.AtLeast(2, 46) {
		t.Skipf("NOT TESTED: %s makes no reftables", git)
	}
	e := gittest.New(t, git)
	lfs := `printf '*.bin filter=lfs diff=lfs merge=lfs -text\n' >.gitattributes; echo content >m.bin`
	if _, err := exec.LookPath("git-lfs"); err != nil {
		t.Log("NOT TESTED: Git LFS (there is no git-lfs)")
		lfs = "true"
	}
	e.Script(t, `
		git config --global filter.lfs.clean 'git-lfs clean -- %f'; git config --global filter.lfs.smudge 'git-lfs smudge --skip -- %f'
		git config --global filter.lfs.process 'git-lfs filter-process --skip'; git config --global filter.lfs.required true
		git config --global init.defaultObjectFormat sha256; git config --global init.defaultRefFormat reftable
		git init -q lib; cd lib; echo f >f; git add f; git commit -qm lib; cd ..
		git init -q up; cd up; git config uploadpack.allowFilter true; git config uploadpack.allowAnySHA1InWant true
		for d in a b c/d; do mkdir -p $d; echo $d >$d/f; echo $d >$d/g; done; `+lfs+`
		git submodule --quiet add ../lib a/sub; git add .; git commit -qm one; git tag v1; echo more >b/f; git commit -qam two; cd ..
		git clone -q --filter=blob:none --sparse "file://$PWD/up" r; cd r
		git config index.skipHash true; git config index.version 4
		git sparse-checkout set --cone --sparse-index a; git submodule --quiet update --init; git commit -q --allow-empty -m three`)
	if format := e.Run(t, "r", "rev-parse", "--show-object-format", "--show-ref-format"); format != "sha256\nreftable\n" {
		t.Fatalf("the formats are %q", format)
	}
	if list := e.Run(t, "r", "ls-files", "--sparse"); !strings.Contains(list, "c/\n") {
		t.Fatalf("no sparse directory in %q", list)
	}
	if missing := e.Run(t, "r", "rev-list", "--objects", "--all", "--missing=print"); !strings.Contains(missing, "\n?") {
		t.Fatal("no object is missing")
	}
	options := gittest.Unlimited()
	d := daemon.For(t, gitstatusd, e, options.Args()...)
	oracle := gittest.NewOracle(git, e.Environ(), t.TempDir())
	place := gittest.Place{Dir: e.Path("r")}
	for _, change := range []string{
		"true", "echo x >>a/sub/f", "echo x >>a/f; echo y >y", "git add a/f", "git stash -q", "git switch -q -c other HEAD~1", "touch m.bin a/g", "echo other >m.bin",
		"git rm -q --cached a/g", "mkdir -p c/d; echo z >c/d/z", "git pack-refs --all", "git -C a/sub commit -qam sub", "git gc -q", "git tag v2",
	} {
		e.Script(t, "cd r; "+change)
		answer, err := d.Ask(place, false)
		if err != nil {
			t.Fatalf("after %q: %v\n%s", change, err, d.Log())
		}
		truths, err := oracle.Ask(place, options)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range truths[0].Check(answer[0], options, false, answer) {
			t.Errorf("after %q: %s\n%s", change, m, d.Log())
		}
	}
}
