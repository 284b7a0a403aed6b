package shell_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gust/internal/gittest"
)

// render returns what the gust command renders for a directory.
func render(t testing.TB, e *gittest.Env, dir, form string, vars ...string) string {
	t.Helper()
	cmd := exec.Command(filepath.Join(prefix(t), "bin", "gust"), "prompt", "--shell", form)
	cmd.Dir = e.Path(dir)
	cmd.Env = append(append(e.Environ(), "TERM=xterm-256color"), vars...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("gust prompt in %s: %v", dir, err)
	}
	return string(out)
}

// TestSameAsRenderer compares the prompts that the scripts make with those of the
// gust command, in many states and under many settings.
func TestSameAsRenderer(t *testing.T) {
	styles := map[string][]string{
		"default": nil,
		"ascii":   {"GUST_SYMBOLS=ascii"},
		"order":   {"GUST_PROMPT_ORDER=untracked head nonsense  action sync"},
		"nothing": {"GUST_PROMPT_ORDER="},
		"symbols": {"GUST_SYMBOL_BRANCH=± ", "GUST_SYMBOL_TAG=%t$(id)", "GUST_SYMBOL_STAGED=", `GUST_SYMBOL_UNSTAGED=\`, "GUST_SYMBOL_ELLIPSIS=~~"},
		"colors": {"GUST_COLOR_HEAD=0", "GUST_COLOR_SYNC=7", "GUST_COLOR_PUSH=15", "GUST_COLOR_STASH=16", "GUST_COLOR_ACTION=255",
			"GUST_COLOR_CONFLICTED=#ff8000", "GUST_COLOR_STAGED=white", "GUST_COLOR_UNSTAGED=256", "GUST_COLOR_UNTRACKED="},
		"odd-colors": {"GUST_COLOR_HEAD=08", "GUST_COLOR_SYNC=red}$(id)", "GUST_COLOR_STAGED=#ff800", "GUST_COLOR_UNSTAGED=8", "GUST_COLOR_UNTRACKED=-1"},
		"no-color":   {"NO_COLOR=1"},
		"dumb":       {"TERM=dumb"},
		"short":      {"GUST_MAX_LENGTH=9"},
		"short-dots": {"GUST_MAX_LENGTH=8", "GUST_SYMBOLS=ascii"},
		"shortest":   {"GUST_MAX_LENGTH=1"},
		"unlimited":  {"GUST_MAX_LENGTH=0"},
		"odd-length": {"GUST_MAX_LENGTH=1e3"},
		"big-index":  {"GUST_DIRTY_MAX_INDEX_SIZE=2"},
	}
	e := newEnv(t)
	e.Script(t, busyRepository)
	e.Script(t, `
		git init -q names; cd names; git commit -q --allow-empty -m a; git commit -q --allow-empty -m b; git tag v1.0%d HEAD
		n=0; while read -r name; do n=$((n + 1)); git worktree add -q -b "$name" "../name$n" HEAD; done <<'EOF'
a
feature/a-very-long-branch-name-that-nobody-wants-to-read-in-full
über-lange-Zweignamen-mit-Umlauten-äöü-und-noch-mehr-Zeichen
漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字
exactly-thirty-two-characters-12
thirty-three-characters-are-33-12
x%F{red}$(touch${IFS}PWNED)%%
`+"`touch${IFS}PWNED`\"'|&;!x"+`
EOF
		git checkout -q --detach; git worktree add -q --detach ../old HEAD~1
		cd ..; git clone -q names merging 2>/dev/null; cd merging; git checkout -q -b m; echo a >f; git add f; git commit -qm a
		git switch -q -c side HEAD~1; echo b >f; git add f; git commit -qm b; git rebase m >/dev/null 2>&1 || true`)
	dirs := []string{"r", "names", "old", "merging", "name1", "name2", "name3", "name4", "name5", "name6", "name7", "name8", "."}
	eachShell(t, func(t *testing.T, shell string) {
		for name, style := range styles {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				daemon := realDaemon(t)
				s := start(t, shell, e, append([]string{"GUST_TIMEOUT=20"}, style...)...)
				s.daemon = daemon
				s.must(`eval "$(cat '` + script(t, shell, daemon, false) + `')"`)
				for _, dir := range dirs {
					s.must("cd '" + e.Path(dir) + "'")
					want := render(t, e, dir, shell, style...)
					if got := s.run("printf %s \"$GUST_PROMPT\""); got != want {
						t.Errorf("%s: got  %q\nwant %q", dir, got, want)
					}
					if shell == "zsh" {
						width := strings.TrimSuffix(s.run(`setopt extended_glob; text=${(%)GUST_PROMPT}; print ${(m)#${text//$'\e['[0-9;]#m/}} $GUST_PROMPT_LEN`), "\n")
						if a, b, _ := strings.Cut(width, " "); a != b {
							t.Errorf("%s: %s columns wide, GUST_PROMPT_LEN is %s", dir, a, b)
						}
					}
				}
				if left := entries(t, e.Dir); strings.Contains(strings.Join(left, " "), "PWNED") {
					t.Errorf("something was executed: %q", left)
				}
			})
		}
	})
}

