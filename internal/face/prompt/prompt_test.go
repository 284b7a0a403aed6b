package prompt

import (
	"strings"
	"testing"
	"unicode/utf8"

	"gust/internal/pure/summary"
)

// style returns the Style of an environment.
func style(vars map[string]string) *Style {
	return NewStyle(func(name string) (string, bool) {
		v, ok := vars[name]
		return v, ok
	})
}

// everything has something to say in every part.
func everything() *summary.Summary {
	return &summary.Summary{
		Branch: "main", Commit: "1a2b3c4d5e6f", Behind: 1, Ahead: 2, PushBehind: 3, PushAhead: 4, Stashes: 5,
		Action: "rebase-i 3/7", Conflicted: 6, Staged: 7, Unstaged: 8, Untracked: 9, IndexSize: 10,
	}
}

func TestAppend(t *testing.T) {
	with := func(f func(s *summary.Summary)) *summary.Summary {
		s := &summary.Summary{Branch: "main", Commit: "1a2b3c4d5e6f"}
		f(s)
		return s
	}
	tests := []struct {
		name string
		s    *summary.Summary
		vars map[string]string
		want string
	}{
		{"everything", everything(), nil, "main ⇣1⇡2 ⇠3⇢4 *5 rebase-i 3/7 ~6 +7 !8 ?9"},
		{"clean", with(func(*summary.Summary) {}), nil, "main"},
		{"ahead", with(func(s *summary.Summary) { s.Ahead = 2 }), nil, "main ⇡2"},
		{"push-behind", with(func(s *summary.Summary) { s.PushBehind = 2 }), nil, "main ⇠2"},
		{"tag", with(func(s *summary.Summary) { s.Branch, s.Tag = "", "v1.0" }), nil, "#v1.0"},
		{"branch-before-tag", with(func(s *summary.Summary) { s.Tag = "v1.0" }), nil, "main"},
		{"detached", with(func(s *summary.Summary) { s.Branch = "" }), nil, "@1a2b3c4d"},
		{"control", with(func(s *summary.Summary) { s.Branch = "a\x01\u009bb\x7fc\xff" }), nil, "a??b?c\xff"},
		{"long", with(func(s *summary.Summary) { s.Branch = strings.Repeat("a", 20) + strings.Repeat("b", 20) }), nil,
			strings.Repeat("a", 16) + "…" + strings.Repeat("b", 15)},
		{"long-enough", with(func(s *summary.Summary) { s.Branch = strings.Repeat("ä", 32) }), nil, strings.Repeat("ä", 32)},
		{"invalid-long", with(func(s *summary.Summary) { s.Branch = strings.Repeat("\xff", 9) }), map[string]string{"GUST_MAX_LENGTH": "5"}, "\xff\xff…\xff\xff"},
		{"ascii", everything(), map[string]string{"GUST_SYMBOLS": "ascii"}, "main <1>2 <<3>>4 *5 rebase-i 3/7 ~6 +7 !8 ?9"},
		{"order", everything(), map[string]string{"GUST_PROMPT_ORDER": " untracked nothing  head"}, "?9 main"},
		{"no-parts", everything(), map[string]string{"GUST_PROMPT_ORDER": ""}, ""},
		{"symbol", everything(), map[string]string{"GUST_PROMPT_ORDER": "head staged", "GUST_SYMBOL_BRANCH": "±", "GUST_SYMBOL_STAGED": ""}, "±main 7"},
		{"big-index", everything(), map[string]string{"GUST_PROMPT_ORDER": "head", "GUST_DIRTY_MAX_INDEX_SIZE": "9"}, "main …"},
		{"index-at-limit", everything(), map[string]string{"GUST_PROMPT_ORDER": "head", "GUST_DIRTY_MAX_INDEX_SIZE": "10"}, "main"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := string(Append([]byte("before:"), test.s, style(test.vars), Plain)); got != "before:"+test.want {
				t.Errorf("got  %q\nwant %q", got, "before:"+test.want)
			}
		})
	}
}

func TestForms(t *testing.T) {
	s := &summary.Summary{Branch: "a%b", Untracked: 1}
	for name, want := range map[string]string{
		"plain": "a%b ?1",
		"ansi":  "\x1b[32ma%b\x1b[39m \x1b[34m?1\x1b[39m",
		"zsh":   "%F{green}a%%b%f %F{blue}?1%f",
		"bash":  "\x01\x1b[32m\x02a%b\x01\x1b[39m\x02 \x01\x1b[34m\x02?1\x01\x1b[39m\x02",
	} {
		f, ok := ParseForm(name)
		if !ok {
			t.Fatalf("%s is no form", name)
		}
		if got := string(Append(nil, s, style(nil), f)); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
		for _, vars := range []map[string]string{{"NO_COLOR": "1"}, {"TERM": "dumb"}} {
			got := string(Append(nil, s, style(vars), f))
			if want := strings.ReplaceAll("a%b ?1", "%", map[bool]string{true: "%%", false: "%"}[name == "zsh"]); got != want {
				t.Errorf("%s, %v: got %q, want %q", name, vars, got, want)
			}
		}
	}
	if _, ok := ParseForm("tcsh"); ok {
		t.Error("tcsh is a form")
	}
}

func TestParseColor(t *testing.T) {
	for in, want := range map[string]string{
		"black": "30", "white": "37", "0": "30", "7": "37", "8": "90", "15": "97", "16": "38;5;16", "255": "38;5;255",
		"#ff8000": "38;2;255;128;0", "#FF8000": "38;2;255;128;0",
		"": "", "256": "", "-1": "", "+1": "", "08": "", "Red": "", "#ff800": "", "#ff80zz": "", "#+12345": "", "red}": "", "1_0": "",
	} {
		if got := parseColor(in); got.code != want || (got.name != in && want != "") {
			t.Errorf("%q: got %+v, want code %q", in, got, want)
		}
	}
}

// FuzzName checks what must hold for any name: no control characters come out,
// and no more characters than the limit.
func FuzzName(f *testing.F) {
	f.Add("main", 32)
	f.Add("\x1b[31mä漢\xff\u009b", 3)
	f.Add(strings.Repeat("ä", 100), 0)
	f.Fuzz(func(t *testing.T, name string, limit int) {
		st := style(nil)
		st.maxLength = min(max(limit, 0), 9999)
		got := st.name(name)
		if printable(got) != got {
			t.Errorf("%q, %d: %q has control characters", name, limit, got)
		}
		if n := utf8.RuneCountInString(got); st.maxLength > 0 && n > max(st.maxLength, 3) {
			t.Errorf("%q, %d: %q has %d characters", name, limit, got, n)
		}
	})
}
