package reftable

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gust/internal/disk/mmap"
	"gust/internal/gittest"
	"gust/internal/pure/oid"
)

// newest returns an Env whose git writes reftables.
func newest(t testing.TB) *gittest.Env {
	t.Helper()
	g := gittest.Newest(t)
	if !g.AtLeast(2, 51) {
		t.Skipf("NOT TESTED: %s does not write reftables", g)
	}
	return gittest.New(t, g)
}

// listed returns what git for-each-ref says about refs that start with prefix.
func listed(t *testing.T, e *gittest.Env, dir, prefix string) string {
	t.Helper()
	args := []string{"for-each-ref", "--format=%(refname) %(objectname) %(*objectname) %(symref)"}
	if prefix != "" {
		args = append(args, prefix)
	}
	return e.Run(t, dir, args...)
}

// read returns the same from a Stack.
func read(t *testing.T, s *Stack, prefix string) string {
	t.Helper()
	var b strings.Builder
	err := s.Refs(prefix, func(r *Ref) bool {
		switch r.Kind {
		case Symbolic:
			fmt.Fprintf(&b, "%s   %s\n", r.Name, r.Target)
		case Tag:
			fmt.Fprintf(&b, "%s %s %s \n", r.Name, r.ID, r.Peeled)
		default:
			fmt.Fprintf(&b, "%s %s  \n", r.Name, r.ID)
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// createMany is a script that creates refs of the given number in one go.
const createMany = `git commit -q --allow-empty -m a; git commit -q --allow-empty -m b; git tag -a -m x ann
a=$(git rev-parse HEAD) b=$(git rev-parse HEAD~1) c=$(git rev-parse ann)
seq $N | awk -v a=$a -v b=$b -v c=$c '{ r = $1 % 3; print "create refs/" (r ? "tags" : "heads") "/n" int($1/7) "/" $1 " " (r == 0 ? a : r == 1 ? b : c) }' | git update-ref --stdin
`

func TestTablesAgainstGit(t *testing.T) {
	tests := []struct {
		name   string
		init   string
		config string
		n      int
	}{
		{"small", "", "", 20},
		{"blocks", "", "", 1000},
		{"index", "", "", 8000},
		{"small-blocks", "", "-c reftable.blockSize=256", 5000},
		{"large-blocks", "", "-c reftable.blockSize=1000000", 5000},
		{"no-objects", "", "-c reftable.indexObjects=false", 5000},
		{"restarts", "", "-c reftable.restartInterval=1", 3000},
		{"few-restarts", "", "-c reftable.restartInterval=1000", 3000},
		{"no-compaction", "", "-c reftable.geometricFactor=0", 300},
		{"sha256", "--object-format=sha256", "", 3000},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e := newest(t)
			e.Setenv("N", fmt.Sprint(test.n))
			script := "git init -q --ref-format=reftable " + test.init + " r; cd r; git() { command git " + test.config + " \"$@\"; }\n" + createMany
			script += "git update-ref -d refs/heads/n0/3; git tag -d n0/1; git symbolic-ref refs/heads/sym refs/heads/n0/6; git tag new"
			e.Script(t, script)
			algo := oid.SHA1
			if test.init != "" {
				algo = oid.SHA256
			}
			s := NewStack(e.Path("r/.git/reftable"), algo)
			defer s.Close()
			check := func(when string) {
				t.Helper()
				want := listed(t, e, "r", "refs/")
				// git says what a symbolic ref leads to; a table does not.
				got := read(t, s, "refs/")
				if mask(got) != mask(want) {
					t.Errorf("%s: refs differ: got %d bytes, want %d; first difference at %s", when, len(got), len(want), difference(mask(got), mask(want)))
				}
				for _, prefix := range []string{"refs/tags/", "refs/heads/n1/", "refs/none/", "refs/tags/n0", "refs/heads/"} {
					var filtered strings.Builder
					for line := range strings.Lines(want) {
						if strings.HasPrefix(line, prefix) {
							filtered.WriteString(line)
						}
					}
					if got := read(t, s, prefix); mask(got) != mask(filtered.String()) {
						t.Errorf("%s: prefix %q: refs differ at %s", when, prefix, difference(mask(got), mask(filtered.String())))
					}
				}
				n := 0
				for line := range strings.Lines(want) {
					if n++; test.n > 2000 && n%37 != 0 {
						continue
					}
					name, rest, _ := strings.Cut(line, " ")
					found, err := s.Ref(name, func(r *Ref) {
						if r.Kind != Symbolic && !strings.HasPrefix(rest, r.ID.String()) {
							t.Errorf("%s: %s is %s; git says %s", when, name, r.ID, rest)
						}
					})
					if !found || err != nil {
						t.Fatalf("%s: Ref(%q) = %v, %v", when, name, found, err)
					}
					for _, near := range []string{name + "x", name[:len(name)-1] + "\x01", name + "/"} {
						if found, err := s.Ref(near, func(*Ref) {}); found || err != nil {
							t.Fatalf("%s: Ref(%q) = %v, %v, want none", when, near, found, err)
						}
					}
				}
			}
			check("as written")
			e.Script(t, "cd r; git "+test.config+" pack-refs --all; git tag again")
			check("packed")
		})
	}
}

// mask blanks the object ID of symbolic refs in a listing.
func mask(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		f := strings.Split(line, " ")
		if len(f) == 4 && f[3] != "\n" {
			f[1] = ""
		}
		b.WriteString(strings.Join(f, " "))
	}
	return b.String()
}

func difference(a, b string) string {
	la, lb := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(la), len(lb)) {
		if la[i] != lb[i] {
			return fmt.Sprintf("line %d: %q, want %q", i, la[i], lb[i])
		}
	}
	return fmt.Sprintf("the end: %d lines, want %d", len(la), len(lb))
}

