package oid

import (
	"encoding/hex"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	const sha1Hex = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
	sha256Hex := strings.Repeat("0f", 32)
	tests := []struct {
		name string
		algo Algo
		in   string
		want string // "" means an error
	}{
		{"sha1", SHA1, sha1Hex, sha1Hex},
		{"upper-case", SHA1, strings.ToUpper(sha1Hex), sha1Hex},
		{"sha256", SHA256, sha256Hex, sha256Hex},
		{"short", SHA1, sha1Hex[1:], ""},
		{"long", SHA1, sha1Hex + "0", ""},
		{"other-algorithm", SHA256, sha1Hex, ""},
		{"bad-digit", SHA1, "g" + sha1Hex[1:], ""},
		{"empty", SHA1, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			id, err := Parse(tt.algo, tt.in)
			if (err != nil) != (tt.want == "") {
				t.Fatalf("Parse(%v, %q) error = %v", tt.algo, tt.in, err)
			}
			if err == nil && id.String() != tt.want {
				t.Errorf("Parse(%v, %q) = %v, want %v", tt.algo, tt.in, id, tt.want)
			}
			if err == nil && FromBytes(tt.algo, id.Raw()) != id {
				t.Errorf("FromBytes(Raw(%v)) differs", id)
			}
		})
	}
}

// The IDs of the empty blob and tree are named in gitglossary-level
// documentation and every repository: fixed points of both algorithms.
func TestHash(t *testing.T) {
	tests := []struct {
		algo Algo
		typ  string
		want string
	}{
		{SHA1, "blob", "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"},
		{SHA1, "tree", "4b825dc642cb6eb9a060e54bf8d69288fbee4904"},
		{SHA256, "blob", "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813"},
		{SHA256, "tree", "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"},
	}
	for _, tt := range tests {
		if got := Hash(tt.algo, tt.typ, nil).String(); got != tt.want {
			t.Errorf("Hash(%v, %s, nil) = %s, want %s", tt.algo, tt.typ, got, tt.want)
		}
	}
}

func TestNull(t *testing.T) {
	if !Null(SHA256).IsNull() || Null(SHA1) == Null(SHA256) {
		t.Error("null IDs of two algorithms must be null and different")
	}
	if Hash(SHA1, "blob", nil).IsNull() {
		t.Error("the empty blob's ID is not null")
	}
}

func FuzzParse(f *testing.F) {
	f.Add("e69de29bb2d1d6434b8b29ae775ad8c2e48c5391")
	f.Add("zz")
	f.Fuzz(func(t *testing.T, s string) {
		for _, a := range []Algo{SHA1, SHA256} {
			if id, err := Parse(a, s); err == nil && id.String() != strings.ToLower(s) {
				t.Errorf("Parse(%v, %q) = %v", a, s, id)
			}
		}
	})
}

// TestParseDigits tries every byte as either digit of a byte.
func TestParseDigits(t *testing.T) {
	for c := range 256 {
		for at := range 2 {
			s := []byte(strings.Repeat("7", SHA1.HexSize()))
			s[10+at] = byte(c)
			want, bad := hex.DecodeString(string(s))
			got, err := Parse(SHA1, s)
			if (err != nil) != (bad != nil) || err == nil && string(got.Raw()) != string(want) {
				t.Errorf("%q: %v, %v, want %x, %v", s, got, err, want, bad)
			}
		}
	}
}
