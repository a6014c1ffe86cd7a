#include "program/ranks/program.h"

#include <fcntl.h>
#include <unistd.h>

#include "program/ranks/order.h"
#include "model/ranks_open.h"

static attn2c_rank_session session;

static int begin(void) {
  int level = 0, own = 0, is_begun = 0;
  MPI_Initialized(&is_begun);
  if (!is_begun) MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &own);
  const int nowhere = own > 0 ? open("/dev/null", O_WRONLY) : -1;
  if (nowhere >= 0) {
    dup2(nowhere, STDOUT_FILENO);
    close(nowhere);
  }
  return own;
}

static int open_ranks(const attn2c_program *program, const attn2c_arguments *arguments,
                      attn2c_message *message) {
  const attn2c_descriptor *model = program->model;
  const attn2c_ranks_wanted wanted = attn2c_ranks_want(model);
  session.program = program;
  session.arguments = arguments;
  return attn2c_ranks_open(MPI_COMM_WORLD, &wanted, &session.ranks, message);
}

static int follow(attn2c_message *message) { return attn2c_follow(&session, message); }

static int open_model(const attn2c_arguments *arguments, attn2c_model **model, attn2c_message *message) {
  session.arguments = arguments;
  attn2c_lead(&session, ATTN2C_ORDER_OPEN, ATTN2C_OK);
  ATTN2C_TRY(attn2c_part_open(&session, message));
  session.model->hooks = &attn2c_lead_hooks;
  session.model->leader = &session;
  *model = session.model;
  return ATTN2C_OK;
}

static void count_anew(const attn2c_model *model) { attn2c_ranks_count_anew(model->ranks); }

static int counted(const attn2c_model *model, const attn2c_rank_meeting **list) {
  return attn2c_ranks_counted(model->ranks, list);
}

static void end(int status) {
  if (session.ranks && attn2c_ranks_own(session.ranks) == 0) attn2c_lead(&session, ATTN2C_ORDER_END, status);
  free(session.bytes);
  attn2c_ranks_close(session.ranks);
  session = (attn2c_rank_session){0};
  MPI_Finalize();
}

const attn2c_rank_commands attn2c_rank_program = {.begin = begin,
                                                  .open = open_ranks,
                                                  .follow = follow,
                                                  .open_model = open_model,
                                                  .open_part = attn2c_model_open_part,
                                                  .count_anew = count_anew,
                                                  .counted = counted,
                                                  .end = end};
