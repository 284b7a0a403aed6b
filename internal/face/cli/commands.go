package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"gust/internal/daemon/gitstatusd"
	"gust/shell"
)

const longHelp = `gust tells your prompt about the git repository you are in.

  main ⇣1⇡2 ⇠3⇢4 *5 rebase-i 3/7 ~6 +7 !8 ?9

  main    branch; #v1.0 the tag, or @1a2b3c4d the commit, when HEAD is detached
  ⇣1⇡2    commits behind and ahead of the upstream; ⇠3⇢4 of the push remote
  *5      stashes
  rebase  what git is in the middle of
  ~6 +7   files with conflicts, files with staged changes
  !8 ?9   files with unstaged changes, untracked files
  …       not known (yet)`

const examples = `  gust                                         the prompt here, and what to try next
  eval "$(gust init zsh --prompt=full)"        gust's prompt in this zsh; in ~/.zshrc for good
  eval "$(gust init bash)"                     only keep $GUST_PROMPT up to date, for a PS1 of your own
  gust query ~/src/project --json              everything gust knows, for scripts
  export GITSTATUS_DAEMON=…/libexec/gust/gitstatusd    switch Powerlevel10k or gitstatus over`

// runCommands runs the commands that need not be fast.
func runCommands(ctx context.Context, p *Program) int {
	root := p.commands()
	root.SetArgs(p.Args)
	root.SetOut(p.Out)
	root.SetErr(p.Err)
	err := root.ExecuteContext(ctx)
	var f failure
	switch {
	case errors.As(err, &f):
		return p.failed(f)
	case err != nil:
		fmt.Fprintf(p.Err, "gust: %v\nTry 'gust --help'.\n", err)
		return exitUsage
	}
	return exitOK
}

func (p *Program) commands() *cobra.Command {
	root := &cobra.Command{
		Use: "gust", Short: "The state of git repositories, fast enough for prompts", Long: longHelp, Example: examples,
		Args: cobra.NoArgs, SilenceErrors: true, SilenceUsage: true,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(p.initCommand(), promptCommand(), queryCommand(), checkConnectedCommand(), bitmapCommand(), p.watchCommand(), p.serverCommand(), p.trustCommand(), p.versionCommand())
	return root
}

func (p *Program) initCommand() *cobra.Command {
	mode := "vars"
	c := &cobra.Command{
		Use:   "init SHELL",
		Short: "Print what a shell evaluates to have gust's prompt",
		Long: `Prints a script for ` + strings.Join(shell.Shells(), " or ") + ` and touches nothing. The shell that evaluates it keeps
GUST_PROMPT and VCS_STATUS_* up to date before each prompt, in zsh after it too when an
answer takes longer. With --prompt=full it has gust's whole prompt.`,
		Example: `  eval "$(gust init zsh --prompt=full)"            gust's prompt
  eval "$(gust init bash)"; PS1='\w $GUST_PROMPT \$ '    a prompt of your own`,
		Args: cobra.ExactArgs(1), ValidArgs: shell.Shells(),
		RunE: func(_ *cobra.Command, args []string) error { return p.init(args[0], mode) },
	}
	c.Flags().StringVar(&mode, "prompt", mode, "'full': set the whole prompt; 'vars': only keep variables up to date")
	return c
}

// init is `gust init`.
func (p *Program) init(name, mode string) error {
	if mode != "full" && mode != "vars" {
		return fmt.Errorf("unknown prompt '%s': it is full or vars", mode)
	}
	exe, err := p.Exe()
	if err != nil {
		return fmt.Errorf("cannot find gust's own path: %w", err)
	}
	daemon, err := p.daemon(exe)
	if err != nil {
		return err
	}
	script, err := shell.Init(name, shell.Options{Gust: exe, Daemon: daemon, Full: mode == "full"})
	if err != nil {
		return err
	}
	_, err = p.Out.Write(script)
	return err
}

// daemon returns the path of the gitstatusd that belongs to the gust at exe.
func (p *Program) daemon(exe string) (string, error) {
	dir := filepath.Dir(exe)
	for _, path := range []string{filepath.Join(dir, "..", "libexec", "gust", "gitstatusd"), filepath.Join(dir, "gitstatusd")} {
		if p.Exists(path) {
			return path, nil
		}
	}
	return "", fmt.Errorf("no gitstatusd belongs to '%s': neither ../libexec/gust/gitstatusd nor one beside it", exe)
}

// promptCommand and queryCommand are there for help and completion: Run has taken
// these two before.
func promptCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "prompt [DIR]", Short: "Print the prompt of a directory, or nothing outside a repository",
		Long: `Prints the prompt of DIR, or of the working directory, and nothing outside a repository;
exits with 0 in any case. Colours, symbols and order are variables of the environment:
see docs/shell-variables.md.`,
		Example: `  gust prompt
  PS1='\w $(gust prompt --shell bash) \$ '    a prompt without a daemon
  gust prompt --json ~/src/project`,
		RunE: func(*cobra.Command, []string) error { return nil },
	}
	c.Flags().String("shell", "", "for whom: ansi (a terminal), plain (the default elsewhere), bash or zsh")
	c.Flags().Bool("json", false, "what `gust query --json` says")
	return c
}

func queryCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "query [DIR]", Short: "Print everything gust knows about a repository",
		Long: `Prints what gust knows about the repository that DIR is in, a name and a value a line, and
nothing outside a repository. Exits with 1 if something is wrong with the repository, or if there
is no DIR.`,
		Example: `  gust query . --json
  {"repository":true,"workdir":"/home/me/src/project", …}
  gust query /tmp --json
  {"repository":false}`,
		RunE: func(*cobra.Command, []string) error { return nil },
	}
	c.Flags().Bool("json", false, "one line of JSON")
	c.Flags().Duration("deadline", 0, "say after so long what is known until then; with --json")
	return c
}

func checkConnectedCommand() *cobra.Command {
	return &cobra.Command{
		Use: "check-connected", Short: "Tell whether everything that objects reach is there",
		Long: `Reads object IDs from the standard input, one a line, and exits with 0 if they and all that
they reach are there, with 1 and the first object that is not otherwise. What the refs reach,
and what a reachability bitmap covers, is taken to be there.`,
		Example: `  git rev-parse topic | gust check-connected && echo complete`,
		RunE:    func(*cobra.Command, []string) error { return nil },
	}
}

func bitmapCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "bitmap write|verify", Short: "Write or verify the reachability bitmap of the repository",
		Long: `Writes the reachability bitmap of the repository's only pack, or with --midx of its
multi-pack-index, for 'gust rev-list --use-bitmap-index', fetches and git; or computes anew
what the bitmap says and exits with 1 if it is wrong.`,
		Example: `  git repack -ad && gust bitmap write --lookup-table
  gust bitmap verify`,
		RunE: func(*cobra.Command, []string) error { return nil },
	}
	c.Flags().Bool("lookup-table", false, "write: with a table, so that few bitmaps need to be read")
	c.Flags().Bool("midx", false, "write: of the multi-pack-index")
	return c
}

func (p *Program) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(p.Out, "gust %s (gitstatusd protocol %s, %s %s/%s)\n",
				version(), gitstatusd.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

// version returns the version that the go command stamped into the binary.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
