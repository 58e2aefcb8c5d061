# `make demo` and `make test` need only Debian 12 and a Swift toolchain of 6.2 or later: missing packages are installed.
SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help deps deps-build build release app app-tests app-test demo push-demo push-nodes-demo test nested lint model monitoring simulate mutations ratchet-mutants simulate-nodes node-mutants docs examples format \
    tests-of tests-built optimized-unit-tests test-all lint-sources omemo-matrix file-matrix bench fuzz fuzz-coverage sanitize clean

KILLS ?= 50
MESSAGES ?= 500
SERVER ?= prosody
SEED ?=
# CPU minutes for each fuzz target, and a single target.
MINUTES ?= 10
TARGET ?=
# Seeds of the simulator: the number, and the first; TRACE=1 prints the events of the first seed.
SEEDS ?= 1000
FIRST ?= 1
TRACE ?=
# Of the sanitizers.
PART ?= address processes thread

EXAMPLES := Question AppAndExtension CountingBot
SOURCES := Package.swift Sources Tests Benchmarks/Package.swift Benchmarks/Sources \
    App/Package.swift App/Sources App/Tests Fuzz/Package.swift Fuzz/Sources Fuzz/Tests $(foreach example,$(EXAMPLES),Examples/$(example)/Package.swift \
    Examples/$(example)/Sources)
RELEASE := .build/release/kalij
PUSH := .build/release/kalij-push
APP := .build/release/kalij-app
BUILT := .build/debug
BUNDLE := .build/debug/kalijPackageTests.xctest
# Nobody reads variables in a debugger; stacks keep their lines. (The index of the symbols is needed: SwiftPM looks there for tests of XCTest.)
# The compiler's check of its own work takes a fifth of the build's time, and is for who works on the compiler.
UNVERIFIED := -Xswiftc -Xfrontend -Xswiftc -disable-llvm-verify -Xswiftc -Xfrontend -Xswiftc -sil-verify-none
STRICT := -Xswiftc -warnings-as-errors --explicit-target-dependency-import-check error -Xswiftc -gline-tables-only $(UNVERIFIED)
# Tests are built for debugging: an optimized build of them takes twice as long. `make test-all` has the optimized build besides, because
# users get optimized code: an address used after its call, for example, does no harm in a debug build. Processes are always those of `make release`.
OPTIMIZED := -c release -Xswiftc -enable-testing --scratch-path .build/optimized $(STRICT)
CONFIGURATION := $(STRICT)
# Packages beside this one share its modules: the same folder, the same flags.
NESTED := --scratch-path $(CURDIR)/.build $(STRICT)

help:
	@echo "make demo     show the main job: kills on a real server, compared with the archive"
	@echo "              KILLS=$(KILLS) MESSAGES=$(MESSAGES) SERVER=$(SERVER) SEED=... (SERVER: prosody or ejabberd)"
	@echo "make push-demo  show pushes on Prosody: triggered, queued, discarded; a message in a group wakes a phone (half a minute)"
	@echo "make push-nodes-demo  show three nodes of kalij-push and a Redis that is cut off, killed and emptied (half a minute)"
	@echo "make test     build without warnings, lint, unit tests, real servers, real kills (half an hour)"
	@echo "make test-all  what \`make test\` runs, then Debian 12's servers, optimized unit tests, sanitizers, and all long forms (hours)"
	@echo "make tests-of  the suites that FILTER='Processes\\.RoomKillTests' names; Scripts/long lists and runs long forms"
	@echo "make sanitize  run unit tests with AddressSanitizer and with ThreadSanitizer, real servers and kills with the commands"
	@echo "              built with AddressSanitizer; optimized builds, takes most of an hour"
	@echo "make build    build for debugging"
	@echo "make release  build the commands $(RELEASE) and $(PUSH), linked with Swift's library statically"
	@echo "make app      build the graphical app $(APP) (GTK 4), over the modules of \`make release\`"
	@echo "make app-test  test the app: its values, and a person at the keyboard with a real server, without a screen"
	@echo "make install  install both commands, their manual pages, completion and units: PREFIX=/usr/local DESTDIR="
	@echo "make uninstall  remove what \`make install\` has installed"
	@echo "make packages  build kalij_*.deb and kalij-push_*.deb for Debian 12 in .build/packages"
	@echo "make image    build .build/packages/kalij-push.tar from the package, an image for docker, podman or runc; needs root"
	@echo "make packages-test  check, install, upgrade and remove the packages, the image, and \`make install\`; needs root and a mirror"
	@echo "make operating-test  follow Documentation/Operating.md on bare Debians with both servers; needs root, cgroup2 and a mirror"
	@echo "make deps     install the Debian packages for building and testing; make deps-build: for building alone"
	@echo "make format   format the sources"
	@echo "make lint     check format and style, and compile every query in the sources (after a build, 10 s)"
	@echo "make simulate  run the engine over simulated servers, networks, clocks and disks: SEEDS=$(SEEDS) FIRST=$(FIRST) TRACE=1"
	@echo "make mutations  break a rule at a time; the simulator has to find each break"
	@echo "make ratchet-mutants  break a constant or rule of the ratchet at a time; the named test has to find each"
	@echo "make simulate-nodes  nodes of kalij-push with all that can happen between them: NODES=10 SEEDS=$(SEEDS) FIRST=$(FIRST)"
	@echo "make node-mutants  break a rule of the nodes at a time; the named test has to find each"
	@echo "make model    check the models of handing over (Documentation/Models) with spin, a minute or two"
	@echo "make monitoring  test the rules for Prometheus of kalij-push"
	@echo "make docs     build the documentation of libraries with a catalog in .build/docs; no warning, no symbol without a comment"
	@echo "make examples  build Examples/, and the package that README.md shows"
	@echo "make omemo-matrix  show that kalij and other clients read each other's encrypted messages, on both servers (ten minutes)"
	@echo "make file-matrix  show that pictures go between kalij and other clients, plain and encrypted, on both servers (two minutes)"
	@echo "make bench    compare with other programs (release build, takes minutes)"
	@echo "make fuzz     fuzz all readers of input, MINUTES=$(MINUTES) CPU minutes for each target; TARGET=parser for a single target"
	@echo "make fuzz-coverage  measure the coverage of KalijXML by the committed inputs of the fuzzers"
	@echo "make clean    remove all build products"

