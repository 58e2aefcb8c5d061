# Every verb needs only Debian 12 and a Swift toolchain of 6.2 or later: missing packages are installed. All products are in .build.
# A target with a `##` comment is a verb, and `make help` prints it; the others are parts of verbs, and of long forms (Scripts/long).
SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help build release app app-tests demo push-demo push-nodes-demo test tests-built nested examples lint lint-sources format docs sanitize

include Tests/flags.mk

EXAMPLES := Question AppAndExtension CountingBot
SOURCES := Package.swift Sources Tests Benchmarks/Package.swift Benchmarks/Sources \
    App/Package.swift App/Sources App/Tests Fuzz/Package.swift Fuzz/Sources Fuzz/Tests $(foreach example,$(EXAMPLES),Examples/$(example)/Package.swift \
    Examples/$(example)/Sources)
RELEASE := .build/release/kalij
PUSH := .build/release/kalij-push
APP := .build/release/kalij-app
BUILT := .build/debug
BUNDLE := .build/debug/kalijPackageTests.xctest
# Tests are built for debugging: an optimized build of them takes twice as long. OPTIMIZED=1 makes that build besides, for the long form `optimized`:
# an address used after its call, for example, does no harm in a debug build. Processes are always those of `make release`.
CONFIGURATION := $(if $(OPTIMIZED),-c release -Xswiftc -enable-testing --scratch-path .build/optimized )$(STRICT)
# Packages beside this one share its modules: the same folder, the same flags.
NESTED := --scratch-path $(CURDIR)/.build $(STRICT)

help: ## print this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo "Scripts/long lists all longer runs (kills, simulator, mutations, sanitizers, fuzzing, benchmarks), and runs one."

build: ## build everything and all tests for debugging
	@Scripts/install-packages build test
	swift build --build-tests $(CONFIGURATION)

# The package manager does not know that the command depends on the linker's list.
release: ## build the commands .build/release/kalij and kalij-push, linked with Swift's library statically
	@Scripts/install-packages build
	@[ ! -e $(RELEASE) ] || [ $(RELEASE) -nt $(LINK_ORDER) ] || rm $(RELEASE)
	swift build -c release --static-swift-stdlib --product kalij $(LINK)
	swift build -c release --static-swift-stdlib --product kalij-push $(LINK)

# A package of its own, so that the commands need no GTK. The same folder and flags as the commands: the engine is compiled once. SwiftPM takes
# the plan that is there for its own.
app: ## build the graphical app .build/release/kalij-app (GTK 4), and the process that decodes pictures
	@Scripts/install-packages build app
	@rm -f .build/release.yaml
	for product in kalij-app kalij-app-background kalij-app-decode; do swift build --package-path App --scratch-path $(CURDIR)/.build -c release \
	    --static-swift-stdlib --product $$product $(LINK) || exit 1; done
	@rm -f .build/release.yaml
	@App/po/texts check
	@App/po/texts compile .build/release/locale

app-tests: app build
	@rm -f $(BUILT).yaml
	swift build --build-tests --package-path App $(NESTED)
	@rm -f $(BUILT).yaml

KILLS ?= 50
MESSAGES ?= 500
SERVER ?= prosody
SEED ?=
demo: release ## kill clients on a real server, and compare with its archive: KILLS=50 MESSAGES=500 SERVER=prosody|ejabberd SEED=
	@Scripts/install-packages $(if $(filter ejabberd,$(SERVER)),test,demo)
	@$(RELEASE) demo --kills $(KILLS) --messages $(MESSAGES) --server $(SERVER) $(if $(SEED),--seed $(SEED))

push-demo push-nodes-demo: release
	swift build -c release --static-swift-stdlib --product kalij-push-demo $(LINK)
	@Scripts/install-packages demo
	@.build/release/kalij-push-demo $(if $(filter push-demo,$@),"$(CURDIR)/$(PUSH)" "$(CURDIR)/$(RELEASE)",nodes "$(CURDIR)/$(PUSH)")

