package socket

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func lookup(env map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		v, ok := env[name]
		return v, ok
	}
}

// short returns a new directory with a short name.
func short(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "gust")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func TestLocate(t *testing.T) {
	if userID() < 0 {
		if _, err := Locate(lookup(nil)); err != ErrUnsupported {
			t.Errorf("got %v, want ErrUnsupported", err)
		}
		return
	}
	mine := short(t)
	file := filepath.Join(mine, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	long := filepath.Join(mine, strings.Repeat("long", 40))
	other := filepath.Join(mine, strings.Repeat("longer", 30))
	for _, dir := range []string{long, other} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	tmp := "/tmp/gust-" + strconv.Itoa(os.Geteuid())
	for _, tt := range []struct {
		name string
		env  map[string]string
		dir  string
	}{
		{"nothing", nil, tmp},
		{"runtime-dir", map[string]string{"XDG_RUNTIME_DIR": mine, "TMPDIR": "/var/tmp"}, mine + "/gust"},
		{"runtime-dir-relative", map[string]string{"XDG_RUNTIME_DIR": "run"}, tmp},
		{"runtime-dir-missing", map[string]string{"XDG_RUNTIME_DIR": mine + "/none"}, tmp},
		{"runtime-dir-file", map[string]string{"XDG_RUNTIME_DIR": file}, tmp},
		{"tmpdir", map[string]string{"TMPDIR": "/var/tmp"}, "/var/tmp/gust-" + strconv.Itoa(os.Geteuid())},
		{"tmpdir-empty", map[string]string{"TMPDIR": ""}, tmp},
		{"runtime-dir-long", map[string]string{"XDG_RUNTIME_DIR": long}, tmp},
		{"tmpdir-long", map[string]string{"TMPDIR": long}, tmp},
	} {
		p, err := Locate(lookup(tt.env))
		if err != nil || p.Dir != tt.dir || filepath.Dir(p.Socket) != tt.dir || len(p.Socket) > maxPath {
			t.Errorf("%s: got %+v, %v; want a socket in %s", tt.name, p, err, tt.dir)
		}
	}
	sockets := map[string]string{}
	for _, dir := range []string{"", long, other} {
		p, err := Locate(lookup(map[string]string{"XDG_RUNTIME_DIR": dir}))
		if err != nil {
			t.Fatal(err)
		}
		if before, ok := sockets[p.Socket]; ok {
			t.Errorf("%q and %q share %s", before, dir, p.Socket)
		}
		sockets[p.Socket] = dir
	}
}
