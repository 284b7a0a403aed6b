package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"gust/bench/report"
	"gust/bench/repos"
)

// TestRun measures every row on tiny repositories with the real programs: that
// the answers are right is checked on the way, how long they took is not.
func TestRun(t *testing.T) {
	prefix := t.TempDir()
	daemon := filepath.Join(prefix, "libexec", "gust", "gitstatusd")
	if out, err := exec.Command("go", "build", "-o", daemon, "gust/cmd/gitstatusd").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := exec.Command("go", "build", "-o", filepath.Join(prefix, "bin", "gust"), "gust/cmd/gust").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Setenv("BENCH_DIR", t.TempDir())
	b, err := newBench(prefix, "git", 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	b.sizes = sizes{repos.Shape{Files: 60, Dirs: 8}, 30, 60}
	b.store.Rest = 1
	if b.history, err = b.store.Tags(t.Context(), b.sizes.tags); err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	if err := b.run(t.Context(), "", out); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(out, "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("JSON files: %q, %v", files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	var got report.Report
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, row := range got.Rows {
		ids = append(ids, row.ID)
	}
	if want := []string{"T1", "T1", "T1", "T2", "T16", "T16", "T17", "T18", "T18", "T18", "T18", "T20", "T20"}; !slices.Equal(ids, want) {
		t.Errorf("rows %q, want %q", ids, want)
	}
}

func TestCheckClean(t *testing.T) {
	clean := make([]string, fieldCount+1)
	for i := fieldIndexSize; i <= fieldUntracked; i++ {
		clean[i] = "0"
	}
	clean[fieldIndexSize] = "7"
	if err := checkClean(clean, 7); err != nil {
		t.Error(err)
	}
	if err := checkClean(clean, 8); err == nil {
		t.Error("a wrong index size passed")
	}
	for i := fieldStaged; i <= fieldUntracked; i++ {
		dirty := slices.Clone(clean)
		dirty[i] = "1"
		if err := checkClean(dirty, 7); err == nil {
			t.Errorf("a 1 in field %d passed as clean", i)
		}
	}
}

func TestParseCounters(t *testing.T) {
	got, err := parsePerf("# started on Mon\n\n144,,raw_syscalls:sys_enter,2214826,100.00,,\n7,,syscalls:sys_enter_futex,1,100.00,,\n2,,syscalls:sys_enter_nanosleep,1,100.00,,\n")
	if want := (calls{144, 9, ""}); got != want || err != nil {
		t.Errorf("parsePerf: %v, %v, want %v", got, err, want)
	}
	if got, err := parsePerf("<not supported>,,raw_syscalls:sys_enter,0,100.00,,\n"); err == nil {
		t.Errorf("parsePerf: %v where nothing was counted", got)
	}
	summary := `% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 60.00    0.000100           1       100           newfstatat
 20.00    0.000100           1        30         2 openat
 20.00    0.000100           1       999           futex
 10.00    0.000100           1         7           rt_sigaction
------ ----------- ----------- --------- --------- ----------------
100.00    0.000100           1      1136         2 total
`
	got, err = parseStrace(summary)
	if want := (calls{130, 1006, ""}); got != want || err != nil {
		t.Errorf("parseStrace: %v, %v, want %v", got, err, want)
	}
	if got, err := parseStrace(""); err == nil {
		t.Errorf("parseStrace: %v where nothing was counted", got)
	}
}
