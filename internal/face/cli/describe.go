package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"

	"gust/internal/engine/past"
	"gust/internal/history/describe"
	"gust/internal/repo"
)

// describeArgs is the command line of git-describe(1).
type describeArgs struct {
	o      describe.Options
	abbrev bool   // o.Abbrev was given
	dirty  string // --dirty's mark; "" without the option
	broken bool
	revs   []string
}

// describe is `gust describe`.
func (p *Program) describe(ctx context.Context, args []string) (int, error) {
	a, err := parseDescribe(args)
	if err != nil {
		return 0, err
	}
	var out, warnings strings.Builder
	code, err := p.describeTo(ctx, a, &out, &warnings)
	if err != nil {
		return 0, err
	}
	io.WriteString(p.Err, warnings.String())
	if _, err := io.WriteString(p.Out, out.String()); err != nil {
		return exitDie, nil
	}
	return code, nil
}

// describeTo writes what describe prints. Its error says that git is to run instead.
func (p *Program) describeTo(ctx context.Context, a *describeArgs, out, warnings io.Writer) (code int, err error) {
	past, err := p.openPast()
	if err != nil {
		return 0, err
	}
	defer past.Close()
	if !a.abbrev {
		if a.o.Abbrev, err = past.Abbrev(); err != nil {
			return 0, err
		}
	}
	mark := ""
	if a.dirty != "" || a.broken {
		if past.Repo.WorkTree == "" {
			return 0, errHandOver
		}
		dirty, err := past.Dirty(ctx, runtime.GOMAXPROCS(0))
		if err != nil {
			return 0, err
		}
		if dirty {
			mark = cmp.Or(a.dirty, "-dirty")
		}
	}
	d := describe.Describer{DB: past.DB, Refs: past.Repo.Refs, Walker: past.Walker}
	d.Warn = func(message string) { fmt.Fprintf(warnings, "warning: %s\n", message) }
	if err := d.Start(a.o); err != nil {
		return told(err, warnings)
	}
	for _, rev := range a.revs {
		id, err := past.Revision.Commit(rev)
		if err != nil {
			return 0, err
		}
		text, err := d.Describe(ctx, id)
		if err != nil {
			return told(err, warnings)
		}
		fmt.Fprintf(out, "%s%s\n", text, mark)
	}
	return exitOK, nil
}

// told writes err as git does if it is one of describe's own.
func told(err error, w io.Writer) (int, error) {
	var none *describe.NoNameError
	if err != describe.ErrNoNames && !errors.As(err, &none) {
		return 0, err
	}
	fmt.Fprintf(w, "fatal: %v\n", err)
	return exitDie, nil
}

// openPast opens the repository of the working directory. It is git's if the user has
// every git command traced.
func (p *Program) openPast() (*past.Past, error) {
	dir, err := p.Dir()
	if err != nil {
		return nil, err
	}
	o, err := past.Open(dir, repo.EnvFrom(p.Env))
	if err == nil && tracedBy(o.Repo.Config) {
		o.Close()
		return nil, errHandOver
	}
	return o, err
}

// parseDescribe parses the options that gust knows, spelled out; the error says that
// there are others.
func parseDescribe(args []string) (*describeArgs, error) {
	a := &describeArgs{o: describe.Options{Candidates: describe.DefaultCandidates}}
	flags := map[string]*bool{
		"all": &a.o.All, "tags": &a.o.Tags, "long": &a.o.Long, "always": &a.o.Always, "first-parent": &a.o.FirstParent,
	}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			a.revs = append(a.revs, args[i+1:]...)
			break
		}
		option, ok := strings.CutPrefix(arg, "--")
		if !ok {
			if strings.HasPrefix(arg, "-") {
				return nil, errHandOver
			}
			a.revs = append(a.revs, arg)
			continue
		}
		name, value, given := strings.Cut(option, "=")
		base, off := strings.CutPrefix(name, "no-")
		if f := flags[base]; f != nil && !given {
			*f = !off
			continue
		}
		if (name == "match" || name == "exclude" || name == "candidates") && !given {
			i++
			if i == len(args) {
				return nil, errHandOver
			}
			value, given = args[i], true
		}
		if err := a.option(name, value, given); err != nil {
			return nil, err
		}
	}
	return a.complete()
}

// option sets an option that may have a value.
func (a *describeArgs) option(name, value string, given bool) error {
	switch {
	case name == "abbrev" && given:
		a.abbrev = true
		return plainNumber(value, &a.o.Abbrev)
	case name == "abbrev":
		a.abbrev = false
	case name == "no-abbrev" && !given:
		a.o.Abbrev, a.abbrev = 0, true
	case name == "exact-match" && !given:
		a.o.Candidates = 0
	case name == "no-exact-match" && !given:
		a.o.Candidates = describe.DefaultCandidates
	case name == "candidates" && given:
		return plainNumber(value, &a.o.Candidates)
	case name == "match":
		a.o.Match = append(a.o.Match, value)
	case name == "no-match" && !given:
		a.o.Match = nil
	case name == "exclude":
		a.o.Exclude = append(a.o.Exclude, value)
	case name == "no-exclude" && !given:
		a.o.Exclude = nil
	case name == "dirty" && given:
		a.dirty = value
	case name == "dirty":
		a.dirty = "-dirty"
	case name == "no-dirty" && !given:
		a.dirty = ""
	case name == "broken": // its mark is for what cannot be read, which is left to git
		a.broken = true
	case name == "no-broken" && !given:
		a.broken = false
	default:
		return errHandOver
	}
	return nil
}

// plainNumber parses decimal digits and nothing else, which no version of Git takes
// for anything else.
func plainNumber(value string, to *int) error {
	if value == "" || len(value) > 9 || strings.Trim(value, "0123456789") != "" {
		return errHandOver
	}
	n, err := strconv.Atoi(value)
	*to = n
	return err
}

// complete checks what options say of each other.
func (a *describeArgs) complete() (*describeArgs, error) {
	if a.o.Long && a.abbrev && a.o.Abbrev == 0 || (a.dirty != "" || a.broken) && len(a.revs) > 0 {
		return nil, errHandOver
	}
	if a.abbrev && a.o.Abbrev > 0 {
		a.o.Abbrev = max(a.o.Abbrev, 4)
	}
	if len(a.revs) == 0 {
		a.revs = []string{"HEAD"}
	}
	return a, nil
}
