# `make demo` and `make test` need only Debian 12 and a Swift toolchain of 6.2 or later: missing packages are installed.
SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help deps deps-build build release demo push-demo push-nodes-demo test default-installs nested lint model monitoring simulate mutations ratchet-mutants simulate-nodes node-mutants docs examples format \
    bot-kills bot-table omemo-matrix file-matrix bench fuzz fuzz-coverage sanitize clean

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
    Fuzz/Package.swift Fuzz/Sources Fuzz/Tests $(foreach example,$(EXAMPLES),Examples/$(example)/Package.swift \
    Examples/$(example)/Sources)
RELEASE := .build/release/kalij
PUSH := .build/release/kalij-push
BUILT := Examples/.build/debug
STRICT := -Xswiftc -warnings-as-errors --explicit-target-dependency-import-check error
# `make test` tests optimized code, because users get optimized code: an address used after its call, for example, does
# no harm in a debug build. Everything else is built for debugging, which is faster after an edit.
OPTIMIZED := -c release -Xswiftc -enable-testing --scratch-path .build/optimized $(STRICT)
CONFIGURATION := $(STRICT)

help:
	@echo "make demo     show the main job: kills on a real server, compared with the archive"
	@echo "              KILLS=$(KILLS) MESSAGES=$(MESSAGES) SERVER=$(SERVER) SEED=... (SERVER: prosody or ejabberd)"
	@echo "make push-demo  show pushes on Prosody: triggered, queued, discarded; a message in a group wakes a phone (half a minute)"
	@echo "make push-nodes-demo  show three nodes of kalij-push and a Redis that is cut off, killed and emptied (half a minute)"
	@echo "make test     test everything: build without warnings, lint, unit tests, real servers, real kills"
	@echo "make default-installs  test Debian 13's Prosody and ejabberd as they are installed, and uploads to them; fetches them, needs root (two minutes)"
	@echo "make sanitize  run unit tests with AddressSanitizer and with ThreadSanitizer, real servers and kills with the commands"
	@echo "              built with AddressSanitizer; optimized builds, takes most of an hour"
	@echo "make build    build for debugging"
	@echo "make release  build the commands $(RELEASE) and $(PUSH), linked with Swift's library statically"
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
	@echo "make bot-kills  kill the bot of Examples/CountingBot 200 times on each server, or as KILLS=20 SERVER=ejabberd SEED=... say"
	@echo "make bot-table  kill the bot of README.md and the same bot of slixmpp 200 times each, or as KILLS=20 SEED=... say (12 minutes)"
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
    -Xswiftc -Xfrontend -Xswiftc -function-sections \
    -Xlinker --symbol-ordering-file=$(CURDIR)/Scripts/link-order.txt -Xlinker --no-warn-symbol-ordering

# The package manager does not know that the command depends on the list.
release: deps-build
	@[ ! -e $(RELEASE) ] || [ $(RELEASE) -nt Scripts/link-order.txt ] || rm $(RELEASE)
	swift build -c release --static-swift-stdlib --product kalij $(LINK)
	swift build -c release --static-swift-stdlib --product kalij-push $(LINK)

demo: release
	@Scripts/install-packages $(if $(filter ejabberd,$(SERVER)),test,demo)
	@$(RELEASE) demo --kills $(KILLS) --messages $(MESSAGES) --server $(SERVER) $(if $(SEED),--seed $(SEED))

push-demo push-nodes-demo: release
	swift build -c release --static-swift-stdlib --product kalij-push-demo $(LINK)
	@Scripts/install-packages demo
	@.build/release/kalij-push-demo $(if $(filter push-demo,$@),"$(CURDIR)/$(PUSH)" "$(CURDIR)/$(RELEASE)",nodes "$(CURDIR)/$(PUSH)")

PROCESSES := KALIJ_LINKS_DEBIAN13="$(CURDIR)/.build/debian13" KALIJ_BINARY="$(CURDIR)/$(RELEASE)" KALIJ_PUSH_BINARY="$(CURDIR)/$(PUSH)" KALIJ_EXAMPLE="$(CURDIR)/$(BUILT)/question" \
    KALIJ_EXAMPLE_APP="$(CURDIR)/$(BUILT)" Scripts/test-processes .build/optimized/release/kalijPackageTests.xctest

# Runs the second command, and meanwhile makes the first target with the rest of the processors' time. What that has printed appears
# after the second command, and its failure counts.
together = rm -f .build/$(1).status; { chrt --idle 0 $(MAKE) -s $(1) >.build/$(1).log 2>&1; echo $$? >.build/$(1).status; } & \
    $(2); status=$$?; wait; cat .build/$(1).log; [ "$$(cat .build/$(1).status)" = 0 ] && exit $$status

# Debian 13's servers, unpacked once: 250 MB, 9 s. Needs root, for device files and chroot. The tests of links take them beside Debian
# 12's; KALIJ_DEBIAN13 would change what other tests measure.
DEBIAN13 := .build/debian13
$(DEBIAN13): Scripts/debian13-servers
	@rm -rf $@ $@.new
	@Scripts/debian13-servers $@.new && mv $@.new $@ || { rm -rf $@.new && mkdir $@ && \
	    echo "NOT TESTED: Debian 13's servers cannot be unpacked here, see above; links are tested with Debian 12's alone"; }
	@touch $@

