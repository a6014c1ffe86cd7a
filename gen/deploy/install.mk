# install.mk: defines `make install`, `make uninstall`, `make deb` and `make wheel`.
# The folders follow GNU's conventions: make install PREFIX=$HOME/.local, make install prefix=/usr DESTDIR=stage.
PREFIX      = /usr/local
prefix      = $(PREFIX)
exec_prefix = $(prefix)
bindir      = $(exec_prefix)/bin
datarootdir = $(prefix)/share
datadir     = $(datarootdir)
docdir      = $(datarootdir)/doc/attn2c
mandir      = $(datarootdir)/man
bashdir     = $(datarootdir)/bash-completion/completions
zshdir      = $(datarootdir)/zsh/site-functions
fishdir     = $(datarootdir)/fish/vendor_completions.d

.PHONY: install uninstall deb wheel
deb: override prefix = /usr
deb: override zshdir = $(datarootdir)/zsh/vendor-completions
export bindir datadir docdir mandir bashdir zshdir fishdir LUA

install: ## install the command, its manual and completions (make install PREFIX=/usr/local DESTDIR=)
	@sh gen/deploy/install.sh

uninstall: ## remove the installed files
	@sh gen/deploy/install.sh remove

deb: ## make out/deb/attn2c_VERSION_all.deb, a package for Debian 12
	@packages='$(needed_packages)' recommended='$(x86_packages)' sh gen/deploy/deb.sh

wheel: ## make out/wheel/attn2c-VERSION-py3-none-any.whl, a Python package of attn2c
	@sh gen/deploy/wheel.sh
