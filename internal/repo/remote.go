package repo

import "strings"

// A remote is what is configured of one: remote.<name>.* or, where that has no
// URL, one of the older files below the common dir (git-fetch(1), REMOTES).
type remote struct {
	url     string // "" if it has none
	pushURL string
	fetch   []string // refspecs
	push    []string
}

// remote returns what is known of the remote name.
func (r *Repository) remote(name string) remote {
	key := "remote." + name + "."
	m := remote{
		url: r.first(key + "url"), pushURL: r.first(key + "pushurl"),
		fetch: r.Config.GetAll(key + "fetch"), push: r.Config.GetAll(key + "push"),
	}
	if m.url == "" && name != "" && name != "." && name != ".." && !strings.Contains(name, "/") {
		if text, err := readSmall(r.CommonDir + "/remotes/" + name); err == nil {
			m.fromRemotes(text)
		} else if text, err := readSmall(r.CommonDir + "/branches/" + name); err == nil {
			m.fromBranches(text, name, r.defaultBranch())
		}
	}
	if m.url == "" {
		m.url = name
	}
	return m
}

// first returns the first value of a list in which an empty value forgets what
// is before it.
func (r *Repository) first(key string) string {
	first := ""
	for _, value := range r.Config.GetAll(key) {
		if value == "" || first == "" {
			first = value
		}
	}
	return first
}

// fromRemotes reads a file of remotes/: lines of "URL:", "Push:" or "Pull:".
func (m *remote) fromRemotes(text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		kind, value, _ := strings.Cut(line, ":")
		value = strings.TrimLeft(value, " \t")
		switch kind {
		case "URL":
			if m.url == "" {
				m.url = value
			}
		case "Push":
			m.push = append(m.push, value)
		case "Pull":
			m.fetch = append(m.fetch, value)
		}
	}
}

// fromBranches reads a file of branches/: a URL, perhaps with "#" and a branch.
func (m *remote) fromBranches(text, name, standard string) {
	line, _, _ := strings.Cut(text, "\n")
	url, branch, ok := strings.Cut(strings.TrimSpace(line), "#")
	if url == "" {
		return
	}
	if !ok {
		branch = standard
	}
	m.url = url
	m.fetch = append(m.fetch, "refs/heads/"+branch+":refs/heads/"+name)
	m.push = append(m.push, "HEAD:refs/heads/"+branch)
}

// defaultBranch returns the name of the first branch of new repositories.
func (r *Repository) defaultBranch() string {
	if name, _ := r.Config.Get("init.defaultBranch"); name != "" {
		return name
	}
	return "master"
}
