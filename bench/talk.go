package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"gust/bench/measure"
)

// patience is how long one answer may take: long enough for a system call tracer
// on a large tree, short enough that a program that hangs ends the run.
const patience = 5 * time.Minute

// A talker is a running program that answers what is written to it.
type talker struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	delim byte // ends an answer
}

// talk starts a program.
func talk(ctx context.Context, env []string, delim byte, program string, args ...string) (*talker, error) {
	t := &talker{cmd: exec.CommandContext(ctx, program, args...), delim: delim}
	t.cmd.Env, t.cmd.Stderr = env, os.Stderr
	in, err := t.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := t.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	t.in, t.out = in, bufio.NewReader(out)
	return t, t.cmd.Start()
}

// ask writes a request and returns the answer without its delimiter.
func (t *talker) ask(request string) (string, error) {
	kill := time.AfterFunc(patience, func() { t.cmd.Process.Kill() })
	defer kill.Stop()
	if _, err := io.WriteString(t.in, request); err != nil {
		return "", err
	}
	answer, err := t.out.ReadString(t.delim)
	if err != nil {
		return "", fmt.Errorf("no answer from %s: %w", t.cmd.Path, err)
	}
	return answer[:len(answer)-1], nil
}

// close ends the program's input and waits for it to exit.
func (t *talker) close() error {
	t.in.Close()
	kill := time.AfterFunc(patience, func() { t.cmd.Process.Kill() })
	defer kill.Stop()
	return t.cmd.Wait()
}

// daemonArgs make a daemon that computes itself, by polling, and counts everything,
// as git status does.
func (b *bench) daemonArgs() []string {
	return []string{"--no-server", "-t", strconv.Itoa(b.threads), "-s", "-1", "-u", "-1", "-c", "-1", "-d", "-1", "-v", "WARN"}
}

// startDaemon starts gitstatusd, under the program in wrap if there is one.
func (b *bench) startDaemon(ctx context.Context, wrap ...string) (*talker, error) {
	argv := append(append(wrap, b.daemon), b.daemonArgs()...)
	return talk(ctx, b.store.Env(), '\x1e', argv[0], argv[1:]...)
}

// startFloor starts the floor program on the files of the repository at dir.
func (b *bench) startFloor(ctx context.Context, dir string) (*talker, error) {
	cmd := b.gitCommand(ctx, dir, "ls-files", "-z")
	list, err := os.CreateTemp(b.temp, "list")
	if err != nil {
		return nil, err
	}
	defer list.Close()
	cmd.Stdout = list
	if err := cmd.Run(); err != nil {
		return nil, err
	}
	return talk(ctx, b.store.Env(), '\n', b.floor, "-threads", strconv.Itoa(b.threads), "-list", list.Name(), dir)
}

func (b *bench) gitCommand(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, b.git, args...)
	cmd.Dir, cmd.Env, cmd.Stderr = dir, b.store.Env(), os.Stderr
	return cmd
}

// gitOutput runs git in dir and returns its output without the last newline.
func (b *bench) gitOutput(ctx context.Context, dir string, args ...string) (string, error) {
	out, err := b.gitCommand(ctx, dir, args...).Output()
	return strings.TrimSuffix(string(out), "\n"), err
}

// gitCost runs git in dir and returns its output without the last newline and what
// it cost.
func (b *bench) gitCost(ctx context.Context, dir string, args ...string) (string, measure.Cost, error) {
	cmd := b.gitCommand(ctx, dir, args...)
	var out bytes.Buffer
	cmd.Stdout = &out
	cost, err := measure.Command(cmd)
	return strings.TrimSuffix(out.String(), "\n"), cost, err
}

// Numbers of the fields of an answer that bench checks (docs/protocol.md).
const (
	fieldIndexSize = 10
	fieldStaged    = 11
	fieldUntracked = 14
	fieldAhead     = 15
	fieldBehind    = 16
	fieldTag       = 18
	fieldCount     = 29
)

// query asks a daemon about dir and returns the fields of its answer, the first
// at index 1. An answer that is no answer to this question is an error.
func query(t *talker, dir string, flag byte) ([]string, error) {
	answer, err := t.ask("q\x1f" + dir + "\x1f" + string(flag) + "\x1e")
	if err != nil {
		return nil, err
	}
	fields := append([]string{""}, strings.Split(answer, "\x1f")...)
	if len(fields) != fieldCount+1 || fields[1] != "q" || fields[2] != "1" {
		return nil, fmt.Errorf("wrong answer about '%s': %q", dir, answer)
	}
	return fields, nil
}

// checkClean makes sure that an answer says what is true of a generated tree: so
// many files, and nothing to report about them.
func checkClean(fields []string, files int) error {
	if fields[fieldIndexSize] != strconv.Itoa(files) {
		return fmt.Errorf("wrong answer: index size %s, want %d", fields[fieldIndexSize], files)
	}
	for i := fieldStaged; i <= fieldUntracked; i++ {
		if fields[i] != "0" {
			return fmt.Errorf("wrong answer about a clean tree: field %d is %s", i, fields[i])
		}
	}
	return nil
}
