# gust: the targets a person types. Each one is a few lines here and a script in
# scripts/ where it is more; `make help` lists them.

PREFIX ?= $(HOME)/.local
# A shell may hand over PREFIX=~/.local as it stands.
prefix  = $(patsubst ~/%,$(HOME)/%,$(PREFIX))
SEEDS   ?= 2000
FUZZTIME ?= 30s
GO      ?= go
export CGO_ENABLED ?= 0

.DEFAULT_GOAL := help
.PHONY: help build try test check fuzz conformance soak bench picture install uninstall clean tools

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1	\2/p' $(MAKEFILE_LIST) | expand -t 22

build: ## build everything into ./build, laid out as make install does
	@$(MAKE) --no-print-directory install PREFIX='$(CURDIR)/build' QUIET=1

try: build ## open your shell with gust's prompt here; nothing of yours is changed
	@scripts/try build

tools: # the programs that tests run: shells, linters, the newest git
	@scripts/test-tools

test: tools ## run all tests
	@GO='$(GO)' scripts/test ./...

check: ## gofmt, vet, staticcheck, race detector, cross-builds
	@GO='$(GO)' scripts/check

fuzz: ## run every fuzz target for FUZZTIME (30s)
	@GO='$(GO)' FUZZTIME='$(FUZZTIME)' scripts/fuzz

conformance: tools ## compare gust with git on SEEDS (2000) random repositories
	@GO='$(GO)' SEEDS='$(SEEDS)' scripts/conformance

soak: tools ## change one repository for 10 minutes, and compare the server's answers
	@GO='$(GO)' scripts/test -timeout=0 -count=1 -v ./conformance/soak -args -last=10m

bench: build ## measure against git and the kernel's floor; writes bench/results
	@$(GO) run ./bench -prefix build

picture: build ## draw docs/prompt.svg from a real shell
	@scripts/picture build >build/prompt.svg && mv build/prompt.svg docs/prompt.svg

install: ## install under PREFIX (~/.local): bin, libexec/gust, share/gust
	@GO='$(GO)' QUIET='$(QUIET)' scripts/install '$(prefix)'

uninstall: ## remove what make install put under PREFIX
	@scripts/install --remove '$(prefix)'

clean: ## remove ./build
	rm -rf build
