package reach

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"sync"

	"gust/internal/pure/oid"
)

// A set holds the objects met, with flags. It is safe for concurrent use.
type set struct {
	size   int // of a raw ID
	seed   uint64
	shards [shards]shard
}

// shards is enough for a few dozen walkers to seldom meet.
const shards = 64

type shard struct {
	mu    sync.Mutex // guards what follows
	slots []uint32   // open hash table of numbers plus one; its length is a power of two
	ids   []byte     // raw, one behind the other
	flags []uint8
}

func newSet(a oid.Algo) *set {
	return &set{size: a.Size(), seed: rand.Uint64() | 1}
}

// add sets flags of the object with the given raw ID and returns those it had.
func (s *set) add(raw []byte, flags uint8) (before uint8) {
	raw = raw[:s.size]
	// IDs are as good as random; the seed keeps made-up ones from meeting.
	hash := (binary.LittleEndian.Uint64(raw) ^ s.seed) * s.seed
	hash ^= hash >> 29
	h := &s.shards[hash>>(64-6)]
	h.mu.Lock()
	defer h.mu.Unlock()
	if 2*len(h.flags) >= len(h.slots) {
		h.grow(s)
	}
	mask := len(h.slots) - 1
	slot := int(hash) & mask
	for ; h.slots[slot] != 0; slot = (slot + 1) & mask {
		i := int(h.slots[slot] - 1)
		if bytes.Equal(h.ids[i*s.size:(i+1)*s.size], raw) {
			before = h.flags[i]
			h.flags[i] |= flags
			return before
		}
	}
	h.ids = append(h.ids, raw...)
	h.flags = append(h.flags, flags)
	h.slots[slot] = uint32(len(h.flags))
	return 0
}

func (h *shard) grow(s *set) {
	h.slots = make([]uint32, max(64, 2*len(h.slots)))
	mask := len(h.slots) - 1
	for i := range h.flags {
		hash := (binary.LittleEndian.Uint64(h.ids[i*s.size:]) ^ s.seed) * s.seed
		hash ^= hash >> 29
		slot := int(hash) & mask
		for h.slots[slot] != 0 {
			slot = (slot + 1) & mask
		}
		h.slots[slot] = uint32(i) + 1
	}
}
