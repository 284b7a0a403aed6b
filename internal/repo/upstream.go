package repo

import (
	"strings"

	"gust/internal/store/refs"
)

// A Tracking is a branch on a remote and where it is tracked here.
type Tracking struct {
	Remote string // name of the remote, "." for this repository, or a URL; "" if there is none
	Merge  string // full name of the ref on the remote
	Ref    string // full name of the ref that tracks it here; "" if nothing does
	URL    string
}

// Upstream returns the upstream of the branch that h is on, as
// branch.<name>.remote and branch.<name>.merge say (git-config(1)). The zero
// Tracking says that there is none. The tracking ref need not exist.
func (r *Repository) Upstream(h refs.Head) Tracking {
	branch, ok := strings.CutPrefix(h.Branch, "refs/heads/")
	if !ok {
		return Tracking{}
	}
	remote, _ := r.Config.Get("branch." + branch + ".remote")
	merges := r.Config.GetAll("branch." + branch + ".merge")
	if remote == "" || len(merges) == 0 {
		return Tracking{}
	}
	m := r.remote(remote)
	t := Tracking{Remote: remote, Merge: merges[0], Ref: m.track(merges[0])}
	if remote != "." {
		t.URL, _ = r.rewrite(m.url, ".insteadof")
	} else if t.Ref == "" {
		t.Ref = r.expand(t.Merge)
	}
	return t
}

// expand returns the full name of the one ref that name is short for, or name
// if there is none or are several (gitrevisions(7), "<refname>"). A symbolic ref
// stands for what it leads to.
func (r *Repository) expand(name string) string {
	full := ""
	for _, rule := range []string{"%", "refs/%", "refs/tags/%", "refs/heads/%", "refs/remotes/%", "refs/remotes/%/HEAD"} {
		to, id, err := r.Refs.Follow(strings.Replace(rule, "%", name, 1))
		if err != nil || id.IsNull() {
			continue
		}
		if full != "" {
			return name
		}
		full = to
	}
	if full == "" {
		return name
	}
	return full
}

// PushRemote returns the remote that branch.<name>.pushRemote or
// remote.pushDefault name for the branch that h is on, with its URL for pushing
// and the ref that tracks the same branch there. The zero Tracking says that
// neither is set.
func (r *Repository) PushRemote(h refs.Head) Tracking {
	branch, ok := strings.CutPrefix(h.Branch, "refs/heads/")
	if !ok {
		return Tracking{}
	}
	remote, set := r.Config.Get("branch." + branch + ".pushRemote")
	if !set {
		remote, _ = r.Config.Get("remote.pushDefault")
	}
	if remote == "" {
		return Tracking{}
	}
	m := r.remote(remote)
	t := Tracking{Remote: remote, Merge: h.Branch}
	if remote != "." {
		t.URL = r.pushURL(&m)
	}
	if len(m.push) > 0 {
		t.Merge = mapRef(m.push, h.Branch)
	}
	t.Ref = m.track(t.Merge)
	return t
}

// track returns the ref that tracks ref of the remote.
func (m *remote) track(ref string) string {
	if excluded(m.fetch, ref) {
		return ""
	}
	return mapRef(m.fetch, ref)
}

// mapRef returns what the first refspec that ref matches makes of it.
func mapRef(specs []string, ref string) string {
	for _, spec := range specs {
		src, to, ok := strings.Cut(strings.TrimPrefix(spec, "+"), ":")
		if !ok || strings.HasPrefix(spec, "^") {
			continue
		}
		if mapped, ok := match(src, ref, to); ok {
			return mapped
		}
	}
	return ""
}

// excluded reports whether negative refspecs hide ref. Git asks them about the
// name that ref comes from if it is taken for a ref here: they matter only where
// a remote's refs are fetched to names that exist on the remote too.
func excluded(specs []string, ref string) bool {
	var sources []string
	for _, spec := range specs {
		src, to, ok := strings.Cut(strings.TrimPrefix(spec, "+"), ":")
		if strings.HasPrefix(spec, "^") {
			continue
		}
		if !ok || !strings.Contains(src, "*") {
			to = src
		}
		if mapped, ok := match(to, ref, src); ok {
			sources = append(sources, mapped)
		}
	}
	for _, spec := range specs {
		pattern, ok := strings.CutPrefix(spec, "^")
		for _, source := range sources {
			if _, matched := match(pattern, source, ""); ok && matched {
				return true
			}
		}
	}
	return false
}

// match matches ref with the pattern src, which may have one asterisk, and
// returns dst with its asterisk replaced by what src's stands for.
func match(src, ref, dst string) (string, bool) {
	before, after, wild := strings.Cut(src, "*")
	if !wild {
		return dst, src == ref
	}
	if len(ref) < len(before)+len(after) || !strings.HasPrefix(ref, before) || !strings.HasSuffix(ref, after) {
		return "", false
	}
	return strings.Replace(dst, "*", ref[len(before):len(ref)-len(after)], 1), true
}

// pushURL returns the URL that a remote is pushed to: pushurl, else its URL after
// pushInsteadOf.
func (r *Repository) pushURL(m *remote) string {
	url := m.pushURL
	if url == "" {
		url = m.url
		if rewritten, ok := r.rewrite(url, ".pushinsteadof"); ok {
			return rewritten
		}
	}
	url, _ = r.rewrite(url, ".insteadof")
	return url
}

// rewrite replaces the longest start of url that a url.<base><key> names by
// base. It reports whether there was one.
func (r *Repository) rewrite(url, key string) (string, bool) {
	best, length := "", -1
	for _, e := range r.Config.All() {
		base, ok := strings.CutPrefix(e.Key, "url.")
		if !ok {
			continue
		}
		if base, ok = strings.CutSuffix(base, key); ok && len(e.Value) > length && strings.HasPrefix(url, e.Value) {
			best, length = base, len(e.Value)
		}
	}
	if length < 0 {
		return url, false
	}
	return best + url[length:], true
}
