package revision

import (
	"errors"
	"strconv"
	"strings"

	"gust/internal/pure/oid"
	"gust/internal/store/refs"
)

// rules are the names that a short name may stand for, in order of precedence
// (gitrevisions(7), "<refname>").
func rules(name string) [6]string {
	return [6]string{name, "refs/" + name, "refs/tags/" + name, "refs/heads/" + name, "refs/remotes/" + name, "refs/remotes/" + name + "/HEAD"}
}

// errNoRef says that an expression is no ref.
var errNoRef = errors.New("no ref")

// Ref returns the full name of the ref that rev stands for, after symbolic refs
// other than HEAD itself, and its value; "@" is HEAD, and "@{-N}", "@{upstream}"
// and "@{push}" are understood. The error is ErrUnknown if rev is no ref or stands
// for several.
func (r *Resolver) Ref(rev string) (name string, id oid.ID, err error) {
	if name, err = r.refName(rev); err == nil {
		name, id, err = r.dwim(rev, name)
	}
	if errors.Is(err, errNoRef) {
		err = unknown(rev)
	}
	return name, id, err
}

// ref returns the ID of the ref that rev is, perhaps of one of its older values.
// The error is errNoRef if rev does not look like one.
func (r *Resolver) ref(rev string) (oid.ID, error) {
	name, err := r.refName(rev)
	if errors.Is(err, errOld) {
		return r.old(rev)
	}
	if err != nil {
		return oid.ID{}, err
	}
	_, id, err := r.dwim(rev, name)
	if name != rev && errors.Is(err, errNoRef) {
		return r.resolve(name, any0) // a commit that was left
	}
	if whole, perr := oid.Parse(r.DB.Algo(), rev); perr == nil {
		// An object ID goes before a ref, of which Git warns.
		if errors.Is(err, errNoRef) || r.QuietAmbiguity {
			return whole, nil
		}
		return whole, unknown(rev)
	}
	return id, err
}

// errOld says that rev is an older value of a ref.
var errOld = errors.New("an older value of a ref")

// refName expands the "@" of a ref.
func (r *Resolver) refName(rev string) (string, error) {
	if rev == "@" {
		return "HEAD", nil
	}
	i := strings.Index(rev, "@{")
	if i < 0 || !strings.HasSuffix(rev, "}") {
		return rev, nil
	}
	at := rev[i+2:]
	if strings.HasPrefix(at, "-") {
		// "@{-1}@{upstream}" starts with a branch that was left.
		end := strings.IndexByte(at, '}')
		if i != 0 {
			return "", unknown(rev)
		}
		left, err := r.left(rev, at[1:end])
		if err != nil || end == len(at)-1 {
			return left, err
		}
		return r.refName(left + at[end+1:])
	}
	at = at[:len(at)-1]
	switch strings.ToLower(at) {
	case "u", "upstream":
		return r.tracked(rev, rev[:i], r.Upstream)
	case "push":
		return r.tracked(rev, rev[:i], r.Push)
	}
	return "", errOld
}

// dwim returns the full name and the ID of the one ref that name is short for.
func (r *Resolver) dwim(rev, name string) (string, oid.ID, error) {
	full, at := "", oid.ID{}
	for _, try := range rules(name) {
		to, id, err := r.Refs.Follow(try)
		var broken *refs.BrokenError
		switch {
		case errors.Is(err, refs.ErrNotFound):
			continue
		case errors.As(err, &broken) && !strings.Contains(try, "/"):
			continue // a file like .git/config
		case err != nil:
			return "", at, unknown(rev)
		case id.IsNull():
			if try != "HEAD" {
				return "", at, unknown(rev) // dangling, of which Git warns
			}
			continue
		}
		if full != "" {
			return "", at, unknown(rev)
		}
		if try == "HEAD" {
			to = try
		}
		full, at = to, id
		if r.QuietAmbiguity {
			break
		}
	}
	if full == "" {
		return "", at, errNoRef
	}
	return full, at, nil
}

// tracked returns what tracks the branch that short names, the current one if it
// is empty.
func (r *Resolver) tracked(rev, short string, track func(string) string) (string, error) {
	if track == nil {
		return "", unknown(rev)
	}
	branch := "refs/heads/" + short
	if short == "" || short == "HEAD" || short == "@" {
		head, err := r.Refs.Head()
		if err != nil {
			return "", err
		}
		branch = head.Branch
	} else if _, err := r.Refs.Resolve(branch); err != nil {
		return "", unknown(rev)
	}
	ref := ""
	if branch != "" {
		ref = track(branch)
	}
	if ref == "" {
		return "", unknown(rev)
	}
	return ref, nil
}

// left returns the n-th branch, or commit, before the current one that was
// switched away from.
func (r *Resolver) left(rev, n string) (string, error) {
	nth, err := strconv.Atoi(n)
	if err != nil || nth <= 0 {
		return "", unknown(rev)
	}
	log, err := r.Refs.Log("HEAD")
	if err != nil {
		return "", err
	}
	for i := len(log) - 1; i >= 0; i-- {
		move, ok := strings.CutPrefix(log[i].Message, "checkout: moving from ")
		if !ok {
			continue
		}
		from, _, ok := strings.Cut(move, " to ")
		if !ok {
			continue
		}
		if nth--; nth > 0 {
			continue
		}
		return from, nil
	}
	return "", unknown(rev)
}

// old is "REF@{N}".
func (r *Resolver) old(rev string) (oid.ID, error) {
	i := strings.Index(rev, "@{")
	short, count := rev[:i], rev[i+2:len(rev)-1]
	n, err := strconv.Atoi(count)
	if err != nil || n < 0 || len(count) > 8 || count[0] == '+' {
		return oid.ID{}, unknown(rev) // a date
	}
	name := "HEAD"
	if short == "" {
		head, err := r.Refs.Head()
		if err != nil {
			return oid.ID{}, err
		}
		if head.Branch != "" {
			name = head.Branch
		}
	} else if name, _, err = r.dwim(rev, short); err != nil {
		return oid.ID{}, unknown(rev)
	}
	log, err := r.Refs.Log(name)
	if err != nil {
		return oid.ID{}, err
	}
	if n >= len(log) {
		return oid.ID{}, unknown(rev)
	}
	// Git warns of a log that has gaps.
	for k := len(log) - 1; k > 0 && k >= len(log)-1-n; k-- {
		if log[k].Old != log[k-1].New {
			return oid.ID{}, unknown(rev)
		}
	}
	id := log[len(log)-1-n].New
	if now, err := r.Refs.Resolve(name); err != nil || now != log[len(log)-1].New {
		return oid.ID{}, unknown(rev)
	}
	return id, nil
}