# What the tests find by the environment. The servers are Debian 13's; KALIJ_SERVERS=debian12 takes Debian 12's.
DEBIAN13 := .build/debian13
ENVIRONMENT := KALIJ_DEBIAN13="$(CURDIR)/$(DEBIAN13)" KALIJ_BINARY="$(or $(KALIJ_BINARY),$(CURDIR)/$(RELEASE))" \
    KALIJ_PUSH_BINARY="$(or $(KALIJ_PUSH_BINARY),$(CURDIR)/$(PUSH))" KALIJ_EXAMPLE="$(CURDIR)/$(BUILT)/question" KALIJ_EXAMPLE_APP="$(CURDIR)/$(BUILT)"

# Unpacked once: 250 MB, 9 s. Needs root, for device files and chroot.
$(DEBIAN13): Scripts/debian13-servers
	@rm -rf $@ $@.new
	@Scripts/debian13-servers $@.new && mv $@.new $@ || { rm -rf $@.new && mkdir $@ && \
	    echo "NOT TESTED: Debian 13's servers cannot be unpacked here, see above; all tests run with Debian 12's"; }
	@touch $@

# Tests/plan.toml chooses the tests, Documentation/Testing.md has the table. FILTER is a regular expression, such as 'Processes\.RoomKillTests'.
test: build nested release $(if $(FILTER),,app-tests) $(DEBIAN13) ## build, lint, and test each promise with real servers and kills (half an hour); FILTER=REGEX for single suites
ifdef FILTER
	@$(ENVIRONMENT) $(BUNDLE) --testing-library swift-testing --no-parallel --filter '$(FILTER)'
else
	@$(MAKE) --no-print-directory -C Benchmarks allocations-build LINK='$(LINK)'
	@$(MAKE) --no-print-directory tests-built
	@echo "All tests passed."
endif

# How many suites run side by side: most wait more than they work. CHOICE is for Scripts/tests.
JOBS ?= 5
tests-built:
	@$(ENVIRONMENT) Scripts/tests run $(BUNDLE) --jobs $(JOBS) $(CHOICE)

# The simulator and the corpus of the fuzzers, with the modules of the tests. A plan is made anew for each package: SwiftPM takes the one that is
# there for its own.
nested: build
	@for package in Tests/Simulation Fuzz; do rm -f $(BUILT).yaml; swift build --build-tests --package-path $$package $(NESTED) || exit 1; done
	@$(MAKE) --no-print-directory examples

# Packages of their own, like the users'; the README's package, too. They share the modules of the tests.
examples:
	@Scripts/install-packages build
	@for example in $(EXAMPLES); do rm -f $(BUILT).yaml; swift build --package-path Examples/$$example $(NESTED) || exit 1; done
	@Scripts/check-readme $(NESTED)
	@rm -f $(BUILT).yaml

lint: build lint-sources ## check formatting, style and documents, and compile every query in the sources
	swift test --skip-build $(CONFIGURATION) --filter QueryLiteralTests

# What needs no build.
lint-sources:
	@swift format lint --strict --recursive $(SOURCES)
	@Scripts/check-reasons
	@Scripts/check-codes
	@Scripts/check-members
	@Scripts/check-columns
	@Scripts/check-tables
	@Scripts/tests check
	@Scripts/tests table --check
	@Tests/Simulation/mutate.py --check
	@Tests/Programs/ratchet/mutants.py --check
	@Tests/Programs/nodes/mutants.py --check
	@Scripts/check-documents
	@Packaging/version --check
	@Scripts/check-targets
	@Scripts/check-verbs >/dev/null || { Scripts/check-verbs --list; exit 1; }
	@! grep -rnx 'import Foundation' Sources --include='*.swift' --exclude-dir=KalijTestSupport  # links 35 MB of ICU: FoundationEssentials
	@! grep -nE '@@[A-Z]+@@' README.md ARCHITECTURE.md CHANGELOG.md Documentation/*.md

format: ## format the sources
	swift format format --in-place --recursive $(SOURCES)

# The examples in the articles are tests, made by Scripts/documentation-examples.
docs: ## build the libraries' documentation in .build/docs: no warning, no public symbol without a comment
	@Scripts/install-packages build test
	@Scripts/documentation-examples --check
	@Scripts/build-documentation $(CONFIGURATION)

# A build for each PART; Scripts/sanitize has the parts.
PART ?= address processes thread
sanitize: $(DEBIAN13) examples
	@for part in $(PART); do $(ENVIRONMENT) Scripts/sanitize $$part $(STRICT) || exit 1; done

include Packaging/packaging.mk
