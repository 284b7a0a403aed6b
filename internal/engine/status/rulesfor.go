package status

import (
	"gust/internal/repo"
	"gust/internal/rules/attr"
	"gust/internal/rules/filter"
	"gust/internal/worktree/scan"
)

// Rules are what a repository's settings say about comparing its working tree with
// its index.
type Rules struct {
	Stat       scan.StatRules
	Filters    *filter.Settings // without a Runner
	Attrs      *attr.Stack      // of lower precedence than every .gitattributes file
	IgnoreCase bool
}

// ReadRules returns the rules of r, which has a working tree. A value that Git
// would refuse is an error.
func ReadRules(r *repo.Repository) (*Rules, error) {
	s, err := readSettings(r)
	if err != nil {
		return nil, err
	}
	filters, err := readFilters(r)
	if err != nil {
		return nil, err
	}
	var files ruleFiles
	files.update(&s, r.CommonDir, r.Env["GIT_ATTR_NOSYSTEM"] == "")
	return &Rules{s.stat, filters, files.attrs, s.ignoreCase}, nil
}
