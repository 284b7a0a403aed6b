package shell_test

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"testing"
)

// TestLeaveNothing ends a shell in every way there is. What must be gone then is
// checked where every session ends.
func TestLeaveNothing(t *testing.T) {
	ends := map[string]func(s *session){
		"exit":   func(s *session) { s.exit() },
		"eof":    func(s *session) { s.settle(); s.send("\x04"); s.ended() },
		"killed": func(s *session) { s.cmd.Process.Kill(); s.ended() },
		"hangup": func(s *session) {
			s.settle() // a signal that comes just before bash reads, it may sleep over
			exec.Command("kill", "-HUP", strconv.Itoa(s.cmd.Process.Pid)).Run()
			s.ended()
		},
		"killed-with-children": func(s *session) {
			// A program and a forked shell that live on with what they inherited.
			s.must("sleep 1000 & (while :; do sleep 1000; done) & echo $! $(jobs -p) >children")
			s.cmd.Process.Kill()
			s.ended()
			s.gone()
			exec.Command("sh", "-c", "kill -9 $(cat "+s.env.Path("children")+") $(pgrep -P $(head -n1 "+s.env.Path("children")+" | cut -d' ' -f1))").Run()
		},
		"execed": func(s *session) { s.send("exec true\n"); s.ended() },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			eachShell(t, func(t *testing.T, shell string) {
				e := newEnv(t)
				s := start(t, shell, e, "GITSTATUS_DAEMON="+realDaemon(t))
				s.source()
				s.must("gitstatus_start" + s.name())
				s.is("gitstatus_query"+s.name()+"; echo $VCS_STATUS_RESULT", "norepo-sync")
				if n := len(running(t, s.daemon)); n != 1 {
					t.Fatalf("%d daemons run, want 1", n)
				}
				end(s)
				s.gone()
			})
		})
	}
}

// TestExec is case C47: a shell that becomes a new shell has one daemon, not two.
func TestExec(t *testing.T) {
	eachShell(t, func(t *testing.T, shell string) {
		e := newEnv(t)
		s := start(t, shell, e, "GITSTATUS_DAEMON="+realDaemon(t))
		flags := map[string]string{"bash": " --noprofile --norc -i", "zsh": " -f -i"}[shell]
		for i := range 4 {
			s.source()
			// A subshell with the old one's descriptors lives on.
			s.must("(exec sleep 1000) & echo $! >>children; disown")
			s.must("gitstatus_start" + s.name())
			s.is("gitstatus_query"+s.name()+"; echo $VCS_STATUS_RESULT", "norepo-sync")
			s.await("one daemon", func() bool { return len(running(t, s.daemon)) == 1 })
			if i < 3 {
				s.must("mark=old")
				s.send("exec " + shell + flags + "\n")
				s.is("echo ${mark-new}", "new")
				s.await("no daemon", func() bool { return len(running(t, s.daemon)) == 0 })
			}
		}
		s.must("kill -9 $(cat children)")
		s.cmd.Process.Kill()
		s.ended()
		s.gone()
	})
}

// TestExecWithSubshell: in zsh, a forked shell that holds the old pipes does not
// keep the daemon of a shell that became another one, because of the lock.
func TestExecWithSubshell(t *testing.T) {
	e := newEnv(t)
	s := start(t, "zsh", e, "GITSTATUS_DAEMON="+realDaemon(t))
	s.source()
	s.must("gitstatus_start MY; gitstatus_query MY")
	s.must("(while :; do sleep 1000; done) & echo $! >child; disown")
	s.send("mark=old; exec zsh -f -i\n")
	s.is("echo ${mark-new}", "new")
	s.gone()
	s.must("kill -9 $(pgrep -P $(cat child)) $(cat child)")
}

// TestRevive is case C48: the daemon is killed between two queries.
func TestRevive(t *testing.T) {
	eachShell(t, func(t *testing.T, shell string) {
		e := newEnv(t)
		s := start(t, shell, e, "GITSTATUS_DAEMON="+realDaemon(t))
		s.source()
		query := "gitstatus_query" + s.name() + "; echo $? ${VCS_STATUS_RESULT-unset}"
		s.must("gitstatus_start" + s.name())
		s.is(query, "0 norepo-sync")

		s.killDaemon()
		from := s.here()
		s.is(query, "1 unset")
		s.is(query, "0 norepo-sync")
		s.is(query, "0 norepo-sync")

		s.killDaemon()
		s.must("gitstatus_start" + s.name())
		s.is(query, "0 norepo-sync")

		// As soon as it is killed, before it is dead.
		s.must("kill " + s.pid() + "; gitstatus_start" + s.name())
		s.is(query, "0 norepo-sync")

		s.must("gitstatus_stop" + s.name())
		s.gone()
		s.is(query, "1 unset")
		s.is("gitstatus_check"+s.name()+"; echo $?", "1")
		s.must("gitstatus_start" + s.name() + "; gitstatus_start" + s.name())
		s.is("gitstatus_check"+s.name()+"; echo $?", "0")
		s.is(query, "0 norepo-sync")
		if n := len(running(t, s.daemon)); n != 1 {
			t.Errorf("%d daemons run, want 1", n)
		}
		if text := s.screen(from); strings.Contains(text, "roken") || strings.Contains(text, "rror") || strings.Contains(text, "erminated") {
			t.Errorf("the terminal was written on: %q", text)
		}
	})
}