func TestLogsAgainstGit(t *testing.T) {
	e := newest(t)
	e.Script(t, `git init -q --ref-format=reftable r; cd r; git commit -q --allow-empty -m a; echo a >f; git add f; git commit -qm f
for i in $(seq 40); do echo $i >f; git stash -q -m "$i $(head -c $((i*400)) /dev/urandom | od -An -tx1 | tr -d '\n ')"; done
for i in $(seq 10); do git stash drop -q stash@{$i}; done`)
	s := NewStack(e.Path("r/.git/reftable"), oid.SHA1)
	check := func(when string) {
		t.Helper()
		for _, ref := range []string{"refs/stash", "HEAD", "refs/heads/main", "refs/heads/none", "refs/stas", "refs/stash0"} {
			got, err := s.LogLength(ref)
			if err != nil {
				t.Fatal(err)
			}
			out, _ := e.Command("r", "reflog", "show", "--format=%H", ref).Output()
			if want := strings.Count(string(out), "\n"); got != want {
				t.Errorf("%s: LogLength(%q) = %d; git says %d", when, ref, got, want)
			}
			log, err := s.Log(ref)
			if err != nil {
				t.Fatal(err)
			}
			var lines strings.Builder
			for _, entry := range slices.Backward(log) {
				fmt.Fprintf(&lines, "%s %s\n", entry.New, entry.Message)
			}
			out, _ = e.Command("r", "reflog", "show", "--format=%H %gs", ref).Output()
			if got, want := lines.String(), string(out); got != want {
				t.Errorf("%s: Log(%q) is\n%s\ngit says\n%s", when, ref, got, want)
			}
		}
	}
	check("as written")
	e.Script(t, "cd r; git pack-refs --all")
	check("packed")
	e.Script(t, "cd r; for i in 1 2 3; do git stash drop -q; done; git reflog expire --expire=all refs/heads/main")
	check("dropped")
	e.Script(t, "cd r; git reflog delete stash@{2}; git reflog delete HEAD@{1}; git pack-refs --all")
	check("deleted")
	e.Script(t, "cd r; git stash clear")
	check("cleared")
}

// TestStackDuringWrites reads while git writes and compacts: every answer must
// be whole.
func TestStackDuringWrites(t *testing.T) {
	e := newest(t)
	e.Script(t, "git init -q --ref-format=reftable r; cd r; git commit -q --allow-empty -m a; for i in $(seq 50); do git tag fix$i; done")
	done := make(chan error, 1)
	go func() {
		_, err := e.TryScript("cd r; for i in $(seq 25); do git tag t$i && git tag -d t$i >/dev/null && git -c pack.threads=1 pack-refs --all || exit 1; done")
		done <- err
	}()
	s := NewStack(e.Path("r/.git/reftable"), oid.SHA1)
	defer s.Close()
	for {
		n := 0
		err := s.Refs("refs/tags/fix", func(*Ref) bool { n++; return true })
		if err != nil || n != 50 {
			t.Fatalf("Refs: %d refs, %v, want 50", n, err)
		}
		if found, err := s.Ref("refs/tags/fix7", func(*Ref) {}); !found || err != nil {
			t.Fatalf("Ref: %v, %v", found, err)
		}
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			return
		default:
		}
	}
}

