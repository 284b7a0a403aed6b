// Gitstatusd is the drop-in daemon: gitstatusd's flags and exit codes over gust's
// engine.
package main

import (
	"context"
	"fmt"
	"os"

	"gust/internal/daemon/gitstatusd"
	"gust/internal/daemon/server"
)

func main() {
	o, err := gitstatusd.ParseOptions(os.Args[1:])
	switch {
	case err != nil:
		fmt.Fprintf(os.Stderr, "gitstatusd: %v\nTry 'gitstatusd --help'.\n", err)
		os.Exit(gitstatusd.ExitUsage)
	case o.ShowHelp:
		fmt.Print(gitstatusd.Help)
		return
	case o.ShowVersion:
		fmt.Println(gitstatusd.Version)
		return
	case !gitstatusd.MatchVersion(o.VersionGlob):
		fmt.Fprintf(os.Stderr, "gitstatusd: version %s does not match '%s'\n", gitstatusd.Version, o.VersionGlob)
		os.Exit(gitstatusd.ExitVersion)
	}
	local := &server.Local{O: &o, Env: os.Environ(), Log: server.NewLog(os.Stderr, o.Level)}
	os.Exit(server.Run(context.Background(), local, local.Respond, os.Stdin, os.Stdout))
}
