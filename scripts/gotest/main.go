// Runs `go test` and says in its last lines what happened: the go command's own
// line for each package, the output of what failed, what was skipped and why, and
// how many tests passed and failed. The numbers come from `go test -json`
// (go doc test2json), so they are the test runner's, not a guess from its text.
//
//	go run ./scripts/gotest [go test flags] packages
//
// GO in the environment is the go command to run, if not the one on PATH.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

func main() {
	program := os.Getenv("GO")
	if program == "" {
		program = "go"
	}
	cmd := exec.Command(program, append([]string{"test", "-json"}, os.Args[1:]...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gotest:", err)
		os.Exit(2)
	}
	result, err := follow(out, os.Stdout)
	waited := cmd.Wait()
	if err != nil {
		fmt.Fprintln(os.Stderr, "gotest:", err)
		os.Exit(2)
	}
	result.print(os.Stdout)
	if waited != nil || result.failed > 0 {
		os.Exit(1)
	}
}

// An event is one line of `go test -json`.
type event struct {
	Action, Package, ImportPath, Test, Output string
}

// A result is what all packages together came to. Tests include subtests.
type result struct {
	passed, failed, skipped int
	packages, broken        int      // packages run, and packages that failed with no failed test: build errors, panics
	skips                   []string // "package Test: reason", sorted
}

// follow reads events from r until it ends. It copies to w the go command's line
// for each package, and before it the output of each test of the package that
// failed; for a package that failed without a failed test, all of its output.
// Lines that are no events (the go command's own complaints) are copied too.
func follow(r io.Reader, w io.Writer) (*result, error) {
	res := &result{}
	type key struct{ pkg, test string }
	output := map[key][]string{}
	failures := map[string]int{}
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil || e.Action == "" {
				if _, err := w.Write(line); err != nil {
					return nil, err
				}
				continue
			}
			if e.Package == "" {
				e.Package, _, _ = strings.Cut(e.ImportPath, " ") // build output: "pkg [pkg.test]"
			}
			k := key{e.Package, e.Test}
			switch e.Action {
			case "output", "build-output":
				output[k] = append(output[k], e.Output)
			case "pass", "fail", "skip":
				if e.Test == "" {
					res.packages++
					if e.Action == "fail" && failures[e.Package] == 0 {
						res.broken++
						for _, o := range output[k] {
							fmt.Fprint(w, o)
						}
					} else {
						fmt.Fprint(w, packageLine(output[k]))
					}
					delete(output, k)
					break
				}
				switch e.Action {
				case "pass":
					res.passed++
				case "skip":
					res.skipped++
					res.skips = append(res.skips, e.Package+" "+e.Test+": "+reason(output[k]))
				case "fail":
					res.failed++
					failures[e.Package]++
					for _, o := range output[k] {
						fmt.Fprint(w, o)
					}
				}
				delete(output, k)
			}
		}
		if err == io.EOF {
			slices.Sort(res.skips)
			return res, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// packageLine returns the go command's line about a package among its output:
// "ok …", "FAIL\t…" or "?   …".
func packageLine(output []string) string {
	for _, o := range slices.Backward(output) {
		if strings.HasPrefix(o, "ok  ") || strings.HasPrefix(o, "FAIL\t") || strings.HasPrefix(o, "?   ") {
			return o
		}
	}
	return ""
}

// reason returns what a skipped test said, without the runner's own lines.
func reason(output []string) string {
	var said []string
	for _, o := range output {
		o = strings.TrimSpace(o)
		if o != "" && !strings.HasPrefix(o, "=== ") && !strings.HasPrefix(o, "--- ") {
			said = append(said, o)
		}
	}
	return strings.Join(said, " ")
}

// print writes what was skipped and, as the last line, the totals. A package that
// failed without a failed test counts as one failure.
func (r *result) print(w io.Writer) {
	for _, s := range r.skips {
		fmt.Fprintln(w, "SKIPPED", s)
	}
	fmt.Fprintf(w, "%d passed, %d failed, %d skipped in %d packages\n", r.passed, r.failed+r.broken, r.skipped, r.packages)
}
