package measure

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestInterleave(t *testing.T) {
	var order strings.Builder
	subject := func(name string) Subject {
		n := 10
		return Subject{name, func() (Cost, error) {
			order.WriteString(name)
			n--
			return Cost{time.Duration(n), time.Duration(2 * n)}, nil
		}}
	}
	samples, err := Interleave(3, subject("a"), subject("b"), subject("c"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "abc" + "abc" + "cba" + "abc"; order.String() != want {
		t.Errorf("order %q, want %q", order.String(), want)
	}
	for _, s := range samples {
		if len(s.Times) != 3 || s.Times[0] != 6 || s.Times[2] != 8 || s.CPUs[2] != 16 || s.MedianCPU() != 14 {
			t.Errorf("%s: times %v, want 6 7 8: the first run is not measured, the rest sorted", s.Name, s.Times)
		}
	}
	if _, err := Interleave(1, Subject{"x", func() (Cost, error) { return Cost{}, errors.New("broke") }}); err == nil || !strings.Contains(err.Error(), "x: broke") {
		t.Errorf("error %v, want one that names the subject", err)
	}
}

func TestProcesses(t *testing.T) {
	cost, err := Command(exec.Command("git", "version"))
	if err != nil || cost.Wall <= 0 || (runtime.GOOS == "linux" && cost.CPU <= 0) {
		t.Errorf("Command: %v, %v", cost, err)
	}
	if _, err := Command(exec.Command("git", "no-such-command")); err == nil {
		t.Error("Command: no error from a process that failed")
	}
	broke := errors.New("broke")
	if cost, err := Within(os.Getpid(), func() error { return broke }); err != broke || cost.Wall <= 0 {
		t.Errorf("Within: %v, %v", cost, err)
	}
}

func TestQuantiles(t *testing.T) {
	tests := []struct {
		times            []time.Duration
		median, p25, p99 time.Duration
	}{
		{nil, 0, 0, 0},
		{[]time.Duration{5}, 5, 5, 5},
		{[]time.Duration{1, 3}, 2, 1, 3},
		{[]time.Duration{1, 2, 3, 4, 5}, 3, 2, 5},
	}
	for _, test := range tests {
		s := Sample{Times: test.times}
		if s.Median() != test.median || s.Quantile(0.25) != test.p25 || s.Quantile(0.99) != test.p99 {
			t.Errorf("%v: median %d, p25 %d, p99 %d, want %d, %d, %d", test.times, s.Median(), s.Quantile(0.25), s.Quantile(0.99), test.median, test.p25, test.p99)
		}
	}
}
