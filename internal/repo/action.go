package repo

import (
	"strings"

	"gust/internal/disk/filestat"
)

// Action returns the name of the operation in progress as the gitstatusd
// protocol names it, with " N/M" behind where the progress of a rebase or am is
// known, or "" if there is none.
func (r *Repository) Action() (string, error) {
	switch {
	case r.exists("rebase-merge/"):
		name := "rebase-m"
		if r.exists("rebase-merge/interactive") {
			name = "rebase-i"
		}
		return name + r.progress("rebase-merge/msgnum", "rebase-merge/end"), nil
	case r.exists("rebase-apply/"):
		name := "am/rebase"
		if r.exists("rebase-apply/rebasing") {
			name = "rebase"
		} else if r.exists("rebase-apply/applying") {
			name = "am"
		}
		return name + r.progress("rebase-apply/next", "rebase-apply/last"), nil
	case r.exists("MERGE_HEAD"):
		return "merge", nil
	case r.isRef("REVERT_HEAD"):
		return "revert" + r.sequence(), nil
	case r.isRef("CHERRY_PICK_HEAD"):
		return "cherry" + r.sequence(), nil
	}
	// Between two steps of a sequence only the list of what is to do is left.
	switch r.nextStep() {
	case "revert":
		return "revert-seq", nil
	case "pick", "p":
		return "cherry-seq", nil
	}
	if r.exists("BISECT_LOG") {
		return "bisect", nil
	}
	return "", nil
}

// isRef reports whether the pseudoref name exists. Unlike MERGE_HEAD, which is
// a file whatever the ref storage is, it is kept where refs are.
func (r *Repository) isRef(name string) bool {
	_, err := r.Refs.Read(name)
	return err == nil
}

// sequence returns "-seq" if the pick or revert is one of several.
func (r *Repository) sequence() string {
	if r.exists("sequencer/todo") {
		return "-seq"
	}
	return ""
}

// nextStep returns the first command of sequencer/todo, "" if there is none.
func (r *Repository) nextStep() string {
	var buf [64]byte
	n, err := filestat.ReadStart(r.GitDir+"/sequencer/todo", buf[:])
	if err != nil {
		return ""
	}
	word, _, _ := strings.Cut(strings.TrimSpace(string(buf[:n])), " ")
	return word
}

// exists reports whether the git dir has name; with a slash at the end, whether
// that is a directory.
func (r *Repository) exists(name string) bool {
	var st filestat.Stat
	path := r.GitDir + "/" + strings.TrimSuffix(name, "/")
	return filestat.Of(&st, path) == nil && (!strings.HasSuffix(name, "/") || st.IsDir())
}

// progress returns " N/M" from the files that hold the two numbers.
func (r *Repository) progress(n, m string) string {
	a, b := r.number(n), r.number(m)
	if a == "" || b == "" {
		return ""
	}
	return " " + a + "/" + b
}

// number returns the number in a file of the git dir, "" if it holds none.
func (r *Repository) number(name string) string {
	data, err := readSmall(r.GitDir + "/" + name)
	if err != nil {
		return ""
	}
	s := strings.TrimSpace(data)
	if s == "" || len(s) > 20 || strings.Trim(s, "0123456789") != "" {
		return ""
	}
	return s
}
