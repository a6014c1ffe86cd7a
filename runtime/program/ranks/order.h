/* order.h - orders of rank 0 of a program to the others, and the model that each rank has opened. */
#pragma once

#include "model/model.h"
#include "program/arguments.h"
#include "ranks/ranks.h"

typedef enum {
  ATTN2C_ORDER_END,
  ATTN2C_ORDER_OPEN,
  ATTN2C_ORDER_CLOSE,
  ATTN2C_ORDER_RUN,
  ATTN2C_ORDER_FORGET,
  ATTN2C_ORDER_COPY,
  ATTN2C_ORDER_DROP
} attn2c_order_kind;

/* The variants of an entry's code. */
typedef enum { ATTN2C_RUN_SHIPPED, ATTN2C_RUN_TRACE, ATTN2C_RUN_PROFILE } attn2c_run_kind;

/* The arrays of a call that are given. */
enum {
  ATTN2C_HAS_SEQUENCES = 1,
  ATTN2C_HAS_PAST = 2,
  ATTN2C_HAS_SLOT = 4,
  ATTN2C_HAS_SOURCE = 8,
  ATTN2C_HAS_ORIGIN = 16,
  ATTN2C_HAS_FORGOTTEN = 32
};

/* Bytes of arguments that go with an order; more of them follow it. */
enum { ATTN2C_ORDER_BYTES = 768 };

/* One order. All ranks have the same build, so that they agree on its bytes. */
typedef struct {
  int32_t kind, variant, entry, status, arrays;
  uint64_t state; /* the address of rank 0's, which names that of another rank; 0: none */
  int64_t rows, count, wanted;
  attn2c_forgetting forgetting;
  attn2c_copying copying;
  uint64_t bytes; /* of the arguments */
  unsigned char arguments[ATTN2C_ORDER_BYTES];
  int is_private; /* 1: the call's arena is not the session's: a check has one of its own */
} attn2c_order;

/* The model and the memory of one rank of a program. */
typedef struct {
  const attn2c_program *program; /* of the whole model */
  const attn2c_arguments *arguments;
  attn2c_ranks *ranks;
  attn2c_model *model;
  float *arena; /* of all calls, in memory that ranks share */
  attn2c_order order;
  unsigned char *bytes; /* arguments of an order */
  size_t capacity;
} attn2c_rank_session;

/* Opens the model's part of this rank; a meeting of all. Closes it. */
int attn2c_part_open(attn2c_rank_session *session, attn2c_message *message);
void attn2c_part_close(attn2c_rank_session *session);

/* Returns the bytes of an input (is_input) or output number i of a call of an entry. */
size_t attn2c_order_array(const attn2c_descriptor *model, const attn2c_entry *entry, int is_input, int i,
                          const attn2c_order *order);
/* Returns the windows of the state; 0 if the model does not continue. */
int attn2c_order_windows(const attn2c_descriptor *model);

/* Makes `bytes` at least this long. Returns ATTN2C_OK or _MEMORY. */
int attn2c_order_reserve(attn2c_rank_session *session, size_t bytes);

/* The functions of rank 0. */
extern const attn2c_rank_hooks attn2c_lead_hooks;
/* Gives an order without arguments. */
void attn2c_lead(attn2c_rank_session *session, attn2c_order_kind kind, int status);

/* Follows rank 0 until it ends. */
int attn2c_follow(attn2c_rank_session *session, attn2c_message *message);
