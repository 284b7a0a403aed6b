package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestWhose says whose a command line is.
func TestWhose(t *testing.T) {
	for _, test := range []struct{ name, line, whose string }{
		{"gust", "init zsh", "gust"}, {"gust", "init", "git"}, {"gust", "init zsh --prompt=full", "gust"}, {"gust", "init -h", "gust"}, {"gust", "init --bare zsh2", "git"},
		{"gust", "init --prompt=x", "gust"}, {"git", "init zsh", "git"}, {"git", "version", "git"}, {"git", "", "git"}, {"git.exe", "help", "git"}, {"git", "-h", "git"},
		{"gust", "version", "gust"}, {"gust", "version --build-options", "git"}, {"gust", "--version", "git"}, {"gust", "help", "gust"}, {"gust", "help init", "gust"},
		{"gust", "help log", "git"}, {"gust", "help trust", "gust"}, {"gust", "log --help", "git"}, {"gust", "trust --list x y", "gust"}, {"gust", "commit -h", "git"},
		{"gust", "-C x trust", "git"}, {"git", "trust", "git"}, {"gust", "server stop", "gust"},
	} {
		whose := ""
		p := &Program{
			Args: strings.Fields(test.line), Name: test.name,
			HandOver: func(args []string, _ []byte) int { whose = "git"; return 0 },
			cold:     func(context.Context, *Program) int { whose = "gust"; return 0 },
		}
		Run(t.Context(), p)
		if whose != test.whose {
			t.Errorf("%s %s: it is %s's, want %s", test.name, test.line, whose, test.whose)
		}
	}
}

func TestParseGlobals(t *testing.T) {
	for _, test := range []struct{ line, want string }{
		{"status -s", "dir= env=[] status [-s]"},
		{"-C a -C b --no-pager status", "dir=a/b env=[] status []"},
		{"-C a -C /b -C _ status", "dir=/b/_ env=[] status []"},
		{"--git-dir=x --work-tree y --no-optional-locks describe", "dir= env=[GIT_DIR=x GIT_WORK_TREE=y GIT_OPTIONAL_LOCKS=0] describe []"},
		{"-c a.b=c'd! -c x.y status", `dir= env=[GIT_CONFIG_PARAMETERS='a.b'='c'\''d'\!'' GIT_CONFIG_PARAMETERS='x.y'=] status []`},
		{"-p status", ""}, {"-c a=b status", ""}, {"--git-dir", ""}, {"-C", ""}, {"--no-optional-locks=1 status", ""}, {"--exec-path", ""}, {"-C x", ""},
	} {
		g, ok := parseGlobals(strings.Fields(test.line))
		got := ""
		if ok {
			got = fmt.Sprintf("dir=%s env=%s %s %s", g.dir, g.env, g.command, g.args)
		}
		if got != test.want {
			t.Errorf("%s: got %q, want %q", test.line, got, test.want)
		}
	}
}

// TestGlobals applies them.
func TestGlobals(t *testing.T) {
	p := &Program{Env: []string{parametersEnv + "='a.b'='c'"}, Dir: func() (string, error) { return "/top", nil }}
	g, _ := parseGlobals([]string{"-C", "..", "-c", "d.e=f", "-c", "g.h", "--git-dir=.git", "status"})
	if err := p.apply(g); err != nil {
		t.Fatal(err)
	}
	if dir, _ := p.Dir(); dir != "/top/.." {
		t.Errorf("directory %s", dir)
	}
	if v, _ := p.lookup(parametersEnv); v != "'a.b'='c' 'd.e'='f' 'g.h'=" {
		t.Errorf("parameters %s", v)
	}
	if !slices.Contains(p.Env, "GIT_DIR=.git") {
		t.Errorf("environment %s", p.Env)
	}
}

// TestTraced hands over what git is to trace.
func TestTraced(t *testing.T) {
	for v, want := range map[string]bool{"GIT_TRACE=1": true, "GIT_TRACE2_EVENT=/x": true, "GIT_TRACE_SETUP=true": true, "GIT_TRACE=0": false, "GIT_TRACE=": false, "GIT_TRACE2=False": false, "GIT_DIR=x": false} {
		if got := traced([]string{"HOME=/", v}); got != want {
			t.Errorf("%s: %v", v, got)
		}
	}
	handed := false
	p := &Program{Args: []string{"describe"}, Env: []string{"GIT_TRACE=1"}, HandOver: func([]string, []byte) int { handed = true; return 0 }}
	if Run(t.Context(), p); !handed {
		t.Error("gust describe did not hand over")
	}
}
