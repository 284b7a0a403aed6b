package checkout

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"gust/internal/disk/filestat"
	"gust/internal/disk/workfile"
	"gust/internal/engine/treediff"
	"gust/internal/pure/object"
	"gust/internal/pure/oid"
)

// stagingName is the directory, in the git directory, in which a move keeps what it
// replaces: the undo log. Beside the journal it has a drawer for each worker, and that a
// file for each step that replaces or removes one, called by the step's number.
const stagingName = "gust-checkout"

// trashName is the directory, in the git directory, of what moves that are done
// have left, to be removed at leisure.
const trashName = "gust-trash"

const journalName = "journal"

// journalMagic begins a journal, whose fields end in NUL bytes:
//
//	magic, label, hash of the index file, tree to move to, number of steps
//	for each step: op, old inode, old size, old mtime in nanoseconds, new mode, new object ID, path
//	"end"
const journalMagic = "gust checkout 2"

// A journal is the staging directory of a move and what the journal in it says.
type journal struct {
	dir     string // the staging directory
	staging workfile.Dir
	drawers []drawer
	label   string
	index   string // hash of the index file, in hex
	to      oid.ID // the tree to move to
	steps   []journalStep
}

// A drawer has the files of one worker.
type drawer struct {
	workfile.Dir
	name string
}

type journalStep struct {
	op    op
	ino   uint64 // of the file that was there; 0 for opCreate
	size  int64
	mtime int64
	to    treediff.Side
	path  string
}

// indexHash returns what tells one index file from another: the last bytes of it
// with its size and time.
func indexHash(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return "none"
	}
	return hex.EncodeToString(data[max(0, len(data)-oid.MaxSize):]) + "-" + strconv.Itoa(len(data))
}

// begin makes the staging directory and the journal, before the first change.
func (m *Move) begin() (*work, error) {
	w := &work{m: m, stats: make([]filestat.Stat, len(m.steps)), states: make([]state, len(m.steps))}
	if !m.changesFiles() {
		return w, nil
	}
	j := &w.journal
	j.dir = filepath.Join(m.r.GitDir, stagingName)
	var git, tree filestat.Stat
	if err := filestat.Of(&git, m.r.GitDir); err != nil {
		return nil, err
	}
	if err := m.rules.root.Self(&tree); err != nil || git.Dev != tree.Dev {
		return nil, refuse("the git directory is on another file system than the working tree", "")
	}
	if err := os.Mkdir(j.dir, 0o777); err != nil {
		return nil, &Refusal{Reason: "cannot make a staging directory", Err: err}
	}
	w.made = true
	w.drawer = make([]uint8, len(m.steps))
	err := m.writeJournal(j)
	if err == nil {
		err = j.makeDrawers(m.workers())
	}
	if err != nil {
		w.close()
		os.RemoveAll(j.dir)
		return nil, &Refusal{Reason: "cannot write a journal", Err: err}
	}
	return w, nil
}

// makeDrawers opens the staging directory and makes n drawers in it.
func (j *journal) makeDrawers(n int) (err error) {
	if j.staging, err = workfile.Open(j.dir); err != nil {
		return err
	}
	// ext4 looks for free inodes from the same place on for all files of a directory,
	// and what was just deleted there costs time, as much as everything else where files
	// of the last switch lie there. Directories below one that is marked so are put in
	// places that their names decide: no two runs use the same.
	j.staging.Spread()
	for i := range n {
		name := fmt.Sprintf("drawer-%d-%d-%d", i, os.Getpid(), time.Now().UnixNano())
		if err := j.staging.Mkdir(name); err != nil {
			return err
		}
		if err := j.openDrawer(name); err != nil {
			return err
		}
	}
	return nil
}

func (j *journal) openDrawer(name string) error {
	d, err := j.staging.OpenDir(name)
	if err == nil {
		j.drawers = append(j.drawers, drawer{d, name})
	}
	return err
}

