package cli

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"gust/internal/engine/status"
	"gust/internal/repo"
)

func (p *Program) trustCommand() *cobra.Command {
	var list, revoke bool
	c := &cobra.Command{
		Use: "trust [DIR]", Short: "Let prompts run the filter commands of a repository's own configuration",
		Long: `Git runs the clean commands of filter drivers to see whether a file has changed. gust does so
for prompts too, unless a command came with the repository: changing into an unpacked archive
must not run its code, so such files are compared as they lie there. gust trust allows the
commands that the repository that DIR is in has now, there alone, and says which they are. It
is remembered in your global configuration, as gust.trustedFilter; gust.trustFilters=true
there allows those of every repository.`,
		Example: `  gust trust --list
  gust trust
  gust trust --revoke`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if list && revoke {
				return errors.New("--list and --revoke do not go together")
			}
			dir := ""
			if len(args) > 0 {
				dir = args[0]
			}
			return failing(p.trust(c.Context(), dir, list, revoke))
		},
	}
	c.Flags().BoolVar(&list, "list", false, "only say which commands there are, and which of them may be run")
	c.Flags().BoolVar(&revoke, "revoke", false, "no longer run them")
	return c
}

// trust is `gust trust`.
func (p *Program) trust(ctx context.Context, dir string, list, revoke bool) error {
	dir, err := p.absolute(dir)
	if err != nil {
		return err
	}
	env := repo.EnvFrom(p.Env)
	loc, err := repo.Locate(dir, false, env)
	if err != nil {
		return err
	}
	r, err := repo.Open(loc, env)
	if err != nil {
		return err
	}
	defer r.Close()
	filters, err := status.RepositoryFilters(r)
	if err != nil {
		return err
	}
	if len(filters) == 0 {
		_, err := fmt.Fprintf(p.Out, "no filter command comes from the configuration of %s\n", r.CommonDir)
		return err
	}
	for _, f := range filters {
		state := "not trusted"
		switch {
		case list && f.Trusted:
			state = "trusted"
		case list:
		case revoke:
			err = p.git(ctx, 5, "config", "--global", "--unset-all", status.TrustKey, "^"+regexp.QuoteMeta(strings.Fields(f.Trust)[0])+" ")
		default:
			state = "trusted"
			if !f.Trusted {
				err = p.git(ctx, 0, "config", "--global", "--add", status.TrustKey, f.Trust)
			}
		}
		if err != nil {
			return err
		}
		for _, command := range [][2]string{{"clean", f.Clean}, {"process", f.Process}} {
			if command[1] == "" {
				continue
			}
			if _, err := fmt.Fprintf(p.Out, "%s: filter.%s.%s = %s\n", state, f.Name, command[0], strconv.Quote(command[1])); err != nil {
				return err
			}
		}
	}
	return nil
}

// git runs git. An exit code of also is fine, too.
func (p *Program) git(ctx context.Context, also int, args ...string) error {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Env = p.Env
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == also {
		return nil
	}
	if err != nil {
		return fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
