-- ranks.lua: the part of list.lua that concerns models of several ranks: their graphs and what they exchange.
-- of and spec: as in list.lua.
return function(of, spec)
  of("gen/passes/ranks.lua", spec .. "passes/ranks_spec.lua") {
    { name = "ranks_values", old = "if values and of then", new = "if false then", filter = "slopes",
      wrong = "ranks whose constants differ share code" },
    { name = "ranks_number", old = "local number = stage * (state.spec.ranks or 1) + rank", new = "local number = rank",
      filter = "of their own layers", wrong = "ranks of two stages have one number" },
  }

  of("gen/passes/ranks/cut.lua", spec .. "passes/ranks_spec.lua") {
    { name = "cut_first", old = "view.first + (first - view[at]) * view[step]", new = "view.first",
      filter = "share code", wrong = "every rank reads the weights of the first" },
    { name = "cut_slopes", old = "from, tensor.shape[1])", new = "0, tensor.shape[1])", filter = "slopes",
      wrong = "every rank has the slopes of the first heads" },
    { name = "cut_list", old = "from + 1, from + count)\nend", new = "1, count)\nend", filter = "slopes",
      wrong = "every rank has the factors of the first heads" },
    { name = "cut_experts", old = "expert * all + from", new = "from", filter = "have rows of each expert",
      wrong = "all experts of a rank are the first" },
    { name = "cut_experts_place", old = "count, expert * count))", new = "count, 0))",
      filter = "have rows of each expert", wrong = "experts are written over the first" },
    { name = "cut_zeros", old = "own.is_zero = true", new = "", filter = "bias of a sum once",
      wrong = "every rank adds the bias" },
  }

  of("gen/passes/ranks/divide.lua", spec .. "passes/ranks_spec.lua") {
    { name = "ranks_outputs", filter = "each part of a sum",
      old = 'if op.operands.a.kind == "output" or op.operands.b.kind == "output" then return false end', new = "",
      wrong = "an output that is a term is not whole" },
    { name = "divide_scales", old = "if x.first[i] % unit ~= 0 then", new = "if false then",
      filter = "share a scale", wrong = "numbers that share a scale are on two ranks" },
    { name = "divide_experts", old = "local width = op.operands.weight.shape[1] // (experts or 1)",
      new = "local width = op.operands.weight.shape[1]", filter = "of which products make their part",
      wrong = "ranks have whole experts, whose rows others choose" },
    { name = "divide_pairs", old = "and types.SCALE_PAIR or types.EXPERT_UNIT", new = "and 1 or 1",
      filter = "pairs of blocks", wrong = "a rank has half a pair of blocks of an expert" },
    { name = "divide_terms", old = "rules.combine, rules.gate_rows = of_term(\"x\"), of_term(\"a\")", new = "",
      filter = "once for all experts", wrong = "ranks meet for the results of all choices" },
    { name = "divide_term_output", old = 'or x.kind == "output" or self.uses[x.name] ~= 1 then', new = "then",
      filter = "sum a shared expert by itself", wrong = "an output that is a term is not what its readers read" },
    { name = "divide_norm", old = "if not x or op.attributes.heads then return by_head(self, op) end",
      new = "do return by_head(self, op) end", filter = "normalise all heads", wrong = "ranks have whole heads twice" },
    { name = "divide_keep", old = "return columns(op, x.first), { x = true, scale = true }", new = "return nil",
      filter = "keys of a source", wrong = "each rank keeps the keys of all heads" },
    { name = "divide_units", old = "if units < self.ranks then", new = "if false then", filter = "share a scale",
      wrong = "a rank has no columns of a feed-forward" },
  }

  of("gen/passes/ranks/local_graph.lua", spec .. "passes/ranks_spec.lua") {
    { name = "local_groups", old = "result.groups = result.groups and self.whole[result.groups.name]", new = "",
      filter = "of which products make their part", wrong = "a rank's parts are in the order of the whole model's" },
    { name = "local_columns", old = "select(2, divisions.range(of.first, rank))", new = "of.first[rank + 1]",
      filter = "normalise all heads", wrong = "ranks with copies of a head take columns of others" },
    { name = "local_first", old = "and self.rank > 0 then", new = "then", filter = "bias of a sum once",
      wrong = "no rank adds the bias" },
  }

  of("gen/passes/ranks/stages.lua", spec .. "passes/ranks_spec.lua") {
    { name = "stages_squares", old = "+ 0.0) ^ 2", new = "+ 0.0) ^ 1", filter = "as evenly",
      wrong = "one stage has nearly all layers" },
    { name = "stages_last", old = "of_layers.of[layer] or current", new = "of_layers.of[layer] or 0",
      filter = "leave an operation", wrong = "the first stage computes what comes after the last layer" },
    { name = "stages_chosen", old = 'op.section:match("^(.*)layer (%d+)$")',
      new = '((op.result.name:match("^l%d+%.") or ""):gsub("^l(%d+)%.", "layer %1")):match("^(.*)layer (%d+)$")',
      filter = "choose rows", wrong = "a stage passes on rows that the next one chooses" },
    { name = "stages_conversions", old = 'divisions.conversions[op.op] and op.result.kind == "scratch"', new = "false",
      filter = "repeat roundings", wrong = "stages pass on a tensor and its rounding" },
  }

  of("gen/passes/validate/ranks.lua", spec .. "passes/ranks_spec.lua") {
    { name = "ranks_kernels", old = 'spec.kernels = "c"\n', new = "", filter = "by kernels in C",
      wrong = "ranks of other sizes may choose other experts" },
  }

  local experts = spec .. "whole/divided_experts_spec.lua"

  of("runtime/weights/source.h", experts) {
    { name = "source_experts", old = "row / of->rows * of->apart + row % of->rows", new = "row",
      filter = "scale blocks", wrong = "random experts of a rank follow each other in the whole model's" },
  }

  of("runtime/weights/random_source.c", experts) {
    { name = "random_experts", old = "together = left < count - row ? left : count - row; /*",
      new = "together = left ? count - row : 1; /*", filter = "scale blocks",
      wrong = "a rank's second expert follows its part of the first" },
  }

  of("runtime/check/check_judge.c", experts) {
    { name = "judge_terms", old = "ATTN2C_TRY(has_terms(job, op)", new = "ATTN2C_TRY(0 && has_terms(job, op)",
      filter = "scale blocks", wrong = "sums of terms have the tolerance of one addition" },
    { name = "judge_no_trace", old = "job->trace.arena ? &settled : NULL", new = "&settled", filter = "another choice",
      wrong = "wrong results of several calls end check by a signal" },
  }

  of("runtime/check/ranks_trace.c", experts) {
    { name = "trace_parts", old = "parts = all->shape[last] / of->first[ranks]", new = "parts = 1",
      filter = "scale blocks", wrong = "only a row's first expert is gathered" },
    { name = "trace_integers", old = "if (all->type == ATTN2C_I32)", new = "if (0)", filter = "another choice",
      wrong = "nobody compares the experts that ranks choose" },
  }

  of("runtime/program/ranks/open.c", spec .. "whole/divided_spec.lua") {
    { name = "order_lengths", old = "lengths = attn2c_lengths_of(model, entry);", new = "lengths = model->lengths;",
      filter = "keys of sources, with 2", wrong = "other ranks take a source for a decoder's tokens" },
  }

  of("runtime/ranks/add.c", spec .. "whole/ranks_spec.lua") {
    { name = "add_odd", old = "sums[left][j] = b ? a[j] + b[j] : a[j];", new = "sums[left][j] = b ? a[j] + b[j] : 0;",
      filter = "of 3 give", wrong = "the last of an odd number of ranks adds nothing" },
    { name = "add_blocks", old = "memcpy(to[i] + first, sums[0]", new = "memcpy(to[i], sums[0]", filter = "of 2 give",
      wrong = "all blocks of a sum are written over the first" },
  }

  of("runtime/ranks/across.c", spec .. "whole/ranks_spec.lua") {
    { name = "across_pieces", old = "begin_piece(ranks, sum, values + done, piece)",
      new = "begin_piece(ranks, sum, values, piece)", filter = "of 2 give",
      wrong = "machines send the first piece of a large sum again" },
  }

  of("runtime/ranks/agree.c", spec .. "whole/ranks_spec.lua") {
    { name = "agree_who", old = "if (failed < ranks->count) snprintf", new = "if (0) snprintf", filter = "of 2 give",
      wrong = "nobody says which rank has failed" },
    { name = "agree_code", old = "if (all[i] == all[0]) continue;", new = "if (all[i] >= all[0]) continue;",
      filter = "are refused", wrong = "ranks of two builds work together" },
  }

  of("runtime/ranks/gather.c", spec .. "whole/ranks_spec.lua") {
    { name = "gather_columns", old = "p->row * m->all_step + m->first[r] + p->column",
      new = "p->row * m->all_step + m->first[r]", filter = "of 2 give",
      wrong = "columns beyond a stage are written over the first" },
  }

  of("runtime/ranks/open.c", spec .. "whole/ranks_spec.lua") {
    { name = "open_count", old = "if (count == wanted->count) return", new = "if (count <= wanted->count) return",
      filter = "are refused", wrong = "fewer ranks than the model has wait for the others" },
  }

  of("runtime/ranks/stages.c", spec .. "whole/ranks_spec.lua") {
    { name = "stages_rows", old = "made.width = count * width * bytes", new = "made.width = width * bytes",
      filter = "from stage to stage", wrong = "a stage passes on one row" },
  }

  of("runtime/ranks/streams.c", spec .. "whole/ranks_spec.lua") {
    { name = "streams_taken", old = "message_of(stream, number) + stream->taken", new = "message_of(stream, number)",
      filter = "from stage to stage", wrong = "the second row of a message is the first again" },
  }

  of("runtime/ranks/sum.c", spec .. "whole/ranks_spec.lua") {
    { name = "sum_offset", old = "ranks->blocks[sum->block].parts[i] + offset",
      new = "ranks->blocks[sum->block].parts[i] + 0 * offset", filter = "of 2 give",
      wrong = "values from the beginning of shared memory are added" },
  }

  of("runtime/ranks/waiting.c", spec .. "whole/ranks_spec.lua") {
    { name = "waiting_ended", old = "poll(&process, 1, 0) == 1", new = "poll(&process, 1, 0) == 2",
      filter = "is killed", wrong = "ranks wait for one that has ended" },
  }
end
