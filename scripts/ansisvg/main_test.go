package main

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"
)

func TestDraw(t *testing.T) {
	svg := draw("~/src \x1b[1;32mmain\x1b[0m \x1b[38;5;196m!8\x1b[39m \x1b[48;2;1;2;3m<&>\x1b[49m\x1b[K\n❯ \x1b[31m⇡2\x1b[m ok\n\n")
	dec := xml.NewDecoder(strings.NewReader(svg))
	type text struct{ fill, weight, chars string }
	var got []text
	var rects []string
	for {
		tok, err := dec.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("not well-formed: %v\n%s", err, svg)
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			attr := map[string]string{}
			for _, a := range tok.Attr {
				attr[a.Name.Local] = a.Value
			}
			if tok.Name.Local == "text" {
				got = append(got, text{attr["fill"], attr["font-weight"], ""})
			} else if tok.Name.Local == "rect" {
				rects = append(rects, attr["fill"])
			}
		case xml.CharData:
			if s := string(tok); len(got) > 0 && strings.TrimSpace(s) != "" {
				got[len(got)-1].chars = s
			}
		}
	}
	want := []text{
		{"#d7dae0", "", "~/src "}, {palette[2], "bold", "main"}, {"#ff0000", "", "!8"}, {"#d7dae0", "", "<&>"},
		{"#d7dae0", "", "[K"}, // a sequence that is no colour shows, so that nobody overlooks it
		{"#d7dae0", "", "❯ "}, {palette[1], "", "⇡2"}, {"#d7dae0", "", " ok"},
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("texts:\n%q\nwant\n%q", got, want)
		}
	}
	if len(rects) != 2 || rects[1] != "#010203" {
		t.Errorf("grounds %q, want the page's and #010203", rects)
	}
}

func TestIndexed(t *testing.T) {
	for n, want := range map[int]string{0: palette[0], 15: palette[15], 16: "#000000", 21: "#0000ff", 231: "#ffffff", 232: "#080808", 255: "#eeeeee", 256: ""} {
		if got := indexed(n); got != want {
			t.Errorf("indexed(%d) = %q, want %q", n, got, want)
		}
	}
}
