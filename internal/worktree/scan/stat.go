package scan

import (
	"gust/internal/disk/filestat"
	"gust/internal/format/index"
	"gust/internal/pure/object"
)

// A NanosecMode is the value of core.useNanosec.
type NanosecMode uint8

const (
	NanosecAuto  NanosecMode = iota // nanoseconds count wherever both sides have them
	NanosecTrue                     // nanoseconds take part in every comparison
	NanosecFalse                    // whole seconds only, as most builds of Git
)

// StatRules are the settings that say which differences of stat matter
// (git-config(1)).
type StatRules struct {
	IgnoreExec  bool // core.fileMode=false
	NoSymlinks  bool // core.symlinks=false
	IgnoreCtime bool // core.trustctime=false
	Minimal     bool // core.checkStat=minimal
	Nanosec     NanosecMode
}

// A Match is what a stat says about a file and its entry.
type Match uint8

const (
	Clean    Match = iota // the file is what the entry says
	Modified              // it is not
	Unsure                // only its content can say
)

// Match compares an entry of a regular file or symbolic link with the file's
// stat. empty says that the entry is of the empty blob.
//
// Hot path: once per index entry. Does not allocate.
func (r *StatRules) Match(e *index.Entry, st *filestat.Stat, empty bool, ix *index.Index) Match {
	if object.Mode(e.Mode) == object.ModeSymlink {
		if !st.IsSymlink() && !(r.NoSymlinks && st.IsRegular()) {
			return Modified
		}
	} else if !st.IsRegular() || !r.IgnoreExec && (e.Mode^st.Mode)&0o100 != 0 {
		return Modified
	}
	if size := index.RecordedSize(st.Size); e.Size != size && e.Size != 0 {
		return Modified
	} else if e.Size == 0 && (!empty || size != 0) {
		// Smudged, or never looked at: the size says nothing.
		return Unsure
	}
	if r.Differs(e, st) || r.racy(e, ix) {
		return Unsure
	}
	return Clean
}

// Differs reports whether a field that counts is another one in st than in e.
func (r *StatRules) Differs(e *index.Entry, st *filestat.Stat) bool {
	if e.MtimeSec != uint32(st.MtimeSec) {
		return true
	}
	if r.Minimal {
		return false
	}
	if e.Ino != uint32(st.Ino) || e.UID != st.UID || e.GID != st.GID {
		return true
	}
	if r.nanosecDiffer(e.MtimeNsec, st.MtimeNsec) {
		return true
	}
	return !r.IgnoreCtime && (e.CtimeSec != uint32(st.CtimeSec) || r.nanosecDiffer(e.CtimeNsec, st.CtimeNsec))
}

func (r *StatRules) nanosecDiffer(a, b uint32) bool {
	switch r.Nanosec {
	case NanosecFalse:
		return false
	case NanosecTrue:
		return a != b
	}
	return a != b && a != 0 && b != 0
}

// racy reports whether a file may have been changed after its entry was recorded
// without its stat showing it: Git's "racily clean" (the index file is not younger
// than the file).
//
// In auto mode an entry is racy by whole seconds, as it is to Git: content may
// compare as different although nobody touched the file, where the attributes
// that clean it are others now, and Git's answer depends on its looking. An entry
// is also racy within the clock tick that two writes may share.
func (r *StatRules) racy(e *index.Entry, ix *index.Index) bool {
	switch r.Nanosec {
	case NanosecTrue:
		mtime := int64(e.MtimeSec)*1e9 + int64(e.MtimeNsec)
		return ix.Dated() && mtime >= int64(uint32(ix.MtimeSec))*1e9+int64(ix.MtimeNsec)
	case NanosecFalse:
		return ix.Dated() && e.MtimeSec >= uint32(ix.MtimeSec)
	}
	return ix.Racy(e)
}
