-- typed.lua: the part of list.lua that concerns products of bf16 and int8, sums that are the same on all targets, and
-- how outputs are judged. of and spec: as in list.lua.
return function(of, spec)
  of("gen/data/precision.lua", spec .. "passes/precision_spec.lua") {
    { name = "precision_layer", old = "return of[section] or of[precision.part_of(section, path)] or given.all",
      new = "return of[precision.part_of(section, path)] or of[section] or given.all", filter = "a layer's before",
      wrong = "a part's precision comes first" },
  }

  of("gen/data/precision.lua", spec .. "passes/precision_spec.lua") {
    { name = "precision_table", old = "return given.by_part.embedding or given.all", new = "return given.all",
      filter = "of a table of token", wrong = "a table has the type of all parts, whatever its own is" },
  }

  of("gen/passes/common/packed.lua", spec .. "passes/layout_spec.lua") {
    { name = "row_groups", old = "types.row_bytes(tensor.shape[2] or 1, layout.type)",
      new = "types.bytes(tensor.shape[2] or 1, layout.type)", filter = "one after the other",
      wrong = "rows of typed weights have no room for whole groups" },
  }

  of("gen/passes/graph/builder.lua", spec .. "passes/precision_spec.lua") {
    { name = "round_behind", old = "if at then table.insert(list, at + 1, table.remove(list)) end", new = "",
      filter = "rounds in the map", wrong = "what is rounded is rounded where it is read first" },
  }

  of("gen/passes/graph/builder.lua", spec .. "passes/graph/attention_spec.lua") {
    { name = "round_for_all", old = 'self.rows_differ and ".bf16_pairs" or nil', new = "nil",
      filter = "by the same operations", wrong = "a list's targets share what is rounded if they store it alike" },
    { name = "round_for_one", old = 'self.rows_differ and ".bf16_pairs" or nil', new = '".bf16_pairs"',
      filter = "are rounded once", wrong = "what a product and an attention read is rounded twice" },
  }

  of("gen/passes/lower/maps.lua", spec .. "passes/precision_spec.lua") {
    { name = "guard_width", old = "constants.guarded = constants.guard_cols // heads",
      new = "constants.guarded = constants.width", filter = "guards a head",
      wrong = "a head's keys are guarded by values of other heads" },
  }

  of("gen/passes/graph/rounded.lua", spec .. "passes/graph/rounded_spec.lua") {
    { name = "rounded_readers", old = "or not rounds[op.op] end", new = "or false end", filter = "keep theirs",
      wrong = "an activation whose result is multiplied as floats has the short form" },
    { name = "rounded_outputs", old = 'and op.result.kind == "scratch" and', new = "and", filter = "keep theirs",
      wrong = "an output has the short form" },
  }

  of("gen/passes/graph/asked.lua", spec .. "passes/graph/asked_spec.lua") {
    { name = "asked_outputs", old = 'local is_asked = op.result.kind == "scratch" and', new = "local is_asked =",
      filter = "stays where an output", wrong = "an output has one row of each sequence" },
    { name = "asked_readers", old = "(reads_by_row(set, reader, op.result) or choice_of(reader) == choice)",
      new = "true",
      filter = "stays where an output", wrong = "a mean is taken of one row" },
    { name = "asked_mask", old = 'or o.mask then return nil', new = "then return nil",
      filter = "stays where an output", wrong = "a row that a mask may not keep is chosen before a bias is added" },
    { name = "asked_positions", old = "if tensor and is_fixed(tensor) and #tensor.shape > 1 then return false end",
      new = "", filter = "does not go over positions", wrong = "each chosen row gets the positions of all rows" },
    { name = "asked_lengths", old = "lengths = is_last and o.lengths or nil", new = "lengths = nil",
      filter = "is followed by the stages", wrong = "the last row of a padded sequence is padding" },
    { name = "asked_angles", old = "if class.by_position and not ROW_OF[choice] then return false end", new = "",
      filter = "tells them apart", wrong = "the last row is rotated by the angles of one row for all sequences" },
    { name = "asked_again", old = 'and not (maker and is_repeated[maker.op])', new = "",
      filter = "rounds these again", wrong = "scales of rows are pooled" },
    { name = "asked_order", old = "for _, are_pools in ipairs { true, false } do",
      new = "for _, are_pools in ipairs { false, true } do",
      filter = "rounds these again", wrong = "rows are read before they are chosen" },
    { name = "asked_ends", old = "while list[last + 1] and ends[list[last + 1].op] and not set[list[last + 1]] do",
      new = "while false do", filter = "rounds these again",
      wrong = "scales of rows and their integers are apart" },
    { name = "asked_keys", old = "if operand == tensor and not names[name] then return false end", new = "",
      filter = "last attention's queries", wrong = "the query sees only the key of its row" },
    { name = "asked_alike", old = "(not class.alike or class.alike(op.attributes))", new = "true",
      filter = "tells them apart", wrong = "a causal mask takes the last row for the first" },
    { name = "asked_parts", old = "  leave_parts(entry, set, made)\n", new = "",
      filter = "tells them apart", wrong = "rows are chosen between scores and weights" },
    { name = "asked_section", old = "  self.section = op.section\n", new = "", filter = "last attention's queries",
      wrong = "a query is chosen in a section after its attention" },
    { name = "asked_early", old = "(of.early[maker] or false) == is_early", new = "true",
      filter = "attention to a memory", wrong = "a row of each sequence is added to a sequence of one row" },
    { name = "asked_single", old = "if is_early and has_one then", new = "if false then",
      filter = "where a sequence has one", wrong = "the only query of a sequence is copied" },
  }

  of("gen/passes/plan/attention.lua", spec .. "passes/graph/asked_spec.lua") {
    { name = "asked_open", old = "local asked = scores.operands.q.growth[2] == 0", new = "local asked = false",
      filter = "call of any length", wrong = "the one query of a sequence is computed again for each key" },
  }

  of("gen/passes/lower/address.lua", spec .. "passes/graph/asked_spec.lua") {
    { name = "asked_trace", old = " or grouping.is_of_one_query(tensor)", new = "",
      filter = "call of any length", wrong = "the traced scores of a sequence's one query are where its rows begin" },
  }

  of("gen/passes/common/grouping.lua", spec .. "passes/graph/asked_spec.lua") {
    { name = "grouping_pools", old = "is_after_pool and not pools) then", new = "is_after_pool) then",
      filter = "taken together", wrong = "the rows of all sequences are kept until all are computed" },
  }

  of("gen/passes/checks/graph.lua", spec .. "passes/checks_spec.lua") {
    { name = "graph_rows", old = "    check_rows(op)\n", new = "", filter = "other rows than the result",
      wrong = "a sum of rows of all and of one is no fault" },
  }

  of("gen/passes/graph/orders.lua", spec .. "passes/graph/orders_spec.lua") {
    { name = "order_rows", old = "op.operands.bias.row_order = order.order_of", new = "local _ = order",
      filter = "rows of the products before", wrong = "a bias is not in the order of its weight's rows" },
  }

  of("runtime/weights/orders.c", spec .. "whole/blocks_spec.lua") {
    { name = "order_shared", old = "if (status || is_same) return status;",
      new = "if (status || is_same || like >= 0) return status;", filter = "should share",
      wrong = "layers with other groups of inputs are computed in one order" },
  }

  of("runtime/packing/packed_orders.c", spec .. "whole/blocks_spec.lua") {
    { name = "order_packed", old = "if (right == count) continue;", new = "continue;",
      filter = "input twice", wrong = "a damaged order in packed weights reads outside a row" },
  }

  of("gen/passes/emit/readers.lua", spec .. "whole/linked_spec.lua") {
    { name = "readers_blocks", old = "needs.blocks or layout and types.all[layout.type].block", new = "true",
      filter = "speech model", wrong = "every library has the reader of scale blocks" },
    { name = "readers_packed", old = 'spec.opens == "packed" and packed_rows', new = "false",
      filter = "at most 2,500", wrong = "a library of packed weights reads checkpoints" },
  }

  of("runtime/weights/weights.c", spec .. "whole/blocks_spec.lua") {
    { name = "order_reversed", old = "values[i] = (float)source->orders.inputs[first + i];",
      new = "values[i] = (float)source->orders.inputs[first + count - 1 - i];", filter = "reference rounds like",
      wrong = "inputs are gathered in another order than the weights have, and the reference does the same" },
  }

  of("gen/checkpoints/coded.lua", spec .. "checkpoints/coded_spec.lua") {
    { name = "coded_ordered", old = "if is_ordered and not of.by and of.groups > 1 then", new = "if false then",
      filter = "without the order", wrong = "groups that are apart are taken as in order" },
  }

  of("runtime/reading/coded.c", spec .. "checkpoints/coded_spec.lua") {
    { name = "coded_floats", old = "if (!scales->type->widen)", new = "if (0)", filter = "do not fit",
      wrong = "scales may be integers" },
    { name = "coded_centre", old = "is = zeros[i] == 1 << (of->bits - 1);", new = "is = zeros[i] >= 0;",
      filter = "whole ones", wrong = "codes with a minimum are taken for centred ones" },
  }

  of("runtime/reading/coded.c", "c:coded") {
    { name = "coded_order_rank", old = "order->rank != 1 ||", new = "", filter = "coded/an_order*",
      wrong = "an order may have two axes" },
    { name = "groups_equal", old = "return equal == of->groups;", new = "return 1;", filter = "coded/*other_sizes*",
      wrong = "groups of other sizes are read as blocks" },
  }

  of("gen/passes/sizes.lua", spec .. "passes/sizes_spec.lua") {
    { name = "sizes_left", old = "best_step(parts, size - bytes)", new = "best_step(parts, size - rest)",
      filter = "take at most", wrong = "weights take more bytes than were asked for" },
    { name = "sizes_table", old = "types.row_bytes(weight.shape[2], type)", new = "types.row_bytes(1, type)",
      filter = "table's rows", wrong = "a row of a table is a block" },
  }

  of("gen/kernels/scaled.lua", spec .. "kernels/scaled_spec.lua") {
    { name = "scaled_plane", old = "number % (BLOCK // 4 // self.weights.scales) > 0 then return end",
      new = "number > 0 then return end", filter = "becomes int8",
      wrong = "the second part of a block has no high bits" },
    { name = "scaled_apart", old = 'text .. " + apart"', new = "text", filter = "reads the same bytes",
      wrong = "a joint strip reads the first panel twice" },
    { name = "scaled_together", old = "PANEL // 2 and 3 or nil", new = "PANEL // 2 and 2 or nil",
      filter = "both vectors", wrong = "two rows take both vectors of a panel, which is slower" },
    { name = "scaled_pairs", old = "width == PANEL and widths[#widths] == PANEL and",
      new = "widths[#widths] == PANEL and", filter = "two whole panels",
      wrong = "a panel that is not whole is taken with another" },
    { name = "scaled_tall", old = "(block.scales == 1 or block.bits == 8) and", new = "", filter = "once up to 12 rows",
      wrong = "strips of two planes and two scales keep some sums in memory" },
    { name = "scaled_each_panel", old = "{ lda = shape.lda // count }", new = "{}", filter = "one after the other",
      wrong = "strips of one panel prefetch two" },
    { name = "scaled_offset", old = "(block.minimum and 0 or 1 << block.bits - 1))", new = "(1 << block.bits - 1))",
      filter = "becomes int8", wrong = "integers with a minimum are read as signed" },
  }

  of("runtime/packing/scale_blocks.c", "c:scale_blocks") {
    { name = "blocks_units", old = "(blocks[i].unit != blocks[0].unit || blocks[i].least_unit != blocks[0].least_unit)",
      new = "0", filter = "scale_blocks/units*", wrong = "blocks of different units share one" },
    { name = "blocks_high_plane", old = "put_plane(codes, low, high,", new = "put_plane(codes, 0, high,",
      filter = "scale_blocks/every_block*", wrong = "high bits are the low ones" },
  }

  of("gen/passes/graph/importance.lua", spec .. "passes/graph/importance_spec.lua") {
    { name = "importance_type", old = "block.bits <= types.SEARCHED_BITS", new = "block.bits > 0",
      filter = "is one for all", wrong = "weights of 8 bits have an importance that packing does not use" },
  }

  of("gen/passes/plan/storage.lua", spec .. "passes/precision_spec.lua") {
    { name = "pairs_split", old = "% rows_per_sequence % together == 0", new = "% rows_per_sequence % together <= 1",
      filter = "packs pairs of values", wrong = "a pair of values may lie in two blocks" },
  }

  of("gen/passes/plan/attention.lua", spec .. "passes/precision_spec.lua") {
    { name = "pairs_align", old = 'key_align = words.round_up(p.key_align, group)',
      new = "key_align = p.key_align", filter = "begins each range", wrong = "a range of keys begins within a pair" },
  }

  of("gen/passes/lower/maps.lua", spec .. "passes/lower_spec.lua") {
    { name = "scale_of_row", old = "self:at(tensor, row, operation.column or 0, origin)",
      new = "self:at(tensor, 0, operation.column or 0, origin)", filter = "the row's own scale",
      wrong = "all rows have the scale of the first" },
  }

  of("gen/data/steps.lua", spec .. "whole/precision_spec.lua") {
    { name = "scale_rest", old = '"v = ATTN2C_FMA(v, rest, %s[j]);"', new = '"(void)rest; v = v + %s[j];"',
      filter = "do not overflow between", wrong = "what is left of a large scale is lost" },
    { name = "scale_rest_at_end", old = '"attn2c_times_rest(%s, rest, %s);"',
      new = '"(void)(%s), (void)rest, (void)(%s);"',
      filter = "do not overflow between", wrong = "the same of a product without a bias" },
  }

  of("gen/data/row_entries.lua", spec .. "data/steps_spec.lua") {
    { name = "row_entries_apart", old = "if bracket == \"\" then", new = "if true then",
      wrong = "a usual call has constants that are for footprints" },
  }

  of("gen/passes/common/programs.lua", spec .. "passes/kernels_spec.lua") {
    { name = "fused_overlap", old = "phase == 0 and (program.fused_maps[step] or", new = "phase == 0 and (false or",
      filter = "do not write where", wrong = "a product's rows are overwritten by an output that nobody wants" },
  }

  of("gen/passes/memory.lua", spec .. "passes/kernels_spec.lua") {
    { name = "fused_reserved", old = "if operand.buffer and operand ~= unstored then", new = "if operand.buffer then",
      filter = "take no arena", wrong = "the arena has room for sums that are on the stack" },
  }

  of("gen/passes/checks/fused_kernels.lua", spec .. "passes/checks_spec.lua") {
    { name = "fused_rows", old = "apart(b, rows_of_b(product, row))", new = "",
      filter = "what later strips read", wrong = "a map may write over the rows of later strips" },
  }

  of("gen/passes/checks/storage.lua", spec .. "passes/checks_spec.lua") {
    { name = "check_over_late", old = "expect(readers[#readers] == op,", new = "expect(true,",
      filter = "over one that is read later", wrong = "a tensor that is read later may be overwritten" },
    { name = "check_region_rows", old = "written[tensor.name] == region_of[op]", new = "true",
      filter = "rows that are not stored", wrong = "rows of one block may be read in another region" },
  }

  of("gen/passes/checks/memory.lua", spec .. "passes/checks_spec.lua") {
    { name = "fused_unseen", old = "unstored[product] = product.arguments.c", new = "",
      filter = "sums on the stack", wrong = "sums that are on the stack only may be read" },
    { name = "arena_unused", old = "expect(used[name], ", new = "expect(true, ", filter = "and room for them",
      wrong = "the arena may have room that no step touches" },
  }

  of("gen/data/storage.lua", spec .. "passes/checks_spec.lua") {
    { name = "output_room", old = "elements = function(_, _, tensor) return words.elements(tensor.shape) end", new = "",
      filter = "without room",
      wrong = "an unwanted output whose first axis is the sequence has too few bytes" },
  }

  of("gen/passes/memory.lua", spec .. "passes/checks_spec.lua") {
    { name = "shared_rounds", old = "not inside or loop.shared and l.common", new = "not inside",
      filter = "different steps", wrong = "workers at different steps write the same bytes" },
  }

  of("gen/passes/emit.lua", spec .. "kernels/product_spec.lua") {
    { name = "tiles_kept", old = 'end) and "attn2c_leave_tiles" or "attn2c_leave"', new = 'end) and "attn2c_leave"',
      filter = "releases", wrong = "a call leaves its tiles configured" },
  }

  of("runtime/base/processor_x86_64.h", spec .. "whole/tiles_spec.lua") {
    { name = "tiles_refused", old = "return status == 0;", new = "return 1;", filter = "refuses tiles",
      wrong = "tiles are used without the system's permission" },
  }

  of("runtime/weights/weights.c", spec .. "whole/calibrate_spec.lua") {
    { name = "factors_of_others", old = "if (sum == model->factors[i].checksum) continue;", new = "continue;",
      wrong = "factors are taken for any weights" },
  }

  of("runtime/check/check_calls.c", "c:check") {
    { name = "check_alone", old = "if (count < 2 || number", new = "if (count < 3 || number",
      filter = "check/*", wrong = "no output of two is wanted without the other" },
    { name = "check_left_out", old = "count > 2 && count <= MOST_LEFT_OUT ? count : 0", new = "0 * MOST_LEFT_OUT",
      filter = "check/*", wrong = "no output of several is the only one that is not wanted" },
  }

  of("runtime/ops/round.h", spec .. "whole/precision_spec.lua") {
    { name = "round_cut", old = "bits + 0x7fffu + (bits >> 16 & 1)", new = "bits",
      filter = "padding, in bf16", wrong = "bf16 is cut, not rounded" },
  }

  of("runtime/ops/round.h", "c:quantise_base") {
    { name = "round_tiny", old = "(bits & 0x7f800000u ? number : bits & 0x80000000u)", new = "number",
      filter = "bf16/every*", wrong = "denormals are rounded, and are no zeros" },
  }

  of("runtime/ops/pairs.h", "c:quantise_base") {
    { name = "pairs_half", old = "BLOCK, BLOCK, ldx, ldy);", new = "BLOCK, BLOCK - 2, ldx, ldy);",
      filter = "pairs/*", wrong = "half blocks of columns lack their last pair" },
  }

  of("runtime/ops/quantise.h", "c:quantise_base") {
    { name = "tiny_rows", old = "wanted < ATTN2C_INT8_LEAST_SCALE ? ATTN2C_INT8_LEAST_SCALE : wanted",
      new = "wanted < ATTN2C_INT8_LEAST_SCALE / 4 ? ATTN2C_INT8_LEAST_SCALE / 4 : wanted", filter = "int8/*tiny*",
      wrong = "rows of tiny numbers depend on what counts as zero" },
  }

  of("runtime/ops/quads.h", "c:quads_base") {
    { name = "quads_padding", old = "scale[first + j] = wanted < ATTN2C_INT8_LEAST_SCALE", new = "scale[first + j] = 0",
      filter = "quads/columns*", wrong = "a column of zeros has no scale" },
    { name = "quads_nan", old = "sum < 1.0f ? 1.0f : sum", new = "sum >= 1.0f ? sum : 1.0f",
      filter = "quads/weights*", wrong = "a row of scores with NaN has finite weights" },
    { name = "quads_guard", old = 'own = __builtin_nanf(""), inverse = 0.0f;', new = "inverse = 0.0f;",
      filter = "quads/rows*", wrong = "a key whose values are not finite is an ordinary one" },
  }

  of("runtime/ops/kept.h", "c:kept_base") {
    { name = "kept_sum", old = "sum += (int32_t)(bits << 16) >> 16;", new = "sum += (int32_t)(bits & 0xffffu);",
      filter = "kept/scores_are*", wrong = "the sum of a row's integers has negative ones without their signs" },
    { name = "kept_rest", old = "(keys * attn2c_scale_rest(row))", new = "keys",
      filter = "kept/scores_of_tiny*", wrong = "a large scale of a query loses its factor" },
    { name = "kept_head", old = "total * attn2c_scale_head(row) * (keys * attn2c_scale_rest(row))",
      new = "total * (keys * row)", filter = "kept/scores_of_tiny*",
      wrong = "both scales are multiplied first, which gives denormals" },
    { name = "kept_zero", old = "(bits == 4 ? 15u : 128u)", new = "(bits == 4 ? 16u : 128u)",
      filter = "kept/scores_are*", wrong = "integers of 4 bits have another place of 0" },
    { name = "kept_odd", old = "from[j] * inverse - 0.5f;", new = "from[j] * inverse;", filter = "kept/rows*",
      wrong = "numbers become the odd integer above them" },
    { name = "kept_chunk", old = "attn2c_between(to - first, 0, ATTN2C_KEPT_KEYS)", new = "ATTN2C_KEPT_KEYS",
      filter = "kept/a_context*", wrong = "a repair reads keys after the last that a row sees" },
  }

  of("runtime/ops/hadamard.h", "c:kept_base") {
    { name = "hadamard_order", old = "to[i + half] = from[2 * i] - from[2 * i + 1];",
      new = "to[i + half] = from[2 * i + 1] - from[2 * i];", filter = "hadamard/*",
      wrong = "the matrix does not undo itself" },
  }

  of("runtime/check/tolerance.c", "c:tolerance") {
    { name = "tolerance_integers", old = "return (0.5 + 0x1p-7) * unit * others;",
      new = "return (0.5 + 0x1p-7) * unit * others * 2.1;", filter = "tolerance/scores_and*",
      wrong = "queries may be rounded to a bit less" },
    { name = "tolerance_hadamard", old = "(log2(attn2c_number(result->call->op, \"block\", 1)) + 3)",
      new = "(attn2c_number(result->call->op, \"block\", 1) + 3)", filter = "tolerance/hadamard*",
      wrong = "a sum of 8 numbers has more roundings" },
  }

  of("gen/data/steps_kept.lua", spec .. "passes/layout/state_parts_spec.lua") {
    { name = "kept_page", old = "{ c.page * (keys", new = "{ 2 * c.page * (keys",
      filter = "pages of integers", wrong = "nobody sees that pages that are twice as long leave the state" },
  }

  of("gen/passes/graph/attention.lua", spec .. "passes/graph/sources_spec.lua") {
    { name = "turned_back", old = "return v_scale and turned(self,", new = "return false and turned(self,",
      filter = "turn heads", wrong = "the context is not turned back" },
  }

  of("runtime/ops/vector.h", spec .. "whole/same_spec.lua") {
    { name = "sums_by_width", old = "s = (s + t) + (u + v);",
      new = "s = ATTN2C_LANES == 16 ? (s + t) + (u + v) : (s + u) + (t + v);", filter = "has the same bits on",
      wrong = "a row is added up by the width of a vector" },
  }

  of("runtime/check/check_spread.c", "c:check") {
    { name = "spread_of_all", old = "BEYOND = 2;", new = "BEYOND = 1e9;", filter = "check/an_op_is*",
      wrong = "an output beyond its limit is never wrong" },
  }

  of("runtime/check/check_judge.c", spec .. "whole/sources_spec.lua") {
    { name = "judge_spread", old = "  job->spread = spread;\n", new = "", filter = "errors of attention",
      wrong = "roundings are followed within the errors of usual models only" },
  }

  of("runtime/check/check.c", spec .. "whole/precision_spec.lua") {
    { name = "check_packed", old = "    attn2c_reference_packed(job->descriptor, number, job->weights);\n", new = "",
      filter = "padding, in bf16", wrong = "the reference has weights that are not rounded" },
  }
end
