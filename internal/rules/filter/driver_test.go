package filter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"gust/internal/pure/pktline"
)

// modeVariable makes this test binary a filter process instead; its value says
// how the process behaves.
const modeVariable = "GUST_TEST_FILTER"

func TestMain(m *testing.M) {
	if mode := os.Getenv(modeVariable); mode != "" {
		if err := serve(mode, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// serve is a filter process that writes the path and the upper-cased content.
// It refuses names that end in .no, gives up at those that end in .stop, and
// exits at those that end in .die.
func serve(mode string, in io.Reader, out io.Writer) error {
	r := pktline.NewReader(in)
	list := func() (lines []string, err error) {
		for {
			kind, payload, err := r.Next()
			if err != nil || kind == pktline.Flush {
				return lines, err
			}
			lines = append(lines, strings.TrimSuffix(string(payload), "\n"))
		}
	}
	send := func(lines ...string) {
		var b []byte
		for _, l := range lines {
			b = pktline.AppendLine(b, l+"\n")
		}
		out.Write(pktline.AppendFlush(b))
	}
	if mode == "hang" {
		_, err := io.Copy(io.Discard, in)
		return err
	}
	if greeting, err := list(); err != nil || len(greeting) != 2 || greeting[0] != "git-filter-client" {
		return fmt.Errorf("greeting is %q, %v", greeting, err)
	}
	if mode == "old" {
		send("git-filter-server", "version=1")
		return nil
	}
	send("git-filter-server", "version=2")
	if _, err := list(); err != nil {
		return err
	}
	if mode == "smudge-only" {
		send("capability=smudge")
	} else {
		send("capability=clean")
	}
	for {
		request, err := list()
		if err == io.EOF {
			return nil
		}
		if err != nil || len(request) != 2 || request[0] != "command=clean" {
			return fmt.Errorf("request is %q, %v", request, err)
		}
		path := strings.TrimPrefix(request[1], "pathname=")
		var content []byte
		for {
			kind, payload, err := r.Next()
			if err != nil {
				return err
			}
			if kind == pktline.Flush {
				break
			}
			content = append(content, payload...)
		}
		switch filepath.Ext(path) {
		case ".no":
			send("status=error")
			continue
		case ".stop":
			send("status=abort")
			continue
		case ".die":
			return errors.New("as asked")
		}
		send("status=success")
		out.Write(pktline.AppendContent(nil, append([]byte(path+"\n"), bytes.ToUpper(content)...)))
		if mode == "late-error" {
			send("status=error")
		} else {
			send()
		}
	}
}

// processCommand returns the command for this binary as a filter process.
func processCommand(t *testing.T, mode string) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return modeVariable + "=" + mode + " exec " + quote(exe)
}

// newTestRunner returns a Runner that a slow machine does not hurry.
func newTestRunner(dir string, env []string) *Runner {
	r := NewRunner(dir, env)
	r.timeLimit = 5 * time.Minute
	return r
}

// TestCommandAgainstGit runs commands through git and through a Runner.
func TestCommandAgainstGit(t *testing.T) {
	commands := map[string]string{
		"upper":     "tr a-z A-Z",
		"name":      "cat; echo %f '%%' %x",
		"fails":     "tr a-z A-Z; exit 3",
		"missing":   "gust-no-such-command",
		"no-read":   "echo constant",
		"empty":     "cat >/dev/null",
		"crlf":      `sed 's/$/\r/'`,
		"pwd":       "cat; test -f .gitattributes && echo root",
		"both":      "exit 1",
		"no-smudge": "",
	}
	s := &Settings{Drivers: map[string]Driver{}}
	var config []string
	var samples []sample
	for name, command := range commands {
		d := Driver{Clean: command, Trusted: true}
		config = append(config, "filter."+name+".smudge", "cat")
		if command != "" {
			config = append(config, "filter."+name+".clean", command)
		}
		if name == "both" {
			d.Process = processCommand(t, "on")
			config = append(config, "filter."+name+".process", d.Process)
		}
		s.Drivers[name] = d
		for i, content := range []string{"", "some text\n", "a\r\nb\r\n", strings.Repeat("x", 200_000)} {
			file := fmt.Sprintf("%s-it's-%d", name, i)
			for _, more := range []string{"", "-text"} {
				samples = append(samples, sample{file + more, strings.TrimSpace("filter=" + name + " text=auto " + more), []byte(content)})
			}
		}
	}
	compare(t, s, config, samples)
}

// TestProcessAgainstGit has git and a Runner talk to the same process program.
func TestProcessAgainstGit(t *testing.T) {
	for _, mode := range []string{"on", "smudge-only", "late-error"} {
		t.Run(mode, func(t *testing.T) {
			command := processCommand(t, mode)
			s := &Settings{Drivers: map[string]Driver{"p": {Process: command, Trusted: true}}}
			rng := rand.New(rand.NewPCG(1, 1))
			var samples []sample
			for i, name := range []string{"a", "b.no", "c", "d.die", "e", "f with space", "g.stop", "h", "i.die", "j"} {
				content := make([]byte, []int{0, 1, 10, pktline.MaxPayload, pktline.MaxPayload + 1, 3 * pktline.MaxPayload}[i%6])
				for i := range content {
					content[i] = "abc\n"[rng.IntN(4)]
				}
				samples = append(samples, sample{strings.ReplaceAll(name, " ", "?"), "filter=p", content})
			}
			compare(t, s, []string{"filter.p.process", command}, samples)
		})
	}
}

func TestRunnerFailures(t *testing.T) {
	tests := []struct {
		name   string
		driver Driver
		want   error // nil: passed over
	}{
		{"fails", Driver{Clean: "exit 1"}, nil},
		{"fails-required", Driver{Clean: "exit 1", Required: true}, errAny},
		{"no-command-required", Driver{Required: true}, ErrNoCommand},
		{"hangs", Driver{Clean: "exec cat /dev/zero >/dev/null"}, context.DeadlineExceeded},
		{"floods", Driver{Clean: "exec cat /dev/zero"}, ErrTooMuchOutput},
		{"process-old", Driver{Process: processCommand(t, "old")}, nil},
		{"process-old-required", Driver{Process: processCommand(t, "old"), Required: true}, ErrProtocol},
		{"process-hangs", Driver{Process: processCommand(t, "hang")}, context.DeadlineExceeded},
		{"process-is-none", Driver{Process: "echo hello"}, nil},
		{"process-is-none-required", Driver{Process: "echo hello", Required: true}, errAny},
		{"process-missing", Driver{Process: "gust-no-such-command"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newTestRunner(t.TempDir(), os.Environ())
			defer r.Close()
			r.maxOutput = 1 << 16
			if tt.want == context.DeadlineExceeded {
				r.timeLimit = 20 * time.Millisecond
			}
			tt.driver.Trusted = true
			s := &Settings{Runner: r, Drivers: map[string]Driver{"d": tt.driver}}
			p := planFor(s, "filter=d")
			src := []byte("content")
			for range 2 {
				got, err := p.Clean(context.Background(), "f", src, nil)
				switch {
				case tt.want == nil && (err != nil || string(got) != "content"):
					t.Errorf("%+v gives %q, %v, want the content", tt.driver, got, err)
				case tt.want != nil && (err == nil || tt.want != errAny && !errors.Is(err, tt.want)):
					t.Errorf("%+v gives %q, %v, want the error %v", tt.driver, got, err, tt.want)
				}
				var de *DriverError
				if err != nil && (!errors.As(err, &de) || de.Driver != "d" || de.Path != "f") {
					t.Errorf("%+v gives %v, which is no DriverError about d and f", tt.driver, err)
				}
			}
		})
	}
}

// errAny stands for an error that has no name.
var errAny = errors.New("any error")

// TestUntrustedIsNotRun is about the one rule that keeps an unpacked archive
// from running code.
func TestUntrustedIsNotRun(t *testing.T) {
	dir := t.TempDir()
	mark := filepath.Join(dir, "mark")
	r := newTestRunner(dir, os.Environ())
	defer r.Close()
	for _, d := range []Driver{{Clean: "touch " + quote(mark)}, {Process: "touch " + quote(mark)}, {Clean: "touch " + quote(mark), Required: true}} {
		for _, trusted := range []bool{false, true} {
			d.Trusted = trusted
			p := planFor(&Settings{Runner: r, Drivers: map[string]Driver{"d": d, "lfs": d}}, "filter=d")
			// The outcome does not matter here: whether it ran does.
			_, _ = p.Clean(context.Background(), "f", []byte("x"), nil)
			_, err := os.Stat(mark)
			if ran := err == nil; ran != trusted {
				t.Errorf("driver %+v was run: %v", d, ran)
			}
			os.Remove(mark)
		}
	}
}

func TestRunnerConcurrent(t *testing.T) {
	r := newTestRunner(t.TempDir(), os.Environ())
	s := &Settings{Runner: r, Drivers: map[string]Driver{"p": {Process: processCommand(t, "on"), Trusted: true, Required: true}}}
	p := planFor(s, "filter=p")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 20 {
				path := fmt.Sprintf("f%d", i)
				if got, err := p.Clean(context.Background(), path, []byte("a"), nil); err != nil || string(got) != path+"\nA" {
					t.Errorf("cleaning %s gives %q, %v", path, got, err)
				}
			}
		}()
	}
	wg.Wait()
	r.Close()
	if _, err := p.Clean(context.Background(), "f", []byte("a"), nil); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v, want ErrClosed", err)
	}
}

