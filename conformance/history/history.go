// Package history plays random histories and compares what gust's commands about
// history print with what git does. It is for tests only.
package history

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gust/internal/face/cli"
	"gust/internal/gittest"
)

// A Repo is a repository with a random history.
type Repo struct {
	Env     *gittest.Env
	Dir     string   // absolute
	Commits []string // object IDs
	Tags    []string // object IDs of tag objects
	Refs    []string // full names
	Odd     bool     // has grafts, a shallow cut or replaced objects
	rand    *rand.Rand
	tag     string // starts the names of refs and texts
	marks   int
	in      bytes.Buffer
}

// New makes the repository of a seed with env's git.
func New(t testing.TB, env *gittest.Env, seed uint64) *Repo {
	t.Helper()
	r := newRepo(t, env, seed)
	r.history(1 + r.rand.IntN(1+r.rand.IntN(80)))
	r.importAll(t)
	r.store(t)
	r.bend(t)
	return r
}

// NewBitmapped makes the repository of a seed in which most objects are covered by a
// bitmap that git wrote, and some may have come later.
func NewBitmapped(t testing.TB, env *gittest.Env, seed uint64) *Repo {
	t.Helper()
	r := newRepo(t, env, seed)
	n := 1 + r.rand.IntN(30)
	if r.chance(60) {
		n = 100 + r.rand.IntN(300) // of fewer git stores every commit's bitmap
	}
	r.history(n)
	r.importAll(t)
	r.writeBitmap(t)
	if r.chance(60) {
		r.in.Reset()
		r.marks, r.tag = 0, "n"
		r.history(1 + r.rand.IntN(10))
		r.Commits, r.Tags, r.Refs = nil, nil, nil
		r.importAll(t)
	}
	return r
}

// writeBitmap has git write a bitmap, in one of its ways.
func (r *Repo) writeBitmap(t testing.TB) {
	t.Helper()
	conf := []string{"-c", fmt.Sprintf("pack.writeBitmapLookupTable=%v", r.chance(50)), "-c", fmt.Sprintf("pack.writeBitmapHashCache=%v", r.chance(50)),
		"-c", fmt.Sprintf("pack.writeReverseIndex=%v", r.chance(50))}
	if r.chance(30) {
		conf = append(conf, "-c", "bitmapPseudoMerge.all.pattern=refs/", "-c", "bitmapPseudoMerge.all.threshold=now", "-c", "bitmapPseudoMerge.all.stableThreshold=never")
	}
	if r.chance(40) {
		r.git(t, "", r.Dir, "repack", "-qd")
		r.git(t, "", r.Dir, append(conf, "multi-pack-index", "write", "--bitmap")...)
	} else {
		r.git(t, "", r.Dir, append(conf, "repack", "-qadb")...)
	}
	if names, err := filepath.Glob(filepath.Join(r.Dir, ".git/objects/pack/*.bitmap")); err != nil || len(names) != 1 {
		t.Fatalf("git wrote no bitmap: %q, %v", names, err)
	}
}

func newRepo(t testing.TB, env *gittest.Env, seed uint64) *Repo {
	t.Helper()
	r := &Repo{Env: env, Dir: env.Path(fmt.Sprintf("r%d", seed)), rand: rand.New(rand.NewPCG(seed, 5))}
	r.git(t, "", ".", "init", "-q", "-b", "main", r.Dir)
	return r
}

// importAll has git read what was written, and makes refs of it.
func (r *Repo) importAll(t testing.TB) {
	t.Helper()
	r.git(t, r.in.String(), r.Dir, "fast-import", "--quiet", "--force", "--export-marks=marks")
	r.readMarks(t)
	r.refs(t)
}

func (r *Repo) git(t testing.TB, in, dir string, args ...string) string {
	t.Helper()
	cmd := r.Env.Command(dir, args...)
	cmd.Stdin = strings.NewReader(in)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %q in '%s': %v\n%s", args, dir, err, stderr.String())
	}
	return string(out)
}

func (r *Repo) chance(percent int) bool { return r.rand.IntN(100) < percent }

