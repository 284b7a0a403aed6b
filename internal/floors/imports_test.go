package floors

import (
	"fmt"
	"path"
	"strings"
)

// checkImports reports imports that go up a floor or across to another room of
// the same floor, packages that stand on no floor, and test rooms imported by
// code that is no test. A test file obeys its package's floor too, but for the
// test rooms.
func checkImports(t *tree) (faults []string) {
	dirs, _ := t.packages()
	for _, dir := range dirs {
		if _, _, ok := t.plan.roomOf(dir); !ok && !inside(dir, t.plan.tests) {
			faults = append(faults, fmt.Sprintf("%s: stands on no floor of floors.txt", dir))
		}
	}
	for _, s := range t.sources {
		from, fromFloor, _ := t.plan.roomOf(s.dir)
		for _, imp := range s.imports() {
			dir, ours := strings.CutPrefix(imp, t.module+"/")
			if !ours {
				continue
			}
			if inside(dir, t.plan.tests) {
				if !s.test && !inside(s.dir, t.plan.tests) {
					faults = append(faults, fmt.Sprintf("%s: imports %s, which is for tests only", s.path, dir))
				}
				continue
			}
			if inside(s.dir, t.plan.tests) {
				continue
			}
			to, toFloor, ok := t.plan.roomOf(dir)
			switch {
			case !ok:
				faults = append(faults, fmt.Sprintf("%s: imports %s, which stands on no floor", s.path, dir))
			case to == from:
			case toFloor > fromFloor:
				faults = append(faults, fmt.Sprintf("%s: imports %s, up from floor %d to %d", s.path, dir, fromFloor, toFloor))
			case toFloor == fromFloor:
				faults = append(faults, fmt.Sprintf("%s: imports %s, another room of floor %d", s.path, dir, toFloor))
			}
		}
	}
	return faults
}

// bagNames are names of packages that say nothing about what is inside, so that
// everything ends up there.
var bagNames = []string{
	"util", "utils", "helper", "helpers", "common", "base", "types", "shared", "misc",
	"manager", "tools", "lib", "core", "generic", "support", "stuff", "internalutil",
}

// checkNames reports folders and packages with a name that promises nothing, and
// packages that are not called like their folder.
func checkNames(t *tree) (faults []string) {
	dirs, files := t.packages()
	for _, dir := range dirs {
		for part := range strings.SplitSeq(dir, "/") {
			if isBag(part) {
				faults = append(faults, fmt.Sprintf("%s: '%s' names no concept", dir, part))
			}
		}
		for _, s := range files[dir] {
			name := strings.TrimSuffix(s.ast.Name.Name, "_test")
			if name != "main" && name != path.Base(dir) {
				faults = append(faults, fmt.Sprintf("%s: package %s in folder %s", s.path, name, path.Base(dir)))
			}
		}
	}
	return faults
}

func isBag(name string) bool {
	name = strings.ToLower(name)
	for _, bag := range bagNames {
		if name == bag {
			return true
		}
	}
	return strings.HasSuffix(name, "util") || strings.HasSuffix(name, "utils") || strings.HasSuffix(name, "helpers")
}
