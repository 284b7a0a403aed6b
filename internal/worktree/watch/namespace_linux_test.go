package watch

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// inNamespace runs the calling test again, in a process with user and mount
// namespaces of its own, where it may mount file systems and set limits; it
// returns true there.
func inNamespace(t *testing.T) bool {
	t.Helper()
	const key = "GUST_WATCH_TEST_NAMESPACE"
	if os.Getenv(key) == t.Name() {
		return true
	}
	cmd := exec.Command("/proc/self/exe", "-test.v", "-test.count=1", "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), key+"="+t.Name())
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Start()
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EINVAL) {
		t.Skipf("NOT TESTED: this system lets no user make a namespace: %v", err)
	}
	if err == nil {
		err = cmd.Wait()
	}
	if err != nil || !strings.Contains(out.String(), "--- PASS: "+t.Name()+" ") {
		t.Errorf("in a namespace: %v\n%s", err, out.String())
	}
	return false
}

func mount(t *testing.T, source, target, kind string, flags uintptr) {
	t.Helper()
	if err := unix.Mount(source, target, kind, flags, ""); err != nil {
		t.Fatal(err)
	}
}

func TestMounts(t *testing.T) {
	if !inNamespace(t) {
		return
	}
	dir := t.TempDir()
	mount(t, "none", dir, "tmpfs", 0)
	defer unix.Unmount(dir, unix.MNT_DETACH)
	table, err := OpenMountTable()
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	last := table.Generation()
	changed := func(want bool, when string) {
		t.Helper()
		now := table.Generation()
		if (now != last) != want {
			t.Errorf("%s: the mount table changed: %v", when, now != last)
		}
		last = now
	}
	changed(false, "at the start")
	a, b, in := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "in")
	for _, path := range []string{a, b, in} {
		mustMkdir(t, path)
	}
	changed(false, "after making directories")
	p, w := newWatcher(t, Options{})

	// Bind mounts: two paths, one descriptor.
	mount(t, a, b, "", unix.MS_BIND)
	changed(true, "after a bind mount")
	changed(false, "after that")
	mustAddPath(t, w, a, 1)
	mustAddPath(t, w, b, 2)
	if n := p.Stats().Watches; n != 1 {
		t.Errorf("%d watches of one directory", n)
	}
	mustMkdir(t, filepath.Join(b, "d"))
	wantMarks(t, w, Mark{1, "", Names}, Mark{1, "d", Names | Dir}, Mark{2, "", Names}, Mark{2, "d", Names | Dir})
	w.Remove(1)
	mustMkdir(t, filepath.Join(a, "e"))
	wantMarks(t, w, Mark{2, "", Names}, Mark{2, "e", Names | Dir})

	// Mounting over a watched directory raises no event: the table tells.
	mount(t, "none", a, "tmpfs", 0)
	changed(true, "after mounting over a watched directory")
	wantMarks(t, w)

	// Unmounting loses everything.
	mount(t, "none", in, "tmpfs", 0)
	changed(true, "after mounting")
	mustAddPath(t, w, in, 3)
	d, err := os.Open(in)
	if err != nil {
		t.Fatal(err)
	}
	if !Watchable(int(d.Fd())) {
		t.Error("tmpfs is not watchable")
	}
	d.Close()
	if err := unix.Unmount(in, 0); err != nil {
		t.Fatal(err)
	}
	changed(true, "after unmounting")
	if marks, whole := w.Take(nil); whole {
		t.Errorf("Take = %v after unmounting", marks)
	}
	wantMarks(t, w)
	if s := p.Stats(); s.Watches != 1 || w.Len() != 1 {
		t.Errorf("%d watches, %d nodes are left", s.Watches, w.Len())
	}
	w.Close() // before its file system goes
}

func TestSystemLimits(t *testing.T) {
	if !inNamespace(t) {
		return
	}
	set := func(name, value string) {
		t.Helper()
		if err := os.WriteFile("/proc/sys/user/"+name, []byte(value), 0); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	set("max_inotify_watches", "10")
	p, w := newWatcher(t, Options{})
	if n := p.Stats().Budget; n != 5 {
		t.Errorf("the budget is %d, want half of 10", n)
	}
	add := func(w *Watcher, want int, wantLimit string, wantErr error) {
		t.Helper()
		var limit *LimitError
		for i := 0; ; i++ {
			path := filepath.Join(dir, string(rune('a'+i)))
			mustMkdir(t, path)
			err := w.AddPath(path, Node(i))
			if err == nil && i < 100 {
				continue
			}
			if !errors.As(err, &limit) || limit.Limit != wantLimit || limit.Err != wantErr || i != want {
				t.Errorf("%d directories are watched, then Add = %v, want %d and '%s'", i, err, want, wantLimit)
			}
			break
		}
		if _, whole := w.Take(nil); whole {
			t.Error("Take is whole")
		}
		w.Reset()
		if err := w.AddPath(dir, 1); err != nil {
			t.Errorf("Add after Reset = %v", err)
		}
		wantMarks(t, w)
	}
	add(w, 5, "budget", nil)
	p.Close() // waits until the kernel has the instance back, which polling may still hold

	q := NewPool(PoolOptions{Budget: 1000})
	defer q.Close()
	set("max_inotify_instances", "1")
	w, err := New(q, Options{})
	if err != nil {
		t.Fatal(err)
	}
	add(w, 10, "max_user_watches", unix.ENOSPC)
	second, err := New(q, Options{})
	if err != nil || second.in != w.in {
		t.Errorf("New with one instance for all: %v", err)
	}
	r := NewPool(PoolOptions{})
	defer r.Close()
	var limit *LimitError
	if _, err := New(r, Options{}); !errors.As(err, &limit) || limit.Limit != "max_user_instances" || !errors.Is(err, unix.EMFILE) {
		t.Errorf("New without any instance: %v", err)
	}
}
