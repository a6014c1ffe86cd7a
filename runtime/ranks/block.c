/* block.c - memory that the ranks of a machine share. */
#include "ranks/inner.h"

int attn2c_ranks_all_have(MPI_Comm communicator, int has) {
  int all = 0;
  if (MPI_Allreduce(&has, &all, 1, MPI_INT, MPI_MIN, communicator) != MPI_SUCCESS) return 0;
  return all;
}

int attn2c_ranks_make_block(const attn2c_ranks *ranks, size_t bytes, attn2c_rank_block *block) {
  MPI_Info info;
  void *own = NULL;
  block->window = MPI_WIN_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "alloc_shared_noncontig", "true");
  int is_made = bytes <= PTRDIFF_MAX - ATTN2C_ALIGNMENT &&
                MPI_Win_allocate_shared((MPI_Aint)(bytes + ATTN2C_ALIGNMENT), 1, info, ranks->node, &own,
                                        &block->window) == MPI_SUCCESS;
  MPI_Info_free(&info);
  is_made = is_made && MPI_Win_lock_all(MPI_MODE_NOCHECK, block->window) == MPI_SUCCESS;
  for (int i = 0; i < ranks->node_count && is_made; i++) {
    MPI_Aint size;
    int unit;
    void *part = NULL;
    is_made = MPI_Win_shared_query(block->window, i, &size, &unit, &part) == MPI_SUCCESS && part;
    /* Open MPI aligns parts to 8 bytes. Processes map whole pages, so all of them skip the same bytes. */
    block->parts[i] = (char *)part + -(uintptr_t)part % ATTN2C_ALIGNMENT;
  }
  block->own = block->parts[ranks->node_own], block->bytes = bytes;
  if (attn2c_ranks_all_have(ranks->node, is_made)) return 1;
  block->own = NULL;
  return 0;
}

void attn2c_ranks_free_block(attn2c_rank_block *block) {
  if (block->window != MPI_WIN_NULL) {
    MPI_Win_unlock_all(block->window);
    MPI_Win_free(&block->window);
  }
  *block = (attn2c_rank_block){.window = MPI_WIN_NULL};
}
