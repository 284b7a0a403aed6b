package gitstatusd

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"gust/internal/daemon/live"
	"gust/internal/pure/summary"
)

func TestParseRequest(t *testing.T) {
	tests := []struct {
		name, in string
		extended bool
		want     Request
		bad      bool
	}{
		{name: "plain", in: "id\x1f/dir", want: Request{ID: "id", Dir: "/dir"}},
		{name: "empty-id", in: "\x1f/dir", want: Request{Dir: "/dir"}},
		{name: "flag-0", in: "id\x1f/dir\x1f0", want: Request{ID: "id", Dir: "/dir"}},
		{name: "flag-1", in: "id\x1f/dir\x1f1", want: Request{ID: "id", Dir: "/dir", NoIndex: true}},
		{name: "git-dir", in: "id\x1f:/r/.git", want: Request{ID: "id", Dir: "/r/.git", GitDir: true}},
		{name: "hello", in: "}hello\x1f", want: Request{ID: "}hello", Hello: true}},
		{name: "hello-with-directory", in: "}hello\x1f/dir", want: Request{ID: "}hello", Dir: "/dir"}},
		{name: "newline-in-directory", in: "id\x1f/a\nb", want: Request{ID: "id", Dir: "/a\nb"}},
		{name: "empty", in: "", bad: true},
		{name: "no-separator", in: "id", bad: true},
		{name: "flag-2", in: "id\x1f/dir\x1f2", bad: true},
		{name: "empty-flag", in: "id\x1f/dir\x1f", bad: true},
		{name: "too-many-fields", in: "id\x1f/dir\x1f0\x1fA=b", bad: true},
		{name: "variables", extended: true, in: "id\x1f/dir\x1f0\x1fGIT_DIR=/x\x1fA=a%1Eb%1fc%25", want: Request{ID: "id", Dir: "/dir", Env: []string{"GIT_DIR=/x", "A=a\x1eb\x1fc%"}}},
		{name: "variable-without-name", extended: true, in: "id\x1f/dir\x1f0\x1f=x", bad: true},
		{name: "variable-without-value", extended: true, in: "id\x1f/dir\x1f0\x1fA", bad: true},
		{name: "bad-percent-code", extended: true, in: "id\x1f/dir\x1f0\x1fA=%4", bad: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseRequest([]byte(tt.in), tt.extended)
			if (err != nil) != tt.bad {
				t.Fatalf("ParseRequest(%q) error = %v, want an error: %v", tt.in, err, tt.bad)
			}
			if err == nil && !reflect.DeepEqual(got, tt.want) {
				t.Errorf("ParseRequest(%q) = %+v, want %+v", tt.in, got, tt.want)
			}
		})
	}
}

