package floors

import (
	"fmt"
	"go/build/constraint"
	"path"
	"slices"
	"strings"
)

// systems and machines are the values of GOOS and GOARCH that give a file name
// meaning to the go command (go/build, "Build Constraints").
var (
	systems = []string{
		"aix", "android", "darwin", "dragonfly", "freebsd", "hurd", "illumos", "ios", "js", "linux", "nacl",
		"netbsd", "openbsd", "plan9", "solaris", "wasip1", "windows", "zos",
	}
	machines = []string{
		"386", "amd64", "arm", "arm64", "armbe", "arm64be", "amd64p32", "loong64", "mips", "mipsle", "mips64",
		"mips64le", "mips64p32", "mips64p32le", "ppc", "ppc64", "ppc64le", "riscv", "riscv64", "s390",
		"s390x", "sparc", "sparc64", "wasm",
	}
)

// constrained returns what keeps a source from being built everywhere: a build
// line or a part of its name. Empty means that it is built everywhere.
func constrained(s *source) string {
	for _, group := range s.ast.Comments {
		for _, c := range group.List {
			if c.Pos() < s.ast.Package && (constraint.IsGoBuild(c.Text) || constraint.IsPlusBuild(c.Text)) {
				return c.Text
			}
		}
	}
	name := strings.TrimSuffix(strings.TrimSuffix(path.Base(s.path), ".go"), "_test")
	parts := strings.Split(name, "_")
	if len(parts) > 1 {
		last := parts[len(parts)-1]
		if slices.Contains(systems, last) || slices.Contains(machines, last) {
			return "the name ending in _" + last
		}
	}
	return ""
}

// checkPlatform reports, outside the platform rooms, sources that are built on
// some systems only, and imports of what differs between systems. Test files may
// carry the race detector's own tag, test rooms the tag unix (locks, terminals),
// and nothing else: what guards users is not behind a tag that plain
// `go test ./...` leaves off.
func checkPlatform(t *tree) (faults []string) {
	for _, s := range t.sources {
		if inside(s.dir, t.plan.platform) {
			continue
		}
		c := constrained(s)
		allowed := s.test && (c == "//go:build race" || c == "//go:build !race") ||
			inside(s.dir, t.plan.tests) && c == "//go:build unix"
		if c != "" && !allowed {
			faults = append(faults, fmt.Sprintf("%s: %s, outside the platform rooms", s.path, c))
		}
		if inside(s.dir, t.plan.tests) {
			continue // they make FIFOs, sockets and locks to test with
		}
		for i, imp := range s.imports() {
			switch {
			case imp == "unsafe", imp == "syscall", imp == "runtime/cgo", imp == "C", strings.HasPrefix(imp, "golang.org/x/sys/"):
				faults = append(faults, fmt.Sprintf("%simports %s, outside the platform rooms", t.at(s.ast.Imports[i]), imp))
			}
		}
	}
	return faults
}
