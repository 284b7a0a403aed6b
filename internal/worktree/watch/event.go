package watch

import (
	"bytes"
	"encoding/binary"
)

// The bits of an event's mask, as inotify(7) names them. They are the same on
// every architecture; a test compares them with the system's.
const (
	inModify     = 0x2
	inAttrib     = 0x4
	inCloseWrite = 0x8
	inMovedFrom  = 0x40
	inMovedTo    = 0x80
	inCreate     = 0x100
	inDelete     = 0x200
	inDeleteSelf = 0x400
	inMoveSelf   = 0x800
	inUnmount    = 0x2000
	inQOverflow  = 0x4000
	inIgnored    = 0x8000
	inIsDir      = 0x40000000
)

// watched are the events that are asked for: everything that changes a name, a
// file or a directory, and none that reading raises.
const watched = inModify | inAttrib | inCloseWrite | inCreate | inDelete |
	inMovedFrom | inMovedTo | inDeleteSelf | inMoveSelf

// An event is a struct inotify_event of inotify(7):
//
//	int32  wd      watch descriptor
//	uint32 mask    what happened
//	uint32 cookie  connects the two events of a rename
//	uint32 len     of name, in bytes
//	char   name[]  padded with NUL bytes; none if the directory itself is meant
//
// in the machine's byte order.
type event struct {
	wd   int32
	mask uint32
	name []byte // without the padding; valid until the buffer is read into again
}

const (
	eventHeader = 16                // bytes of an event before its name
	maxEvent    = eventHeader + 256 // NAME_MAX is 255, and a NUL byte ends the name
)

// next splits the first event off buf. ok is false if buf does not begin with a
// whole one.
func next(buf []byte, e *event) (rest []byte, ok bool) {
	if len(buf) < eventHeader {
		return nil, false
	}
	size := uint64(binary.NativeEndian.Uint32(buf[12:]))
	if size > uint64(len(buf)-eventHeader) {
		return nil, false
	}
	e.wd = int32(binary.NativeEndian.Uint32(buf))
	e.mask = binary.NativeEndian.Uint32(buf[4:])
	e.name = buf[eventHeader : eventHeader+size]
	if i := bytes.IndexByte(e.name, 0); i >= 0 {
		e.name = e.name[:i]
	}
	return buf[eventHeader+size:], true
}
