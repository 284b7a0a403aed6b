// Package filter is clean and smudge: line endings, ident, encodings, filter
// drivers.
//
// A Plan is the clean direction, from a working tree file to the blob that Git
// would store (gitattributes(5), "Checking-out and checking-in"): the filter
// driver first, then working-tree-encoding, line endings and ident. What a
// comparison needs is done, and nothing else: where git-add(1) would refuse a
// file, git-status(1) compares it as it is, and so does Clean. A Smudge is the
// other direction, as far as it is done here.
package filter

import (
	"context"
	"fmt"

	"gust/internal/rules/attr"
)

// AutoCRLF is core.autocrlf.
type AutoCRLF uint8

const (
	AutoFalse AutoCRLF = iota // also: not set
	AutoTrue
	AutoInput
)

// Settings are what the conversions of one repository depend on besides
// attributes. The zero value is Git's default. They must not change once Plan
// was called; then they are safe for concurrent use.
//
// EOL decides what a checkout writes; every value of it cleans alike.
type Settings struct {
	AutoCRLF AutoCRLF
	EOL      EOL
	Drivers  map[string]Driver // by the name in filter.<name>.*
	Runner   *Runner           // runs the drivers' commands; nil means that none is run
}

// A Driver is the configuration filter.<name>.*. A name without any such
// configuration has no Driver.
type Driver struct {
	Clean    string // filter.<name>.clean
	Process  string // filter.<name>.process, preferred to Clean
	Required bool   // filter.<name>.required
	Trusted  bool   // its commands may be run
}

// NewQuery returns the query for the attributes that Plan wants.
func NewQuery() *attr.Query {
	return attr.NewQuery("text", "crlf", "eol", "ident", "filter", "working-tree-encoding")
}

// A Plan says what has to be done to one file. The zero Plan does nothing.
type Plan struct {
	eol      eolAction
	ident    bool
	lfs      bool
	encoding string
	name     string // of the driver
	driver   Driver // has a command to run if name is not ""
	runner   *Runner
}

// eolAction is what the attributes and core.autocrlf say about line endings.
type eolAction uint8

const (
	eolNone eolAction = iota // leave them alone
	eolAuto                  // CRLF becomes LF if the content is text and the index has no CRLF
	eolText                  // CRLF becomes LF
)

// Plan returns what the attribute values, in the order of NewQuery, ask for.
//
// A driver whose commands are not trusted, or for which there is no Runner, is
// left out, even if it is required: the content is then compared without it.
// Git LFS is computed here and asks for neither.
func (s *Settings) Plan(values []attr.Value) Plan {
	text, crlf, eol, ident, filter, encoding := values[0], values[1], values[2], values[3], values[4], values[5]
	p := Plan{eol: s.eolAction(text, crlf, eol), ident: ident.State == attr.Set}
	if encoding.State == attr.String && encoding.Text != "" && !isUTF8(encoding.Text) {
		p.encoding = encoding.Text
	}
	if filter.State != attr.String {
		return p
	}
	d, ok := s.Drivers[filter.Text]
	switch {
	case !ok:
	case filter.Text == "lfs" && d.isLFS():
		p.lfs = true
	case s.Runner != nil && d.Trusted && (d.Clean != "" || d.Process != "" || d.Required):
		p.name, p.driver, p.runner = filter.Text, d, s.Runner
	}
	return p
}

// eolAction combines the attributes text, crlf (its old name) and eol with
// core.autocrlf. Whether a checkout would write CRLF does not matter here.
func (s *Settings) eolAction(text, crlf, eol attr.Value) eolAction {
	v := text
	if !decidesText(v) {
		v = crlf
	}
	switch {
	case v.State == attr.Unset:
		return eolNone
	case v.Is("auto"):
		return eolAuto
	case decidesText(v), eol.Is("lf"), eol.Is("crlf"):
		return eolText
	case s.AutoCRLF != AutoFalse:
		return eolAuto
	}
	return eolNone
}

// decidesText reports whether v is a value that text and crlf can have.
func decidesText(v attr.Value) bool {
	return v.State == attr.Set || v.State == attr.Unset || v.Is("auto") || v.Is("input")
}

// Identity reports whether the content is stored as it is.
func (p *Plan) Identity() bool { return p.eol == eolNone && p.onlyEOL() }

// OnlyEOL reports whether line endings are all that may change, so that
// Stats, CleansEOL and AppendWithoutCR do without the whole content at once.
func (p *Plan) OnlyEOL() bool { return p.eol != eolNone && p.onlyEOL() }

func (p *Plan) onlyEOL() bool {
	return !p.ident && !p.lfs && p.encoding == "" && p.name == ""
}

// MayWarn reports whether Clean may meet what Git writes a warning of: a command that
// fails, or content that is not in its encoding.
func (p *Plan) MayWarn() bool { return p.name != "" || p.encoding != "" }

// OnlyLFS reports whether all that happens is that Git LFS replaces the content
// by a pointer, so that LFSPointer does without the whole content at once.
func (p *Plan) OnlyLFS() bool { return p.lfs && p.encoding == "" }

// Clean returns what Git would store for the content src of the file at path,
// relative to the root of the working tree. The result is src itself if nothing
// changes; src is never written to. indexed returns the content that the index
// has for path, and is called only if the rule about CRLF in the index needs
// it; nil means that the index has none.
//
// A driver that fails is passed over, as by Git, unless it is required. Errors
// are a *DriverError if a required driver fails, or any driver takes too long or
// writes without end,
// and those of indexed.
func (p *Plan) Clean(ctx context.Context, path string, src []byte, indexed func() ([]byte, error)) ([]byte, error) {
	out := src
	switch {
	case p.lfs:
		out = LFSPointer(src)
	case p.name != "":
		cleaned, err := p.runner.clean(ctx, p.name, p.driver, path, src)
		if err != nil {
			return nil, err
		}
		out = cleaned
	}
	if p.encoding != "" {
		out = decode(out, p.encoding)
	}
	if p.eol != eolNone {
		var stats Stats
		stats.Add(out)
		convert, err := p.CleansEOL(&stats, indexed)
		if err != nil {
			return nil, fmt.Errorf("cannot clean '%s': %w", path, err)
		}
		if convert {
			out = p.AppendWithoutCR(make([]byte, 0, int64(len(out))-stats.crlf), out, 0)
		}
	}
	if p.ident {
		out = collapseIdent(out)
	}
	return out, nil
}
