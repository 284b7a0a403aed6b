package sparse_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"gust/internal/gittest"
	"gust/internal/rules/sparse"
)

// TestIsCone compares random pattern files with git: where a file has other forms, it
// expands the directories of a sparse index.
func TestIsCone(t *testing.T) {
	for _, g := range gittest.All(t) {
		t.Run(g.String(), func(t *testing.T) {
			t.Parallel()
			e := gittest.New(t, g)
			e.Script(t, `git init -q r; cd r; mkdir -p d/x e/y; echo a >d/x/f; echo a >e/y/f; git add .; git commit -qm a; git sparse-checkout set --cone --sparse-index e/y; rm -r e`)
			r := rand.New(rand.NewPCG(1, uint64(g.Minor)))
			cones := 0
			for range 300 {
				data := patterns(r)
				if err := os.WriteFile(e.Path("r/.git/info/sparse-checkout"), []byte(data), 0o644); err != nil {
					t.Fatal(err)
				}
				out, _ := e.Command("r", "ls-files", "--sparse").Output()
				want := !strings.Contains(string(out), "d/x/f")
				if got := sparse.IsCone([]byte(data)); got != want {
					t.Errorf("%q is a cone: %v, git %v", data, got, want)
				}
				if want {
					cones++
				}
			}
			if cones < 30 || cones > 270 {
				t.Errorf("%d of 300 files are cones", cones)
			}
		})
	}
}

func patterns(r *rand.Rand) string {
	var b strings.Builder
	if r.IntN(4) > 0 {
		b.WriteString("/*\n!/*/\n")
	}
	names := []string{"e", "e/y", "q", "q/r", "q/r/s", "n o", "\\*", "\\[x", "\\\\", "#", "é"}
	for range r.IntN(6) {
		name := names[r.IntN(len(names))]
		switch r.IntN(24) {
		case 0:
			odd := []string{"", "/", "//", "/*", "/*/", "!/*", "!/*/", "*", "/e", "e/", "e", "!/e/", "!e", "/e*/", "/[e]/", "/e?/", "/\\e/", "/e\\/", "/**/", "/e/**/", "!/e/**/", "# c", "#", "\\#", "/e/ ", " /e/", "/e/\\ ", "/e/\r", "/e//", "//e/", "/e/*", "!//*/", "/!/", "\xef\xbb\xbf/e/", "!", "!/", "!/e/*", "/e/*/"}
			b.WriteString(odd[r.IntN(len(odd))])
		case 1, 2, 3, 4, 5:
			fmt.Fprintf(&b, "!/%s/*/", name)
		case 6, 7, 8:
			fmt.Fprintf(&b, "/%s/\n!/%s/*/", name, name)
		default:
			fmt.Fprintf(&b, "/%s/", name)
		}
		b.WriteString("\n")
	}
	return strings.TrimSuffix(b.String(), []string{"\n", "x"}[r.IntN(2)])
}
