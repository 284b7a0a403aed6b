package content

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"gust/internal/gittest"
	"gust/internal/pure/oid"
	"gust/internal/rules/attr"
	"gust/internal/rules/filter"
)

// A sample is a file, its attributes, and what the index has for it.
type sample struct {
	name, attributes string
	content, blob    []byte
}

// planFor returns the plan for a file whose attributes are written as in
// .gitattributes.
func planFor(s *filter.Settings, attributes string) filter.Plan {
	stack := attr.New(nil, nil).Push(attr.Parse([]byte("* "+attributes), attr.Options{}), "")
	return s.Plan(stack.Lookup([]byte("f"), filter.NewQuery(), nil))
}

// compareWithGit puts the samples into the index, without recording anything
// about their files, so that git has to compare their content.
func compareWithGit(t *testing.T, algo oid.Algo, s *filter.Settings, config []string, samples []sample) {
	t.Helper()
	r := gittest.NewTree(t, "--object-format="+algo.String())
	for i := 0; i+1 < len(config); i += 2 {
		r.Run("config", config[i], config[i+1])
	}
	var attributes, names, entries strings.Builder
	for i, x := range samples {
		fmt.Fprintf(&attributes, "/%s %s\n", x.name, x.attributes)
		r.Write(x.name, x.content)
		fmt.Fprintf(&names, ".git/blob%d\n", i)
		r.Write(fmt.Sprintf(".git/blob%d", i), x.blob)
	}
	r.Write(".gitattributes", []byte(attributes.String()))
	ids := strings.Fields(r.Git(r.Env.Git, []byte(names.String()), "hash-object", "-w", "--no-filters", "--stdin-paths"))
	for i, x := range samples {
		fmt.Fprintf(&entries, "100644 %s 0\t%s\n", ids[i], x.name)
	}
	r.Git(r.Env.Git, []byte(entries.String()), "update-index", "--index-info")
	s.Runner = filter.NewRunner(r.Dir, r.Env.Environ())
	defer s.Runner.Close()

	c := New(algo, Plain(r.Dir))
	var modified []string
	for i, x := range samples {
		id, err := oid.Parse(algo, ids[i])
		if err != nil {
			t.Fatal(err)
		}
		same, err := c.Same(context.Background(), Entry{ID: id}, &File{
			Name: x.name, Path: x.name, Size: int64(len(x.content)), Plan: planFor(s, x.attributes),
			Indexed: func() ([]byte, error) { return x.blob, nil },
		})
		if err != nil {
			t.Errorf("%s with %q: %v", x.name, x.attributes, err)
		}
		if !same {
			modified = append(modified, x.name)
		}
	}
	if len(modified) < len(samples)/10 || len(samples)-len(modified) < len(samples)/10 {
		t.Errorf("%d of %d files are modified: the samples are too much alike to test anything", len(modified), len(samples))
	}
	sort.Strings(modified)
	for _, git := range gittest.All(t) {
		out := r.Git(git, nil, "ls-files", "-m")
		want := strings.Fields(out)
		sort.Strings(want)
		compareNames(t, git.String()+" ls-files -m", want, modified, samples)
	}
	// git status refreshes the index, after which the entries have sizes; it
	// comes last.
	for _, git := range gittest.All(t) {
		var want []string
		for _, line := range strings.Split(r.Git(git, nil, "status", "--porcelain", "-uno"), "\n") {
			if len(line) > 3 && line[1] == 'M' {
				want = append(want, line[3:])
			}
		}
		sort.Strings(want)
		compareNames(t, git.String()+" status", want, modified, samples)
	}
}

func compareNames(t *testing.T, what string, want, got []string, samples []sample) {
	t.Helper()
	verdicts := map[string]int{}
	for _, n := range want {
		verdicts[n] |= 1
	}
	for _, n := range got {
		verdicts[n] |= 2
	}
	for _, x := range samples {
		if v := verdicts[x.name]; v == 1 || v == 2 {
			t.Errorf("%s says modified: %v, gust: %v (%s with %q is %.100q, its blob %.100q)", what, v == 1, v == 2, x.name, x.attributes, x.content, x.blob)
		}
	}
}

func randomContent(rng *rand.Rand) []byte {
	tokens := []string{"a", "b", "\n", "\r\n", "\r\n", "$Id: x $", "$Id$", "\t"}
	var b bytes.Buffer
	for range 1 + rng.IntN(8) {
		b.WriteString(tokens[rng.IntN(len(tokens))])
		if rng.IntN(60) == 0 {
			b.WriteString([]string{"\x00", "\r", "\x01"}[rng.IntN(3)])
		}
	}
	return b.Bytes()
}

