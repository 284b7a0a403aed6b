package floors

import (
	"fmt"
	"go/ast"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	codeSpan = regexp.MustCompile("`([^`\n]+)`")
	linkURL  = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	pathLike = regexp.MustCompile(`^\.?[\w.-]+(/[\w.-]+)*/?$`)
	symbol   = regexp.MustCompile(`^([a-z][a-z0-9]*)\.([A-Za-z]\w*)(?:\.([A-Za-z]\w*))?(?:\(\))?$`)
)

// documents are the pages whose names must hold: the ones a newcomer follows.
func documents(fsys fs.FS) ([]string, error) {
	pages, err := fs.Glob(fsys, "docs/*.md")
	if err != nil {
		return nil, err
	}
	for _, page := range []string{"ARCHITECTURE.md", "README.md"} {
		if _, err := fs.Stat(fsys, page); err == nil {
			pages = append(pages, page)
		}
	}
	return pages, nil
}

// checkDocs reports, in ARCHITECTURE.md, README.md and docs, paths of the project
// that do not exist, links that lead nowhere, and functions named as
// package.Function that the package does not declare.
//
// A path is a code span, a word of a code block or a link's target whose first
// part is a folder at the root or a room of internal ('pure/oid' is
// internal/pure/oid), or a file name of the root. Braces are opened:
// 'pure/{oid,object}' is two paths.
func checkDocs(t *tree) (faults []string) {
	pages, err := documents(t.fsys)
	if err != nil {
		return []string{err.Error()}
	}
	if len(pages) == 0 {
		return []string{"no documents"}
	}
	exists := func(p string) bool {
		_, err := fs.Stat(t.fsys, path.Clean(p))
		return err == nil
	}
	tops := t.topFolders()
	declared := t.declared()
	for _, page := range pages {
		data, err := fs.ReadFile(t.fsys, page)
		if err != nil {
			return []string{err.Error()}
		}
		for _, m := range linkURL.FindAllStringSubmatch(string(data), -1) {
			target, _, _ := strings.Cut(m[1], "#")
			if target == "" || strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			if !exists(path.Join(path.Dir(page), target)) {
				faults = append(faults, fmt.Sprintf("%s: links to '%s', which does not exist", page, target))
			}
		}
		for _, word := range codeWords(string(data)) {
			if m := symbol.FindStringSubmatch(word); m != nil && declared[m[1]] != nil {
				name := m[2]
				if m[3] != "" {
					name += "." + m[3]
				}
				if !declared[m[1]][name] && !isFile(word) {
					faults = append(faults, fmt.Sprintf("%s: names %s, which package %s does not declare", page, word, m[1]))
				}
				continue
			}
			if !pathLike.MatchString(word) {
				continue
			}
			first, rest, _ := strings.Cut(word, "/")
			rooted := rest != "" && slices.Contains(tops, first)
			if rooted && !exists(word) && !exists("internal/"+word) {
				faults = append(faults, fmt.Sprintf("%s: names '%s', which does not exist", page, word))
			}
			if !strings.Contains(word, "/") && isFile(word) && !exists(word) && !exists(path.Join(path.Dir(page), word)) && !t.hasBase(word) {
				faults = append(faults, fmt.Sprintf("%s: names the file '%s', which does not exist", page, word))
			}
		}
	}
	return faults
}

// checkPicture reports packages that the drawing in ARCHITECTURE.md, its first code
// block, leaves out. A room without folders in it is drawn by its own name.
func checkPicture(t *tree) (faults []string) {
	data, err := fs.ReadFile(t.fsys, "ARCHITECTURE.md")
	if err != nil {
		return []string{err.Error()}
	}
	_, rest, _ := strings.Cut(string(data), "```")
	drawing, _, found := strings.Cut(rest, "```")
	if !found {
		return []string{"ARCHITECTURE.md: no drawing"}
	}
	words := map[string]bool{}
	for _, w := range strings.Fields(drawing) {
		words[strings.Trim(w, "/,")] = true
	}
	dirs, _ := t.packages()
	for _, dir := range dirs {
		if inside(dir, slices.Concat(t.plan.tests, []string{"bench", "scripts"})) {
			continue
		}
		if !words[path.Base(dir)] {
			faults = append(faults, fmt.Sprintf("ARCHITECTURE.md does not draw %s", dir))
		}
	}
	return faults
}

// isFile reports whether a bare word is the name of one of our files, by its
// ending.
func isFile(word string) bool {
	switch path.Ext(word) {
	case ".go", ".md", ".svg":
		return true
	}
	return word == "Makefile"
}

func (t *tree) hasBase(name string) bool {
	return slices.ContainsFunc(t.sources, func(s *source) bool { return path.Base(s.path) == name })
}

// topFolders returns the first parts that make a word a path of the project: the
// folders of the root and of internal, those of floors.txt whether they exist or
// not, and the folders that docs must not name once they are gone.
func (t *tree) topFolders() []string {
	tops := []string{"cmd", "internal", "shell", "docs", "bench", "conformance", "scripts", ".ci"}
	rooms := slices.Concat(t.plan.tests, t.plan.pure, t.plan.platform)
	for room := range t.plan.floor {
		rooms = append(rooms, room)
	}
	for _, room := range rooms {
		first, _, _ := strings.Cut(strings.TrimPrefix(room, "internal/"), "/")
		tops = append(tops, first)
	}
	return tops
}

// codeWords returns the words of a Markdown page's code spans and code blocks,
// braces opened. In blocks, what is in angle brackets or holds a '$' is no path.
func codeWords(page string) (words []string) {
	block := false
	for line := range strings.Lines(page) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			block = !block
			continue
		}
		if block {
			for _, w := range strings.Fields(line) {
				words = append(words, braces(strings.Trim(w, ",;:()[]\"'…"))...)
			}
			continue
		}
		for _, m := range codeSpan.FindAllStringSubmatch(line, -1) {
			for _, w := range strings.Fields(m[1]) {
				words = append(words, braces(strings.Trim(w, ",;:\"'…"))...)
			}
		}
	}
	return words
}

// braces opens the first pair of braces of a word, as a shell does.
func braces(word string) []string {
	head, rest, ok := strings.Cut(word, "{")
	inner, tail, ok2 := strings.Cut(rest, "}")
	if !ok || !ok2 {
		return []string{word}
	}
	var words []string
	for part := range strings.SplitSeq(inner, ",") {
		words = append(words, head+part+tail)
	}
	return words
}

// declared returns, for each package of the module by its name, what it declares:
// functions, types, values, and methods as Type.Method.
func (t *tree) declared() map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for _, s := range t.sources {
		pkg := s.ast.Name.Name
		if pkg == "main" {
			continue
		}
		names := all[pkg]
		if names == nil {
			names = map[string]bool{}
			all[pkg] = names
		}
		for _, d := range s.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if r := receiver(d); r != "" {
					names[r+"."+d.Name.Name] = true
				} else {
					names[d.Name.Name] = true
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						names[spec.Name.Name] = true
						if st, ok := spec.Type.(*ast.StructType); ok {
							for _, field := range st.Fields.List {
								for _, n := range field.Names {
									names[spec.Name.Name+"."+n.Name] = true
								}
							}
						}
					case *ast.ValueSpec:
						for _, n := range spec.Names {
							names[n.Name] = true
						}
					}
				}
			}
		}
	}
	return all
}
