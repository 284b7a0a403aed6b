package watch

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestShadow keeps a copy of a tree current by marks alone, while two goroutines
// change the tree at random, and compares it with the tree whenever they pause:
// right after the last change, with one Take.
func TestShadow(t *testing.T) {
	rounds := 20
	if testing.Short() {
		rounds = 5
	}
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			p, w := newWatcher(t, Options{})
			s := &shadow{t: t, w: w, root: t.TempDir(), dirs: map[Node]*shadowDir{}, rand: rand.New(rand.NewPCG(seed, 1))}
			s.top = s.read("", nil)
			for round := range rounds {
				s.round(seed, uint64(round))
				s.take()
				s.compare(round)
				if t.Failed() {
					return
				}
			}
			if s.seen < 20*rounds {
				t.Errorf("only %d marks: the changes come to nothing", s.seen)
			}
			w.Reset()
			if n := p.Stats().Watches; n != 0 {
				t.Errorf("%d watches are left after Reset", n)
			}
		})
	}
}

type shadow struct {
	t    *testing.T
	w    *Watcher
	root string
	rand *rand.Rand
	dirs map[Node]*shadowDir
	next Node
	top  Node
	log  []string // of the marks since the last comparison
	seen int      // marks in all
}

type shadowDir struct {
	name   string
	parent *shadowDir
	node   Node
	ino    uint64
	files  map[string]string // what their stat says
	kids   map[string]*shadowDir
}

func (d *shadowDir) path() string {
	if d.parent == nil {
		return ""
	}
	return filepath.Join(d.parent.path(), d.name)
}

