package repo

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"gust/internal/format/config"
)

// An Env holds the environment variables that Git's behaviour depends on, by
// name. A variable that is set to nothing is present.
type Env map[string]string

// EnvFrom returns the variables of environ, a list of NAME=value, that Git reads
// to find repositories and configuration. Later ones win.
func EnvFrom(environ []string) Env {
	e := make(Env)
	for _, v := range environ {
		name, value, ok := strings.Cut(v, "=")
		if !ok {
			continue
		}
		switch name {
		case "HOME", "XDG_CONFIG_HOME", "SUDO_UID", "USERPROFILE", "HOMEDRIVE", "HOMEPATH":
			e[name] = value
		default:
			if strings.HasPrefix(name, "GIT_") {
				e[name] = value
			}
		}
	}
	return e
}

// has reports whether name is set, to nothing too.
func (e Env) has(name string) bool {
	_, ok := e[name]
	return ok
}

// bool returns the boolean value of name, false if it is not set.
func (e Env) bool(name string) (bool, error) {
	value, ok := e[name]
	if !ok {
		return false, nil
	}
	v, ok := config.ParseBool(value)
	if !ok {
		return false, fmt.Errorf("bad boolean value '%s' of environment variable %s", value, name)
	}
	return v, nil
}

// Home returns the user's home directory, "" if it is not known.
func (e Env) Home() string {
	if home := e["HOME"]; home != "" || runtime.GOOS != "windows" {
		return home
	}
	if e["HOMEDRIVE"] != "" && e["HOMEPATH"] != "" {
		return e["HOMEDRIVE"] + e["HOMEPATH"]
	}
	return e["USERPROFILE"]
}

// configOptions returns where configuration outside of the repository is
// (git-config(1), FILES and ENVIRONMENT). Relative paths are taken from base.
func configOptions(e Env, base string) (config.Options, error) {
	o := config.Options{Env: e, Home: e.Home()}
	noSystem, err := e.bool("GIT_CONFIG_NOSYSTEM")
	if err != nil {
		return o, err
	}
	if !noSystem {
		if path, ok := e["GIT_CONFIG_SYSTEM"]; ok {
			o.System = []string{from(base, path)}
		} else {
			o.System = []string{"/etc/gitconfig"}
		}
	}
	if path, ok := e["GIT_CONFIG_GLOBAL"]; ok {
		o.Global = []string{from(base, path)}
		return o, nil
	}
	if xdg := e["XDG_CONFIG_HOME"]; xdg != "" {
		o.Global = append(o.Global, xdg+"/git/config")
	} else if o.Home != "" {
		o.Global = append(o.Global, o.Home+"/.config/git/config")
	}
	if o.Home != "" {
		o.Global = append(o.Global, o.Home+"/.gitconfig")
	}
	return o, nil
}

// from returns path, which may be relative to base. An empty path stays empty.
func from(base, path string) string {
	if path == "" || base == "" || filepath.IsAbs(path) {
		return path
	}
	return base + "/" + path
}
