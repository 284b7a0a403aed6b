package watch

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestScripts runs testdata/*.txt: an operation on a line, and after "take" the
// marks that are expected, indented, in any order. The operations are in script.run.
func TestScripts(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			s := newScript(t)
			lines := strings.Split(string(data), "\n")
			takes := 0
			for i := 0; i < len(lines); i++ {
				line, _, _ := strings.Cut(lines[i], "#")
				f := strings.Fields(line)
				if len(f) == 0 {
					continue
				}
				if f[0] != "take" {
					if err := s.run(f); err != nil {
						t.Fatalf("%s:%d: %s: %v", path, i+1, line, err)
					}
					continue
				}
				at := i + 1
				var want []string
				for ; i+1 < len(lines) && strings.HasPrefix(lines[i+1], "\t"); i++ {
					want = append(want, strings.TrimSpace(lines[i+1]))
				}
				slices.Sort(want)
				if got := s.take(); !slices.Equal(got, want) {
					t.Errorf("%s:%d: take =\n\t%s\nwant\n\t%s", path, at, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
				}
				takes++
			}
			if takes == 0 {
				t.Errorf("%s takes nothing", path)
			}
		})
	}
}

// A script is a directory with a Watcher.
type script struct {
	t       *testing.T
	root    string
	pool    *Pool
	w       *Watcher
	ignored sync.Map // of keys; asked from the Pool's goroutine
	dst     []Mark
}

func newScript(t *testing.T) *script {
	s := &script{t: t, root: t.TempDir()}
	s.pool, s.w = newWatcher(t, Options{Ignore: s.ignore})
	return s
}

func newWatcher(t *testing.T, o Options) (*Pool, *Watcher) {
	t.Helper()
	p := NewPool(PoolOptions{})
	t.Cleanup(p.Close)
	w, err := New(p, o)
	if err != nil {
		t.Fatal(err)
	}
	return p, w
}

func (s *script) ignore(node Node, name []byte) bool {
	_, ok := s.ignored.Load(key{node, string(name)})
	return ok
}

func (s *script) path(name string) string { return filepath.Join(s.root, name) }

// run runs one operation.
func (s *script) run(f []string) error {
	f = append(f, "", "")
	path := s.path(f[1])
	switch f[0] {
	case "mkdir": // and its parents
		return os.MkdirAll(path, 0o777)
	case "write":
		return os.WriteFile(path, []byte(f[2]), 0o666)
	case "append":
		return s.open(path, os.O_APPEND, func(file *os.File) error { _, err := file.WriteString(f[2]); return err })
	case "read":
		_, err := os.ReadFile(path)
		return err
	case "list":
		_, err := os.ReadDir(path)
		return err
	case "mmap":
		return s.open(path, 0, writeMapped)
	case "unlinked": // write to a file that has no name anymore
		return s.open(path, 0, func(file *os.File) error {
			if err := os.Remove(path); err != nil {
				return err
			}
			_, err := file.WriteString("x")
			return err
		})
	case "truncate":
		return os.Truncate(path, 0)
	case "touch":
		return os.Chtimes(path, time.Unix(1, 0), time.Unix(1, 0))
	case "chmod":
		mode, err := strconv.ParseUint(f[2], 8, 32)
		if err != nil {
			return err
		}
		return os.Chmod(path, os.FileMode(mode))
	case "rm":
		return os.Remove(path)
	case "rmr":
		return os.RemoveAll(path)
	case "mv":
		return os.Rename(path, s.path(f[2]))
	case "swap":
		return unix.Renameat2(unix.AT_FDCWD, path, unix.AT_FDCWD, s.path(f[2]), unix.RENAME_EXCHANGE)
	case "link":
		return os.Link(path, s.path(f[2]))
	case "symlink":
		return os.Symlink(f[1], s.path(f[2]))
	}
	return s.control(f)
}

// control runs an operation on the Watcher.
func (s *script) control(f []string) error {
	number := func(text string) Node {
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			s.t.Fatal(err)
		}
		return Node(n)
	}
	switch f[0] {
	case "watch":
		dir, err := os.Open(s.path(f[1]))
		if err != nil {
			return err
		}
		defer dir.Close()
		return s.w.Add(int(dir.Fd()), number(f[2]))
	case "unwatch":
		s.w.Remove(number(f[1]))
	case "ignore":
		s.ignored.Store(key{number(f[1]), f[2]}, true)
	case "renumber": // old:new, or old: to drop it; numbers left out stay
		to := map[Node]string{}
		for _, pair := range f[1:] {
			if old, node, ok := strings.Cut(pair, ":"); ok {
				to[number(old)] = node
			}
		}
		s.w.Renumber(func(old Node) (Node, bool) {
			node, ok := to[old]
			if !ok {
				return old, true
			}
			if node == "" {
				return 0, false
			}
			return number(node), true
		}, s.ignore)
	case "reset":
		s.w.Reset()
	case "watches": // expects that many in the kernel
		if n := s.pool.Stats().Watches; Node(n) != number(f[1]) {
			return fmt.Errorf("%d watches", n)
		}
	default:
		return fmt.Errorf("no such operation")
	}
	return nil
}

func (s *script) open(path string, flag int, do func(*os.File) error) error {
	file, err := os.OpenFile(path, os.O_RDWR|flag, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	return do(file)
}

func writeMapped(file *os.File) error {
	data, err := unix.Mmap(int(file.Fd()), 0, 1, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	data[0]++
	return unix.Munmap(data)
}

// take returns the marks as text, sorted.
func (s *script) take() []string {
	var whole bool
	s.dst, whole = s.w.Take(s.dst[:0])
	if !whole {
		return []string{"lost"}
	}
	var got []string
	for _, m := range s.dst {
		got = append(got, m.String())
	}
	slices.Sort(got)
	return got
}

func (m Mark) String() string {
	name := m.Name
	if name == "" {
		name = "."
	}
	var bits []string
	for i, bit := range []string{"content", "names", "dir", "attributes", "all", "gone"} {
		if m.Change&(1<<i) != 0 {
			bits = append(bits, bit)
		}
	}
	return fmt.Sprintf("%d %s %s", m.Node, name, strings.Join(bits, ","))
}
