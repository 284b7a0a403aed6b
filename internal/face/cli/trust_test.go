package cli

import (
	"bytes"
	"strings"
	"testing"

	"gust/internal/daemon/live"
	"gust/internal/gittest"
)

// TestTrust allows the filter command of one repository, and takes that back. The
// engine stays the same, as in a daemon.
func TestTrust(t *testing.T) {
	e := gittest.New(t, gittest.System(t))
	e.Script(t, `for r in r other; do git init -q $r; cd $r; git config filter.up.clean 'tr a-z A-Z'; echo '*.up filter=up' >.gitattributes
		echo abc >f.up; git add .; git commit -qm base; touch -d '1 hour ago' f.up; git status; touch f.up; cd ..; done`)
	state := live.New(live.Options{Threads: 1})
	defer state.Close()
	gust := func(args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		p := &Program{Args: args, Env: e.Environ(), Out: &out, Err: &errs, Asker: func() Asker { return state },
			Dir: func() (string, error) { return e.Path("r"), nil }, Exe: func() (string, error) { return "/x/gust", nil }, Exists: func(string) bool { return true }}
		if code := Run(t.Context(), p); code != 0 || errs.Len() > 0 {
			t.Errorf("%q: code %d, %s", args, code, &errs)
		}
		return out.String()
	}
	const command = `: filter.up.clean = "tr a-z A-Z"` + "\n"
	for i, step := range []struct{ script, args, want, prompt string }{
		{"", "trust --list", "not trusted" + command, "main !1\n"},
		{"", "trust", "trusted" + command, "main\n"},
		{"", "trust", "trusted" + command, "main\n"},
		{"", "trust --list", "trusted" + command, "main\n"},
		{"", "trust --list " + e.Path("other"), "not trusted" + command, "main\n"},
		{"cd r; git config filter.up.clean 'tr a-z B-ZA'", "trust --list", `not trusted: filter.up.clean = "tr a-z B-ZA"` + "\n", "main !1\n"},
		{"cd r; git config filter.up.clean 'tr a-z A-Z'", "trust --list", "trusted" + command, "main\n"},
		{"", "trust --revoke", "not trusted" + command, "main !1\n"},
		{"", "trust --revoke", "not trusted" + command, "main !1\n"},
		{"git config --global filter.up.clean cat; cd r; git config --unset filter.up.clean", "trust --list", "no filter command comes from the configuration of " + e.Path("r/.git") + "\n", "main !1\n"},
	} {
		e.Script(t, step.script)
		if got := gust(strings.Fields(step.args)...); got != step.want {
			t.Errorf("step %d, %s: got %q, want %q", i, step.args, got, step.want)
		}
		if got := gust("prompt"); got != step.prompt {
			t.Errorf("step %d, %s: the prompt is %q, want %q", i, step.args, got, step.prompt)
		}
	}
	if out := e.Run(t, ".", "config", "--global", "--list"); strings.Contains(out, "trust") {
		t.Errorf("left in the configuration: %q", out)
	}
}
