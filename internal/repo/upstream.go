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
	t := Tracking{Remote: remote, Merge: merges[0]}
	if remote == "." {
		t.Ref = t.Merge
		return t
	}
	t.Ref = r.track(remote, t.Merge)
	t.URL = r.fetchURL(remote)
	return t
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
	remote, _ := r.Config.Get("branch." + branch + ".pushRemote")
	if remote == "" {
		remote, _ = r.Config.Get("remote.pushDefault")
	}
	if remote == "" {
		return Tracking{}
	}
	t := Tracking{Remote: remote, Merge: h.Branch, URL: r.pushURL(remote)}
	t.Ref = r.track(remote, t.Merge)
	return t
}

// track returns the ref that tracks ref of remote, by remote.<name>.fetch.
func (r *Repository) track(remote, ref string) string {
	dst := ""
	for _, spec := range r.Config.GetAll("remote." + remote + ".fetch") {
		if pattern, ok := strings.CutPrefix(spec, "^"); ok {
			if _, ok := match(pattern, ref, ""); ok {
				return ""
			}
			continue
		}
		if dst != "" {
			continue
		}
		src, to, ok := strings.Cut(strings.TrimPrefix(spec, "+"), ":")
		if !ok || to == "" {
			continue
		}
		if mapped, ok := match(src, ref, to); ok {
			dst = mapped
		}
	}
	return dst
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

// fetchURL returns the URL that remote is fetched from, after insteadOf.
func (r *Repository) fetchURL(remote string) string {
	url := remote
	if urls := r.Config.GetAll("remote." + remote + ".url"); len(urls) > 0 {
		url = urls[0]
	}
	url, _ = r.rewrite(url, ".insteadof")
	return url
}

// pushURL returns the URL that remote is pushed to: pushurl, else its URL after
// pushInsteadOf.
func (r *Repository) pushURL(remote string) string {
	if urls := r.Config.GetAll("remote." + remote + ".pushurl"); len(urls) > 0 {
		url, _ := r.rewrite(urls[0], ".insteadof")
		return url
	}
	url := remote
	if urls := r.Config.GetAll("remote." + remote + ".url"); len(urls) > 0 {
		url = urls[0]
	}
	if url, ok := r.rewrite(url, ".pushinsteadof"); ok {
		return url
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
