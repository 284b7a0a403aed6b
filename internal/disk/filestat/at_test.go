//go:build unix

package filestat

import (
	"os"
	"testing"
)

func TestAtAllocs(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.WriteFile(dir+"/name", []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	var st, want Stat
	hot := false
	if n := testing.AllocsPerRun(100, func() {
		hot = !hot
		if err := At(&st, int(f.Fd()), "name\x00", hot); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("At allocates %v times", n)
	}
	if err := Of(&want, dir+"/name"); err != nil || st != want {
		t.Errorf("At = %+v, Of = %+v, %v", st, want, err)
	}
	if err := At(&st, int(f.Fd()), "missing\x00", true); !IsAbsent(err) {
		t.Errorf("At(missing) = %v", err)
	}
}
