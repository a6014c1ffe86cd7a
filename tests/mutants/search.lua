-- search.lua: the part of list.lua that concerns adapters and models for searching. of and spec: as in list.lua.
return function(of, spec)
  of("gen/checkpoints/reordered.lua", spec .. "checkpoints/adapter_spec.lua") {
    { name = "reordered_rows", old = "order.rows[file] = row_of[row]", new = "order.rows[file] = file ~ 1",
      filter = "halves of heads", wrong = "rows of an adapter keep the model's order" },
  }

  of("runtime/model/text/page.c", spec .. "whole/pages_spec.lua") {
    { name = "page_words", old = "if (to->length) to->joined[to->length++] = ' ', joined++;", new = "",
      filter = "by words: page", wrong = "words of a page become one" },
    { name = "page_empty", old = "word->joined.byte_end < at->byte_end",
      new = "word->joined.byte_end <= at->byte_begin", filter = "in Python",
      wrong = "a piece with an empty place has the next word's box" },
  }
  of("runtime/program/serve/text/work.c", spec .. "whole/pages_spec.lua") {
    { name = "page_served", old = "const char *exact = attn2c_reader_exact(reader);",
      new = "const char *exact = calls->exact;", filter = "is served",
      wrong = "pages that are shorter than a call are refused" },
  }

  of("gen/common/python_regex.lua", spec .. "common/python_regex_spec.lua") {
    { name = "regex_end", old = [[{ Z = "\\z",]], new = "{", filter = "same texts", wrong = "\\Z is PCRE2's" },
    { name = "regex_groups", old = "elseif why then", new = "elseif false then",
      filter = "with its reason", wrong = "PCRE2's own groups are taken" },
    { name = "regex_widths", old = 'own = #taken > 1 and taken .. "(?:"', new = "own = nil",
      filter = "with its reason", wrong = "a lookbehind may find texts of several widths" },
    { name = "regex_ended", old = "if group and not ended[group] then", new = "if group and not ended then",
      filter = "with its reason", wrong = "a group may be asked for before its end" },
    { name = "regex_sets", old = 'is_in_set = c ~= "]"', new = "is_in_set = false",
      filter = "same texts", wrong = "numbers of repetitions are written into sets" },
  }

  of("runtime/text/added.c", spec .. "whole/pages_spec.lua") {
    { name = "added_words", old = "if (work->are_words &&", new = "if (0 &&", filter = "special tokens",
      wrong = "the space before a word is a token of its own" },
  }

  of("gen/checkpoints/adapter.lua", spec .. "checkpoints/adapter_spec.lua") {
    { name = "adapter_torch", old = "text = as_safetensors(tensors)\n", new = "\n",
      filter = "torch.save", wrong = "models get an adapter's file that they do not open" },
    { name = "adapter_root", old = "and math.sqrt(rank) or rank", new = "and rank or rank",
      filter = "scale for each module", wrong = "rslora divides by the rank" },
    { name = "adapter_pattern", old = [["(.*\\.)?("]], new = [["(.*)?("]],
      filter = "scale for each module", wrong = "a pattern fits the end of a module's name" },
    { name = "adapter_width", old = "is_transposed and expected[1] or columns", new = "columns",
      suite = spec .. "whole/hf_spec.lua", filter = "gpt2_adapter", wrong = "transposed layers have other factors" },
    { name = "adapter_left_out", old = 'not change.target:find("%.bias$")', new = "false",
      filter = "another model", wrong = "weights of another model are passed over" },
    { name = "adapter_order", old = "a.at < b.at", new = "a.at > b.at", filter = "order of its file",
      wrong = "the last pattern of a file counts" },
    { name = "adapter_chosen", old = "if against and not change.is_tied then", new = "if not against then",
      filter = "configuration chooses",
      wrong = "factors that PEFT does not load are merged" },
    { name = "adapter_tied", old = "of.table and of.other and are_one(of.table, of.other)", new = "false",
      filter = "ties both", wrong = "both of two tied weights are replaced" },
    { name = "adapter_rank", old = "if rank ~= stated then", new = "if false then", filter = "refused in one line",
      wrong = "factors of another rank are taken" },
  }

  of("gen/checkpoints/adapter_copies.lua", spec .. "checkpoints/adapter_spec.lua") {
    { name = "adapter_copy", old = "as_floats[a.dtype](left) ~= as_floats[b.dtype](right)", new = "false",
      filter = "copies of the model's own", wrong = "a weight that was trained is taken for the model's" },
  }

  of("gen/checkpoints/adapter_gguf.lua", spec .. "checkpoints/adapter_gguf_spec.lua") {
    { name = "adapter_table", old = 'name == TABLE .. ".lora_a" and #shape == 2', new = "false",
      filter = "rows of a table", wrong = "a token's factors are another one's" },
    { name = "adapter_alpha", old = "alpha ~= 0 and alpha or nil", new = "alpha", filter = "alpha divided",
      wrong = "an adapter without an alpha has no effect" },
  }

  of("gen/checkpoints/adapter_experts.lua", spec .. "checkpoints/adapter_spec.lua") {
    { name = "adapter_experts", old = "(k - 1) * experts + expert", new = "(expert - 1) * rank + k",
      filter = "factors of each expert", wrong = "an expert has the factors of others" },
  }

  of("runtime/reading/adapter.c", "c:adapter") {
    { name = "adapter_scale", old = "values[j] += sum[j] * scale",
      new = "values[j] += sum[j] * (scale > 0 ? 1 : -1)",
      filter = "*/changes_*", wrong = "the scale is left out" },
    { name = "adapter_part", old = "merge->part < 0 ? 0 : merge->part * count",
      new = "merge->part < 0 ? 0 : 0 * count", filter = "*/takes_*",
      wrong = "every task has the first one's factors" },
    { name = "adapter_lengths", old = "gains[o] / sqrt(squares[o])",
      new = "gains[o] * (squares[o] > 0 ? 1 : 2)", filter = "*/changes_*",
      wrong = "rows keep their length" },
  }

  of("gen/passes/graph/adapted.lua", spec .. "checkpoints/adapter_spec.lua") {
    { name = "adapted_scale", old = "factor = change.scale * factor", new = "factor = factor",
      filter = "two weights", wrong = "an adapter next to the weights has no scale" },
    { name = "adapted_next", old = "total = total + change.rank", new = "total = change.rank",
      filter = "two weights", wrong = "factors of two adapters have the same rows" },
  }

  of("runtime/ops/adapt.h", "c:rowops_rows_base") {
    { name = "adapt_rank", old = "if (i >= count) parts[i] = 0;", new = "", filter = "adapt/*",
      wrong = "a rank that is no multiple of four has more rows" },
    { name = "adapt_rows", old = "some = lda ? 1 : rows - row", new = "some = rows - row", filter = "adapt/*",
      wrong = "rows have the adapter of the row before" },
    { name = "adapt_first", old = "outputs + (ptrdiff_t)k * cols,", new = "outputs,", filter = "adapt/*",
      wrong = "every adapter has the first one's outputs" },
  }

  of("runtime/program/media/command.c", spec .. "whole/adapters_spec.lua") {
    { name = "media_adapter", old = "? job->adapter", new = "? 0 * job->adapter", filter = "is chosen with",
      wrong = "a picture's or sound's adapter is none" },
  }

  of("runtime/reference/rows.c", "c:reference_rows") {
    { name = "reference_adapter", old = "adapters[row / each]", new = "adapters[0 * row / each]", filter = "adapt/*",
      wrong = "the reference has the first sequence's adapter" },
  }

  of("runtime/generate/kept_ids.c", "c:answers") {
    { name = "kept_alike", old = "i != sequence && kept->adapters[i] == kept->adapters[sequence]",
      new = "i != sequence", filter = "kept/*", wrong = "a prompt goes on from keys of another adapter" },
    { name = "kept_adapt", old = "int status = calls->rewind(calls->context, sequence, 0);\n"
      .. "  if (status == ATTN2C_OK) kept->counts[sequence] = 0;", new = "int status = ATTN2C_OK;", filter = "kept/*",
      wrong = "a sequence keeps the keys of its last adapter" },
  }

  of("runtime/base/descriptor.c", spec .. "whole/adapters_spec.lua") {
    { name = "descriptor_adapted", old = "if (adapters[i] != 0) return adapted;",
      new = "if (i == 0 && adapters[i] != 0) return adapted;", filter = "rows of one call",
      wrong = "a call has adapters only where its first sequence has one" },
  }

  of("runtime/packing/layout.c", spec .. "whole/adapter_spec.lua") {
    { name = "layout_adapter", old = "if (model->adapter) add_number", new = "if (0) add_number",
      filter = "in packed weights", wrong = "packed weights of another adapter are taken" },
  }

  of("runtime/program/answers/answer.c", "c:search") {
    { name = "search_dot", old = "similarity == ATTN2C_COSINE)", new = "similarity <= ATTN2C_DOT)",
      filter = "search/embeddings*", wrong = "embeddings of a model that takes products are compared by the cosine" },
  }

  of("runtime/program/text/meaning.c", "c:search") {
    { name = "meaning_mean", old = "facts->late->mean ? (double)query->count : 1.0",
      new = "facts->late->mean ? 1.0 : 1.0", filter = "*/vectors_*",
      wrong = "a mean is a sum" },
    { name = "meaning_next", old = "i += first <= second, j += second <= first",
      new = "i += first <= second || 1, j += second <= first || 1",
      filter = "*/lexical_*", wrong = "tokens of two texts are compared by their number in the list" },
    { name = "meaning_equal", old = "return (x->id > y->id) - (x->id < y->id);", new = "return 0;",
      filter = "*/weights_*", wrong = "equal weights have any order" },
    { name = "meaning_special", old = "is_unweighted(view->reader->facts, view->ids[row])",
      new = "is_unweighted(view->reader->facts, -5)",
      suite = spec .. "whole/search_spec.lua", filter = "lexical weights, the largest first: bge",
      wrong = "special tokens have weights" },
  }

  of("runtime/model/text/late.c", "c:search") {
    { name = "late_skip", old = "!is_query && i < late->skip_count", new = "i < late->skip_count",
      filter = "*/some_*", wrong = "queries lose punctuation" },
    { name = "late_keys", old = "if (late->attends) *keys = tokens->length;", new = "*keys = tokens->length;",
      filter = "*/queries_*", wrong = "all tokens see what fills a query up" },
    { name = "late_limit", old = "- (marker_of(late, is_query) >= 0)", new = "", filter = "*/texts_are_cut*",
      wrong = "a marker makes a text too long" },
  }

  of("gen/passes/tokenizer.lua", spec .. "passes/validate/late_interaction_spec.lua") {
    { name = "tokenizer_skip", old = "local id = find(token) or given.skips_unknown and specials.unk",
      new = "local id = find(token)", filter = "vocabulary",
      wrong = "a word that the vocabulary lacks is not skipped" },
  }

  of("gen/passes/validate/any_length.lua", spec .. "passes/validate/late_interaction_spec.lua") {
    { name = "any_length_late", old = "spec.late_interaction.expands and not spec.late_interaction.attends",
      new = "false",
      filter = "one length", wrong = "all tokens see what fills a query up" },
  }

  of("gen/checkpoints/sentence.lua", spec .. "whole/search_spec.lua") {
    { name = "sentence_splade", old = "log1p_relu = 2", new = "log1p_relu = 1", filter = "library: splade_twice",
      wrong = "the logarithm is applied once" },
  }
end