// promptModes are commands that change how a shell expands prompts.
func promptModes(shell string) []string {
	return map[string][]string{
		"bash": {":", "shopt -u promptvars", "set -u", "set -H"},
		"zsh":  {":", "setopt prompt_subst", "setopt prompt_bang", "setopt prompt_subst prompt_bang glob_subst", "setopt no_multibyte"},
	}[shell]
}

// drawn runs f in a shell with each kind of prompt under each option that has the
// shell expand prompts.
func drawn(t *testing.T, e *gittest.Env, daemon func(t *testing.T) string, vars []string, f func(t *testing.T, s *session)) {
	eachShell(t, func(t *testing.T, shell string) {
		for _, kind := range []string{"full", "drop-in"} {
			for i, mode := range promptModes(shell) {
				if kind == "drop-in" && (strings.Contains(mode, "promptvars") || strings.Contains(mode, "prompt_bang")) {
					continue // the drop-in prompts set these options, as gitstatus's do
				}
				t.Run(fmt.Sprintf("%s/%d", kind, i), func(t *testing.T) {
					t.Parallel()
					path := daemon(t)
					s := start(t, shell, e, append([]string{"GUST_TIMEOUT=20", "GUST_MAX_LENGTH=0"}, vars...)...)
					s.daemon = path
					prompt := script(t, shell, path, true)
					if kind == "drop-in" {
						s.must("GITSTATUS_DAEMON=" + path)
						prompt = s.prompt()
					}
					s.must(mode)
					s.must("source '" + prompt + "'; " + mode)
					f(t, s)
				})
			}
		}
	})
	t.Cleanup(func() {
		out, err := exec.Command("find", e.Dir, e.Home, "-name", "PWNED*").CombinedOutput()
		if err != nil || len(out) > 0 {
			t.Errorf("something was executed: %s %v", out, err)
		}
	})
}

// TestHostileNames is case C44: names that a shell would expand are drawn as they
// are, by every prompt, with every option that has the shell expand prompts.
func TestHostileNames(t *testing.T) {
	e := newEnv(t)
	names := []string{`x%F{red}$(touch${IFS}PWNED)`, "`touch${IFS}PWNED`", `$(touch$IFS"PWNED")`, `!!-%d%n%%-!h`, `$HOME'"`, `a'b"c`}
	for i, name := range names {
		dir := fmt.Sprintf("r%d", i)
		e.Run(t, ".", "init", "-q", dir)
		e.Run(t, dir, "commit", "-q", "--allow-empty", "-m", "sum %F{red} $(touch PWNED) `touch PWNED`")
		e.Run(t, dir, "remote", "add", "o", "$(touch PWNED)`touch PWNED`")
		e.Run(t, dir, "switch", "-q", "-c", name)
		e.Run(t, dir, "worktree", "add", "-q", "--detach", "../tag-"+dir)
		e.Run(t, dir, "tag", name)
	}
	drawn(t, e, func(t *testing.T) string { return realDaemon(t) }, nil, func(t *testing.T, s *session) {
		for i, name := range names {
			s.must(fmt.Sprintf("cd '%s'", e.Path(fmt.Sprintf("r%d", i))))
			s.shows(name)
			s.must(fmt.Sprintf("cd '%s'", e.Path(fmt.Sprintf("tag-r%d", i))))
			s.shows("#" + name)
		}
	})
}

