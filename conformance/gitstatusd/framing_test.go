package gitstatusd

import (
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gust/conformance/daemon"
	"gust/internal/gittest"
)

// repository returns an environment with a clean repository in r.
func repository(t *testing.T) *gittest.Env {
	t.Helper()
	e := gittest.New(t, gittest.System(t))
	e.Script(t, "git init -q r; cd r; echo a >f; git add f; git commit -qm one")
	return e
}

// TestFrames writes bytes to one daemon and compares what comes back, before the
// answer to a last request.
func TestFrames(t *testing.T) {
	e := repository(t)
	dir := e.Path("r")
	truths, err := gittest.NewOracle(e.Git, e.Environ(), t.TempDir()).Ask(gittest.Place{Dir: dir}, gittest.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	answer := func(id string) string { return strings.Join(truths[0].Expect(id, gittest.Defaults(), false), "\x1f") }
	noIndex := func(id string) string { return strings.Join(truths[0].Expect(id, gittest.Defaults(), true), "\x1f") }
	for _, test := range []struct {
		name, send string
		want       []string
	}{
		{"handshake", "}hello\x1f\x1e", []string{"}hello\x1f0"}},
		{"request", "a\x1f" + dir + "\x1e", []string{answer("a")}},
		{"flag-0", "a\x1f" + dir + "\x1f0\x1e", []string{answer("a")}},
		{"flag-1", "a\x1f" + dir + "\x1f1\x1e", []string{noIndex("a")}},
		{"git-dir", "a\x1f:" + dir + "/.git\x1e", []string{answer("a")}},
		{"trailing-slash", "a\x1f" + dir + "/\x1e", []string{answer("a")}},
		{"empty-id", "\x1f" + dir + "\x1e", []string{answer("")}},
		{"unprintable-id", "\x01\n\t\x7f\x1b[m\x1f" + dir + "\x1e", []string{answer("????" + "?[m")}},
		{"high-bytes-in-id", "\xff\x80\xc3\xbc\x1f" + dir + "\x1e", []string{answer("\xff\x80\xc3\xbc")}},
		{"separator-as-id", "|\x1f" + dir + "\x1e", []string{answer("|")}},
		{"long-id", strings.Repeat("i", 9000) + "\x1f" + dir + "\x1e", []string{answer(strings.Repeat("i", 9000))}},
		{"no-directory", "a\x1f\x1e", []string{"a\x1f0"}},
		{"no-git-directory", "a\x1f:\x1e", []string{"a\x1f0"}},
		{"not-there", "a\x1f" + dir + "/nowhere\x1e", []string{"a\x1f0"}},
		{"a-file", "a\x1f" + dir + "/f\x1e", []string{"a\x1f0"}},
		{"not-a-repository", "a\x1f/\x1e", []string{"a\x1f0"}},
		{"no-git-dir-there", "a\x1f:" + dir + "\x1e", []string{"a\x1f0"}},
		{"newline-in-directory", "a\x1f" + dir + "\n\x1e", []string{"a\x1f0"}},
		{"NUL-in-directory", "a\x1f" + dir + "\x00\x1e", []string{"a\x1f0"}},
		{"long-directory", "a\x1f/" + strings.Repeat("x/", 30000) + "\x1e", []string{"a\x1f0"}},
		{"no-separator", "nonsense\x1e", nil},
		{"nothing", "\x1e", nil},
		{"bad-flag", "a\x1f" + dir + "\x1f2\x1e", nil},
		{"empty-flag", "a\x1f" + dir + "\x1f\x1e", nil},
		{"long-flag", "a\x1f" + dir + "\x1f00\x1e", nil},
		{"too-many-fields", "a\x1f" + dir + "\x1f0\x1fGIT_DIR=x\x1e", nil},
		{"three-at-once", "a\x1f" + dir + "\x1eb\x1f/\x1ec\x1f" + dir + "\x1f1\x1e", []string{answer("a"), "b\x1f0", noIndex("c")}},
		{"bad-one-between", "a\x1f" + dir + "\x1ebad\x1ec\x1f" + dir + "\x1e", []string{answer("a"), answer("c")}},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := daemon.For(t, gitstatusd, e)
			for _, pieces := range [][]string{{test.send}, strings.SplitAfter(test.send, "\x1f"), bytewise(test.send)} {
				for _, p := range append(pieces, "last\x1f/\x1e") {
					if err := d.Send(p); err != nil {
						t.Fatal(err)
					}
				}
				for _, want := range append(append([]string(nil), test.want...), "last\x1f0") {
					got, err := d.Receive()
					if err != nil {
						t.Fatal(err)
					}
					if got != want {
						t.Errorf("sent %.200q in %d pieces: got %.300q, want %.300q", test.send, len(pieces), got, want)
					}
				}
			}
			if err := d.Close(); err != nil { // then the log is complete
				t.Error(err)
			}
			if test.want == nil && d.Log() == "" {
				t.Errorf("sent %.200q: nothing was logged", test.send)
			}
		})
	}
}

