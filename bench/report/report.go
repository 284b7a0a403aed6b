// Package report writes what bench measured: a table for people, JSON for
// programs, and a plot.
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// A Row is one scenario, measured. Subject and Reference are medians in
// nanoseconds; a row judged by a count has Count and Limit instead.
type Row struct {
	ID        string  `json:"id"`   // the target's number in docs/performance.md
	What      string  `json:"what"` // scenario, in words
	Subject   Timing  `json:"subject"`
	Reference Timing  `json:"reference"`
	Ratio     float64 `json:"ratio,omitempty"`     // Subject to Reference
	MaxRatio  float64 `json:"max_ratio,omitempty"` // the target; 0: told for information
	// A row whose target is absolute has these, and no MaxRatio.
	Count int64  `json:"count,omitempty"`
	Limit int64  `json:"limit,omitempty"`
	Unit  string `json:"unit,omitempty"`
	Note  string `json:"note,omitempty"`
}

// A Timing is one side of a row: what was run, and the spread of its times in
// nanoseconds.
type Timing struct {
	Name   string `json:"name,omitempty"`
	Median int64  `json:"median_ns,omitempty"`
	P25    int64  `json:"p25_ns,omitempty"`
	P75    int64  `json:"p75_ns,omitempty"`
	CPU    int64  `json:"median_cpu_ns,omitempty"` // on all processors together; 0 if not known
	Runs   int    `json:"runs,omitempty"`
}

// Verdicts of a row.
const (
	Reached = "reached"
	Missed  = "MISSED"
	Info    = "-" // has no target
)

// Verdict compares a row with its target.
func (r *Row) Verdict() string {
	switch {
	case r.MaxRatio > 0 && r.Ratio <= r.MaxRatio, r.Limit > 0 && r.Count <= r.Limit:
		return Reached
	case r.MaxRatio > 0, r.Limit > 0:
		return Missed
	}
	return Info
}

// A Machine says where figures come from; absolute ones mean nothing without.
type Machine struct {
	System     string `json:"system"` // kernel and its release
	CPU        string `json:"cpu"`
	Cores      int    `json:"cores"`
	FileSystem string `json:"file_system"` // of the measured trees
	Go         string `json:"go"`
	Git        string `json:"git"`
	Gust       string `json:"gust"` // commit, with + if the tree had changes
}

// A Report is one run of bench.
type Report struct {
	Date    time.Time `json:"date"`
	Machine Machine   `json:"machine"`
	Rows    []Row     `json:"rows"`
}

// Missed returns how many rows miss their target.
func (r *Report) Missed() (n int) {
	for i := range r.Rows {
		if r.Rows[i].Verdict() == Missed {
			n++
		}
	}
	return n
}

// JSON writes the report for programs.
func (r *Report) JSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(r)
}

// Table writes the report for people.
func (r *Report) Table(w io.Writer) error {
	m := &r.Machine
	fmt.Fprintf(w, "%s, %d cores (%s), %s, %s, %s, gust %s, %s\n\n", m.System, m.Cores, m.CPU, m.FileSystem, m.Go, m.Git, m.Gust, r.Date.Format(time.DateOnly))
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "row\twhat\tmedian (p25-p75)\tagainst\tmedian (p25-p75)\tratio\tcpu\ttarget\t")
	for i := range r.Rows {
		row := &r.Rows[i]
		ratio, target, cpu := "", "", ""
		if row.Subject.CPU > 0 && row.Reference.CPU > 0 {
			cpu = fmt.Sprintf("%.3f", float64(row.Subject.CPU)/float64(row.Reference.CPU))
		}
		if row.Ratio > 0 {
			ratio = fmt.Sprintf("%.3f", row.Ratio)
		}
		switch {
		case row.MaxRatio > 0:
			target = fmt.Sprintf("<= %g", row.MaxRatio)
		case row.Limit > 0:
			ratio = fmt.Sprintf("%d %s", row.Count, row.Unit)
			target = fmt.Sprintf("<= %d", row.Limit)
		case row.Count > 0:
			ratio = fmt.Sprintf("%d %s", row.Count, row.Unit)
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", row.ID, row.What, row.Subject.spread(), row.Reference.Name, row.Reference.spread(), ratio, cpu, target, row.Verdict())
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w, "\nratio: of the medians by the clock, which is judged; cpu: of the time on processors, which other programs disturb less")
	for i := range r.Rows {
		if note := r.Rows[i].Note; note != "" {
			fmt.Fprintf(w, "%s: %s\n", r.Rows[i].ID, note)
		}
	}
	return nil
}

func (t *Timing) spread() string {
	if t.Runs == 0 {
		return ""
	}
	return fmt.Sprintf("%s (%s-%s)", human(t.Median), human(t.P25), human(t.P75))
}

// human returns a time with three digits that mean something.
func human(ns int64) string {
	d := time.Duration(ns)
	switch {
	case d >= 100*time.Millisecond:
		return fmt.Sprintf("%d ms", d.Round(time.Millisecond).Milliseconds())
	case d >= time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(ns)/1e6)
	}
	return fmt.Sprintf("%.0f µs", float64(ns)/1e3)
}

// Plot writes the rows that have a ratio as an SVG of bars on a common scale: the
// reference is 1, the target a line across the bar.
func (r *Report) Plot(w io.Writer) error {
	const (
		left, unit, right = 420, 420, 150 // pixels: labels, a ratio of 1, figures
		line, top         = 30, 56
	)
	var rows []*Row
	for i := range r.Rows {
		if r.Rows[i].Ratio > 0 {
			rows = append(rows, &r.Rows[i])
		}
	}
	widest := 1.2 // ratios beyond are cut off and say so by their figure
	height := top + line*len(rows) + 40
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13">`+"\n", left+int(widest*unit)+right, height)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="#fff"/><text x="12" y="22" font-size="15" font-weight="bold">gust against git and the kernel's floor: shorter is faster</text>`+"\n")
	m := &r.Machine
	fmt.Fprintf(&b, `<text x="12" y="42" fill="#666" font-size="11">%s</text>`+"\n", escape(fmt.Sprintf("%s, %d cores, %s, %s, %s", m.System, m.Cores, m.FileSystem, m.Git, r.Date.Format(time.DateOnly))))
	for i, row := range rows {
		y := top + i*line
		color := "#4a7fb5"
		switch row.Verdict() {
		case Missed:
			color = "#c0504d"
		case Info:
			color = "#9aa5b1"
		}
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s</text>`, left-8, y+17, escape(row.ID+" "+row.What))
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"/>`, left, y+4, min(row.Ratio, widest)*unit, line-10, color)
		if row.MaxRatio > 0 {
			x := left + min(row.MaxRatio, widest)*unit
			fmt.Fprintf(&b, `<path d="M%.1f %dv%d" stroke="#000" stroke-width="2"/>`, x, y+1, line-4)
		}
		fmt.Fprintf(&b, `<text x="%.1f" y="%d">%.2f of %s</text>`+"\n", left+min(max(row.Ratio, row.MaxRatio), widest)*unit+8, y+18, row.Ratio, escape(row.Reference.Name))
	}
	fmt.Fprintf(&b, `<path d="M%d %dV%d" stroke="#999" stroke-dasharray="3 3"/><text x="%d" y="%d" text-anchor="middle" fill="#666" font-size="11">1 = as long as the reference; black: the target</text>`+"\n", left+unit, top, height-30, left+unit, height-12)
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}
