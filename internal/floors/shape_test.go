package floors

import (
	"fmt"
	"go/ast"
	"path"
	"strings"
)

// maxLines bounds a source file that is no test: longer ones hold two things.
const maxLines = 600

// maxMain bounds a function of a command, which only puts parts together.
const maxMain = 60

// checkLength reports files over maxLines and functions of commands over maxMain
// lines.
func checkLength(t *tree) (faults []string) {
	for _, s := range t.sources {
		if s.test {
			continue
		}
		if s.lines > maxLines {
			faults = append(faults, fmt.Sprintf("%s: %d lines, more than %d", s.path, s.lines, maxLines))
		}
		if !inside(s.dir, []string{"cmd"}) {
			continue
		}
		for _, d := range s.ast.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := t.fset.Position(f.End()).Line - t.fset.Position(f.Pos()).Line + 1; n > maxMain {
				faults = append(faults, fmt.Sprintf("%s%s has %d lines, more than %d", t.at(f), f.Name.Name, n, maxMain))
			}
		}
	}
	return faults
}

// checkComments reports packages without a package comment, and comments that do
// not begin with the charter, "Package <name> …". A command's begins as it likes;
// a package of tests alone carries its comment in a test file.
func checkComments(t *tree) (faults []string) {
	dirs, files := t.packages()
	for _, dir := range dirs {
		testsOnly := true
		for _, s := range files[dir] {
			testsOnly = testsOnly && s.test
		}
		var docs []*source
		for _, s := range files[dir] {
			if s.ast.Doc != nil && (testsOnly || !s.test) && strings.TrimSpace(s.ast.Doc.Text()) != "" {
				docs = append(docs, s)
			}
		}
		switch {
		case len(docs) == 0:
			faults = append(faults, dir+": no package comment")
		case len(docs) > 1:
			faults = append(faults, fmt.Sprintf("%s: package comments in both %s and %s", dir, path.Base(docs[0].path), path.Base(docs[1].path)))
		default:
			name := docs[0].ast.Name.Name
			if text := docs[0].ast.Doc.Text(); name != "main" && !strings.HasPrefix(text, "Package "+name+" ") {
				faults = append(faults, fmt.Sprintf("%s: the package comment does not begin with 'Package %s'", docs[0].path, name))
			}
		}
	}
	return faults
}

// checkPromises reports functions that promise not to allocate and have no test
// that counts allocations, and hot-path lines that say how often and not at what
// cost ("Does not allocate" or another sentence). The test is
// called Test<Func>Allocs or, for a method, Test<Type><Func>Allocs too, and it
// uses testing.AllocsPerRun itself or through a function of the package's tests.
func checkPromises(t *tree) (faults []string) {
	dirs, files := t.packages()
	for _, dir := range dirs {
		counting := allocTests(files[dir])
		for _, s := range files[dir] {
			if s.test {
				continue
			}
			for _, d := range s.ast.Decls {
				f, ok := d.(*ast.FuncDecl)
				if !ok || f.Doc == nil {
					continue
				}
				text := strings.Join(strings.Fields(f.Doc.Text()), " ")
				_, promise, hot := strings.Cut(text, "Hot path: ")
				if !hot {
					continue
				}
				_, cost, _ := strings.Cut(promise, ". ")
				if cost == "" {
					faults = append(faults, fmt.Sprintf("%s%s: 'Hot path: <how often>. Does not allocate.' is cut short", t.at(f), f.Name.Name))
				}
				if !strings.Contains(cost, "Does not allocate") {
					continue
				}
				wants := []string{"Test" + title(f.Name.Name) + "Allocs"}
				if r := receiver(f); r != "" {
					wants = append(wants, "Test"+title(r)+title(f.Name.Name)+"Allocs")
				}
				kept := false
				for _, want := range wants {
					kept = kept || counting[want]
				}
				if !kept {
					faults = append(faults, fmt.Sprintf("%s%s promises not to allocate, but no %s counts", t.at(f), f.Name.Name, strings.Join(wants, " or ")))
				}
			}
		}
	}
	return faults
}

// allocTests returns the functions of the test files that count allocations.
func allocTests(files []*source) map[string]bool {
	calls := map[string][]string{}
	for _, s := range files {
		if !s.test {
			continue
		}
		for _, d := range s.ast.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			ast.Inspect(f.Body, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					calls[f.Name.Name] = append(calls[f.Name.Name], id.Name)
				}
				return true
			})
		}
	}
	counting := map[string]bool{"AllocsPerRun": true}
	for grown := true; grown; {
		grown = false
		for name, called := range calls {
			for _, c := range called {
				if counting[c] && !counting[name] {
					counting[name], grown = true, true
				}
			}
		}
	}
	return counting
}

// receiver returns the name of a method's type, or "" for a function.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return ""
	}
	for expr := f.Recv.List[0].Type; ; {
		switch e := expr.(type) {
		case *ast.StarExpr:
			expr = e.X
		case *ast.IndexExpr:
			expr = e.X
		case *ast.IndexListExpr:
			expr = e.X
		case *ast.Ident:
			return e.Name
		default:
			return ""
		}
	}
}

func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
