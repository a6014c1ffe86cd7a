-- continued.lua: the part of list.lua that concerns calls that go on from those before. of and spec: as in list.lua.
return function(of, spec)
  of("runtime/model/continue.c", "c:continue") {
    { name = "continue_twice", old = "seen[sequence]++ || tokens", new = "seen[sequence] || tokens",
      filter = "carry_on/refuses_two*",
      wrong = "a sequence takes two tokens in one place" },
    { name = "continue_end", old = "tokens > of->symbols[0].most - e->context->positions[sequence]",
      new = "tokens > of->symbols[0].most", filter = "carry_on/refuses_tokens*",
      wrong = "tokens are written after the end of a state" },
    { name = "continue_full", old = "is_full = is_full || tokens >", new = "is_full = tokens >",
      filter = "carry_on/refuses_tokens*", wrong = "only the last sequence of a call is asked for room" },
    { name = "continue_ids", old = ": check_ids(e->context, e->ids, e->first[e->count]);",
      new = ": ((void)check_ids, ATTN2C_OK);", filter = "carry_on/refuses_ids*",
      wrong = "a token may be none of the vocabulary" },
    { name = "continue_position", old = "e->context->positions[e->sequences[i]] += (int32_t)e->done[i];",
      new = "e->context->positions[e->sequences[i]] = (int32_t)e->done[i];", filter = "carry_on/logits_do*",
      wrong = "a second chunk takes the place of the first" },
    { name = "continue_wanted", old = "head, e->last[head] - 1);", new = "head, 0);",
      filter = "carry_on/stays*", wrong = "all logits of a call are written where one token's have room" },
    { name = "continue_head", old = "if (status == ATTN2C_OK && head > 0) {", new = "if (0) {",
      filter = "carry_on/several*", wrong = "the logits of a prompt beside tokens are another sequence's" },
    { name = "continue_evenly", old = "(e->first[e->count] - 1) % call_rows + 1", new = "call_rows",
      filter = "carry_on/a_prompt_shares*", wrong = "a first call is not full, and a mixture takes a call more" },
    { name = "continue_some", old = "is_wanted = is_wanted || output_of(e, i);",
      new = "is_wanted = output_of(e, i) != NULL;", filter = "carry_on/whole*",
      wrong = "no output is computed if the last is not wanted" },
    { name = "continue_anew", old = "count - done < of->sequences ? count - done : of->sequences",
      new = "count - done",
      filter = "carry_on/whole*", wrong = "a call has more sequences than a state" },
    { name = "continue_prepared", old = "return of && context->open ? of : NULL;", new = "return of;",
      filter = "carry_on/refuses_a_context*", wrong = "a context without room for a call's outputs is used" },
  }

  of("runtime/model/state.c", "c:continue") {
    { name = "copy_first", old = "const int64_t first = same > 0 ? same : 0;", new = "const int64_t first = 0 * same;",
      filter = "carry_on/a_copy_leaves*", wrong = "pages that both have are copied" },
    { name = "copy_moved", old = "part->window >= 0 && what->moved[part->window] ? 0 :", new = "",
      filter = "carry_on/keeps_the_keys*", wrong = "pages of a window that is elsewhere are not copied" },
    { name = "copy_source", old = "part->grows_with > 0 ? 0 : what->tokens", new = "what->tokens",
      filter = "carry_on/keeps_the_keys*", wrong = "the keys of a source are copied" },
    { name = "state_back", old = "position - of->call_rows", new = "position", filter = "carry_on/goes_back*",
      wrong = "a window forgets keys that a rewind by a call goes back to" },
  }

  of("runtime/model/state.c", "c:saved") {
    { name = "copy_group", old = "end += (ATTN2C_KEY_GROUP - end % ATTN2C_KEY_GROUP) % ATTN2C_KEY_GROUP;", new = "",
      filter = "state/a_copy*", wrong = "a copy lacks the partner of its last key" },
    { name = "copy_aligned", old = "first -= first % ATTN2C_KEY_GROUP;", new = "", filter = "state/a_copy*",
      wrong = "a copy begins within a group of keys" },
    { name = "copy_turned", old = "memcpy(to + at, from + at, (size_t)((end - first) * unit));",
      new = "memcpy(to + at, from + at, (size_t)(end * unit));", filter = "state/a_copy*",
      wrong = "more keys than are asked for are copied" },
    { name = "copy_whole", old = "first = last * page;", new = "first = (last + 1) * page;", filter = "state/a_copy*",
      wrong = "a copy lacks the page after whole ones" },
  }

  of("runtime/model/saved.c", "c:saved") {
    { name = "saved_symbol", old = "has->grown[kept->grows_with] - (", new = "has->grown[0] - (",
      filter = "saved/the_keys*", wrong = "a file has a key of a source for each token" },
    { name = "saved_symbol_most", old = "if (has->grown[i] > of->symbols[i].most) return 0;", new = "",
      filter = "saved/the_keys*", wrong = "more keys of a source are loaded than a state has room for" },
    { name = "saved_weights", old = "attn2c_put_number(header, AT_WEIGHTS, attn2c_weights_checksum(model));",
      new = "", filter = "saved/one_of_other*", wrong = "a state goes with any weights" },
    { name = "saved_data", old = "sum_of(of, &has, data) != attn2c_number_at(header, AT_DATA)",
      new = "sum_of(of, &has, data) == 0", filter = "saved/a_damaged*", wrong = "damaged keys are loaded" },
    { name = "saved_others", old = "    memcpy(to + i, from + i, sizeof(float) / 2);",
      new = "    memcpy(to + i, from + i, sizeof(float));", filter = "saved/a_sequence*",
      wrong = "a file has a value of a token that was taken back" },
    { name = "saved_forgotten", old = "has->grown[0] - forgotten > of->windows[i].keys", new = "0",
      filter = "saved/what_a*", wrong = "a window's keys are loaded beyond its room" },
  }

  of("gen/passes/emit/descriptor.lua", spec .. "whole/two_entries_spec.lua") {
    { name = "growth_of_others", old = "braces(tensor.growth or { 0 })", new = "braces(tensor.growth)",
      filter = "any",
      wrong = "the tensors of another entry have no row in the table of growth" },
  }

  of("gen/passes/validate/symbols.lua", spec .. "passes/validate/symbols_spec.lua") {
    { name = "symbols_past", old = "spec.context and spec.seq - 1 or 0", new = "0", filter = "continues",
      wrong = "a call of a model that continues comes before all others" },
  }

  of("gen/passes/layout/state_parts.lua", spec .. "passes/layout/state_parts_spec.lua") {
    { name = "parts_symbol", old = "grows_with = of.grows_with,", new = 'grows_with = "tokens",',
      wrong = "the keys of a source grow with tokens" },
    { name = "parts_writer", old = "if part then part.writer = state.name end",
      new = "if part then part.writer = part.writer or build.entries[#build.entries].name end",
      wrong = "the entry that reads a part is taken for the one that writes it" },
  }

  of("gen/passes/validate/values.lua", spec .. "passes/validate_spec.lua") {
    { name = "values_nan", old = "or value ~= value or value < field.min", new = "or value < field.min",
      wrong = "NaN is a number in every range" },
    { name = "values_required", old = "elseif field.required then", new = "elseif false then",
      suite = spec .. "passes/validate/memory_spec.lua", wrong = "a field that must be given may be missing" },
  }

  of("gen/passes/validate/context.lua", spec .. "passes/validate/context_spec.lua") {
    { name = "context_after", old = "mask.window and mask.window.right == 0", new = "mask.window",
      filter = "is refused with: mask", wrong = "a token may see keys that come only later" },
    { name = "context_rows", old = "math.max(spec.chunk, spec.sequences)", new = "spec.chunk",
      filter = "has calls of at most", wrong = "a call has fewer rows than there are sequences" },
  }

  of("gen/data/loops.lua", spec .. "whole/continued_spec.lua") {
    { name = "loops_past", old = 'step.continues and "at.position + n->past[at.sequence]" or "at.position"',
      new = '"at.position"', filter = "learned", wrong = "positions begin anew in each call" },
  }

  of("gen/passes/lower/keys.lua", spec .. "whole/continued_spec.lua") {
    { name = "keys_into", old = "to.terms.into = types.bytes(place.each_added(storage), storage.type)",
      new = "to.terms.into = 0", filter = "learned", wrong = "rows that are added are the first of a page" },
  }

  of("runtime/check/check_judge.c", spec .. "whole/continued_spec.lua") {
    { name = "judge_kept_size", old = "tolerance.absolute *=", new = "tolerance.absolute +=",
      filter = "strong attention",
      wrong = "any kept value passes that is no further off than the values are large" },
    { name = "judge_kept_trial", old = "i < job->entry->output_count; i++) tolerances[i].allowed",
      new = "i < job->entry->output_count - job->kept_outputs; i++) tolerances[i].allowed",
      filter = "strong attention",
      wrong = "right keys fail if attention amplifies rounding" },
  }

  of("runtime/check/check_continued.c", spec .. "whole/continued_spec.lua") {
    { name = "continued_kept", old = "tensor == own) read_kept(s,", new = "tensor == own && own < 0) read_kept(s,",
      filter = "strong attention", wrong = "what the state keeps is not compared" },
  }
end
