-- experts.lua: the part of list.lua that concerns mixtures of experts. of and spec: as in list.lua.
return function(of, spec)
  local whole = spec .. "whole/experts_spec.lua"

  of("runtime/ops/experts.h", "c:reference_experts") {
    { name = "experts_sorted", old = "for (int e = bounds - 1; e > 0; e--) first[e] = first[e - 1];", new = "",
      filter = "rows_of_experts/are*", wrong = "each expert begins where it ends" },
    { name = "experts_place", old = "place[(ptrdiff_t)i * used + j] = at;", new = "place[(ptrdiff_t)i * used + j] = i;",
      filter = "rows_of_experts/are*", wrong = "rows do not find their parts" },
    { name = "experts_factor", old = "const float weight = factor * weights",
      new = "const float weight = (factor > 0 ? 1 : 2) * weights",
      filter = "rows_of_experts/are*", wrong = "the factor of weights is left out" },
    { name = "experts_first_part", old = "out[c] = j ? ATTN2C_FMA(weight, in[c], out[c]) : weight * in[c];",
      new = "out[c] = weight * in[c];", filter = "rows_of_experts/are*", wrong = "only the last expert counts" },
  }

  of("runtime/reference/experts.c", "c:reference_experts") {
    { name = "reference_experts_range", old = "chosen[i] < 0 || chosen[i] >= experts", new = "chosen[i] > experts",
      filter = "pick/*", wrong = "the reference reads beyond the experts" },
    { name = "reference_experts_rows", old = "const int64_t row = experts[c] * out + o;",
      new = "const int64_t row = experts[0] * out + o;", filter = "linear_experts/*",
      wrong = "all parts are multiplied by the first expert's rows" },
    { name = "reference_experts_share", old = "double sum = eps;", new = "double sum = 1 + 0 * eps;",
      filter = "share/*", wrong = "shares do not add up to 1" },
  }

  of("gen/checkpoints/sources.lua", spec .. "checkpoints/sources_spec.lua") {
    { name = "sources_experts", old = "row = view.row + expert * own.rows, first", new = "row = view.row, first",
      filter = "of experts", wrong = "all experts are read into the first one's rows" },
    { name = "sources_flat", old = "rule.flat and { count * shape[1]", new = "false and { count * shape[1]",
      filter = "of experts", wrong = "experts that follow each other are an axis" },
  }

  of("gen/passes/validate/experts.lua", whole) {
    { name = "validate_experts_used", old = "e.used > e.count then", new = "false then", filter = "refused",
      wrong = "more experts are used than there are" },
    { name = "validate_experts_unit", old = "in_blocks and types.SCALE_PAIR or types.EXPERT_UNIT",
      new = "types.EXPERT_UNIT", filter = "refused", wrong = "rows of scale blocks are cut" },
  }

  of("gen/passes/validate/context.lua", spec .. "passes/validate/context_spec.lua") {
    { name = "experts_chunk", old = "has_experts and CHUNK_OF_EXPERTS or CHUNK", new = "CHUNK",
      filter = "calls of at most a chunk", wrong = "calls of a mixture have half of the tokens" },
  }

  of("gen/passes/emit/panel_loops.lua", whole) {
    { name = "experts_pieces", old = "(end - at) / pieces;", new = "(end - at) / (pieces + 1);",
      filter = "count = 2", wrong = "the last rows of an expert are not multiplied" },
  }

  of("gen/data/steps_experts.lua", spec .. "data/steps_spec.lua") {
    { name = "steps_experts_bytes", old = "${rows}, ${cols} * (int)sizeof *y, ${used}", new = "${rows}, ${used}",
      filter = "bodies", wrong = "a body gets too few arguments" },
  }

  of("gen/passes/graph/experts.lua", spec .. "passes/graph/experts_spec.lua") {
    { name = "graph_experts_normalised", old = "local y = e.normalise and logits or", new = "local y =",
      filter = "router", wrong = "a softmax of a softmax weighs the experts" },
    { name = "graph_experts_correction", old = "or y, y\n", new = "or y\n", filter = "router",
      wrong = "weights have the correction, too" },
  }

  of("gen/checkpoints/experts.lua", spec .. "checkpoints/values_spec.lua") {
    { name = "checkpoints_experts_step", old = "(i + 1) % step ~= 0", new = "i % step ~= 0", filter = "qwen3_moe",
      wrong = "the wrong layers are dense" },
  }

  local values = spec .. "checkpoints/values_spec.lua"
  of("gen/checkpoints/families/mixtures/gpt_oss.lua", values) {
    { name = "gpt_oss_windows", old = "return i % 2 == 0 end", new = "return i % 2 == 1 end", filter = "of gpt_oss has",
      wrong = "the other layers have windows" },
    { name = "gpt_oss_usual", old = "facts.rope_parameters = YARN", new = "", filter = "of gpt_oss has",
      wrong = "a folder without positions has plain ones" },
  }

  local coded = spec .. "checkpoints/coded_spec.lua"
  of("runtime/reading/mxfp4.c", coded) {
    { name = "mxfp4_axes", old = "axis < last; axis++)", new = "axis < 0; axis++)", filter = "MXFP4",
      wrong = "codes of another shape are read" },
    { name = "mxfp4_codes", old = "? blocks->shape[blocks->rank - 1] == CODES", new = "? 1", filter = "MXFP4",
      wrong = "blocks of other sizes are read" },
  }

  of("runtime/reading/checkpoint.c", coded) {
    { name = "mxfp4_part", old = "if (found >= 0) coded->is_part[found] = 1;", new = "", filter = "MXFP4",
      wrong = "scales are a tensor of their own" },
  }

  of("runtime/formats/gguf_blocks.c", "c:gguf") {
    { name = "e2m1_exponent", old = "ldexpf(1, exponent - 128)", new = "ldexpf(1, exponent - 127)",
      filter = "gguf/types*", wrong = "numbers are doubled" },
  }

  of("runtime/packing/scale_blocks.c", "c:scale_blocks") {
    { name = "levels_step", old = "size < 8 ? 2 : 4", new = "size < 8 ? 2 : 2", filter = "*/numbers_of_four_bits*",
      wrong = "10 is taken for a number of E2M1" },
    { name = "levels_power", old = "ilogbf(largest) - 3", new = "ilogbf(largest) - 2",
      filter = "*/numbers_of_four_bits*", wrong = "the largest numbers of a block are coarse" },
  }

  of("runtime/ops/online.h", "c:online_base") {
    { name = "online_sinks", old = "largest[i] = here > before ? here : before;", new = "largest[i] = here;",
      filter = "online/sinks*", wrong = "a sink above all scores overflows" },
  }

  of("runtime/ops/softmax.h", "c:online_base") {
    { name = "softmax_sinks_moved", old = "if (sinks) sinks[i] -= (double)from;", new = "",
      filter = "softmax/sinks*", wrong = "rows of large scores lose their sink" },
  }

  of("gen/passes/lower/rows.lua", spec .. "passes/graph/exposed_spec.lua") {
    { name = "rows_of_answers", old = 'answer = origin.answer and { "whole_answer" } }', new = "answer = nil }",
      filter = "same rows where", wrong = "experts read outputs of wanted rows as if these had all rows" },
  }

  of("gen/passes/graph/exposed.lua", spec .. "checkpoints/adapter_spec.lua") {
    { name = "exposed_adapted", old = "local of_primary = state.primary.graph.exposed",
      new = "local of_primary = nil", filter = "inner tensors too",
      wrong = "a call with an adapter lacks exposed outputs" },
  }

  of("tests/fuzz/draw_experts.lua", spec .. "whole/fuzz_spec.lua") {
    { name = "draw_experts_accepted", old = "if accepted(d) then return true end", new =
      "if true then return true end", filter = "is valid", wrong = "drawn experts do not go with the other keys" },
  }

  of("runtime/check/check_judge.c", whole) {
    { name = "judge_choice_followed", old = "if (may_choose(traced + r * k, k, of_row, cols, least - bound))",
      new = "if (bound < 0 && may_choose(traced + r * k, k, of_row, cols, least - bound))",
      wrong = "the reference never follows a choice",
      equivalent = "without a tie the reference chooses the same; a run with one is rare" },
  }
end
