package repo

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"gust/internal/gittest"
)

// TestFormatAgainstGit asks whether git opens a repository whose config is
// lines. Formats are what the newest git takes them for.
func TestFormatAgainstGit(t *testing.T) {
	g := gittest.Newest(t)
	if !g.AtLeast(2, 51) {
		t.Skipf("NOT TESTED: %s does not know all extensions", g)
	}
	values := map[string][]string{
		"objectFormat":        {"sha1", "sha256", "SHA1", "md5", "", "-"},
		"compatObjectFormat":  {"sha1", "sha256", "md5", "", "-"},
		"refStorage":          {"files", "reftable", "Files", "other", "", "-", "files://x", "reftable:///tmp/x"},
		"worktreeConfig":      {"true", "false", "perhaps", "", "-", "2"},
		"partialClone":        {"origin", "", "-"},
		"preciousObjects":     {"true", "false", "perhaps", "", "-"},
		"relativeWorktrees":   {"true", "false", "perhaps", "-"},
		"submodulePathConfig": {"true", "false", "perhaps", "-"},
		"noop":                {"true", "perhaps", "-"},
		"noop-v1":             {"true", "perhaps", "-"},
		"unknown":             {"true", "", "-"},
		"sub.unknown":         {"true"},
	}
	var configs []string
	for _, version := range []string{"0", "1", "2", "-1", "-2", "x", "", "1k", "0x1", "-", "none"} {
		line := "\trepositoryFormatVersion = " + version + "\n"
		switch version {
		case "-":
			line = "\trepositoryFormatVersion\n"
		case "none":
			line = ""
		}
		configs = append(configs, "[core]\n"+line)
		for name, all := range values {
			for _, value := range all {
				if version != "0" && version != "1" && version != "none" && value != "true" {
					continue
				}
				header := "[extensions]\n"
				if sub, _, ok := strings.Cut(name, "."); ok {
					header = fmt.Sprintf("[extensions %q]\n", sub)
				}
				ext := "\t" + name[strings.IndexByte(name, '.')+1:]
				if value != "-" {
					ext += " = " + value
				}
				configs = append(configs, "[core]\n"+line+header+ext+"\n", header+ext+"\n[core]\n"+line)
			}
		}
	}
	configs = append(configs,
		"[core]\nrepositoryformatversion=1\n[extensions]\nfoo=1\nbar=2\n",
		"[core]\nrepositoryformatversion=0\n[extensions]\nfoo=1\nobjectformat=sha1\n",
		"[core]\nrepositoryformatversion=2\nrepositoryformatversion=0\n",
		"[core]\nrepositoryformatversion=1\n[extensions]\nobjectformat=sha1\nobjectformat=sha1\n",
		"[core]\nrepositoryformatversion=1\n[extensions]\nrefstorage=files\nrefstorage=files\n",
	)
	e := gittest.New(t, g)
	e.Script(t, "git init -q --ref-format=files r")
	for _, content := range configs {
		e.Script(t, "cat >r/.git/config <<'EOF'\n"+content+"EOF\n")
		out, wantErr := e.Command("r", "rev-parse", "--show-object-format", "--show-ref-format").CombinedOutput()
		if strings.Contains(string(out), "requires Rust") {
			continue // a git built without Rust refuses what others read
		}
		env := EnvFrom(e.Environ())
		loc, err := Locate(e.Path("r"), false, env)
		if err != nil {
			t.Fatalf("%q: Locate: %v", content, err)
		}
		r, err := Open(loc, env)
		if (err == nil) != (wantErr == nil) {
			t.Errorf("%q: Open: error %v; git says: %v %s", content, err, wantErr, out)
			continue
		}
		if err == nil {
			if got := r.Algo.String() + "\n" + r.RefFormat + "\n"; got != string(out) {
				t.Errorf("%q: Open: %q; git says %q", content, got, out)
			}
		}
	}
}

func TestExtensionError(t *testing.T) {
	tests := []struct {
		version string
		names   string
		v1Only  bool
	}{
		{"1", "frob other", false},
		{"0", "objectformat", true},
	}
	for _, test := range tests {
		e := gittest.New(t, gittest.System(t))
		e.Script(t, "git init -q r; git -C r config core.repositoryFormatVersion "+test.version+"; for x in "+test.names+"; do git config -f r/.git/config extensions.$x sha1; done")
		loc, err := Locate(e.Path("r"), false, EnvFrom(e.Environ()))
		if err != nil {
			t.Fatal(err)
		}
		_, err = Open(loc, EnvFrom(e.Environ()))
		var ext *ExtensionError
		if !errors.As(err, &ext) || strings.Join(ext.Names, " ") != test.names || ext.V1Only != test.v1Only {
			t.Errorf("version %s, extensions %s: Open: %v", test.version, test.names, err)
		}
	}
}
