package chunk

import (
	"encoding/binary"
	"errors"
	"testing"

	"gust/internal/pure/object"
)

// file makes a file of a 4-byte head and chunks.
func file(rows ...any) []byte {
	data := []byte("HEAD")
	for i := 0; i < len(rows); i += 2 {
		name := rows[i].(string)
		data = append(data, name...)
		data = binary.BigEndian.AppendUint64(data, uint64(rows[i+1].(int)))
	}
	return append(data, make([]byte, 100)...)
}

func TestParse(t *testing.T) {
	const end = "\x00\x00\x00\x00"
	tests := []struct {
		name string
		data []byte
		ok   bool
	}{
		{"none", file(end, 16), true},
		{"two", file("AAAA", 40, "BBBB", 50, end, 60), true},
		{"empty-chunk", file("AAAA", 40, "BBBB", 40, end, 60), true},
		{"to-trailer", file("AAAA", 40, "BBBB", 50, end, 120), true},
		{"into-trailer", file("AAAA", 40, "BBBB", 50, end, 121), false},
		{"descending", file("AAAA", 50, "BBBB", 40, end, 60), false},
		{"in-table", file("AAAA", 39, "BBBB", 50, end, 60), false},
		{"twice", file("AAAA", 40, "AAAA", 50, end, 60), false},
		{"ends-early", file("AAAA", 40, end, 50, end, 60), false},
		{"no-end", file("AAAA", 40, "BBBB", 50, "CCCC", 60), false},
		{"huge", file("AAAA", 40, "BBBB", -1, end, 60), false},
		{"cut", file("AAAA", 40)[:30], false},
	}
	for _, tt := range tests {
		count := 2
		if tt.name == "none" {
			count = 0
		}
		table, err := Parse(tt.data, 4, count, 20)
		if (err == nil) != tt.ok {
			t.Errorf("%s: error %v", tt.name, err)
		}
		var c *object.CorruptError
		if err != nil && !errors.As(err, &c) {
			t.Errorf("%s: error %v is no *CorruptError", tt.name, err)
		}
		if tt.name != "two" {
			continue
		}
		if start, stop, ok := table.Find(ID("BBBB")); start != 50 || stop != 60 || !ok {
			t.Errorf("Find = %d, %d, %v", start, stop, ok)
		}
		if _, _, ok := table.Find(ID("CCCC")); ok {
			t.Error("Find of an absent chunk succeeded")
		}
		if s, err := table.Require("AAAA", 10); err != nil || len(s.Of(tt.data)) != 10 {
			t.Errorf("Require = %v, %v", s, err)
		}
		if _, err := table.Require("AAAA", 9); err == nil {
			t.Error("Require of another size succeeded")
		}
		if _, err := table.Require("CCCC", -1); err == nil {
			t.Error("Require of an absent chunk succeeded")
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(file("AAAA", 40, "BBBB", 50, "\x00\x00\x00\x00", 60), 2, 20)
	f.Fuzz(func(t *testing.T, data []byte, count, trailer int) {
		count, trailer = count&255, trailer&63
		table, err := Parse(data, 4, count, trailer)
		if err != nil {
			return
		}
		for _, c := range table.chunks {
			if len((Span{c.start, c.end}).Of(data)) != c.end-c.start || c.end > len(data)-trailer {
				t.Fatalf("chunk %+v of %d bytes", c, len(data))
			}
		}
	})
}
