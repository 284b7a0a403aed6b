// Package oid holds object IDs: SHA-1 and SHA-256 values, hex, and hashing.
//
// An object ID names an object by the hash of its type, size and content
// (gitformat-pack(5), hash-function-transition in Git's technical notes). Both
// hash functions that Git knows are supported side by side; an ID carries its
// algorithm, so IDs of different repositories never compare equal by accident.
package oid

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strconv"
)

// An Algo is one of Git's hash functions. The zero value is SHA-1, Git's default.
type Algo uint8

const (
	SHA1   Algo = iota // 20 bytes, extensions.objectFormat=sha1
	SHA256             // 32 bytes, extensions.objectFormat=sha256
)

// MaxSize is the size in bytes of the longest object ID.
const MaxSize = 32

// Size returns the length in bytes of a raw object ID.
func (a Algo) Size() int {
	if a == SHA256 {
		return 32
	}
	return 20
}

// HexSize returns the length of an object ID in hexadecimal digits.
func (a Algo) HexSize() int { return 2 * a.Size() }

// String returns the name that extensions.objectFormat uses.
func (a Algo) String() string {
	if a == SHA256 {
		return "sha256"
	}
	return "sha1"
}

// ParseAlgo returns the algorithm with the given extensions.objectFormat name.
func ParseAlgo(name string) (Algo, bool) {
	switch name {
	case "sha1":
		return SHA1, true
	case "sha256":
		return SHA256, true
	}
	return SHA1, false
}

// New returns the hash for comparing contents with known IDs. It does not
// detect SHA-1 collision attacks: nothing is trusted because of its result.
func (a Algo) New() hash.Hash {
	if a == SHA256 {
		return sha256.New()
	}
	return sha1.New()
}

// An ID is an object ID. It is comparable; the zero value is SHA-1's null ID.
type ID struct {
	sum  [MaxSize]byte // bytes from Algo.Size() on are zero
	algo Algo
}

// Null returns the all-zero ID of algorithm a, which names no object.
func Null(a Algo) ID { return ID{algo: a} }

// FromBytes returns the ID whose raw form is the first a.Size() bytes of raw,
// which must be at least that long.
func FromBytes(a Algo, raw []byte) ID {
	id := ID{algo: a}
	copy(id.sum[:], raw[:a.Size()])
	return id
}

// Parse returns the ID that s, exactly a.HexSize() hexadecimal digits of either
// case, stands for.
func Parse[S string | []byte](a Algo, s S) (ID, error) {
	id := ID{algo: a}
	if len(s) != a.HexSize() {
		return id, fmt.Errorf("object ID has %d digits, want %d", len(s), a.HexSize())
	}
	var bad uint16
	for i := range a.Size() {
		hi, lo := s[2*i], s[2*i+1]
		bad |= notHex(hi) | notHex(lo)
		id.sum[i] = nibble(hi)<<4 | nibble(lo)
	}
	if bad != 0 {
		return ID{algo: a}, fmt.Errorf("bad hexadecimal digit in object ID %q", string(s))
	}
	return id, nil
}

// notHex returns 0 if c is a hexadecimal digit, else 1, without branches: whether a
// digit is a letter is nothing that a processor can guess.
func notHex(c byte) uint16 {
	return (uint16(c-'0') + 256 - 10) >> 8 & ((uint16((c|0x20)-'a') + 256 - 6) >> 8)
}

// nibble returns the value of a hexadecimal digit.
func nibble(c byte) byte { return c&15 + c>>6*9 }

// Algo returns the algorithm that id belongs to.
func (id ID) Algo() Algo { return id.algo }

// IsNull reports whether id is its algorithm's all-zero ID.
func (id ID) IsNull() bool { return id.sum == [MaxSize]byte{} }

// Raw returns the raw bytes of id. They are id's own: they change with it.
func (id *ID) Raw() []byte { return id.sum[:id.algo.Size()] }

// First returns the first byte, which selects the fan-out bucket or directory.
func (id ID) First() byte { return id.sum[0] }

// Compare orders IDs of one algorithm by their bytes.
func (id ID) Compare(other ID) int { return bytes.Compare(id.sum[:], other.sum[:]) }

// EqualRaw reports whether id's raw form is raw.
func (id *ID) EqualRaw(raw []byte) bool { return bytes.Equal(id.Raw(), raw) }

// AppendHex appends id in lower-case hexadecimal digits to dst.
func (id ID) AppendHex(dst []byte) []byte { return hex.AppendEncode(dst, id.sum[:id.algo.Size()]) }

// String returns id in lower-case hexadecimal digits.
func (id ID) String() string { return string(id.AppendHex(make([]byte, 0, 2*MaxSize))) }

// Hash returns the ID of the object with the given type name ("blob", "tree",
// "commit", "tag") and content.
func Hash(a Algo, typ string, content []byte) ID {
	h := NewHasher(a, typ, int64(len(content)))
	h.Write(content)
	return h.Sum()
}

// A Hasher computes an object's ID from its content in pieces.
type Hasher struct {
	h    hash.Hash
	algo Algo
}

// NewHasher starts the ID of an object with the given type name and content
// size in bytes. The caller writes exactly size bytes before Sum.
func NewHasher(a Algo, typ string, size int64) *Hasher {
	x := &Hasher{algo: a}
	x.Reset(typ, size)
	return x
}

// Reset starts another object, keeping x's memory.
func (x *Hasher) Reset(typ string, size int64) {
	if x.h == nil {
		x.h = x.algo.New()
	} else {
		x.h.Reset()
	}
	var head [32]byte
	b := append(head[:0], typ...)
	b = append(b, ' ')
	b = strconv.AppendInt(b, size, 10)
	x.h.Write(append(b, 0))
}

// Write adds content. It never fails.
func (x *Hasher) Write(p []byte) (int, error) { return x.h.Write(p) }

// Sum returns the ID of what was written since the last Reset.
func (x *Hasher) Sum() ID {
	id := ID{algo: x.algo}
	x.h.Sum(id.sum[:0])
	return id
}
