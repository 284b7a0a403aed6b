package differential

import "fmt"

// formatOps change how content, objects and the index are stored.
func formatOps() []op {
	return []op{
		{"encodings", 6, func(g *gen) []string {
			return []string{fmt.Sprintf(`printf '%s working-tree-encoding=%s%s\n' %s %s`, pick(g, "*.txt", "d.txt", "*"), g.encoding(),
				pick(g, "", "", " text", " text=auto", " -text", " eol=crlf", " ident"), pick(g, ">", ">>"), pick(g, ".gitattributes", ".git/info/attributes"))}
		}},
		{"encodings", 8, func(g *gen) []string {
			text := pick(g, `a\nb\n`, `\303\274\n`, `\342\202\254 a\r\n`, ``, `a`, `\360\237\230\200\n`)
			return []string{fmt.Sprintf(`printf '%s' | iconv -f UTF-8 -t %s >d.txt 2>/dev/null`, text, pick(g, "UTF-16", "UTF-16LE", "UTF-16BE", "UTF-32", "UTF-8", "ISO-8859-1", "SHIFT-JIS")),
				pick(g, "true", "git add d.txt", "git add d.txt", "git commit -qm enc d.txt")}
		}},
		{"encodings", 2, func(g *gen) []string {
			return []string{pick(g, `printf '\377\376' | cat - d.txt >d.new; mv d.new d.txt`, `printf '\303' >>d.txt`, "touch d.txt", "flip d.txt", "git add --renormalize .", "git checkout -q -- d.txt",
				"git config core.checkRoundtripEncoding UTF-16", "git config core.safecrlf true", "git config core.autocrlf true", "rm -f .gitattributes .git/info/attributes")}
		}},
		{"lfs", 4, func(g *gen) []string {
			return []string{pick(g, `printf '*.bin filter=lfs diff=lfs merge=lfs -text\n' >.gitattributes`, `printf '*.bin filter=lfs -text\n/m.bin !filter\n' >.gitattributes`, `printf '*.bin filter=lfs eol=crlf\n' >.gitattributes`, "rm -f .gitattributes")}
		}},
		{"lfs", 8, func(g *gen) []string {
			p := pick(g, "m.bin", "n.bin", "d.bin")
			pointer := `version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n`
			return []string{"put " + p + " '" + pick(g, `content\n`, `tnetnoc\n`, ``, `a\r\nb\n`, pointer, pointer, pointer+`\n`, `x`+pointer) + "'", pick(g, "true", "git add "+p, "git add "+p+"; git commit -qm "+p)}
		}},
		{"lfs", 3, func(g *gen) []string {
			p := pick(g, "m.bin", "n.bin", "d.bin")
			return []string{pick(g, "touch "+p, "flip "+p, "flip_keep "+p, "git cat-file blob :"+p+" >"+p, "rm -f "+p, "git checkout -q -- "+p, "git add --renormalize .")}
		}},
		{"case", 3, func(g *gen) []string {
			return []string{"git config core.ignoreCase " + pick(g, "true", "true", "false")}
		}},
		{"case", 8, func(g *gen) []string {
			from, to := pick(g, "d", "D", "e", "E"), pick(g, "D", "d", "Dd", "dD")
			return []string{pick(g, fmt.Sprintf("mkdir -p %[1]s; put %[1]s/%[2]s 'a\\n'", from, pick(g, "a", "A", "B", "b")), fmt.Sprintf("mv -T %s %s", from, to), fmt.Sprintf("put %s 'a\\n'", pick(g, "A", "MAKEFILE", "makefile", "F1")),
				"mkdir -p "+from+"; put "+from+"/.GITIGNORE '*\\n'", "put .gitignore 'A\\n/D\\nmakefile\\n'", "git add -A", "git add "+from, "git rm -q -r --cached "+from, "mkdir -p "+from+"/.Git", "put .GitAttributes '* -text\\n'")}
		}},
		oneOf("monitor", 4, `printf '#!/bin/sh\nprintf "t\\0/\\0"\n' >"$B/monitor"; chmod +x "$B/monitor"; git config core.fsmonitor "$B/monitor"; git config core.fsmonitorHookVersion 2`,
			"git update-index --fsmonitor", "git status", "git update-index --no-fsmonitor", "git update-index --force-write-index", "git config --unset core.fsmonitor", "git update-index --fsmonitor-valid -- a d.txt", "git update-index --untracked-cache"),
		oneOf("packs", 5, "git multi-pack-index write --bitmap", "git multi-pack-index repack", "git multi-pack-index expire", "git repack -q -d --cruft", "git repack -q -a -d --write-midx", "git multi-pack-index write --incremental",
			"git repack -q -d --geometric=2", "git commit-graph write --reachable --split=no-merge", "git commit-graph write --reachable --split=replace --changed-paths", "git config commitGraph.generationVersion 1; git commit-graph write --reachable",
			"git repack -q -a -d -F --depth=4096 --window=2", "git pack-objects -q --all .git/objects/pack/pack </dev/null", "for p in .git/objects/pack/*.pack; do [ -f \"$p\" ] && : >\"${p%.pack}.promisor\"; done",
			"for p in .git/objects/pack/*.pack; do [ -f \"$p\" ] && : >\"${p%.pack}.keep\"; done", "rm -f .git/objects/pack/*.rev .git/objects/pack/multi-pack-index", "git config core.looseCompression 0; git config pack.indexVersion 1; git repack -q -a -d -f",
			"git unpack-objects -q -r <\"$(ls .git/objects/pack/*.pack | head -n 1)\"", "git config core.bigFileThreshold 1; git add -A"),
	}
}

func (g *gen) encoding() string {
	return pick(g, "UTF-16", "UTF-16", "UTF-16LE", "UTF-16BE", "UTF-16LE-BOM", "UTF-32", "UTF-8", "utf8", "ISO-8859-1", "latin1", "SHIFT-JIS", "x-none", "")
}