func TestStackMissing(t *testing.T) {
	dir := t.TempDir()
	s := NewStack(dir, oid.SHA1)
	if found, err := s.Ref("HEAD", func(*Ref) {}); found || err != nil {
		t.Errorf("no tables.list: Ref = %v, %v", found, err)
	}
	list := filepath.Join(dir, "tables.list")
	if err := os.WriteFile(list, []byte("gone.ref\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Ref("HEAD", func(*Ref) {}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing table: %v, want a missing file", err)
	}
	var corrupt *CorruptError
	if err := os.WriteFile(list, []byte("../other/x.ref\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Ref("HEAD", func(*Ref) {}); !errors.As(err, &corrupt) {
		t.Errorf("table elsewhere: %v, want a *CorruptError", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "junk.ref"), []byte("junk"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(list, []byte("junk.ref\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Ref("HEAD", func(*Ref) {}); !errors.As(err, &corrupt) || corrupt.Path != dir+"/junk.ref" {
		t.Errorf("junk: %v, want a *CorruptError that names the file", err)
	}
}

// tables returns the tables that git writes in a few situations.
func tables(t testing.TB) (all [][]byte) {
	e := newest(t)
	e.Setenv("N", "60")
	e.Script(t, "git init -q --ref-format=reftable r; cd r; git() { command git -c reftable.blockSize=300 \"$@\"; }\n"+createMany+"git symbolic-ref refs/heads/s refs/heads/main; git tag -d ann; echo a >f; git add f; git stash -q; git stash -q; git pack-refs --all; git stash drop -q; git tag z")
	e.Script(t, "git init -q --ref-format=reftable --object-format=sha256 s; cd s; git commit -q --allow-empty -m a; git tag -a -m x t")
	for _, pattern := range []string{"r/.git/reftable/*.ref", "s/.git/reftable/*.ref"} {
		paths, err := filepath.Glob(e.Path(pattern))
		if err != nil || len(paths) == 0 {
			t.Fatalf("no tables: %v", err)
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, data)
		}
	}
	return all
}

// walk reads all that there is in a table. It must end, and not panic.
func walk(data []byte, algo oid.Algo) (refCount, logCount int, err error) {
	t := &Table{file: mmap.InMemory("table", data), algo: algo}
	if err := t.parse(data); err != nil {
		return 0, 0, err
	}
	for _, name := range []string{"", "HEAD", "refs/tags/n3/2", "refs/z"} {
		w, err := t.seekRefs(data, []byte(name))
		for ; err == nil && !w.done; err = w.advance() {
			refCount++
		}
		if err != nil {
			return refCount, logCount, err
		}
	}
	for _, name := range []string{"HEAD", "refs/stash", "refs/heads/main"} {
		if err := t.logRecords(data, name, func(*logRecord) { logCount++ }); err != nil {
			return refCount, logCount, err
		}
	}
	return refCount, logCount, nil
}

// TestDamaged changes single bytes of real tables and gives the footer its
// checksum again. Reading must give an error or something, and end.
func TestDamaged(t *testing.T) {
	seed := uint64(3)
	rng := rand.New(rand.NewPCG(seed, 0))
	for _, data := range tables(t) {
		algo := oid.SHA1
		if data[4] == 2 {
			algo = oid.SHA256
		}
		if refs, _, err := walk(data, algo); err != nil || refs+len(data) == 0 {
			t.Fatalf("undamaged: %d refs, %v", refs, err)
		}
		for range 3000 {
			bad := append([]byte(nil), data...)
			for range 1 + rng.IntN(3) {
				bad[rng.IntN(len(bad))] = byte(rng.IntN(256))
			}
			fix(bad)
			_, _, err := walk(bad, algo)
			var corrupt *CorruptError
			if err != nil && (!errors.As(err, &corrupt) || corrupt.Path != "table") {
				t.Fatalf("damaged: %v, want a *CorruptError", err)
			}
		}
		for n := range len(data) {
			if _, _, err := walk(data[:n], algo); err == nil {
				t.Fatalf("cut to %d of %d bytes: no error", n, len(data))
			}
		}
	}
}
