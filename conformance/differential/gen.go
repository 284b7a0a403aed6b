package differential

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"

	"gust/internal/gittest"
)

// Features returns what the generator mixes into scenarios, each with the issue
// that owns it in gust: leaving one out of a run is how a run waits for it.
func Features() map[string]int {
	return map[string]int{
		"ignore": 2, "untracked": 2, "nested": 2, "symlink": 2, "mode": 2, "typechange": 2, "special": 2,
		"intent": 2, "flags": 2, "conflict": 2, "state": 2, "stash": 2, "tag": 2, "head": 2, "upstream": 2,
		"push": 2, "pack": 2, "worktree": 2, "submodule": 2, "indexversion": 2, "split": 2, "sparse": 2,
		"extensions": 2, "skiphash": 2, "sha256": 2, "reftable": 2, "attributes": 2, "filter": 2, "settings": 2,
		"statsettings": 2, "oddnames": 2, "encoding": 2, "untrackedsetting": 2, "owner": 2, "editors": 2,
		"restored": 2, "inplace": 2, "moved": 2, "replaced": 2, "gitfile": 2, "global": 2, "damage": 2,
		"places": 2, "limits": 2, "replace": 2, "shallow": 2, "alternates": 2,
		"environment": 2, "aged": 2, "outside": 3, "encodings": 4, "lfs": 4, "case": 4, "monitor": 4, "packs": 4,
	}
}

// A Maker makes scenarios from seeds.
type Maker struct {
	Git  gittest.Git // the git that the steps are for
	Off  map[string]bool
	Only []string // these features alone, if any
	Root bool     // the steps run as root: files may change owner
	LFS  bool     // there is a git-lfs
	Mmap bool     // there is a python3 to write through a mapping with
}

// gen is the making of one scenario.
type gen struct {
	*rand.Rand
	m        *Maker
	on       map[string]bool
	names    []string // paths of files, relative to the working tree
	branches []string
	tags     []string
	others   []Query
	steps    []Step
	clock    int
	ownIndex bool
}

// An op is one kind of change. make returns shell commands that run in the
// repository, or nothing where the change does not fit.
type op struct {
	feature string // "" is always on
	weight  int
	make    func(g *gen) []string
}

// allOps returns every op there is.
func allOps() []op {
	return slices.Concat(fileOps(), treeOps(), ruleOps(), indexOps(), commitOps(), refOps(), stateOps(),
		nestedOps(), settingOps(), placeOps(), formatOps())
}

// Make returns the scenario of a seed. Each seed has a few features only: bugs
// that need two of them are found sooner than with all in every repository.
func (m *Maker) Make(seed uint64) *Scenario {
	g := &gen{Rand: newRand(seed), m: m, on: map[string]bool{}}
	share := []float64{0.06, 0.15, 0.3, 0.5}[g.IntN(4)]
	for _, f := range slices.Sorted(maps.Keys(Features())) {
		if f == "outside" {
			// Part of editors, with a name of its own to be left out by.
			g.on[f] = g.on["editors"] && !m.Off[f]
			continue
		}
		chosen := g.Float64() < share
		if f == "sha256" || f == "reftable" || f == "skiphash" || f == "owner" || f == "statsettings" {
			chosen = chosen && g.Float64() < 0.4
		}
		if m.Only != nil {
			chosen = slices.Contains(m.Only, f)
		}
		g.on[f] = chosen && !m.Off[f]
	}
	if !m.Git.AtLeast(2, 46) {
		g.on["reftable"] = false
	}
	g.on["owner"] = g.on["owner"] && m.Root
	g.on["lfs"] = g.on["lfs"] && m.LFS
	// A split index without a checksum finds its shared index by the checksum: git
	// 2.55 writes one that it reads as garbage.
	g.on["split"] = g.on["split"] && !g.on["skiphash"]
	// git 2.39 refuses a split index that is sparse, and 2.55 one that it wrote.
	g.on["split"] = g.on["split"] && !g.on["sparse"]
	g.branches = []string{"main", "side"}
	g.tags = []string{"v1", "v2", "a/b"}
	if g.on["oddnames"] {
		g.branches = append(g.branches, pick(g, oddRefs()...))
		g.tags = append(g.tags, pick(g, oddRefs()...))
	}
	g.makeNames()
	g.setup()
	g.changes(6 + g.IntN(6))
	s := &Scenario{Seed: seed, Steps: g.steps, Options: []gittest.Options{gittest.Unlimited()}}
	for f, on := range g.on {
		if on {
			s.Features = append(s.Features, f)
		}
	}
	sort.Strings(s.Features)
	if g.on["limits"] {
		s.Options = append(s.Options, g.options())
	}
	if g.on["environment"] {
		s.Env = g.environment()
	}
	return s
}

