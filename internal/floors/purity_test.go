package floors

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strconv"
	"strings"
)

// pureImports are the packages outside the module that a pure package may
// import, an allow-list: what is new must be argued for here. None of them
// reaches the file system, the network, the environment or a clock, but for the
// names in impureNames.
var pureImports = []string{
	"bufio", "bytes", "cmp", "container/heap", "container/list", "crypto", "crypto/sha1", "crypto/sha256",
	"encoding", "encoding/base64", "encoding/binary", "encoding/hex", "encoding/json",
	"errors", "fmt", "hash", "hash/adler32", "hash/crc32", "hash/fnv", "hash/maphash", "io", "iter",
	"maps", "math", "math/bits", "path", "slices", "sort", "strconv", "strings", "sync", "sync/atomic",
	"time", "unicode", "unicode/utf16", "unicode/utf8",
	"github.com/klauspost/compress/flate", // bytes to bytes
	"github.com/pjbgf/sha1cd",             // the hash of objects that are named or verified, as git computes it
}

// impureNames are what the allowed packages offer that is not pure: clocks,
// timers, the local time zone and the standard streams.
var impureNames = map[string][]string{
	"time": {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTicker", "NewTimer", "Local", "LoadLocation"},
	"fmt":  {"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
}

// checkPurity reports imports and uses in pure rooms that reach outside the
// program. Tests of pure packages may: they ask git.
func checkPurity(t *tree) (faults []string) {
	for _, s := range t.sources {
		if s.test || !inside(s.dir, t.plan.pure) {
			continue
		}
		names := map[string]string{} // local name to import path
		for i, imp := range s.imports() {
			spec := s.ast.Imports[i]
			if !strings.HasPrefix(imp, t.module+"/") && !slices.Contains(pureImports, imp) {
				faults = append(faults, fmt.Sprintf("%simports %s; a pure package does no I/O", t.at(spec), strconv.Quote(imp)))
			}
			local := path.Base(imp)
			if spec.Name != nil {
				local = spec.Name.Name
			}
			if local == "." && impureNames[imp] != nil {
				faults = append(faults, fmt.Sprintf("%simports %s with a dot, so its impure names cannot be told", t.at(spec), strconv.Quote(imp)))
			}
			names[local] = imp
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && slices.Contains(impureNames[names[x.Name]], n.Sel.Name) {
					faults = append(faults, fmt.Sprintf("%suses %s.%s; a pure package has no clock and no streams", t.at(n), names[x.Name], n.Sel.Name))
				}
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.Ident); ok && (f.Name == "print" || f.Name == "println") {
					faults = append(faults, fmt.Sprintf("%swrites to standard error with %s", t.at(n), f.Name))
				}
			}
			return true
		})
	}
	return faults
}

// checkState reports init functions and package-level variables that code
// changes: assigned, incremented, or of a type that exists to be changed.
// Variables set once where they are declared (errors, tables) are fine.
func checkState(t *tree) (faults []string) {
	dirs, files := t.packages()
	for _, dir := range dirs {
		vars := map[string]bool{}
		for _, s := range files[dir] {
			if s.test {
				continue
			}
			for _, d := range s.ast.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					if d.Recv == nil && d.Name.Name == "init" {
						faults = append(faults, t.at(d)+"has an init function")
					}
				case *ast.GenDecl:
					for _, spec := range d.Specs {
						v, ok := spec.(*ast.ValueSpec)
						if !ok || d.Tok.String() != "var" {
							continue
						}
						for _, name := range v.Names {
							vars[name.Name] = name.Name != "_"
						}
						if changing(v.Type) || slices.ContainsFunc(v.Values, changing) {
							faults = append(faults, t.at(v)+"package-level variable of a type that changes")
						}
					}
				}
			}
		}
		for _, s := range files[dir] {
			if !s.test {
				faults = append(faults, t.assignments(s, vars)...)
			}
		}
	}
	return faults
}

// changing reports whether the type or composite literal expr is from sync or
// sync/atomic.
func changing(expr ast.Expr) bool {
	switch e := expr.(type) {
	case *ast.StarExpr:
		return changing(e.X)
	case *ast.UnaryExpr:
		return changing(e.X)
	case *ast.CompositeLit:
		return changing(e.Type)
	case *ast.IndexExpr:
		return changing(e.X)
	case *ast.SelectorExpr:
		x, ok := e.X.(*ast.Ident)
		return ok && (x.Name == "sync" || x.Name == "atomic")
	}
	return false
}

// assignments reports what functions of s assign to vars, the package's own
// variables. Names that a function declares again are told apart by the parser's
// resolution, which binds every local name to an object of its file.
func (t *tree) assignments(s *source, vars map[string]bool) (faults []string) {
	// A name is the package's if it is unresolved in this file (declared in
	// another) or resolved to a declaration at file level.
	global := func(expr ast.Expr) bool {
		for {
			switch e := expr.(type) {
			case *ast.Ident:
				if !vars[e.Name] {
					return false
				}
				return e.Obj == nil || s.ast.Scope.Lookup(e.Name) == e.Obj
			case *ast.IndexExpr:
				expr = e.X
			case *ast.SelectorExpr:
				expr = e.X
			case *ast.ParenExpr:
				expr = e.X
			default:
				return false
			}
		}
	}
	ast.Inspect(s.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok.String() == ":=" {
				return true
			}
			for _, lhs := range n.Lhs {
				if global(lhs) {
					faults = append(faults, t.at(lhs)+"changes a package-level variable")
				}
			}
		case *ast.IncDecStmt:
			if global(n.X) {
				faults = append(faults, t.at(n)+"changes a package-level variable")
			}
		}
		return true
	})
	return faults
}
