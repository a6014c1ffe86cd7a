-- measure.lua: the part of list.lua that concerns measurements: statistics, levels of memory, a model's bound, the
-- work of calls. of: as in list.lua.
return function(of)
  of("runtime/measure/timing.c", "c:bench") {
    { name = "timing_quantile", old = "part * (count - 1)", new = "part * count", filter = "bench/percentiles*",
      wrong = "a percentile is between the samples after it" },
    { name = "timing_deviation", old = "squares / (count - 1)", new = "squares / count", filter = "bench/spread*",
      wrong = "a deviation is that of all calls, not of samples" },
    { name = "timing_median", old = "0.5 * (samples[count / 2 - 1] + samples[count / 2])", new = "samples[count / 2]",
      filter = "bench/spread*", wrong = "the median of an even number of samples is the larger one" },
  }

  of("runtime/measure/levels.c", "c:levels") {
    { name = "levels_unit", old = "*end == 'M' ? 20", new = "*end == 'M' ? 10", filter = "levels/sizes*",
      wrong = "megabytes are kilobytes" },
    { name = "levels_walk", old = "i * 1664525u", new = "i * 1664527u", filter = "levels/a_walk_visits*",
      wrong = "a walk visits some lines several times, and others never" },
    { name = "levels_code", old = 'strncmp(type, "Instruction", 11) != 0', new = "1", filter = "levels/caches*",
      wrong = "a cache of instructions is one of data" },
    { name = "levels_memory", old = "|| sample > memory_bytes ", new = "", filter = "levels/caches*",
      wrong = "a sample is larger than the memory that is allowed" },
  }

  of("runtime/measure/bound.c", "c:bound") {
    { name = "bound_calls", old = "1e-3 * to->calls * to->microseconds", new = "1e-3 * to->microseconds",
      filter = "bound/adds*", wrong = "a part counts once that is called several times" },
    { name = "bound_flops", old = "2.0 * p->product->outputs", new = "1.0 * p->product->outputs",
      filter = "bound/adds*", wrong = "a product has half its operations" },
  }

  of("runtime/measure/bound_product.c", "c:bound") {
    { name = "bound_tail", old = ".beta = call != FIRST", new = ".beta = 0", filter = "bound/tiled*",
      wrong = "a block of inputs replaces the sum of those before it" },
    { name = "bound_rows", old = "row += x->candidate->blocks[block].rows", new = "row += 0", filter = "bound/tiled*",
      wrong = "blocks of rows are written over each other" },
    { name = "bound_round", old = "if (at + floats > setting->weight_floats) at = 0;", new = "",
      filter = "bound/a_product_goes*", wrong = "a product reads beyond the weights" },
    { name = "bound_own", old = "setting->position += product->own_floats;", new = "", filter = "bound/a_product_has*",
      wrong = "a product with kernels of its own reads the same weights again and again" },
  }

  of("runtime/measure/parts.c", "c:team") {
    { name = "parts_phase", old = "of->first + (int)phase", new = "(int)phase", filter = "team/records*",
      wrong = "phases of a second run have the numbers of the first" },
    { name = "parts_thread", old = "number - 1, begin, end", new = "number, begin, end", filter = "team/records*",
      wrong = "the caller is thread 1" },
  }

  of("runtime/measure/work.c", "c:work") {
    { name = "work_left", old = "left >= 0 && i > left ?", new = "left >= 0 && i > 99 ?",
      filter = "work/goes*", wrong = "a window on earlier tokens leaves all of them" },
    { name = "work_right", old = "right >= 0 && i + right < length", new = "right > 99 && i + right < length",
      filter = "work/goes*", wrong = "a window on later tokens leaves all of them" },
    { name = "work_past", old = "(past > 0 ? attn2c_op_work(model, op, past) : 0.0)", new = "0.0",
      filter = "work/of_more*", wrong = "a token does the work of those before it again" },
    { name = "work_rows", old = "return rows < all ? rows : all;", new = "return rows;", filter = "work/reads_weights*",
      wrong = "more rows of a table are read than it has" },
    { name = "work_experts", old = "(double)made->shape[made->rank - 1]", new = "(double)made->shape[0]",
      filter = "work/reads_the_experts*", wrong = "a token reads one row of the experts' weights" },
    { name = "work_kept", old = "left >= 0 && left + 1 < keys", new = "left > 99 && left + 1 < keys",
      filter = "work/reads_the*", wrong = "a token reads keys that its window hides" },
  }
end