func TestAppendResponse(t *testing.T) {
	if got, want := string(AppendResponse(nil, "a\x01b", nil)), "a?b\x1f0\x1e"; got != want {
		t.Errorf("no repository: %q, want %q", got, want)
	}
	s := &summary.Summary{
		WorkDir: "/w", Commit: "c0", Branch: "b\x7f\tr", UpstreamBranch: "u", RemoteName: "o", RemoteURL: "url", Action: "merge",
		IndexSize: 1, Staged: 2, Unstaged: 3, Conflicted: 4, Untracked: 5, Ahead: 6, Behind: 7, Stashes: 8, Tag: "t",
		UnstagedDeleted: 9, StagedNew: 10, StagedDeleted: 11, PushRemoteName: "p", PushRemoteURL: "purl", PushAhead: 12, PushBehind: 13,
		SkipWorktree: 14, AssumeUnchanged: 15, Encoding: "latin1", Subject: "sübject",
	}
	want := strings.Join([]string{"id", "1", "/w", "c0", "b??r", "u", "o", "url", "merge", "1", "2", "3", "4", "5", "6", "7", "8", "t",
		"9", "10", "11", "p", "purl", "12", "13", "14", "15", "latin1", "sübject"}, "\x1f") + "\x1e"
	if got := string(AppendResponse(nil, "id", s)); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestAppendResponseAllocs(t *testing.T) {
	s := &summary.Summary{WorkDir: "/w", Subject: "subject", IndexSize: 300000}
	buf := make([]byte, 0, 1024)
	if n := testing.AllocsPerRun(100, func() { AppendResponse(buf, "id", s) }); n != 0 {
		t.Errorf("AppendResponse allocates %v times", n)
	}
}

func TestParseOptions(t *testing.T) {
	with := func(change func(*Options)) Options {
		o := defaults()
		change(&o)
		return o
	}
	tests := []struct {
		name string
		args []string
		want Options
		bad  bool
	}{
		{name: "none", want: defaults()},
		{name: "cluster", args: []string{"-eUs5"}, want: with(func(o *Options) {
			o.Limits.RecurseUntracked, o.Limits.IgnoreStatusShowUntracked, o.Limits.Staged = true, true, 5
		})},
		{name: "separate-negative", args: []string{"-s", "-1", "-u", "-1"}, want: with(func(o *Options) { o.Limits.Staged, o.Limits.Unstaged = -1, -1 })},
		{name: "long-equals", args: []string{"--num-threads=4"}, want: with(func(o *Options) { o.Threads = 4 })},
		{name: "long-separate", args: []string{"--parent-pid", "7"}, want: with(func(o *Options) { o.ParentPID = 7 })},
		{name: "abbreviated", args: []string{"--num=4"}, want: with(func(o *Options) { o.Threads = 4 })},
		{name: "ttl-never", args: []string{"-r", "-1"}, want: with(func(o *Options) { o.TTL = 0 })},
		{name: "ttl-zero", args: []string{"-r0"}, want: with(func(o *Options) { o.TTL = 1 })},
		{name: "ttl", args: []string{"-r60"}, want: with(func(o *Options) { o.TTL = time.Minute })},
		{name: "level", args: []string{"-v", "FATAL"}, want: with(func(o *Options) { o.Level = Fatal })},
		{name: "glob", args: []string{"-G", "v1.5.*"}, want: with(func(o *Options) { o.VersionGlob = "v1.5.*" })},
		{name: "end", args: []string{"-e", "--"}, want: with(func(o *Options) { o.Limits.RecurseUntracked = true })},
		{name: "zero-threads", args: []string{"-t0"}, bad: true},
		{name: "level-lower-case", args: []string{"-v", "info"}, bad: true},
		{name: "not-a-number", args: []string{"-s", "1x"}, bad: true},
		{name: "empty-number", args: []string{"--max-num-staged="}, bad: true},
		{name: "too-large", args: []string{"-s", "99999999999"}, bad: true},
		{name: "missing-value", args: []string{"-s"}, bad: true},
		{name: "unknown-short", args: []string{"-X"}, bad: true},
		{name: "unknown-long", args: []string{"--nope"}, bad: true},
		{name: "ambiguous", args: []string{"--max-num=1"}, bad: true},
		{name: "value-for-flag", args: []string{"--version=1"}, bad: true},
		{name: "positional", args: []string{"x"}, bad: true},
		{name: "positional-after-end", args: []string{"--", "-e"}, bad: true},
		{name: "lone-dash", args: []string{"-"}, bad: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseOptions(tt.args)
			if (err != nil) != tt.bad {
				t.Fatalf("ParseOptions(%q) error = %v, want an error: %v", tt.args, err, tt.bad)
			}
			if err == nil && got != tt.want {
				t.Errorf("ParseOptions(%q)\ngot  %+v\nwant %+v", tt.args, got, tt.want)
			}
		})
	}
}

func TestMatchVersion(t *testing.T) {
	for glob, want := range map[string]bool{
		"*": true, "v1.5.4": true, "v1.5.5": true, "v1.5.*": true, "v1.0.0": true, "v1.[0-4].*": true,
		"": false, "v2.*": false, "v1.5.6": false, "1.5.5": false, "v1.6.0": false,
	} {
		if got := MatchVersion(glob); got != want {
			t.Errorf("MatchVersion(%q) = %v, want %v", glob, got, want)
		}
	}
}

func FuzzParseRequest(f *testing.F) {
	f.Add([]byte("id\x1f/dir\x1f1"), false)
	f.Add([]byte("}hello\x1f"), false)
	f.Add([]byte("id\x1f:/r\x1f0\x1fGIT_WORK_TREE=%25"), true)
	f.Fuzz(func(t *testing.T, data []byte, extended bool) {
		q, err := ParseRequest(data, extended)
		if err != nil {
			return
		}
		if !strings.HasPrefix(string(data), q.ID+"\x1f") {
			t.Errorf("ID %q is not the beginning of %q", q.ID, data)
		}
		if len(q.Env) > 0 && !extended {
			t.Errorf("variables in a classic request: %q", data)
		}
	})
}

// The options are values: two daemons with the same command line are alike.
var _ = live.Limits{} == live.Limits{}