func (g *gen) options() gittest.Options {
	o := gittest.Defaults()
	lim := func() int { return pick(g, -1, 0, 1, 1, 2, 3, 1000) }
	o.Staged, o.Unstaged, o.Conflicted, o.Untracked = lim(), lim(), lim(), lim()
	o.DirtyMaxIndexSize = pick(g, -1, -1, -1, 0, 3, 7)
	o.SummaryBytes = pick(g, 256, 0, 1, 5, 40)
	o.Threads = pick(g, 1, 1, 2, 5)
	flag := func() bool { return g.IntN(3) == 0 }
	o.RecurseUntracked, o.IgnoreStatusUntracked, o.IgnoreBashUntracked, o.IgnoreBashDirty = flag(), flag(), flag(), flag()
	return o
}

// environment returns variables of git's that hold for the whole scenario.
func (g *gen) environment() []string {
	return pick(g,
		[]string{"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=status.showUntrackedFiles", "GIT_CONFIG_VALUE_0=" + pick(g, "all", "no"),
			"GIT_CONFIG_KEY_1=core.fileMode", "GIT_CONFIG_VALUE_1=" + pick(g, "false", "true")},
		[]string{"GIT_CONFIG_PARAMETERS='core.filemode'='false' 'status.showuntrackedfiles=all' 'bash.showuntrackedfiles'"},
		[]string{"GIT_CEILING_DIRECTORIES=$B/p"},
		[]string{"GIT_CEILING_DIRECTORIES=$B/p/r:relative::/nowhere"},
		[]string{"XDG_CONFIG_HOME=$B/xdg"},
		[]string{"GIT_NO_REPLACE_OBJECTS=1"},
		[]string{"GIT_INDEX_FILE=$B/index"},
		[]string{"GIT_CONFIG_GLOBAL=$B/global"},
		[]string{"GIT_DISCOVERY_ACROSS_FILESYSTEM=1"},
		[]string{"GIT_SHALLOW_FILE=$B/p/r/.git/shallow2"},
		[]string{"GIT_DEFAULT_HASH=sha256", "GIT_NAMESPACE=ns"},
	)
}

func pick[T any](g *gen, of ...T) T { return of[g.IntN(len(of))] }

// makeNames chooses the paths that the scenario plays with: few, so that changes
// meet, and close together in the order of the index.
func (g *gen) makeNames() {
	files := []string{"a", "b", "c.o", "d.txt", "e.c", "f1", "g", "Makefile", "d-", "d.", "d0", "da", ".hidden", "x.up"}
	dirs := []string{"d", "d", "e", "d-x", "src", "build", "d/x"}
	if g.on["oddnames"] {
		files = append(files, "sp ace", "q'uote", `q"q`, "tab\tx", "nl\nx", "bad\xff", "\xc3\xbcn\xc3\xaf", "-dash", "*star", "[x]",
			"!bang", "#hash", `back\slash`, " lead", "trail ", "?", "~", ".gitx", "gitignore", "$(id)", "%F{red}", "\x7f", "A", "MAKEFILE")
		dirs = append(dirs, "sp ace", "\xff", "[d]", "!d", "D", "d*", "nl\n", "#d")
	}
	dir := make([]string, 3)
	for i := range dir {
		dir[i] = pick(g, dirs...)
		if g.IntN(3) == 0 {
			dir[i] += "/" + pick(g, dirs...)
		}
	}
	seen := map[string]bool{}
	for n := 5 + g.IntN(7); len(g.names) < n; {
		name := pick(g, files...)
		if g.IntN(5) > 1 {
			name = pick(g, dir...) + "/" + name
		}
		if !seen[name] {
			seen[name] = true
			g.names = append(g.names, name)
		}
	}
}

// path returns a file of the scenario, as a word of the shell that no command
// takes for an option.
func (g *gen) path() string { return quote("./" + g.name()) }

func (g *gen) name() string { return pick(g, g.names...) }

// dirOf returns a name's directory; "." at the top.
func dirOf(name string) string {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		return name[:i]
	}
	return "."
}

// dir returns a directory that the scenario's names are in.
func (g *gen) dir() string {
	for range 8 {
		if d := dirOf(g.name()); d != "." {
			if i := strings.IndexByte(d, '/'); i >= 0 && g.IntN(2) == 0 {
				return d[:i]
			}
			return d
		}
	}
	return "d"
}

func (g *gen) content() string {
	return pick(g, `a\n`, `b\n`, `c\n`, `ab\n`, `ba\n`, ``, `a\nb\nc\nd\n`, `A\n`, `a\r\nb\r\n`, `a\r\nb\n`, `x\000y\n`, `xy`, `$Id$\n`)
}

// write returns commands that write content to a file of the scenario.
func (g *gen) write(name, how string) []string {
	return []string{fmt.Sprintf("mkdir -p %s; %s %s '%s'", quote("./"+dirOf(name)), how, quote("./"+name), g.content())}
}

func (g *gen) branch() string { return pick(g, g.branches...) }

func oddRefs() []string {
	return []string{"x%F{red}", "$(id)", "`id`", "it's", "\xc3\xbcn\xc3\xaf", "feature/x", "a.b", `q"q`, "x\xff", "(detached)", "heads/main", "%", "HEAD2"}
}

