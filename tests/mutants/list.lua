-- list.lua: small wrong changes, each with the suite that must fail: a spec, with a busted filter where a part
-- of it is enough, or c:NAME, a C test, with a Criterion filter. The cheapest suite that must fail is named.
-- `old` stands once in the file. An entry with `equivalent` changes nothing that anyone could see, and says why.
local list = {}

-- The file and suite of the entries that follow.
local function of(file, suite)
  return function(entries)
    for _, entry in ipairs(entries) do
      entry.file, entry.suite = file, entry.suite or suite
      list[#list + 1] = entry
    end
  end
end

local spec = "tests/spec/"

of("gen/common/template.lua", spec .. "common/template_spec.lua") {
  { name = "template_bar", old = '"^@(.- do) |(.*)$"', new = '"^@(.- do)|(.*)$"', filter = "text of one line",
    wrong = "a loop of one line is no loop" },
}

of("gen/passes/describe.lua", spec .. "passes/describe_spec.lua") {
  { name = "describe_size", old = "if #text > LARGEST then", new = "if #text > 2 * LARGEST then",
    filter = "256 KiB", wrong = "a description beyond the limit is read" },
  { name = "describe_numbers_as_keys", old = "math.tointeger(tonumber(key)) or key", new = "key",
    filter = "reach into tables", wrong = "output.4.to names the key \"4\"" },
}

of("gen/passes/describe/limits.lua", spec .. "passes/describe_spec.lua") {
  { name = "limits_look", old = "      look(budget)\n    end", new = "    end",
    filter = "bound memory", wrong = "only the parser looks at memory" },
  { name = "limits_strings", old = "for key in pairs(kept) do methods[key] = nil end", new = "methods.__index = nil",
    filter = "no arithmetic on strings", wrong = "strings keep their arithmetic" },
  { name = "limits_varargs", old = ' + "..." + ', new = " + ",
    filter = "two dots", wrong = "... is taken for a concatenation" },
}

of("gen/passes/describe/language.lua", spec .. "passes/describe_spec.lua") {
  { name = "language_stage", old = "fields[key] = value end\n      fields.stage = name\n", filter = "rename a stage",
    new = "fields[key] = value end\n", wrong = "a constructor's argument renames the stage" },
}

of("gen/passes/validate.lua", spec .. "passes/validate_spec.lua") {
  { name = "validate_kv_heads", old = "if spec.heads % spec.kv_heads ~= 0 then",
    new = "if spec.heads < spec.kv_heads then",
    suite = spec .. "passes/validate/attention_spec.lua", wrong = "heads that share keys unevenly are accepted" },
  { name = "validate_d_ff", old = "spec.d_ff = 4 * spec.d_model", new = "spec.d_ff = 2 * spec.d_model",
    filter = "every default", wrong = "another default of d_ff" },
  { name = "validate_head_dim", old = "spec.d_model // spec.heads > 512", new = "spec.d_model // spec.heads > 1024",
    wrong = "heads wider than a kernel's are accepted" },
  { name = "validate_past", old = "spec.past + spec.seq > keys.LONGEST", new = "spec.past > keys.LONGEST",
    suite = spec .. "passes/validate/attention_spec.lua", wrong = "the new keys do not count" },
  { name = "validate_positions", old = "local needed = spec.seq + (spec.past or 0)", new = "local needed = spec.seq",
    suite = spec .. "passes/validate/attention_spec.lua", wrong = "the past has no positions" },
  { name = "validate_rope_dim", old = "(dim % 2 ~= 0 or dim > spec.head_dim)",
    new = "dim > spec.head_dim", suite = spec .. "passes/validate/attention_spec.lua",
    wrong = "an odd number of columns is rotated" },
}

of("gen/passes/validate/readers.lua", spec .. "passes/validate_spec.lua") {
  { name = "readers_divisor", old = "parameter.divides % n ~= 0", new = "n % parameter.divides ~= 0",
    filter = "tile parameters", wrong = "a padding that does not divide a line is accepted" },
  { name = "readers_none", old = "if none and some then", new = "if none and not some then", filter = "masks",
    wrong = "none beside another mask" },
}

of("gen/passes/graph.lua", spec .. "passes/graph_spec.lua") {
  { name = "graph_parallel", old = "function(each) return feed_forward(self, path .. \".ff\", each, x) end, normed)",
    new = "function(each) return feed_forward(self, path .. \".ff\", each, x) end)",
    wrong = "the feed-forward of a parallel layer has a norm of its own" },
  { name = "graph_norm", old = "return self.spec.norm == \"post\" and", new = "return self.spec.norm ~= \"none\" and",
    wrong = "a pre-norm stack is normed after the sum, too" },
  { name = "graph_pre_ff", old = "(self.spec.norm == \"pre_ff\" and norm_path:find(\"norm1$\"))",
    new = "(self.spec.norm == \"pre_ff\")", wrong = "the feed-forward of pre_ff has no norm" },
  { name = "graph_sinusoidal", old = "spec.past + spec.first_position, sinusoids",
    new = "spec.first_position, sinusoids",
    wrong = "positions after a past begin at 0" },
  { name = "graph_output_names", old = "while taken[member] or (indices and taken[member .. \"_index\"]) do",
    new = "while false do",
    wrong = "two outputs of one name" },
}

of("gen/passes/graph/attention.lua", spec .. "passes/graph/attention_spec.lua") {
  { name = "attention_softcap_order",
    old = [[
  if spec.softcap then
    scores = self:op("softcap", a.path .. ".capped", { x = scores }, { cap = to_float(spec.softcap) })
  end
  if table_ then
    op(a.gates and "add_gated" or "add_distance", "placed", { table = table_, gates = a.gates }, { extra = extra })
  end]],
    new = [[
  if table_ then
    op(a.gates and "add_gated" or "add_distance", "placed", { table = table_, gates = a.gates }, { extra = extra })
  end
  if spec.softcap then
    scores = self:op("softcap", a.path .. ".capped", { x = scores }, { cap = to_float(spec.softcap) })
  end]],
    wrong = "positions are capped with the scores" },
  { name = "attention_norm_of_all", old = "spec.qk_norm == \"all\" or ", new = "",
    wrong = "heads that are left out are missing in a norm of all heads" },
  { name = "attention_prefix", old = "causal = spec.mask.causal or spec.mask.prefix ~= nil,",
    new = "causal = spec.mask.causal,", wrong = "a prefix bounds nothing after itself" },
  { name = "attention_cross_masks", old = "masks = { key_padding = memory.key_padding },",
    new = "masks = arrays_of(self),", wrong = "a cross-attention has the self-attention's masks" },
  { name = "attention_scale_twice", old = "{ factor = to_float(scale) })\n    scale = 1.0\n",
    new = "{ factor = to_float(scale) })\n", wrong = "scores to which something is added are scaled twice" },
  { name = "attention_lengths", old = "\"i32\", { self.batch }, 1, new_keys(spec) + 1)",
    new = "\"i32\", { self.batch }, 1, new_keys(spec))", wrong = "a full sequence is refused" },
  { name = "attention_t5_past", old = "local first = -(spec.seq - 1) - spec.past",
    new = "local first = -(spec.seq - 1)", wrong = "distances do not count the past" },
  { name = "attention_rope_past", old = "(\"rope_%s %.17g %d\"):format(name, spec.rope_theta, spec.past)",
    new = "(\"rope_%s %.17g %d\"):format(name, spec.rope_theta, 0)", wrong = "rotation begins anew after a past" },
  { name = "attention_zero", old = "(spec.bias_kv and 1 or 0) + (spec.zero_attn and 1 or 0)",
    new = "(spec.bias_kv and 1 or 0)", wrong = "the row of zeros counts as a key of the sequence" },
  { name = "attention_kept_columns", old = "{ heads = kept, all = spec.heads, axis = 2, factor = factor }",
    new = "{ heads = kept, all = spec.heads, axis = 1, factor = factor }",
    wrong = "rows, not columns, are left out of W_o" },
  { name = "attention_factor_layer", old = "a.factors.shape[1] > 1 and a.layer or 0", new = "0",
    wrong = "all layers have the first one's factors" },
}

of("gen/passes/common/grouping.lua", spec .. "passes/plan_spec.lua") {
  { name = "grouping_epilogue", old = "uses[result.name] == 1 and result.kind == \"scratch\"\n",
    new = "uses[result.name] == 1\n", wrong = "an output that is read again is not written" },
  { name = "grouping_micro_batch", old = "math.min(spec.batch, p.group_tokens // spec.seq)",
    new = "p.group_tokens // spec.seq", filter = "micro%-batch",
    wrong = "a micro-batch has more sequences than the batch" },
}

of("gen/passes/layout.lua", spec .. "passes/layout_spec.lua") {
  { name = "layout_factors", old = "dump.table(a.factors or {}) == dump.table(b.factors or {})", new = "true",
    filter = "powers", wrong = "entries share a weight that each multiplies with other powers" },
  { name = "layout_own", old = "    inherit(state, larger)\n", new = "", filter = "the largest entry decides",
    wrong = "each entry has panels of its own" },
  { name = "layout_each", old = ":format(outputs, panel, type, experts)", new = ":format(outputs, panel, type, 1)",
    filter = "of one expert", wrong = "a weight with a row for each expert has the panels of one" },
}

of("gen/passes/plan/storage.lua", spec .. "passes/plan_spec.lua") {
  { name = "plan_in_place", old = "op.result.kind == \"scratch\" and uses[x.name] == 1 then",
    new = "op.result.kind == \"scratch\" then", wrong = "a norm overwrites what is read again" },
  { name = "plan_unread", old = "local here, crossing = readers ~= nil, false",
    new = "local here, crossing = true, false", filter = "nobody reads",
    wrong = "what nobody reads is kept a tile at a time" },
}

of("gen/data/storage.lua", spec .. "data/storage_spec.lua") {
  { name = "storage_keys", old = "(key // block * column_groups(s) + column // group) * block",
    new = "(key // block + column // group) * block", wrong = "two panels of keys have elements in common" },
  { name = "storage_pairs", old = "return (s.rows_per_sequence + 1) // 2 * PAIRS.pitch(s)",
    new = "return s.rows_per_sequence // 2 * PAIRS.pitch(s)", wrong = "the last value of an odd number has no place" },
  { name = "storage_by_head", old = "(column // of_head * s.rows_per_sequence + row)",
    new = "(column // of_head + row)", wrong = "heads have elements in common" },
}

of("gen/passes/common/divide.lua", spec .. "passes/common/divide_spec.lua") {
  { name = "divide_blocks", old = "(i <= units % number and 1 or 0)", new = "0", wrong = "the last rows are left out" },
  { name = "divide_odd_lines", old = "ld // line % 2 == 0", new = "ld // line % 2 == 1",
    wrong = "long rows share the sets of a cache" },
  { name = "divide_narrow_panel", old = "rest <= 16 and count > 0 and panel > 32", new = "rest < 0 and count > 0",
    wrong = "a panel of one vector" },
  { name = "divide_busy", old = ">= 0.9", new = ">= 0.8", filter = "busy",
    wrong = "workers wait for a fifth of the time" },
}

of("gen/kernels/libxsmm.lua", spec .. "kernels/libxsmm_spec.lua") {
  { name = "libxsmm_beta", old = "next = blocks.count > 1 and shape(blocks.size, 1)",
    new = "next = blocks.count > 1 and shape(blocks.size, 0)", wrong = "each block of inputs forgets those before it" },
  { name = "libxsmm_fetch", old = "+ done * strip", new = "+ 0", wrong = "strips prefetch the same lines" },
  { name = "libxsmm_lines", old = "(panel // types.LINE + calls - 1) // calls", new = "panel // types.LINE // calls",
    wrong = "the last lines of a panel are left out" },
  { name = "libxsmm_odd", old = " and kernel.k % types.group(a) == 0", new = "",
    wrong = "libxsmm gets a product of bf16 with odd inputs" },
}

of("gen/passes/plan/ahead.lua", spec .. "passes/plan/ahead_spec.lua") {
  { name = "ahead_share", old = "(panel // types.LINE + calls - 1) // calls", new = "panel // types.LINE // calls",
    wrong = "the last lines of a panel are left out" },
  { name = "ahead_lines", old = "(share + times - 1) // times, every * inputs", new = "share // times, every * inputs",
    wrong = "a strip asks for a part of its share" },
  { name = "ahead_distance", old = "parameters.fetch * panel or", new = "panel or",
    wrong = "the panel ahead is always the next" },
  { name = "ahead_rows", old = "strips.step and 1 or least_rows(product.types.a, stream_rows)", new = "1",
    wrong = "strips of open rows prefetch however few their rows are" },
  { name = "ahead_pairs", old = "(pairs_of_panel + every - 1)", new = "pairs_of_panel",
    wrong = "pairs are left out" },
}

of("gen/passes/plan/attention.lua", spec .. "passes/plan/attention_spec.lua") {
  { name = "blocks_prefix", old = "math.max(position + count + right, prefix)", new = "position + count + right",
    wrong = "the first blocks miss keys of the prefix" },
  { name = "blocks_chunk_cut", old = "local lo, hi = cut.lo - skipped, cut.hi - skipped",
    new = "local lo, hi = cut.lo, cut.hi", wrong = "each chunk is cut as the first" },
  { name = "blocks_chunks", old = "  if region.context.attributes.nonzero then return false end\n", new = "",
    wrong = "keys come in chunks where a repair needs all weights" },
  { name = "blocks_pad", old = "last and column + m <= tile_ld and key_block.first % p.key_block + m <= p.key_block",
    new = "last", suite = spec .. "passes/lower/attention_spec.lua", filter = "never leaves",
    wrong = "padded scores leave the row of their tile" },
}

of("gen/passes/lower/maps.lua", spec .. "passes/lower_spec.lua") {
  { name = "lower_periods", old = "local stop = math.min(first + count, (row // period + 1) * period)",
    new = "local stop = first + count", wrong = "a table of positions goes on into the next sequence" },
}

of("gen/passes/lower/address.lua", spec .. "passes/lower_spec.lua") {
  { name = "lower_loop", old = "if origin.loop then operand.terms.b = per_sequence end", new = "",
    wrong = "all sequences of a micro-batch are the first" },
}

of("gen/passes/plan/products.lua", spec .. "passes/lower/attention_spec.lua") {
  { name = "plan_c_room", old = "% target.vector == 0\n  product.strips = state.plan.memoise(\"strips\",",
    new = "% 1 == 0\n  product.strips = state.plan.memoise(\"strips\",", filter = "in C reads",
    wrong = "rows of values are read past their end" },
}

of("gen/passes/lower/sequence.lua", spec .. "passes/lower_spec.lua") {
  { name = "lower_last_row", old = "self:value(op.operands.lengths, -1, origin)",
    new = "self:value(op.operands.lengths, 0, origin)", filter = "pool",
    wrong = "the row after the last one is taken" },
  { name = "lower_by_head", old = "self:at(tensor, h * rows, 0, origin)", new = "self:at(tensor, h, 0, origin)",
    suite = spec .. "passes/lower/options_spec.lua", filter = "adds its steps", wrong = "heads overlap" },
}

of("gen/passes/lower/scores.lua", spec .. "passes/lower/options_spec.lua") {
  { name = "scores_key_head", old = "return at.head // (heads // (k.shape[3] // at.head_dim))",
    new = "return at.head % (k.shape[3] // at.head_dim)", wrong = "heads read another group's keys" },
  { name = "scores_first_key", old = "(op.attributes.offset or 0) - range.first_key, at.origin) })",
    new = "(op.attributes.offset or 0), at.origin) })", suite = spec .. "passes/lower/attention_spec.lua",
    filter = "counts a block's valid keys", wrong = "add_length counts from the first key of all" },
  { name = "scores_distance", old = "range.first_key - at.block.first + at.queries - 1",
    new = "range.first_key - at.block.first + at.queries", wrong = "each distance has its neighbour's value" },
  { name = "scores_own_keys", old = "op_table.class(op).own_keys and range.keys or at.block.keys",
    new = "at.block.keys", wrong = "an array goes over keys that it does not have" },
}

of("gen/passes/lower/attention.lua", spec .. "passes/lower/attention_spec.lua") {
  { name = "repair_static", old = "elseif first.cut or lengths then", new = "elseif lengths then",
    suite = spec .. "whole/nan_spec.lua", filter = "with causal$",
    wrong = "a NaN after a static mask reaches the context" },
  { name = "mask_first_key", old = "(region.scores.attributes.offset or 0) - range.first_key, at.origin) })",
    new = "(region.scores.attributes.offset or 0), at.origin) })", wrong = "lengths count from the first key of all" },
  { name = "store_rest", old = "  fill(result.shape[4])\n", new = "", suite = spec .. "passes/lower/options_spec.lua",
    filter = "weights that go out", wrong = "weights of keys after the last block are not written" },
  { name = "context_tail", old = "    beta = 1\n", new = "", filter = "adds the context",
    wrong = "the last keys overwrite the sum" },
}

of("gen/passes/common/packed.lua", spec .. "passes/memory_spec.lua") {
  { name = "memory_panels_last", old = "if width ~= last then", new = "if not last then",
    wrong = "all panels of a weight have the first one's padding" },
  { name = "memory_panels", old = 'types.whole_lines(width, "f32"), layout.type)',
    new = "width, layout.type)",
    wrong = "weights overlap by the padding of their panels" },
}

of("gen/passes/memory.lua", spec .. "passes/memory_spec.lua") {
  { name = "memory_loops",
    old = "if segment.repeats > 1 then\n      loops", new = "if false then\n      loops",
    wrong = "what is pooled is overwritten by the next micro-batch" },
  { name = "memory_names", old = "span.first, span.last = math.min(span.first, l.first), math.max(span.last, l.last)",
    new = "span.first, span.last = l.first, l.last", wrong = "what has two names lives as long as its last one" },
  { name = "memory_side_by_side", old = "program.common_bytes + program.threads * program.own_bytes",
    new = "program.common_bytes + program.own_bytes", wrong = "all workers have one part of the arena" },
  { name = "memory_touch", old = "if a.first <= b.last and b.first <= a.last then",
    new = "if a.first < b.last and b.first < a.last then", wrong = "a step's result lies over its operand" },
}

of("gen/passes/kernels.lua", spec .. "passes/kernels_spec.lua") {
  { name = "kernels_beta", old = "k.lda, k.ldb, k.ldc, k.beta, of.a", new = "k.lda, k.ldb, k.ldc, 0, of.a",
    wrong = "kernels that add and that begin are one" },
}

of("gen/passes/plan/products.lua", spec .. "passes/kernels_spec.lua") {
  { name = "kernels_provider", old = "state.parameters.provider(key)", new = "state.parameters.provider()",
    filter = "tuning file", wrong = "a tuning file chooses nobody's body" },
}

of("gen/passes/kernels/names.lua", spec .. "passes/kernels_spec.lua") {
  { name = "kernels_optional", old = "step.arguments[name] and 1 or 0", new = "1",
    wrong = "a norm with a bias and one without are one function" },
  { name = "kernels_room", old = "tostring(kernel.a_room)", new = "\"true\"",
    filter = "of their own", wrong = "a product whose rows are cut has the function of one whose rows have room" },
}

of("gen/passes/emit/steps.lua", spec .. "passes/emit_spec.lua") {
  { name = "emit_last_micro_batch", old = "of_segment.micro_batch, batch - of_segment.micro_batch",
    new = "of_segment.micro_batch, batch", filter = "the last micro%-batch",
    wrong = "the last micro-batch leaves the batch" },
}

of("gen/common/words.lua", spec .. "commands/build/again_spec.lua") {
  { name = "words_shell", old = "gsub(\"[\\\\']\", \"\\\\%0\")", new = "gsub(\"[\\\\]\", \"\\\\%0\")",
    filter = "word of a shell", wrong = "a quote ends a word of a shell early" },
}

of("gen/common/words.lua", spec .. "common/words_spec.lua") {
  { name = "words_all", old = "if not is(member) then return false end end",
    new = "if not is(member) then break end end", filter = "asks all members",
    wrong = "all members of a list are what some are not" },
}

of("gen/deploy/roff.lua", spec .. "deploy/roff_spec.lua") {
  { name = "roff_request", old = "if line == \"\" and word:match(\"^[.']\") then word", new = "if false then word",
    wrong = "a word of a text is a request" },
  { name = "roff_backslash", old = "[\"\\\\\"] = \"\\\\e\", ", new = "", wrong = "a text has escapes of roff" },
}

of("gen/commands/overrides.lua", spec .. "commands/overrides_spec.lua") {
  { name = "overrides_order", old = "  table.sort(sorted)\n", new = "", wrong = "the same overrides have two folders" },
  { name = "overrides_twice", old = "if seen[key] then", new = "if seen[word] then",
    wrong = "a key with two values is taken" },
}

of("gen/passes/plan/fused_kernels.lua", spec .. "passes/plan/fused_kernels_spec.lua") {
  { name = "fused_place", old = 'return fusion.sums and "stack" or "place"', new = 'return "stack"',
    wrong = "sums that a map works on where the result is are on the stack" },
  { name = "fused_repair", old = "if range.cut or scores", new = "if scores",
    wrong = "a context is rounded before it is repaired" },
  { name = "fused_f32", old = 'product.types.b ~= "f32" and ', new = "",
    wrong = "products of floats are fused with the map after them" },
}

of("gen/passes/lower/products.lua", spec .. "passes/plan/fused_kernels_spec.lua") {
  { name = "fused_trace", old = 'self.variant == "ship" and step.fused_sums or nil', new = "step.fused_sums",
    wrong = "a trace fuses products and maps, too" },
}

of("gen/passes/validate/sizes.lua", spec .. "passes/validate_spec.lua") {
  { name = "sizes_window", old = "(mask.window and mask.window.right == 0)", new = "mask.window",
    filter = "shorter texts", wrong = "after a window to the right padding is seen" },
  { name = "sizes_value", old = "and not spec.mask_value then return false end", new = "then return false end",
    filter = "shorter texts", wrong = "padding that is only made unlikely is seen" },
  { name = "sizes_nan", old = "if spec.fully_masked == \"nan\" then return true end", new = "",
    filter = "shorter texts", wrong = "rows of padding that see nothing spread NaN" },
  { name = "sizes_pool", old = "do if pools_of_kept[over] then", new = "do if over == \"mean\" then",
    filter = "shorter texts", wrong = "other pools than the mean take padding" },
  { name = "sizes_pool_mask", old = "or spec.pool_mask\n", new = "\n", filter = "shorter texts",
    wrong = "a pool wants rows beside the mask that says them" },
  { name = "sizes_angles", old = "if spec.any and same_to then", new = "if false then",
    filter = "does not go with", wrong = "angles of another length are used" },
}

of("runtime/model/batches.c", "c:batches") {
  { name = "batches_place", old = "array + p->first * a.inner", new = "array + 0 * p->first * a.inner",
    wrong = "each call takes the first sequences" },
  { name = "batches_outer", old = "return a.outer == 1 && p->taken", new = "return p->taken",
    wrong = "an entry is called with a part of an array whose batch is not in front" },
  { name = "batches_filling", old = "(uint32_t)tensor->minimum : 0;", new = "0 * (uint32_t)tensor->minimum : 0;",
    wrong = "sequences that fill a call up have a length of 0" },
}

of("runtime/formats/file.c", "c:file") {
  { name = "file_eintr", old = "      if (errno == EINTR) continue;\n", new = "",
    filter = "file/reading_goes_on*", wrong = "a signal ends a read" },
  { name = "file_short", old = "at += got, offset += got, bytes -= (size_t)got;",
    new = "at += got, bytes -= (size_t)got;", filter = "file/reading_goes_on*",
    wrong = "a short read begins again where it began" },
  { name = "file_beyond", old = "bytes > (uint64_t)(file->size - offset)", new = "bytes > (uint64_t)file->size",
    filter = "file/reading_beyond*", wrong = "what lies beyond the end is asked of the system" },
}

of("runtime/formats/json.c", "c:json") {
  { name = "json_surrogate", old = "if (low < 0xdc00 || low > 0xdfff)", new = "if (low < 0xd800 || low > 0xdfff)",
    wrong = "two upper halves make a character" },
  { name = "json_zero", old = "json->at - start > 1 && json->text[start] == '0'",
    new = "json->at - start > 2 && json->text[start] == '0'", wrong = "01 is a number" },
  { name = "json_comma", old = "  if (*members > 0) {\n    if (next != ',')", new = "  if (*members > 0) {\n    if (0)",
    wrong = "members need nothing between them" },
}

of("runtime/base/utf8.c", "c:attn2c") {
  { name = "utf8_overlong", old = "first == 0xe0 ? 0xa0 : ", new = "",
    filter = "message/controls*", wrong = "a character may be longer than it need be" },
  { name = "utf8_unseen", old = "point <= unseen[i][1]", new = "point < unseen[i][1]",
    filter = "message/controls*", wrong = "the last control of each range reaches the terminal" },
}

of("runtime/formats/npy_header.c", "c:npy") {
  { name = "npy_tuple", old = "if (header->rank == 1 && !comma)", new = "if (header->rank == 0 && !comma)",
    filter = "npy/malformed*", wrong = "(3) is a shape" },
  { name = "npy_twice", old = "if (found[key]++)", new = "if (found[key]++ > 1)", filter = "npy/malformed*",
    wrong = "a key of the header occurs twice" },
}

of("runtime/formats/npy.c", "c:npy") {
  { name = "npy_order", old = "if (!status && header->fortran_order && header->rank > 1)",
    new = "if (!status && header->fortran_order && header->rank > 3)",
    wrong = "an array in Fortran order is read as it lies" },
  { name = "npy_length", old = "if (bytes != there)", new = "if (bytes > there)",
    filter = "npy/cut*", wrong = "what follows the data is ignored" },
}

of("runtime/formats/safetensors.c", "c:safetensors") {
  { name = "safetensors_hole", old = "if (tensor->begin != claimed)", new = "if (tensor->begin < claimed)",
    filter = "safetensors/what_is_malformed*", wrong = "bytes that belong to no tensor" },
  { name = "safetensors_twice", old = "  if (twice)", new = "  if (twice && 0)",
    filter = "safetensors/what_is_malformed*",
    wrong = "a tensor occurs twice" },
}

of("runtime/formats/tensors.c", "c:safetensors") {
  { name = "tensors_read", old = "count > tensor->elements - first", new = "count > tensor->elements",
    filter = "safetensors/ranges*", wrong = "the next tensor's values are read" },
}

of("runtime/base/floats.c", "c:safetensors") {
  { name = "floats_subnormal", old = "  if (fraction == 0) return sign;\n", new = "  return sign;\n",
    filter = "safetensors/every_half*", wrong = "small numbers of half precision are 0" },
}

of("runtime/weights/constants.c", "c:constants") {
  { name = "alibi_slopes", old = "(double)(2 * (h - power) + 1) / (double)(2 * power)",
    new = "(double)(2 * (h - power) + 2) / (double)(2 * power)", wrong = "the wrong slopes after a power of two" },
  { name = "t5_directions", old = "if (distance > 0) begin = buckets;", new = "if (distance < 0) begin = buckets;",
    wrong = "before and after are exchanged" },
  { name = "t5_last_bucket", old = "bucket < buckets ? bucket : buckets - 1", new = "bucket",
    wrong = "far distances have a bucket that is not there" },
  { name = "plane_halves", old = "d < half ? (s - tokens) / across", new = "d >= half ? (s - tokens) / across",
    wrong = "rows and columns of patches are exchanged" },
  { name = "rope_first", old = "(float)from->function((double)(first + s) * frequency)",
    new = "(float)from->function((double)(s - first) * frequency)",
    wrong = "angles are of positions before the first" },
}

of("runtime/weights/random.c", "c:random") {
  { name = "random_part", old = "2 * (uint64_t)(first + i) * GOLDEN_GAMMA",
    new = "2 * (uint64_t)(0 * first + i) * GOLDEN_GAMMA",
    filter = "random/a_value*", wrong = "each piece of a weight has the same values" },
  { name = "random_limit", old = "(int32_t)(minimum + (int64_t)(upper * range >> 32))",
    new = "(int32_t)(minimum + (int64_t)(upper * (range - 1) >> 32))", wrong = "the largest integer never comes" },
}

of("runtime/reading/views.c", "c:weights") {
  { name = "views_first", old = "const int64_t first = view->first + (row + i) * view->row_step;",
    new = "const int64_t first = (row + i) * view->row_step;", wrong = "key and value are the query's rows" },
  { name = "views_factor", old = "+ factor * (from[j * step] + more);", suite = "c:checkpoint",
    new = "+ (factor < 1e30f) * (from[j * step] + more);", wrong = "a factor is not multiplied" },
  { name = "views_plus_one", old = "view->flags || view->factor != 1.0", suite = "c:checkpoint",
    new = "is_added(view) || view->factor != 1.0", wrong = "numbers plus one are read without it" },
  { name = "views_transposed", old = "put(view, from, band->length, view->columns",
    suite = "c:checkpoint", new = "put(view, from, 1, view->columns",
    wrong = "a transposed tensor is read as it lies" },
}

of("runtime/packing/pack.c", "c:load") {
  { name = "pack_zeros", old = "j < rows ? values[j * columns + i] : 0.0f",
    new = "values[(j < rows ? j : 0) * columns + i]", wrong = "what lies after a panel's last row is not 0" },
  { name = "pack_pieces", old = "+= attn2c_panel_floats(piece->type",
    new = "+= 0 * attn2c_panel_floats(piece->type", wrong = "each panel lies over the first" },
}

of("runtime/packing/pack.c", "c:load") {
  { name = "unpack_begin", old = "return piece->offset + within + rows", new = "return piece->offset + rows",
    filter = "load/unpacking*", wrong = "rows are taken from a panel's beginning" },
}

of("runtime/packing/packed.c", "c:packed") {
  { name = "packed_verify", old = "block_size(packed->model)) == packed->checksum) return ATTN2C_OK;",
    new = "block_size(packed->model)) | 1) return ATTN2C_OK;", wrong = "a changed block is taken for whole" },
  { name = "packed_hold", old = "if (packed) packed->holders++;", new = "",
    wrong = "a model's block goes with its source" },
}

of("runtime/packing/packed_header.c", "c:packed") {
  { name = "packed_layout", old = "attn2c_number_at(header, AT_LAYOUT) == attn2c_number_at(own, AT_LAYOUT)",
    new = "1",
    wrong = "a block in another layout is taken" },
  { name = "packed_description", old = "AT_TARGET - AT_DESCRIPTION) != 0", new = "0) != 0",
    wrong = "a block of another description is taken" },
  { name = "packed_size", old = "else if (size != whole)", new = "else if (size < whole)",
    wrong = "bytes after the block are taken" },
}

of("runtime/packing/layout.c", "c:packed") {
  { name = "layout_factor", old = "attn2c_checksum_add(sum, &view->factor, sizeof view->factor);", new = "",
    wrong = "a block with other factors has the same layout" },
}

of("runtime/model/load.c", "c:load") {
  { name = "load_status", old = "while (l->status == ATTN2C_OK && l->pieces",
    new = "while (l->pieces", filter = "load/a_failing*", wrong = "reading goes on after a fault" },
}

of("runtime/model/model.c", spec .. "whole/threads_spec.lua") {
  { name = "workers_bound", old = "workers < 8 && 2 * workers <= processors",
    new = "2 * workers <= processors", filter = "one, two, four or eight",
    wrong = "more workers than code was emitted for" },
  { name = "threads_most", old = "threads > attn2c_most_threads(model->descriptor)", new = "threads > 64",
    filter = "a caller asks", wrong = "a library takes more threads than its code is for" },
  { name = "threads_kept", old = "model->threads < processors ? model->threads : processors", new = "processors",
    filter = "a caller asks", wrong = "a call has more threads than its caller asked for" },
}

of("runtime/ops/fold.h", "c:rowops_base") {
  { name = "fold_rows", old = "ATTN2C_SHUFFLE(two[0], two[1], 0, 2, 4, 6)",
    new = "ATTN2C_SHUFFLE(two[0], two[1], 0, 2, 6, 4)", wrong = "a row has another row's sum" },
}

of("runtime/ops/vector.h", "c:rowops_base") {
  { name = "largest_rest", old = "if (count % ATTN2C_LANES) other", new = "if (0) other",
    wrong = "the last columns are passed over" },
}

of("runtime/ops/softmax.h", "c:rowops_base") {
  { name = "softmax_empty", old = "attn2c_softmax_with(s, rows, cols, ld, scale, 1e-30f, NULL, 0, NULL, 0);",
    new = "attn2c_softmax_with(s, rows, cols, ld, scale, 0.0f, NULL, 0, NULL, 0);", filter = "softmax/*",
    wrong = "a row without a key is NaN" },
  { name = "softmax_far", old = "< ATTN2C_SOFTMAX_MOST) continue;", new = "< 1e30f) continue;",
    filter = "softmax/of_scores*", wrong = "scores far from zero lose the digits of their differences" },
}

of("runtime/ops/ranges.h", "c:rowops_attention_base") {
  { name = "repair_zero", old = "if (weight != 0.0f) attn2c_add_weighted(",
    new = "if (weight >= 0.0f) attn2c_add_weighted(", wrong = "0 times NaN is added" },
}

of("runtime/ops/gather.h", "c:rowops_base") {
  { name = "pool_nan", old = "y[j] = v <= m || m != m ? m : v;", new = "y[j] = v > m ? v : m;", filter = "gather/pool",
    wrong = "the largest of NaN and a number is the number" },
  { name = "pool_padding", old = "while (last > 0 && (ids[last] == pad ||",
    new = "while (last > 1 && (ids[last] == pad ||", filter = "gather/pools_of_rows_by_their_ids*",
    wrong = "the first row is never taken" },
  { name = "patches_columns", old = "left = (first + i) % across * patch", new = "left = i % across * patch",
    suite = "c:rowops_rows_base", filter = "gather/patches*", wrong = "patches from a later one on are shifted" },
}

of("runtime/check/compare.c", "c:compare") {
  { name = "compare_zeros", old = "#define ZERO_SHARE 0.3", new = "#define ZERO_SHARE 1.3",
    filter = "compare/mostly*", wrong = "a result that is nearly all zero passes" },
  { name = "compare_nan", old = "return isnan(want) && isnan(got);", new = "return isnan(want);",
    filter = "compare/*", wrong = "a number passes where NaN is right" },
  { name = "compare_padded", old = "i / width * leading_dimension + i % width",
    new = "i / width * width + i % width + 0 * leading_dimension",
    filter = "compare/padded*", wrong = "rows are taken as packed" },
}

of("runtime/check/tolerance.c", "c:compare") {
  { name = "tolerance_product", old = "4 * sqrt((double)length) * ATTN2C_ROUNDOFF",
    new = "4 * (double)length * ATTN2C_ROUNDOFF", filter = "tolerance/*", wrong = "products may be far off" },
  { name = "tolerance_run", old = "run > 0 && is_same", new = "run > 0 || is_same", filter = "tolerance/*",
    wrong = "terms that differ are allowed what equal ones are" },
}

of("runtime/reference/shapes.c", "c:reference") {
  { name = "reference_sizes", old = "if (unknown == 0) return known == extent;", new = "if (unknown == 0) return 1;",
    filter = "linear/*", wrong = "sizes of one letter may differ" },
}

of("runtime/reference/masks.c", "c:reference_attention") {
  { name = "reference_extra", old = "&& j < keys - extra && from != -INFINITY", new = "&& from != -INFINITY",
    wrong = "keys after the sequence are padded, too" },
  { name = "reference_masked_stays", old = "int adds = j < over.columns && from != -INFINITY;",
    new = "int adds = j < over.columns;", wrong = "what is added brings back a masked score" },
}

of("runtime/reference/rows.c", "c:reference") {
  { name = "reference_gelu", old = "x + 0.044715 * x * x * x", new = "x + 0.044715 * x * x",
    filter = "activate/*", wrong = "another gelu_tanh" },
}

of("runtime/check/check_mask.c", "c:check_mask") {
  { name = "check_mask_mean", old = "if (entry->ops[number].role == ATTN2C_MEAN_OF_WEIGHTS)",
    new = "if (entry->ops[number].role == ATTN2C_MAKES_SCORES)", wrong = "a mean over heads has no mask" },
}

of("gen/data/reserved_python.lua", spec .. "data/reserved_python_spec.lua") {
  { name = "python_own", old = 'set "self out"', new = 'set "self"', filter = "parameter of its own",
    wrong = "an input called out is where outputs are given" },
  { name = "python_underscores", old = 'name:match("^(.-)_*$")', new = "name", filter = "parameter of its own",
    wrong = "two inputs have one parameter" },
}

of("runtime/program/arguments.c", "c:program") {
  { name = "arguments_twice", old = "if (*word != NULL)", new = "if (*word == value)",
    filter = "program/refuses_wrong*", wrong = "--weights is taken twice" },
  { name = "arguments_threads", old = "(unsigned long long)attn2c_most_threads(attn2c_the_program.model)", new = "64",
    suite = spec .. "whole/threads_spec.lua", filter = "a caller asks",
    wrong = "--threads takes more threads than the code is for" },
  { name = "arguments_one_thread", old = "row->kind != ATTN2C_OPTION_THREADS ||", new = "row->name ||",
    filter = "program/refuses_wrong*", wrong = "a model for one thread has --threads" },
  { name = "arguments_decimal", old = "*end != '\\0' || number > most", new = "number > most",
    filter = "program/refuses_wrong*", wrong = "7x is a number" },
}

of("runtime/program/answers/answer.c", "c:text_program") {
  { name = "text_best_ties", old = "return a > b ||", new = "return a >= b ||",
    filter = "text_program/the_best*", wrong = "of equal scores the last comes first" },
  { name = "text_span_longest", old = "j < i + longest", new = "j <= i + longest",
    filter = "text_program/a_span*", wrong = "an answer is a token too long" },
}

of("runtime/program/answers/safe.c", "c:text_program") {
  { name = "text_safe_unseen", old = "if (!attn2c_is_seen(point) &&", new = "if (point < 0x20 &&",
    filter = "text_program/nothing*", wrong = "marks of direction reach the terminal" },
}

of("runtime/text/stream.c", "c:text_stream") {
  { name = "stream_held", old = "work->is_held || *length == 0", new = "*length == 0",
    wrong = "half a character is shown as U+FFFD" },
  { name = "stream_first", old = "stream->is_begun = 1;", new = "stream->is_begun = 0;",
    wrong = "blanks between pieces are lost" },
}

of("runtime/generate/answers.c", "c:answers") {
  { name = "answers_seed", old = "attn2c_sampler_reset(b->samplers[place], seed);",
    new = "attn2c_sampler_reset(b->samplers[place], seed + (uint64_t)place);",
    wrong = "the draws of a prompt depend on its place among others" },
}

of("runtime/generate/calls.h", "c:answers") {
  { name = "calls_length", old = "calls->length - 1 : calls->tokens", new = "calls->length : calls->tokens",
    filter = "answers/ends_of_a_stated*", wrong = "an answer is one token longer than max_length" },
}

of("gen/checkpoints/generation.lua", spec .. "checkpoints/generation_spec.lua") {
  { name = "generation_length", old = "if result.tokens then result.length = nil end", new = "",
    filter = "length of prompt", wrong = "max_length ends answers in spite of max_new_tokens" },
}

of("runtime/generate/kept_ids.c", "c:answers") {
  { name = "kept_copy", old = "from == sequence ? ATTN2C_OK :", new = "from >= 0 ? ATTN2C_OK :",
    wrong = "a beginning is taken over without its keys" },
}

of("runtime/program/text/source.c", "c:text_program") {
  { name = "text_source_last", old = "(s->is_ended && s->begin < s->end)", new = "0",
    filter = "text_program/lines*", wrong = "a last line without its end is lost" },
}

of("runtime/model/text/calls.c", spec .. "whole/say_spec.lua") {
  { name = "text_calls_place", old = "(int64_t)job->part[i] * to_each", new = "i * to_each",
    filter = "arrays: [pqm]", wrong = "each batch of texts takes the place of the first" },
  { name = "text_stride", old = "window / 2 < USUAL_STRIDE ? window / 2", new = "window / 2 < USUAL_STRIDE ? 0",
    filter = "answers: windows", wrong = "windows share nothing" },
}

of("runtime/program/text/view.c", spec .. "whole/say_spec.lua") {
  { name = "text_windows", old = "!(span.score > best->score)", new = "0",
    filter = "answers: windows", wrong = "the last window's answer is given" },
}

of("runtime/program/answers/answer.c", "c:text_program") {
  { name = "text_no_answer", old = "i != none && j < rows", new = "j < rows",
    filter = "text_program/a_span*", wrong = "an answer may begin at the row of no answer" },
}

of("gen/passes/validate/sizes.lua", spec .. "passes/validate_spec.lua") {
  { name = "sizes_past", old = "spec.seq + spec.past <= same_to", new = "spec.seq <= same_to",
    filter = "short", wrong = "past keys do not count for angles that go by the length" },
  { name = "sizes_whole", old = "window.left >= last", new = "window.left > last",
    filter = "window that holds", wrong = "a window that holds the longest sequence stays" },
  { name = "sizes_right", old = "(mask.causal or window.right >= last)", new = "true",
    filter = "window that holds", wrong = "a window to the right is dropped with one to the left" },
}

of("gen/passes/emit/lengths.lua", spec .. "passes/emit/lengths_spec.lua") {
  { name = "lengths_past", old = 'more > 0 and ("seq + %d"):format(more) or "seq"', new = '"seq"',
    wrong = "the header states the shape without past keys" },
}

for _, part in ipairs { "any_length", "builds", "chat", "checkpoints", "continued", "decoders", "experts", "generate",
  "grammar", "hybrids", "kept", "machine", "measure", "pictures", "products", "program", "python", "ranks", "report",
  "search", "serve", "sound", "sources", "spans", "team", "text", "typed" } do
  require(part)(of, spec)
end

return list
