package shell_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gust/shell"
)

// script renders the script of a shell for the session's daemon, and returns the
// path of a file with it.
func script(t testing.TB, name, daemon string, full bool) string {
	t.Helper()
	text, err := shell.Init(name, shell.Options{Gust: filepath.Join(prefix(t), "bin", "gust"), Daemon: daemon, Full: full})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "init."+name)
	write(t, path, string(text))
	return path
}

// startInit starts a shell whose daemon is only known to the script it evaluates.
func startInit(t testing.TB, name, daemon string, full bool, vars ...string) *session {
	t.Helper()
	s := start(t, name, newEnv(t), vars...)
	s.daemon = daemon
	s.must(`eval "$(cat '` + script(t, name, daemon, full) + `')"`)
	return s
}

// everyScript calls f for every script that gust installs or prints, the latter for
// a daemon in the directory dir.
func everyScript(t *testing.T, dir string, f func(t *testing.T, shell, path string)) {
	for _, name := range shell.Shells() {
		for _, full := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/full-%v", name, full), func(t *testing.T) { f(t, name, script(t, name, filepath.Join(dir, "gitstatusd"), full)) })
		}
	}
	for _, name := range entries(t, "scripts") {
		which := map[string]string{".zsh": "zsh", ".sh": "bash"}[filepath.Ext(name)]
		if which == "" || strings.HasPrefix(name, "init.") {
			continue
		}
		t.Run(strings.ReplaceAll(name, ".", "-"), func(t *testing.T) { f(t, which, filepath.Join("scripts", name)) })
	}
}

// TestLint runs the linters over every script in every form.
func TestLint(t *testing.T) {
	everyScript(t, "/a directory", func(t *testing.T, name, path string) {
		lints := [][]string{{"zsh", "-f", "-n", path}}
		if name == "bash" {
			lints = [][]string{{"bash", "-n", path}, {"shfmt", "-i", "2", "-d", path}, {"shellcheck", "-x", "-P", "..", "-s", "bash", path}}
		}
		for _, args := range lints {
			if out, err := exec.Command(program(t, args[0]), args[1:]...).CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%s: %v\n%s", strings.Join(args, " "), err, out)
			}
		}
	})
	if out, err := exec.Command(program(t, "zsh"), "-n", "../gust.plugin.zsh").CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("gust.plugin.zsh: %v\n%s", err, out)
	}
}

// TestSilent evaluates every script in its shell, in strict mode, in an empty home:
// not a byte may be written, where the daemon is missing too.
func TestSilent(t *testing.T) {
	everyScript(t, filepath.Join(t.TempDir(), "it's a $(touch PWNED) `touch PWNED` directory"), func(t *testing.T, name, path string) {
		if strings.HasPrefix(filepath.Base(path), "gitstatus.prompt") {
			return // it says so when there is no daemon; TestRendered has it with one
		}
		e := newEnv(t)
		abs, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, flags := range []string{"-eu", "-eux", ""} {
			args := map[string][]string{"bash": {"--noprofile", "--norc"}, "zsh": {"-f"}}[name]
			if flags == "-eux" {
				// What xtrace prints is the shell's; only that it ends well counts.
				flags = "-eu"
				args = append(args, "-o", map[string]string{"bash": "posix", "zsh": "posixbuiltins"}[name])
			}
			if flags != "" {
				args = append(args, flags)
			}
			load := `eval "$(cat '` + abs + `')"`
			if !strings.HasPrefix(filepath.Base(path), "init.") {
				load = "source '" + abs + "'"
			}
			cmd := exec.Command(program(t, name), append(args, "-c", load+"; echo end")...)
			cmd.Dir, cmd.Env = e.Dir, e.Environ()
			if out, err := cmd.CombinedOutput(); err != nil || string(out) != "end\n" {
				t.Errorf("%q: %v, wrote %q", args, err, out)
			}
		}
		s := start(t, name, e)
		s.must("set -eu; source '" + abs + "'; source '" + abs + "'; set +eu")
		for _, dir := range []string{e.Dir, e.Home, s.tmp} {
			if left := strings.Join(entries(t, dir), " "); left != "" && left != ".gitconfig" {
				t.Errorf("%s has %q now", dir, left)
			}
		}
	})
}

