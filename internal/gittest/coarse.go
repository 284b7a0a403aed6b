package gittest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// CoarseDir returns an empty directory on a file system that counts time in whole
// clock ticks or seconds, where a change may leave the times of a file as they
// were: an ext2 file system of 128-byte inodes in a file, else ramfs. It needs to
// mount; where that is not allowed, the log says what is not tested, and ok is
// false. The file system is gone when the test ends.
func CoarseDir(t testing.TB) (dir string, ok bool) {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(top, "coarse")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	image := filepath.Join(top, "image")
	script := `truncate -s 512M "$1" && mkfs.ext2 -q -F -I 128 -N 200000 "$1" && mount -o loop "$1" "$2"`
	first, err := exec.Command("sh", "-c", script, "sh", image, dir).CombinedOutput()
	if err != nil {
		if out, err := exec.Command("mount", "-t", "ramfs", "gust-test", dir).CombinedOutput(); err != nil {
			t.Logf("NOT TESTED on a file system with coarse times: cannot mount ext2 (%s) or ramfs (%s)", first, out)
			return "", false
		}
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v\n%s", err, out)
		}
	})
	return dir, true
}