test: CONFIGURATION := $(OPTIMIZED)
test: build lint docs release $(DEBIAN13)
	@$(call together,examples,TESTS_LIMIT=700 TESTS_AGAIN=1 Scripts/run-tests swift test --skip-build $(CONFIGURATION) --skip '^(Integration|Processes)\.|ReadmeTests|ThrowingApplicationTests' --skip QueryLiteralTests)
	@$(call together,calculated,$(PROCESSES))
	@$(PROCESSES) alone
	@echo "All tests passed."

# Process tests mostly wait: meanwhile the tests that only calculate are built, and run, with the rest of the processors' time.
calculated:
	@$(MAKE) -C Tests/Simulation build-tests
	@Scripts/check-models --short
	@$(MAKE) --no-print-directory -C Tests/Simulation test
	@$(MAKE) --no-print-directory -C Fuzz corpus
	@$(MAKE) --no-print-directory -C Benchmarks allocations

# `make test` measures the servers of Debian 12, which are installed; this one measures Debian 13's, in a folder that goes afterwards.
default-installs: build
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && trap 'exit 130' INT TERM && Scripts/debian13-servers "$$folder" && \
	    KALIJ_DEBIAN13="$$folder" KALIJ_BINARY="$(CURDIR)/.build/debug/kalij" swift test --skip-build $(CONFIGURATION) --no-parallel --filter 'DefaultInstallTests|Integration\.(Upload)?ServerTests'

# The queries come from the compiler's syntax trees, so the modules have to be built.
lint: build
	swift format lint --strict --recursive $(SOURCES)
	@Scripts/check-traps
	@Scripts/check-members
	@Scripts/check-columns
	@Scripts/check-tables
	@Tests/Programs/ratchet/mutants.py --check
	@Tests/Programs/nodes/mutants.py --check
	@Scripts/check-documents
	@Packaging/version --check
	@Scripts/check-circles Sources/KalijSteps Sources/KalijFeatures Sources/KalijClient
	@! grep -nE '@@[A-Z]+@@' README.md ARCHITECTURE.md CHANGELOG.md Documentation/*.md
	swift test --skip-build $(CONFIGURATION) --filter QueryLiteralTests

model: deps
	@Scripts/check-models

simulate: deps-build
	@$(MAKE) --no-print-directory -C Tests/Simulation simulate SEEDS=$(SEEDS) FIRST=$(FIRST) TRACE=$(TRACE)

mutations: deps-build
	@$(MAKE) --no-print-directory -C Tests/Simulation mutations SEEDS=$(SEEDS)

ratchet-mutants: deps
	@Tests/Programs/ratchet/mutants.py

NODES ?= 10
simulate-nodes: CONFIGURATION := $(OPTIMIZED)
simulate-nodes: build
	NODE_LONG=1 NODES=$(NODES) NODE_SEEDS=$(SEEDS) NODE_FIRST=$(FIRST) swift test --skip-build $(CONFIGURATION) --filter "NodeSimulationTests|NodeLongTests"

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

# Packages of their own, like the users'; shared parts are built once. A plan is made anew each time: SwiftPM does not
# notice added or removed files in a package used by its path.
examples: deps-build
	@for example in $(EXAMPLES); do rm -f $(BUILT).yaml; \
	    swift build --package-path Examples/$$example --scratch-path Examples/.build $(STRICT) || exit 1; done
	@Scripts/check-readme $(STRICT)

# `make test` has a short form.
bot-kills: build examples
	COUNTING_KILLS=$(if $(filter command line,$(origin KILLS)),$(KILLS),200) \
	    COUNTING_SERVER=$(if $(filter command line,$(origin SERVER)),$(SERVER)) \
	    KALIJ_EXAMPLE_APP="$(CURDIR)/$(BUILT)" swift test --skip-build $(CONFIGURATION) --filter 'CountingBotTests/killed'

# `make test` has a short form, without slixmpp.
bot-table: build examples
	TABLE_KILLS=$(if $(filter command line,$(origin KILLS)),$(KILLS),200) KALIJ_BINARY="$(CURDIR)/.build/debug/kalij" \
	    KALIJ_EXAMPLE_APP="$(CURDIR)/$(BUILT)" swift test --skip-build $(CONFIGURATION) --filter 'BotTableTests'

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

sanitize: deps
	@for part in $(PART); do Scripts/sanitize $$part $(STRICT) || exit 1; done

fuzz: deps-build
	@$(MAKE) --no-print-directory -C Fuzz fuzz MINUTES=$(MINUTES) TARGET=$(TARGET)

fuzz-coverage: deps-build
	@$(MAKE) --no-print-directory -C Fuzz coverage

include Packaging/packaging.mk

clean:
	swift package clean
	rm -rf .build
