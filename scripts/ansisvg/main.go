// Draws what a terminal shows as an SVG: reads lines with colours (ECMA-48 SGR, as
// tmux capture-pane -e prints them) from standard input, writes the picture to
// standard output. docs/prompt.svg is made with it, by scripts/picture, from a real
// shell.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"
)

func main() {
	data, err := io.ReadAll(bufio.NewReader(os.Stdin))
	if err == nil {
		_, err = io.WriteString(os.Stdout, draw(string(data)))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "ansisvg:", err)
		os.Exit(1)
	}
}

// Sizes in pixels of a cell, and of the space around all of them.
const (
	cellWidth, cellHeight = 8.4, 20
	margin                = 16
)

// A style is what SGR sequences left behind; colours are "" for the default.
type style struct {
	fg, bg string
	bold   bool
}

// draw returns the picture of text, one line of the terminal per line.
func draw(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	var body strings.Builder
	widest := 0
	var st style
	for row, line := range lines {
		col := 0
		y := margin + cellHeight*row
		for len(line) > 0 {
			if params, rest, ok := sgr(line); ok {
				st.apply(params)
				line = rest
				continue
			}
			end := strings.IndexByte(line, '\x1b')
			switch {
			case end < 0:
				end = len(line)
			case end == 0: // some other sequence: drop its introducer
				line = line[1:]
				continue
			}
			run := line[:end]
			line = line[end:]
			n := utf8.RuneCountInString(run)
			st.draw(&body, run, margin+cellWidth*float64(col), y, n)
			col += n
		}
		widest = max(widest, col)
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" font-family="ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="14">
<rect width="100%%" height="100%%" rx="8" fill="#1d2026"/>
%s</svg>
`, 2*margin+cellWidth*float64(widest), 2*margin+cellHeight*len(lines), body.String())
}

func (st *style) draw(w io.Writer, run string, x float64, y, n int) {
	if st.bg != "" {
		fmt.Fprintf(w, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`, x, y, cellWidth*float64(n), cellHeight, st.bg)
	}
	if strings.TrimSpace(run) == "" {
		return
	}
	fg := st.fg
	if fg == "" {
		fg = "#d7dae0"
	}
	weight := ""
	if st.bold {
		weight = ` font-weight="bold"`
	}
	// textLength holds the run to its cells, whatever font there is.
	fmt.Fprintf(w, `<text x="%.1f" y="%d" fill="%s"%s textLength="%.1f" xml:space="preserve">%s</text>`+"\n", x, y+15, fg, weight, cellWidth*float64(n), escape(run))
}

// sgr cuts a Select Graphic Rendition sequence off the start of s.
func sgr(s string) (params []int, rest string, ok bool) {
	inner, found := strings.CutPrefix(s, "\x1b[")
	if !found {
		return nil, s, false
	}
	end := strings.IndexFunc(inner, func(r rune) bool { return r != ';' && r != ':' && (r < '0' || r > '9') })
	if end < 0 || inner[end] != 'm' {
		return nil, s, false
	}
	for p := range strings.FieldsFuncSeq(inner[:end], func(r rune) bool { return r == ';' || r == ':' }) {
		n, err := strconv.Atoi(p)
		if err != nil {
			return nil, s, false
		}
		params = append(params, n)
	}
	return params, inner[end+1:], true
}

// palette is a terminal's 16 colours, chosen to read well on the dark ground.
var palette = [16]string{
	"#3b4048", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d7dae0",
	"#7f848e", "#ef8c94", "#b1d992", "#f0d399", "#83c3f7", "#d89ae8", "#7fd0da", "#ffffff",
}

// indexed returns colour n of the 256.
func indexed(n int) string {
	switch {
	case n < 0 || n > 255:
		return ""
	case n < 16:
		return palette[n]
	case n < 232:
		n -= 16
		level := func(v int) int {
			if v == 0 {
				return 0
			}
			return 55 + 40*v
		}
		return fmt.Sprintf("#%02x%02x%02x", level(n/36), level(n/6%6), level(n%6))
	}
	v := 8 + 10*(n-232)
	return fmt.Sprintf("#%02x%02x%02x", v, v, v)
}

func (st *style) apply(params []int) {
	if len(params) == 0 {
		*st = style{}
	}
	for len(params) > 0 {
		p := params[0]
		params = params[1:]
		switch {
		case p == 0:
			*st = style{}
		case p == 1:
			st.bold = true
		case p == 22:
			st.bold = false
		case p >= 30 && p <= 37:
			st.fg = palette[p-30]
		case p >= 90 && p <= 97:
			st.fg = palette[p-90+8]
		case p >= 40 && p <= 47:
			st.bg = palette[p-40]
		case p >= 100 && p <= 107:
			st.bg = palette[p-100+8]
		case p == 39:
			st.fg = ""
		case p == 49:
			st.bg = ""
		case p == 38 || p == 48:
			var color string
			switch {
			case len(params) >= 2 && params[0] == 5:
				color, params = indexed(params[1]), params[2:]
			case len(params) >= 4 && params[0] == 2:
				color, params = fmt.Sprintf("#%02x%02x%02x", params[1]&255, params[2]&255, params[3]&255), params[4:]
			default:
				params = nil
			}
			if p == 38 {
				st.fg = color
			} else {
				st.bg = color
			}
		}
	}
}

func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}
