package shell_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// fakeName is what the test binary is called when it is to be a daemon that
// misbehaves. GUST_FAKE tells it how, one of
//
//	ok        answers at once
//	late      answers whole requests when the file "open" is there
//	late-all  answers every request only then
//	never     answers no request
//	deaf      answers nothing, not even the greeting
//	die-once  dies of the first request, unless the file "died" is there
//	die       dies of every request
//	garbage   answers with too few fields
//	number    answers with a number that is none
//	flood     answers without end
//	classic   does not know --gust
//
// The files are in its own directory, where its log goes too. Three more replace
// what it says: "branch", "tag" and "action".
const fakeName = "fake-gitstatusd"

// fake is what a test knows about its fake daemon.
type fake struct{ path, dir string }

func newFake(t testing.TB) *fake {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := link(t, exe, fakeName)
	return &fake{path: path, dir: filepath.Dir(path)}
}

// env returns the environment in which it misbehaves as mode says.
func (f *fake) env(mode string) []string {
	return []string{"GITSTATUS_DAEMON=" + f.path, "GUST_FAKE=" + mode}
}

// open lets it answer.
func (f *fake) open(t testing.TB) { write(t, filepath.Join(f.dir, "open"), "") }

// log returns what it was asked, a request a line, its fields between bars; one
// that starts says so with its options.
func (f *fake) log(t testing.TB) string { return read(t, filepath.Join(f.dir, "log")) }

func fakeDaemon(args []string) int {
	mode, dir := os.Getenv("GUST_FAKE"), filepath.Dir(os.Args[0])
	if mode == "classic" && slices.Contains(args, "--gust") {
		return 10
	}
	if slices.Contains(args, "--version") {
		fmt.Println("v1.5.5")
		return 0
	}
	fakeLog(dir, "start "+strings.Join(args, " "))
	var pending []byte
	buf := make([]byte, 4096)
	for {
		n, err := os.Stdin.Read(buf)
		if err != nil {
			return 0
		}
		pending = append(pending, buf[:n]...)
		for {
			record, rest, ok := bytes.Cut(pending, []byte{30})
			if !ok {
				break
			}
			pending = rest
			if code := fakeAnswer(mode, dir, strings.Split(string(record), "\x1f")); code >= 0 {
				return code
			}
		}
	}
}

// fakeAnswer takes one request. It returns the exit code of a daemon that dies of
// it, or -1.
func fakeAnswer(mode, dir string, fields []string) int {
	fakeLog(dir, strings.Join(fields, "|"))
	id := fields[0]
	if id == "}hello" {
		if mode != "deaf" {
			fakeWrite(id, "0")
		}
		return -1
	}
	answer := []string{id, "1", fields[1], strings.Repeat("1a", 20), "fake", "", "", "", "", "5",
		"1", "2", "0", "3", "0", "0", "0", "", "0", "1", "0", "", "", "0", "0", "0", "0", "", "subject"}
	for name, i := range map[string]int{"branch": 4, "tag": 17, "action": 8} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
			answer[i] = string(text)
		}
	}
	died := filepath.Join(dir, "died")
	switch mode {
	case "late", "late-all":
		if mode == "late" && fields[2] == "1" {
			break
		}
		for {
			if _, err := os.Stat(filepath.Join(dir, "open")); err == nil {
				break
			}
			if _, err := os.Stat(dir); err != nil {
				return 1 // the test is over
			}
			time.Sleep(time.Millisecond)
		}
	case "never", "deaf":
		return -1
	case "die-once":
		if _, err := os.Stat(died); err != nil {
			os.WriteFile(died, nil, 0o644)
			return 1
		}
	case "die":
		return 1
	case "garbage":
		fakeWrite(answer[:7]...)
		return -1
	case "number":
		answer[10] = "a[$(touch PWNED)]"
	case "flood":
		for range 400 {
			os.Stdout.WriteString(strings.Repeat("x", 4096))
		}
		return -1
	}
	if fields[2] == "1" {
		for i := 9; i <= 13; i++ {
			answer[i] = "0"
		}
		answer[19] = "0"
	}
	fakeWrite(answer...)
	return -1
}

func fakeWrite(fields ...string) {
	os.Stdout.WriteString(strings.Join(fields, "\x1f") + "\x1e")
}

func fakeLog(dir, line string) {
	f, err := os.OpenFile(filepath.Join(dir, "log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return
	}
	fmt.Fprintln(f, line)
	f.Close()
}
