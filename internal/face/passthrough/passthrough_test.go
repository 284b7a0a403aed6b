package passthrough

import (
	"os"
	"path/filepath"
	"testing"
)

// TestKind looks at programs that are there.
func TestKind(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(t.TempDir(), "git")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	tests := map[string]kind{self: goProgram, script: other, script + "-missing": other, "/bin/sh": machine}
	for path, want := range tests {
		if got := kindOf(path); got != want {
			t.Errorf("%s is of kind %d, want %d", path, got, want)
		}
	}
	// The same of formats that this system does not run.
	for head, want := range map[string]kind{
		"\xcf\xfa\xed\xfe....__go_buildinfo": goProgram, "MZ....\xff Go build ID: \"": goProgram, "MZ....": machine, "": other, "__go_buildinfo": other,
	} {
		if got := kindOfHead([]byte(head)); got != want {
			t.Errorf("%q is of kind %d, want %d", head, got, want)
		}
	}
}