// TestDiesMidQuery kills the daemon by a query.
func TestDiesMidQuery(t *testing.T) {
	eachShell(t, func(t *testing.T, shell string) {
		e, f := newEnv(t), newFake(t)
		s := start(t, shell, e, f.env("die-once")...)
		s.source()
		query := "gitstatus_query" + s.name() + "; echo $? ${VCS_STATUS_RESULT-unset}"
		s.must("gitstatus_start" + s.name())
		s.is(query, "1 unset")
		s.is(query, "0 ok-sync")
	})
}

// TestAlwaysDies checks that a daemon which dies of everything is not started for
// ever.
func TestAlwaysDies(t *testing.T) {
	eachShell(t, func(t *testing.T, shell string) {
		e, f := newEnv(t), newFake(t)
		s := start(t, shell, e, f.env("die")...)
		s.source()
		s.must("gitstatus_start" + s.name())
		for range 12 {
			s.is("gitstatus_query"+s.name()+"; echo $?", "1")
		}
		if n := strings.Count(f.log(t), "start "); n > 4 {
			t.Errorf("it was started %d times, want at most 4", n)
		}
		s.must("gitstatus_start" + s.name())
		s.is("gitstatus_query"+s.name()+"; echo $?", "1")
	})
}

// TestGarbage has the daemon answer what it must not.
func TestGarbage(t *testing.T) {
	for _, mode := range []string{"garbage", "number", "flood"} {
		t.Run(mode, func(t *testing.T) {
			eachShell(t, func(t *testing.T, shell string) {
				e, f := newEnv(t), newFake(t)
				s := start(t, shell, e, f.env(mode)...)
				s.source()
				s.must("gitstatus_start" + s.name())
				s.is("gitstatus_query"+s.name()+"; echo $? ${VCS_STATUS_RESULT-unset} ${VCS_STATUS_NUM_STAGED-unset}", "1 unset unset")
				if _, err := os.Stat(e.Path("PWNED")); err == nil {
					t.Error("an answer was executed")
				}
			})
		})
	}
}

// TestDeaf starts a daemon that never greets.
func TestDeaf(t *testing.T) {
	eachShell(t, func(t *testing.T, shell string) {
		e, f := newEnv(t), newFake(t)
		s := start(t, shell, e, f.env("deaf")...)
		s.source()
		if out := s.run("gitstatus_start -t 0.1" + s.name() + "; echo $?"); !strings.HasSuffix(out, "does not answer\n1\n") {
			t.Errorf("gitstatus_start wrote %q", out)
		}
		s.gone()
	})
}

// TestNeverAnswers queries a daemon that hangs, until it owes more answers than a
// pipe holds requests for: no query may block, and a start gets rid of it.
func TestNeverAnswers(t *testing.T) {
	eachShell(t, func(t *testing.T, shell string) {
		e, f := newEnv(t), newFake(t)
		s := start(t, shell, e, f.env("never")...)
		s.source()
		s.must("gitstatus_start" + s.name())
		dir := "/" + strings.Repeat("d", 4000)
		s.is("i=0; while [ $i -lt 100 ]; do gitstatus_query -t 0.001 -d "+dir+s.name()+" && echo answered; i=$((i + 1)); done; echo $i", "100")
		s.must("gitstatus_stop" + s.name())
		s.gone()
		s.must("export GUST_FAKE=ok; gitstatus_start" + s.name())
		s.is("gitstatus_query"+s.name()+"; echo $VCS_STATUS_RESULT", "ok-sync")
	})
}

