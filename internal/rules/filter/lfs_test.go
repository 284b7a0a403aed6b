package filter

import (
	"bytes"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"gust/internal/gittest"
)

// TestLFSAgainstGitLFS cleans contents with git-lfs itself: pointers as they are,
// damaged, and of other versions, and what is none.
func TestLFSAgainstGitLFS(t *testing.T) {
	if _, err := exec.LookPath("git-lfs"); err != nil {
		t.Skip("NOT TESTED: there is no git-lfs to compare with")
	}
	e := gittest.New(t, gittest.System(t))
	e.Script(t, "git init -q r")
	const oid = "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393"
	pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:" + oid + "\nsize 12345\n"
	edit := func(old, new string) string { return strings.Replace(pointer, old, new, 1) }
	contents := []string{
		"", "x", "abc\n", strings.Repeat("x", 2000), "\x00", pointer, pointer + "\n", pointer + "x", " " + pointer, "\n" + pointer,
		strings.TrimSuffix(pointer, "\n"), pointer + "   ", pointer + "\t\n\n", strings.ReplaceAll(pointer, "\n", "\r\n"), pointer + pointer,
		edit("git-lfs.github.com", "hawser.github.com"), edit("https://git-lfs.github.com/spec/v1", "http://git-media.io/v/2"), edit("spec/v1", "spec/v2"), edit("version ", "version  "),
		edit("sha256", "sha1"), edit("sha256", "md5"), edit(oid, oid[1:]), edit(oid, strings.ToUpper(oid)), edit(oid, oid+"0"), edit(oid, "g"+oid[1:]),
		edit("12345", "-1"), edit("12345", "0"), edit("12345", "012"), edit("12345", "+5"), edit("12345", "x"), edit("12345", ""), edit("12345", "99999999999999999999"), edit("12345", "1e3"), edit("size ", "size\t"),
		edit("oid", "ext-0-foo sha256:"+oid+"\noid"), edit("oid", "ext-1-bar sha256:"+oid+"\noid"), edit("oid", "ext-0-foo sha256:"+oid+"\next-1-bar sha256:"+oid+"\noid"),
		edit("oid", "ext-1-bar sha256:"+oid+"\next-0-foo sha256:"+oid+"\noid"), edit("oid", "ext-0-foo sha256:"+oid+"\next-0-bar sha256:"+oid+"\noid"), edit("oid", "ext-10-foo sha256:"+oid+"\noid"),
		edit("oid", "ext-0-f_o sha256:"+oid+"\noid"), edit("oid", "ext-0-foo sha256:"+oid[1:]+"\noid"), edit("oid", "other x\noid"), edit("\noid", "\n\noid"), edit("\nsize", "\r\n\r\n\nsize"), edit("\noid", "\n \noid"), edit("\nsize", "\n\r\r\nsize"), "\n", " \r\n ",
		"oid sha256:" + oid + "\nversion https://git-lfs.github.com/spec/v1\nsize 12345\n", "version https://git-lfs.github.com/spec/v1\nsize 12345\noid sha256:" + oid + "\n",
		"version https://git-lfs.github.com/spec/v1\n", "version https://git-lfs.github.com/spec/v1\noid sha256:" + oid + "\n", pointer + "more x\n", "# comment\n" + pointer,
		pointer + strings.Repeat("\n", 1024-len(pointer)), pointer + strings.Repeat("\n", 1023-len(pointer)), pointer + strings.Repeat(" ", 900),
		"version https://git-lfs.github.com/spec/v1\noid sha256:" + oid + "\nsize 12345", "version https://git-lfs.github.com/spec/v1 \noid sha256:" + oid + "\nsize 12345\n",
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 40 { // a byte changed, lost or doubled anywhere
		i := r.IntN(len(pointer))
		switch r.IntN(3) {
		case 0:
			contents = append(contents, pointer[:i]+string(" \n\t0az-:\r"[r.IntN(9)])+pointer[i+1:])
		case 1:
			contents = append(contents, pointer[:i]+pointer[i+1:])
		case 2:
			contents = append(contents, pointer[:i]+pointer[i:i+1]+pointer[i:])
		}
	}
	for _, content := range contents {
		cmd := e.Command(e.Path("r"), "lfs", "clean", "--", "file")
		cmd.Stdin = strings.NewReader(content)
		var out bytes.Buffer
		cmd.Stdout = &out
		if err := cmd.Run(); err != nil {
			t.Fatalf("git lfs clean of %q: %v", content, err)
		}
		if got := LFSPointer([]byte(content)); !bytes.Equal(got, out.Bytes()) {
			t.Errorf("%q:\n got %q\nwant %q", content, got, out.Bytes())
		}
	}
}