deps:
	@Scripts/install-packages build test

deps-build:
	@Scripts/install-packages build

build: deps
	swift build --build-tests $(CONFIGURATION)

# lld packs the relocations, and saves a megabyte of memory in each process. lld also puts the functions of every
# process side by side, and saves two more (Scripts/link-order makes the list). Nobody looks for names of the command's:
# without them the search for names reads half a megabyte less. `-z now` makes the table of the libraries' functions read-only,
# and costs an idle process nothing.
LINK := -Xswiftc -use-ld=lld -Xlinker --no-export-dynamic -Xlinker -z -Xlinker pack-relative-relocs -Xlinker -z -Xlinker now -Xlinker --icf=all \
    -Xswiftc -Xfrontend -Xswiftc -function-sections $(UNVERIFIED) \
    -Xlinker --symbol-ordering-file=$(CURDIR)/Scripts/link-order.txt -Xlinker --no-warn-symbol-ordering

# The package manager does not know that the command depends on the list.
release: deps-build
	@[ ! -e $(RELEASE) ] || [ $(RELEASE) -nt Scripts/link-order.txt ] || rm $(RELEASE)
	swift build -c release --static-swift-stdlib --product kalij $(LINK)
	swift build -c release --static-swift-stdlib --product kalij-push $(LINK)

# A package of its own, so that the commands need no GTK. The same folder and flags as the commands: the engine is compiled once. SwiftPM takes
# the plan that is there for its own.
app:
	@Scripts/install-packages build app
	@rm -f .build/release.yaml
	swift build --package-path App --scratch-path $(CURDIR)/.build -c release --static-swift-stdlib --product kalij-app $(LINK)
	@rm -f .build/release.yaml
	@App/po/texts check
	@App/po/texts compile .build/release/locale

app-tests: app build
	@rm -f $(BUILT).yaml
	swift build --build-tests --package-path App $(NESTED)
	@rm -f $(BUILT).yaml

# The values by Swift Testing; then the program under a display without a screen, with a person who knows names and roles alone.
app-test: app-tests $(DEBIAN13)
	@Scripts/install-packages app-test
	@$(BUILT)/kalij-appPackageTests.xctest --testing-library swift-testing
	@PYTHONDONTWRITEBYTECODE=1 $(ENVIRONMENT) App/Tests/Person/stage "$(CURDIR)/$(APP)"

demo: release
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

# Tests/plan.toml chooses the tests of each of the two, Documentation/Testing.md has the table.
test: build nested release app-tests $(DEBIAN13)
	@$(MAKE) --no-print-directory -C Benchmarks allocations-build LINK='$(LINK)'
	@$(MAKE) --no-print-directory tests-built
	@echo "All tests passed."

tests-built:
	@$(ENVIRONMENT) Scripts/tests run $(BUNDLE) --jobs $(JOBS)

# How many suites run side by side: most wait more than they work.
JOBS ?= 5

# Everything: what \`make test\` runs, the same with Debian 12's servers, optimized unit tests, sanitizers, packages and operating, and all long forms.
test-all: test
	@$(ENVIRONMENT) Scripts/tests run $(BUNDLE) --jobs $(JOBS) --kind processes --all
	@KALIJ_SERVERS=debian12 $(ENVIRONMENT) Scripts/tests run $(BUNDLE) --jobs $(JOBS) --kind processes --all
	@Scripts/long all

# Suites by a regular expression, such as FILTER='Processes\.(RoomKill|Group)Tests'; Scripts/long gives their amounts.
FILTER ?=
tests-of: build nested release $(DEBIAN13)
	@$(ENVIRONMENT) $(BUNDLE) --testing-library swift-testing --no-parallel --filter '$(FILTER)'