// TestRendered evaluates every script of gust init, and the drop-in prompts, with a
// daemon, twice, in an interactive shell in strict mode: they are silent, leave
// options, hooks and PS1 as they should, and the prompt comes.
func TestRendered(t *testing.T) {
	for _, name := range shell.Shells() {
		for _, kind := range []string{"vars", "full", "drop-in"} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				daemon := realDaemon(t)
				e := newEnv(t)
				e.Script(t, "git init -q r; cd r; git commit -q --allow-empty -m a; echo u >u")
				s := start(t, name, e, "GUST_TIMEOUT=20")
				s.daemon = daemon
				path := script(t, name, daemon, kind == "full")
				if kind == "drop-in" {
					s.must("GITSTATUS_DAEMON=" + daemon)
					path = s.prompt()
				}
				options := s.run("set -o; setopt 2>/dev/null; shopt 2>/dev/null")
				s.must("set -eu\nsource '" + path + "'\nsource '" + path + "'")
				s.must("cd r")
				prompt := map[string]string{"drop-in": "$GITSTATUS_PROMPT"}[kind]
				if prompt == "" {
					prompt = "$GUST_PROMPT"
				}
				want := map[string]string{"zsh": "%F{green}main%f %F{blue}?1%f", "bash": "\x01\x1b[32m\x02main\x01\x1b[39m\x02 \x01\x1b[34m\x02?1\x01\x1b[39m\x02"}[name]
				s.is(`printf '%s\n' "`+prompt+`"`, want)
				s.is("echo $VCS_STATUS_RESULT $VCS_STATUS_NUM_UNTRACKED", map[string]string{"zsh": "ok-async", "bash": "ok-sync"}[name]+" 1")
				hooks := map[string]string{"zsh": "print -l $precmd_functions", "bash": `printf '%s\n' "${PROMPT_COMMAND[@]}"`}[name]
				if out := s.run(hooks); strings.Count(out, "\n") != 1 {
					t.Errorf("hooks: %q, want one", out)
				}
				s.must("set +eu")
				if kind != "drop-in" {
					if now := s.run("set -o; setopt 2>/dev/null; shopt 2>/dev/null"); now != options {
						t.Errorf("options are\n%s\nand were\n%s", now, options)
					}
				}
				ps1 := strings.TrimSuffix(s.run(`printf '%s\n' "$PS1"`), "\n")
				if own := ps1 != ready; own != (kind != "vars") {
					t.Errorf("PS1 is %q", ps1)
				}
				s.must("cd ..")
				s.settle()
				from := s.here()
				s.is(`printf '%s\n' "`+prompt+`"`, "")
				if strings.Contains(s.screen(from), "main") {
					t.Errorf("the branch is shown outside of the repository: %q", s.screen(from))
				}
				if n := len(running(t, daemon)); n != 1 {
					t.Errorf("%d daemons, want 1", n)
				}
			})
		}
	}
}

// TestUnknownShell asks for a shell that gust has no script for.
func TestUnknownShell(t *testing.T) {
	if _, err := shell.Init("tcsh", shell.Options{}); err == nil || !strings.Contains(err.Error(), "bash, zsh") {
		t.Errorf("got %v, want an error that lists the shells", err)
	}
}

// TestQuote has a shell read what Quote writes.
func TestQuote(t *testing.T) {
	for _, s := range []string{"", "a", "it's", "''", "$(touch PWNED)", "`id`", "a\nb", `\`, "ünï\xff"} {
		out, err := exec.Command("sh", "-c", "printf %s "+shell.Quote(s)).Output()
		if err != nil || string(out) != s {
			t.Errorf("%q comes back as %q, %v", s, out, err)
		}
	}
}

// TestPluginFile sources the file for plugin managers, with and without gust.
func TestPluginFile(t *testing.T) {
	file, err := filepath.Abs("../gust.plugin.zsh")
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, "zsh", newEnv(t), "GUST_TIMEOUT=20")
	s.must("source " + file)
	s.is("print $#precmd_functions", "0")
	s.must("PATH=" + prefix(t) + "/bin:$PATH; rehash; git init -q")
	s.must("source " + file)
	s.is("print $GUST_PROMPT $PS1", "%F{green}main%f "+ready)
	s.must("GUST_INIT_ARGS=--prompt=full; source " + file)
	s.is("print ${(M)PS1:#*main*} | wc -l | tr -d ' '", "2")
}

// TestBinaryGone takes the daemon away from under a script.
func TestBinaryGone(t *testing.T) {
	eachShell(t, func(t *testing.T, name string) {
		daemon := realDaemon(t)
		s := startInit(t, name, daemon, true, "GUST_TIMEOUT=20")
		s.must("git init -q")
		s.is(`echo "${GUST_PROMPT:+some}"`, "some")
		if err := os.Remove(daemon); err != nil {
			t.Fatal(err)
		}
		s.is(`echo "${GUST_PROMPT:+some}"`, "some")
		s.killDaemon()
		from := s.here()
		s.must(":")
		s.is(`echo "${GUST_PROMPT:+some}"`, "")
		s.settle()
		if text := s.screen(from); strings.Contains(text, "gitstatusd") || strings.Contains(text, "rror") {
			t.Errorf("the terminal was written on: %q", text)
		}
	})
}
