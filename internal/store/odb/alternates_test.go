package odb

import "testing"

// Names come out of what was given: none is longer, and nothing hangs.
func FuzzSplitAlternates(f *testing.F) {
	for _, s := range []string{"a:b", `"a:b":c`, `"a\142\"":x`, `"unterminated`, "::"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		total := 0
		for _, name := range SplitAlternates(value, ':') {
			total += len(name)
		}
		if total > len(value) {
			t.Fatalf("%d bytes of names in %d bytes", total, len(value))
		}
	})
}
