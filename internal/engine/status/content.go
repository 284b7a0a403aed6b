package status

import (
	"context"
	"os"
	"strings"

	"gust/internal/pure/object"
	"gust/internal/repo"
	"gust/internal/rules/attr"
	"gust/internal/rules/filter"
	"gust/internal/worktree/content"
	"gust/internal/worktree/scan"
)

// readFilters returns the conversions that r's configuration asks for, without a
// Runner.
func readFilters(r *repo.Repository) (*filter.Settings, error) {
	s := &filter.Settings{Drivers: make(map[string]filter.Driver)}
	if v, ok := r.Config.Get("core.autocrlf"); ok && strings.EqualFold(v, "input") {
		s.AutoCRLF = filter.AutoInput
	} else if on, _, err := r.Config.Bool("core.autocrlf"); err != nil {
		return nil, err
	} else if on {
		s.AutoCRLF = filter.AutoTrue
	}
	switch v, _ := r.Config.Get("core.eol"); {
	case strings.EqualFold(v, "lf"):
		s.EOL = filter.EOLLF
	case strings.EqualFold(v, "crlf"):
		s.EOL = filter.EOLCRLF
	}
	trust, err := readTrusts(r.Config)
	if err != nil {
		return nil, err
	}
	for _, name := range r.Config.Subsections("filter") {
		key := "filter." + name + "."
		clean, _ := r.Config.Get(key + "clean")
		process, _ := r.Config.Get(key + "process")
		required, _, err := r.Config.Bool(key + "required")
		if err != nil {
			return nil, err
		}
		s.Drivers[name] = filter.Driver{
			Clean: clean, Process: process, Required: required,
			// A command that came with the repository is not run by a prompt unasked.
			Trusted: trust.allow(r, name),
		}
	}
	return s, nil
}

// A comparer compares the content of one file at a time.
type comparer struct {
	content *content.Comparer
	file    *scan.File // the one at hand
	query   *attr.Query
	values  []attr.Value
}

func (s *Repo) newComparer() *comparer {
	c := &comparer{query: filter.NewQuery()}
	c.content = content.New(s.r.Algo, content.Files{
		Open:     func(nameZ string) (*os.File, error) { return c.file.Dir.OpenFile(nameZ, string(c.file.Path)) },
		Readlink: func(nameZ string) (string, error) { return c.file.Dir.Readlink(nameZ, string(c.file.Path)) },
	})
	return c
}

// Same reports whether a file, once cleaned, is the content that its entry names.
func (b *backend) Same(ctx context.Context, f *scan.File) (bool, error) {
	c := b.takeComparer()
	defer b.putComparer(c)
	c.file = f
	c.values = f.Attrs.Lookup(f.Path, c.query, c.values[:0])
	e := &b.ix.Entries[f.Entry]
	plan := b.filters.Plan(c.values)
	if plan.MayWarn() {
		b.warns.Store(true)
	}
	return c.content.Same(ctx, content.Entry{ID: b.ix.ID(f.Entry), Size: e.Size}, &content.File{
		Name: f.NameZ, Path: string(f.Path), Size: f.Stat.Size,
		Symlink: object.Mode(e.Mode) == object.ModeSymlink && f.Stat.IsSymlink(),
		Plan:    plan,
		Indexed: func() ([]byte, error) { return b.ReadBlob(f.Entry) },
	})
}

func (b *backend) takeComparer() *comparer {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := len(b.s.comparers); n > 0 {
		c := b.s.comparers[n-1]
		b.s.comparers = b.s.comparers[:n-1]
		return c
	}
	return b.s.newComparer()
}

func (b *backend) putComparer(c *comparer) {
	c.file = nil
	b.mu.Lock()
	b.s.comparers = append(b.s.comparers, c)
	b.mu.Unlock()
}

// filterEnv returns the environment of a filter command: this process's own with
// Git's variables as the client has them.
func filterEnv(env repo.Env) []string {
	var vars []string
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); !strings.HasPrefix(name, "GIT_") {
			if _, ok := env[name]; !ok {
				vars = append(vars, v)
			}
		}
	}
	for name, value := range env {
		vars = append(vars, name+"="+value)
	}
	return vars
}
