// Gust is the gust command.
package main

import (
	"context"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/term"

	"gust/internal/daemon/live"
	"gust/internal/face/cli"
)

func main() {
	os.Exit(cli.Run(context.Background(), &cli.Program{
		Args: os.Args[1:], Env: os.Environ(), Out: os.Stdout, Err: os.Stderr,
		Terminal: term.IsTerminal(int(os.Stdout.Fd())),
		Dir:      os.Getwd,
		Exe:      executable,
		Exists:   exists,
		Asker:    func() cli.Asker { return live.New(live.Options{Threads: runtime.GOMAXPROCS(0)}) },
	}))
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