// TestLate checks that an answer which comes after its query gave up is not taken
// for another one's.
func TestLate(t *testing.T) {
	eachShell(t, func(t *testing.T, shell string) {
		e, f := newEnv(t), newFake(t)
		s := start(t, shell, e, f.env("late-all")...)
		s.source()
		s.must("gitstatus_start" + s.name())
		s.is("gitstatus_query -t 0.01 -d /one"+s.name()+"; echo $? ${VCS_STATUS_RESULT-unset}", "1 unset")
		s.is("gitstatus_query -t 0 -d /two"+s.name()+"; echo $? ${VCS_STATUS_RESULT-unset}", "1 unset")
		f.open(t)
		s.is("gitstatus_query -d /three"+s.name()+"; echo $? $VCS_STATUS_RESULT $VCS_STATUS_WORKDIR", "0 ok-sync /three")
		s.is("gitstatus_query -t 20 -d /four"+s.name()+"; echo $? $VCS_STATUS_RESULT $VCS_STATUS_WORKDIR", "0 ok-sync /four")
	})
}

// TestSubshell checks that a copy of the shell stays away from its pipes.
func TestSubshell(t *testing.T) {
	eachShell(t, func(t *testing.T, shell string) {
		e := newEnv(t)
		s := start(t, shell, e, "GITSTATUS_DAEMON="+realDaemon(t))
		s.source()
		s.must("gitstatus_start" + s.name())
		query := "gitstatus_query" + s.name() + "; echo $? ${VCS_STATUS_RESULT-unset}"
		s.is("("+query+"; gitstatus_check"+s.name()+"; echo $?)", "1 unset\n1")
		s.is("echo $("+query+")", "1 unset")
		s.is("{ { "+query+"; } >job & wait $!; } 2>/dev/null; cat job", "1 unset")
		s.is("("+"gitstatus_stop"+s.name()+"); "+query, "0 norepo-sync")
		// One of its own it may have, for as long as it lives.
		s.is("(gitstatus_start"+s.name()+"; "+query+"; echo $(ps -A -ww -o args= | grep -c ^"+s.daemon+")); "+query, "0 norepo-sync\n2\n0 norepo-sync")
		s.await("the end of the subshell's", func() bool { return len(running(t, s.daemon)) == 1 })
		s.is(query, "0 norepo-sync")
	})
}

// TestTwoNames runs two daemons in one shell, and one under a suffix.
func TestTwoNames(t *testing.T) {
	e := newEnv(t)
	e.Script(t, "git init -q r")
	s := start(t, "zsh", e, "GITSTATUS_DAEMON="+realDaemon(t))
	s.source()
	s.must("source " + s.plugin() + " _x_")
	s.must("gitstatus_start -s 2 ONE; gitstatus_start TWO; gitstatus_start_x_ ONE; gitstatus_start_x_ ONE")
	if n := len(running(t, s.daemon)); n != 3 {
		t.Errorf("%d daemons run, want 3", n)
	}
	s.is("gitstatus_query -d r ONE; echo $VCS_STATUS_RESULT", "ok-sync")
	s.is("gitstatus_query TWO; echo $VCS_STATUS_RESULT", "norepo-sync")
	s.is("gitstatus_query_x_ -d r ONE; echo $VCS_STATUS_RESULT", "ok-sync")
	s.is("gitstatus_query_x_ TWO; echo $? ${VCS_STATUS_RESULT-unset}", "1 unset")
	s.must("gitstatus_stop ONE")
	s.is("gitstatus_query -d r ONE; echo $?", "1")
	s.is("gitstatus_query -d r TWO; echo $VCS_STATUS_RESULT", "ok-sync")
	s.is("gitstatus_query_x_ -d r ONE; echo $VCS_STATUS_RESULT", "ok-sync")
	s.must("gitstatus_stop_x_ ONE; gitstatus_stop TWO")
	s.gone()
	s.is("whence -m '*_SFX' ; print $+parameters[_gitstatus_SFX] $+functions[gitstatus_query] $+functions[gitstatus_process_results_x_]", "0 1 1")
	// A function that sources it without arguments does not lend it its own.
	s.must("load() { source " + s.plugin() + "; }; load /some/file.zsh; gitstatus_start THREE")
}

