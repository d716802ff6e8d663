# browser-governor. "make help" lists the targets. Each one first sets up what
# it needs, see .ci/setup; what is set up already costs nothing.

# Programs that .ci/setup had to bring (a newer Go or node, staticcheck).
export PATH := $(CURDIR)/.cache/bin:$(PATH)

SETUP    := .ci/setup
FUZZTIME ?= 30s
# A log of their own, so that trying the examples takes nothing from a real budget.
GOVERNED := bin/browser-governor run --no-sandbox --policy examples/policy.yaml --log .cache/example-log

.DEFAULT_GOAL := help
.PHONY: help setup build demo test test-clients bench lint fuzz clean distclean \
	example-playwright example-puppeteer example-browser-use

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-20s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## install what the other targets need (Debian 12, root or sudo)
	@$(SETUP)

build: ## build bin/browser-governor
	@$(SETUP) go
	go build -trimpath -o bin/browser-governor ./cmd/browser-governor

demo: ## a polite agent against a local site, with the log it leaves
	@$(SETUP) go browser
	go run ./examples/politeagent

# The race detector changes what it measures, so the end-to-end tests, which
# time a real browser, run without it.
test: ## all Go tests, end-to-end tests with a real Chromium included
	@$(SETUP)
	go test -race -timeout 8m $$(go list ./... | grep -v '/e2e')
	go test -timeout 14m ./e2e/...

test-clients: build ## Playwright, Puppeteer and browser-use as they are, plain and governed
	@$(SETUP) browser clients python
	node --test --test-reporter=spec e2e/clients/clients.test.mjs
	bin/browser-governor run --no-sandbox --policy e2e/clients/policy.yaml --log "$$(mktemp -d .cache/client-log.XXXXXX)" -- \
		node --test --test-reporter=spec e2e/clients/clients.test.mjs
	rm -rf .cache/client-log.*
	$(MAKE) example-playwright example-puppeteer example-browser-use

example-playwright: build ## the Playwright example through the governor
	@$(SETUP) browser clients
	$(GOVERNED) -- node examples/playwright/main.mjs

example-puppeteer: build ## the Puppeteer example through the governor
	@$(SETUP) browser clients
	$(GOVERNED) -- node examples/puppeteer/main.mjs

example-browser-use: build ## the browser-use example through the governor
	@$(SETUP) browser python
	$(GOVERNED) -- .cache/venv/bin/python examples/browser-use/main.py

bench: ## the benchmarks as one table (ROUNDS=3 BENCH=. BENCHTIME=1s)
	@$(SETUP) go browser clients
	.ci/bench

lint: ## gofmt, vet, staticcheck, builds for macOS and Windows, scripts
	@$(SETUP) lint clients
	.ci/lint

fuzz: ## every fuzz target for FUZZTIME (30s)
	@$(SETUP) go
	FUZZTIME=$(FUZZTIME) .ci/fuzz

clean: ## remove what was built
	rm -rf bin demo-log
	find . -name '*.test' -type f -not -path './.cache/*' -not -path '*/node_modules/*' -delete

distclean: clean ## remove what was set up, too
	rm -rf .cache e2e/clients/node_modules examples/*/node_modules
