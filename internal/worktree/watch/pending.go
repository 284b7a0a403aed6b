package watch

// Bounds of what is kept between two calls of Take. Beyond them a directory
// stands for the names in it, so that what is kept is bounded by the number of
// directories, whatever happens to the files.
const (
	// maxNames in one directory: where more changed, listing it and looking at each
	// file costs about as much.
	maxNames = 128
	// maxTotal names of one Watcher, about a megabyte.
	maxTotal = 8192
)

// pending is the marks since the last Take.
type pending struct {
	marks []Mark
	at    map[key]int32  // positions in marks
	names map[Node]int32 // number of names marked; collapsed if All is
	total int            // sum of names marked
}

type key struct {
	node Node
	name string
}

const collapsed = -1

// add notes change c of name in node, or of node itself where name is empty.
func (p *pending) add(node Node, name []byte, c Change) {
	if i, ok := p.at[key{node, string(name)}]; ok {
		p.marks[i].Change |= c
		return
	}
	if len(name) > 0 {
		n := p.names[node]
		if n == collapsed {
			return
		}
		if n == maxNames || p.total == maxTotal {
			p.collapse(node)
			return
		}
		p.set(node, n+1)
		p.total++
	}
	p.append(Mark{node, string(name), c})
}

// collapse makes node stand for all names in it.
func (p *pending) collapse(node Node) {
	p.set(node, collapsed)
	p.add(node, nil, All|Names)
}

func (p *pending) set(node Node, n int32) {
	if p.names == nil {
		p.names = map[Node]int32{}
	}
	p.names[node] = n
}

func (p *pending) append(m Mark) {
	if p.at == nil {
		p.at = map[key]int32{}
	}
	p.at[key{m.Node, m.Name}] = int32(len(p.marks))
	p.marks = append(p.marks, m)
}

// take appends the marks to dst and forgets them.
func (p *pending) take(dst []Mark) []Mark {
	for _, m := range p.marks {
		if m.Name == "" || p.names[m.Node] != collapsed {
			dst = append(dst, m)
		}
	}
	p.reset()
	return dst
}

// keepMarks is the size up to which memory is kept for the next marks: clearing
// a map costs its largest size.
const keepMarks = 256

func (p *pending) reset() {
	switch n := len(p.marks); {
	case n == 0:
	case n > keepMarks:
		*p = pending{}
	default:
		clear(p.marks)
		p.marks = p.marks[:0]
		clear(p.at)
		clear(p.names)
		p.total = 0
	}
}

// renumber gives the marks new numbers, or drops them. Numbers that were
// different stay so.
func (p *pending) renumber(to func(Node) (Node, bool)) {
	old := *p
	*p = pending{}
	for _, m := range old.marks {
		node, keep := to(m.Node)
		n := old.names[m.Node]
		if !keep || m.Name != "" && n == collapsed {
			continue
		}
		m.Node = node
		p.append(m)
		if m.Name != "" {
			p.total++
		}
		if n != 0 {
			p.set(node, n)
		}
	}
}