// TestSignals types what ends programs: at the prompt, and while one runs.
func TestSignals(t *testing.T) {
	// A signal that is caught here is not ignored by the shell, whatever started
	// this test ignores.
	caught := make(chan os.Signal, 100)
	signal.Notify(caught)
	t.Cleanup(func() { signal.Stop(caught) })
	eachShell(t, func(t *testing.T, shell string) {
		e := newEnv(t)
		s := start(t, shell, e, "GITSTATUS_DAEMON="+realDaemon(t))
		s.source()
		s.must("gitstatus_start" + s.name())
		s.is("gitstatus_query"+s.name()+"; echo $VCS_STATUS_RESULT", "norepo-sync")
		before := fmt.Sprint(running(t, s.daemon))
		for _, key := range []string{"\x03", "\x1c", "\x1a"} {
			s.must(":")
			s.settle()
			// What is typed while the line editor recovers from an interrupt may be
			// lost, so it is empty lines, until they are taken.
			from := s.here()
			s.send("\x03")
			s.await("prompts", func() bool {
				s.send("\n")
				return strings.Count(s.screen(from), ready) > 3
			})
			s.must(":")
			s.settle()
			s.send("sh -c 'echo on >running; exec cat'\n")
			s.await("cat", func() bool { return read(t, e.Path("running")) == "on\n" })
			from = s.here()
			s.send(key)
			s.expectFrom(from, ready)
			s.must("rm running")
			if key == "\x1a" {
				s.send("kill -9 %1; wait\n")
			}
		}
		if after := fmt.Sprint(running(t, s.daemon)); after != before {
			t.Errorf("daemons %s before, %s after", before, after)
		}
		s.is("gitstatus_query"+s.name()+"; echo $VCS_STATUS_RESULT", "norepo-sync")
	})
}

// TestJobs checks that the daemon is no job, and `wait` does not wait for it, and
// that the user's coprocess and the plugin do not get into each other's way.
func TestJobs(t *testing.T) {
	eachShell(t, func(t *testing.T, shell string) {
		e := newEnv(t)
		s := start(t, shell, e, "GITSTATUS_DAEMON="+realDaemon(t))
		s.source()
		query := "gitstatus_query" + s.name() + "; echo $VCS_STATUS_RESULT"
		ask := map[string]string{
			"bash": `echo a >&"${COPROC[1]}"; read -r -u "${COPROC[0]}" x; echo "$x"`,
			"zsh":  `print -p a; read -rp x; print $x`,
		}[shell]
		// Typed, not read from a file: zsh's `wait` hangs on a coprocess of a file's.
		s.send("coproc cat\n")
		s.must("gitstatus_start" + s.name())
		s.is(ask, "a")
		s.is(query, "norepo-sync")
		s.send("kill %1; wait\n")
		s.is("jobs; wait; "+query, "norepo-sync")
		s.send("coproc cat\n")
		s.is(ask+"; "+query, "a\nnorepo-sync")
		s.send("kill %1; wait\n")
		s.is("set -o notify; jobs; "+query, "norepo-sync")
		if text := s.screen(0); strings.Contains(text, "Done") || strings.Contains(text, "warning") {
			t.Errorf("the terminal was written on: %q", text)
		}
	})
}

// TestDescriptors checks that programs started from the shell get none of its
// pipes, and the daemon none of the shell's files.
func TestDescriptors(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("NOT TESTED: this system does not list descriptors in /proc")
	}
	eachShell(t, func(t *testing.T, shell string) {
		e := newEnv(t)
		s := start(t, shell, e, "GITSTATUS_DAEMON="+realDaemon(t))
		s.source()
		list := `sh -c 'for f in /proc/$$/fd/*; do [ "${f##*/}" -gt 2 ] && readlink $f; done' | grep pipe`
		before := s.run(list)
		s.must("exec 7>held")
		s.must("gitstatus_start" + s.name())
		s.is("gitstatus_query"+s.name()+"; echo $VCS_STATUS_RESULT", "norepo-sync")
		if after := s.run(list); after != before {
			t.Errorf("a child has pipes %q, and had %q", after, before)
		}
		pid := running(t, s.daemon)[0]
		out, err := exec.Command("sh", "-c", "readlink /proc/"+pid+"/cwd; readlink /proc/"+pid+"/fd/*").Output()
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(out), "/\n") || strings.Contains(string(out), "held") {
			t.Errorf("the daemon has the shell's directory or files: %q", out)
		}
	})
}

// TestWithoutProc runs zsh's other way to get a pipe, for systems where a process
// cannot reopen its own.
func TestWithoutProc(t *testing.T) {
	e := newEnv(t)
	s := start(t, "zsh", e, "GITSTATUS_DAEMON="+realDaemon(t))
	s.source()
	s.must("_gitstatus_pipe() { return 1 }")
	s.must("gitstatus_start MY")
	s.is("gitstatus_query MY; echo $VCS_STATUS_RESULT", "norepo-sync")
	s.killDaemon()
	s.is("gitstatus_query MY; gitstatus_query MY; echo $VCS_STATUS_RESULT", "norepo-sync")
	s.cmd.Process.Kill()
	s.ended()
	s.gone()
}
