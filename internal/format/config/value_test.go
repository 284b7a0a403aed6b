package config

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"gust/internal/gittest"
)

// typed asks git for x.y as a type; ok is false where git refuses.
func typed(e *gittest.Env, typ string) (string, bool) {
	out, err := e.Command(".", "config", "--file", "config", "--type="+typ, "--get", "x.y").Output()
	return strings.TrimSuffix(string(out), "\n"), err == nil
}

func TestValuesAgainstGit(t *testing.T) {
	values := []string{
		"", "true", "TRUE", "yes", "Yes", "on", "off", "no", "false", "False", "t", "y", "enable", "0", "1", "2", "-1", "00", "01", "08", "0x", "0x1f", "0X1F", "0o7", "1_000",
		"k", "1k", "1K", "2m", "3G", "1 k", "1kb", "1t", "-1k", "+5", "--5", "+-5", "- 5", " 5", "5 ", "5.0", "1e3", "2147483647", "2147483648", "-2147483648", "-2147483649", "4g",
		"9223372036854775807", "9223372036854775808", "-9223372036854775808", "8388608t", "9007199254740992k", "8589934591g", "8589934592g", "0k", "010k", "0x10k", "\t7", "x",
	}
	e := gittest.New(t, gittest.Newest(t))
	for _, value := range values {
		write(t, e.Dir, map[string]string{"config": "[x]\ny = \"" + value + "\"\n"})
		c, err := Load(Options{Local: e.Path("config")})
		if err != nil {
			t.Fatal(err)
		}
		want, wantOK := typed(e, "bool")
		b, set, err := c.Bool("x.y")
		if !set || (err == nil) != wantOK || wantOK && strconv.FormatBool(b) != want {
			t.Errorf("Bool of %q = %v, %v; git says %q, %v", value, b, err, want, wantOK)
		}
		want, wantOK = typed(e, "int")
		n, set, err := c.Int("x.y")
		if !set || (err == nil) != wantOK || wantOK && strconv.FormatInt(n, 10) != want {
			t.Errorf("Int of %q = %v, %v; git says %q, %v", value, n, err, want, wantOK)
		}
		var bad *ValueError
		if err != nil && (!errors.As(err, &bad) || bad.Entry.Line != 2 || bad.Entry.File != e.Path("config")) {
			t.Errorf("Int of %q: error %v, want a *ValueError with file and line", value, err)
		}
	}
}

func TestPathsAgainstGit(t *testing.T) {
	e := gittest.New(t, gittest.Newest(t))
	write(t, e.Home, map[string]string{"there": ""})
	for _, value := range []string{"", "a", "./a", "/a/b", "~", "~/", "~/a", "~/a/../b", "~root", "~root/x", "~no-such-user-xyz/a", "a~", ":(optional)~/there", ":(optional)~/missing", ":(optional)", ":(other)x"} {
		write(t, e.Dir, map[string]string{"config": "[x]\ny = \"" + value + "\"\n"})
		c, err := Load(Options{Local: e.Path("config"), Home: e.Home})
		if err != nil {
			t.Fatal(err)
		}
		want, wantOK := typed(e, "path")
		if !e.Git.AtLeast(2, 53) && strings.HasPrefix(value, ":(optional)") {
			t.Logf("NOT TESTED: %s does not know %s", e.Git, value)
			continue
		}
		path, set, err := c.Path("x.y")
		if (err == nil && set) != wantOK || wantOK && path != want {
			t.Errorf("Path of %q = %q, %v, %v; git says %q, %v", value, path, set, err, want, wantOK)
		}
	}
}

func TestNoValue(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c")
	write(t, filepath.Dir(path), map[string]string{"c": "[x]\ny\n"})
	c, err := Load(Options{Local: path})
	if err != nil {
		t.Fatal(err)
	}
	if v, set, err := c.Bool("X.Y"); !v || !set || err != nil {
		t.Errorf("Bool = %v, %v, %v, want true, true, nil", v, set, err)
	}
	if v, ok := c.Get("x.y"); v != "" || !ok {
		t.Errorf("Get = %q, %v, want \"\", true", v, ok)
	}
	if _, _, err := c.Int("x.y"); err == nil {
		t.Error("Int: no error")
	}
	if _, _, err := c.Path("x.y"); err == nil {
		t.Error("Path: no error")
	}
	if _, set, err := c.Bool("x.z"); set || err != nil {
		t.Errorf("Bool of an absent key = %v, %v", set, err)
	}
}

