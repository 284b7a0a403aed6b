package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// writePairs writes the members of a flat JSON object as lines of a name, a space
// and a value, in their order. Control characters in text come out as ?.
func writePairs(w io.Writer, object []byte) error {
	var out bytes.Buffer
	d := json.NewDecoder(bytes.NewReader(object))
	d.UseNumber()
	name := ""
	for {
		token, err := d.Token()
		if err == io.EOF {
			_, err := w.Write(out.Bytes())
			return err
		}
		if err != nil {
			return err
		}
		switch v := token.(type) {
		case json.Delim:
		case string:
			if name == "" {
				name = v
				continue
			}
			fmt.Fprintf(&out, "%s %s\n", name, bytes.Map(printable, []byte(v)))
			name = ""
		default:
			fmt.Fprintf(&out, "%s %v\n", name, v)
			name = ""
		}
	}
}

func printable(r rune) rune {
	if r < 32 || r >= 127 && r < 160 {
		return '?'
	}
	return r
}
