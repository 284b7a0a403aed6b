package differential

import (
	"fmt"
	"strings"
)

// pattern returns a line of a gitignore file, as text for printf.
func (g *gen) pattern() string {
	name := g.name()
	if g.IntN(3) == 0 {
		name = g.dir()
	}
	base := name[strings.LastIndexByte(name, '/')+1:]
	first := strings.SplitN(name, "/", 2)[0]
	p := pick(g, name, base, "/"+name, "/"+base, "/"+first, first+"/", base+"/", name+"/", "**/"+base, first+"/**", "**/"+base+"/**",
		first+"/*", "*", "/*", "*.o", "*.[oc]", "[a-d]*", "[!a]*", "[^d]", "u/", "u", "/u/v", "u/v/", "?", "d*", "d?", "*/"+base,
		first+"/**/"+base, "a/**/b", "**", "/**", base+"/*", "x"+base, "", "# comment", `\#hash`, `\!bang`, base+" ", base+`\ `, "[[:alpha:]]",
		"["+base, `\`, base+`\`, "[]x]", "*e*", "nest/", "sub", ".hidden", "//"+base, first+"//"+base, "./"+base, "*/", "[a-]", `\`+base)
	if g.IntN(4) == 0 {
		p = "!" + p
	}
	return strings.NewReplacer(`\`, `\\`, "%", "%%", "\n", `\n`, "'", `'\''`).Replace(p)
}

func (g *gen) patterns() string {
	var b strings.Builder
	if g.IntN(12) == 0 {
		b.WriteString(`\357\273\277`) // a byte order mark
	}
	for range 1 + g.IntN(4) {
		b.WriteString(g.pattern())
		b.WriteString(pick(g, `\n`, `\n`, `\n`, `\n`, `\n`, `\r\n`))
	}
	if g.IntN(6) == 0 {
		b.WriteString(g.pattern()) // no newline at the end
	}
	return b.String()
}

// ruleOps change what is ignored, and how content is converted.
func ruleOps() []op {
	return []op{
		{"ignore", 8, func(g *gen) []string {
			d := pick(g, ".", ".", g.dir(), "u")
			return []string{fmt.Sprintf("mkdir -p %s; %s %s/.gitignore '%s'", quote("./"+d), pick(g, "put", "over"), quote("./"+d), g.patterns())}
		}},
		{"ignore", 2, func(g *gen) []string {
			return []string{fmt.Sprintf("%s ./.gitignore", pick(g, "flip", "flip_keep", "flip_over", "rm -f", "git add -f", "printf '*.o\\n' >>"))}
		}},
		{"ignore", 1, func(g *gen) []string { return []string{"rm -f " + quote("./"+g.dir()) + "/.gitignore"} }},
		{"ignore", 2, func(g *gen) []string {
			return []string{fmt.Sprintf("mkdir -p .git/info; put .git/info/exclude '%s'", g.patterns())}
		}},
		{"ignore", 1, func(g *gen) []string {
			return []string{fmt.Sprintf("put ../ign '%s'; ln -sf ../ign .gitignore", g.patterns())}
		}},
		{"ignore", 2, func(g *gen) []string {
			return []string{fmt.Sprintf(`put "$B/ex" '%s'; git config core.excludesFile "$B/ex"`, g.patterns())}
		}},
		{"ignore", 1, func(g *gen) []string { return []string{"git config core.ignoreCase " + pick(g, "true", "false")} }},
		{"ignore", 2, func(g *gen) []string { return []string{"git add -f " + g.path()} }},
		{"ignore", 2, func(g *gen) []string {
			return []string{fmt.Sprintf("mkdir -p %[1]s; touch %[1]s/c.o %[1]s/a", pick(g, "u", "u/v", quote("./"+g.dir())))}
		}},
		{"attributes", 5, func(g *gen) []string {
			pat := pick(g, "*", "*.txt", "*.c", "a", "/a", "d/*", "d/**", g.dir()+"/a", "[a-d]*", "*.o")
			pat = strings.NewReplacer(`\`, `\\`, "%", "%%", "\n", `\n`, "'", `'\''`, " ", "?").Replace(pat)
			attr := pick(g, "text", "-text", "text=auto", "text=auto eol=crlf", "eol=crlf", "eol=lf", "ident", "crlf", "binary", "!text", "-crlf", "text eol=lf", "text=auto eol=lf")
			where := pick(g, ".gitattributes", ".gitattributes", ".git/info/attributes", quote("./"+g.dir())+"/.gitattributes")
			return []string{fmt.Sprintf("printf '%s %s\\n' %s %s", pat, attr, pick(g, ">", ">>"), where)}
		}},
		{"attributes", 3, func(g *gen) []string {
			return []string{pick(g, "git config core.autocrlf true", "git config core.autocrlf input", "git config core.autocrlf false",
				"git config core.eol crlf", "git config core.eol lf", "git config --unset core.eol")}
		}},
		{"attributes", 3, func(g *gen) []string {
			p := g.path()
			return []string{fmt.Sprintf(`plain %[1]s; tr -d '\r' <%[1]s >"$B/.t"; %[2]s <"$B/.t" >%[1]s`, p, pick(g, "sed 's/$/\\r/'", "cat", "sed '1s/$/\\r/'"))}
		}},
		{"attributes", 1, func(g *gen) []string { return []string{"git add --renormalize ."} }},
		{"attributes", 1, func(g *gen) []string { return []string{"rm -f .gitattributes"} }},
		{"attributes", 1, func(g *gen) []string {
			return []string{`printf 'd.txt working-tree-encoding=UTF-16\n' >>.gitattributes; printf '\377\376a\000b\000\n\000' >d.txt; git add d.txt`}
		}},
		{"filter", 4, func(g *gen) []string {
			return []string{fmt.Sprintf("put x.up '%s'; %s", pick(g, `hello\n`, `HELLO\n`, `hellO\n`, `bye\n`), pick(g, "true", "git add x.up", "touch x.up"))}
		}},
		{"filter", 1, func(g *gen) []string { return []string{"git config filter.up.clean 'tr a-z b-zA'"} }},
		{"filter", 1, func(g *gen) []string {
			return []string{"git config filter.up.required " + pick(g, "true", "false") + "; git config filter.up.clean " + pick(g, "false", "cat", "'tr a-z A-Z'")}
		}},
	}
}