// randomSamples returns files whose blobs are often what a conversion, the
// right one or another, makes of them.
func randomSamples(rng *rand.Rand, n int) []sample {
	attributes := []string{"", "", "text", "text=auto", "text=auto", "-text", "text=auto eol=crlf", "eol=lf", "crlf", "ident", "text=auto ident", "binary",
		"filter=up", "filter=up text=auto", "filter=lfs -text", "filter=lfs text", "working-tree-encoding=latin1"}
	var samples []sample
	for i := range n {
		x := sample{name: fmt.Sprintf("f%d", i), attributes: attributes[rng.IntN(len(attributes))], content: randomContent(rng)}
		lf := bytes.ReplaceAll(x.content, []byte("\r\n"), []byte("\n"))
		switch rng.IntN(7) {
		case 0:
			x.blob = x.content
		case 1:
			x.blob = bytes.ReplaceAll(x.content, []byte("$Id: x $"), []byte("$Id$"))
		case 2, 3:
			x.blob = lf
		case 4:
			x.blob = bytes.ReplaceAll(lf, []byte("$Id: x $"), []byte("$Id$"))
		case 5:
			x.blob = bytes.ToUpper(lf)
		case 6:
			x.blob = append(bytes.ReplaceAll(lf, []byte("\n"), []byte("\r\n")), randomContent(rng)...)
		}
		if strings.HasPrefix(x.attributes, "filter=lfs") {
			x.blob = [][]byte{x.content, filter.LFSPointer(x.content), filter.LFSPointer(lf)}[rng.IntN(3)]
			if rng.IntN(3) == 0 {
				x.content = x.blob
			}
		}
		samples = append(samples, x)
	}
	return samples
}

func TestSameAgainstGit(t *testing.T) {
	// Git LFS itself need not be there: for git, a script plays it.
	dir := t.TempDir()
	script := "#!/bin/sh\nt=$(mktemp)\ncat >$t\nif test ! -s $t || head -c 100 $t | grep -q '^version https://git-lfs'; then cat $t\n" +
		"else printf 'version https://git-lfs.github.com/spec/v1\\noid sha256:%s\\nsize %d\\n' $(sha256sum <$t | cut -c1-64) $(wc -c <$t); fi\nrm $t\n"
	if err := os.WriteFile(filepath.Join(dir, "git-lfs"), []byte(script), 0o777); err != nil {
		t.Fatal(err)
	}
	n := 150
	if testing.Short() {
		n = 50
	}
	for value, auto := range map[string]filter.AutoCRLF{"false": filter.AutoFalse, "true": filter.AutoTrue, "input": filter.AutoInput} {
		for _, algo := range []oid.Algo{oid.SHA1, oid.SHA256} {
			t.Run(value+"-"+algo.String(), func(t *testing.T) {
				lfs := filepath.Join(dir, "git-lfs") + " clean -- %f"
				s := &filter.Settings{AutoCRLF: auto, Drivers: map[string]filter.Driver{
					"up":  {Clean: "tr a-z A-Z", Trusted: true},
					"lfs": {Clean: lfs, Required: true},
				}}
				config := []string{"core.autocrlf", value, "core.safecrlf", "false", "filter.up.clean", "tr a-z A-Z", "filter.lfs.clean", lfs, "filter.lfs.required", "true"}
				compareWithGit(t, algo, s, config, randomSamples(rand.New(rand.NewPCG(uint64(auto), uint64(algo))), n))
			})
		}
	}
}

// TestSameLarge has files of several chunks, with carriage returns where
// chunks meet.
func TestSameLarge(t *testing.T) {
	line := []byte("0123456789abcdef0123456789abc\r\n")
	var samples []sample
	for i, n := range []int{chunk - 1, chunk, chunk + 1, 2 * chunk, 3*chunk - 5} {
		for j, content := range [][]byte{
			bytes.Repeat(line, n/len(line)+1)[:n],
			append(bytes.Repeat([]byte("x"), n-1), "\r\nend\r\n"...),
			append(bytes.Repeat([]byte("x"), n-2), "\r\r\n\r"...),
			append(bytes.Repeat([]byte("\r\n"), n/2), 'x'),
		} {
			lf := bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n"))
			for k, attributes := range []string{"text", "text=auto", "-text", "filter=lfs -text", "ident text"} {
				for l, blob := range [][]byte{content, lf, filter.LFSPointer(content)} {
					samples = append(samples, sample{fmt.Sprintf("f%d.%d.%d.%d", i, j, k, l), attributes, content, blob})
				}
			}
		}
	}
	// Without a driver for lfs: git and gust leave those files alone.
	compareWithGit(t, oid.SHA1, new(filter.Settings), []string{"core.safecrlf", "false"}, samples)

	// With one, only gust computes pointers.
	dir := t.TempDir()
	c := New(oid.SHA1, Plain(dir))
	s := &filter.Settings{Drivers: map[string]filter.Driver{"lfs": {Process: "git-lfs filter-process"}}}
	for i, x := range samples {
		if x.attributes != "filter=lfs -text" {
			continue
		}
		name := fmt.Sprint(i)
		if err := os.WriteFile(filepath.Join(dir, name), x.content, 0o666); err != nil {
			t.Fatal(err)
		}
		f := &File{Name: name, Path: name, Size: int64(len(x.content)), Plan: planFor(s, x.attributes)}
		same, err := c.Same(context.Background(), Entry{ID: oid.Hash(oid.SHA1, "blob", x.blob)}, f)
		if want := filter.IsLFSPointer(x.blob); same != want || err != nil {
			t.Errorf("%s is the same as %.60q: %v, %v, want %v", x.name, x.blob, same, err, want)
		}
	}
}

