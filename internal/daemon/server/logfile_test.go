package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gust/internal/daemon/gitstatusd"
)

func TestLogFile(t *testing.T) {
	const limit = 1000
	path := filepath.Join(t.TempDir(), "state", "gust", "server.log")
	opened := 0
	f, err := openLogFile(path, limit, func(*os.File) { opened++ })
	if err != nil {
		t.Fatal(err)
	}
	log := NewLog(f, gitstatusd.Info)
	for i := range 100 {
		log.Printf(gitstatusd.Info, "line %d\nof \x1b[31mtext", i)
		log.Printf(gitstatusd.Debug, "not this")
		for _, name := range []string{path, path + ".old"} {
			if info, err := os.Stat(name); err == nil && (info.Size() > limit || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/') {
				t.Fatalf("after line %d, %s is %v with %d bytes", i, name, info.Mode(), info.Size())
			}
		}
	}
	f.Close()
	log.Printf(gitstatusd.Info, "after its end") // nobody is left to tell
	old, err := os.ReadFile(path + ".old")
	if err != nil {
		t.Fatal(err)
	}
	last, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all := string(old) + string(last)
	if !strings.HasSuffix(all, "line 99?of ?[31mtext\n") || strings.Contains(all, "not this") || strings.Contains(all, "its end") || opened < 3 {
		t.Errorf("after %d files, the log is\n%s", opened, all)
	}
	// What was there before counts.
	if err := os.WriteFile(path, make([]byte, limit), 0o600); err != nil {
		t.Fatal(err)
	}
	if f, err = openLogFile(path, limit, nil); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write([]byte("new\n")); err != nil {
		t.Fatal(err)
	}
	if last, err = os.ReadFile(path); err != nil || string(last) != "new\n" {
		t.Errorf("behind a full file: %q, %v", last, err)
	}
	if _, err := openLogFile(filepath.Join(path, "x"), limit, nil); err == nil {
		t.Error("a log below a file was opened")
	}
}

func TestLogPath(t *testing.T) {
	for _, tt := range []struct {
		env  []string
		want string
	}{
		{nil, ""},
		{[]string{"HOME=/h"}, "/h/.local/state/gust/server.log"},
		{[]string{"HOME=/h", "XDG_STATE_HOME=/s"}, "/s/gust/server.log"},
		{[]string{"HOME=/h", "XDG_STATE_HOME=s"}, "/h/.local/state/gust/server.log"},
		{[]string{"HOME=h", "XDG_STATE_HOME="}, ""},
	} {
		if got := LogPath(Lookup(tt.env)); filepath.ToSlash(got) != tt.want {
			t.Errorf("LogPath with %q is %q, want %q", tt.env, got, tt.want)
		}
	}
}

func TestProcessArgs(t *testing.T) {
	for _, args := range [][]string{nil, {"-v"}, {"x", Argument}} {
		if o, ok := ProcessArgs(args, nil); ok {
			t.Errorf("%q makes a server: %+v", args, o)
		}
	}
	o, ok := ProcessArgs([]string{Argument, "--idle-exit=3s"}, []string{"A=b"})
	if !ok || o.IdleExit.Seconds() != 3 || o.Foreground || len(o.Env) != 1 {
		t.Errorf("got %+v, %v", o, ok)
	}
}
