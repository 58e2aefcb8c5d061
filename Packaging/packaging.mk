# Packages, `make install` and their tests; included by the Makefile.
.PHONY: install uninstall packages packages-test image operating-test

PREFIX ?= /usr/local
DESTDIR ?=
PACKAGES := .build/packages
INSTALL = PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" Packaging/install

# Commands that are there are installed as they are: under sudo there is often no compiler, and root's files would disturb the next build.
install: $(if $(and $(wildcard $(RELEASE)),$(wildcard $(PUSH))),,release)
	@[ -z "$$(find Sources -newer $(RELEASE) -name '*.swift' | head -n 1)" ] || echo "note: the sources are newer than the commands; make release"
	@$(INSTALL)
	@echo "installed below $(DESTDIR)$(PREFIX)"

uninstall:
	@$(INSTALL) --remove

packages: release
	@Scripts/install-packages packaging
	@Packaging/build $(PACKAGES)

image: packages
	@Packaging/image $(PACKAGES)

# Both tests are walks through a bare Debian 12: root, cgroup2 and a mirror are needed, so `make test` has neither.
packages-test: image
	@Packaging/test $(PACKAGES)

operating-test: packages
	@Packaging/operating-test $(PACKAGES) $(if $(filter command line,$(origin SERVER)),$(SERVER))