// TestSameSize checks against git that a recorded size decides, filters or not.
func TestSameSize(t *testing.T) {
	r := gittest.NewTree(t)
	r.Write(".gitattributes", []byte("* text=auto\n"))
	r.Write("f", []byte("a\nb\n"))
	r.Run("add", ".")
	r.Write("f", []byte("a\r\nb\r\n"))
	for _, git := range gittest.All(t) {
		if got := r.Git(git, nil, "ls-files", "-m"); got != "f\n" {
			t.Errorf("%s lists %q as modified, which gust takes for f", git, got)
		}
	}
	c := New(oid.SHA1, Plain(r.Dir))
	e := Entry{ID: oid.Hash(oid.SHA1, "blob", []byte("a\nb\n"))}
	f := &File{Name: "f", Path: "f", Size: 6, Plan: planFor(new(filter.Settings), "text=auto")}
	for size, want := range map[uint32]bool{0: true, 4: false, 6: true} {
		e.Size = size
		if same, err := c.Same(context.Background(), e, f); same != want || err != nil {
			t.Errorf("with recorded size %d: %v, %v, want %v", size, same, err, want)
		}
	}
}

func TestSameLinks(t *testing.T) {
	r := gittest.NewTree(t)
	if err := os.Symlink("target", filepath.Join(r.Dir, "link")); err != nil {
		t.Fatal(err)
	}
	r.Write("target", []byte("content"))
	r.Run("add", ".")
	id, err := oid.Parse(oid.SHA1, strings.TrimSpace(r.Run("rev-parse", ":link")))
	if err != nil {
		t.Fatal(err)
	}
	c := New(oid.SHA1, Plain(r.Dir))
	for _, size := range []uint32{0, 6} {
		same, err := c.Same(context.Background(), Entry{ID: id, Size: size}, &File{Name: "link", Path: "link", Size: 6, Symlink: true})
		if !same || err != nil {
			t.Errorf("the link with recorded size %d: %v, %v, want the same", size, same, err)
		}
	}
	// A link is never followed to a file that would fit.
	id = oid.Hash(oid.SHA1, "blob", []byte("content"))
	if same, err := c.Same(context.Background(), Entry{ID: id}, &File{Name: "link", Path: "link", Size: 7}); same || err != nil {
		t.Errorf("the link opened as a file: %v, %v, want not the same", same, err)
	}
}

func TestSameErrors(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("a\r\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	c := New(oid.SHA1, Plain(dir))
	broken := errors.New("no object")
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	auto := planFor(new(filter.Settings), "text=auto")
	tests := []struct {
		name string
		ctx  context.Context
		f    File
		want error
	}{
		{"absent", context.Background(), File{Name: "x"}, fs.ErrNotExist},
		{"absent-link", context.Background(), File{Name: "x", Symlink: true}, fs.ErrNotExist},
		{"canceled", canceled, File{Name: "f"}, context.Canceled},
		{"no-index", context.Background(), File{Name: "f", Plan: auto, Indexed: func() ([]byte, error) { return nil, broken }}, broken},
		{"directory", context.Background(), File{Name: "."}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.f.Path = "the/path"
			same, err := c.Same(tt.ctx, Entry{}, &tt.f)
			if same || !errors.Is(err, tt.want) {
				t.Errorf("%v, %v, want the error %v", same, err, tt.want)
			}
			if err != nil && !strings.Contains(err.Error(), "'the/path'") {
				t.Errorf("error %q does not name the path", err)
			}
		})
	}
}

// TestSameChanging reads a file that is not as long as it said.
func TestSameChanging(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(name, bytes.Repeat([]byte("x\r\n"), chunk), 0o666); err != nil {
		t.Fatal(err)
	}
	c := New(oid.SHA1, Files{})
	c.buf = make([]byte, chunk)
	for _, size := range []int64{0, 10, 3*chunk - 1, 3*chunk + 1} {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.each(context.Background(), file, size, func([]byte) {}); !errors.Is(err, errChanged) {
			t.Errorf("a file of %d bytes read for one of %d: %v", 3*chunk, size, err)
		}
		file.Close()
	}
}
