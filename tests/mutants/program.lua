-- program.lua: the part of list.lua that concerns the program that a model becomes: what it is given, what it prints.
-- of and spec: as in list.lua.
return function(of, spec)
  of("runtime/program/sizes.c", "c:sizes") {
    { name = "program_batch", old = "sizes->batch > 0 && batch != sizes->batch", new = "sizes->batch > batch",
      filter = "sizes/that*", wrong = "an input may have more sequences than another" },
    { name = "program_extents", old = "if (!grows && array->shape[i] != tensor->shape[i]) return 0;",
      new = "(void)grows;",
      filter = "sizes/of_an*", wrong = "a narrow array decides how many sequences a call has" },
    { name = "program_longest", old = "if (seq > longest || seq < least)", new = "if (seq < least)",
      filter = "sizes/a*", wrong = "a sequence may be longer than the model" },
    { name = "program_least", old = "->least : longest;", new = "->least : 1;", filter = "sizes/of_a_model*",
      wrong = "a model of one length takes fewer tokens" },
    { name = "program_keys", old = "|| i == axes->keys) tensor.shape[i]", new = ") tensor.shape[i]",
      filter = "sizes/a*", wrong = "a mask of a short call has the longest one's shape" },
  }
  of("runtime/picture/decoding.c", "c:picture") {
    { name = "picture_sizes", old = "if (of->facts && !attn2c_picture_fits(of->facts, w, h)", new = "if (0",
      filter = "picture/sizes_of_models", wrong = "a size that no model takes is decoded" },
    { name = "picture_turned", old = " && !attn2c_picture_fits(of->facts, h, w)", new = "",
      filter = "picture/sizes_of_models", wrong = "a picture that fits once it is turned is refused" },
  }

  of("runtime/picture/decode_png.c", "c:picture") {
    { name = "picture_texts", old = "  png_set_chunk_cache_max(j->png, MOST_TEXTS);\n", new = "  (void)MOST_TEXTS;\n",
      filter = "picture/many_texts", wrong = "each of 1,000 texts becomes a megabyte" },
  }

  of("runtime/program/expect.c", spec .. "whole/expect_spec.lua") {
    { name = "expect_first", old = "int64_t rest = comparison->first;", new = "int64_t rest = 0;",
      filter = "first element", wrong = "another element is named as the first that differs" },
    { name = "expect_size", old = "tolerance.relative = factor;", new = "tolerance.relative = 1;",
      filter = "another activation", wrong = "another activation passes" },
    { name = "expect_padding", old = "return row >= values[b];", new = "return 0;", filter = "leaves padding",
      wrong = "padding is compared" },
    { name = "expect_kept", old = "(value != 0) == (axes->hides == ATTN2C_HIDES_ONES)",
      new = "(value != 0) == (axes->hides == ATTN2C_HIDES_ZEROS)", filter = "leaves padding",
      wrong = "padding is compared in place of the rest" },
    { name = "expect_exact", old = "factor > 0 ? LEAST : 0", new = "LEAST", filter = "option of the command",
      wrong = "a tolerance of 0 allows differences" },
    { name = "expect_integers", old = "const int is_float = tensor->type == ATTN2C_F32;",
      new = "const int is_float = 1;", filter = "integers exactly", wrong = "integers are compared as floats" },
  }

  of("runtime/program/arguments.c", "c:program") {
    { name = "arguments_offered", old = "(!(row->commands & parts) || row->commands & taken)", new = "1",
      filter = "program/refuses_wrong*", wrong = "a model without pictures offers --image" },
  }

  of("runtime/program/help.c", spec .. "whole/generate_spec.lua") {
    { name = "help_next_line", old = "if (length > column - 3) fprintf", new = "if (0) fprintf",
      filter = "in one column", wrong = "the meaning of a long option begins elsewhere" },
  }

  of("runtime/program/inputs.c", "c:program") {
    { name = "inputs_range", old = "values[e] < tensor->limit) continue", new = "values[e] <= tensor->limit) continue",
      filter = "program/names_a*", wrong = "a number one beyond the last is taken" },
    { name = "inputs_least", old = "values[e] >= tensor->minimum", new = "values[e] >= 0",
      filter = "program/names_a*", wrong = "a length of 0 is taken" },
    { name = "inputs_equals", old = "(slash != NULL && slash < equals)", new = "slash != NULL",
      filter = "program/runs_several*", wrong = "a path with a slash has no name before it" },
    { name = "inputs_twice", old = "twice |= paths[i] != NULL;", new = "twice = 0;",
      filter = "program/refuses_wrong*", wrong = "of two paths for an input the last counts" },
    { name = "inputs_shared", old = "shape->kind == ATTN2C_SHARED_INPUT || shape->rank == 0",
      new = "shape->rank == 0", filter = "program/shares*", wrong = "an input for all has a batch in front" },
    { name = "inputs_index", old = "element %= slice;", new = "", suite = "c:sizes",
      filter = "sizes/a_number*",
      wrong = "the place of a wrong number is another" },
    { name = "inputs_entry", old = "if (name == NULL) return attn2c_primary(model);",
      new = "if (name == NULL) return 0;", suite = "c:sizes",
      filter = "sizes/an_entry*",
      wrong = "the shortest entry is the usual one" },
  }

  of("runtime/program/options.c", "c:program") {
    { name = "arguments_repetitions", old = "AT(repetitions), 0, 1,", new = "AT(repetitions), 0, 0,",
      filter = "program/refuses_wrong*", wrong = "no repetition is allowed" },
    { name = "arguments_length", old = "AT(length), 0, 1,", new = "AT(length), 0, 0,",
      filter = "program/refuses_wrong*", wrong = "calls of no tokens are timed" },
  }

  of("runtime/program/help.c", "c:program") {
    { name = "help_width", old = "at + 1 + length > WIDTH", new = "at + length > WIDTH + 9",
      filter = "program/helps*", wrong = "lines of help are longer than a terminal" },
    { name = "help_column", old = "      at = column;\n", new = "      at = 0;\n",
      filter = "program/helps*", wrong = "lines of help after the first are too long" },
  }

  of("runtime/program/bench/compare.c", "c:bench_compare") {
    { name = "compare_spread", old = "2.0 * sqrt(", new = "1.0 * sqrt(", wrong = "the spread is half as wide" },
    { name = "compare_ratio", old = "r->ms.median / row->median", new = "row->median / r->ms.median",
      wrong = "old by new" },
    { name = "compare_last", old = "int i = old->count - 1; i >= 0; i--", new = "int i = 0; i < old->count; i++",
      filter = "bench_compare/of_two*", wrong = "of two rows of a kind the first counts" },
    { name = "compare_threads", old = "row->threads == result->threads", new = "row->threads > 0",
      filter = "bench_compare/of_two*", wrong = "times with other threads are compared" },
    { name = "compare_duplicates", old = "JSON_REJECT_DUPLICATES | JSON_DISABLE", new = "JSON_DISABLE",
      suite = "c:program", filter = "program/refuses_what*", wrong = "a key may be there twice" },
    { name = "compare_negative", old = "*ms > 0.0 ||", new = "*ms != 0.0 ||", suite = "c:program",
      filter = "program/refuses_what*", wrong = "times may be negative" },
  }

  of("runtime/program/bench/report.c", "c:program") {
    { name = "report_flops", old = "rows[row].flops += op_flops(", new = "rows[row].flops = op_flops(",
      filter = "program/profiles*", wrong = "of ops of a kind the last one's work counts" },
    { name = "report_gflops", old = "flops / (1e6 * ms)", new = "flops / (1e9 * ms)", filter = "program/benches*",
      wrong = "a thousandth of the speed is printed" },
  }

  local signals = spec .. "whole/generate_spec.lua"
  of("runtime/program/generate/command.c", signals) {
    { name = "signal_line", old = "&& !job->whole)) return;\n  fputc('\\n', job->out);\n",
      new = "&& !job->whole)) return;\n",
      filter = "a signal ends a line",
      wrong = "Ctrl-C leaves a half line" },
    { name = "signal_noted", old = "  attn2c_signals_note();\n", new = "", filter = "a signal ends a line",
      wrong = "a signal ends generate in the middle of a line" },
  }
  of("runtime/program/text/generate_chat.c", signals) {
    { name = "signal_chat", old = "if (status == ATTN2C_OK && terminated) return", new = "if (0) return",
      filter = "a signal ends a chat", wrong = "a chat goes on after SIGTERM" },
  }
  of("runtime/program/run.c", signals) {
    { name = "signal_rows", old = "      attn2c_signals_note();\n", new = "", filter = "a signal ends other",
      wrong = "a signal ends a printed array in the middle of a line" },
  }
  of("runtime/program/generate/perplexity.c", signals) {
    { name = "signal_perplexity", old = "    if (status == ATTN2C_OK) status = attn2c_signals_status(job->message);\n",
      new = "", filter = "a signal ends other", wrong = "perplexity goes on after a signal" },
  }

  of("runtime/program/answers/answer.c", "c:text_program") {
    { name = "answer_nan", old = "a > b || (isnan(b) && !isnan(a))", new = "a > b", filter = "text_program/the_best*",
      wrong = "a score that is no number comes before others" },
    { name = "answer_overflow", old = "exp(picks[i].score - largest) / sum",
      new = "exp(picks[i].score) / (sum * exp(largest))",
      filter = "text_program/large*", wrong = "large scores overflow" },
    { name = "answer_sigmoid", old = "exp(-picks[i].score)", new = "exp(picks[i].score)",
      filter = "text_program/the_best*", wrong = "probabilities of labels are of not having them" },
    { name = "answer_cosine", old = "product / sqrt(of_a * of_b)", new = "product / (of_a * of_b)",
      filter = "text_program/the_cosine*", wrong = "similarity goes by the length" },
    { name = "answer_zero", old = "of_a == 0.0 || of_b == 0.0 ?", new = "of_b == 0.0 ?",
      filter = "text_program/the_cosine*", wrong = "the cosine with nothing is no number" },
  }

  of("runtime/program/answers/similar.c", "c:text_program") {
    { name = "similar_nan", old = "row[i] == row[i] ?", new = "row[i] != 2.0f ?", filter = "text_program/similar*",
      wrong = "what is no number is written as JSON" },
    { name = "similar_rows", old = "of->values + i * of->width, of->values + j * of->width",
      new = "of->values + i, of->values + j", filter = "text_program/similar*", wrong = "texts overlap" },
  }

  of("runtime/program/text/rank.c", "c:text_program") {
    { name = "rank_ties", old = "score > of->best[at - 1].score ||", new = "score >= of->best[at - 1].score ||",
      filter = "text_program/a_query*", wrong = "of equal scores the later text comes first" },
    { name = "rank_nan", old = "(isnan(of->best[at - 1].score) && !isnan(score))", new = "0",
      filter = "text_program/a_query*", wrong = "a score that is no number is better than any number" },
    { name = "rank_turned", old = "rank->scores[t * shape[0] + q]", new = "rank->scores[q * shape[1] + t]",
      suite = spec .. "whole/similar_spec.lua", filter = "fewer numbers", wrong = "scores of queries are mixed up" },
    { name = "rank_pairs", old = "(before * rank->texts + number - 1)", new = "(before + number - 1)",
      suite = spec .. "whole/similar_spec.lua", filter = "scores of pairs", wrong = "queries overwrite scores" },
    { name = "rank_empty", old = "rank->is_paired ? of->texts : of->queries", new = "of->texts",
      suite = spec .. "whole/similar_spec.lua", filter = "a file keeps", wrong = "an empty file has another's name" },
  }

  of("runtime/program/text/cache.c", spec .. "whole/similar_spec.lua") {
    { name = "cache_weights", old = '{AT_WEIGHTS, AT_TOKENIZER, "it is of other weights"},', new = "",
      filter = "a file keeps", wrong = "embeddings of other weights are taken" },
    { name = "cache_data", old = "attn2c_number_at(footer, AT_DATA) != sum_of(parts)", new = "sum_of(parts) == 0",
      filter = "a file keeps", wrong = "damaged embeddings are taken" },
    { name = "cache_key", old = "return memcmp(a, b, sizeof *a) == 0;", new = "return a->length == b->length;",
      filter = "a file keeps", wrong = "texts of one length have one embedding" },
    { name = "cache_place", old = "at = cache->table[slot] - 1;", new = "at = cache->table[slot] % cache->count;",
      filter = "a file keeps", wrong = "a text that was moved has another's embedding" },
  }

  of("runtime/program/answers/safe.c", "c:text_program") {
    { name = "safe_mended", old = "used += valid ? width : 3;", new = "used += width;",
      filter = "text_program/nothing*", wrong = "a sign for bytes that are no text is cut" },
  }

  of("runtime/base/utf8.c", "c:text_program") {
    { name = "safe_bidi", old = "{0x2028, 0x202e}", new = "{0x2028, 0x202d}", filter = "text_program/nothing*",
      wrong = "a mark that turns the direction reaches the terminal" },
  }

  of("runtime/program/text/source.c", "c:text_program") {
    { name = "source_return", old = "(*text)[*length - 1] == '\\r'", new = "(*text)[*length - 1] == '\\v'",
      filter = "text_program/lines*", wrong = "lines keep their carriage returns" },
    { name = "source_counts", old = "lines + (last != '\\n')", new = "lines + 0 * last",
      filter = "text_program/a_pair*",
      wrong = "a last line without its end is not counted" },
    { name = "source_pairs", old = "listed < 0 || count == listed", new = "listed < 0 || count <= listed",
      filter = "text_program/a_pair*", wrong = "pairs without texts are passed over" },
    { name = "source_inputs", old = "if (inputs > 1)", new = "if (inputs > 2)", filter = "text_program/a_pair*",
      wrong = "the standard input is read twice" },
  }

  of("runtime/system/linux.c", "c:file") {
    { name = "file_zeros", old = "(size_t)((left - 1) % PAGE + 1)", new = "PAGE",
      filter = "file/parts*", wrong = "a file is longer than it was to be" },
  }

  of("runtime/formats/file_write.c", "c:file") {
    { name = "file_check", old = "(void)attn2c_new_file_end(&file, ATTN2C_USAGE, message);",
      new = "(void)attn2c_new_file_end(&file, ATTN2C_OK, message);", filter = "file/a_place*",
      wrong = "a file that is only checked is written" },
  }

  of("runtime/program/linux.c", spec .. "whole/generate_spec.lua") {
    { name = "line_end", old = "*is_ended = count < 0 && feof(stdin);", new = "*is_ended = 0;",
      filter = "ends a chat after", wrong = "a chat whose input ends is a fault" },
  }

  of("runtime/program/weights_place.c", "c:program") {
    { name = "place_same", old = "if (attn2c_place_same(place, &of_weights)) return 1;", new = "",
      filter = "program/refuses_wrong*", wrong = "packed weights are written over those that are read" },
  }
end