// TestHostileAnswers is the same for what Git does not take for a name, but a
// daemon could say: backslashes, and control characters of two bytes.
func TestHostileAnswers(t *testing.T) {
	e := newEnv(t)
	texts := map[string]string{
		`\$(touch PWNED)`: `\$(touch PWNED)`, `\\$(touch PWNED)\`: `\\$(touch PWNED)\`, "\\`touch PWNED`": "\\`touch PWNED`",
		`$(touch PWNED)%`: `$(touch PWNED)%`, `\u\[\]%{%}!`: `\u\[\]%{%}!`, "a\u009b31mb": "a?31mb", `%20v%21v`: `%20v%21v`,
	}
	drawn(t, e, func(t *testing.T) string { return newFake(t).path }, []string{"GUST_FAKE=ok"}, func(t *testing.T, s *session) {
		f := &fake{path: s.daemon, dir: filepath.Dir(s.daemon)}
		for text, want := range texts {
			if strings.Contains(text, "\u009b") && strings.Contains(s.run("setopt 2>/dev/null"), "nomultibyte") {
				continue // then zsh knows no character of two bytes
			}
			write(t, f.dir+"/branch", text)
			write(t, f.dir+"/action", "rebase "+text)
			s.must(":")
			s.shows(want)
			s.shows("rebase " + want)
			write(t, f.dir+"/branch", "")
			write(t, f.dir+"/tag", text)
			s.must(":")
			s.shows("#" + want)
		}
	})
}

// TestColorsOfWholePrompt wants the mark of a failed command in colour, and nothing
// in colour where the user wants none.
func TestColorsOfWholePrompt(t *testing.T) {
	eachShell(t, func(t *testing.T, shell string) {
		for _, kind := range []string{"full", "drop-in"} {
			for _, vars := range []string{"", "NO_COLOR=1", "TERM=dumb"} {
				t.Run(kind+"-"+vars, func(t *testing.T) {
					e := newEnv(t)
					e.Script(t, "git init -q -b first r; cd r; >n")
					daemon := realDaemon(t)
					s := start(t, shell, e, append([]string{"GUST_TIMEOUT=20"}, strings.Fields(vars)...)...)
					s.daemon = daemon
					path := script(t, shell, daemon, true)
					if kind == "drop-in" {
						path = s.prompt()
					}
					s.must("source '" + path + "'; cd r")
					s.must(":")
					s.shows("first") // the branch, in the prompt
					from := s.here()
					s.send("false\n")
					s.must(":")
					s.shows("first")
					shown := s.screen(from)
					switch colored := strings.Contains(shown, "\x1b[3"); {
					case colored != (vars == ""):
						t.Errorf("with %q the prompt is %q", vars, shown)
					case colored && kind == "full" && !strings.Contains(shown, "\x1b[31m"):
						t.Errorf("no sign of the failure in %q", shown)
					}
				})
			}
		}
	})
}

// TestRepaint has zsh show a prompt at once and complete it when the answer comes,
// while a line is being typed.
func TestRepaint(t *testing.T) {
	for _, kind := range []string{"full", "drop-in"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			s := start(t, "zsh", newEnv(t), append(f.env("late"), "GUST_TIMEOUT=0.05")...)
			path := script(t, "zsh", f.path, true)
			if kind == "drop-in" {
				path = s.prompt()
			}
			s.must("source '" + path + "'")
			// The branch is there, what is not known is marked, nothing looks clean.
			s.expect("\x1b[32mfake\x1b[39m \x1b[90m…\x1b[39m")
			s.settle()
			s.send("echo abc")
			s.await("the line", func() bool { return strings.HasSuffix(strings.ReplaceAll(s.screen(0), "\b", ""), "echo abc") })
			from := s.here()
			f.open(t)
			s.expectFrom(from, "\x1b[32mfake\x1b[39m \x1b[33m+1\x1b[39m \x1b[33m!2\x1b[39m \x1b[34m?3\x1b[39m")
			s.expectFrom(from, "echo abc")
			if strings.Contains(s.screen(from), "…") {
				t.Errorf("still marked as not known: %q", s.screen(from))
			}
			s.send("def\n")
			s.expectFrom(from, "\nabcdef")
		})
	}
}

// TestStatusInRepaint checks that a repaint does not change what %? says.
func TestStatusInRepaint(t *testing.T) {
	f := newFake(t)
	s := start(t, "zsh", newEnv(t), append(f.env("late"), "GUST_TIMEOUT=0.01", "GUST_PROMPT_AFTER= <%?> ")...)
	s.must("source '" + script(t, "zsh", f.path, true) + "'")
	s.settle()
	from := s.here()
	s.send("(exit 7)\n")
	s.expectFrom(from, " <7> ")
	f.open(t)
	s.expectFrom(from, "?3\x1b[39m <7> ")
	s.is("echo", "")
}

// TestStale shows what a prompt says while a slow answer is out: the last known
// counts, marked, and in another directory nothing of the first.
func TestStale(t *testing.T) {
	eachShell(t, func(t *testing.T, shell string) {
		f := newFake(t)
		e := newEnv(t)
		e.Script(t, "mkdir one two")
		s := start(t, shell, e, append(f.env("late"), "GUST_TIMEOUT=20", "NO_COLOR=1")...)
		f.open(t)
		s.must("source '" + script(t, shell, f.path, false) + "'")
		s.must("cd one")
		s.is("echo $GUST_PROMPT", "fake +1 !2 ?3")
		shut := "command rm " + f.dir + "/open; GUST_TIMEOUT=0.1"
		// Known to be fast: asked once, and all of it is stale when that fails.
		s.must(shut)
		s.is("echo $GUST_PROMPT", "fake +1 !2 ?3 …")
		s.is("echo $GUST_PROMPT", "fake +1 !2 ?3 …")
		s.is("cd ../two; echo $GUST_PROMPT", "fake +1 !2 ?3 …")
		s.is("echo $GUST_PROMPT", "")
		f.open(t)
		s.await("the answer", func() bool { return s.run("echo $GUST_PROMPT") == "fake +1 !2 ?3\n" })
		s.is("echo $GUST_PROMPT $VCS_STATUS_WORKDIR", "fake +1 !2 ?3 "+e.Path("two"))
		if n := strings.Count(f.log(t), "/one|0"); n > 4 {
			t.Errorf("a busy daemon was asked %d times about one directory:\n%s", n, f.log(t))
		}
	})
}

// TestPending has bash show the branch at once, and the rest at a later prompt.
func TestPending(t *testing.T) {
	f := newFake(t)
	s := start(t, "bash", newEnv(t), append(f.env("late"), "GUST_TIMEOUT=0.2", "NO_COLOR=1")...)
	s.must("source '" + script(t, "bash", f.path, false) + "'")
	s.await("the branch", func() bool { return s.run(`echo "$GUST_PROMPT"`) == "fake …\n" })
	s.is(`echo "$GUST_PROMPT $VCS_STATUS_HAS_UNSTAGED"`, "fake … -1")
	f.open(t)
	s.await("the counts", func() bool { return s.run(`echo "$GUST_PROMPT"`) == "fake +1 !2 ?3\n" })
}

// TestDeadDaemonInPrompt kills the daemon between prompts and in the middle of one.
func TestDeadDaemonInPrompt(t *testing.T) {
	eachShell(t, func(t *testing.T, shell string) {
		f := newFake(t)
		s := start(t, shell, newEnv(t), append(f.env("die-once"), "GUST_TIMEOUT=20", "NO_COLOR=1")...)
		s.must("source '" + script(t, shell, f.path, false) + "'")
		s.must(":")
		s.is("echo $GUST_PROMPT", "fake +1 !2 ?3")
		s.killDaemon()
		from := s.here()
		s.must(":")
		s.is("echo $GUST_PROMPT", "fake +1 !2 ?3")
		if text := s.screen(from); strings.Contains(text, "ill") || strings.Contains(text, "rror") {
			t.Errorf("the terminal was written on: %q", text)
		}
	})
}

// TestCLocale shortens a name where a character is a byte.
func TestCLocale(t *testing.T) {
	eachShell(t, func(t *testing.T, shell string) {
		e := newEnv(t)
		e.Script(t, "git init -q -b äöüäöüäöüäöü r")
		daemon := realDaemon(t)
		s := start(t, shell, e, "GUST_TIMEOUT=20", "NO_COLOR=1", "LC_ALL=C", "GUST_MAX_LENGTH=8")
		s.daemon = daemon
		s.must("source '" + script(t, shell, daemon, false) + "'; cd r")
		s.is(`printf '%s\n' "$GUST_PROMPT"`, "äö…ü")
	})
}
