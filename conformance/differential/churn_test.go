package differential

import (
	"strconv"
	"sync"
	"testing"

	"gust/conformance/daemon"
	"gust/internal/gittest"
)

// TestChurn asks without pause while files and directories come and go and git
// commits: each answer is about this repository, whole, and once all is still the
// answer is git's.
func TestChurn(t *testing.T) {
	e := gittest.New(t, gittest.System(t))
	e.Script(t, `git init -q r; cd r; mkdir d e; for i in $(seq 40); do echo $i >d/f$i; echo $i >e/f$i; done; git add .; git commit -qm one`)
	opts := gittest.Unlimited()
	opts.Threads = 2
	d := daemon.For(t, gitstatusd, e, opts.Args()...)
	place := gittest.Place{Dir: e.Path("r")}
	var churn sync.WaitGroup
	done := make(chan struct{})
	churn.Go(func() {
		defer close(done)
		e.Script(t, `cd r
			for i in $(seq 60); do
				rm -rf d/f$((i%40+1)) e/f3; mkdir -p u$i/v/w; echo $i >u$i/v/w/x; echo $i >e/f3; mv -T u$i e/u; mv e d/moved; mv d/moved e
				rm -rf e/u; ln -s nowhere e/link; rm e/link; git add -A; git commit -qm $i; git stash -q -u || true; chmod 755 d
			done`)
	})
	asked := 0
	for running := true; running; asked++ {
		select {
		case <-done:
			running = false
		default:
		}
		got, err := d.Ask(place, false)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != gittest.NumFields || got[2] != place.Dir || got[4] != "main" || got[8] != "" {
			t.Fatalf("amid changes: %q; log:\n%s", got, d.Log())
		}
		for field := 10; field <= 14; field++ {
			if n, err := strconv.Atoi(got[field-1]); err != nil || n < 0 || n > 200 {
				t.Fatalf("amid changes: field %d of %q", field, got)
			}
		}
	}
	churn.Wait()
	truths, err := gittest.NewOracle(e.Git, e.Environ(), t.TempDir()).Ask(place, opts)
	if err != nil {
		t.Fatal(err)
	}
	got, err := d.Ask(place, false)
	if err != nil {
		t.Fatal(err)
	}
	if bad := truths[0].Check(got[0], opts, false, got); bad != nil {
		t.Errorf("after %d questions: %v", asked, bad)
	}
	if log := d.Log(); log != "" {
		t.Errorf("it logged:\n%.2000s", log)
	}
}
