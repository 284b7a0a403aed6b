// Package passthrough hands a command line gust does not implement to the real git.
//
// The real git is the first program called git on PATH that is not gust itself: no
// link to it, no copy and no other version of it, which shows in the file (gust is
// a Go program, and no git is one). A script called git may well start gust again;
// each one that gust hands over to is noted in GuardEnv, and passed over by a gust
// that it started, so that every chain ends.
package passthrough

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"gust/internal/daemon/process"
)

// GuardEnv names the environment variable that lists the scripts which were
// started in git's place, as PATH lists directories. Git programs are not in it:
// they get the environment that gust got.
const GuardEnv = "GUST_HANDED_TO"

// ErrNotFound says that there is no git on PATH beside gust.
var ErrNotFound = errors.New("no git on PATH")

// Exit codes of a shell for a command that is not there, or cannot be run.
const (
	exitNotFound = 127
	exitCannot   = 126
)

// A Git is the program that commands are handed over to.
type Git struct {
	Path   string // absolute unless PATH has relative directories
	Info   os.FileInfo
	script bool // not known to be a machine program
}

// Find returns the real git on the PATH of env, a list of NAME=value. self is the
// path of the running program.
func Find(env []string, self string) (Git, error) {
	own, err := os.Stat(self)
	if err != nil {
		own = nil
	}
	started := filepath.SplitList(lookup(env, GuardEnv))
	for _, dir := range filepath.SplitList(lookup(env, "PATH")) {
		if dir == "" {
			dir = "." // as POSIX has it
		}
		path := filepath.Join(dir, "git")
		if runtime.GOOS == "windows" {
			path += ".exe"
		}
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || runtime.GOOS != "windows" && info.Mode()&0o111 == 0 {
			continue
		}
		if own != nil && os.SameFile(own, info) || slices.Contains(started, path) {
			continue
		}
		switch kindOf(path) {
		case goProgram:
		case machine:
			return Git{Path: path, Info: info}, nil
		default:
			return Git{Path: path, Info: info, script: true}, nil
		}
	}
	return Git{}, ErrNotFound
}

// A kind is what the first bytes of a program say of it.
type kind uint8

const (
	other     kind = iota // a script, or nothing known
	machine               // machine code
	goProgram             // … that the Go compiler made
)

// headSize is how many bytes of a program are looked at: what tells Go programs is
// in the first page or two in all formats.
const headSize = 8 << 10

func kindOf(path string) kind {
	f, err := os.Open(path)
	if err != nil {
		return other
	}
	defer f.Close()
	head := make([]byte, headSize)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.ErrUnexpectedEOF {
		return other
	}
	return kindOfHead(head[:n])
}

// kindOfHead tells programs by the magic numbers of ELF, Mach-O and PE files.
func kindOfHead(head []byte) kind {
	known := false
	for _, magic := range []string{"\x7fELF", "\xcf\xfa\xed\xfe", "\xce\xfa\xed\xfe", "\xca\xfe\xba\xbe", "MZ"} {
		known = known || bytes.HasPrefix(head, []byte(magic))
	}
	if !known {
		return other
	}
	// The note of the build ID in ELF files, the names of sections in Mach-O and ELF
	// files, and the build ID as it stands before the code elsewhere.
	for _, mark := range []string{"\x04\x00\x00\x00Go\x00\x00", "__go_buildinfo", ".go.buildinfo", "\xff Go build ID: \""} {
		if bytes.Contains(head, []byte(mark)) {
			return goProgram
		}
	}
	return machine
}

// Run puts the real git with args in the place of this process: it does not return
// on Unix, and elsewhere with git's exit code once that has ended. in, if not nil, is
// what this process has read of its standard input, all of it. Trouble is told on
// errs.
func Run(env []string, self string, args []string, in []byte, errs io.Writer) int {
	git, err := Find(env, self)
	if err != nil {
		fmt.Fprintf(errs, "gust: cannot hand over to git: %v\n", err)
		return exitNotFound
	}
	code, err := process.Become(git.Path, append([]string{"git"}, args...), git.environment(env), in)
	if err != nil {
		fmt.Fprintf(errs, "gust: cannot hand over to git: %v\n", err)
		return exitCannot
	}
	return code
}

// environment returns what g gets.
func (g *Git) environment(env []string) []string {
	guard := lookup(env, GuardEnv)
	if !g.script && guard == "" {
		return env
	}
	out := slices.DeleteFunc(slices.Clone(env), func(v string) bool { return strings.HasPrefix(v, GuardEnv+"=") })
	if !g.script {
		return out
	}
	if guard != "" {
		guard += string(filepath.ListSeparator)
	}
	return append(out, GuardEnv+"="+guard+g.Path)
}

// lookup returns the variable name of env; the last one counts.
func lookup(env []string, name string) string {
	for _, v := range slices.Backward(env) {
		if n, value, ok := strings.Cut(v, "="); ok && n == name {
			return value
		}
	}
	return ""
}
