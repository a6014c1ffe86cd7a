# build.mk - the C tests: out/test/bin/test_*. Most are built with AddressSanitizer and UndefinedBehaviorSanitizer
# and with failing allocations and reads (faults.c); element loops once for each instruction set this machine has.
CC ?= gcc
# The compiler of programs with sanitizers. GCC's do not find arithmetic with a null pointer.
checker := clang
bin := out/test/bin
WERROR ?= -Werror
warnings := -std=c11 -Wall -Wextra $(WERROR)
sanitize := -fsanitize=address,undefined -fno-sanitize-recover=all
checked  := $(warnings) -g1 -O0 $(sanitize) -fopenmp-simd -iquote runtime -iquote tests/c -iquote $(bin)/obj
loops    := $(warnings) -fno-math-errno -fno-trapping-math -ffp-contract=off -fopenmp-simd -iquote runtime -iquote tests/c

wrapped := malloc calloc realloc aligned_alloc free pread write fsync close rename mmap munmap clock_gettime attn2c_system_memory
comma   := ,
wraps   := $(foreach name,$(wrapped),-Wl$(comma)--wrap=$(name))

runtime  := $(wildcard runtime/*/*.c runtime/*/*/*.c runtime/*/*/*/*.c)
headers  := $(wildcard runtime/*/*.h runtime/*/*/*.h runtime/*/*/*/*.h tests/c/*.h)
vpath %.c $(sort $(dir $(runtime)))
helpers  := faults scratch fake_model golden_text safetensors_write
element_tests := elementary rowops rowops_rows rowops_attention online product quantise quads kept
jit_tests     := bench bound
tests := $(filter-out $(element_tests) $(jit_tests) guard,$(patsubst tests/c/test_%.c,%,$(wildcard tests/c/test_*.c)))

flags := $(shell sed -n 's/^flags[^:]*: //p;/^flags/q' /proc/cpuinfo)
variants := base $(if $(and $(filter avx2,$(flags)),$(filter fma,$(flags))),avx2) \
  $(if $(and $(filter avx512f,$(flags)),$(filter avx512bw,$(flags)),$(filter avx512dq,$(flags)),$(filter avx512vl,$(flags))),avx512)
flags_base   :=
flags_avx2   := -mavx2 -mfma -mf16c
flags_avx512 := -mavx2 -mfma -mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512

# Functions that store numbers for instructions of bf16 and int8 are tested once more if this machine has these.
quantise_variants := $(if $(and $(filter avx512,$(variants)),$(filter avx512_vnni,$(flags)),$(filter avx512_bf16,$(flags))),avx512bf16)
flags_avx512bf16 := $(flags_avx512) -mavx512vnni -mavx512bf16

element_programs := $(foreach test,$(element_tests),$(foreach variant,$(variants),$(bin)/test_$(test)_$(variant))) \
  $(foreach test,quantise quads kept,$(foreach variant,$(quantise_variants),$(bin)/test_$(test)_$(variant)))

# Programs that the spec of tokenizers runs.
text_libraries := -lutf8proc -lpcre2-8

# Criterion starts a program for each test, which takes longer with libraries that it does not use: libgit2 is replaced.
criterion := $(shell $(CC) -print-file-name=libcriterion.so)
git     := $(addprefix $(bin)/no_git/,$(shell LC_ALL=C readelf -d $(criterion) | sed -n 's/.*(NEEDED).*\[\(libgit2.*\)\]/\1/p'))
by_criterion := $(if $(git),-Wl$(comma)--disable-new-dtags$(comma)-rpath$(comma)'$$ORIGIN/no_git') -lcriterion

# lld links a program with sanitizers in half the time; other links fill the processors.
linker := -Wl,--as-needed $(if $(shell command -v ld.lld),-fuse-ld=lld -Wl$(comma)--threads=1)
text_programs  := $(bin)/text_cases $(bin)/text_fuzz $(bin)/text_languages

.PHONY: all
all: $(addprefix $(bin)/test_,$(tests) $(jit_tests) guard) $(element_programs) $(text_programs) $(bin)/chat_cases $(bin)/file_fuzz $(bin)/grammar_cases

# kernels_*.c; and one source of the runtime by itself.
$(bin)/obj/%.o: %.c $(headers) | $(bin)/obj
	$(checker) $(checked) -c $< -o $@
# Tests have no lines for traces, which would take a fifth of the time. `make test-long` looks for what is undefined in
# tests, which end there by SIGILL; so do tests that include a source of the runtime. It takes a quarter of the time.
# The runtime, which is tested, has both.
own_undefined = $(if $(or $(ATTN2C_TEST_LONG),$(filter test_program test_progress,$*)),-fsanitize-trap,-fno-sanitize)
$(bin)/obj/c_%.o: tests/c/%.c $(headers) | $(bin)/obj
	$(checker) $(checked) -g0 $(own_undefined)=undefined -c $< -o $@
$(bin)/obj:
	mkdir -p $@

$(git): tests/c/no_git.c
	mkdir -p $(@D)
	$(CC) $(warnings) -O1 -shared -fPIC -Wl,-soname,$(@F) -o $@ $<

# The runtime, of which a test links what it calls. Its flags are as in specs (helper.with_addresses), which so share
# its objects.
archive := $(bin)/runtime/libchecked.a
$(archive): $(runtime) $(headers) tests/runtime.lua $(wildcard gen/commands/build/*.lua)
	CC=$(checker) ATTN2C_CFLAGS='-g1 -O0 $(WERROR) $(sanitize)' lua5.4 tests/runtime.lua $@ && touch $@
helper_objects := $(patsubst %,$(bin)/obj/c_%.o,$(helpers))
picture_libraries := -lpng -ljpeg -lz
sound_libraries := -lsndfile -lsoxr
libraries      := $(by_criterion) -ljansson $(text_libraries) $(picture_libraries) $(sound_libraries) -lm -ldl -lpthread

$(addprefix $(bin)/test_,$(tests)): $(bin)/test_%: $(bin)/obj/c_test_%.o $(helper_objects) $(bin)/obj/kernels_c.o $(archive) | $(git)
	$(checker) $(linker) $(sanitize) -o $@ $^ $(wraps) $(libraries)

# Parts of the server, which the archive does not have.
$(bin)/test_serve: $(bin)/obj/multipart.o $(bin)/obj/numbers.o
$(bin)/test_tools: $(addprefix $(bin)/obj/,tools.o tool_channels.o tool_forms.o tool_parts.o tool_values.o)

$(text_programs): $(bin)/%: $(bin)/obj/c_%.o $(archive)
	$(checker) $(linker) $(sanitize) -o $@ $^ $(text_libraries)

# Ranks, for which nothing else here needs MPI.
$(bin)/ranks_meetings: tests/c/ranks_meetings.c $(wildcard runtime/ranks/*.c) runtime/base/attn2c.c \
  runtime/base/checksum.c runtime/base/utf8.c runtime/system/linux.c $(headers) | $(bin)/obj
	$(CC) $(warnings) -g1 -O1 $(sanitize) -iquote runtime -o $@ $(filter %.c,$^) $$(pkg-config --cflags --libs mpi-c)

$(bin)/chat_cases: $(bin)/obj/c_chat_cases.o $(archive)
	$(checker) $(linker) $(sanitize) -o $@ $^ -ljansson -lutf8proc -lm

$(bin)/grammar_cases: $(bin)/obj/c_grammar_cases.o $(archive)
	$(checker) $(linker) $(sanitize) -o $@ $^ -ljansson $(text_libraries) -lm

$(bin)/file_fuzz: $(bin)/obj/c_file_fuzz.o $(archive)
	$(CC) $(linker) $(sanitize) -o $@ $^ $(picture_libraries) -lm

# With kernels that libxsmm makes.
$(addprefix $(bin)/test_,$(jit_tests)): $(bin)/test_%: $(bin)/obj/c_test_%.o $(bin)/obj/kernels_libxsmm.o $(archive) | $(git)
	$(checker) $(linker) $(sanitize) -o $@ $^ -lxsmmgen $(libraries)

$(bin)/obj/bound_candidates.h: tests/c/bound_candidates.lua gen/passes/emit/bound.lua $(wildcard gen/passes/plan/*.lua) | $(bin)/obj
	lua5.4 $< > $@
$(bin)/obj/c_test_bound.o: $(bin)/obj/bound_candidates.h

$(bin)/obj/chat_templates.h: tests/c/chat_templates.lua templates/chat.c.in gen/passes/emit/chat.lua \
  $(wildcard gen/text/chat/*.lua) | $(bin)/obj
	lua5.4 $< > $@
$(bin)/obj/c_test_chat.o: $(bin)/obj/chat_templates.h

# These tests include a source.
$(bin)/obj/c_test_progress.o: runtime/program/progress.c
$(bin)/obj/c_test_program.o: runtime/program/main.c

$(bin)/test_guard: tests/c/test_guard.c runtime/base/guard.c runtime/system/linux.c $(headers) | $(bin)/obj $(git)
	$(CC) $(warnings) -O1 -iquote runtime -iquote tests/c -o $@ $(filter %.c,$^) $(by_criterion)

# These tests are about the instructions. Most have -O0, which takes an eighth of the time or less. Loops that the compiler
# vectorises are tested with the widest instructions: in rowops and online by -O1. test_elementary computes more than it
# compiles: with -O1, calls of the C library from code for AVX2 take ten times as long. Models are compiled with -O3, and
# so are the widest instructions in `make test-long`, as are whole models in each run.
widest := $(lastword $(variants))
elementary_level := $(if $(ATTN2C_TEST_LONG),-O3,-O2)
vector_level_$(widest) = $(if $(ATTN2C_TEST_LONG),-O3,$(if $(filter rowops online,$(1)),-O1))
vector_level_avx2 ?= $(if $(ATTN2C_TEST_LONG),-O1)
element_level = $(if $(filter elementary,$(1)),$(elementary_level),$(or $(vector_level_$(2)),-O0))

define element_rule
$(bin)/test_$(1)_$(2): tests/c/test_$(1).c $(headers) | $(bin)/obj $(git)
	$(CC) $(loops) $(call element_level,$(1),$(2)) $(flags_$(2)) -DPRODUCTS='"products_$(2).h"' -iquote $(bin)/obj -o $$@ $$< $(subst $$,$$$$,$(by_criterion)) -lm
endef

# The products that test_product.c includes, for each instruction set.
$(bin)/obj/products_%.h: tests/c/products.lua $(wildcard gen/kernels/*.lua gen/passes/plan/*.lua gen/data/*.lua) | $(bin)/obj
	lua5.4 $< $* > $@
$(foreach variant,$(variants),$(eval $(bin)/test_product_$(variant): $(bin)/obj/products_$(variant).h))
$(foreach test,$(element_tests),$(foreach variant,$(variants),$(eval $(call element_rule,$(test),$(variant)))))
$(foreach test,quantise quads kept,$(foreach variant,$(quantise_variants),$(eval $(call element_rule,$(test),$(variant)))))
