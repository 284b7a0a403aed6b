package status

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"gust/internal/gittest"
	"gust/internal/repo"
)

// TestRacyEdits edits files to others of the same size in between writes of the
// index, as fast as it goes, and asks after each edit: git-update-index(1) calls
// such entries racily clean, and no answer may take one for clean that is not.
// What is true is known by what was written.
func TestRacyEdits(t *testing.T) {
	for _, fs := range []string{"fine", "coarse"} {
		for _, nanosec := range []string{"auto", "true", "false"} {
			t.Run(fs+"/"+nanosec, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				if fs == "coarse" {
					var ok bool
					if dir, ok = gittest.CoarseDir(t); !ok {
						return
					}
				}
				e, err := gittest.NewAt(dir, gittest.System(t))
				if err != nil {
					t.Fatal(err)
				}
				racyEdits(t, e, nanosec, fs == "coarse" && nanosec == "true")
			})
		}
	}
}

// racyEdits plays on a repository in e. blind: by this setting, an edit within a
// clock tick of the file system may be overlooked.
func racyEdits(t *testing.T, e *gittest.Env, nanosec string, blind bool) {
	const files = 4
	e.Script(t, "git init -q r; cd r; git config core.useNanosec "+nanosec+"; for i in 0 1 2 3; do printf a >f$i; done; git add .; git commit -qm base")
	env := repo.EnvFrom(e.Environ())
	loc, err := repo.Locate(e.Path("r"), false, env)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := repo.Open(loc, env)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{T: t, env: e}
	if r.repo, err = New(opened); err != nil {
		t.Fatal(err)
	}
	defer r.repo.Close()

	work, staged := [files]byte{'a', 'a', 'a', 'a'}, [files]byte{'a', 'a', 'a', 'a'}
	rnd := rand.New(rand.NewPCG(7, 7))
	edits, overlooked := 0, 0
	for edits < 1000 {
		for range 1 + rnd.IntN(4) {
			i := rnd.IntN(files)
			if rnd.IntN(2) == 0 {
				work[i] = "abc"[rnd.IntN(3)]
			}
			if err := os.WriteFile(filepath.Join(e.Path("r"), fmt.Sprintf("f%d", i)), work[i:i+1], 0o644); err != nil {
				t.Fatal(err)
			}
			edits++
			dirty := 0
			for k := range work {
				if work[k] != staged[k] {
					dirty++
				}
			}
			got := r.ask(everything).Unstaged
			switch {
			case got == dirty:
			case blind && got < dirty:
				overlooked++
			default:
				t.Fatalf("edit %d: %d unstaged, want %d: working tree %s, index %s", edits, got, dirty, work, staged)
			}
		}
		switch rnd.IntN(4) {
		case 0, 1:
			i := rnd.IntN(files)
			e.Run(t, "r", "add", fmt.Sprintf("f%d", i))
			staged[i] = work[i]
		case 2:
			e.Run(t, "r", "update-index", "-q", "--refresh")
		case 3:
			out := e.Run(t, "r", "ls-files", "--modified")
			if (out != "") != (work != staged) {
				t.Fatalf("git says that %q are modified; working tree %s, index %s", out, work, staged)
			}
		}
	}
	if overlooked > 0 {
		t.Logf("%d of %d edits overlooked within a tick, as the setting has it", overlooked, edits)
	}
}