# The simulator and the corpus of the fuzzers, with the modules of the tests. A plan is made anew for each package: SwiftPM takes the one that is
# there for its own.
nested: build
	@for package in Tests/Simulation Fuzz; do rm -f $(BUILT).yaml; swift build --build-tests --package-path $$package $(NESTED) || exit 1; done
	@$(MAKE) --no-print-directory examples

lint: build lint-sources
	swift test --skip-build $(CONFIGURATION) --filter QueryLiteralTests

# What needs no build.
lint-sources:
	@swift format lint --strict --recursive $(SOURCES)
	@Scripts/check-traps
	@Scripts/check-characters
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
	@Scripts/check-circles
	@Scripts/check-homonyms
	@Scripts/check-verbs >/dev/null || { Scripts/check-verbs --list; exit 1; }
	@! grep -rnx 'import Foundation' Sources --include='*.swift' --exclude-dir=KalijTestSupport  # links 35 MB of ICU: FoundationEssentials
	@! grep -nE '@@[A-Z]+@@' README.md ARCHITECTURE.md CHANGELOG.md Documentation/*.md

model: deps
	@Scripts/check-models

simulate: deps-build
	@$(MAKE) --no-print-directory -C Tests/Simulation simulate SEEDS=$(SEEDS) FIRST=$(FIRST) TRACE=$(TRACE) STRICT='$(STRICT)'

mutations: deps-build
	@$(MAKE) --no-print-directory -C Tests/Simulation mutations SEEDS=$(SEEDS)

ratchet-mutants: deps
	@Tests/Programs/ratchet/mutants.py

NODES ?= 10
simulate-nodes: CONFIGURATION := $(OPTIMIZED)
simulate-nodes: build
	KALIJ_LONG="simulate-nodes=$(SEEDS) nodes=$(NODES) seed=$(FIRST)" swift test --skip-build $(CONFIGURATION) --filter "NodeSimulationTests|NodeLongTests"

node-mutants: deps
	@Tests/Programs/nodes/mutants.py

# Rules for Prometheus, tested by its own tool. Installs 100 MB once, so not a part of `make test`.
monitoring:
	@Scripts/install-packages monitoring
	promtool check rules Scripts/monitoring/kalij-push.rules.yml
	Scripts/monitoring/check-dashboard
	cd Scripts/monitoring && promtool test rules kalij-push.rules.test.yml

# The examples in the articles are tests, made by Scripts/documentation-examples.
docs: deps
	@Scripts/documentation-examples --check
	@Scripts/build-documentation $(CONFIGURATION)

# Packages of their own, like the users'; the README's package, too. They share the modules of the tests.
examples: deps-build
	@for example in $(EXAMPLES); do rm -f $(BUILT).yaml; swift build --package-path Examples/$$example $(NESTED) || exit 1; done
	@Scripts/check-readme $(NESTED)
	@rm -f $(BUILT).yaml

# OMEMO_SERVERS=prosody is a single server, OMEMO_PEERS=first,alice,prof fewer clients, OMEMO_VERSION2=1 has kalij and python-omemo use
# version 2, too, KALIJ_BINARY=... is another build.
omemo-matrix: $(if $(KALIJ_BINARY),,release)
	@Scripts/install-packages interop
	@PYTHONDONTWRITEBYTECODE=1 KALIJ_BINARY="$(or $(KALIJ_BINARY),$(CURDIR)/$(RELEASE))" \
	    Tests/Programs/omemo/show.py $(OMEMO_SERVERS) $(if $(OMEMO_PEERS),--peers $(OMEMO_PEERS)) $(if $(OMEMO_VERSION2),--version2)

# FILE_SERVERS=prosody is a single server, KALIJ_BINARY=... is another build.
file-matrix: $(if $(KALIJ_BINARY),,release)
	@Scripts/install-packages interop
	@PYTHONDONTWRITEBYTECODE=1 KALIJ_BINARY="$(or $(KALIJ_BINARY),$(CURDIR)/$(RELEASE))" Tests/Programs/files_matrix/show.py $(FILE_SERVERS)

format:
	swift format format --in-place --recursive $(SOURCES)

bench:
	@$(MAKE) --no-print-directory -C Benchmarks run

# The unit tests as users' code is compiled.
optimized-unit-tests: CONFIGURATION := $(OPTIMIZED)
optimized-unit-tests: build
	@$(ENVIRONMENT) Scripts/tests run .build/optimized/release/kalijPackageTests.xctest --kind units --jobs 2

sanitize: deps $(DEBIAN13) examples
	@for part in $(PART); do $(ENVIRONMENT) Scripts/sanitize $$part $(STRICT) || exit 1; done

fuzz: deps-build
	@$(MAKE) --no-print-directory -C Fuzz fuzz MINUTES=$(MINUTES) TARGET=$(TARGET)

fuzz-coverage: deps-build
	@$(MAKE) --no-print-directory -C Fuzz coverage

include Packaging/packaging.mk

clean:
	swift package clean
	rm -rf .build
