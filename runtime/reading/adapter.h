/* adapter.h - merges a LoRA adapter (Hu et al. 2021) into a checkpoint's tensors while they are read. The
 * compiler names the tensors (gen/checkpoints/adapter.lua), and links the adapter's file into the model. */
#pragma once

#include "base/adapter_facts.h"
#include "reading/checkpoint.h"

typedef struct attn2c_merged attn2c_merged;

/* The functions that read an adapter. Statuses: ATTN2C_OK, _FORMAT, _IO, _MEMORY; a line says why. */
typedef struct attn2c_adapter_reader {
  /* Finds the tensors of an open checkpoint and of the adapter, and checks that their shapes fit. */
  int (*open)(const attn2c_checkpoint *file, const attn2c_adapter *adapter, attn2c_merged **merged,
              attn2c_message *message);
  void (*close)(attn2c_merged *merged);
  /* True if the adapter changes tensor `plain` of the checkpoint. */
  int (*changes)(const attn2c_merged *merged, int plain);
  /* Changes elements [first, first + count) that were read. The last tensor's factors stay in memory. */
  int (*apply)(attn2c_merged *merged, const attn2c_checkpoint *file, int plain, int64_t first, int64_t count,
               float *values, attn2c_message *message);
} attn2c_adapter_reader;
