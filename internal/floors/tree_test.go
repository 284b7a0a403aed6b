package floors

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A source is one parsed Go file. Its path is relative to the module's root and
// has forward slashes.
type source struct {
	path  string
	dir   string
	test  bool // _test.go
	lines int
	data  []byte
	ast   *ast.File
}

// imports returns the import paths of the file.
func (s *source) imports() []string {
	var list []string
	for _, spec := range s.ast.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			panic("the parser accepted an import path that is no string: " + spec.Path.Value)
		}
		list = append(list, p)
	}
	return list
}

// A tree is every Go source of a module with the text of floors.txt and the
// documents, as checks see it.
type tree struct {
	fsys    fs.FS
	fset    *token.FileSet
	module  string
	plan    *plan
	sources []*source
}

// load parses the module at the root of fsys. Folders that the go command does
// not build (testdata, and names that begin with a dot or an underscore) are left
// out. What cannot be parsed is an error, never a file the less.
func load(fsys fs.FS) (*tree, error) {
	t := &tree{fsys: fsys, fset: token.NewFileSet()}
	mod, err := fs.ReadFile(fsys, "go.mod")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(mod)) {
		if name, ok := strings.CutPrefix(line, "module "); ok {
			t.module = strings.TrimSpace(name)
		}
	}
	if t.module == "" {
		return nil, fmt.Errorf("go.mod names no module")
	}
	text, err := fs.ReadFile(fsys, "internal/floors/floors.txt")
	if err != nil {
		return nil, err
	}
	if t.plan, err = parsePlan(string(text)); err != nil {
		return nil, err
	}
	err = fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if p != "." && (name == "testdata" || name == "vendor" || name[0] == '.' || name[0] == '_') {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || name[0] == '.' || name[0] == '_' {
			return nil
		}
		data, err := fs.ReadFile(fsys, p)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(t.fset, p, data, parser.ParseComments)
		if err != nil {
			return err
		}
		t.sources = append(t.sources, &source{
			path: p, dir: path.Dir(p), test: strings.HasSuffix(name, "_test.go"),
			lines: bytes.Count(data, []byte("\n")), data: data, ast: file,
		})
		return nil
	})
	return t, err
}

// packages returns the folders that hold Go files, sorted, each with its files.
func (t *tree) packages() (dirs []string, files map[string][]*source) {
	files = map[string][]*source{}
	for _, s := range t.sources {
		if files[s.dir] == nil {
			dirs = append(dirs, s.dir)
		}
		files[s.dir] = append(files[s.dir], s)
	}
	slices.Sort(dirs)
	return dirs, files
}

// at returns "path:line: " for a node of a source.
func (t *tree) at(n ast.Node) string {
	p := t.fset.Position(n.Pos())
	return fmt.Sprintf("%s:%d: ", p.Filename, p.Line)
}

// A plan is floors.txt, parsed.
type plan struct {
	floor    map[string]int // room to floor
	tests    []string       // rooms that only tests import
	pure     []string
	platform []string
}

// parsePlan reads floors.txt: lines of a floor's number, or one of the words
// tests, pure and platform, and the rooms it is said of. '#' begins a comment.
func parsePlan(text string) (*plan, error) {
	p := &plan{floor: map[string]int{}}
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		switch f[0] {
		case "tests":
			p.tests = append(p.tests, f[1:]...)
		case "pure":
			p.pure = append(p.pure, f[1:]...)
		case "platform":
			p.platform = append(p.platform, f[1:]...)
		default:
			n, err := strconv.Atoi(f[0])
			if err != nil || len(f) == 1 {
				return nil, fmt.Errorf("floors.txt:%d: want a floor and its rooms, got '%s'", i+1, line)
			}
			for _, room := range f[1:] {
				if _, twice := p.floor[room]; twice {
					return nil, fmt.Errorf("floors.txt:%d: room '%s' stands on two floors", i+1, room)
				}
				p.floor[room] = n
			}
		}
	}
	return p, nil
}

// inside reports whether dir is one of rooms or in one of them.
func inside(dir string, rooms []string) bool {
	return slices.ContainsFunc(rooms, func(room string) bool {
		return dir == room || strings.HasPrefix(dir, room+"/")
	})
}

// roomOf returns the room that dir is in and its floor.
func (p *plan) roomOf(dir string) (room string, floor int, ok bool) {
	for d := dir; d != "."; d = path.Dir(d) {
		if n, found := p.floor[d]; found {
			return d, n, true
		}
	}
	return "", 0, false
}

func TestParsePlanRefusesNonsense(t *testing.T) {
	for _, text := range []string{"floor internal/pure", "1", "0 a\n1 a"} {
		if p, err := parsePlan(text); err == nil {
			t.Errorf("parsePlan(%q) = %v, want an error", text, p)
		}
	}
}
