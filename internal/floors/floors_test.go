package floors

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// checks are all that is asked of the tree.
var checks = map[string]func(*tree) []string{
	"imports":  checkImports,
	"names":    checkNames,
	"purity":   checkPurity,
	"state":    checkState,
	"platform": checkPlatform,
	"length":   checkLength,
	"comments": checkComments,
	"promises": checkPromises,
	"docs":     checkDocs,
	"picture":  checkPicture,
}

// projectRoot returns the file system of the module this test is in.
func projectRoot(t *testing.T) fs.FS {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return os.DirFS(dir)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = parent
	}
}

func TestTree(t *testing.T) {
	tr, err := load(projectRoot(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(tr.sources) < 10 {
		t.Fatalf("found %d sources; the walk is broken", len(tr.sources))
	}
	for _, name := range slices.Sorted(maps.Keys(checks)) {
		t.Run(name, func(t *testing.T) {
			for _, fault := range checks[name](tr) {
				t.Error(fault)
			}
		})
	}
}

// sound is a small tree in which no check finds a fault.
var sound = map[string]string{
	"go.mod": "module gust\n",
	"internal/floors/floors.txt": `
0 internal/pure
1 internal/disk
2 internal/format internal/rules
4 internal/history
8 cmd
tests internal/gittest internal/floors
pure internal/pure
platform internal/disk
`,
	"internal/floors/doc.go": "// Package floors is the plan.\npackage floors\n",
	"internal/pure/oid/oid.go": `// Package oid holds object IDs.
package oid

import ("fmt"; "time")

// ErrShort is constant for all that anyone does to it.
var ErrShort = fmt.Errorf("short")

// Wait is a span, not a clock.
const Wait = 3 * time.Second

// An ID is an ID.
type ID struct{ N int }

// Append appends.
//
// Hot path: once per entry. Does not
// allocate if dst has room.
func (id *ID) Append(dst []byte) []byte { ErrShort := 1; ErrShort++; return dst }
`,
	"internal/pure/oid/oid_test.go": `package oid

import ("os"; "testing"; "gust/internal/gittest")

func TestIDAppendAllocs(t *testing.T) { gittest.Make(); os.Getpid(); count(t) }

func count(t *testing.T) { testing.AllocsPerRun(1, func() {}) }
`,
	"internal/gittest/gittest.go": "// Package gittest makes repositories.\npackage gittest\n\nimport \"gust/internal/format/index\"\n\n// Make makes.\nfunc Make() { index.Read() }\n",
	"internal/gittest/lock.go":    "//go:build unix\n\npackage gittest\n",
	"internal/disk/mmap/mmap.go":  "// Package mmap maps files.\npackage mmap\n",
	"internal/disk/mmap/mmap_linux.go": `package mmap

import ("unsafe"; "golang.org/x/sys/unix"; "gust/internal/pure/oid")

func f() { _ = unsafe.Pointer(nil); _ = unix.EINTR; _ = oid.ID{} }
`,
	"internal/format/index/index.go":        "// Package index reads indexes.\npackage index\n\nimport \"gust/internal/format/chunk\"\n\n// Read reads.\nfunc Read() { chunk.Next() }\n",
	"internal/format/chunk/chunk.go":        "// Package chunk reads chunks.\npackage chunk\n\n// Next steps.\n//\n// Hot path: always. Costs a stat.\nfunc Next() {}\n",
	"internal/rules/ignore/ignore.go":       "// Package ignore holds rules.\npackage ignore\n",
	"internal/history/revwalk/walk.go":      "// Package revwalk walks.\npackage revwalk\n",
	"internal/history/revwalk/race_test.go": "//go:build race\n\npackage revwalk\n",
	"cmd/gust/main.go":                      "// The gust command.\npackage main\n\nfunc main() {}\n",
	"ARCHITECTURE.md":                       "```\ncmd/  gust\nhistory/ revwalk\nformat/ chunk, index  rules/ ignore\ndisk/ mmap\npure/ oid\n```\nSee `pure/oid`, `internal/{disk,format/index}`, [the plan](internal/floors/floors.txt), `index.Read()`, `oid.ID.Append`, `main.go` and\n```\ncmd/gust/  the command\n```\n",
	"docs/protocol.md":                      "Read [the map](../ARCHITECTURE.md). `refs/heads/x` and `share/gust/x.zsh` are elsewhere.\n",
}

// TestSoundTree makes sure that a planted fault is the only one.
func TestSoundTree(t *testing.T) {
	tr, err := load(plant(nil))
	if err != nil {
		t.Fatal(err)
	}
	for name, check := range checks {
		for _, fault := range check(tr) {
			t.Errorf("%s: the sound tree has a fault: %s", name, fault)
		}
	}
}

// plant returns the sound tree with some files replaced or added. A file that is
// set to "-" is taken away.
func plant(files map[string]string) fs.FS {
	m := fstest.MapFS{}
	for name, text := range sound {
		m[name] = &fstest.MapFile{Data: []byte(text)}
	}
	for name, text := range files {
		if text == "-" {
			delete(m, name)
			continue
		}
		m[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return m
}

func TestPlantedFaults(t *testing.T) {
	lines := func(n int) string { return strings.Repeat("\n", n) }
	pure := func(imports, body string) map[string]string {
		return map[string]string{"internal/pure/ewah/ewah.go": "// Package ewah is pure.\npackage ewah\n\nimport (" + imports + ")\n\n" + body + "\n"}
	}
	one := func(name, text string) map[string]string { return map[string]string{name: text} }
	tests := []struct {
		name, check string
		files       map[string]string
		want        string // in the one fault reported
	}{
		{"upward-import", "imports", one("internal/format/chunk/up.go", "package chunk\n\nimport _ \"gust/internal/history/revwalk\"\n"), "chunk/up.go: imports internal/history/revwalk, up from floor 2 to 4"},
		{"upward-import-in-test", "imports", one("internal/format/chunk/up_test.go", "package chunk\n\nimport _ \"gust/internal/history/revwalk\"\n"), "up from floor 2 to 4"},
		{"upward-import-on-one-system", "imports", one("internal/disk/mmap/mmap_windows.go", "package mmap\n\nimport _ \"gust/internal/format/chunk\"\n"), "mmap_windows.go: imports internal/format/chunk, up from floor 1 to 2"},
		{"sideways-import", "imports", one("internal/rules/ignore/side.go", "package ignore\n\nimport _ \"gust/internal/format/chunk\"\n"), "another room of floor 2"},
		{"no-floor", "imports", one("internal/attic/attic.go", "// Package attic is new.\npackage attic\n"), "internal/attic: stands on no floor"},
		{"test-room-in-code", "imports", one("cmd/gust/t.go", "package main\n\nimport _ \"gust/internal/gittest\"\n"), "for tests only"},

		{"bag-folder", "names", one("internal/format/util/x.go", "// Package util is a bag.\npackage util\n"), "internal/format/util"},
		{"bag-ending", "names", one("internal/format/pathutil/x.go", "// Package pathutil is a bag.\npackage pathutil\n"), "pathutil"},
		{"bag-above", "names", one("internal/format/common/midx/x.go", "// Package midx is in a bag.\npackage midx\n"), "'common' names no concept"},
		{"other-name", "names", one("internal/format/midx/x.go", "// Package pack is elsewhere.\npackage pack\n"), "package pack in folder midx"},

		{"os-in-pure", "purity", pure(`"os"`, "var x = os.Args"), `imports "os"`},
		{"net-in-pure", "purity", pure(`_ "net/http"`, ""), `imports "net/http"`},
		{"context-in-pure", "purity", pure(`_ "context"`, ""), `imports "context"`},
		{"foreign-in-pure", "purity", pure(`_ "github.com/klauspost/compress/zlib"`, ""), "klauspost"},
		{"clock-in-pure", "purity", pure(`"time"`, "func f() { _ = time.Now() }"), "uses time.Now"},
		{"renamed-clock-in-pure", "purity", pure(`clock "time"`, "func f() { clock.Sleep(1) }"), "uses time.Sleep"},
		{"dotted-clock-in-pure", "purity", pure(`. "time"`, "func f() { _ = Now() }"), "with a dot"},
		{"stream-in-pure", "purity", pure(`"fmt"`, "func f() { fmt.Println() }"), "uses fmt.Println"},
		{"println-in-pure", "purity", pure(``, "func f() { println() }"), "with println"},

		{"init", "state", pure("", "func init() {}"), "init function"},
		{"assigned-variable", "state", pure("", "var n int\n\nfunc f() { n = 2 }"), "changes a package-level variable"},
		{"assigned-in-another-file", "state", map[string]string{
			"internal/format/chunk/n.go": "package chunk\n\nvar table = map[string]int{}\n",
			"internal/format/chunk/m.go": "package chunk\n\nfunc f() { table[\"a\"] = 1 }\n",
		}, "chunk/m.go:3: changes a package-level variable"},
		{"counted-variable", "state", pure("", "var n struct{ k int }\n\nfunc f() { n.k++ }"), "changes a package-level variable"},
		{"lock", "state", pure(`"sync"`, "var mu sync.Mutex"), "type that changes"},
		{"pool", "state", pure(`"sync"`, "var p = &sync.Pool{}"), "type that changes"},
		{"atomic", "state", pure(`"sync/atomic"`, "var p atomic.Pointer[int]"), "type that changes"},

		{"system-in-history", "platform", one("internal/history/revwalk/walk_darwin.go", "package revwalk\n"), "walk_darwin.go: the name ending in _darwin"},
		{"machine-in-history", "platform", one("internal/history/revwalk/walk_arm64.go", "package revwalk\n"), "_arm64"},
		{"system-in-test", "platform", one("internal/history/revwalk/walk_linux_test.go", "package revwalk\n"), "_linux"},
		{"build-line", "platform", one("internal/history/revwalk/fast.go", "//go:build unix\n\npackage revwalk\n"), "//go:build unix"},
		{"unix-line", "platform", one("internal/history/revwalk/fast_test.go", "//go:build unix\n\npackage revwalk\n"), "//go:build unix"},
		{"system-in-test-room", "platform", one("internal/gittest/linux.go", "//go:build linux\n\npackage gittest\n"), "//go:build linux"},
		{"old-build-line", "platform", one("internal/history/revwalk/fast.go", "// +build linux\n\npackage revwalk\n"), "// +build linux"},
		{"own-tag", "platform", one("internal/history/revwalk/slow_test.go", "//go:build slow\n\npackage revwalk\n"), "//go:build slow"},
		{"unsafe", "platform", one("internal/history/revwalk/u.go", "package revwalk\n\nimport _ \"unsafe\"\n"), "imports unsafe"},
		{"syscall", "platform", one("internal/history/revwalk/u.go", "package revwalk\n\nimport _ \"syscall\"\n"), "imports syscall"},
		{"x-sys", "platform", one("internal/history/revwalk/u.go", "package revwalk\n\nimport _ \"golang.org/x/sys/unix\"\n"), "imports golang.org/x/sys/unix"},
		{"cgo", "platform", one("internal/history/revwalk/u.go", "package revwalk\n\nimport \"C\"\n"), "imports C"},

		{"long-file", "length", one("internal/history/revwalk/long.go", "package revwalk\n"+lines(maxLines)), "601 lines"},
		{"long-main", "length", one("cmd/gust/main.go", "// The gust command.\npackage main\n\nfunc main() {"+lines(60)+"}\n"), "main has 61 lines"},

		{"no-comment", "comments", one("internal/format/midx/midx.go", "package midx\n"), "internal/format/midx: no package comment"},
		{"comment-in-test-only", "comments", map[string]string{
			"internal/format/midx/midx.go":      "package midx\n",
			"internal/format/midx/midx_test.go": "// Package midx is tested.\npackage midx\n",
		}, "internal/format/midx: no package comment"},
		{"no-charter", "comments", one("internal/format/midx/midx.go", "// Reads things.\npackage midx\n"), "does not begin with 'Package midx'"},
		{"two-comments", "comments", one("internal/format/chunk/doc.go", "// Package chunk again.\npackage chunk\n"), "package comments in both"},

		{"broken-promise", "promises", one("internal/pure/oid/oid_test.go", "-"), "Append promises not to allocate, but no TestAppendAllocs or TestIDAppendAllocs counts"},
		{"test-that-counts-nothing", "promises", one("internal/pure/oid/oid_test.go", "package oid\n\nimport \"testing\"\n\nfunc TestIDAppendAllocs(t *testing.T) {}\n"), "Append promises not to allocate"},
		{"promise-of-a-function", "promises", one("internal/format/chunk/hot.go", "package chunk\n\n// step steps.\n//\n// Hot path: always. Does not allocate.\nfunc step() {}\n"), "no TestStepAllocs counts"},
		{"later-promise", "promises", one("internal/format/chunk/hot.go", "package chunk\n\n// step steps.\n//\n// Hot path: always. One stat each. Does not\n// allocate.\nfunc step() {}\n"), "no TestStepAllocs counts"},
		{"half-a-promise", "promises", one("internal/format/chunk/hot.go", "package chunk\n\n// step steps.\n//\n// Hot path: always.\nfunc step() {}\n"), "cut short"},

		{"stale-path", "docs", one("docs/protocol.md", "See `format/midx`.\n"), "docs/protocol.md: names 'format/midx'"},
		{"stale-path-in-block", "docs", one("ARCHITECTURE.md", "```\ninternal/pure/gone/  gone\n```\n"), "names 'internal/pure/gone/'"},
		{"stale-path-in-braces", "docs", one("ARCHITECTURE.md", "`pure/{oid,gone}`\n"), "names 'pure/gone'"},
		{"stale-root-folder", "docs", one("ARCHITECTURE.md", "`conformance/status`\n"), "names 'conformance/status'"},
		{"stale-link", "docs", one("docs/protocol.md", "See [it](racy.md).\n"), "links to 'racy.md'"},
		{"stale-file", "docs", one("docs/protocol.md", "See `walk_plan9.go`.\n"), "names the file 'walk_plan9.go'"},
		{"stale-function", "docs", one("ARCHITECTURE.md", "`index.Open`\n"), "names index.Open"},
		{"stale-method", "docs", one("ARCHITECTURE.md", "`oid.ID.Parse()`\n"), "names oid.ID.Parse()"},
		{"not-drawn", "picture", one("internal/format/midx/midx.go", "// Package midx is new.\npackage midx\n"), "does not draw internal/format/midx"},
		{"no-drawing", "picture", one("ARCHITECTURE.md", "words\n"), "no drawing"},
		{"no-documents", "docs", map[string]string{"ARCHITECTURE.md": "-", "docs/protocol.md": "-"}, "no documents"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			tr, err := load(plant(test.files))
			if err != nil {
				t.Fatal(err)
			}
			got := checks[test.check](tr)
			if len(got) != 1 || !strings.Contains(got[0], test.want) {
				t.Errorf("check %s reports %q, want one fault with %q", test.check, got, test.want)
			}
		})
	}
}

func TestLoadFailsLoudly(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"broken-source": {"internal/format/chunk/x.go": "package"},
		"no-plan":       {"internal/floors/floors.txt": "-"},
		"broken-plan":   {"internal/floors/floors.txt": "x y\n"},
		"no-module":     {"go.mod": "go 1.26\n"},
		"no-go-mod":     {"go.mod": "-"},
	} {
		if _, err := load(plant(files)); err == nil {
			t.Errorf("%s: load succeeded", name)
		}
	}
}
