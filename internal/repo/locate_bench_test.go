package repo

import (
	"testing"

	"gust/internal/gittest"
)

func BenchmarkLocate(b *testing.B) {
	e := gittest.New(b, gittest.System(b))
	e.Script(b, "git init -q r; mkdir -p r/a/b/c/d")
	env := EnvFrom(e.Environ())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Locate(e.Path("r/a/b/c/d"), false, env); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkUnchanged(b *testing.B) {
	e := gittest.New(b, gittest.System(b))
	e.Script(b, "git init -q r")
	r := mustOpen(b, e, "r")
	b.ReportAllocs()
	for b.Loop() {
		r.Unchanged()
	}
}

func BenchmarkOpen(b *testing.B) {
	e := gittest.New(b, gittest.System(b))
	e.Script(b, "git init -q r")
	env := EnvFrom(e.Environ())
	loc, err := Locate(e.Path("r"), false, env)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Open(loc, env); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAction(b *testing.B) {
	e := gittest.New(b, gittest.System(b))
	e.Script(b, "git init -q r")
	r := mustOpen(b, e, "r")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Action(); err != nil {
			b.Fatal(err)
		}
	}
}
