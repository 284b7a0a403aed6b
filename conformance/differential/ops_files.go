package differential

import "fmt"

// fileOps change the content of files.
func fileOps() []op {
	how := func(commands ...string) func(g *gen) []string {
		return func(g *gen) []string { return []string{pick(g, commands...) + " " + g.path()} }
	}
	return []op{
		{"", 6, func(g *gen) []string { return g.write(g.name(), "put") }},
		{"", 4, how("more")},
		{"", 6, how("flip")},
		{"", 3, how("rm -f", "rm -rf")},
		{"", 2, how("touch", "touch -d '1 hour ago'", "touch -d '2001-02-03 04:05:06'")},
		{"editors", 6, how("flip_over", "flip_dd")},
		{"editors", 3, func(g *gen) []string { return g.write(g.name(), "over") }},
		{"editors", 2, func(g *gen) []string {
			p := g.path()
			return []string{fmt.Sprintf("plain %s; mv -f %s %s; cp %s %s; flip %s", p, p, p+"~", p+"~", p, p)}
		}},
		{"editors", 2, func(g *gen) []string {
			return []string{fmt.Sprintf("ln -f %s %s", g.path(), g.path())}
		}},
		{"outside", 2, func(g *gen) []string { // a hard link whose directory is not the repository's
			p := g.path()
			return []string{fmt.Sprintf(`ln -f %s "$B/link"; flip "$B/link"`, p)}
		}},
		{"editors", 2, func(g *gen) []string {
			if !g.m.Mmap {
				return nil
			}
			return []string{"flip_mmap " + g.path()}
		}},
		{"editors", 2, func(g *gen) []string {
			from, to := g.path(), g.path()
			return []string{fmt.Sprintf("plain %[1]s; plain %[2]s; cp --preserve=all %[1]s %[2]s", from, to)}
		}},
		{"editors", 2, func(g *gen) []string { return []string{fmt.Sprintf("mv -f %s %s", g.path(), g.path())} }},
		{"restored", 8, func(g *gen) []string {
			p, flip := g.path(), pick(g, "flip_keep", "flip_cp", "flip_over_keep")
			if g.ownIndex {
				// Only an entry that the index's own time proves clean is one that git is
				// sure to overlook.
				return []string{fmt.Sprintf("touch -d '2001-02-03 04:05:06' %s; git update-index --add %s; %s %s", p, p, flip, p)}
			}
			return []string{flip + " " + p}
		}},
		{"restored", 2, how("touch -r .git/index", "touch -d '2040-01-01'")},
		{"mode", 4, how("chmod +x", "chmod -x", "chmod 600")},
		{"mode", 2, func(g *gen) []string {
			return []string{fmt.Sprintf("chmod %s %s", pick(g, "700", "755", "2755"), quote("./"+g.dir()))}
		}},
		{"mode", 2, func(g *gen) []string {
			return []string{fmt.Sprintf("git update-index --chmod=%s %s", pick(g, "+x", "-x"), g.path())}
		}},
	}
}

// treeOps change what kind of thing a name is, and what names there are.
func treeOps() []op {
	return []op{
		{"", 2, func(g *gen) []string {
			return []string{"rm -rf " + quote("./"+g.dir())}
		}},
		{"", 2, func(g *gen) []string {
			return []string{fmt.Sprintf("mv -T %s %s", quote("./"+g.dir()), quote("./"+g.dir()+pick(g, "", "2", "/x")))}
		}},
		{"untracked", 4, func(g *gen) []string {
			d := pick(g, "u", "u/v", "u/v/w", g.dir()+"/u", g.dir()+"/u/v")
			return []string{fmt.Sprintf("mkdir -p %s; put %s 'x'", quote("./"+d), quote("./"+d+"/"+pick(g, "f", "a", "c.o", ".keep")))}
		}},
		{"untracked", 3, func(g *gen) []string {
			return []string{"mkdir -p " + quote("./"+pick(g, "u", g.dir())+pick(g, "", "/m", "/m/n/o/p"))}
		}},
		{"untracked", 3, func(g *gen) []string {
			return []string{pick(g, "rm -rf u", "rm -rf u/v", "rm -f u/f u/v/f u/v/w/f", "find u -type f -delete", "find u -depth -type d -empty -delete", "mv u u2", "mv u2 u")}
		}},
		{"untracked", 2, func(g *gen) []string { return []string{"git clean -qfd" + pick(g, "", "x")} }},
		{"symlink", 5, func(g *gen) []string {
			target := pick(g, "a", "nowhere", g.dir(), "..", "../"+g.name(), g.name())
			return []string{fmt.Sprintf("rm -rf %[1]s; ln -s %[2]s %[1]s", g.path(), quote(target))}
		}},
		{"symlink", 2, func(g *gen) []string { // a symbolic link where a directory with tracked files was
			d := g.dir()
			return []string{fmt.Sprintf("mv -T %[1]s ./moved; ln -s %[2]s %[1]s", quote("./"+d), pick(g, "moved", "nowhere", `"$B"`))}
		}},
		{"typechange", 3, func(g *gen) []string { // a directory where a file was
			p := g.path()
			return []string{fmt.Sprintf("rm -rf %[1]s; mkdir -p %[1]s; %[2]s", p, pick(g, "true", "put "+p+"/x 'a'", "put "+p+"/x.o ''"))}
		}},
		{"typechange", 3, func(g *gen) []string { // a file where a directory was
			d := quote("./" + g.dir())
			return []string{fmt.Sprintf("rm -rf %[1]s; put %[1]s 'a\\n'", d)}
		}},
		{"special", 2, func(g *gen) []string {
			return []string{fmt.Sprintf("rm -rf %[1]s; mkfifo %[1]s", g.path())}
		}},
	}
}
