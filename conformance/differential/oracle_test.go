package differential

import (
	"os"
	"path/filepath"
	"testing"

	"gust/internal/gittest"
)

// A second oracle stands in for gitstatusd.
type second struct {
	o    *gittest.Oracle
	opts gittest.Options
}

func (s second) Ask(p gittest.Place, noIndex bool) ([]string, error) {
	truth, err := s.o.Ask(p, s.opts)
	if err != nil {
		return []string{"unknown"}, nil // the first oracle cannot tell either
	}
	return truth[0].Expect("id", s.opts, noIndex), nil
}

func (s second) Log() string { return "" }
func (s second) Kill()       {}

// TestOracle plays scenarios with another git in gitstatusd's place: what the
// oracle says must not depend on the version of git that is asked.
func TestOracle(t *testing.T) {
	gits := gittest.All(t)
	if len(gits) < 2 {
		t.Log("NOT TESTED: whether two versions of git agree (there is one git)")
	}
	start := func(e *gittest.Env, top string, o gittest.Options) (answerer, error) {
		dir := filepath.Join(top, "second")
		return second{gittest.NewOracle(gits[0], e.Environ(), dir), o}, os.MkdirAll(dir, 0o700)
	}
	m := maker(t)
	m.Off["reftable"], m.Off["statsettings"] = true, true // the newest alone reads the one; the other is about git's own index
	playAll(t, m, tempDir(t), seedRange(*first, max(*seeds/15, 1)), start)
}
