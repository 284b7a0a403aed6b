package cli

import (
	"context"
	"fmt"
	"strings"

	"gust/internal/face/prompt"
)

// welcome is `gust` alone: the prompt of the working directory, and what to try
// next.
func (p *Program) welcome(ctx context.Context) int {
	st := prompt.NewStyle(p.lookup)
	s, err := p.ask(ctx, "", st)
	form := prompt.Plain
	if p.Terminal {
		form = prompt.ANSI
	}
	var out strings.Builder
	switch {
	case s != nil:
		out.Write(prompt.Append(nil, s, st, form))
		out.WriteByte('\n')
	case err != nil:
		fmt.Fprintf(&out, "git itself refuses this repository: %v\n", err)
	default:
		out.WriteString("not in a git repository\n")
	}
	out.WriteByte('\n')
	for _, line := range next(p.shell()) {
		out.WriteString(p.dim(line) + "\n")
	}
	if _, err := fmt.Fprint(p.Out, out.String()); err != nil {
		return exitFail
	}
	return exitOK
}

// next says what to try, for users of the named shell.
func next(shell string) []string {
	return []string{
		fmt.Sprintf("%-20s", "try it in "+shell+":") + "eval \"$(gust init " + shell + " --prompt=full)\"; for good, put that into ~/." + shell + "rc",
		"for scripts:        gust query . --json",
		"everything else:    gust --help",
	}
}

// shell returns the name of the user's shell if gust has a script for it.
func (p *Program) shell() string {
	path, _ := p.lookup("SHELL")
	if strings.HasSuffix(path, "/bash") || path == "bash" {
		return "bash"
	}
	return "zsh"
}

// dim returns text that stands back, where that can be shown.
func (p *Program) dim(text string) string {
	noColor, _ := p.lookup("NO_COLOR")
	term, _ := p.lookup("TERM")
	if !p.Terminal || noColor != "" || term == "dumb" {
		return text
	}
	return "\x1b[2m" + text + "\x1b[22m"
}
