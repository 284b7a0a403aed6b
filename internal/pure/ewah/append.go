package ewah

import "encoding/binary"

const (
	maxRun      = 1<<31 - 1 // fits an int everywhere
	maxLiterals = 1<<31 - 1
)

// AppendCompressed appends the compressed form of s to dst: what Parse reads. bits is
// the length that it declares.
func (s Bits) AppendCompressed(dst []byte, bits int) []byte {
	start := len(dst)
	dst = append(dst, make([]byte, headSize)...)
	for len(s) > 0 && s[len(s)-1] == 0 {
		s = s[:len(s)-1] // zeros at the end need not be said
	}
	last := 0
	for i := 0; i < len(s) || i == 0; {
		run, literals := s.next(i)
		head := uint64(run)<<1 | uint64(literals)<<33
		if run > 0 && s[i] != 0 {
			head |= 1
		}
		last = (len(dst) - start - headSize) / 8
		dst = binary.BigEndian.AppendUint64(dst, head)
		i += run
		for _, w := range s[i : i+literals] {
			dst = binary.BigEndian.AppendUint64(dst, w)
		}
		if i += literals; run+literals == 0 {
			break // an empty bitmap has one word too
		}
	}
	binary.BigEndian.PutUint32(dst[start:], uint32(bits))
	binary.BigEndian.PutUint32(dst[start+4:], uint32((len(dst)-start-headSize)/8))
	return binary.BigEndian.AppendUint32(dst, uint32(last))
}

// next returns how many words from i on are the same and all zeros or all ones, and
// how many neither follow them.
func (s Bits) next(i int) (run, literals int) {
	if i < len(s) && clean(s[i]) {
		for i+run < len(s) && s[i+run] == s[i] && run < maxRun {
			run++
		}
	}
	for j := i + run; j+literals < len(s) && !clean(s[j+literals]) && literals < maxLiterals; {
		literals++
	}
	return run, literals
}

func clean(w uint64) bool { return w == 0 || w == ^uint64(0) }
