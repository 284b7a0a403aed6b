package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func sample() *Report {
	return &Report{
		Date:    time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Machine: Machine{System: "Linux 6", CPU: "one", Cores: 2, FileSystem: "ext4", Go: "go1.26", Git: "git version 2", Gust: "abc"},
		Rows: []Row{
			{ID: "T1", What: "clean & hot", Subject: Timing{Name: "gust", Median: 1.05e9, P25: 1e9, P75: 1.1e9, CPU: 2e9, Runs: 9}, Reference: Timing{Name: "floor", Median: 1e9, P25: 1e9, P75: 1e9, CPU: 2e9, Runs: 9}, Ratio: 1.05, MaxRatio: 1.05},
			{ID: "T2", What: "first", Subject: Timing{Name: "gust", Median: 5e5, P25: 5e5, P75: 5e5, CPU: 2e9, Runs: 9}, Reference: Timing{Name: "git", Median: 1e6, P25: 1e6, P75: 1e6, CPU: 2e9, Runs: 9}, Ratio: 0.5, MaxRatio: 0.45, Note: "a note"},
			{ID: "T1", What: "calls", Count: 101, Limit: 100, Unit: "calls"},
			{ID: "x", What: "for <information>", Ratio: 40, Reference: Timing{Name: "git"}},
		},
	}
}

func TestVerdicts(t *testing.T) {
	r := sample()
	want := []string{Reached, Missed, Missed, Info}
	for i := range r.Rows {
		if got := r.Rows[i].Verdict(); got != want[i] {
			t.Errorf("row %d: %s, want %s", i, got, want[i])
		}
	}
	if r.Missed() != 2 {
		t.Errorf("%d missed, want 2", r.Missed())
	}
}

func TestTable(t *testing.T) {
	var b bytes.Buffer
	if err := sample().Table(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"2 cores", "1050 ms (1000 ms-1100 ms)", "500 µs", "1.0 ms", "<= 0.45", "101 calls", "T2: a note", "1.000", "MISSED"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, b.String())
		}
	}
}

func TestJSON(t *testing.T) {
	var b bytes.Buffer
	if err := sample().JSON(&b); err != nil {
		t.Fatal(err)
	}
	var back Report
	if err := json.Unmarshal(b.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sample(), &back); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
}

func TestPlot(t *testing.T) {
	var b bytes.Buffer
	if err := sample().Plot(&b); err != nil {
		t.Fatal(err)
	}
	dec := xml.NewDecoder(&b)
	var text []string
	for {
		tok, err := dec.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		if c, ok := tok.(xml.CharData); ok {
			text = append(text, string(c))
		}
	}
	all := strings.Join(text, "|")
	for _, want := range []string{"T1 clean & hot", "x for <information>", "1.05 of floor", "40.00 of git"} {
		if !strings.Contains(all, want) {
			t.Errorf("the plot lacks %q: %s", want, all)
		}
	}
	if strings.Contains(all, "calls") {
		t.Error("the plot has a row without a ratio")
	}
}
