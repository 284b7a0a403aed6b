package filestat

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestSettled(t *testing.T) {
	const now = 1_700_000_000_000_000_000
	at := func(ns int64) Stat {
		return Stat{MtimeSec: ns / 1e9, MtimeNsec: uint32(ns % 1e9), CtimeSec: ns / 1e9, CtimeNsec: uint32(ns % 1e9)}
	}
	tests := []struct {
		name string
		age  int64
		want bool
	}{
		{"now", 0, false},
		{"within-a-tick", Tick - 1, false},
		{"older-than-a-tick", Tick + 1, true},
		{"whole-second-within-the-coarse-tick", 1e9, false},
		{"whole-second-older", 3e9, true},
		{"in-the-future", -5e9 - 1, false},
	}
	for _, tt := range tests {
		st := at(now - tt.age)
		if got := st.Settled(now); got != tt.want {
			t.Errorf("%s: Settled = %v, want %v", tt.name, got, tt.want)
		}
	}
	old, young := at(now-1e10+1), at(now-1)
	old.CtimeSec, old.CtimeNsec = young.CtimeSec, young.CtimeNsec
	if old.Settled(now) {
		t.Error("a young ctime beside an old mtime is believed")
	}
}

// age makes path's change old enough to be believed; the ctime cannot be set, so
// the test waits until the file system's clock has moved on.
func age(t *testing.T, path string) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; {
		var st Stat
		if err := Of(&st, path); err != nil {
			t.Fatal(err)
		}
		if st.Settled(time.Now().UnixNano()) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("'%s' never settles: %+v", path, st)
		}
		time.Sleep(time.Millisecond)
	}
}

func TestSignature(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	absent := Sign(path)
	if !absent.Absent() || !absent.Matches(path) {
		t.Error("an absent file does not match its signature")
	}
	if err := os.WriteFile(path, []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	if absent.Matches(path) {
		t.Error("a file that appeared goes unnoticed")
	}
	age(t, path)
	s := Sign(path)
	if !s.Matches(path) {
		t.Error("an unchanged file does not match")
	}
	// Same size, mtime restored: the ctime tells.
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("b"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if s.Matches(path) {
		t.Error("a change of the same size goes unnoticed")
	}
	if s = Sign(path); s.Matches(path) {
		t.Error("a signature younger than the clock tick is believed")
	}
	var none Signature
	if none.Matches(path) || none.Matches(path+"x") {
		t.Error("the zero signature matches")
	}
}

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if _, sig, err := ReadFile(path, 10); !IsAbsent(err) || !sig.Absent() {
		t.Errorf("missing file: %v, absent %v", err, sig.Absent())
	}
	if err := os.WriteFile(path, []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, _, err := ReadFile(path, 10); err != nil || string(data) != "0123456789" {
		t.Errorf("ReadFile = %q, %v", data, err)
	}
	if _, _, err := ReadFile(path, 9); err == nil {
		t.Error("a file over the limit is read")
	}
	if _, _, err := ReadFile(dir, 10); err == nil {
		t.Error("a directory is read")
	}
}
