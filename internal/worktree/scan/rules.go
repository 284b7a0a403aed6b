package scan

import (
	"io"

	"gust/internal/disk/dirlist"
	"gust/internal/disk/filestat"
	"gust/internal/format/index"
	"gust/internal/pure/oid"
	"gust/internal/rules/attr"
	"gust/internal/rules/ignore"
)

const (
	gitignoreZ     = ".gitignore\x00"
	gitattributesZ = ".gitattributes\x00"
)

// maxRules bounds the size of a rule file in bytes, as Git bounds its own.
const maxRules = 100 << 20

// A ruleFile remembers where the content of a directory's .gitignore or
// .gitattributes file came from.
type ruleFile struct {
	staged  bool // from the index's blob id, else from the file that stat describes
	settled bool // stat was old enough to be believed
	stat    filestat.Stat
	id      oid.ID
}

// A ruleSource is a node's memory of one rule file.
type ruleSource struct {
	present bool      // the listing has the name
	absent  bool      // neither the listing nor the index has it
	file    *ruleFile // what was read last; nil if nothing was, as in most directories
}

// readRule returns the content of a rule file in directory d and whether it may
// differ from what the last call returned. indexed says which index entry stands
// in for a missing file.
func (w *worker) readRule(r *ruleSource, dir dirlist.Dir, d int, nameZ string, indexed func(*index.Entry) bool) (data []byte, changed bool) {
	if r.absent && !r.present {
		return nil, false
	}
	if r.present {
		var st filestat.Stat
		w.work.Stats++
		if dir.StatName(&st, nameZ) == nil {
			if f := r.file; f != nil && !f.staged && f.settled && f.stat == st {
				return nil, false
			}
			data, ok := w.readFile(dir, nameZ, &st)
			r.file = &ruleFile{stat: st, settled: ok && st.Settled(w.now)}
			return data, true
		}
	}
	if d >= 0 {
		name := []byte(nameZ[:len(nameZ)-1])
		if i, ok := w.ix.FindFile(d, name); ok && indexed(&w.ix.Entries[i]) && w.ix.Entries[i].Stage() == 0 {
			id := w.ix.ID(i)
			if r.file != nil && r.file.staged && r.file.id == id {
				return nil, false
			}
			if data, err := w.back.ReadBlob(i); err == nil && len(data) <= maxRules {
				r.file = &ruleFile{staged: true, id: id}
				return data, true
			}
		}
	}
	changed = r.file != nil
	r.file, r.absent = nil, true
	return nil, changed
}

// readFile reads a rule file. One that is no regular file, a symbolic link among
// them, or is too large says nothing, as it does to Git.
func (w *worker) readFile(dir dirlist.Dir, nameZ string, st *filestat.Stat) (data []byte, ok bool) {
	if !st.IsRegular() || st.Size > maxRules {
		w.warns.Store(true)
		return nil, true
	}
	file, err := dir.OpenFile(nameZ, nameZ[:len(nameZ)-1])
	if err != nil {
		w.warns.Store(true)
		return nil, false
	}
	defer file.Close()
	data, err = io.ReadAll(io.LimitReader(file, maxRules))
	return data, err == nil
}

// rules brings the stacks of n, which is directory d at w.path, up to date under
// those of its parent.
func (w *worker) rules(n *node, dir dirlist.Dir, d int, in *ignore.Stack, attrIn *attr.Stack, under bool) {
	data, changed := w.readRule(&n.attrFile, dir, d, gitattributesZ, func(*index.Entry) bool { return true })
	if changed {
		n.attrList = attr.Parse(data, attr.Options{IgnoreCase: w.o.IgnoreCase})
	}
	if changed || n.attrIn != attrIn || n.attrOut == nil {
		n.attrIn, n.attrOut = attrIn, attrIn
		if !n.attrList.Empty() { // seldom: most directories have no path made for them
			n.attrOut = attrIn.Push(n.attrList, string(w.path))
		}
	}

	stale := n.in != in || n.under != under || n.out == nil && in != nil
	if stale {
		n.in, n.under = in, under
		n.excluded = under || len(w.path) > 0 && in.Match(w.path, baseOf(w.path), true) == ignore.Ignored
	}
	if n.excluded {
		// Rules inside an ignored directory are not read.
		n.ignoreFile.file, n.ignoreFile.absent, n.ignoreList = nil, false, nil
	} else {
		data, changed = w.readRule(&n.ignoreFile, dir, d, gitignoreZ, func(e *index.Entry) bool { return e.Flags&index.SkipWorktree != 0 })
		if changed {
			n.ignoreList = ignore.Parse(data, ignore.Options{IgnoreCase: w.o.IgnoreCase})
			stale = true
		}
	}
	if stale {
		n.out, n.judged = in, false
		if !n.ignoreList.Empty() {
			source := gitignoreZ[:len(gitignoreZ)-1]
			if len(w.path) > 0 {
				source = string(w.path) + "/" + source
			}
			n.out = in.Push(n.ignoreList, string(w.path), source)
		}
	}
}

func baseOf(path []byte) int {
	for i := len(path); i > 0; i-- {
		if path[i-1] == '/' {
			return i
		}
	}
	return 0
}

// judge finds out which of n's kids are ignored.
func (w *worker) judge(n *node) {
	n.judged, n.files = true, 0
	dirLen := len(w.path)
	for i := range n.kids {
		k := &n.kids[i]
		w.push(k.nameZ)
		base := dirLen
		if dirLen > 0 {
			base++
		}
		k.ignored = n.out.Match(w.path, base, k.dir) == ignore.Ignored
		if !k.dir && !k.ignored {
			n.files++
		}
		w.path = w.path[:dirLen]
	}
}

// push appends a NUL-terminated name to w.path.
func (w *worker) push(nameZ string) {
	if len(w.path) > 0 {
		w.path = append(w.path, '/')
	}
	w.path = append(w.path, nameZ[:len(nameZ)-1]...)
}
