package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gust/internal/daemon/live"
	"gust/internal/gittest"
	"gust/internal/pure/summary"
)

// An engine answers with what it is told to, and remembers what it was asked.
type engine struct {
	s     *summary.Summary
	err   error
	asked []live.Request
}

func (e *engine) Query(_ context.Context, q live.Request) (*summary.Summary, error) {
	e.asked = append(e.asked, q)
	return e.s, e.err
}

// run runs gust in /place with an engine, and returns its exit code and output.
func run(t *testing.T, e *engine, env []string, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, w bytes.Buffer
	code = Run(t.Context(), &Program{
		Args: args, Env: env, Out: &o, Err: &w,
		Dir:    func() (string, error) { return "/place", nil },
		Exe:    func() (string, error) { return "/opt/gust/bin/gust", nil },
		Exists: func(path string) bool { return path == "/opt/gust/libexec/gust/gitstatusd" },
		Asker:  func() Asker { return e },
	})
	return code, o.String(), w.String()
}

func repository() *summary.Summary {
	return &summary.Summary{WorkDir: "/place", Branch: "main", Commit: "1a2b3c4d", Untracked: 2, IndexSize: 3, Subject: `a "subject" <&>`}
}

func TestPromptCommand(t *testing.T) {
	broken := errors.New("index file 'x' is truncated")
	tests := []struct {
		name     string
		s        *summary.Summary
		err      error
		env      []string
		args     []string
		code     int
		out, log string
	}{
		{name: "plain", s: repository(), out: "main ?2\n"},
		{name: "outside", out: ""},
		{name: "refused", err: broken, out: ""},
		{name: "incomplete", s: &summary.Summary{Branch: "main", Action: "index-error"}, err: broken, out: "main index-error\n"},
		{name: "zsh", s: repository(), args: []string{"--shell", "zsh"}, out: "%F{green}main%f %F{blue}?2%f"},
		{name: "bash-equals", s: repository(), env: []string{"NO_COLOR=1"}, args: []string{"--shell=bash"}, out: "main ?2"},
		{name: "ansi", s: repository(), args: []string{"--shell=ansi", "sub"}, out: "\x1b[32mmain\x1b[39m \x1b[34m?2\x1b[39m\n"},
		{name: "json-outside", args: []string{"--json"}, out: "{\"repository\":false}\n"},
		{name: "json-refused", err: broken, args: []string{"--json"}, out: "{\"repository\":false,\"error\":\"index file 'x' is truncated\"}\n"},
		{name: "unknown-shell", args: []string{"--shell=tcsh"}, code: 2, log: "gust: prompt: unknown shell 'tcsh': it is one of ansi, bash, plain, zsh\n"},
		{name: "unknown-option", args: []string{"--jso"}, code: 2, log: "gust: prompt: unknown option '--jso'\n"},
		{name: "flag-with-value", args: []string{"--json=1"}, code: 2, log: "gust: prompt: unknown option '--json=1'\n"},
		{name: "no-value", args: []string{"--shell"}, code: 2, log: "gust: prompt: option '--shell' needs a value\n"},
		{name: "two-directories", args: []string{"a", "b"}, code: 2, log: "gust: prompt: unexpected argument 'b'\n"},
		{name: "empty-directory", args: []string{""}, code: 2, log: "gust: prompt: empty directory name\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e := &engine{s: test.s, err: test.err}
			code, out, log := run(t, e, test.env, append([]string{"prompt"}, test.args...)...)
			if code != test.code || out != test.out || log != test.log {
				t.Errorf("got code %d, %q, %q\nwant %d, %q, %q", code, out, log, test.code, test.out, test.log)
			}
		})
	}
}

