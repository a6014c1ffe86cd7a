-- any_length.lua: the part of list.lua that concerns sequences of any length, and their check. of and spec: as in
-- list.lua.
return function(of, spec)
  of("gen/passes/graph/growth.lua", spec .. "passes/graph/growth_spec.lua") {
    { name = "growth_first", old = "tonumber(first) - rows", new = "tonumber(first)", filter = "the middle in tables",
      wrong = "tables of distances begin at the same distance for any length" },
    { name = "growth_attributes", old = "assert(pair[2][key] == value, op.result.name .. \": \" .. key)", new = "",
      filter = "refuses what else", wrong = "an attribute may change with the length" },
  }

  of("gen/passes/lower/address.lua", spec .. "passes/validate/any_length_spec.lua") {
    { name = "trace_heads", old = "= head * pitch end", new = "= most * pitch end",
      filter = "head by head", wrong = "all heads but the first are at one place in the trace" },
  }

  of("gen/passes/lower/buffers.lua", spec .. "passes/validate/any_length_spec.lua") {
    { name = "buffers_outputs", old = "then elements = elements * most end", new = "then elements = elements * 1 end",
      filter = "several outputs",
      wrong = "the arena has an unwanted output of one sequence, as the checker after memory finds" },
    { name = "buffers_sequences", old = "if has_most then sequences = most end",
      new = "if has_most then sequences = most - 1 end", filter = "several outputs",
      wrong = "rows of sequences have room for all sequences but one, as the checker after memory finds" },
  }

  of("gen/passes/checks/memory.lua", spec .. "passes/checks/memory_spec.lua") {
    { name = "memory_unwanted", old = "math.min(of_caller, buffer.bytes) or of_caller", new = "of_caller or of_caller",
      wrong = "the checker takes an unwanted output for as large as the caller's" },
  }

  of("gen/passes/checks/instance.lua", spec .. "passes/checks/memory_spec.lua") {
    { name = "instance_sequences", old = "  add(sequences(spec.symbols.past.is_open and spec.sequences or most))\n",
      new = "",
      wrong = "no call with the most sequences is checked" },
  }

  of("gen/passes/checks/instance.lua", spec .. "passes/validate/any_length_spec.lua") {
    { name = "instance_shortest", old = "shortest >= least and", new = "true and", filter = "no fewer rows",
      wrong = "programs are checked for sequences that are refused" },
  }

  of("gen/passes/checks/instance.lua", spec .. "passes/checks/schedule_spec.lua") {
    { name = "instance_whole", old = "add { most // step * step }", new = "", filter = "longest call of whole blocks",
      wrong = "no call with the largest blocks of rows is checked" },
    { name = "instance_chunks", old = "local count = of_chunks[form] + 1", new = "local count = of_chunks[form]",
      filter = "other calls have one", wrong = "no block of some sizes has two chunks in a check" },
  }

  of("gen/data/loops.lua", spec .. "data/loops_spec.lua") {
    { name = "loops_blocks", old = "return blocks < 2 and step.step or", new = "return true and step.step or",
      filter = "are equal", wrong = "the last block of a call may have one row" },
  }

  of("runtime/ops/softmax.h", "c:rowops_base") {
    { name = "softmax_rest", old = "sums[p] += attn2c_load_some(last, rest, p);",
      new = "sums[p] += attn2c_load(last + p * ATTN2C_LANES);", filter = "softmax/*",
      wrong = "numbers after a row are in its sum" },
  }

  of("runtime/ops/norm.h", "c:rowops_base") {
    { name = "norm_equal", old = "? first[i] : m;", new = "? m : m;", filter = "layer_norm/*",
      wrong = "equal numbers keep the error of their mean" },
  }

  of("runtime/ops/positions.h", "c:rowops_attention_base") {
    { name = "positions_grid", old = "scale > 1 ? scale : 1, middle", new = "1, middle", filter = "grid_positions/*",
      wrong = "positions are resized without antialiasing" },
    { name = "positions_boxes", old = "down[most + y]", new = "down[most + x]", filter = "add_places/*",
      wrong = "lower sides add what left sides add" },
    { name = "positions_along", old = "keys[4 * j + 1] - queries", new = "keys[4 * j] - queries",
      filter = "add_places/*", wrong = "places in a sequence are left sides" },
  }

  of("gen/passes/lower/scores.lua", spec .. "passes/lower/options_spec.lua") {
    { name = "scores_boxes", old = "0, at.of_keys or at.origin)", new = "0, at.origin)", filter = "boxes of any length",
      wrong = "keys have the boxes of queries" },
  }

  of("runtime/ops/gather.h", "c:rowops_rows_base") {
    { name = "pad_valid", old = "const int row = first + i - kernel / 2;\n    char *out",
      new = "const int row = 0 * first + i - kernel / 2;\n    char *out", filter = "pad/*",
      wrong = "each block of rows reads the first rows of its sequence" },
  }

  of("runtime/check/check_sequence.c", "c:check_mixed") {
    { name = "sequence_middle", old = "axes[axis] == 2 ? most_of(job).tokens - of.tokens : 0",
      new = "axes[axis] == 3 ? of.tokens : 0",
      filter = "check_mixed/a_right*", wrong = "a sequence has the first distances of a table" },
    { name = "sequence_rows", old = "rows += attn2c_reference_rows(&before);", new = "rows += before.shape[1];",
      filter = "check_mixed/a_right*", wrong = "the trace has one row of scores a token" },
  }

  of("runtime/check/check_calls.c", "c:check_mixed") {
    { name = "mixed_alone", old = "status = check_alone(&shipped, arena)", new = "(void)check_alone",
      filter = "check_mixed/names*", wrong = "no sequence is computed by itself" },
    { name = "mixed_some", old = "status = attn2c_check_some(&shipped, NULL, arena)", new = "(void)arena",
      filter = "check_mixed/names*", wrong = "calls of several sequences want all outputs" },
    { name = "mixed_spoiled", old = "if (repeat->is_spoiled && repeat->is_spoiled[i]) spoil(call, i);",
      new = "(void)spoil;", filter = "check_mixed/names*", wrong = "other sequences are the same sequences" },
  }

  of("runtime/check/check_report.c", "c:check_mixed") {
    { name = "report_worst", old = "if (!before->passed || (comparison->passed &&", new = "if (before->passed || (1 &&",
      filter = "check_mixed/names*", wrong = "a later sequence's failure is no row" },
  }
end