func TestLookups(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c")
	write(t, filepath.Dir(path), map[string]string{"c": "[A \"X.y\"]\nB=1\n[a \"z\"]\nb=2\n[a]\nb=3\n[a \"X.y\"]\nb=4\n[ab \"q\"]\nc=5\n[A.W]\nb=6\n"})
	c, err := Load(Options{Local: path})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(c.Subsections("A"), " "); got != "X.y z w" {
		t.Errorf("Subsections = %q, want \"X.y z w\"", got)
	}
	if got := strings.Join(c.GetAll("a.X.y.B"), " "); got != "1 4" {
		t.Errorf("GetAll = %q, want \"1 4\"", got)
	}
	if got, ok := c.Get("a.x.y.b"); ok {
		t.Errorf("Get with a subsection of another case = %q, want none", got)
	}
	if e, ok := c.Entry("a.b"); !ok || e.Value != "3" || e.Line != 6 || e.File != path || e.Scope != Local {
		t.Errorf("Entry = %+v, %v", e, ok)
	}
}

// untilUnchanged loads until the files are old enough to be believed: chtimes
// sets no ctime.
func untilUnchanged(t *testing.T, o Options) *Config {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		c, err := Load(o)
		if err != nil {
			t.Fatal(err)
		}
		if c.Unchanged() {
			return c
		}
		if time.Now().After(deadline) {
			t.Fatal("Unchanged stays false though nothing changes")
		}
	}
}

func TestUnchanged(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path := func(name string) string { return filepath.Join(dir, name) }
	branch := "refs/heads/main"
	o := Options{System: []string{path("system")}, Global: []string{path("global")}, Local: path("local"), GitDir: path("g"), Branch: func() string { return branch }}
	write(t, dir, map[string]string{
		"global": "[include]\npath=inc\n",
		"local":  "[includeif \"onbranch:side\"]\npath=side\n[includeif \"hasconfig:remote.*.url:x\"]\npath=has\n",
	})
	changes := []struct {
		name string
		do   func()
	}{
		{"system appears", func() { write(t, dir, map[string]string{"system": "[a]\nb=1\n"}) }},
		{"include appears", func() { write(t, dir, map[string]string{"inc": "[a]\nb=2\n"}) }},
		{"include changes", func() { write(t, dir, map[string]string{"inc": "[a]\nb=3\n"}) }},
		{"branch changes", func() { branch = "refs/heads/side" }},
		{"branch include appears", func() { write(t, dir, map[string]string{"side": "[remote \"r\"]\nurl=x\n"}) }},
		{"hasconfig include appears", func() { write(t, dir, map[string]string{"has": "[a]\nb=4\n"}) }},
		{"local vanishes", func() { os.Remove(path("local")) }},
		{"global is replaced", func() {
			write(t, dir, map[string]string{"new": "[include]\npath=inq\n"})
			os.Rename(path("new"), path("global"))
		}},
	}
	for _, change := range changes {
		c := untilUnchanged(t, o)
		change.do()
		if c.Unchanged() {
			t.Errorf("%s: Unchanged is still true", change.name)
		}
	}
}

// TestUnchangedSameTick writes twice within a clock tick: the second write must
// be seen though the stat is that of the first.
func TestUnchangedSameTick(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c")
	for i := range 200 {
		write(t, filepath.Dir(path), map[string]string{"c": "[x]\ny=a\n"})
		c, err := Load(Options{Local: path})
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Dir(path), map[string]string{"c": "[x]\ny=b\n"})
		if v, _ := c.Get("x.y"); v == "a" && c.Unchanged() {
			t.Fatalf("round %d: Unchanged after an edit", i)
		}
	}
}

// TestIncludeBounds makes includes that would cost 10^10 reads.
func TestIncludeBounds(t *testing.T) {
	dir := t.TempDir()
	for depth := range 11 {
		name := "f" + strconv.Itoa(depth)
		write(t, dir, map[string]string{name: strings.Repeat("[include]\npath=f"+strconv.Itoa(depth+1)+"\n", 10)})
	}
	_, err := Load(Options{Local: filepath.Join(dir, "f1")})
	var syntax *SyntaxError
	if !errors.As(err, &syntax) {
		t.Fatalf("Load: %v, want a *SyntaxError", err)
	}
}

func TestDevice(t *testing.T) {
	if _, err := os.Stat("/dev/null"); err != nil {
		t.Skip("there is no /dev/null here")
	}
	c, err := Load(Options{Global: []string{"/dev/null"}})
	if err != nil || len(c.All()) != 0 {
		t.Fatalf("Load of /dev/null: %v, %v", c, err)
	}
}