func TestRequest(t *testing.T) {
	for arg, want := range map[string]string{"": "/place", "sub": "/place/sub", "/abs": "/abs", "..": "/place/..", "link/..": "/place/link/.."} {
		e := &engine{s: repository()}
		args := []string{"query"}
		if arg != "" {
			args = append(args, arg)
		}
		run(t, e, []string{"GIT_WORK_TREE=/w", "GUST_DIRTY_MAX_INDEX_SIZE=7"}, args...)
		if len(e.asked) != 1 || e.asked[0].Dir != want {
			t.Fatalf("%q: asked %+v, want about %s", arg, e.asked, want)
		}
		q := e.asked[0]
		if q.GitDir || q.NoIndex || len(q.Env) != 2 || q.Limits != (live.Limits{Staged: -1, Unstaged: -1, Conflicted: -1, Untracked: -1, DirtyMaxIndexSize: 7, SummaryLen: 256}) {
			t.Errorf("%q: asked %+v", arg, q)
		}
	}
	e := &engine{}
	run(t, e, nil, "query", "--", "--json")
	if e.asked[0].Dir != "/place/--json" {
		t.Errorf("after --, asked about %s", e.asked[0].Dir)
	}
}

func TestQueryCommand(t *testing.T) {
	code, out, _ := run(t, &engine{s: repository()}, nil, "query", "--json", ".")
	var got map[string]any
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != 0 || strings.Count(out, "\n") != 1 {
		t.Fatalf("code %d, %q: %v", code, out, err)
	}
	if got["repository"] != true || got["branch"] != "main" || got["untracked"] != 2.0 || got["summary"] != `a "subject" <&>` {
		t.Errorf("got %v", got)
	}
	if _, ok := got["error"]; ok {
		t.Errorf("an error without one: %v", got)
	}
	code, text, _ := run(t, &engine{s: repository()}, nil, "query")
	if code != 0 || !strings.HasPrefix(text, "workdir /place\ncommit 1a2b3c4d\nbranch main\ntag \n") || !strings.Contains(text, "\nuntracked 2\n") || !strings.HasSuffix(text, "\nsummary a \"subject\" <&>\n") {
		t.Errorf("code %d, %q", code, text)
	}
	// One name a line for each member of the JSON form, but for the first.
	if lines := strings.Count(text, "\n"); lines != len(got)-1 {
		t.Errorf("%d lines, %d members", lines, len(got))
	}
	if code, out, errs := run(t, &engine{}, nil, "query"); code != 0 || out != "" || errs != "" {
		t.Errorf("outside: %d, %q, %q", code, out, errs)
	}
	if code, out, errs := run(t, &engine{err: errors.New("no")}, nil, "query"); code != 1 || out != "" || errs != "gust: no\n" {
		t.Errorf("refused: %d, %q, %q", code, out, errs)
	}
	if code, out, _ := run(t, &engine{err: errors.New("no")}, nil, "query", "--json"); code != 1 || out != "{\"repository\":false,\"error\":\"no\"}\n" {
		t.Errorf("refused: %d, %q", code, out)
	}
	odd := repository()
	odd.Branch, odd.Subject = "a\x1b\u009bb", "x\nbranch y"
	if _, out, _ := run(t, &engine{s: odd}, nil, "query"); !strings.Contains(out, "\nbranch a??b\n") || !strings.HasSuffix(out, "\nsummary x?branch y\n") {
		t.Errorf("control characters: %q", out)
	}
}

// TestHotFirst checks that what runs before a prompt is done before anything of the
// command framework is made, and that the rest gets there.
func TestHotFirst(t *testing.T) {
	for _, test := range []struct {
		args []string
		cold bool
	}{
		{nil, false}, {[]string{"prompt"}, false}, {[]string{"prompt", "--json", "x"}, false}, {[]string{"prompt", "--bad"}, false},
		{[]string{"query", "--json"}, false},
		{[]string{"--help"}, true}, {[]string{"prompt", "--help"}, true}, {[]string{"version"}, true}, {[]string{"init", "zsh"}, true}, {[]string{"nothing"}, false},
	} {
		called := false
		p := &Program{
			Args: test.args, Out: new(bytes.Buffer), Err: new(bytes.Buffer),
			Dir: func() (string, error) { return "/", nil }, Asker: func() Asker { return &engine{} },
			HandOver: func([]string, []byte) int { return 0 },
			cold:     func(context.Context, *Program) int { called = true; return 0 },
		}
		Run(t.Context(), p)
		if called != test.cold {
			t.Errorf("%q: the framework is reached: %v, want %v", test.args, called, test.cold)
		}
	}
}