// round makes random changes, and takes while they are made.
func (s *shadow) round(seed, round uint64) {
	var wg sync.WaitGroup
	for worker := range uint64(2) {
		m := &mutator{root: s.root, rand: rand.New(rand.NewPCG(seed, round*2+worker))}
		wg.Go(func() {
			for range 40 {
				m.mutate()
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	for {
		select {
		case <-done:
			return
		default:
			s.take()
			if s.rand.IntN(3) == 0 {
				s.renumber()
			}
		}
	}
}

// read watches and lists the directory d in parent, and all below it. It returns
// the node of d, or of nothing if d is not there.
func (s *shadow) read(name string, parent *shadowDir) Node {
	d := &shadowDir{name: name, parent: parent, node: s.next, files: map[string]string{}, kids: map[string]*shadowDir{}}
	s.next++
	fd, err := unix.Open(filepath.Join(s.root, d.path()), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return d.node // it vanished: that is, or will be, marked in parent
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		s.t.Fatal(err)
	}
	d.ino = st.Ino
	mustAdd(s.t, s.w, fd, d.node)
	s.dirs[d.node] = d
	if parent != nil {
		parent.kids[name] = d
	}
	names, err := f.Readdirnames(-1)
	if err != nil && !os.IsNotExist(err) {
		s.t.Fatal(err)
	}
	for _, name := range names {
		s.look(d, name)
	}
	return d.node
}

// look brings one name in d up to date.
func (s *shadow) look(d *shadowDir, name string) {
	info, err := os.Lstat(filepath.Join(s.root, d.path(), name))
	kid := d.kids[name]
	delete(d.files, name)
	if kid != nil && (err != nil || !info.IsDir() || inode(info) != kid.ino) {
		s.drop(kid)
		kid = nil
	}
	switch {
	case err != nil:
	case !info.IsDir():
		d.files[name] = describe(info)
	case kid == nil:
		s.read(name, d)
	}
}

// drop forgets d and all below it.
func (s *shadow) drop(d *shadowDir) {
	for _, kid := range d.kids {
		s.drop(kid)
	}
	s.w.Remove(d.node)
	delete(s.dirs, d.node)
	if d.parent != nil && d.parent.kids[d.name] == d {
		delete(d.parent.kids, d.name)
	}
}

// take applies the marks. A directory that is gone is dropped first, and its name
// looked at again: it may be there, moved away and back, or known already.
func (s *shadow) take() {
	marks, whole := s.w.Take(nil)
	if !whole {
		s.t.Fatal("events were lost")
	}
	for _, m := range marks {
		s.log = append(s.log, m.String())
		s.seen++
		if d := s.dirs[m.Node]; d != nil && m.Change&Gone != 0 && d.parent != nil {
			s.drop(d)
			s.look(d.parent, d.name)
		}
	}
	for _, m := range marks {
		d := s.dirs[m.Node]
		switch {
		case d == nil:
		case m.Name != "":
			s.look(d, m.Name)
		case m.Change&All != 0:
			names := slices.Concat(slices.Collect(maps.Keys(d.files)), slices.Collect(maps.Keys(d.kids)))
			entries, _ := os.ReadDir(filepath.Join(s.root, d.path()))
			for _, e := range entries {
				names = append(names, e.Name())
			}
			for _, name := range names {
				s.look(d, name)
			}
		}
	}
}

// renumber gives all directories new numbers, as if an index was read.
func (s *shadow) renumber() {
	to := map[Node]Node{}
	dirs := map[Node]*shadowDir{}
	for i, node := range s.rand.Perm(len(s.dirs)) {
		old := slices.Sorted(maps.Keys(s.dirs))[i]
		to[old] = Node(node)
		dirs[Node(node)] = s.dirs[old]
	}
	for node, d := range dirs {
		d.node = node
	}
	s.dirs, s.next = dirs, Node(len(dirs))
	s.top = to[s.top]
	s.w.Renumber(func(old Node) (Node, bool) {
		node, ok := to[old]
		return node, ok
	}, nil)
	s.log = append(s.log, "renumber")
}

func (s *shadow) compare(round int) {
	got, want := map[string]string{}, map[string]string{}
	for _, d := range s.dirs {
		got[d.path()] = "directory"
		for name, text := range d.files {
			got[filepath.Join(d.path(), name)] = text
		}
	}
	err := filepath.WalkDir(s.root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		rel := strings.TrimPrefix(strings.TrimPrefix(path, s.root), "/")
		if want[rel] = "directory"; !info.IsDir() {
			want[rel] = describe(info)
		}
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	for path := range maps.Keys(want) {
		if got[path] != want[path] {
			s.t.Errorf("round %d: '%s' is %q, and known as %q", round, path, want[path], got[path])
		}
	}
	for path := range maps.Keys(got) {
		if want[path] == "" {
			s.t.Errorf("round %d: '%s' is known as %q, and is not there", round, path, got[path])
		}
	}
	if n := s.w.Len(); n != len(s.dirs) {
		s.t.Errorf("round %d: %d nodes are watched, %d are known", round, n, len(s.dirs))
	}
	if s.t.Failed() {
		s.t.Logf("marks since the last comparison:\n%s", strings.Join(s.log, "\n"))
	}
	s.log = nil
}

func inode(info fs.FileInfo) uint64 { return info.Sys().(*syscall.Stat_t).Ino }

func describe(info fs.FileInfo) string {
	return fmt.Sprint(info.Mode(), inode(info), info.Size(), info.ModTime().UnixNano())
}

// A mutator changes a tree at random. Most of what it tries is possible.
type mutator struct {
	root string
	rand *rand.Rand
}

// name returns a path of one to four components.
func (m *mutator) name() string {
	path := m.root
	for range 1 + m.rand.IntN(4) {
		path = filepath.Join(path, string(rune('a'+m.rand.IntN(4))))
	}
	return path
}

func (m *mutator) mutate() {
	switch path := m.name(); m.rand.IntN(10) {
	case 0, 1:
		os.MkdirAll(path, 0o777)
	case 2, 3:
		os.MkdirAll(filepath.Dir(path), 0o777)
		os.WriteFile(path, []byte(fmt.Sprint(m.rand.Uint32())), 0o666)
	case 4:
		if f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0); err == nil {
			f.WriteString("more")
			f.Close()
		}
	case 5:
		os.Remove(path)
	case 6:
		if m.rand.IntN(3) == 0 {
			os.RemoveAll(path)
		}
	case 7:
		os.Rename(path, m.name())
	case 8:
		unix.Renameat2(unix.AT_FDCWD, path, unix.AT_FDCWD, m.name(), unix.RENAME_EXCHANGE)
	case 9:
		if m.rand.IntN(2) == 0 {
			os.Symlink("a", path)
		} else if f, err := os.OpenFile(path, os.O_WRONLY|unix.O_NOFOLLOW, 0); err == nil {
			f.Chmod(0o600 | os.FileMode(m.rand.IntN(64)))
			f.Close()
		}
	}
}
