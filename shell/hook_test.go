package shell_test

import (
	"os/exec"
	"strings"
	"testing"
)

// hookSession starts a prompt, after lines that a user's rc file has before it, and
// with lines after it.
func hookSession(t testing.TB, shell, before, after string) *session {
	t.Helper()
	daemon := realDaemon(t)
	e := newEnv(t)
	e.Script(t, "git init -q -b trunk r")
	s := start(t, shell, e, "GUST_TIMEOUT=20", "NO_COLOR=1")
	s.daemon = daemon
	s.must("cd r; u() { echo \"u $?\" >>../u; }; v() { echo \"v $?\" >>../v; }")
	s.must(before + "\nsource '" + script(t, shell, daemon, false) + "'\n" + after)
	return s
}

// TestPromptCommand tries the forms in which PROMPT_COMMAND is found, and what is
// added to it later: the user's commands run once a prompt and see $?, and so does
// the next command.
func TestPromptCommand(t *testing.T) {
	tests := []struct {
		name, before, after string
		u, v                bool
	}{
		{name: "unset"},
		{name: "empty", before: "PROMPT_COMMAND="},
		{name: "blank", before: "PROMPT_COMMAND='  '"},
		{name: "string", before: "PROMPT_COMMAND=u", u: true},
		{name: "semicolon", before: "PROMPT_COMMAND='u;'", u: true},
		{name: "semicolon-space", before: "PROMPT_COMMAND='u ; '", u: true},
		{name: "newline", before: "PROMPT_COMMAND=$'u\\n'", u: true},
		{name: "comment", before: "PROMPT_COMMAND='u # mine'", u: true},
		{name: "two-in-string", before: "PROMPT_COMMAND='(exit 7); u'; u() { echo \"u $?\" >>../u7; }"},
		{name: "array", before: "PROMPT_COMMAND=(u)", u: true},
		{name: "array-of-two", before: "PROMPT_COMMAND=(true v)", v: true},
		{name: "sparse-array", before: "PROMPT_COMMAND=([3]=u)", u: true},
		{name: "empty-array", before: "PROMPT_COMMAND=()"},
		{name: "exported", before: "export PROMPT_COMMAND=u; export -f u", u: true},
		{name: "exported-empty", before: "export PROMPT_COMMAND="},
		{name: "added-after-string", after: `PROMPT_COMMAND="$PROMPT_COMMAND; v"`, v: true},
		{name: "added-before-string", after: `PROMPT_COMMAND="u; $PROMPT_COMMAND"`, u: true},
		{name: "added-to-array", before: "PROMPT_COMMAND=(u)", after: "PROMPT_COMMAND+=(v)", u: true, v: true},
		{name: "array-by-adding", after: "PROMPT_COMMAND+=(v)", v: true},
		{name: "strict", before: "PROMPT_COMMAND=u; set -u", u: true},
		{name: "odd-separators", before: "PROMPT_COMMAND=u; IFS=_013", u: true},
		{name: "readonly-like-names", before: "PROMPT_COMMAND=u; i=1 status=2 hook=3 key=4 REPLY=5", u: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := hookSession(t, "bash", test.before, test.after)
			s.settle()
			// Typed, because the end of a file is a status too.
			s.send("(exit 3)\n")
			s.send("printf '%s\\n' \"$?\" >../status\n")
			s.is(`printf '%s\n' "$GUST_PROMPT"`, "trunk")
			if got := read(t, s.env.Path("status")); got != "3\n" {
				t.Errorf("the next command saw $? = %q, want 3", got)
			}
			for name, want := range map[string]bool{"u": test.u, "v": test.v} {
				log := read(t, s.env.Path(name))
				if !want {
					continue
				}
				if n := strings.Count(log, name+" 3\n"); n != 1 {
					t.Errorf("%s saw status 3 %d times, want once: %q", name, n, log)
				}
			}
			if strings.HasPrefix(test.name, "exported") {
				from := s.here()
				s.send("bash --noprofile --norc -i\n")
				s.send("echo in; exit\n")
				s.expectFrom(from, "\rin\r")
				s.is("echo", "")
				if text := s.screen(from); strings.Contains(text, "not found") {
					t.Errorf("a shell in the shell wrote %q", text)
				}
			}
			if test.name == "readonly-like-names" {
				s.is("echo $i $status $hook $key", "1 2 3 4")
			}
		})
	}
}