func TestWelcome(t *testing.T) {
	code, out, _ := run(t, &engine{s: repository()}, []string{"SHELL=/bin/bash"})
	if code != 0 || !strings.HasPrefix(out, "main ?2\n\n") || !strings.Contains(out, `eval "$(gust init bash --prompt=full)"`) || !strings.Contains(out, "gust --help") {
		t.Errorf("code %d, %q", code, out)
	}
	if _, out, _ := run(t, &engine{}, nil); !strings.HasPrefix(out, "not in a git repository\n\n") || !strings.Contains(out, "gust init zsh") {
		t.Errorf("outside: %q", out)
	}
	if _, out, _ := run(t, &engine{err: errors.New("dubious ownership")}, nil); !strings.Contains(out, "dubious ownership") {
		t.Errorf("refused: %q", out)
	}
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"help"}, {"-h"}} {
		code, out, errs := run(t, &engine{}, nil, args...)
		if code != 0 || errs != "" {
			t.Fatalf("%q: code %d, %q", args, code, errs)
		}
		for _, want := range []string{"⇣1⇡2", "Examples:", "init ", "prompt ", "query ", "version "} {
			if !strings.Contains(out, want) {
				t.Errorf("%q lacks %q:\n%s", args, want, out)
			}
		}
	}
	for _, name := range []string{"init", "prompt", "query", "version"} {
		code, out, errs := run(t, &engine{}, nil, name, "--help")
		if code != 0 || errs != "" || !strings.Contains(out, "gust "+name) {
			t.Errorf("%s --help: code %d, %q, %q", name, code, out, errs)
		}
	}
}

// TestExamplesParse takes the example command lines of the help: every gust in them
// must be a command line that gust takes.
func TestExamplesParse(t *testing.T) {
	_, out, _ := run(t, &engine{}, nil, "--help")
	for _, name := range []string{"init", "prompt", "query"} {
		_, more, _ := run(t, &engine{}, nil, name, "--help")
		out += more
	}
	found := 0
	for _, m := range regexp.MustCompile(`(?m)(?:^  |\$\()gust ((?:init|prompt|query|version)[^)\n]*?)(?:   .*)?(?:\)|$)`).FindAllStringSubmatch(out, -1) {
		args := strings.Fields(m[1])
		if strings.ContainsAny(m[1], "[]") {
			continue // a usage line
		}
		found++
		if code, _, errs := run(t, &engine{s: repository()}, nil, args...); code != 0 {
			t.Errorf("gust %q: code %d, %s", args, code, errs)
		}
	}
	if found < 6 {
		t.Errorf("only %d examples found", found)
	}
}

func TestInitCommand(t *testing.T) {
	for _, args := range [][]string{{"bash"}, {"zsh"}, {"bash", "--prompt=full"}, {"zsh", "--prompt", "vars"}} {
		code, out, errs := run(t, &engine{}, nil, append([]string{"init"}, args...)...)
		if code != 0 || errs != "" || !strings.Contains(out, "'/opt/gust/libexec/gust/gitstatusd'") || !strings.Contains(out, "__gust_") {
			t.Errorf("%q: code %d, %q, %d bytes", args, code, errs, len(out))
		}
		if full := strings.Contains(out, "GUST_PROMPT_BEFORE"); full != strings.Contains(args[len(args)-1], "full") {
			t.Errorf("%q: sets the whole prompt: %v", args, full)
		}
		// In gust's own script no name of gitstatus's is left.
		if m := regexp.MustCompile(`\b_?gitstatus_\w+|\w*_SFX\b|@\{`).FindString(out); m != "" {
			t.Errorf("%q: has %q", args, m)
		}
	}
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"init", "tcsh"}, "unknown shell 'tcsh': it is one of bash, zsh"},
		{[]string{"init", "zsh", "--prompt=all"}, "unknown prompt 'all'"},
		{[]string{"init", "zsh", "bash"}, "arg"},
	} {
		code, out, errs := run(t, &engine{}, nil, test.args...)
		if code != 2 || out != "" || !strings.Contains(errs, test.want) {
			t.Errorf("%q: code %d, %q, %q", test.args, code, out, errs)
		}
	}
	p := &Program{Args: []string{"init", "zsh"}, Out: new(bytes.Buffer), Err: new(bytes.Buffer),
		Exe: func() (string, error) { return "/nowhere/gust", nil }, Exists: func(string) bool { return false }}
	if code := Run(t.Context(), p); code == 0 || !strings.Contains(p.Err.(*bytes.Buffer).String(), "no gitstatusd belongs to '/nowhere/gust'") {
		t.Errorf("without a daemon: code %d, %s", code, p.Err)
	}
}

