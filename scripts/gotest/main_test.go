package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestFollow runs the real go command on a module with a package of each kind.
func TestFollow(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":           "module m\n\ngo 1.26\n",
		"good/a.go":        "package good\n",
		"good/a_test.go":   "package good\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) { t.Run(\"sub\", func(t *testing.T) {}) }\n\nfunc TestS(t *testing.T) { t.Skip(\"no shell here\") }\n",
		"bad/a_test.go":    "package bad\n\nimport \"testing\"\n\nfunc TestB(t *testing.T) { t.Error(\"planted\") }\n\nfunc TestC(t *testing.T) {}\n",
		"build/a_test.go":  "package build\n\nvar x int = \"not a number\"\n",
		"panics/a_test.go": "package panics\n\nimport (\"os\"; \"testing\")\n\nfunc TestMain(*testing.M) { os.Exit(3) }\n",
		"none/a.go":        "package none\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "test", "-json", "./...")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	out, _ := cmd.Output() // fails: two of the tests do
	var text bytes.Buffer
	res, err := follow(bytes.NewReader(out), &text)
	if err != nil {
		t.Fatal(err)
	}
	res.print(&text)
	for _, want := range []string{
		"ok  \tm/good", "planted", "FAIL\tm/bad", "not a number", "FAIL\tm/build", "FAIL\tm/panics", "?   \tm/none",
		"SKIPPED m/good TestS: a_test.go:7: no shell here",
		"\n3 passed, 3 failed, 1 skipped in 5 packages\n",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the summary lacks %q:\n%s", want, text.String())
		}
	}
	if strings.Contains(text.String(), "--- PASS") {
		t.Errorf("the summary holds output of passed tests:\n%s", text.String())
	}
}

func TestFollowCopiesWhatIsNoEvent(t *testing.T) {
	var text bytes.Buffer
	if _, err := follow(strings.NewReader("go: cannot find x\n{\"Action\":\"start\"}\nlast"), &text); err != nil {
		t.Fatal(err)
	}
	if text.String() != "go: cannot find x\nlast" {
		t.Errorf("got %q", text.String())
	}
}