func TestRunnerCanceled(t *testing.T) {
	r := newTestRunner(t.TempDir(), os.Environ())
	defer r.Close()
	p := planFor(&Settings{Runner: r, Drivers: map[string]Driver{"d": {Clean: "cat", Trusted: true}}}, "filter=d")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := p.Clean(ctx, "f", []byte("a"), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("with a canceled context: %v", err)
	}
	// It is not the driver's fault: it goes on being used.
	if got, err := p.Clean(context.Background(), "f", []byte("a"), nil); err != nil || string(got) != "a" {
		t.Errorf("afterwards: %q, %v", got, err)
	}
}

// FuzzConversation plays any bytes to the client of the process protocol.
func FuzzConversation(f *testing.F) {
	var good bytes.Buffer
	request := pktline.AppendLine(nil, "git-filter-client\n")
	request = pktline.AppendFlush(request)
	serveSeed := func(mode, path string) []byte {
		good.Reset()
		in := pktline.AppendLine(nil, "git-filter-client\n")
		in = pktline.AppendFlush(pktline.AppendLine(in, "version=2\n"))
		in = pktline.AppendFlush(pktline.AppendLine(in, "capability=clean\n"))
		in = pktline.AppendLine(in, "command=clean\n")
		in = pktline.AppendFlush(pktline.AppendLine(in, "pathname="+path+"\n"))
		in = pktline.AppendContent(in, []byte("some content"))
		// A mode may end the conversation early; what was said is the seed.
		_ = serve(mode, bytes.NewReader(in), &good)
		return bytes.Clone(good.Bytes())
	}
	f.Add(serveSeed("on", "f"))
	f.Add(serveSeed("on", "f.no"))
	f.Add(serveSeed("on", "f.stop"))
	f.Add(serveSeed("late-error", "f"))
	f.Add(serveSeed("old", "f"))
	f.Add(request)
	f.Fuzz(func(t *testing.T, answer []byte) {
		c := newConversation(bytes.NewReader(answer), maxOutput)
		if err := c.begin(io.Discard); err != nil {
			return
		}
		for {
			out, err := c.clean("f", []byte("some content"))
			if err != nil {
				return
			}
			if len(out) > len(answer) {
				t.Errorf("%d bytes of answer give %d bytes of content", len(answer), len(out))
			}
		}
	})
}
