package repo

// UserFile returns the path that the setting key names, or else the file called name
// in Git's XDG directory (gitignore(5), gitattributes(5)); "" if there is none. The
// error is that of reading the setting.
func (r *Repository) UserFile(key, name string) (string, error) {
	path, set, err := r.Config.Path(key)
	if err != nil {
		return "", err
	}
	switch {
	case set && path == "":
		return "", nil
	case set && path[0] != '/':
		return r.WorkTree + "/" + path, nil
	case set:
		return path, nil
	case r.Env["XDG_CONFIG_HOME"] != "":
		return r.Env["XDG_CONFIG_HOME"] + "/git/" + name, nil
	case r.Env.Home() != "":
		return r.Env.Home() + "/.config/git/" + name, nil
	}
	return "", nil
}
