-- products.lua: the part of list.lua that concerns kernels in C and panels that are one call. of and spec: as in
-- list.lua.
return function(of, spec)
  of("gen/kernels/strip.lua", spec .. "kernels/strip_spec.lua") {
    { name = "strip_name", old = 'shape.rows_held and "_held" or ""', new = '""',
      wrong = "another product decides which of two strips of one name a product has" },
    { name = "strip_load_cut", old = "v == self.shape.vectors - 1 and", new = "v == self.shape.vectors and",
      wrong = "the last vector of a row is read whole" },
    { name = "strip_row", old = '("x = %s;"):format(made(part.b, self:inputs(part, row, is_cut)))',
      new = '("x = %s;"):format(made(part.b, self:inputs(part, 0, is_cut)))', wrong = "all rows are the first" },
    { name = "strip_signs", old = "form.signs * self.group", new = "self.group", filter = "split panel",
      wrong = "the signs of a split panel are another output's sizes" },
    { name = "strip_at", old = "form.at, row, sum(row, 0))", new = "form.at, 0, sum(row, 0))",
      wrong = "all rows of one vector are the first" },
    { name = "strip_half", old = "shape.half and vector == shape.vectors - 1", new = "shape.half",
      wrong = "half of a vector that is wanted whole is multiplied" },
  }

  of("gen/kernels/writer.lua", spec .. "kernels/strip_spec.lua") {
    { name = "writer_least", old = "if row < self.least then", new = "if row <= self.least then",
      wrong = "a strip of few rows reads and stores one more" },
    { name = "writer_store_cut", old = '"%s(%s, %s, c_lanes);"', new = '"%s(%s, %s, a_lanes);"',
      wrong = "outputs are stored as far as A may be read" },
    { name = "writer_rows", old = '("if (rows > %d)"):format(row)', new = '("if (rows > %d)"):format(row + 1)',
      wrong = "the last row of a strip is left out" },
  }

  of("gen/kernels/open.lua", spec .. "kernels/product_spec.lua") {
    { name = "open_rest", old = "call(size, (\"(vectors - rest %% %d) * %d\"):format(2 * size, lanes))",
      new = "call(size, (\"(vectors - rest %% %d) * %d\"):format(size, lanes))",
      filter = "open outputs", wrong = "the last vectors are those after the last" },
  }

  of("gen/passes/checks/lower.lua", spec .. "passes/checks_spec.lua") {
    { name = "check_powers", old = "is_all and groups[i].size == 2 ^ (powers + 1 - i)", new = "is_all",
      filter = "open vectors", wrong = "groups whose sums are not all numbers of vectors pass" },
  }

  of("gen/common/c.lua", spec .. "common/c_spec.lua") {
    { name = "c_same_stride", old = "if size == 1 and stride > 0 then", new = "if size == 1 then",
      wrong = "the second of two symbols is added, not subtracted" },
  }

  of("gen/passes/kernels/names.lua", spec .. "passes/kernels_spec.lua") {
    { name = "names_different", old = "set[label] or values[label] ~= fact[2]", new = "set[label] or true",
      wrong = "names say what is the same in all functions" },
    { name = "names_numbers", old = "local number = (self.taken[name] or 0) + 1", new = "local number = 1",
      wrong = "two functions have one name" },
  }

  of("gen/commands/tune/alone.lua", spec .. "passes/common/tuning_spec.lua") {
    { name = "alone_block", old = "if block_of(product, each.choice) == block and (", new = "if (",
      filter = "a product by itself", wrong = "products of a region get different token blocks" },
    { name = "alone_region", old = "product.flops / (product.outputs * product.inputs * product.rows)",
      new = "1", filter = "a product by itself", wrong = "a block suits the region by the number of its products" },
    { name = "alone_same", old = "if not seen[text] then", new = "if true then", filter = "a product by itself",
      wrong = "candidates that make the same calls are timed twice" },
  }

  of("gen/commands/tune/shorter.lua", spec .. "commands/tune/shorter_spec.lua") {
    { name = "shorter_alike", old = "whole.count * few ~= product.count * all", new = "false",
      wrong = "layers that differ from each other stand for all" },
    { name = "shorter_cache", old = "math.ceil(CACHES * cache * layers / bytes)", new = "1",
      wrong = "the weights of few layers stay in the caches" },
  }

  of("gen/kernels/product.lua", spec .. "kernels/product_spec.lua") {
    { name = "product_tail", old = "count = 1, lanes = rest,",
      new = "count = 1, lanes = lanes,", wrong = "the last vector of a row of C is stored whole" },
    { name = "product_stride", old = "row * kernel.ldb, i(rows.size * kernel.ldb)",
      new = "row * kernel.ldb, i(rows.size * kernel.ldc)",
      wrong = "the second strip begins in another row of B" },
    { name = "product_room", old = 'kernel.a_room and "ATTN2C_LANES" or group.lanes', new = '"ATTN2C_LANES"',
      wrong = "rows of A without room are read past their end" },
    { name = "product_merged", old = "math.min(known.least, shape.rows)", new = "known.least",
      filter = "takes tall strips", wrong = "strips of fewer rows have the code of the most" },
    { name = "product_choice", old = 'cases[i] = ("  case %d: %s(%d, a', new = 'cases[i] = ("  case %d: %s(%d + 1, a',
      filter = "takes tall strips", wrong = "a strip computes a row too many" },
    { name = "product_ahead_strips", old = "i(each_row * step)", new = "i(step)",
      filter = "every line of the panel", wrong = "strips of several groups ask for the same lines" },
    { name = "product_ahead_kinds", old = "+ (calls + done) * step", new = "+ done * step",
      filter = "every line of the panel", wrong = "strips of fewer rows ask for what the first ones asked for" },
  }

  of("gen/passes/kernels/panel_loops.lua", spec .. "passes/kernels/panel_loops_spec.lua") {
    { name = "panel_loop_written", old = 'of.is_written or operand.access ~= "r"', new = "of.is_written",
      wrong = "a function of panels takes what it writes as constant" },
    { name = "panel_loop_buffer", old = " and operands.same_buffer(parameter.operand, operand.operand)", new = "",
      wrong = "operands of all buffers are reached by one pointer" },
  }

  of("gen/passes/kernels/shared.lua", spec .. "passes/kernels/shared_spec.lua") {
    { name = "shared_low", old = "base.low = math.min(base.low, place.low)", new = "base.low = place.low",
      filter = "do what each does", wrong = "places before the base's first one are reached from it" },
    { name = "shared_moves", old = "local key = place.class .. table.concat(moves, \" \")",
      new = "local key = place.class", filter = "do what each does", wrong = "all places of a class have one base" },
  }

  of("gen/passes/lower/head_loops.lua", spec .. "passes/lower/head_loops_spec.lua") {
    { name = "head_loops_group", old = "offset_of(0) + i * of_head + i // group * of_group", new = "offset_of(i)",
      filter = "is none", wrong = "places that are not equal distances apart are" },
    { name = "head_loops_constants", old = "step.kernel ~= other.kernel or step.constants ~= other.constants",
      new = "step.kernel ~= other.kernel", filter = "is none",
      wrong = "heads with other constants are alike" },
  }

  of("gen/passes/plan/kinds.lua", spec .. "passes/kernels/shared_spec.lua") {
    { name = "kinds_all", old = "if not first[key] then", new = "if true then",
      filter = "do what each does by itself: many", wrong = "no region is like another one" },
  }

  of("gen/passes/kernels/stretches.lua", spec .. "passes/kernels/shared_spec.lua") {
    { name = "stretches_stocks", old = "if first and first ~= base then return false end", new = "first = base",
      filter = "stretches of layers", wrong = "weights to prefetch that move otherwise are counted from one base" },
  }

  of("gen/passes/checks/beside.lua", spec .. "passes/checks/beside_spec.lua") {
    { name = "beside_next", old = "spans[i + 1] and spans[i + 1].first < span.stop or false", new = "false",
      filter = "are known", wrong = "a buffer below another one that has some of its bytes is apart" },
  }

  of("gen/passes/checks/repeated.lua", spec .. "passes/checks/repeated_spec.lua") {
    { name = "repeated_place", old = "local place = self.is_beside[name] and program.offsets[name] or \"apart\"",
      new = "local place = \"apart\"", filter = "are checked", wrong = "layers with other places in memory are alike" },
    { name = "repeated_offset", old = "self:part(operand.offset)", new = "",
      filter = "are checked", wrong = "layers with other places in a buffer are alike" },
    { name = "repeated_bytes", old = "(\"%s %s %s %s\"):format(buffer.bytes, buffer.pitch",
      new = "(\"%s %s %s %s\"):format(\"\", buffer.pitch", filter = "are checked",
      wrong = "layers with buffers of other sizes are alike" },
    { name = "repeated_one", old = "(stop - from - 2 * group) // group * group", new = "0", filter = "are left out",
      wrong = "no layer is left out" },
  }

  of("gen/passes/checks/shared.lua", spec .. "passes/kernels/shared_spec.lua") {
    { name = "check_shared_place", old = "(base and base.moves[number] or 0) == place_of(own)",
      new = "(base and base.moves[number] or 0) >= 0", filter = "the checker", wrong = "any base is taken" },
  }

  of("gen/passes/memory.lua", spec .. "passes/checks_spec.lua") {
    { name = "memory_layers_meet", old = "if of and is_free(of, item.spans[1]) then", new = "if of then",
      filter = "workers are at different steps", wrong = "tensors of layers that are live together share memory" },
  }

  of("gen/passes/lower/panel_loops.lua", spec .. "passes/lower/panel_loops_spec.lua") {
    { name = "panel_loop_distance", old = "distance == number * operand.each", new = "true",
      filter = "a distance differs", wrong = "panels at unequal distances are a loop" },
    { name = "panel_loop_value", old = "or operand.is_value ", new = "", filter = "known to the call",
      wrong = "a loop moves an integer that only a call knows" },
    { name = "panel_loop_kernel", old = " or step.kernel ~= other.kernel", new = "", filter = "a call, a buffer",
      wrong = "products of two kernels are one loop" },
    { name = "panel_loop_unit", old = "(is_whole and 0 or stop - number - 1)", new = "0",
      filter = "are one loop", wrong = "the panels of a loop are one unit" },
  }

  of("gen/passes/common/panel_loops.lua", spec .. "passes/common/panel_loops_spec.lua") {
    { name = "panel_loop_part", old = "operand.offset + number * stride", new = "operand.offset",
      wrong = "each part of a loop begins with its first panel" },
    { name = "panel_loop_single", old = "if is_single then terms.panel = nil end", new = "",
      filter = "ordinary step", wrong = "a part of one panel still moves" },
  }

  of("gen/passes/checks/flow.lua", spec .. "passes/checks_spec.lua") {
    { name = "flow_first_panel", old = "{ { 0, 1 }, { 1, panels.count - 1 } }", new = "{ { 0, panels.count } }",
      filter = "overwrites what the next one reads", wrong = "what a panel does to the next is not seen" },
  }

  of("gen/data/operands.lua", spec .. "passes/checks_spec.lua") {
    { name = "panel_loop_walk", old = "if panels then touch", new = "if false then touch",
      filter = "of a panel loop", wrong = "a walk sees the first panel of a loop" },
  }

  of("gen/passes/emit/panel_loops.lua", spec .. "passes/kernels/panel_loops_spec.lua") {
    { name = "panel_loop_first", old = "c.plus(parameter.name, types.elements(operand.offset, parameter.type))",
      new = "parameter.name", filter = "makes the calls", wrong = "each operand is the first of its buffer" },
    { name = "panel_loop_panel", old = "panel < %d; panel++) {\"):format(each.count)",
      new = "panel < %d; panel++) {\"):format(each.count - 1)", filter = "makes the calls",
      wrong = "the last panel is left out" },
  }

  of("gen/passes/emit/steps.lua", spec .. "passes/kernels/panel_loops_spec.lua") {
    { name = "panel_loop_remark", old = "names_between(addresses.in_order, from, upto, step.arguments.a.buffer)",
      new = "names_between(addresses.in_order, from, upto)", filter = "remark",
      wrong = "a call says that it prefetches the weight that it reads" },
  }

  of("gen/passes/plan/registers.lua", spec .. "passes/plan/registers_spec.lua") {
    { name = "registers_one", old = "local rows = (free - 1 - vectors * form.factors) // vectors",
      new = "local rows = (free - vectors * form.factors) // vectors",
      wrong = "a float of B has no register" },
    { name = "registers_held", old = "(free - form.factors - (steps < UNROLLED and 1 or 0)) // (vectors + 1)",
      new = "(free + vectors) // (vectors + 1)",
      wrong = "a row more than fits is held" },
    { name = "registers_fma", old = "local product = target.has_fma and 0 or 1", new = "local product = 0",
      wrong = "a product that is yet to be added has no register" },
    { name = "registers_cut", old = "(is_cut and target.cut_registers or 0)", new = "0",
      wrong = "the mask of a cut row has no register" },
    { name = "registers_few", old = "(sums < form.few and 1 or 0)", new = "0", filter = "few sums only",
      wrong = "strips with too few sums for the latency of one are taken" },
    { name = "registers_unrolled", old = "(steps < UNROLLED and 1 or 0)", new = "0", filter = "few sums only",
      wrong = "a loop that is unrolled has a register too few" },
    { name = "registers_powers", old = "while size < most do", new = "while size < most // 2 do",
      filter = "open outputs", wrong = "some numbers of vectors are no sum of groups" },
    { name = "registers_tall", old = "math.min(most, 2 * strips.usual)", new = "2 * strips.usual",
      filter = "panel of open rows", wrong = "tall strips have more rows than a strip may have" },
    { name = "registers_tall_narrow", old = "or group.size < 3 or", new = "or group.size < 2 or",
      filter = "panel of open rows", wrong = "panels of two vectors have tall strips, which gain nothing" },
    { name = "registers_tall_few", old = "or above < forms.all[strips.form].latency then", new = "then",
      filter = "panel of open rows", wrong = "tall strips of few rows wait for their sums" },
    { name = "registers_shares", old = "count = number - larger, size = size }",
      new = "count = number - larger, size = size + 1 }", wrong = "all shares are as large as the first" },
  }
end