// add ends a step: what it runs, and what is asked after it.
func (g *gen) add(commands []string) {
	if len(commands) == 0 {
		return
	}
	g.clock++
	s := Step{OwnIndex: g.ownIndex, Rules: g.on["attributes"] || g.on["filter"] || g.on["global"] || g.on["encodings"] || g.on["lfs"], Queries: []Query{{Dir: "p/r"}}}
	s.Commands = append([]string{fmt.Sprintf("at %d; r", g.clock)}, commands...)
	if len(g.others) > 0 && g.IntN(3) > 0 {
		s.Queries = append(s.Queries, pick(g, g.others...))
	}
	if g.IntN(12) == 0 {
		s.Queries[0].NoIndex = true
	}
	g.steps = append(g.steps, s)
	if g.on["aged"] && g.IntN(2) == 0 {
		// The daemon does not believe the times of files that changed just now, which
		// would hide what it keeps of them: here it looks again when it believes them.
		s.Commands = []string{"sleep 0.03"}
		g.steps = append(g.steps, s)
	}
}

// changes adds the mutation steps.
func (g *gen) changes(n int) {
	var ops []op
	total := 0
	for _, o := range allOps() {
		if o.feature == "" || g.on[o.feature] {
			ops = append(ops, o)
			total += o.weight
		}
	}
	for end := len(g.steps) + n; len(g.steps) < end; {
		var commands []string
		for range pick(g, 1, 1, 1, 1, 2, 2, 3) {
			at := g.IntN(total)
			for _, o := range ops {
				if at -= o.weight; at < 0 {
					if c := o.make(g); len(c) > 0 {
						commands = append(append(commands, c...), "r")
					}
					break
				}
			}
		}
		if len(commands) > 0 {
			g.add(commands[:len(commands)-1])
		}
	}
}

// setup adds the steps that build the repository.
func (g *gen) setup() {
	init := "mkdir -p p; git init -q"
	if g.on["sha256"] {
		init += " --object-format=sha256"
	}
	if g.on["reftable"] {
		init += " --ref-format=reftable"
	}
	g.others = append(g.others, Query{Dir: "p/r/" + g.dir()})
	if g.on["places"] {
		g.others = append(g.others, Query{Dir: "p/r/.git", GitDir: true}, Query{Dir: "p/r/.git"}, Query{Dir: "p"},
			Query{Dir: "p/r", NoIndex: true})
	}
	first := []string{init + ` "$R"; r`}
	if g.on["filter"] {
		first = append(first, "git config --global gust.trustFilters true",
			"git config filter.up.clean 'tr a-z A-Z'; git config filter.up.smudge 'tr A-Z a-z'", "printf '*.up filter=up\\n' >.gitattributes")
	}
	g.add(first)
	if g.IntN(10) == 0 {
		return // an unborn branch, for as long as the changes leave it so
	}
	var base []string
	for _, name := range g.names {
		if g.IntN(4) > 0 {
			base = append(base, g.write(name, "put")...)
		}
	}
	g.add(append(base, "git add -A; git commit -qm base"))
	var side []string
	side = append(side, "git switch -q -c side")
	for range 2 {
		side = append(side, g.write(g.name(), "put")...)
		side = append(side, "git add -A; git commit -qm 'side work'")
	}
	side = append(side, "git switch -q main")
	side = append(side, g.write(g.name(), "put")...)
	side = append(side, "git add -A; git commit -qm 'main work'")
	g.add(side)
	g.setupFeatures()
}

// setupFeatures builds what some features' changes start from.
func (g *gen) setupFeatures() {
	if g.on["upstream"] || g.on["push"] {
		g.add([]string{
			"git remote add origin ../up.git; git remote add team/one https://example.com/one",
			"git update-ref refs/remotes/origin/main main~1; git update-ref refs/remotes/origin/side side; git update-ref refs/remotes/team/one/main side",
			"git config branch.main.remote origin; git config branch.main.merge refs/heads/main",
		})
	}
	if g.on["worktree"] {
		g.others = append(g.others, Query{Dir: "p/w1"}, Query{Dir: "p/w1"})
		g.add([]string{"git worktree add -q ../w1 -b wb1"})
	}
	if g.on["submodule"] {
		g.others = append(g.others, Query{Dir: "p/r/sub"}, Query{Dir: "p/r/sub"})
		g.add([]string{
			`git init -q "$B/lib"; cd "$B/lib"; put f 'f\n'; git add f; git commit -qm lib`,
			"r; git submodule --quiet add ../../lib sub; git commit -qm 'add sub'",
		})
	}
	if g.on["lfs"] {
		g.add([]string{`git config --global filter.lfs.clean 'git-lfs clean -- %f'; git config --global filter.lfs.smudge 'git-lfs smudge --skip -- %f'; git config --global filter.lfs.process 'git-lfs filter-process --skip'; git config --global filter.lfs.required true`,
			`printf '*.bin filter=lfs diff=lfs merge=lfs -text\n' >.gitattributes; put m.bin 'content\n'; git add .; git commit -qm lfs`})
	}
	if g.on["replaced"] {
		g.add([]string{`git clone -q "$R" "$B/alt"; cd "$B/alt"; git switch -q -c other; put new 'a\n'; git add new; git commit -qm alt; put new 'b\n'`})
	}
}
