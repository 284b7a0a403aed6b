package refs

import (
	"testing"

	"gust/internal/gittest"
)

func TestValidNameAgainstGit(t *testing.T) {
	e := gittest.New(t, gittest.Newest(t))
	for _, name := range []string{
		"a", "A", "@", "a@", "@a", "a@b", "a@{", "a@{b", "@{", "a/@", "@/a", ".", "..", ".a", "a.", "a..b", "a.b", "a/.b", "a./b", "a.lock", "a.lock/b", "a/b.lock", "a.lockx", ".lock", "a/.lock",
		"", "/", "/a", "a/", "a//b", "a b", "a~b", "a^b", "a:b", "a?b", "a*b", "a[b", "a]b", "a\\b", "a\x7fb", "a\tb", "a\x01b", "ä", "\xff", "refs/heads/main", "a\"b", "a'b", "a$b", "a`b", "a{b", "a}b", "a,b", "a;b", "a(b)", "a&b", "a<b>", "a|b", "a!b", "a#b", "a%b", "a=b", "a+b",
	} {
		want := e.Command(".", "check-ref-format", "--allow-onelevel", name).Run() == nil
		if got := ValidName(name); got != want {
			t.Errorf("ValidName(%q) = %v; git says %v", name, got, want)
		}
	}
}