// bytewise cuts s into single bytes; a long one into pieces, which would take
// long to write byte by byte.
func bytewise(s string) []string {
	size := 1 + len(s)/500
	var pieces []string
	for ; len(s) > size; s = s[size:] {
		pieces = append(pieces, s[:size])
	}
	return append(pieces, s)
}

// TestManyRequests writes thousands of requests without reading an answer.
func TestManyRequests(t *testing.T) {
	e := repository(t)
	d := daemon.For(t, gitstatusd, e)
	const n = 3000
	var all strings.Builder
	for i := range n {
		dir := e.Path("r")
		if i%3 == 0 {
			dir = e.Dir
		}
		fmt.Fprintf(&all, "%d\x1f%s\x1e", i, dir)
	}
	sent := make(chan error, 1)
	go func() { sent <- d.Send(all.String()) }()
	for i := range n {
		got, err := d.Receive()
		if err != nil {
			t.Fatal(err)
		}
		if id, _, _ := strings.Cut(got, "\x1f"); id != fmt.Sprint(i) {
			t.Fatalf("answer %d is %q", i, got)
		}
	}
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
}

// TestOneWrite gives the daemon a datagram socket for its output: each write is
// then a message of its own.
func TestOneWrite(t *testing.T) {
	e := repository(t)
	path := filepath.Join(t.TempDir(), "s")
	server, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Logf("NOT TESTED: one write for each response (no datagram sockets: %v)", err)
		return
	}
	defer server.Close()
	client, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	stdout, err := client.File()
	if err != nil {
		t.Fatal(err)
	}
	defer stdout.Close()
	cmd := exec.Command(gitstatusd)
	cmd.Env = e.Environ()
	cmd.Stdout = stdout
	dir := e.Path("r")
	cmd.Stdin = strings.NewReader("}hello\x1f\x1ea\x1f" + dir + "\x1eb\x1f/\x1ec\x1f" + dir + "\x1e" + "d\x1f" + dir + "\x1f1\x1e")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if err := server.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 1<<16)
	for _, id := range []string{"}hello", "a", "b", "c", "d"} {
		n, err := server.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		got := string(buf[:n])
		if !strings.HasPrefix(got, id+"\x1f") || strings.Count(got, "\x1e") != 1 || !strings.HasSuffix(got, "\x1e") {
			t.Errorf("a write of %q, want the whole response to %q", got, id)
		}
	}
}

// TestUnprintable puts bytes that no terminal should get into the fields. (git
// takes a commit message that is no UTF-8 for Latin-1.)
func TestUnprintable(t *testing.T) {
	e := gittest.New(t, gittest.System(t))
	dir := "dir\n\x01\x1b\x7f\xff ü"
	e.Script(t, `mkdir '`+dir+`'; cd '`+dir+`'; git init -q; git commit -q --cleanup=verbatim --allow-empty -m "$(printf 'a\tb\033[0m \177 \377 \303\274\nnext')"
		git config remote.o.url "$(printf 'x\ny')"; git config branch.main.remote o; git config branch.main.merge refs/heads/main; git update-ref refs/remotes/o/main HEAD; git config remote.o.fetch '+refs/heads/*:refs/remotes/o/*'`)
	d := daemon.For(t, gitstatusd, e)
	got, err := d.Ask(gittest.Place{Dir: e.Path(dir)}, false)
	if err != nil {
		t.Fatal(err)
	}
	for field, want := range map[int]string{3: e.Dir + "/dir????\xff ü", 8: "x?y", 29: "a?b?[0m ? ÿ ü next"} {
		if len(got) != gittest.NumFields || got[field-1] != want {
			t.Errorf("%q, want field %d (%s) to be %q", got, field, gittest.FieldName(field), want)
		}
	}
}
