package repo

import (
	"os"
	"strings"
	"testing"

	"gust/internal/gittest"
	"gust/internal/pure/oid"
)

func TestParentOverridesAgainstGit(t *testing.T) {
	tests := []struct{ name, shallow, grafts string }{
		{name: "none"},
		{name: "shallow", shallow: "$H\n"},
		{name: "shallow-no-newline", shallow: "$H"},
		{name: "shallow-more", shallow: "$H $P\n"},
		{name: "shallow-upper-case", shallow: "$U\n"},
		{name: "shallow-junk", shallow: "$H\njunk\n"},
		{name: "shallow-empty-line", shallow: "\n$H\n"},
		{name: "shallow-comment", shallow: "# x\n$H\n"},
		{name: "shallow-crlf", shallow: "$H\r\n"},
		{name: "graft-none", grafts: "$H\n"},
		{name: "graft-one", grafts: "$H $P\n"},
		{name: "graft-two", grafts: "$H $P $Q\n"},
		{name: "graft-two-spaces", grafts: "$H  $P\n"},
		{name: "graft-tab", grafts: "$H\t$P\n"},
		{name: "graft-space-behind", grafts: "$H $P \n"},
		{name: "graft-space-before", grafts: " $H $P\n"},
		{name: "graft-crlf", grafts: "$H $P\r\n"},
		{name: "graft-no-newline", grafts: "$H $P"},
		{name: "graft-comment", grafts: "# $H\n\n$H $P\n"},
		{name: "graft-junk", grafts: "junk\n$H $P\n$H x\n"},
		{name: "graft-junk-parent", grafts: "$H x$P\n"},
		{name: "graft-upper-case", grafts: "$U $P\n"},
		{name: "graft-twice", grafts: "$H $P\n$H\n"},
		{name: "both", shallow: "$H\n", grafts: "$H $P\n"},
		{name: "both-others", shallow: "$P\n", grafts: "$H $P\n"},
	}
	for _, g := range gittest.All(t) {
		e := gittest.New(t, g)
		e.Script(t, "git init -q r; cd r; for i in 1 2 3 4; do git commit -q --allow-empty -m $i; done")
		ids := strings.Fields(e.Run(t, "r", "rev-parse", "HEAD", "HEAD~1", "HEAD~2", "HEAD~3"))
		fill := strings.NewReplacer("$H", ids[0], "$U", strings.ToUpper(ids[0]), "$P", ids[3], "$Q", ids[2])
		for _, test := range tests {
			t.Run(g.String()+"/"+test.name, func(t *testing.T) {
				put := func(path, text string) {
					if err := os.RemoveAll(path); err != nil {
						t.Fatal(err)
					}
					if text == "" {
						return
					}
					if err := os.WriteFile(path, []byte(fill.Replace(text)), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				put(e.Path("r/.git/shallow"), test.shallow)
				put(e.Path("r/.git/info/grafts"), test.grafts)
				out, gitErr := e.Command("r", "log", "-1", "--format=%P", ids[0]).Output()
				want := strings.TrimSuffix(string(out), "\n")
				o, err := mustOpen(t, e, "r").ParentOverrides()
				if (err != nil) != (gitErr != nil) {
					t.Fatalf("ParentOverrides: %v; git says: %v", err, gitErr)
				}
				if err != nil {
					return
				}
				head, err := oid.Parse(oid.SHA1, ids[0])
				if err != nil {
					t.Fatal(err)
				}
				got := ids[1]
				if parents, ok := o.Parents[head]; ok {
					var all []string
					for _, id := range parents {
						all = append(all, id.String())
					}
					got = strings.Join(all, " ")
				}
				if got != want {
					t.Errorf("parents %q; git says %q", got, want)
				}
			})
		}
	}
}

func TestReplacementsAgainstGit(t *testing.T) {
	for _, g := range gittest.All(t) {
		e := gittest.New(t, g)
		e.Script(t, "git init -q r; cd r; for i in 1 2 3; do git commit -q --allow-empty -m $i; done; git update-ref refs/x/$(git rev-parse HEAD) HEAD~2; git update-ref refs/replace/junk HEAD; git replace HEAD HEAD~1")
		head, err := oid.Parse(oid.SHA1, strings.TrimSpace(e.Run(t, "r", "rev-parse", "HEAD")))
		if err != nil {
			t.Fatal(err)
		}
		for _, vars := range []string{"", "GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_REPLACE_OBJECTS=", "GIT_NO_REPLACE_OBJECTS=0", "GIT_REPLACE_REF_BASE=refs/x/", "use=true", "use=false"} {
			name, value, _ := strings.Cut(vars, "=")
			if name == "use" {
				e.Run(t, "r", "config", "core.useReplaceRefs", value)
			} else if name != "" {
				e.Setenv(name, value)
			}
			all, err := mustOpen(t, e, "r").Replacements()
			if err != nil {
				t.Fatal(err)
			}
			got := head
			if to, ok := all[head]; ok {
				got = to
			}
			// The tree of all is the same: the subject says which commit was read.
			want := e.Run(t, "r", "log", "-1", "--format=%s", head.String())
			e.Setenv("GIT_NO_REPLACE_OBJECTS", "1")
			said := e.Run(t, "r", "log", "-1", "--format=%s", got.String())
			e.Unsetenv("GIT_NO_REPLACE_OBJECTS")
			e.Unsetenv("GIT_REPLACE_REF_BASE")
			if said != want {
				t.Errorf("%s: read %q; git reads %q", vars, said, want)
			}
		}
	}
}