// history writes commits and tag objects. Clocks are right, all the same or wrong.
func (r *Repo) history(n int) {
	window := 1 + r.rand.IntN(12)
	merges, roots, skew, same := r.rand.IntN(60), r.rand.IntN(8), 0, r.chance(15)
	if r.chance(25) {
		skew = r.rand.IntN(40)
	}
	for i := range n {
		date := 1_500_000_000 + 100*i
		if same {
			date = 1_500_000_000
		}
		if r.chance(skew) {
			date = 1_500_000_000 + r.rand.IntN(200*n)
		}
		r.marks++
		fmt.Fprintf(&r.in, "commit refs/heads/%sb%d\nmark :%d\nauthor A <a@x> %d +0000\ncommitter C <c@x> %d +0000\ndata 4\nc%02d\n\n", r.tag, i%5, r.marks, date-r.rand.IntN(50), date, i%100)
		seen := map[int]bool{}
		for k := 0; i > 0 && (k == 0 || r.chance(merges)) && k < 9; k++ {
			p := max(1, r.marks-1-r.rand.IntN(window))
			if k == 0 && r.chance(roots) {
				break
			}
			if !seen[p] {
				fmt.Fprintf(&r.in, "%s :%d\n", map[bool]string{true: "from", false: "merge"}[len(seen) == 0], p)
			}
			seen[p] = true
		}
		if len(seen) == 0 && r.tag != "" && r.chance(70) {
			fmt.Fprint(&r.in, "from refs/heads/main^0\n")
		} else if len(seen) == 0 {
			fmt.Fprintf(&r.in, "deleteall\n")
		}
		for range r.rand.IntN(4) {
			fmt.Fprintf(&r.in, "M 100644 inline %s\ndata 3\n%02d\n\n", r.path(), r.rand.IntN(40))
		}
		if r.chance(10) {
			fmt.Fprintf(&r.in, "D %s\n", r.path())
		}
	}
	commits := r.marks
	fmt.Fprintf(&r.in, "reset refs/heads/%smain\nfrom :%d\n\n", r.tag, commits)
	for i := range r.rand.IntN(1 + r.rand.IntN(40)) {
		target := 1 + r.rand.IntN(commits)
		if r.marks > commits && r.chance(20) {
			target = commits + 1 + r.rand.IntN(r.marks-commits)
		}
		r.marks++
		fmt.Fprintf(&r.in, "tag %sa%02d\nmark :%d\nfrom :%d\n", r.tag, i, r.marks, target)
		if !r.chance(5) {
			fmt.Fprintf(&r.in, "tagger T <t@x> %d +0000\n", 1_500_000_000+100*r.rand.IntN(5))
		}
		fmt.Fprint(&r.in, "data 2\nt\n\n")
	}
}

func (r *Repo) path() string {
	parts := []string{"", "d/", "d/e/", "x/", "x/y/z/"}
	return parts[r.rand.IntN(len(parts))] + string(rune('a'+r.rand.IntN(6)))
}

func (r *Repo) readMarks(t testing.TB) {
	t.Helper()
	name := filepath.Join(r.Dir, "marks")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	ids := make([]string, r.marks+1)
	for line := range strings.Lines(string(data)) {
		var mark int
		var id string
		if _, err := fmt.Sscanf(line, ":%d %s", &mark, &id); err != nil {
			t.Fatal(err)
		}
		ids[mark] = id
	}
	for line := range strings.Lines(r.git(t, strings.Join(ids[1:], "\n")+"\n", r.Dir, "cat-file", "--batch-check=%(objectname) %(objecttype)")) {
		id, typ, _ := strings.Cut(strings.TrimSpace(line), " ")
		if typ == "tag" {
			r.Tags = append(r.Tags, id)
		} else {
			r.Commits = append(r.Commits, id)
		}
	}
}

// pick returns one of all, or "" of none.
func (r *Repo) pick(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return all[r.rand.IntN(len(all))]
}