func TestVersion(t *testing.T) {
	code, out, _ := run(t, &engine{}, nil, "version")
	if code != 0 || !regexp.MustCompile(`^gust \S+ \(gitstatusd protocol v1\.5\.\d, go1\.\d+.* \w+/\w+\)\n$`).MatchString(out) {
		t.Errorf("code %d, %q", code, out)
	}
}

// TestBinary runs the built program where git can be asked: the JSON form says what
// git says.
func TestBinary(t *testing.T) {
	bin, err := gittest.Build(t.TempDir(), "gust")
	if err != nil {
		t.Fatal(err)
	}
	e := gittest.New(t, gittest.System(t))
	e.Script(t, `git init -q r; cd r; echo a >f; git add f; git commit -qm 'a subject'; git tag v1; echo b >f; echo u >u; mkdir d; git init -q --bare ../bare.git`)
	gust := func(dir string, args ...string) (string, int) {
		cmd := exec.Command(bin, args...)
		cmd.Dir, cmd.Env = e.Path(dir), e.Environ()
		out, err := cmd.Output()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
	out, code := gust("r/d", "query", "--json")
	var got map[string]any
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != 0 {
		t.Fatalf("code %d, %q: %v", code, out, err)
	}
	head := strings.TrimSpace(e.Run(t, "r", "rev-parse", "HEAD"))
	status := e.Run(t, "r", "status", "--porcelain")
	for name, want := range map[string]any{
		"repository": true, "workdir": e.Path("r"), "commit": head, "branch": "main", "tag": "v1", "summary": "a subject",
		"unstaged": float64(strings.Count(status, " M ")), "untracked": float64(strings.Count(status, "?? ")), "staged": 0.0, "index_size": 1.0,
	} {
		if got[name] != want {
			t.Errorf("%s: got %v, want %v", name, got[name], want)
		}
	}
	for _, dir := range []string{".", "bare.git"} {
		for args, want := range map[string]string{"prompt": "", "prompt --json": "{\"repository\":false}\n", "query": "", "query --json": "{\"repository\":false}\n"} {
			if out, code := gust(dir, strings.Fields(args)...); code != 0 || out != want {
				t.Errorf("%s in %s: code %d, %q, want %q", args, dir, code, out, want)
			}
		}
	}
	if out, _ := gust("r", "prompt"); out != "main !1 ?1\n" {
		t.Errorf("prompt: %q", out)
	}
	if out, _ := gust(".", "prompt", "r"); out != "main !1 ?1\n" {
		t.Errorf("prompt r: %q", out)
	}

	// What starts before main is part of every prompt. The work of package
	// initialisation is counted in allocations, which no noisy clock blurs.
	cmd := exec.Command(bin, "prompt")
	cmd.Dir, cmd.Env = e.Path("r"), append(e.Environ(), "GODEBUG=inittrace=1")
	var trace bytes.Buffer
	cmd.Stderr = &trace
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	packages, allocs := 0, 0
	for _, m := range regexp.MustCompile(`(?m)^init (\S+) .* (\d+) allocs$`).FindAllStringSubmatch(trace.String(), -1) {
		n, _ := strconv.Atoi(m[2])
		packages, allocs = packages+1, allocs+n
		if n > 100 {
			t.Errorf("the initialisation of %s makes %d allocations", m[1], n)
		}
	}
	if packages == 0 || allocs > 600 {
		t.Errorf("the initialisation of %d packages makes %d allocations; they are part of every prompt", packages, allocs)
	}
}
