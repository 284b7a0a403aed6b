package revision_test

import (
	"errors"
	"strings"
	"testing"

	"gust/internal/gittest"
	"gust/internal/history/revision"
	"gust/internal/pure/oid"
	"gust/internal/store/odb"
	"gust/internal/store/refs"
)

// script makes history with a merge, tags of every kind and a branch that was left.
const script = `
git init -q r; cd r
c() { export GIT_COMMITTER_DATE="$((1700000000+$1)) +0000"; mkdir -p d/e; echo $1 >f; echo $1 >d/e/g; git add .; git commit -qm c$1; }
c 1; c 2; git branch side; c 3; git switch -q side; c 4; git switch -q main; git merge -q -s ours -m merge side
git tag light; git tag -a -m t heavy HEAD~1; git tag -a -m t nested heavy; git tag of-tree HEAD^{tree}; git tag of-blob HEAD:f; git tag -a -m t heavy-tree HEAD^{tree}
git update-ref refs/remotes/origin/main HEAD~1; git update-ref refs/remotes/origin/other HEAD~2
git symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/main; git remote add origin ../x; git branch --set-upstream-to=origin/main main
git update-ref refs/heads/both HEAD; git tag both HEAD~1; git update-ref refs/foo HEAD~1
git switch -q -c deep/er; git switch -q main; git switch -q --detach HEAD~1; git switch -q main; git symbolic-ref refs/heads/sym refs/heads/side
git symbolic-ref refs/heads/dangling refs/heads/none
`

var cases = strings.Fields(`HEAD @ main side light heavy nested of-tree of-blob heavy-tree refs/heads/main heads/main tags/heavy remotes/origin/main origin
	origin/main origin/HEAD foo refs/foo both none dangling sym config refs/heads deep/er
	HEAD^ HEAD^1 HEAD^2 HEAD^3 HEAD^0 HEAD~ HEAD~0 HEAD~1 HEAD~2 HEAD~3 HEAD~99 HEAD^^ HEAD~1^2 HEAD^2~1 heavy^ heavy~1 nested^0 nested^{} of-blob^0 of-tree^0
	heavy^{tag} heavy^{commit} heavy^{tree} heavy^{blob} heavy^{} heavy^{object} nested^{tag} light^{tag} HEAD^{tree} HEAD^{tree}^{} heavy-tree^{tree} heavy-tree^{commit} of-blob^{blob} HEAD^{what} ^{} ^ ~
	@~1 @^2 @{u} @{upstream} @{UpStream} main@{u} main@{u}~1 HEAD@{u} side@{u} none@{u} @{-1} @{-2} @{-3} @{-9} @{-0} @{-1}^ @{-2}~1 @{0} @{1} HEAD@{0} HEAD@{1} HEAD@{2} HEAD@{99} main@{0} main@{1} main@{3} none@{0} light@{0} @{push}
	HEAD:f HEAD:d HEAD:d/e/g HEAD:d/e/ HEAD: HEAD~1:f heavy:f of-tree:f HEAD:none HEAD:f/x HEAD^{tree}:d :f :0:f :1:f :d/e/g :none : HEAD:/f
	v1-0-g0000000 x-gzzzz HEAD.. a..b a:b:c @{ @} {} HEAD^{ HEAD@{1}@{2} refs/tags/heavy^{commit}~1`)

