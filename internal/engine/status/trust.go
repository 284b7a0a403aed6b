package status

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"gust/internal/format/config"
	"gust/internal/repo"
)

// TrustKey is the configuration variable that names the filter commands of
// repositories that may be run, in protected configuration (git-config(1)). Each
// value is what [Filter.Trust] returns.
const TrustKey = "gust.trustedfilter"

// A Filter is a filter driver whose commands came with a repository's own
// configuration (gitattributes(5)).
type Filter struct {
	Name           string // the driver's
	Clean, Process string // its commands; empty: it has none
	Trust          string // the value of TrustKey that allows them, in this repository alone
	Trusted        bool   // they may be run
}

// RepositoryFilters returns the drivers of r with a command that protected
// configuration does not define, by name.
func RepositoryFilters(r *repo.Repository) ([]Filter, error) {
	s, err := readFilters(r)
	if err != nil {
		return nil, err
	}
	var list []Filter
	for _, name := range r.Config.Subsections("filter") {
		d := s.Drivers[name]
		if d.Clean == "" && d.Process == "" || protected(r.Config, name) {
			continue
		}
		list = append(list, Filter{Name: name, Clean: d.Clean, Process: d.Process, Trust: trustValue(r, name), Trusted: d.Trusted})
	}
	return list, nil
}

// protected reports whether the commands of the driver called name came with no
// repository.
func protected(c *config.Config, name string) bool {
	for _, command := range []string{"clean", "process"} {
		if e, ok := c.Entry("filter." + name + "." + command); ok && !e.Scope.Protected() {
			return false
		}
	}
	return true
}

// trustValue is the value of TrustKey for a driver of r: a digest of what would
// be run and where, and the git directory for people to read.
func trustValue(r *repo.Repository, name string) string {
	h := sha256.New()
	part := func(s string) { fmt.Fprintf(h, "%d:%s", len(s), s) }
	part(r.CommonDir)
	part(name)
	for _, command := range []string{"clean", "process"} {
		v, _ := r.Config.Get("filter." + name + "." + command)
		part(v)
	}
	return hex.EncodeToString(h.Sum(nil)[:16]) + " " + r.CommonDir
}

// trusts tells which commands of r's own may be run.
type trusts struct {
	all    bool
	values map[string]bool // of TrustKey, up to the git directory
}

// readTrusts reads what protected configuration says of filters.
func readTrusts(c *config.Config) (trusts, error) {
	var t trusts
	for _, e := range c.Entries("gust.trustFilters") {
		if !e.Scope.Protected() {
			continue
		}
		v, ok := config.ParseBool(e.Value)
		if !ok && !e.NoValue {
			return t, &config.ValueError{Entry: e, Problem: "not a boolean"}
		}
		t.all = v || e.NoValue
	}
	for _, e := range c.Entries(TrustKey) {
		if e.Scope.Protected() {
			if t.values == nil {
				t.values = make(map[string]bool)
			}
			digest, _, _ := strings.Cut(e.Value, " ")
			t.values[digest] = true
		}
	}
	return t, nil
}

// allow reports whether the commands of r's driver called name may be run.
func (t *trusts) allow(r *repo.Repository, name string) bool {
	if t.all || protected(r.Config, name) {
		return true
	}
	if len(t.values) == 0 {
		return false
	}
	digest, _, _ := strings.Cut(trustValue(r, name), " ")
	return t.values[digest]
}
