package wire

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"gust/internal/daemon/gitstatusd"
	"gust/internal/daemon/live"
	"gust/internal/pure/summary"
)

// fill sets every field of a struct to a value of its own, with bytes that are no
// UTF-8 in texts, so that a field left behind on the way shows.
func fill(v reflect.Value) {
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.String:
			f.SetString(v.Type().Field(i).Name + "\xff\x01é")
		case reflect.Int:
			f.SetInt(int64(i + 1))
		case reflect.Bool:
			f.SetBool(true)
		default:
			panic("a field of a new kind: " + v.Type().Field(i).Name)
		}
	}
}

func TestSummaryTravels(t *testing.T) {
	var want summary.Summary
	fill(reflect.ValueOf(&want).Elem())
	want.Commit = strings.Repeat("a", 40)
	line := AppendLine(nil, AnswerOf("x", &want, nil))
	if n := bytes.Count(line, []byte("\n")); n != 1 || line[len(line)-1] != '\n' {
		t.Errorf("%d line feeds in %q, want one at the end", n, line)
	}
	var a Answer
	if err := json.Unmarshal(line, &a); err != nil {
		t.Fatal(err)
	}
	got, err := a.Summary()
	if err != nil || *got != want {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
	}
}

func TestNoSummary(t *testing.T) {
	line := string(AppendLine(nil, AnswerOf("", nil, nil)))
	if want := `{"complete":true,"repository":false}` + "\n"; line != want {
		t.Errorf("got %q, want %q", line, want)
	}
	partial := false
	a := Answer{Complete: &partial, Repository: new(bool), State: &State{}}
	*a.Repository = true
	if s, err := a.Summary(); s != nil || err == nil {
		t.Errorf("an incomplete answer gave %v, %v; want an error", s, err)
	}
}

func TestRequestTravels(t *testing.T) {
	limits := live.Limits{}
	fill(reflect.ValueOf(&limits).Elem())
	for _, want := range []live.Request{
		{Dir: "/a", Env: []string{}, Limits: limits},
		{Dir: "/a\xff", GitDir: true, NoIndex: true, Env: []string{"GIT_DIR=/x\xfe", "HOME=/h"}, Limits: live.Limits{Staged: -1}},
		{Dir: "/", Env: []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=a.b", "GIT_CONFIG_VALUE_0="}},
	} {
		r := Request{ID: "1", Op: Query}
		r.SetLive(want)
		parsed, err := ParseRequest(AppendLine(nil, r))
		if err != nil {
			t.Fatal(err)
		}
		got, err := parsed.Live()
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
		}
	}
}

