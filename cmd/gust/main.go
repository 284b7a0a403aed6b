// Gust is the gust command.
package main

import (
	"context"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/term"

	"gust/internal/daemon/client"
	"gust/internal/daemon/live"
	"gust/internal/daemon/server"
	"gust/internal/face/cli"
	"gust/internal/face/passthrough"
	"gust/internal/face/porcelain"
)

func main() {
	if p, ok := server.ProcessArgs(os.Args[1:], os.Environ()); ok {
		os.Exit(server.Process(context.Background(), p))
	}
	os.Exit(cli.Run(context.Background(), &cli.Program{
		Args: os.Args[1:], Env: os.Environ(), In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Terminal: term.IsTerminal(int(os.Stdout.Fd())), ErrTerminal: term.IsTerminal(int(os.Stderr.Fd())),
		Dir:        os.Getwd,
		Exe:        executable,
		Exists:     exists,
		Asker:      asker,
		HandOver:   handOver,
		GitVersion: gitVersion,
		Name:       filepath.Base(os.Args[0]),
	}))
}

// asker returns what knows the state of repositories: the server, or an engine of
// this process.
func asker() cli.Asker {
	own := func() *live.State { return live.New(live.Options{Threads: runtime.GOMAXPROCS(0)}) }
	if env := os.Environ(); client.Wanted(env, client.Standard) {
		return client.NewAsker(client.New(env, true), own)
	}
	return own()
}

// executable returns the path of this program, where what belongs to it is found.
func executable() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

func exists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// handOver runs git in this program's place.
func handOver(args []string, in []byte) int {
	return passthrough.Run(os.Environ(), self(), args, in, os.Stderr)
}

// gitVersion returns the version of that git.
func gitVersion() (v porcelain.Version, err error) {
	git, err := passthrough.Find(os.Environ(), self())
	if err != nil {
		return v, err
	}
	cache, err := os.UserCacheDir()
	if err == nil {
		cache = filepath.Join(cache, "gust", "git-version")
	}
	v.Major, v.Minor, err = git.Version(cache)
	return v, err
}

func self() string {
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}
