package wire

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Allowed reports whether the environment variable name may change an answer:
// such variables travel from a client to the server, and no others.
func Allowed(name string) bool {
	switch name {
	case "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY",
		"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_CEILING_DIRECTORIES",
		"GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_IMPLICIT_WORK_TREE", "GIT_NO_REPLACE_OBJECTS",
		"GIT_REPLACE_REF_BASE", "GIT_REFERENCE_BACKEND", "GIT_SHALLOW_FILE", "GIT_GRAFT_FILE",
		"HOME", "XDG_CONFIG_HOME", "SUDO_UID":
		return true
	}
	return strings.HasPrefix(name, "GIT_CONFIG") || strings.HasPrefix(name, "GIT_ATTR_")
}

// Environ returns the variables of r that are Allowed, as NAME=value, sorted.
func (r *Request) Environ() []string {
	env := make([]string, 0, len(r.Env)+len(r.EnvBytes))
	for name, value := range r.Env {
		if _, bytes := r.EnvBytes[name]; Allowed(name) && !bytes {
			env = append(env, name+"="+value)
		}
	}
	for name, value := range r.EnvBytes {
		if Allowed(name) {
			env = append(env, name+"="+string(value))
		}
	}
	slices.Sort(env)
	return env
}

// SetEnviron puts those of environ, a list of NAME=value of which the last of a
// name counts, into r that are Allowed.
func (r *Request) SetEnviron(environ []string) {
	for _, v := range environ {
		name, value, ok := strings.Cut(v, "=")
		if !ok || !Allowed(name) {
			continue
		}
		delete(r.Env, name)
		delete(r.EnvBytes, name)
		if s, b := text(value); b != nil {
			if r.EnvBytes == nil {
				r.EnvBytes = make(Bytes)
			}
			r.EnvBytes[name] = b
		} else {
			if r.Env == nil {
				r.Env = make(Env)
			}
			r.Env[name] = s
		}
	}
}

// text returns s as text if it is UTF-8, else as bytes.
func text(s string) (string, []byte) {
	if utf8.ValidString(s) {
		return s, nil
	}
	return "", []byte(s)
}
