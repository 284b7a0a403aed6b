package gitstatusd

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"gust/conformance/daemon"
	"gust/internal/gittest"
)

// gitstatusd is the path of the program under test, set by TestMain.
var gitstatusd string

func TestMain(m *testing.M) {
	os.Exit(gittest.BuildAndRun(m, map[string]*string{"gitstatusd": &gitstatusd}))
}

// TestExit gives the program options and an input that is at its end.
func TestExit(t *testing.T) {
	const ok, usage, version = 0, 10, 11
	for _, test := range []struct {
		args   string // separated by spaces; "" stands for an empty argument
		status int
		stdout string
	}{
		{"", ok, ""},
		{"-V", ok, "v1.5.5\n"},
		{"--version", ok, "v1.5.5\n"},
		{"--", ok, ""},
		{"-l -1 -p -1 -t 2 -v DEBUG -r -1 -z 0 -s -1 -u 5 -c 0 -d 7 -m -1 -e -U -W -D", ok, ""},
		{"--lock-fd=-1 --parent-pid=-1 --num-threads=8 --log-level=FATAL --repo-ttl-seconds=0 --max-commit-summary-length=1", ok, ""},
		{"--max-num-staged=1 --max-num-unstaged=2 --max-num-conflicted=3 --max-num-untracked=4 --dirty-max-index-size=5", ok, ""},
		{"--recurse-untracked-dirs --ignore-status-show-untracked-files --ignore-bash-show-untracked-files --ignore-bash-show-dirty-state", ok, ""},
		{"--max-num-staged -1", ok, ""},
		{"-s-1 -u0", ok, ""},
		{"-eUWDs1", ok, ""},
		{"-eUt2 -vWARN", ok, ""},
		{"--num-thr 2", ok, ""}, // getopt_long(3): an unambiguous start is enough
		{"--recurse", ok, ""},
		{"-v ERROR", ok, ""},
		{"-v INFO", ok, ""},

		{"-G *", ok, ""},
		{"-G v1.5.4", ok, ""},
		{"-G v1.5.5", ok, ""},
		{"-G v1.0.0", ok, ""},
		{"-G v1.5.*", ok, ""},
		{"-Gv1.[0-9].?", ok, ""},
		{"--version-glob=v1.5.[45]", ok, ""},
		{"--version-glob v1.4.*", ok, ""},
		{"-G v1.5.6", version, ""},
		{"-G v2*", version, ""},
		{"-G v0.9.9", version, ""},
		{"-G v1.5", version, ""},
		{`-G v1\*`, version, ""},
		{`-G ""`, version, ""},
		{"--version-glob=[", version, ""},

		{"-t 0", usage, ""},
		{"-t -1", usage, ""},
		{"-t x", usage, ""},
		{"-t 1x", usage, ""},
		{`-t ""`, usage, ""},
		{"-t 99999999999999999999", usage, ""},
		{"-s 1.5", usage, ""},
		{"-r soon", usage, ""},
		{"-l x", usage, ""},
		{"-v LOUD", usage, ""},
		{`-v ""`, usage, ""},
		{"-x", usage, ""},
		{"-ex", usage, ""},
		{"--no-such-option", usage, ""},
		{"--max-num", usage, ""}, // of several options
		{"--recurse-untracked-dirs=1", usage, ""},
		{"-s", usage, ""},
		{"-es", usage, ""},
		{"--max-num-staged", usage, ""},
		{"--max-num-staged=", usage, ""},
		{"argument", usage, ""},
		{"-- argument", usage, ""},
		{"-e argument", usage, ""},
	} {
		var args []string
		for _, a := range strings.Fields(test.args) {
			args = append(args, strings.TrimSuffix(strings.TrimPrefix(a, `"`), `"`))
		}
		cmd := exec.Command(gitstatusd, args...)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err := cmd.Run()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		if got := cmd.ProcessState.ExitCode(); got != test.status {
			t.Errorf("gitstatusd %s: exit status %d, want %d; stderr: %s", test.args, got, test.status, &stderr)
		}
		if stdout.String() != test.stdout {
			t.Errorf("gitstatusd %s: printed %q, want %q", test.args, &stdout, test.stdout)
		}
		if test.status == usage && stderr.Len() == 0 {
			t.Errorf("gitstatusd %s: no message on stderr", test.args)
		}
	}
}

func TestHelp(t *testing.T) {
	for _, arg := range []string{"-h", "--help"} {
		out, err := exec.Command(gitstatusd, arg).Output()
		if err != nil {
			t.Errorf("gitstatusd %s: %v", arg, err)
		}
		for _, word := range strings.Fields("--lock-fd --parent-pid --num-threads --log-level --repo-ttl-seconds --max-commit-summary-length " +
			"--max-num-staged --max-num-unstaged --max-num-conflicted --max-num-untracked --dirty-max-index-size --recurse-untracked-dirs " +
			"--ignore-status-show-untracked-files --ignore-bash-show-untracked-files --ignore-bash-show-dirty-state --version --version-glob --help") {
			if !bytes.Contains(out, []byte(word)) {
				t.Errorf("gitstatusd %s does not mention %s", arg, word)
			}
		}
	}
}

// TestOptionForms compares what the ways to write an option do.
func TestOptionForms(t *testing.T) {
	e := gittest.New(t, gittest.System(t))
	e.Script(t, `git init -q r; cd r; for i in 1 2 3 4; do echo $i >$i; done; git add 1 2 3; git commit -qm 'a summary of this'; git rm -q --cached 1 2 3
		mkdir u; touch u/1 u/2 u/3`)
	for _, test := range []struct {
		args string
		want map[int]string // field: value
	}{
		{"", map[int]string{11: "1", 14: "1"}},
		{"-s2", map[int]string{11: "2"}},
		{"-s 2", map[int]string{11: "2"}},
		{"-es2", map[int]string{11: "2"}},
		{"-s-1 -d-1", map[int]string{11: "3", 14: "5"}},
		{"-s -1 -d -1 -e", map[int]string{11: "3", 14: "7"}},
		{"--max-num-staged=-1", map[int]string{11: "3"}},
		{"--max-num-staged -1", map[int]string{11: "3"}},
		{"--max-num-s -1 --max-num-untracked=3", map[int]string{11: "3", 14: "3"}},
		{"-s 1 -s 2", map[int]string{11: "2"}}, // the last one counts
		{"-s 0 -d 0", map[int]string{11: "0", 14: "0"}},
		{"-z 9", map[int]string{29: "a summary"}},
		{"-z 0", map[int]string{29: ""}},
		{"-z 300", map[int]string{29: "a summary of this"}},
	} {
		d := daemon.For(t, gitstatusd, e, strings.Fields(test.args)...)
		got, err := d.Ask(gittest.Place{Dir: e.Path("r")}, false)
		if err != nil {
			t.Fatal(err)
		}
		for field, want := range test.want {
			if len(got) != gittest.NumFields || got[field-1] != want {
				t.Errorf("gitstatusd %s: %q, want field %d (%s) to be %q", test.args, got, field, gittest.FieldName(field), want)
			}
		}
	}
}