func TestEnvironment(t *testing.T) {
	r := Request{Op: Query}
	r.SetEnviron([]string{"EDITOR=vi", "GIT_DIR=/old", "GIT_EDITOR=vi", "GIT_DIR=/new", "nothing", "GIT_ATTR_NOSYSTEM=1",
		"GIT_TRACE=1", "HOME=\xff", "HOME=/h", "LD_PRELOAD=/x", "GIT_WORK_TREE=/a", "GIT_WORK_TREE=\xfe"})
	want := []string{"GIT_ATTR_NOSYSTEM=1", "GIT_DIR=/new", "GIT_WORK_TREE=\xfe", "HOME=/h"}
	if got := r.Environ(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	r = Request{Env: Env{"PATH": "/x", "GIT_SSH_COMMAND": "rm"}, EnvBytes: Bytes{"LD_PRELOAD": []byte("x")}}
	if got := r.Environ(); len(got) != 0 {
		t.Errorf("a request brought in %q", got)
	}
}

func TestDefaultLimits(t *testing.T) {
	r, err := ParseRequest([]byte(`{"op":"query","dir":"/","limits":{"staged":3},"later":{"x":1}}`))
	if err != nil {
		t.Fatal(err)
	}
	q, err := r.Live()
	want := live.Limits{Staged: 3, Unstaged: -1, Conflicted: -1, Untracked: -1, DirtyMaxIndexSize: -1, SummaryLen: 256}
	if err != nil || q.Limits != want {
		t.Errorf("got %+v, %v; want %+v", q.Limits, err, want)
	}
}

func TestBadRequests(t *testing.T) {
	for _, line := range []string{"", "null", "[]", "{}", `{"op":1}`, `{"op":""}`, "\x00\xff", `{"op":"query"`, `{"op":"query"}{}`, strings.Repeat("[", 100000)} {
		if r, err := ParseRequest([]byte(line)); err == nil {
			t.Errorf("ParseRequest(%.40q) = %+v, want an error", line, r)
		}
	}
	for _, r := range []Request{{}, {Dir: "relative"}, {Dir: "./x"}, {DirBytes: []byte{}}} {
		if q, err := r.Live(); err == nil {
			t.Errorf("%+v asks %+v, want an error", r, q)
		}
	}
}

func TestBuildOrder(t *testing.T) {
	builds := []Build{{"a", 1}, {"b", 1}, {"a", 2}, {"", 3}}
	for i, a := range builds {
		for k, b := range builds {
			if got := a.NewerThan(b); got != (i > k) {
				t.Errorf("%+v newer than %+v: %v", a, b, got)
			}
		}
	}
	if b := ThisBuild(); b.Version == "" || b.Time <= 0 {
		t.Errorf("this build is %+v", b)
	}
}

func TestMessages(t *testing.T) {
	for l := gitstatusd.Debug; l <= gitstatusd.Fatal; l++ {
		record := AppendMessage(nil, l, "a\x1e\nb")
		level, text, err := ParseMessage(record[1:])
		if record[0] != Message || err != nil || level != l || text != "a??b" {
			t.Errorf("%q: %v, %q, %v", record, level, text, err)
		}
	}
	for _, bad := range []string{"", "x", "\x1e"} {
		if _, _, err := ParseMessage([]byte(bad)); err == nil {
			t.Errorf("ParseMessage(%q) succeeded", bad)
		}
	}
}

func FuzzParseRequest(f *testing.F) {
	f.Add([]byte(`{"id":"1","op":"query","dir":"/x","limits":{"staged":-1},"env":{"GIT_DIR":"/y"},"deadline_ms":20}`))
	f.Add([]byte(`{"op":"relay","extended":true,"ttl":-1}`))
	f.Add([]byte(`{"op":"query","dir_bytes":"L/8=","env_bytes":{"HOME":"/w=="}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := ParseRequest(line)
		if err != nil {
			return
		}
		again, err := ParseRequest(AppendLine(nil, r))
		if err != nil {
			t.Fatalf("%q came back as an error: %v", line, err)
		}
		a, errA := r.Live()
		b, errB := again.Live()
		if (errA == nil) != (errB == nil) || !reflect.DeepEqual(a, b) {
			t.Errorf("%q asks %+v, %v; on the way it became %+v, %v", line, a, errA, b, errB)
		}
	})
}

// BenchmarkJSON and BenchmarkRecords are what the two forms of one question and
// answer cost, all four ends together: why a relay has records.
func BenchmarkJSON(b *testing.B) {
	q := live.Request{Dir: "/home/me/src/project", Env: []string{"HOME=/home/me", "XDG_CONFIG_HOME=/home/me/.config"}, Limits: live.Limits{Staged: -1}}
	s := &summary.Summary{WorkDir: "/home/me/src/project", Commit: strings.Repeat("a", 40), Branch: "main", RemoteURL: "https://example.org/x", Subject: "Say why"}
	for b.Loop() {
		r := Request{ID: "1", Op: Query}
		r.SetLive(q)
		parsed, err := ParseRequest(AppendLine(nil, r))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := parsed.Live(); err != nil {
			b.Fatal(err)
		}
		var a Answer
		if err := json.Unmarshal(AppendLine(nil, AnswerOf("1", s, nil)), &a); err != nil {
			b.Fatal(err)
		}
		got, err := a.Summary()
		if err != nil {
			b.Fatal(err)
		}
		gitstatusd.AppendResponse(nil, "1", got)
	}
}

func BenchmarkRecords(b *testing.B) {
	s := &summary.Summary{WorkDir: "/home/me/src/project", Commit: strings.Repeat("a", 40), Branch: "main", RemoteURL: "https://example.org/x", Subject: "Say why"}
	raw := []byte("1\x1f/home/me/src/project\x1f0")
	var out []byte
	for b.Loop() {
		q, err := gitstatusd.ParseRequest(raw, false)
		if err != nil {
			b.Fatal(err)
		}
		out = gitstatusd.AppendResponse(append(out[:0], Response), q.ID, s)
	}
}
