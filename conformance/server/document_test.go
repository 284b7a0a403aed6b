package server

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gust/internal/daemon/gitstatusd"
	"gust/internal/daemon/live"
	"gust/internal/daemon/server"
	"gust/internal/daemon/socket"
	"gust/internal/daemon/wire"
	"gust/internal/gittest"
	"gust/internal/pure/summary"
	"gust/internal/worktree/watch"
)

const page = "../../docs/server.md"

// An example is one block of the page.
type example struct {
	kind  string // what is behind the fence: jsonl, "jsonl slow", records
	line  int    // in the page, of the fence
	lines []string
}

func examples(t *testing.T) []example {
	t.Helper()
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var all []example
	inside := false
	for i, line := range strings.Split(string(data), "\n") {
		switch kind, fence := strings.CutPrefix(line, "```"); {
		case fence && inside:
			inside = false
		case fence:
			inside = true
			all = append(all, example{kind: kind, line: i + 1})
		case inside:
			last := &all[len(all)-1]
			last.lines = append(last.lines, line)
		}
	}
	return all
}

// A slow engine answers when it is told to.
type slow struct {
	*live.State
	wait chan struct{} // nil: at once
}

func (s *slow) Query(ctx context.Context, q live.Request) (*summary.Summary, error) {
	if s.wait != nil {
		<-s.wait
	}
	return s.State.Query(ctx, q)
}

// The project of the page, and what is another value on every machine.
const (
	project = "/home/me/project"
	commit  = "5d41402abc4b2a76b9719d911017c592ae1f3c4d"
)

var changing = map[string]bool{
	"build": true, "pid": true, "view": true, "socket": true, "uptime_s": true, "memory_bytes": true, "goroutines": true,
	"median_ms": true, "p99_ms": true,
}

// TestDocument runs the examples of docs/server.md.
func TestDocument(t *testing.T) {
	kinds := map[string]int{}
	for _, x := range examples(t) {
		kinds[x.kind]++
		if x.kind == "" {
			continue // a drawing
		}
		t.Run(fmt.Sprintf("line-%d", x.line), func(t *testing.T) { x.run(t) })
	}
	if kinds["jsonl"] < 5 || kinds["jsonl slow"] != 1 || kinds["records"] != 1 {
		t.Errorf("the page has examples of the kinds %v", kinds)
	}
}

func (x example) run(t *testing.T) {
	e := gittest.New(t, gittest.System(t))
	e.Script(t, "git init -q project; cd project; git checkout -q -B main; echo a >f; git add f; git commit -qm Begin; git tag v1.0")
	head := strings.TrimSpace(e.Run(t, "project", "rev-parse", "HEAD"))
	local := strings.NewReplacer(project, e.Path("project"), commit, head)

	dir, err := os.MkdirTemp("", "gust")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	place := socket.Place{Dir: filepath.Join(dir, "gust"), Socket: filepath.Join(dir, "gust", "server.sock")}
	l, err := socket.Listen(place)
	if err != nil {
		t.Fatal(err)
	}
	pool := watch.NewPool(watch.PoolOptions{})
	defer pool.Close()
	engine := &slow{State: live.New(live.Options{Threads: 1, Pool: pool})}
	defer engine.Close()
	if x.kind == "jsonl slow" {
		engine.wait = make(chan struct{})
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- server.New(engine, server.NewLog(io.Discard, gitstatusd.Fatal), server.Options{Build: wire.ThisBuild()}).Serve(ctx, l)
	}()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	c, err := socket.Dial(place)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(patience))
	talk := talk{t: t, c: c, r: bufio.NewReader(c), local: local, e: e}
	if x.kind == "records" {
		talk.records(x.lines)
		return
	}
	for i := 0; i < len(x.lines); i++ {
		// Lines that come together may come in any order.
		var want []string
		for ; i < len(x.lines) && strings.HasPrefix(x.lines[i], "< "); i++ {
			want = append(want, x.lines[i][2:])
		}
		talk.expect(want, func(a wire.Answer) {
			if engine.wait != nil && a.Complete != nil && !*a.Complete {
				close(engine.wait)
			}
		})
		if i < len(x.lines) {
			talk.do(x.lines[i])
		}
	}
}

// A talk is one connection of an example.
type talk struct {
	t     *testing.T
	c     net.Conn
	r     *bufio.Reader
	local *strings.Replacer // from the page to this machine
	e     *gittest.Env
}

// do says or does what a line of the page wants.
func (k *talk) do(line string) {
	k.t.Helper()
	if said, ok := strings.CutPrefix(line, "> "); ok {
		if _, err := io.WriteString(k.c, k.local.Replace(said)+"\n"); err != nil {
			k.t.Fatal(err)
		}
		return
	}
	command, ok := strings.CutPrefix(line, "$ ")
	if !ok {
		k.t.Fatalf("what is the line %q?", line)
	}
	k.e.Script(k.t, "cd project; "+command)
}

// expect reads as many lines as are wanted, and compares them, in any order.
func (k *talk) expect(want []string, seen func(wire.Answer)) {
	k.t.Helper()
	for len(want) > 0 {
		line, err := k.r.ReadBytes('\n')
		if err != nil {
			k.t.Fatalf("instead of %q: %v", want, err)
		}
		var a wire.Answer
		if err := json.Unmarshal(line, &a); err != nil {
			k.t.Fatalf("%q: %v", line, err)
		}
		seen(a)
		diff := ""
		found := false
		for i, w := range want {
			if diff = cmp.Diff(k.parse(k.local.Replace(w)), k.parse(string(line))); diff == "" {
				want = append(want[:i:i], want[i+1:]...)
				found = true
				break
			}
		}
		if !found {
			k.t.Fatalf("the server says %s\nthe page does not, the nearest differs (-page +server):\n%s", line, diff)
		}
	}
}

// parse returns a JSON object without the values that change.
func (k *talk) parse(line string) any {
	k.t.Helper()
	var v any
	if err := json.Unmarshal([]byte(line), &v); err != nil {
		k.t.Fatalf("%q: %v", line, err)
	}
	return settled(v)
}

func settled(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			if changing[name] {
				v[name] = fmt.Sprintf("%T", value)
			} else {
				v[name] = settled(value)
			}
		}
	case []any:
		for i := range v {
			v[i] = settled(v[i])
		}
	}
	return v
}

// records runs the example of a relay, whose greeting goes without saying.
func (k *talk) records(lines []string) {
	k.t.Helper()
	if _, err := k.r.ReadString('\n'); err != nil {
		k.t.Fatal(err)
	}
	k.do(lines[0])
	bytes := strings.NewReplacer(" US ", "\x1f", " RS", "\x1e", "= ", "=")
	empty := regexp.MustCompile(`US US`)
	for _, line := range lines[1:] {
		for empty.MatchString(line) {
			line = empty.ReplaceAllString(line, "US  US") // an empty field between two spaces
		}
		raw := bytes.Replace(k.local.Replace(line[2:]))
		if line[0] == '>' {
			if _, err := io.WriteString(k.c, raw); err != nil {
				k.t.Fatal(err)
			}
			continue
		}
		got := "+\x1e"
		for got == "+\x1e" { // a busy machine
			var err error
			if got, err = k.r.ReadString('\x1e'); err != nil {
				k.t.Fatal(err)
			}
		}
		if got != raw {
			k.t.Errorf("the server says %q, the page %q", got, raw)
		}
	}
}
