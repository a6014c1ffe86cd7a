-- generate.lua: the part of list.lua that concerns choosing tokens: runtime/generate. of and spec: as in list.lua.
return function(of, spec)
  of("runtime/generate/sample_keep.c", "c:sample") {
    { name = "keep_equal", old = "kept += order >= border && !is_dropped;", new = "kept += order > border;",
      filter = "sample/transformers", wrong = "the logit at the border is dropped" },
    { name = "keep_dropped", old = "border.equal / each - needed);", new = "0);",
      filter = "sample/transformers", wrong = "top_p keeps all equal logits at its border" },
    { name = "keep_reversed", old = "near[i] = near[count - 1 - i];", new = "near[i] = token;",
      filter = "sample/transformers", wrong = "the list near a border has a token twice" },
    { name = "keep_eighth", old = "((eighth + 1) << EIGHTHS_SHIFT) - 1", new = "((eighth + 1) << EIGHTHS_SHIFT) / 2",
      filter = "sample/transformers", wrong = "tokens near a border are not looked at" },
    { name = "keep_min", old = "s->mass[token] >= least", new = "s->mass[token] > least",
      filter = "sample/transformers", wrong = "min_p of 1 keeps no token" },
    { name = "keep_share", old = "(double)(int64_t)share < exact) share++", new = "0) share++",
      filter = "sample/the_border*", wrong = "a share of the mass is rounded down" },
  }

  of("runtime/generate/sample_logits.c", "c:sample") {
    { name = "logits_none", old = "if (o->allowed_count > 0) equal_if_none(s);", new = "",
      filter = "sample/transformers", wrong = "allowed tokens with -inf are refused" },
    { name = "logits_tiny", old = "if (attn2c_is_infinite(s->largest) && !s->options.greedy) keep_largest(s, logits);",
      new = "", filter = "sample/tiny*", wrong = "a tiny temperature is refused" },
  }

  of("runtime/generate/sample_logits.c", spec .. "whole/sampling_spec.lua") {
    { name = "logits_quotient", old = "y[i] = (float)((double)x[i] * inverse);",
      new = "y[i] = x[i] / (float)(1 / inverse);", wrong = "a compiler may divide by the temperature in its own way" },
  }

  of("runtime/generate/penalties.c", spec .. "whole/sampling_spec.lua") {
    { name = "penalties_volatile", old = "volatile float logit = ", new = "float logit = ",
      wrong = "a compiler may round two operations once" },
  }

  of("runtime/generate/penalties.c", "c:sample") {
    { name = "penalties_negative", old = "logit = logit * p->repetition;", new = "logit = logit / p->repetition;",
      filter = "sample/transformers", wrong = "negative logits of repeated tokens become larger" },
    { name = "penalties_prompt", old = "const uint32_t generated = p->counts[token] - 1;",
      new = "const uint32_t generated = p->counts[token];", filter = "sample/fed*",
      wrong = "presence and frequency count the prompt" },
    { name = "penalties_reset", old = "p->counts[p->tokens[i]] = 0;", new = "", filter = "sample/fed*",
      wrong = "reset keeps counts" },
  }

  of("runtime/generate/sample.c", "c:sample") {
    { name = "sample_order", old = "s->index[first] < s->index[second]", new = "1", filter = "sample/in_the_order*",
      wrong = "tokens near a border are drawn after all others" },
  }

  of("runtime/generate/guess.c", "c:guess") {
    { name = "guess_longest", old = "if (same > longest) longest = same, at = i + 1;",
      new = "if (at == 0) longest = same, at = i + 1;", filter = "guess/the_longest*",
      wrong = "the last repetition is taken, not the longest" },
    { name = "guess_wraps", old = "guess->ids[at - count - 1]", new = "last", filter = "guess/the_longest*",
      wrong = "a repetition ends at the end of the text" },
    { name = "guess_loss", old = "spare = LOSS * g->all + plain - g->loss;", new = "spare = LOSS * 1e30 - g->loss;",
      filter = "guess/*", wrong = "losses have no bound" },
    { name = "guess_known", old = "rows < twice ? rows : twice;", new = "rows < 99 * twice ? rows : twice;",
      filter = "guess/*",
      wrong = "calls of any size are tried at once" },
    { name = "guess_memory", old = "if (g->tried[kind] >= TRIES) g->tried[kind] /= 2, g->right[kind] /= 2;", new = "",
      filter = "guess/follows*", wrong = "a text that repeats again gets no guesses" },
    { name = "guess_chance", old = "chances[next] *= ", new = "chances[next] = chances[next] < 0 ? 0 : ",
      filter = "guess/is_near*", wrong = "a guess counts as if those before it were right" },
  }

  of("runtime/generate/answers.c", "c:answers_guess") {
    { name = "answers_accept", old = "|| (i < guess->count && b->lasts[place] != guess->ids[i])) break;",
      new = ") break;",
      filter = "answers/guesses_change*", wrong = "wrong guesses are accepted" },
    { name = "answers_after", old = "choose(b, place, kept + i,", new = "choose(b, place, kept + guess->count,",
      filter = "answers/guesses_change*", wrong = "processors see guesses that are not drawn yet" },
    { name = "answers_rewind", old = "kept + (*drawn > 1 ? *drawn - 1 : 0)", new = "kept + guess->count",
      filter = "answers/guesses_change*", wrong = "wrong guesses stay in the sequence" },
    { name = "answers_cut", old = "b->answers[place].count = count;", new = "(void)count;",
      filter = "answers/guesses_that*", wrong = "tokens after a stop text stay" },
  }
  of("runtime/generate/draft.c", "c:answers_guess") {
    { name = "answers_room", old = "texts[i].history.most - texts[i].history.count - 2;", new = "ATTN2C_GUESSES;",
      filter = "answers/guesses_change*", wrong = "guesses go beyond the most tokens" },
    { name = "draft_last", old = "d->text[count] = text->last;", new = "d->text[count] = 0;",
      filter = "answers/drafts_change*", wrong = "a model guesses after another token" },
    { name = "draft_room", old = "count + asked > d->calls.tokens", new = "0", filter = "answers/drafts_change*",
      wrong = "a text is longer than the context of the model that guesses" },
    { name = "draft_learn", old = "guess->found = guess->count = 0;", new = "guess->count = 0;",
      filter = "answers/drafts_*", wrong = "tokens that a model has not guessed count as guesses" },
  }

  of("runtime/program/generate/command.c", spec .. "whole/guess_spec.lua") {
    { name = "command_stopped", old = "if (r->shown.is_stopped) break;", new = "", filter = "no text, other",
      wrong = "ids after a stop text are written" },
  }

  of("runtime/program/serve/generate/writer.c", spec .. "whole/serve_spec.lua") {
    { name = "writer_accept", old = "count < guess->count && ids[count] == guess->ids[count];",
      new = "count < guess->count;",
      filter = "same bits with guesses", wrong = "the server accepts wrong guesses" },
    { name = "writer_rewind", old = "kept + count - 1);", new = "kept + guess->count);",
      filter = "same bits with guesses",
      wrong = "wrong guesses stay in a sequence of the server" },
  }

  of("gen/passes/common/texts.lua", spec .. "whole/guess_spec.lua") {
    { name = "texts_draft", old = 'if not own ~= not its or own and own.tables ~= its.tables then',
      new = "if not its then",
      filter = "is refused where", wrong = "a model with other tokens guesses" },
  }

  of("runtime/generate/dry.c", "c:sample_chain") {
    { name = "dry_breaker", old = "const int32_t length = d->same[k] < most ? d->same[k] : most,",
      new = "const int32_t length = d->same[k],", filter = "sample_chain/definitions",
      wrong = "breakers break nothing" },
    { name = "dry_head", old = "if (length >= 0 && d->heads[token] < 2)", new = "if (length >= 0)",
      filter = "sample_chain/definitions", wrong = "breakers are lowered" },
    { name = "dry_z", old = "same[k - begin] < known - k ? same[k - begin] : known - k;", new = "same[k - begin];",
      filter = "sample_chain/definitions", wrong = "repetitions are too long" },
    { name = "dry_last", old = "const int32_t count = d->count < d->capacity ? d->count : d->capacity;",
      new = "const int32_t count = d->count;", filter = "sample_chain/d*",
      wrong = "more than the last n tokens count" },
    { name = "dry_again", old = "    d->longest[token] = 0;\n", new = "", filter = "sample_chain/dry*",
      wrong = "a repetition counts in later calls" },
  }

  of("runtime/generate/breakers.c", "c:breakers") {
    { name = "breakers_inside", old = "at + size <= length; at++)", new = "at + size <= length && at < 1; at++)",
      filter = "breakers/by*", wrong = "a text inside a token breaks nothing" },
    { name = "breakers_rest", old = "size - (length - at), first));", new = "0, first));", filter = "breakers/by*",
      wrong = "the beginning of a text breaks" },
  }

  of("runtime/generate/sample_chain.c", "c:sample_chain") {
    { name = "chain_sigma", old = "spread = s->options.top_n_sigma * spread;", new = "",
      filter = "sample_chain/definitions", wrong = "n is always 1" },
    { name = "chain_typical", old = "units > mean ? units - mean : mean - units",
      new = "units > mean ? units - mean : 0",
      filter = "sample_chain/definitions", wrong = "all tokens that are too probable are typical" },
    { name = "chain_mean", old = "lower += (mass & 0x1fffff) * (units >> 8);", new = "",
      filter = "sample_chain/definitions", wrong = "improbable tokens have no part in the entropy" },
    { name = "chain_xtc", old = "s->mass[token] < least || token == last", new = "s->mass[token] < least",
      filter = "sample_chain/definitions", wrong = "the last token above the threshold goes, too" },
    { name = "chain_chance", old = "* 0x1p-53 > s->options.xtc_probability", new = "* 0x1p-53 > 1",
      filter = "sample_chain/xtc*", wrong = "XTC always acts" },
    { name = "chain_mirostat", old = "s->mu = s->mu - step;", new = "", filter = "sample_chain/mirostat*",
      wrong = "mu never changes" },
    { name = "chain_power", old = "octaves = octaves * o->dynatemp_exponent;", new = "",
      filter = "sample_chain/definitions", wrong = "the exponent is always 1" },
    { name = "chain_top_k", old = "border.above + border.equal - k", new = "0", filter = "sample_chain/definitions",
      wrong = "more than k tokens stay" },
  }

  of("runtime/generate/sample.c", "c:sample_chain") {
    { name = "sample_reset", old = "  s->mu = 2 * s->options.mirostat_tau;\n}", new = "}",
      filter = "sample_chain/mirostat*", wrong = "a reset keeps mu" },
  }

  of("runtime/generate/sampling.c", "c:sample_chain") {
    { name = "sampling_twice", old = "|| seen >> step & 1", new = "|| (seen >> step & 1 && count > 20)",
      filter = "sample_chain/refuses",
      wrong = "an order may have a name twice" },
  }

  of("runtime/generate/draw.h", "c:sample") {
    { name = "draw_carry", old = "((middle & 0xffffffffu) + low * limit_high) >> 32", new = "(low * limit_high >> 32)",
      filter = "sample/bits*", wrong = "a carry of the product is lost" },
  }

  of("runtime/generate/text_writer.c", "c:text_writer") {
    { name = "writer_special", old = "if (w->stopped_by < 0) w->stopped_by = number;", new = "",
      filter = "writer/special*", wrong = "a special token that is a stop text does not end an answer" },
  }
  of("runtime/generate/stop.c", "c:stop") {
    { name = "stop_longest", old = "if (s->found >= 0 && bytes <= s->matched) return;",
      new = "if (s->found >= 0) return;",
      filter = "stop/the_first*", wrong = "the first string in the list, not the longest" },
    { name = "stop_hidden", old = "if (!is_hidden) p->matched[1] = advance(p, p->matched[1], piece[at]);",
      new = "p->matched[1] = advance(p, p->matched[1], piece[at]);", filter = "stop/hidden*",
      wrong = "a special token within the text of a stop string hides it" },
    { name = "stop_restart", old = "matched = p->borders[matched];", new = "matched = 0;",
      filter = "stop/random*", wrong = "a string that begins within another is missed" },
    { name = "stop_surrogate", old = "first == 0xed ? 0x9f", new = "first == 0xed ? 0xbf", filter = "stop/characters",
      wrong = "half of a surrogate is held back" },
    { name = "stop_pending", old = "uint64_t held = (uint64_t)s->pending;", new = "uint64_t held = 0;",
      filter = "stop/characters", wrong = "half of a character is shown" },
  }

  of("runtime/generate/beam.c", "c:beam") {
    { name = "beam_top", old = "} else if (i < b->width) {", new = "} else {", filter = "beam/steps",
      wrong = "an end token below the best candidates finishes a beam" },
    { name = "beam_first", old = "b->scores[i] = i == 0 ? 0 : NO_SCORE;", new = "b->scores[i] = 0;",
      filter = "beam/steps", wrong = "the first step has each candidate once a beam" },
    { name = "beam_candidates", old = "options->stop_count > 1 ?", new = "options->stop_count > 9 ?",
      filter = "beam/several_stop_tokens", wrong = "several end tokens leave too few beams" },
    { name = "beam_length", old = "const int32_t tokens = count + 1 - b->prompt;",
      new = "const int32_t tokens = count + 1;", filter = "beam/steps", wrong = "the prompt counts for a score" },
    { name = "beam_never", old = "is_longest ? b->most - b->prompt : tokens", new = "tokens",
      filter = "beam/early_stopping", wrong = "never stops like false" },
    { name = "beam_negative", old = "o->early_stopping == ATTN2C_STOP_NEVER && o->length_penalty > 0",
      new = "o->early_stopping == ATTN2C_STOP_NEVER", filter = "beam/early_stopping*",
      wrong = "a negative penalty is judged by the greatest length" },
    { name = "beam_full", old = "b->options->early_stopping == ATTN2C_STOP_TRUE;", new = "0;",
      filter = "beam/early_stopping*", wrong = "an answer for each beam does not end a search that may still improve" },
    { name = "beam_renormalize", old = "if (o->renormalize && ", new = "if (0 && ", filter = "beam/renormalize",
      wrong = "processed log-probabilities are not normalised again" },
    { name = "beam_worst", old = "if (!(score > (is_full ?", new = "if (0 && !(score > (is_full ?",
      filter = "beam/a_worse*", wrong = "a worse answer takes the place of the worst" },
  }

  of("runtime/speech/rules.c", "c:speech") {
    { name = "speech_pairs", old = "ends_segment ? ids[last] : ids[last] + 1", new = "ids[last] + 1",
      wrong = "the second timestamp of a pair is later than the first" },
    { name = "speech_first", old = "forbid(scores, 0, first);\n    if", new = "if",
      wrong = "an answer begins with text" },
  }

  of("runtime/speech/segments.c", "c:speech") {
    { name = "speech_next", old = "if (!is_closed) *next", new = "*next",
      wrong = "what a single timestamp closes is listened to again" },
  }

  of("runtime/speech/times.c", "c:speech") {
    { name = "times_median", old = "sorted[beside] : values[at]", new = "sorted[0] : values[at]",
      wrong = "the least of neighbouring rows counts, and not the median" },
  }

  of("runtime/speech/words.c", "c:speech") {
    { name = "words_punctuation", old = "if (begins_with_space(text) && is_of(trimmed(text)",
      new = "if (is_of(trimmed(text)", wrong = "quotes at the end of a word go with the next one" },
  }

  of("runtime/generate/processors.c", "c:beam") {
    { name = "process_once", old = "const float score = id < vocabulary ? scores[id] : 0;",
      new = "const float score = scores[id]; scores[id] = score * by;", filter = "processors/by_hand",
      wrong = "a token that occurs twice is changed twice" },
    { name = "process_ngram", old = "ends_with(h, h->ids + i, n - 1))", new = "ends_with(h, h->ids + i, n - 2))",
      filter = "processors/by_hand", wrong = "n-grams are a token shorter" },
    { name = "process_stop", old = "if (count == 1 && attn2c_beam_stops(o, *word)) continue;", new = "",
      filter = "processors/by_hand", wrong = "an end token is a bad word" },
    { name = "process_bos", old = "if (h->count == 1 && o->forced_bos >= 0)",
      new = "if (h->count == h->prompt && o->forced_bos >= 0)", filter = "processors/lengths",
      wrong = "a token is forced after a longer prompt" },
    { name = "process_eos", old = "if (h->count == h->most - 1 && o->forced_eos_count > 0)",
      new = "if (h->count == h->most && o->forced_eos_count > 0)", filter = "processors/lengths",
      wrong = "the last token is not forced" },
    { name = "process_begin", old = "h->prompt + (h->prompt == 1 && o->forced_bos >= 0);", new = "h->prompt;",
      filter = "processors/lengths", wrong = "a forced token is suppressed" },
    { name = "process_least", old = "h->count - h->prompt < o->min_tokens", new = "h->count < o->min_tokens",
      filter = "processors/lengths", wrong = "the prompt counts for min_tokens" },
  }

  of("runtime/generate/answers.c", "c:answers") {
    { name = "answers_slot", old = "slots[i] = used[own] ? -1 : own;", new = "slots[i] = -1;",
      filter = "beams/copy*", wrong = "a beam that goes on is copied" },
    { name = "answers_forget", old = "attn2c_kept_ids_forget(b->kept, base + i);", new = ";",
      filter = "beams/go_on*", wrong = "sequences of another source are taken for the same" },
    { name = "answers_processed", old = "attn2c_process(&b->options, &history, logits, b->calls->vocabulary);",
      new = "NULL; (void)history;", filter = "beams/one_beam*", wrong = "without beams nothing is suppressed" },
  }

  of("runtime/generate/kept_ids.c", "c:answers") {
    { name = "kept_same", old = "calls->copy(calls->context, from, to, same, most)",
      new = "calls->copy(calls->context, from, to, same + 1, most)", filter = "beams/copy*",
      wrong = "a token that differs is not copied" },
  }

  of("runtime/program/generate/command.c", spec .. "whole/beams_spec.lua") {
    { name = "command_rank", old = "!attn2c_answers_rank(job->batch, place, rank);", new = "0;",
      filter = "answers and scores", wrong = "all answers are the best one" },
  }

  of("runtime/program/generate/options.c", spec .. "whole/beams_spec.lua") {
    { name = "options_beams", old = "if (is_one) beam->beams = 1;", new = "",
      filter = "are refused", wrong = "an option that draws is refused where the folder has beams" },
  }

  of("runtime/program/text/generate_turns.c", spec .. "whole/generate_spec.lua") {
    { name = "turns_anew", old = "while (turns->count) attn2c_turns_drop(turns);", new = "", filter = "lines of JSON",
      wrong = "a whole chat goes on with the one before" },
    { name = "turns_fields", old = "if (role && text && json_object_size(message) == 2)", new = "if (role && text)",
      filter = "refuses lines", wrong = "fields of messages are passed over in silence" },
  }

  of("gen/passes/emit/generation.lua", spec .. "passes/emit/generation_spec.lua") {
    { name = "generation_usual", old = "is_usual = is_usual and said[name] == nil", new = "is_usual = true",
      wrong = "what a folder states is lost" },
  }

  of("gen/checkpoints/generation.lua", spec .. "checkpoints/generation_spec.lua") {
    { name = "generation_stated", old = "then result.draw = result.draw or false end", new = "then result.x = nil end",
      wrong = "a folder that states do_sample = false draws" },
    { name = "generation_certain", old = "if is_certain then result.draw = false end", new = "",
      filter = "temperature of 0", wrong = "a temperature of 0 draws with 1" },
    { name = "generation_drawn_beams", old = "if result.draw and (result.beams or 1) > 1 then", new = "if false then",
      wrong = "beams that are drawn are searched without drawing" },
  }

  of("gen/checkpoints/gguf.lua", spec .. "checkpoints/gguf_spec.lua") {
    { name = "gguf_temperature", old = "made.temperature, made.do_sample = nil, false",
      new = "made.temperature = nil", filter = "are drawn", wrong = "a temperature of 0 draws" },
  }

  of("runtime/program/generate/options.c", spec .. "whole/generate_spec.lua") {
    { name = "options_penalty", old = "is_drawn || !stated->is_usual ?", new = "1 ?",
      filter = "greedy tokens and texts", wrong = "--greedy has a penalty that nobody stated" },
    { name = "options_note", old = "if (!stated->is_usual || sampling", new = "if (stated->is_usual || sampling",
      filter = "numbers of its own", wrong = "defaults of attn2c's own are not said" },
  }

  of("gen/data/scale_blocks.lua", spec .. "data/scale_blocks_spec.lua") {
    { name = "fine_last", old = 'if section == "layer " .. layers - 1 then return true end', new = "",
      wrong = "the last layer reads inputs of 8 bits" },
    { name = "fine_queries", old = "not is_query and ", new = "",
      wrong = "queries read inputs of 15 bits, however many heads share a key" },
  }

  of("gen/commands/build/try.lua", spec .. "commands/build/try_spec.lua") {
    { name = "kept_type", old = '(not tensor.kept or tensor.type == "f32")', new = "true",
      filter = "keys and values", wrong = "a smaller type is advised where there is one" },
  }
end