// openDrawers opens the staging directory and the drawers that were made.
func (j *journal) openDrawers() (err error) {
	if j.staging, err = workfile.Open(j.dir); err != nil {
		return err
	}
	names, err := j.staging.Names()
	for _, name := range names {
		if err == nil && name != journalName {
			err = j.openDrawer(name)
		}
	}
	if err != nil {
		j.close()
	}
	return err
}

func (j *journal) close() {
	for _, d := range j.drawers {
		d.Close()
	}
	if j.staging != (workfile.Dir{}) {
		j.staging.Close()
	}
	j.drawers, j.staging = nil, workfile.Dir{}
}

func (m *Move) changesFiles() bool {
	for i := range m.steps {
		if m.steps[i].op != opForget {
			return true
		}
	}
	return false
}

func (m *Move) writeJournal(j *journal) error {
	var b bytes.Buffer
	field := func(v any) { fmt.Fprintf(&b, "%v\x00", v) }
	field(journalMagic)
	field(strings.ReplaceAll(m.q.Label, "\x00", " "))
	field(indexHash(m.r.IndexPath))
	to := m.q.To
	if m.q.Limit != nil {
		to = oid.Null(m.r.Algo) // HEAD goes nowhere
	}
	field(to)
	field(len(m.steps))
	for i := range m.steps {
		s := &m.steps[i]
		field(s.op)
		var ino uint32
		var size uint32
		var mtime int64
		if s.entry >= 0 {
			e := &m.ix.Entries[s.entry]
			ino, size, mtime = m.look.inodes[s.entry], e.Size, int64(e.MtimeSec)*1e9+int64(e.MtimeNsec)
		}
		field(ino)
		field(size)
		field(mtime)
		field(uint32(s.to.Mode))
		id := s.to.ID
		if s.to.Mode == 0 {
			id = oid.Null(m.r.Algo)
		}
		field(id)
		field(s.path)
	}
	field("end")
	f, err := os.OpenFile(filepath.Join(j.dir, journalName), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(b.Bytes())
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// readJournal reads the journal in the staging directory dir. ok is false if it is
// not whole: nothing had been changed then.
func readJournal(dir string, algo oid.Algo) (j journal, ok bool, err error) {
	j.dir = dir
	f, err := os.Open(filepath.Join(dir, journalName))
	if os.IsNotExist(err) {
		return j, false, nil
	}
	if err != nil {
		return j, false, err
	}
	defer f.Close()
	r := bufio.NewReader(f)
	bad := false
	field := func() string {
		s, err := r.ReadString(0)
		if err != nil {
			bad = true
		}
		return strings.TrimSuffix(s, "\x00")
	}
	number := func(bits int) uint64 {
		n, err := strconv.ParseUint(field(), 10, bits)
		if err != nil {
			bad = true
		}
		return n
	}
	if field() != journalMagic {
		return j, false, nil
	}
	j.label, j.index = field(), field()
	if j.to, err = oid.Parse(algo, field()); err != nil {
		return j, false, nil
	}
	for n := number(31); n > 0 && !bad; n-- {
		s := journalStep{op: op(number(8)), ino: number(32), size: int64(number(32)), mtime: int64(number(63))}
		s.to.Mode = object.Mode(number(32))
		id, err := oid.Parse(algo, field())
		if s.to.ID, s.path = id, field(); err != nil {
			bad = true
		}
		j.steps = append(j.steps, s)
	}
	return j, !bad && field() == "end" && !bad, nil
}

// discard puts the staging directory where what is to be removed is, and returns
// that place.
func (j *journal) discard() string {
	if j.dir == "" {
		return ""
	}
	trash := filepath.Join(filepath.Dir(j.dir), trashName)
	_ = os.Mkdir(trash, 0o777)
	for n := os.Getpid(); ; n++ {
		to := filepath.Join(trash, strconv.Itoa(n))
		if _, err := os.Lstat(to); err == nil {
			continue
		}
		if err := os.Rename(j.dir, to); err != nil {
			os.RemoveAll(j.dir)
		}
		return trash
	}
}
