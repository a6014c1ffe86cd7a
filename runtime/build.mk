# build.mk - compiles one emitted model: a static and a shared library and the program. gen/attn2c build calls it:
#   make -f runtime/build.mk NAME=speaker DIR=out/speaker CACHE=out/.runtime/KEY KERNELS=libxsmm TARGET_CFLAGS=-mavx2
# CACHE holds the runtime's own objects, which all models with the same compiler and flags share.
CC ?= cc
ATTN2C_CFLAGS ?=
ATTN2C_LDFLAGS ?=
runtime := $(dir $(lastword $(MAKEFILE_LIST)))

plain  := -std=c11 -g0 -Wall -Wextra -fPIC -fvisibility=hidden -I$(runtime) -I$(DIR)
# Element loops are the compiler's to vectorise; nothing here lets it change what NaN, infinity or rounding do.
vector := -O3 -fno-math-errno -fno-trapping-math -ffp-contract=off -fopenmp-simd $(TARGET_CFLAGS)
calls  := -O1 $(TARGET_CFLAGS)

kernel_files := $(runtime)kernels_libxsmm.c $(runtime)kernels_portable.c
runtime_objects := $(patsubst $(runtime)%.c,$(CACHE)/%.o,$(filter-out $(kernel_files),$(wildcard $(runtime)*.c))) \
  $(CACHE)/kernels_$(KERNELS).o
runtime_headers := $(wildcard $(runtime)*.h)

libraries_libxsmm := -lxsmm -lxsmmnoblas
libraries := $(libraries_$(KERNELS)) -lpthread -lrt -ldl -lm

# WORKERS: the numbers of workers, beside one, that N.c, N_2.c and so on are emitted for; THREADS: the description's.
step_names      := $(NAME) $(addprefix $(NAME)_,$(WORKERS))
model_objects   := $(addprefix $(DIR)/,$(addsuffix .o,$(step_names))) $(addprefix $(DIR)/$(NAME),_ops.o _kernels.o _model.o)
program_objects := $(addprefix $(DIR)/,$(addsuffix _profile.o,$(step_names))) $(addprefix $(DIR)/$(NAME),_trace.o _program.o)
step_objects    := $(addprefix $(DIR)/,$(addsuffix .o,$(step_names)) $(addsuffix _profile.o,$(step_names)) $(NAME)_trace.o)
openmp          := $(if $(filter-out 1,$(THREADS)),-fopenmp)

.DELETE_ON_ERROR:
.PHONY: all
all: $(DIR)/lib$(NAME).a $(DIR)/lib$(NAME).so $(DIR)/$(NAME)

$(CACHE)/%.o: $(runtime)%.c $(runtime_headers) | $(CACHE)
	$(CC) $(plain) -O2 $(or $(openmp),-fopenmp-simd) $(ATTN2C_CFLAGS) -c $< -o $@

$(CACHE):
	mkdir -p $@

$(CACHE)/libattn2c_$(KERNELS).a: $(runtime_objects)
	(rm -f $@.$(NAME) && ar rcs $@.$(NAME) $^ && mv $@.$(NAME) $@) || { rm -f $@.$(NAME); false; }

$(DIR)/$(NAME)_ops.o $(DIR)/$(NAME)_kernels.o: flags := $(vector)
$(step_objects): flags := $(calls) $(openmp)
$(DIR)/$(NAME)_model.o $(DIR)/$(NAME)_program.o: flags := -O1

$(DIR)/%.o: $(DIR)/%.c $(DIR)/$(NAME).h $(DIR)/$(NAME)_ops.h $(runtime_headers)
	$(CC) $(plain) $(flags) $(ATTN2C_CFLAGS) -c $< -o $@

# One object with only the model's own symbols, so that two models, or two versions of the runtime, fit in one program.
$(DIR)/lib$(NAME).o: $(model_objects) $(CACHE)/libattn2c_$(KERNELS).a
	(ld -r -o $@.all $^ && objcopy --localize-hidden $@.all $@ && rm $@.all) || { rm -f $@.all; false; }

$(DIR)/lib$(NAME).a: $(DIR)/lib$(NAME).o
	(rm -f $@.new && ar rcs $@.new $< && mv $@.new $@) || { rm -f $@.new; false; }

$(DIR)/lib$(NAME).so: $(DIR)/lib$(NAME).o
	$(CC) -shared $(openmp) $(ATTN2C_LDFLAGS) $(ATTN2C_CFLAGS) -o $@.new $< -Wl,--exclude-libs,ALL -Wl,-z,noexecstack $(libraries) && mv $@.new $@ || { rm -f $@.new; false; }

$(DIR)/$(NAME): $(model_objects) $(program_objects) $(CACHE)/main.o $(CACHE)/libattn2c_$(KERNELS).a
	$(CC) $(openmp) $(ATTN2C_LDFLAGS) $(ATTN2C_CFLAGS) -o $@.new $^ -ljansson $(libraries) && mv $@.new $@ || { rm -f $@.new; false; }
