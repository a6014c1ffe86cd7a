-- sources.lua: the part of list.lua that concerns encoders beside decoders that go on. of and spec: as in list.lua.
return function(of, spec)
  of("runtime/model/encode.c", "c:encode") {
    { name = "encode_twice", old = "seen[sequence]++)", new = "seen[sequence])", filter = "encode/a_call*",
      wrong = "two sources of a call are read into one sequence" },
    { name = "encode_sequences", old = "sequence >= model->continued->sequences",
      new = "sequence > model->continued->sequences", filter = "encode/a_call*",
      wrong = "a source is written after the last sequence" },
    { name = "encode_integers", old = "if (status == ATTN2C_OK) status = verify_integers(&d);",
      new = "(void)verify_integers;", filter = "encode/an_integer*",
      wrong = "ids of a source may be out of range" },
    { name = "encode_all_rows", old = "all.rows += attn2c_rows_of(d, i)", new = "all.rows = attn2c_rows_of(d, i)",
      filter = "encode/an_integer*", wrong = "only the ids of some sources are checked" },
    { name = "encode_lengths", old = "attn2c_rows_of(&d, i));", new = "attn2c_rows_of(&d, 0));",
      filter = "encode/reads*", wrong = "all sources have the length of the first" },
    { name = "encode_adapters", old = "given ? given[i] :", new = "0 ? given[i] :", filter = "encode/reads_a_source*",
      wrong = "a source is not read with the adapter that a call gives" },
  }

  of("runtime/model/continue.c", "c:encode") {
    { name = "adapter_source", old = "if (source) *attn2c_state_grown(context, source, sequence) = 0;",
      new = "(void)source;", filter = "encode/reads_a_source*",
      wrong = "a sequence keeps a source that another adapter has read" },
    { name = "adapter_whole", old = "if (!has_source(context, i) || is_other)", new = "if (!has_source(context, i))",
      filter = "encode/reads_a_source*", wrong = "whole sequences have another adapter than their source" },
  }

  of("runtime/base/descriptor.c", "c:encode") {
    { name = "encode_after_adapted", old = "model->entries + (model->adapters ? 1 : 0)", new = "model->entries",
      filter = "encode/reads_a_source*", wrong = "the entry with adapters stands for the one that reads sources" },
  }

  of("runtime/check/check_nan.c", spec .. "whole/sources_spec.lua") {
    { name = "nan_kept", old = "if (strcmp(op->op, \"keep\") != 0) continue;", new = "if (op->op) continue;",
      filter = "by both variants", wrong = "a NaN in keys of a source is not compared with the reference's" },
    { name = "nan_state", old = "if (part->grows_with != of->source) continue;",
      new = "if (part->page_floats > 0) continue;", filter = "by the shipped variant",
      wrong = "the shipped variant may lose a NaN of a source" },
  }

  of("runtime/program/text/sentences.c", "c:sentences") {
    { name = "sentences_small", old = "next > at && !is_small(text[next])", new = "next > at",
      filter = "sentences/end_with_a_mark*", wrong = "a sentence ends before a small letter" },
    { name = "sentences_closers", old = "while ((bytes = one_of(closers", new = "if ((bytes = one_of(closers",
      filter = "sentences/have*", wrong = "a bracket after a quote begins a sentence" },
    { name = "sentences_wide", old = "is_wide || next == length", new = "next == length",
      filter = "sentences/of_chinese*",
      wrong = "marks without a blank after them end nothing" },
    { name = "sentences_initial", old = "if (length - begin == 1) return 1;", new = "", filter = "sentences/go_on*",
      wrong = "an initial ends a sentence" },
    { name = "sentences_letters", old = ">= 0x80) return 0;", new = ">= 0x80) return 1;", filter = "sentences/go_on*",
      wrong = "a word that ends with an accent ends no sentence" },
  }

  local translations = spec .. "whole/translations_spec.lua"
  of("runtime/program/generate/command.c", translations) {
    { name = "command_joined_gap", old = "  w->gap = r->gap;\n", new = "", filter = "split sentences",
      wrong = "a text with sentences has no end" },
    { name = "command_empty", old = "if (prompt->is_empty) return", new = "if (0) return", filter = "is refused",
      wrong = "an empty source is read" },
  }

  of("runtime/program/generate/usage.c", spec .. "whole/captions_spec.lua") {
    { name = "usage_kinds", old = "return !encode || model->tensors[encode->inputs[0]].type == ATTN2C_I32;",
      new = "return !encode || encode->input_count > 0;", filter = "refuses in one line",
      wrong = "a model of pictures asks for texts" },
  }

  of("runtime/program/text/generate_side.c", translations) {
    { name = "generate_written", old = "made->written ? made->written : made->tokenizer", new = "made->tokenizer",
      filter = "marian_separate", wrong = "answers are written with the vocabulary of sources" },
  }

  of("runtime/generate/answers.c", translations) {
    { name = "answers_sources", old = "b->logits + (size_t)i * (size_t)calls->vocabulary", new = "b->logits",
      filter = "transformers': pegasus", wrong = "answers to sources that are read together begin alike" },
  }

  of("gen/passes/graph/attention.lua", spec .. "passes/graph/attention_spec.lua") {
    { name = "attention_by_layer", old = "spec.t5_by_layer and distances(self, path",
      new = "false and distances(self, path",
      filter = "of T5 are one table", wrong = "layers of umT5 have no distances" },
    { name = "attention_gated", old = "spec.position_gate and a.distances and gates(self, a, x) or nil", new = "nil",
      filter = "of T5 are one table", wrong = "distances of WavLM have no gate" },
  }

  of("gen/checkpoints/generation.lua", spec .. "checkpoints/generation_spec.lua") {
    { name = "generation_lengths", old = "least > most then", new = "least < most then", filter = "greatest length",
      wrong = "no line says that answers end before the least tokens" },
  }

  of("runtime/model/continue.c", "c:encode") {
    { name = "continue_source", old = "if (is_missing) return ATTN2C_USAGE;", new = "(void)is_missing;",
      filter = "encode/tokens*", wrong = "tokens read a source that is not there" },
    { name = "continue_whole_source", old = "if (!has_source(context, i) || is_other)", new = "if (is_other)",
      filter = "encode/tokens*", wrong = "a refused call of whole sequences forgets the context's" },
    { name = "continue_few_sources", old = "if (of->source && count > of->sequences) return ATTN2C_USAGE;", new = "",
      filter = "encode/whole*", wrong = "a sequence without a place of its own reads another one's source" },
    { name = "continue_own_source", old = "attn2c_state_grown(context, of_source, slot[n.count])",
      new = "attn2c_state_grown(context, of_source, slot[0])", filter = "encode/whole*",
      wrong = "all sequences of a call have the first one's number of keys of a source" },
  }

  of("runtime/model/state.c", "c:encode") {
    { name = "state_begin", old = "*attn2c_state_grown(context, 0, sequence) = 0;", new = "",
      filter = "encode/another*", wrong = "tokens stay when their source goes" },
    { name = "state_origins", old = "is_read[own]++ ? -1 : own", new = "own", filter = "encode/copies*",
      wrong = "the sources of a call are written to one place" },
    { name = "state_read", old = "if (!is_new) is_read[", new = "if (is_new) is_read[", filter = "encode/copies*",
      wrong = "a new source is written over that of another sequence" },
    { name = "state_shared", old = "context->origins[to] = context->origins[from];", new = "",
      filter = "encode/copies*", wrong = "a copy of a sequence reads another source" },
  }

  of("runtime/model/sequences.c", "c:encode") {
    { name = "sequences_slots", old = "d->slots ? d->slots + at.sequences : NULL", new = "d->slots",
      filter = "encode/a_division*", wrong = "the sources of a second call take the places of the first" },
  }

  of("runtime/base/descriptor.c", "c:encode") {
    { name = "lengths_of_sources", old = "return model->continued->source_lengths;", new = "return model->lengths;",
      filter = "encode/reads*", wrong = "sources are as long as sequences of tokens" },
  }

  of("gen/passes/validate/encoders.lua", spec .. "passes/validate/encoders_spec.lua") {
    { name = "encoders_least", old = "most < 2", new = "most < 1", filter = "takes any",
      wrong = "a source has one row at most, and nothing shows how tensors grow" },
    { name = "encoders_one", old = "if not is_open then encode.least = encode.seq end", new = "",
      filter = "reads pictures", wrong = "a picture may have fewer rows than it has" },
    { name = "encoders_ranks", old = "if (spec.stages or 1) > 1 then", new = "if false then", filter = "ranks",
      wrong = "a stage reads keys that another one keeps" },
    { name = "encoders_head_mask", old = 'if encoder.head_mask.kind ~= "none" then', new = "if false then",
      filter = "factors", wrong = "an encoder has factors of heads, which no call of it gives" },
    { name = "encoders_twice", old = 'not shared[key:match("^[^.]+")] and say(', new = "say(",
      filter = "number of sequences",
      wrong = "the model's own keys are reported for its encoder, too" },
    { name = "encoders_rows", old = "encode.call_rows = encode.seq", new = "encode.call_rows = spec.call_rows",
      filter = "an entry of its own", wrong = "a call of sources has the rows of a call of tokens" },
  }

  of("gen/passes/graph/growth.lua", spec .. "passes/graph/growth_spec.lua") {
    { name = "growth_unit", old = "more // rows * unit", new = "more // rows", filter = "of a source",
      wrong = "what grows with a source grows with the tokens" },
  }

  of("gen/passes/graph/builder.lua", spec .. "passes/graph/sources_spec.lua") {
    { name = "names_of_all", old = "table.move(each.weights, 1, #each.weights, #weights + 1, weights)",
      new = "weights = each.weights", filter = "take names",
      wrong = "a wrong name is compared with names of only one of the stacks" },
    { name = "products_of_all", old = "for path in pairs(each.products) do products[path] = true end",
      new = "products = each.products", filter = "take names",
      wrong = "types of the decoder's weights are refused, as its encoder has none of them" },
  }

  of("gen/passes/checks/instance.lua", spec .. "passes/checks/sources_spec.lua") {
    { name = "instance_sources", old = "origins[i] % 2 == 1 and longest or source.least", new = "source.least",
      filter = "is larger", wrong = "programs are checked only for the shortest sources" },
  }

  of("gen/data/loops.lua", spec .. "passes/checks/sources_spec.lua") {
    { name = "loops_source", old = "step.of_source and call.source[i] or", new = "",
      filter = "of a source", wrong = "the checkers take the keys of a source for the tokens' keys" },
  }

  of("gen/data/loops.lua", spec .. "data/loops_spec.lua") {
    { name = "loops_origin", old = 'step.of_source and "n->origin[sequence]" or', new = "",
      filter = "place of a source", wrong = "a copy of a sequence reads the place of its own, where no source is" },
  }

  of("gen/passes/layout.lua", spec .. "passes/layout_spec.lua") {
    { name = "layout_one_place", old = "if i < #larger then note_contents(state) end",
      new = "state.weights.of_contents = {}", filter = "one place",
      wrong = "what an encoder and a decoder share is packed twice" },
    { name = "layout_home", old = "if tbl.state == other.state and not own.home[name] then", new = "if false then",
      filter = "tied to it", wrong = "a tied table has the vocabulary's panels, but a place of its own" },
  }

  of("gen/passes/common/same_numbers.lua", spec .. "passes/common/same_numbers_spec.lua") {
    { name = "same_types", old = "return a.type == b.type and", new = "return", filter = "same bytes",
      wrong = "a table of f32 is read from panels of int8" },
    { name = "same_names", old = "return { found.copy_of }", new = "return { stored.names[1] }",
      filter = "same names", wrong = "the first of several names counts, whether the checkpoint has it or not" },
    { name = "same_order", old = "or not (is_in_order(a) and is_in_order(b))", new = "", filter = "place and order",
      wrong = "rows are read from columns in another order" },
  }

  of("gen/passes/sizes.lua", spec .. "passes/sizes_spec.lua") {
    { name = "sizes_tied", old = "tied = tied or is_one", new = "tied = false", filter = "become words of parts",
      wrong = "a tied table has another type than the vocabulary" },
  }

  of("gen/data/steps_tables.lua", spec .. "data/steps_spec.lua") {
    { name = "tables_tail", old = "if c.ids >= tails then", new = "if false then", filter = "bodies touch",
      wrong = "a row of a last, narrow panel is beyond the table" },
  }

  of("runtime/ops/table.h", "c:rowops_rows_base") {
    { name = "table_tail", old = "if (of.tail == 0 || id < tails)", new = "if (1)", filter = "tables/panels",
      wrong = "rows of a narrow last panel are looked up as in a wide one" },
  }

  of("gen/passes/emit/descriptor.lua", spec .. "passes/emit/sources_spec.lua") {
    { name = "descriptor_names", old = "return not words.set(other.from.stored[number].names)[name] end)",
      new = "return false end)", filter = "several uses", wrong = "a name of one use is looked for by all" },
    { name = "descriptor_source", old = "source = number_of.source or 0", new = "source = 0",
      filter = "sizes of its calls", wrong = "a model with an encoder has no call that reads sources" },
  }
end