// TestPrecmd is the same for zsh's hooks.
func TestPrecmd(t *testing.T) {
	tests := []struct{ name, before, after string }{
		{name: "before", before: "precmd_functions=(u)"},
		{name: "after", after: "precmd_functions+=(u)"},
		{name: "precmd", before: "precmd() { u }"},
		{name: "strict", before: "precmd_functions=(u); set -eu"},
		{name: "odd-options", before: "precmd_functions=(u); setopt ksh_arrays sh_word_split glob_subst no_unset warn_create_global"},
		{name: "aliases", before: "precmd_functions=(u); alias local=false typeset=false print=false emulate=false builtin=false zle=false; alias -g M=x"},
		{name: "functions", before: "precmd_functions=(u); local() { false }; emulate() { false }; setopt() { false }; zle() { false }; cd() { builtin cd $@ }"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := hookSession(t, "zsh", test.before, test.after)
			s.settle()
			if test.name == "strict" {
				s.is(`echo "$GUST_PROMPT"`, "trunk")
				s.is(`echo "$GUST_PROMPT"`, "trunk")
				return
			}
			s.send("(exit 3)\n")
			s.send("echo $? >../status\n")
			s.is(`echo "$GUST_PROMPT"`, "trunk")
			if got := read(t, s.env.Path("status")); got != "3\n" {
				t.Errorf("the next command saw $? = %q, want 3", got)
			}
			if log := read(t, s.env.Path("u")); strings.Count(log, "u 3\n") != 1 {
				t.Errorf("the user's hook logged %q", log)
			}
			if text := s.screen(0); strings.Contains(text, "set globally") || strings.Contains(text, "parameter not set") {
				t.Errorf("the terminal was written on: %q", text)
			}
		})
	}
}

// TestErrexit lives through prompts with `set -e` after a status that is not 0.
func TestErrexit(t *testing.T) {
	eachShell(t, func(t *testing.T, shell string) {
		s := hookSession(t, shell, ":", ":")
		s.must("set -eu")
		for range 3 {
			s.settle()
			s.send("! true\n")
			s.is(`echo "$GUST_PROMPT"`, "trunk")
		}
		s.must("cd /")
		s.is(`echo "$GUST_PROMPT"`, "")
		s.killDaemon()
		s.must(":")
		s.is(`echo "still here"`, "still here")
	})
}

// TestNoChildren traces a shell while it prompts: no process is made.
func TestNoChildren(t *testing.T) {
	eachShell(t, func(t *testing.T, shell string) {
		strace := program(t, "strace")
		s := hookSession(t, shell, ":", ":")
		s.is(`echo "$GUST_PROMPT"`, "trunk")
		log := s.env.Path("trace")
		// Of the shell alone, not of what it starts: the shell's own calls tell.
		cmd := exec.Command(strace, "-q", "-o", log, "-e", "trace=clone,clone3,fork,vfork,write", "-p", strings.TrimSpace(s.run("echo $$")))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		s.await("the tracer", func() bool {
			select {
			case err := <-ended:
				t.Fatalf("strace cannot attach: %v", err)
			default:
			}
			s.must(":")
			return strings.Contains(read(t, log), "write(")
		})
		before := strings.Count(read(t, log), "\n")
		for range 3 {
			s.must(":")
		}
		s.must("( : )") // one that is seen
		s.await("a fork in the trace", func() bool { return strings.Count(read(t, log), "clone") >= 1 })
		cmd.Process.Kill()
		lines := strings.Split(read(t, log), "\n")[before:]
		forks := 0
		for _, line := range lines {
			if strings.Contains(line, "clone") || strings.Contains(line, "fork") {
				forks++
			}
		}
		if forks != 1 {
			t.Errorf("%d processes were made, want only the one asked for:\n%s", forks, strings.Join(lines, "\n"))
		}
	})
}
