// Package attr is gitattributes(5): macros, precedence, per-directory stacks.
//
// A List is one file of rules. A Stack is the lists that apply in one
// directory, by rising precedence: the built-in macro, the system's file,
// core.attributesFile, .gitattributes from the root to the directory, and
// info/attributes above all. Reading the files is the caller's business: from
// the working tree, or from the index where the working tree has none; files
// above 100 MB and symbolic links count as absent, as they do to Git.
package attr

import "gust/internal/rules/ignore"

// A State says in which of gitattributes(5)'s states an attribute is.
type State uint8

const (
	Unspecified State = iota // no rule says anything, or the last one says "!name"
	Set                      // "name"
	Unset                    // "-name"
	String                   // "name=text"
)

// A Value is the state of one attribute of one path.
type Value struct {
	State State
	Text  string // if State is String
}

// Is reports whether v is the string text.
func (v Value) Is(text string) bool { return v.State == String && v.Text == text }

// String returns v as git-check-attr(1) prints it.
func (v Value) String() string {
	switch v.State {
	case Set:
		return "set"
	case Unset:
		return "unset"
	case String:
		return v.Text
	}
	return "unspecified"
}

// Options are the settings that a List depends on. The zero value is Git's
// default.
type Options struct {
	IgnoreCase bool // core.ignoreCase
}

// An assignment gives one attribute a value.
type assignment struct {
	name  string
	value Value
}

// A rule is one line that begins with a pattern.
type rule struct {
	pattern ignore.Pattern
	assigns []assignment
}

// A macro is one line that begins with [attr].
type macro struct {
	name    string
	assigns []assignment
}

// A List is the rules of one file. It is immutable and safe for concurrent use.
type List struct {
	rules  []rule // in file order
	macros []macro
}

// Empty reports whether l says nothing.
func (l *List) Empty() bool { return l == nil || len(l.rules)+len(l.macros) == 0 }

// Names calls visit for each attribute that l mentions, in file order and as
// often as it does.
func (l *List) Names(visit func(name string)) {
	for _, m := range l.macros {
		visit(m.name)
		for _, a := range m.assigns {
			visit(a.name)
		}
	}
	for _, r := range l.rules {
		for _, a := range r.assigns {
			visit(a.name)
		}
	}
}

// A Stack is the lists that apply in one directory. It is immutable and safe
// for concurrent use; stacks share their lower parts.
type Stack struct {
	parent *Stack
	list   *List // nil at the bottom
	offset int   // where the part of a path that the list sees begins
	info   *List // info/attributes, above everything; may be nil
	macros map[string][]assignment
}

// New returns the stack that applies where no .gitattributes does: the
// built-in macro "binary", then below in order of rising precedence (the
// system's file, then core.attributesFile), and info (info/attributes) above
// everything pushed later. Nil lists are empty.
func New(below []*List, info *List) *Stack {
	s := &Stack{info: info, macros: map[string][]assignment{
		// gitattributes(5), "Using macro attributes".
		"binary": {{"diff", Value{State: Unset}}, {"merge", Value{State: Unset}}, {"text", Value{State: Unset}}},
	}}
	for _, l := range below {
		s = s.Push(l, "")
	}
	return s.define(info)
}

// Push returns the stack with l, the .gitattributes of dir, on top of s. dir is
// "" for the root of the working tree and otherwise a path without a slash at
// either end. Macros that l defines count at the root only. If l is empty,
// Push returns s.
func (s *Stack) Push(l *List, dir string) *Stack {
	if l.Empty() {
		return s
	}
	offset := 0
	if dir != "" {
		offset = len(dir) + 1
	}
	top := &Stack{parent: s, list: l, offset: offset, info: s.info, macros: s.macros}
	if dir == "" {
		top = top.define(l).define(s.info)
	}
	return top
}

// define returns s with the macros of l, which replace earlier ones.
func (s *Stack) define(l *List) *Stack {
	if l == nil || len(l.macros) == 0 {
		return s
	}
	merged := make(map[string][]assignment, len(s.macros)+len(l.macros))
	for name, assigns := range s.macros {
		merged[name] = assigns
	}
	for _, m := range l.macros {
		merged[m.name] = m.assigns
	}
	t := *s
	t.macros = merged
	return &t
}

// A Query asks for the values of a fixed set of attributes. It holds memory
// that Lookup reuses, so it must not be used concurrently: each worker has its
// own.
type Query struct {
	names []string
	known []assignment   // what the rules seen so far decided
	index map[string]int // into known, once known is long
	open  int            // names not yet decided
}

// NewQuery returns the query for the attributes called names, which are all
// different.
func NewQuery(names ...string) *Query { return &Query{names: names} }

// longKnown is the number of decided attributes from which on a map finds
// them: below it a walk over them is faster.
const longKnown = 24

// Lookup appends to dst the values that the attributes of q have for path, in
// the order of the query's names. path is relative to the root of the working
// tree and has no slash at either end; it names a file, so patterns that end in
// a slash do not match it. The directories of all lists of s must be parents
// of path.
//
// Hot path: once per file whose content is compared. Does not allocate if dst
// has room and q was used before.
func (s *Stack) Lookup(path []byte, q *Query, dst []Value) []Value {
	q.known, q.open = q.known[:0], len(q.names)
	if q.index != nil {
		clear(q.index)
	}
	base := len(path)
	for base > 0 && path[base-1] != '/' {
		base--
	}
	name := path[base:]
	if s.info != nil {
		q.apply(s.info, path, name, s.macros)
	}
	for t := s; t != nil && q.open > 0; t = t.parent {
		if t.list != nil {
			q.apply(t.list, path[t.offset:], name, s.macros)
		}
	}
	for _, n := range q.names {
		var v Value
		if i := q.find(n); i >= 0 {
			v = q.known[i].value
		}
		dst = append(dst, v)
	}
	return dst
}

// apply takes in the rules of l that match, the last one first.
func (q *Query) apply(l *List, path, name []byte, macros map[string][]assignment) {
	for i := len(l.rules) - 1; i >= 0 && q.open > 0; i-- {
		if r := &l.rules[i]; r.pattern.Match(path, name) {
			q.assign(r.assigns, macros)
		}
	}
}

// assign takes in assigns, the last one first, for the attributes that nothing
// was said about yet. A macro that becomes set stands for its own assignments.
func (q *Query) assign(assigns []assignment, macros map[string][]assignment) {
	for i := len(assigns) - 1; i >= 0 && q.open > 0; i-- {
		a := assigns[i]
		if q.find(a.name) >= 0 {
			continue
		}
		q.add(a)
		if a.value.State == Set {
			if expansion, ok := macros[a.name]; ok {
				q.assign(expansion, macros)
			}
		}
	}
}

// add notes that a is decided.
func (q *Query) add(a assignment) {
	q.known = append(q.known, a)
	for _, n := range q.names {
		if n == a.name {
			q.open--
		}
	}
	switch n := len(q.known); {
	case n == longKnown:
		if q.index == nil {
			q.index = make(map[string]int, 2*longKnown)
		}
		for i, k := range q.known {
			q.index[k.name] = i
		}
	case n > longKnown:
		q.index[a.name] = n - 1
	}
}

// find returns where name stands in q.known, or -1.
func (q *Query) find(name string) int {
	if len(q.known) >= longKnown {
		if i, ok := q.index[name]; ok {
			return i
		}
		return -1
	}
	for i := range q.known {
		if q.known[i].name == name {
			return i
		}
	}
	return -1
}
