# The linker's flags of what users get, packages, and `make install`; included by the Makefile.
.PHONY: install uninstall packages

# lld packs the relocations, and saves a megabyte of memory in each process. lld also puts the functions of every
# process side by side, and saves two more (Packaging/link-order makes the list). Nobody looks for names of the command's:
# without them the search for names reads half a megabyte less. `-z now` makes the table of the libraries' functions read-only,
# and costs an idle process nothing.
LINK_ORDER := Packaging/link-order.txt
LINK := -Xswiftc -use-ld=lld -Xlinker --no-export-dynamic -Xlinker -z -Xlinker pack-relative-relocs -Xlinker -z -Xlinker now -Xlinker --icf=all \
    -Xswiftc -Xfrontend -Xswiftc -function-sections $(UNVERIFIED) \
    -Xlinker --symbol-ordering-file=$(CURDIR)/$(LINK_ORDER) -Xlinker --no-warn-symbol-ordering

PREFIX ?= /usr/local
DESTDIR ?=
INSTALL = PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" Packaging/install

# Commands that are there are installed as they are: under sudo there is often no compiler, and root's files would disturb the next build.
install: $(if $(and $(wildcard $(RELEASE)),$(wildcard $(PUSH))),,release) ## install commands, manual pages, completion and units: PREFIX=/usr/local DESTDIR=
	@[ -z "$$(find Sources -newer $(RELEASE) -name '*.swift' | head -n 1)" ] || echo "note: the sources are newer than the commands; make release"
	@$(INSTALL)
	@echo "installed below $(DESTDIR)$(PREFIX)"

uninstall: ## remove what `make install` has installed
	@$(INSTALL) --remove

packages: release app ## build kalij_*.deb, kalij-app_*.deb and kalij-push_*.deb for Debian 12 in .build/packages
	@Scripts/install-packages packaging
	@Packaging/build .build/packages