func newResolver(t *testing.T, env *gittest.Env, format string) *revision.Resolver {
	t.Helper()
	dir := env.Path("r/.git")
	db, err := odb.Open(odb.Options{ObjectDir: dir + "/objects"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	store, err := refs.Open(refs.Options{GitDir: dir, Format: format})
	if err != nil {
		t.Fatal(err)
	}
	return &revision.Resolver{DB: db, Refs: store, Upstream: func(branch string) string {
		if branch == "refs/heads/main" {
			return "refs/remotes/origin/main"
		}
		return ""
	}}
}

// TestAsGit compares each expression, and objects by abbreviations of every length,
// with git rev-parse. What is unknown here git must refuse, warn of, or be named
// below with what it is that is left to git.
func TestAsGit(t *testing.T) {
	for _, g := range gittest.All(t) {
		formats := []string{"files"}
		if g.AtLeast(2, 51) {
			formats = append(formats, "reftable")
		}
		for _, format := range formats {
			t.Run(g.String()+"-"+format, func(t *testing.T) { asGit(t, g, format) })
		}
	}
}

func asGit(t *testing.T, g gittest.Git, format string) {
	left := map[string]string{ // understood by git alone
		"@{push}": "push", ":f": "index", ":0:f": "index", ":d/e/g": "index", "both": "warning", "HEAD@{99}": "", "light@{0}": "",
	}
	env := gittest.New(t, g)
	if format == "reftable" {
		env.Run(t, ".", "config", "--global", "init.defaultRefFormat", format)
	}
	env.Script(t, script)
	r := newResolver(t, env, format)
	all := cases
	for line := range strings.Lines(env.Run(t, "r", "rev-list", "--objects", "--all")) {
		id := strings.Fields(line)[0]
		for _, n := range []int{3, 4, 5, 7, 39, 40} {
			all = append(all, id[:n], strings.ToUpper(id[:n]), "x-1-g"+id[:n], id[:n]+"^0")
		}
	}
	understood := 0
	for _, rev := range all {
		id, err := r.Resolve(rev)
		cmd := env.Command("r", "rev-parse", "--verify", "--end-of-options", rev)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, gitErr := cmd.Output()
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		want := lines[len(lines)-1]
		_, isLeft := left[rev]
		switch {
		case err == nil:
			understood++
			if gitErr != nil || id.String() != want || stderr.Len() > 0 {
				t.Errorf("%q is %s, git says %s, %v, %s", rev, id, want, gitErr, stderr.String())
			}
		case !errors.Is(err, revision.ErrUnknown):
			t.Errorf("%q: %v", rev, err)
		case gitErr == nil && stderr.Len() == 0 && !isLeft:
			t.Errorf("%q is unknown, git says %s", rev, want)
		}
	}
	if understood < 100 {
		t.Errorf("only %d of %d expressions are understood", understood, len(all))
	}
}

func TestRef(t *testing.T) {
	env := gittest.New(t, gittest.Newest(t))
	env.Script(t, script)
	r := newResolver(t, env, "files")
	for _, tt := range []struct{ rev, want string }{
		{"HEAD", "HEAD"}, {"@", "HEAD"}, {"main", "refs/heads/main"}, {"heavy", "refs/tags/heavy"}, {"@{u}", "refs/remotes/origin/main"},
		{"origin", "refs/remotes/origin/main"}, {"@{-2}", "refs/heads/main"}, {"sym", "refs/heads/side"}, {"both", ""}, {"none", ""}, {"HEAD~1", ""},
	} {
		name, id, err := r.Ref(tt.rev)
		if tt.want == "" {
			if !errors.Is(err, revision.ErrUnknown) {
				t.Errorf("Ref(%q) = %q, %v", tt.rev, name, err)
			}
			continue
		}
		if want := strings.TrimSpace(env.Run(t, "r", "rev-parse", tt.rev)); name != tt.want || err != nil || id.String() != want {
			t.Errorf("Ref(%q) = %q, %s, %v, want %q, %s", tt.rev, name, id, err, tt.want, want)
		}
	}
	if id, err := r.Commit("nested"); err != nil || id.String() != strings.TrimSpace(env.Run(t, "r", "rev-parse", "nested^0")) {
		t.Errorf("Commit(nested) = %s, %v", id, err)
	}
	if _, err := r.Commit("of-tree"); !errors.Is(err, revision.ErrUnknown) {
		t.Errorf("Commit of a tree: %v", err)
	}
}

// TestParts covers what the functions of a Resolver say.
func TestParts(t *testing.T) {
	env := gittest.New(t, gittest.Newest(t))
	env.Script(t, script)
	r := newResolver(t, env, "files")
	want, _ := oid.Parse(oid.SHA1, strings.Repeat("12", 20))
	r.Index = func(path string, stage int) (oid.ID, bool, error) { return want, path == "f" && stage == 2, nil }
	r.Push = func(string) string { return "refs/remotes/origin/other" }
	r.QuietAmbiguity = true
	for _, rev := range []string{"@{push}", "main@{push}", "both"} {
		id, err := r.Resolve(rev)
		git := strings.Replace(strings.Replace(rev, "main@{push}", "origin/other", 1), "@{push}", "origin/other", 1)
		if want := strings.TrimSpace(env.Run(t, "r", "-c", "core.warnAmbiguousRefs=false", "rev-parse", git)); err != nil || id.String() != want {
			t.Errorf("%q is %s, %v, want %s", rev, id, err, want)
		}
	}
	if id, err := r.Resolve(":2:f"); err != nil || id != want {
		t.Errorf(":2:f is %s, %v", id, err)
	}
	if _, err := r.Resolve(":f"); !errors.Is(err, revision.ErrUnknown) {
		t.Errorf(":f: %v", err)
	}
}
