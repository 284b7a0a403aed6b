// Gitstatusd is the drop-in daemon: gitstatusd's flags and exit codes, over the
// server of the user, or over gust's engine in this process.
package main

import (
	"context"
	"fmt"
	"os"

	"gust/internal/daemon/client"
	"gust/internal/daemon/gitstatusd"
	"gust/internal/daemon/server"
)

func main() {
	if p, ok := server.ProcessArgs(os.Args[1:], os.Environ()); ok {
		os.Exit(server.Process(context.Background(), p))
	}
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
	os.Exit(serve(&o))
}

// serve answers requests from standard input.
func serve(o *gitstatusd.Options) int {
	env := os.Environ()
	log := server.NewLog(os.Stderr, o.Level)
	local := &server.Local{O: o, Env: env, Log: log}
	respond := local.Respond
	if !o.NoServer && client.Wanted(env, client.Standard) {
		relay := &client.Relay{Dialer: client.New(env, true), Local: local, Log: log}
		relay.Start()
		defer relay.Close()
		respond = relay.Respond
	}
	return server.Run(context.Background(), local, respond, os.Stdin, os.Stdout)
}