// refs makes more names: lightweight tags, tag objects under other names, tags of
// trees and blobs, branches, remote branches and refs elsewhere.
func (r *Repo) refs(t testing.TB) {
	t.Helper()
	var in strings.Builder
	var trees []string
	for line := range strings.Lines(r.git(t, "", r.Dir, "rev-list", "--objects", "--all")) {
		if id, path, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " "); strings.Contains(line, " ") && r.chance(10) {
			_ = path
			trees = append(trees, id)
		}
	}
	few := func() int { return r.rand.IntN(1 + r.rand.IntN(12)) }
	add := func(n int, format string, ids []string) {
		for i := range n {
			if id := r.pick(ids); id != "" {
				fmt.Fprintf(&in, "create "+format+" %s\n", r.tag, i, id)
			}
		}
	}
	add(few(), "refs/tags/%sl%02d", r.Commits)
	add(few(), "refs/heads/%sh%d", r.Commits)
	add(few(), "refs/remotes/origin/%sr%d", r.Commits)
	add(r.rand.IntN(2), "refs/odd/%so%d", r.Commits)
	if r.chance(20) {
		add(few(), "refs/tags/%smis%d", r.Tags)
		add(few(), "refs/tags/%stree%d", trees)
	}
	r.git(t, in.String(), r.Dir, "update-ref", "--stdin")
	for line := range strings.Lines(r.git(t, "", r.Dir, "for-each-ref", "--format=%(refname)")) {
		r.Refs = append(r.Refs, strings.TrimSpace(line))
	}
	if r.chance(30) {
		r.git(t, "", r.Dir, "checkout", "-q", "--detach", r.pick(r.Commits))
	} else {
		r.git(t, "", r.Dir, "reset", "-q", "--hard")
	}
}

// store decides how refs and objects are stored.
func (r *Repo) store(t testing.TB) {
	t.Helper()
	if r.chance(60) {
		r.git(t, "", r.Dir, "pack-refs", "--all")
	}
	switch r.rand.IntN(4) {
	case 0:
		r.git(t, "", r.Dir, "repack", "-qadk")
	case 1:
		r.git(t, "", r.Dir, "repack", "-qd")
		r.git(t, "", r.Dir, "multi-pack-index", "write")
	}
	switch r.rand.IntN(5) {
	case 0:
		r.git(t, "", r.Dir, "commit-graph", "write", "--reachable")
	case 1:
		r.git(t, "", r.Dir, "-c", "commitGraph.generationVersion=1", "commit-graph", "write", "--reachable", "--changed-paths")
	case 2: // of a part
		r.git(t, r.pick(r.Commits)+"\n", r.Dir, "commit-graph", "write", "--stdin-commits", "--split")
		r.git(t, r.pick(r.Commits)+"\n", r.Dir, "commit-graph", "write", "--stdin-commits", "--split=no-merge", "--append")
	}
}

// bend changes how history is read.
func (r *Repo) bend(t testing.TB) {
	t.Helper()
	write := func(name, text string) {
		r.Odd = true
		path := filepath.Join(r.Dir, ".git", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	switch r.rand.IntN(12) {
	case 0:
		write("shallow", r.pick(r.Commits)+"\n")
	case 1: // older commits as parents: no circle
		i := r.rand.IntN(len(r.Commits))
		text := r.Commits[i]
		for range r.rand.IntN(3) {
			if i > 0 {
				text += " " + r.Commits[r.rand.IntN(i)]
			}
		}
		write("info/grafts", text+"\n")
		r.git(t, "", r.Dir, "config", "advice.graftFileDeprecated", "false")
	case 2:
		i := r.rand.IntN(len(r.Commits))
		if i > 0 {
			write("refs/replace/"+r.Commits[i], r.Commits[r.rand.IntN(i)]+"\n")
		}
	}
}

// An Answer is what a command printed.
type Answer struct {
	Out, Err string
	Code     int
}

// Git returns what git answers.
func (r *Repo) Git(t testing.TB, g gittest.Git, in string, args ...string) Answer {
	t.Helper()
	cmd := exec.Command(g.Path, args...)
	cmd.Dir, cmd.Env, cmd.Stdin = r.Dir, r.Env.Environ(), strings.NewReader(in)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return Answer{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// Gust returns what gust answers; ok is false if it leaves the command to git.
func (r *Repo) Gust(t testing.TB, in string, args ...string) (a Answer, ok bool) {
	t.Helper()
	var out, errs strings.Builder
	ok = true
	a.Code = cli.Run(context.Background(), &cli.Program{
		Args: args, Env: r.Env.Environ(), In: strings.NewReader(in), Out: &out, Err: &errs,
		Dir: func() (string, error) { return r.Dir, nil },
		HandOver: func([]string, []byte) int {
			ok = false
			return -1
		},
	})
	a.Out, a.Err = out.String(), errs.String()
	if !ok && (a.Out != "" || a.Err != "") {
		t.Errorf("gust %q wrote %q and %q before it left the command to git", args, a.Out, a.Err)
	}
	return a, ok
}
