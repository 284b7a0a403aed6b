// The floor of polling: the fewest system calls that can look at every file of a
// tree, made as fast as the kernel answers, and nothing else. Per directory openat
// from the root, fstat and close; per file fstatat by its bare name. A program
// that polls cannot be faster; bench measures how close gust comes.
//
//	floor -list FILE [-threads N] ROOT
//
// It reads the tree's files, NUL-terminated and in the index's order (git ls-files
// -z), from the file named by -list, prepares, then makes one pass for each line on
// standard input and answers each with the number of files it saw.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"runtime"
)

func main() {
	threads := flag.Int("threads", runtime.NumCPU(), "threads that share the work")
	list := flag.String("list", "", "file of NUL-terminated paths, in the index's order")
	flag.Parse()
	if err := serve(flag.Arg(0), *list, *threads); err != nil {
		fmt.Fprintln(os.Stderr, "floor:", err)
		os.Exit(1)
	}
}

func serve(root, list string, threads int) error {
	data, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	p, err := newPass(root, group(data), threads)
	if err != nil {
		return err
	}
	defer p.close()
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		n, err := p.run()
		if err != nil {
			return err
		}
		if _, err := fmt.Println(n); err != nil {
			return err
		}
	}
	return in.Err()
}

// A directory is a directory's path from the root and the names of its files,
// each NUL-terminated as the kernel wants them.
type directory struct {
	path  []byte
	names [][]byte
}

// group sorts NUL-terminated paths into directories, in order of appearance.
func group(list []byte) []directory {
	var dirs []directory
	at := map[string]int{}
	for len(list) > 0 {
		end := bytes.IndexByte(list, 0)
		if end < 0 {
			end = len(list)
			list = append(list, 0)
		}
		path := list[: end+1 : end+1]
		list = list[end+1:]
		dir := "."
		name := path
		if slash := bytes.LastIndexByte(path, '/'); slash >= 0 {
			dir, name = string(path[:slash]), path[slash+1:]
		}
		i, ok := at[dir]
		if !ok {
			i = len(dirs)
			at[dir] = i
			dirs = append(dirs, directory{path: append([]byte(dir), 0)})
		}
		dirs[i].names = append(dirs[i].names, name)
	}
	return dirs
}
