package differential

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"gust/internal/gittest"
)

// Format writes s as text that Parse reads: what a seed means changes with the
// generator, this does not.
//
//	found TEXT      what went wrong
//	daemon JSON     the options of one daemon
//	env "NAME=value"
//	step [own-index] [rules]
//	run "COMMAND"   in Go's quoting
//	ask "DIR" [git-dir] [no-index]
func (s *Scenario) Format(w io.Writer, found string) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "found %s\n", strings.ReplaceAll(found, "\n", " "))
	for _, o := range s.Options {
		text, err := json.Marshal(o)
		if err != nil {
			return err
		}
		fmt.Fprintf(b, "daemon %s\n", text)
	}
	for _, v := range s.Env {
		fmt.Fprintf(b, "env %q\n", v)
	}
	for _, step := range s.Steps {
		fmt.Fprintf(b, "step%s%s\n", when(step.OwnIndex, " own-index"), when(step.Rules, " rules"))
		for _, c := range step.Commands {
			fmt.Fprintf(b, "run %q\n", c)
		}
		for _, q := range step.Queries {
			fmt.Fprintf(b, "ask %q%s%s\n", q.Dir, when(q.GitDir, " git-dir"), when(q.NoIndex, " no-index"))
		}
	}
	return b.Flush()
}

func when(on bool, text string) string {
	if on {
		return text
	}
	return ""
}

// Parse reads what Format wrote. Lines that begin with # are left out.
func Parse(r io.Reader) (*Scenario, error) {
	s := &Scenario{}
	in := bufio.NewScanner(r)
	in.Buffer(nil, 1<<20)
	for n := 1; in.Scan(); n++ {
		if err := s.parseLine(in.Text()); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if len(s.Options) == 0 {
		s.Options = []gittest.Options{gittest.Unlimited()}
	}
	return s, in.Err()
}

func (s *Scenario) parseLine(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	if word == "" || word[0] == '#' || word == "found" {
		return nil
	}
	switch word {
	case "daemon":
		o := gittest.Unlimited()
		if err := json.Unmarshal([]byte(rest), &o); err != nil {
			return err
		}
		s.Options = append(s.Options, o)
		return nil
	case "step":
		s.Steps = append(s.Steps, Step{OwnIndex: strings.Contains(rest, "own-index"), Rules: strings.Contains(rest, "rules")})
		return nil
	}
	quoted, err := strconv.QuotedPrefix(rest)
	if err != nil {
		return fmt.Errorf("%q: %w", rest, err)
	}
	text, err := strconv.Unquote(quoted)
	if err != nil {
		return err
	}
	if word == "env" {
		s.Env = append(s.Env, text)
		return nil
	}
	if len(s.Steps) == 0 {
		return fmt.Errorf("%q before the first step", word)
	}
	step := &s.Steps[len(s.Steps)-1]
	switch word {
	case "run":
		step.Commands = append(step.Commands, text)
	case "ask":
		flags := rest[len(quoted):]
		step.Queries = append(step.Queries, Query{text, strings.Contains(flags, "git-dir"), strings.Contains(flags, "no-index")})
	default:
		return fmt.Errorf("no line begins with %q", word)
	}
	return nil
}
