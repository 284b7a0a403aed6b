package repos

import (
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

func TestShapes(t *testing.T) {
	for _, s := range []Shape{{60, 8}, Small, Medium, Large} {
		paths := s.Paths()
		dirs := map[string]bool{".": true}
		total := 0
		for i, p := range paths {
			total += len(p)
			if i > 0 && paths[i-1] >= p {
				t.Fatalf("%v: '%s' after '%s': not in index order, or twice", s, p, paths[i-1])
			}
			for d := path.Dir(p); !dirs[d]; d = path.Dir(d) {
				dirs[d] = true
			}
		}
		if len(paths) != s.Files || len(dirs) != s.Dirs {
			t.Errorf("%v: %d files in %d directories", s, len(paths), len(dirs))
		}
		if mean := total / len(paths); s.Files >= Small.Files && (mean < 86 || mean > 94) {
			t.Errorf("%v: the mean path has %d bytes, want about 90", s, mean)
		}
		if !slices.Equal(paths, s.Paths()) {
			t.Errorf("%v: not deterministic", s)
		}
	}
}

func git(t *testing.T, s *Store, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command(s.Git, args...)
	cmd.Dir, cmd.Env = dir, s.Env()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func testStore(t *testing.T) *Store {
	return &Store{Dir: t.TempDir(), Git: "git", Log: io.Discard, Rest: 1}
}

func TestTree(t *testing.T) {
	t.Parallel()
	s := testStore(t)
	shape := Shape{60, 8}
	dir, err := s.Tree(t.Context(), shape)
	if err != nil {
		t.Fatal(err)
	}
	if got := git(t, s, dir, "status", "--porcelain=v2", "--branch"); !strings.Contains(got, "branch.ab +0 -0") || strings.Count(got, "\n") != 3 {
		t.Errorf("not clean and level with its upstream:\n%s", got)
	}
	want := append([]string{".gitignore"}, shape.Paths()...)
	if got := strings.Split(git(t, s, dir, "ls-files"), "\n"); !slices.Equal(got, want) {
		t.Errorf("files: %q, want %q", got, want)
	}
	again, err := s.Tree(t.Context(), shape)
	if err != nil || again != dir {
		t.Errorf("second call: %q, %v, want the same folder '%s'", again, err, dir)
	}
}

func TestTags(t *testing.T) {
	t.Parallel()
	s := testStore(t)
	dir, err := s.Tags(t.Context(), 30)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(git(t, s, dir, "tag", "--list"), "\n") + 1; got != 30 {
		t.Errorf("%d tags, want 30", got)
	}
	if got := git(t, s, dir, "tag", "--points-at", "HEAD"); got != "v-at-head" {
		t.Errorf("tags at HEAD: %q", got)
	}
	if got := git(t, s, dir, "for-each-ref", "refs/tags/v0.1", "--format=%(objecttype)"); got != "tag" {
		t.Errorf("v0.1 is a %s", got)
	}
}

func TestDiverged(t *testing.T) {
	t.Parallel()
	s := testStore(t)
	for _, graph := range []bool{false, true} {
		dir, err := s.Diverged(t.Context(), 60, graph)
		if err != nil {
			t.Fatal(err)
		}
		if got := git(t, s, dir, "rev-list", "--count", "--left-right", "main...origin/main"); got != "30\t30" {
			t.Errorf("graph %v: apart by %q", graph, got)
		}
		if got := git(t, s, dir, "rev-list", "--count", "--merges", "main...origin/main"); got != "6" {
			t.Errorf("graph %v: %s merges", graph, got)
		}
		if got := git(t, s, dir, "for-each-ref", "--format=%(refname)"); got != "refs/heads/main\nrefs/remotes/origin/main" {
			t.Errorf("graph %v: refs %q", graph, got)
		}
		graphs := git(t, s, dir, "rev-parse", "--git-path", "objects/info/commit-graph")
		if err := exec.Command("test", "-e", path.Join(dir, graphs)).Run(); (err == nil) != graph {
			t.Errorf("graph %v: the commit-graph file: %v", graph, err)
		}
	}
}

func TestBuildFailsLoudly(t *testing.T) {
	s := testStore(t)
	s.Git = "false"
	if dir, err := s.Tree(t.Context(), Shape{60, 8}); err == nil {
		t.Errorf("a git that fails built '%s'", dir)
	}
}
