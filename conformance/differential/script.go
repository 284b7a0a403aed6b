package differential

import (
	"fmt"
	"strings"

	"gust/internal/gittest"
)

// Prologue is what every step's shell starts with. R is the repository.
const Prologue = `R=$B/p/r
r() { cd "$R" 2>/dev/null || cd "$B/p2/r" 2>/dev/null || cd "$B"; }
at() { export GIT_AUTHOR_DATE="$((1700000000 + $1)) +0000" GIT_COMMITTER_DATE="$((1700000000 + $1)) +0000"; }
plain() { [ ! -p "$1" ] || rm -f -- "$1"; }                      # a pipe would make its writer wait
put() { plain "$1"; printf "$2" >"$1"; }                         # write over
more() { plain "$1"; printf 'a\n' >>"$1"; }
over() { printf "$2" >"$B/.new" && mv -f -- "$B/.new" "$1"; }    # rename over, as editors do
swapped() { plain "$1"; tr 'abcdxyAB01' 'badcyxBA10' <"$1" >"$B/.new"; }     # other bytes, the same size
flip() { swapped "$1" && cat "$B/.new" >"$1"; }
flip_over() { swapped "$1" && mv -f -- "$B/.new" "$1"; }
flip_dd() { swapped "$1" && dd if="$B/.new" of="$1" conv=notrunc status=none; }
flip_keep() { touch -r "$1" "$B/.ref" && flip "$1" && touch -r "$B/.ref" "$1"; }
flip_cp() { swapped "$1" && touch -r "$1" "$B/.new" && cp --preserve=all "$B/.new" "$1"; }
flip_over_keep() { touch -r "$1" "$B/.ref" && flip_over "$1" && touch -r "$B/.ref" "$1"; }
flip_mmap() { python3 -c 'import mmap,sys
with open(sys.argv[1],"r+b") as f:
    m=mmap.mmap(f.fileno(),0); m[:]=bytes(m).translate(bytes.maketrans(b"abcdxyAB01",b"badcyxBA10")); m.flush()' "$1"; }
head() { [ ! -L .git/HEAD ] || rm .git/HEAD; printf "$1" >.git/HEAD; }
blob() { printf "$1" | git hash-object -w --stdin; }
`

// home is what a script starts with: the isolation of gittest.NewAt, in words of
// a shell.
const home = `T=$(mktemp -d); B=$T/w; mkdir "$B" "$T/home"; export B HOME=$T/home GIT_CONFIG_NOSYSTEM=1 LC_ALL=C.UTF-8 TZ=UTC
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@x GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@x
export GIT_EDITOR=true GIT_SEQUENCE_EDITOR=true GIT_MERGE_AUTOEDIT=no
g() { git config --global "$@"; }
g init.defaultBranch main; g protocol.file.allow always; g gc.auto 0; g maintenance.auto false; g core.fsync none
g user.name 'A U Thor'; g user.email author@example.com
# ask DIR [FLAG]: the daemon's answer
ask() {
  printf 'id\037%s\037%s\036' "$1" "${2:-0}" >&"${D[1]}"
  IFS= read -r -d $'\036' A <&"${D[0]}"
  printf '%s\n' "$1: ${A//$'\037'/|}"
}
`

// Script returns s as a shell script. With a gitstatusd on PATH it shows the
// answers after each step, and at the last what git says.
func Script(s *Scenario, git gittest.Git, f *Failure) string {
	var b strings.Builder
	fmt.Fprintf(&b, "#!/bin/bash\n# Seed %d, steps by %s. Features: %s.\n", s.Seed, git, strings.Join(s.Features, " "))
	for line := range strings.Lines(f.String()) {
		fmt.Fprintf(&b, "# %s\n", strings.TrimRight(line, "\n"))
	}
	b.WriteString(home)
	for _, v := range s.Env {
		name, value, _ := strings.Cut(v, "=")
		fmt.Fprintf(&b, "export %s=%s\n", name, strings.ReplaceAll(quote(value), "$B", `'"$B"'`))
	}
	fmt.Fprintf(&b, "coproc D { exec gitstatusd %s; }\n", strings.Join(f.Options.Args(), " "))
	b.WriteString(Prologue)
	for i, step := range s.Steps {
		fmt.Fprintf(&b, "\n# step %d\ncd \"$B\"\n%s\n", i, step.text())
		for _, q := range step.Queries {
			colon, flag := "", ""
			if q.GitDir {
				colon = ":"
			}
			if q.NoIndex {
				flag = " 1"
			}
			fmt.Fprintf(&b, "ask %s\"$B\"/%s%s\n", colon, quote(q.Dir), flag)
			if i == f.Step {
				fmt.Fprintf(&b, "git -C \"$B\"/%s --no-optional-locks status --porcelain=v2 --branch --show-stash\n", quote(q.Dir))
			}
		}
		if i == f.Step {
			break
		}
	}
	return b.String()
}

// quote returns s as one word of a POSIX shell.
func quote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
