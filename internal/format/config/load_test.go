package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gust/internal/gittest"
)

// loaded prints a Config as git config --list --show-scope --show-origin -z does.
func loaded(c *Config) string {
	var b strings.Builder
	for _, e := range c.All() {
		origin := "command line:"
		if e.File != "" {
			origin = "file:" + e.File
		}
		fmt.Fprintf(&b, "%s %s %q", e.Scope, origin, e.Key)
		if !e.NoValue {
			fmt.Fprintf(&b, " %q", e.Value)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// asked returns the same from git, and whether git succeeded.
func asked(t *testing.T, e *gittest.Env, dir string) (string, error) {
	t.Helper()
	cmd := e.Command(dir, "config", "--list", "--show-scope", "--show-origin", "-z")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, stderr.String())
	}
	var b strings.Builder
	fields := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	for ; len(fields) >= 3; fields = fields[3:] {
		key, value, ok := strings.Cut(fields[2], "\n")
		origin := fields[1]
		if path, ok := strings.CutPrefix(origin, "file:"); ok && !filepath.IsAbs(path) {
			origin = "file:" + e.Path(dir) + "/" + path
		}
		fmt.Fprintf(&b, "%s %s %q", fields[0], origin, key)
		if ok {
			fmt.Fprintf(&b, " %q", value)
		}
		b.WriteByte('\n')
	}
	return b.String(), nil
}

// options returns what git would read for the repository in dir.
func options(e *gittest.Env, dir string) Options {
	root := e.Path(dir)
	o := Options{
		Global: []string{e.Home + "/.config/git/config", e.Home + "/.gitconfig"},
		Local:  root + "/.git/config", Home: e.Home, GitDir: root + "/.git",
		Env: make(map[string]string),
		Branch: func() string {
			data, err := os.ReadFile(root + "/.git/HEAD")
			if err != nil {
				return ""
			}
			name, _ := strings.CutPrefix(strings.TrimSpace(string(data)), "ref: ")
			return name
		},
	}
	for _, v := range e.Environ() {
		name, value, _ := strings.Cut(v, "=")
		o.Env[name] = value
	}
	return o
}

func TestLoadAgainstGit(t *testing.T) {
	tests := []struct {
		name   string
		home   map[string]string // files below the home, appended to .gitconfig's own
		repo   map[string]string // files below the repository; ".git/config" is appended to
		env    []string
		script string // run before, in the repository
		newest bool   // older gits differ
	}{
		{name: "plain"},
		{name: "xdg-before-home", home: map[string]string{".config/git/config": "[x]\ny=1\n", ".gitconfig": "[x]\ny=2\n"}},
		{name: "include-relative", repo: map[string]string{".git/config": "[include]\npath=inc\n[a]\nb=1\n", ".git/inc": "[c]\nd=2\n"}},
		{name: "include-up", repo: map[string]string{".git/config": "[include]\npath=../inc\n", "inc": "[c]\nd=2\n"}},
		{name: "include-missing", repo: map[string]string{".git/config": "[include]\npath=nothing\npath=\n[a]\nb=1\n"}},
		{name: "include-home", home: map[string]string{"inc": "[c]\nd=2\n"}, repo: map[string]string{".git/config": "[include]\npath=~/inc\n"}},
		{name: "include-home-itself", repo: map[string]string{".git/config": "[include]\npath=~\n"}},
		{name: "include-unknown-user", repo: map[string]string{".git/config": "[include]\npath=~no-such-user-xyz/inc\n"}},
		{name: "include-optional", newest: true, repo: map[string]string{".git/config": "[include]\npath=:(optional)inc\npath=:(optional)none\n[a]\nb=1\n", ".git/inc": "[c]\nd=2\n"}},
		{name: "include-colon", repo: map[string]string{".git/config": "[include]\npath=:inc\n[a]\nb=1\n", ".git/:inc": "[c]\nd=2\n"}},
		{name: "include-no-value", repo: map[string]string{".git/config": "[include]\npath\n"}},
		{name: "include-directory", repo: map[string]string{".git/config": "[include]\npath=refs\n"}},
		{name: "include-bad-syntax", repo: map[string]string{".git/config": "[include]\npath=inc\n", ".git/inc": "[c]\nd=2\n!\n"}},
		{name: "include-nested", repo: map[string]string{".git/config": "[include]\npath=inc\n", ".git/inc": "[include]\npath=sub/two\n", ".git/sub/two": "[include]\npath=three\n[x]\ny=2\n", ".git/sub/three": "[x]\ny=3\n"}},
		{name: "include-itself", repo: map[string]string{".git/config": "[include]\npath=config\n"}},
		{name: "include-itself-conditionally", repo: map[string]string{".git/config": "[include]\npath=config\n[includeif \"gitdir:/nowhere\"]\npath=config\n"}},
		{name: "include-through-link", script: "mkdir .git/sub; echo '[include]' >.git/sub/real; echo 'path=inc' >>.git/sub/real; printf '[in]\\nsub=1\\n' >.git/sub/inc; printf '[in]\\ngit=1\\n' >.git/inc; ln -s sub/real .git/link; git config include.path link"},
		{name: "include-twice", repo: map[string]string{".git/config": "[include]\npath=inc\npath=inc\n", ".git/inc": "[c]\nd=2\n"}},
		{name: "include-subsection", repo: map[string]string{".git/config": "[include \"x\"]\npath=inc\n[includeif]\npath=inc\n[includeif \"x\"]\npath=inc\n", ".git/inc": "[c]\nd=2\n"}},
		{name: "include-case", repo: map[string]string{".git/config": "[Include]\nPath=inc\n[includeIf \"gitdir:**/.git\"]\nPATH=inc2\n[includeif \"GITDIR:**/.git\"]\npath=inc\n", ".git/inc": "[c]\nd=2\n", ".git/inc2": "[c]\nd=3\n"}},
		{name: "include-global", home: map[string]string{".gitconfig": "[include]\npath=inc\n", "inc": "[include]\npath=.git/x\n[a]\nb=c\n"}},
		{name: "include-from-environment-relative", env: []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=include.path", "GIT_CONFIG_VALUE_0=inc"}},
		{name: "include-from-environment", home: map[string]string{"inc": "[a]\nb=c\n"}, env: []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=include.path", "GIT_CONFIG_VALUE_0=~/inc"}},
		{name: "environment", env: []string{"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=A.b.C", "GIT_CONFIG_VALUE_0=d e", "GIT_CONFIG_KEY_1=a.B", "GIT_CONFIG_VALUE_1=", "GIT_CONFIG_PARAMETERS='x.y=z' 'X.Y.Z'='it'\\''s' 'v.w'=  'p.q' 'r.s'=''"}},
		{name: "environment-count-empty", env: []string{"GIT_CONFIG_COUNT="}},
		{name: "environment-count-zero", env: []string{"GIT_CONFIG_COUNT=0"}},
		{name: "environment-count-bad", env: []string{"GIT_CONFIG_COUNT=1x"}},
		{name: "environment-count-negative", env: []string{"GIT_CONFIG_COUNT=-1"}},
		{name: "environment-count-large", env: []string{"GIT_CONFIG_COUNT=99999999999999999999"}},
		{name: "environment-count-spaced", env: []string{"GIT_CONFIG_COUNT= 1", "GIT_CONFIG_KEY_0=a.b", "GIT_CONFIG_VALUE_0=c"}},
		{name: "environment-count-space-after", env: []string{"GIT_CONFIG_COUNT=1 ", "GIT_CONFIG_KEY_0=a.b", "GIT_CONFIG_VALUE_0=c"}},
		{name: "environment-count-plus", env: []string{"GIT_CONFIG_COUNT=+1", "GIT_CONFIG_KEY_0=a.b", "GIT_CONFIG_VALUE_0=c"}},
		{name: "environment-key-missing", env: []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_VALUE_0=c"}},
		{name: "environment-value-missing", env: []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=a.b"}},
		{name: "environment-key-empty", env: []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=", "GIT_CONFIG_VALUE_0=c"}},
		{name: "environment-key-no-section", env: []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=a", "GIT_CONFIG_VALUE_0=c"}},
		{name: "environment-key-no-name", env: []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=a.", "GIT_CONFIG_VALUE_0=c"}},
		{name: "environment-key-dot-first", env: []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=.a", "GIT_CONFIG_VALUE_0=c"}},
		{name: "environment-key-digit", env: []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=1a.2b", "GIT_CONFIG_VALUE_0=c"}},
		{name: "environment-key-odd-subsection", env: []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=a.!_ =.b", "GIT_CONFIG_VALUE_0=c"}},
		{name: "environment-key-newline", env: []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=a.x\ny.b", "GIT_CONFIG_VALUE_0=c"}},
		{name: "parameters-bad-quote", env: []string{"GIT_CONFIG_PARAMETERS='a.b=c"}},
		{name: "parameters-unquoted", env: []string{"GIT_CONFIG_PARAMETERS=a.b=c"}},
		{name: "parameters-spaces", env: []string{"GIT_CONFIG_PARAMETERS=  'a.b=c'   'd.e=f'  "}},
		{name: "parameters-spaces-behind", env: []string{"GIT_CONFIG_PARAMETERS='a.b=c'   'd.e=f'\t'g.h'=\n'i.j'='k'  "}},
		{name: "parameters-joined", env: []string{"GIT_CONFIG_PARAMETERS='a.b=c''d.e=f'"}},
		{name: "parameters-key-spaces", newest: true, env: []string{"GIT_CONFIG_PARAMETERS=' a.b = c '"}},
		{name: "parameters-key-spaces-new", env: []string{"GIT_CONFIG_PARAMETERS=' a.b '='c'"}},
		{name: "parameters-exclamation", env: []string{"GIT_CONFIG_PARAMETERS='a.b'='c'\\!'d'"}},
		{name: "parameters-equals-in-subsection", env: []string{"GIT_CONFIG_PARAMETERS='a.x=y.b'='c'"}},
		{name: "parameters-equals-then-space", env: []string{"GIT_CONFIG_PARAMETERS='a.b'= 'c.d'"}},
		{name: "parameters-equals-then-letter", env: []string{"GIT_CONFIG_PARAMETERS='a.b'=c"}},
		{name: "parameters-empty-word", env: []string{"GIT_CONFIG_PARAMETERS=''"}},
		{name: "parameters-no-key", env: []string{"GIT_CONFIG_PARAMETERS='=c'"}},

		{name: "gitdir-absolute", repo: map[string]string{".git/config": "[includeif \"gitdir:@D@/r/.git\"]\npath=inc\n", ".git/inc": "[c]\nd=2\n"}},
		{name: "gitdir-slash", repo: map[string]string{".git/config": "[includeif \"gitdir:@D@/r/\"]\npath=inc\n", ".git/inc": "[c]\nd=2\n"}},
		{name: "gitdir-no-slash", repo: map[string]string{".git/config": "[includeif \"gitdir:@D@/r\"]\npath=inc\n", ".git/inc": "[c]\nd=2\n"}},
		{name: "gitdir-relative", repo: map[string]string{".git/config": "[includeif \"gitdir:r/\"]\npath=inc\n", ".git/inc": "[c]\nd=2\n"}},
		{name: "gitdir-relative-wild", repo: map[string]string{".git/config": "[includeif \"gitdir:?/.g*\"]\npath=inc\n", ".git/inc": "[c]\nd=2\n"}},
		{name: "gitdir-dot", repo: map[string]string{".git/config": "[includeif \"gitdir:./\"]\npath=inc\n", ".git/inc": "[c]\nd=2\n"}},
		{name: "gitdir-dot-global", home: map[string]string{".gitconfig": "[includeif \"gitdir:./\"]\npath=inc\n[includeif \"gitdir:./../w/\"]\npath=inc\n", "inc": "[c]\nd=2\n"}},
		{name: "gitdir-dot-environment", env: []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=includeif.gitdir:./.path", "GIT_CONFIG_VALUE_0=/nowhere"}},
		{name: "gitdir-tilde", repo: map[string]string{".git/config": "[includeif \"gitdir:~/\"]\npath=inc\n[includeif \"gitdir:~/../w/\"]\npath=inc\n", ".git/inc": "[c]\nd=2\n"}},
		{name: "gitdir-case", repo: map[string]string{".git/config": "[includeif \"gitdir:R/\"]\npath=inc\n[includeif \"gitdir/i:R/\"]\npath=inc2\n", ".git/inc": "[c]\nd=2\n", ".git/inc2": "[c]\nd=3\n"}},
		{name: "gitdir-case-dot", repo: map[string]string{".git/config": "[includeif \"gitdir/i:./\"]\npath=inc\n", ".git/inc": "[c]\nd=2\n"}},
		{name: "gitdir-empty", repo: map[string]string{".git/config": "[includeif \"gitdir:\"]\npath=inc\n[includeif \"gitdir\"]\npath=inc\n", ".git/inc": "[c]\nd=2\n"}},
		{name: "gitdir-stars", repo: map[string]string{".git/config": "[includeif \"gitdir:/**/r/**\"]\npath=inc\n[includeif \"gitdir:*\"]\npath=inc2\n[includeif \"gitdir:/*\"]\npath=inc2\n", ".git/inc": "[c]\nd=2\n", ".git/inc2": "[c]\nd=3\n"}},
		{name: "gitdir-regular-characters", repo: map[string]string{".git/config": "[includeif \"gitdir:**/[r]/.git\"]\npath=inc\n[includeif \"gitdir:\\\\r/\"]\npath=inc2\n", ".git/inc": "[c]\nd=2\n", ".git/inc2": "[c]\nd=3\n"}},
		{name: "onbranch", repo: map[string]string{".git/config": "[includeif \"onbranch:main\"]\npath=inc\n[includeif \"onbranch:ma*\"]\npath=inc\n[includeif \"onbranch:refs/heads/main\"]\npath=inc2\n[includeif \"onbranch:m/\"]\npath=inc2\n", ".git/inc": "[c]\nd=2\n", ".git/inc2": "[c]\nd=3\n"}},
		{name: "onbranch-slash", script: "git symbolic-ref HEAD refs/heads/a/b/c", repo: map[string]string{".git/config": "[includeif \"onbranch:a/\"]\npath=inc\n[includeif \"onbranch:a/*\"]\npath=inc2\n[includeif \"onbranch:**/c\"]\npath=inc3\n", ".git/inc": "[c]\nd=2\n", ".git/inc2": "[c]\nd=3\n", ".git/inc3": "[c]\nd=4\n"}},
		{name: "onbranch-other-namespace", script: "git symbolic-ref HEAD refs/other/main", repo: map[string]string{".git/config": "[includeif \"onbranch:**\"]\npath=inc\n", ".git/inc": "[c]\nd=2\n"}},
		{name: "hasconfig", repo: map[string]string{".git/config": "[includeif \"hasconfig:remote.*.url:https://x.org/**\"]\npath=inc\n[includeif \"hasconfig:remote.*.url:https://x.org/*\"]\npath=inc2\n[remote \"o\"]\nurl=https://x.org/a/b\n", ".git/inc": "[c]\nd=2\n", ".git/inc2": "[c]\nd=3\n"}},
		{name: "hasconfig-global", home: map[string]string{".gitconfig": "[includeif \"hasconfig:remote.*.url:g:**\"]\npath=inc\n", "inc": "[c]\nd=2\n"}, repo: map[string]string{".git/config": "[remote \"o\"]\nurl=g:a\n"}},
		{name: "hasconfig-sets-url", repo: map[string]string{".git/config": "[includeif \"hasconfig:remote.*.url:g:**\"]\npath=inc\n[remote \"o\"]\nurl=g:a\n", ".git/inc": "[remote \"x\"]\nurl=2\n"}},
		{name: "hasconfig-sets-url-deeper", repo: map[string]string{".git/config": "[includeif \"hasconfig:remote.*.url:g:**\"]\npath=inc\n[remote \"o\"]\nurl=g:a\n", ".git/inc": "[include]\npath=inc2\n", ".git/inc2": "[remote \"x\"]\nurl=2\n"}},
		{name: "hasconfig-not-met-sets-url", repo: map[string]string{".git/config": "[includeif \"hasconfig:remote.*.url:h:**\"]\npath=inc\n[remote \"o\"]\nurl=g:a\n", ".git/inc": "[remote \"x\"]\nurl=2\n"}},
		{name: "hasconfig-url-in-include", repo: map[string]string{".git/config": "[includeif \"hasconfig:remote.*.url:g:**\"]\npath=inc\n[include]\npath=inc2\n", ".git/inc": "[c]\nd=2\n", ".git/inc2": "[remote \"x\"]\nurl=g:2\n"}},
		{name: "hasconfig-environment", env: []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=remote.x.url", "GIT_CONFIG_VALUE_0=g:x"}, repo: map[string]string{".git/config": "[includeif \"hasconfig:remote.*.url:g:**\"]\npath=inc\n", ".git/inc": "[c]\nd=2\n"}},
		{name: "hasconfig-other-key", repo: map[string]string{".git/config": "[includeif \"hasconfig:remote.*.fetch:**\"]\npath=inc\n[includeif \"hasconfig:remote.o.url:**\"]\npath=inc\n[remote \"o\"]\nurl=g:a\nfetch=x\n", ".git/inc": "[c]\nd=2\n"}},
		{name: "hasconfig-trailing-slash", repo: map[string]string{".git/config": "[includeif \"hasconfig:remote.*.url:g:/\"]\npath=inc\n[remote \"o\"]\nurl=g:/a\n", ".git/inc": "[c]\nd=2\n"}},
		{name: "hasconfig-no-subsection-url", repo: map[string]string{".git/config": "[includeif \"hasconfig:remote.*.url:g\"]\npath=inc\n[remote]\nurl=g\n", ".git/inc": "[c]\nd=2\n"}},
		{name: "hasconfig-nested", repo: map[string]string{".git/config": "[includeif \"hasconfig:remote.*.url:g\"]\npath=inc\n[remote \"a\"]\nurl=g\n", ".git/inc": "[includeif \"hasconfig:remote.*.url:g\"]\npath=inc2\n", ".git/inc2": "[x]\ny=z\n"}},
		{name: "unknown-condition", repo: map[string]string{".git/config": "[includeif \"moon:full\"]\npath=inc\n", ".git/inc": "[c]\nd=2\n"}},
	}
	for _, g := range gittest.All(t) {
		template := gittest.New(t, g)
		template.Run(t, ".", "init", "-q", "r")
		for _, test := range tests {
			t.Run(g.String()+"/"+test.name, func(t *testing.T) {
				if test.newest && !g.AtLeast(2, 51) {
					t.Skipf("NOT TESTED with %s, which differs from newer versions", g)
				}
				e := gittest.New(t, g)
				if err := os.CopyFS(e.Path("r"), os.DirFS(template.Path("r"))); err != nil {
					t.Fatal(err)
				}
				for name, content := range test.home {
					appendFile(t, filepath.Join(e.Home, name), strings.ReplaceAll(content, "@D@", e.Dir))
				}
				for name, content := range test.repo {
					appendFile(t, filepath.Join(e.Path("r"), name), strings.ReplaceAll(content, "@D@", e.Dir))
				}
				if test.script != "" {
					e.Script(t, "cd r; "+test.script)
				}
				for _, v := range test.env {
					name, value, _ := strings.Cut(v, "=")
					e.Setenv(name, value)
				}
				want, wantErr := asked(t, e, "r")
				c, err := Load(options(e, "r"))
				if (err != nil) != (wantErr != nil) {
					t.Fatalf("Load: error %v; git says: %v", err, wantErr)
				}
				if err == nil && loaded(c) != want {
					t.Errorf("Load:\ngot:\n%swant:\n%s", loaded(c), want)
				}
			})
		}
	}
}

func appendFile(t *testing.T, path, content string) {
	t.Helper()
	old, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	write(t, filepath.Dir(path), map[string]string{filepath.Base(path): string(old) + content})
}
