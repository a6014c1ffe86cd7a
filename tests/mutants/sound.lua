-- sound.lua: the part of list.lua that concerns sound: text by CTC, speech by its energy, and files that are read.
-- of: as in list.lua.
return function(of)
  of("runtime/text/unicode.h", "c:sound") {
    { name = "ctc_white", old = "!text_is_space(attn2c", new = "!text_is_white(attn2c",
      filter = "sound/ctc*", wrong = "separators of ASCII stay at the ends" },
  }

  of("runtime/sound/ctc.c", "c:sound") {
    { name = "ctc_blank", old = "token >= 0 && !are_alike(ctc, token, ctc->blank)", new = "token >= 0",
      filter = "sound/ctc*", wrong = "blanks are written" },
    { name = "ctc_alike", old = "return a == b || ", new = "return a == b && ", filter = "sound/ctc*",
      wrong = "neighbours of equal text are several tokens" },
    { name = "ctc_last", old = "w->words[w->count - 1].last = last;", new = "w->words[w->count - 1].last = last - 1;",
      filter = "sound/ctc*",
      wrong = "words have no end" },
  }

  of("runtime/sound/vad.c", "c:sound") {
    { name = "vad_offset", old = "const double mean = sum / (double)count;", new = "const double mean = 0 * sum;",
      filter = "sound/speech*", wrong = "an offset is loud" },
    { name = "vad_gap", old = "f - last >= FEWEST_QUIET", new = "f - last >= 1", filter = "sound/speech*",
      wrong = "short pauses part pieces" },
    { name = "vad_least", old = "most / 2 > least ? most / 2 : least", new = "most / 2", filter = "sound/long*",
      wrong = "a piece is cut to less than it keeps" },
  }

  of("runtime/sound/pieces.c", "c:sound") {
    { name = "pieces_loudest", old = "if (p->most > 0 && s->again && p->heard == 0) status = hear_all(p, message);",
      new = "(void)hear_all;", filter = "sound/speech*", wrong = "what comes before the loudest frame is loud, too" },
    { name = "pieces_cut", old = "if (p->most > 0 && piece->end > p->most) break;", new = "", filter = "sound/long*",
      wrong = "speech without a pause is looked at as a whole before it is cut" },
  }

  of("runtime/speech/transcribe.c", "tests/spec/whole/speech_spec.lua") {
    { name = "speech_goes_on", old = "!t->options->goes_on || ", new = "", filter = "OpenAI",
      wrong = "a window always goes on from the text before it" },
    { name = "speech_carried", old = "t->carried = t->before_count;", new = "t->carried = 0;", filter = "OpenAI",
      wrong = "the prompt is before the first window only" },
    { name = "speech_pieces", old = "begin_rows(t, (double)(samples->first + piece.begin) / t->rate);",
      new = "begin_rows(t, (double)piece.begin / t->rate);", filter = "leaves out silence",
      wrong = "times count from the silence before a piece" },
  }

  of("runtime/program/sound/whole.c", "c:sound") {
    { name = "source_chained", old = "if (begins && is_begun)", new = "if (begins && !is_begun)",
      filter = "sound/files*", wrong = "any stream of Ogg counts as a second one" },
    { name = "source_unfinished", old = "first = at + (sf_count_t)sizeof head;", new = "first = at;",
      filter = "sound/without*", wrong = "a header's bytes are samples" },
    { name = "source_chunks", old = "at == length || at == length + 1 ? 0 : first", new = "first",
      filter = "sound/without*", wrong = "chunks after no samples are samples" },
    { name = "source_page", old = "if (at > length)", new = "if (0)", filter = "sound/cut*",
      wrong = "an Ogg file that was cut is a shorter one" },
  }

  of("runtime/program/sound/source.c", "c:sound") {
    { name = "source_least", old = "if (frames <= 0 && source->read < source->least)", new = "if (0)",
      filter = "sound/cut*", wrong = "FLAC that was cut between two frames is a shorter one" },
    { name = "source_mean", old = "(float)(sum / channels)", new = "(float)sum", filter = "sound/files*",
      wrong = "channels are added" },
    { name = "source_flush", old = "return status == ATTN2C_OK ? add(source", new = "return frames > 0 ? add(source",
      filter = "sound/files*", wrong = "the end of a resampled sound is missing" },
  }

  of("runtime/ops/gather.h", "tests/spec/whole/features_spec.lua") {
    { name = "pairs_middle", old = "to[j] = in[j] - middle[j];", new = "to[j] = in[j];", filter = "pairs equal",
      wrong = "what both windows of a pair have is added to neither's difference" },
  }

  of("gen/passes/lower/products.lua", "tests/spec/whole/features_spec.lua") {
    { name = "pairs_second", old = "a = after(a, third * lda), b = after(pairs_, 2 * third)",
      new = "a = a, b = after(pairs_, 2 * third)", filter = "pairs equal",
      wrong = "the second window of a pair has the weights of the first" },
  }

  of("gen/passes/graph/sounds.lua", "tests/spec/whole/features_spec.lua") {
    { name = "pairs_even", old = "if list[j].stride % 2 == 0 then return true end", new = "return true",
      filter = "before a stride of 3", wrong = "pairs begin at odd rows in a call of an odd number of rows" },
  }

  of("runtime/check/tolerance.c", "c:tolerance") {
    { name = "tolerance_pairs", old = "result->allowed[i] += (float)(2 * sum);", new = "(void)sum;",
      filter = "tolerance/pairs*", wrong = "sums that cancel in a pair of windows are no magnitude" },
  }

  of("gen/passes/common/divide.lua", "tests/spec/passes/common/divide_spec.lua") {
    { name = "divide_each", old = "(i <= units % number and 1 or 0)) * each",
      new = "(i <= units % number and each or 0))", filter = "pairs", wrong = "blocks have single windows of a pair" },
  }

  of("runtime/program/bench/bench.c", "tests/spec/whole/features_spec.lua") {
    { name = "bench_primary", old = "s->call.number = is_primary ? attn2c_primary(model) :",
      new = "s->call.number = is_of_tokens ? attn2c_primary(model) :", filter = "operation by operation",
      wrong = "features are timed as if they were sequences" },
  }

  of("runtime/speech/rows.c", "tests/spec/whole/speech_spec.lua") {
    { name = "speech_margin", old = "(from > 0 ? r->facts->margin : 0)", new = "0",
      filter = "what transformers does: english 9", wrong = "windows after the first begin half a row later" },
    { name = "speech_largest", old = "largest_of(window, count, r->largest)", new = "largest_of(window, count, 99)",
      filter = "what transformers does: english 9", wrong = "what is found in a long sound has another bound" },
  }

  of("runtime/generate/answers.c", "tests/spec/whole/speech_spec.lua") {
    { name = "speech_penalty", old = "attn2c_penalise(b->options.repetition_penalty",
      new = "if (0) attn2c_penalise(b->options.repetition_penalty",
      filter = "limits of answers", wrong = "timestamps are chosen without the penalty" },
  }

  of("runtime/speech/listener.c", "tests/spec/whole/speech_spec.lua") {
    { name = "speech_silence", old = "heard->silence > limits->least_silence", new = "heard->silence > 0.6",
      filter = "limits of answers", wrong = "the folder's limit of silence does not count" },
    { name = "speech_silent", old = "!(has_least && heard->score", new = "!(heard->score", filter = "OpenAI",
      wrong = "without a least score silence is kept" },
    { name = "speech_sequence", old = "(int32_t)(e - l->ears) * l->options.beam.beams", new = "0",
      filter = "side by side", wrong = "sounds side by side read each other's windows" },
  }

  of("gen/checkpoints/ctc.lua", "tests/spec/checkpoints/ctc_spec.lua") {
    { name = "ctc_vocabulary", old = "words.merged(texts, own)", new = "words.merged(own, texts)",
      wrong = "added tokens hide the vocabulary" },
  }

  of("gen/checkpoints/sounds.lua", "tests/spec/checkpoints/sounds_spec.lua") {
    { name = "sounds_std", old = "std = 2 * given", new = "std = given", filter = "defaults",
      wrong = "AST's features are twice as large" },
    { name = "sounds_rows", old = "made and expected and made ~= expected", new = "false",
      filter = "change the result", wrong = "features of another number of rows than the model's are given to it" },
  }

  of("runtime/model/features.c", "tests/spec/whole/features_spec.lua") {
    { name = "features_margin", old = "first * facts->hop - facts->margin", new = "first * facts->hop",
      filter = "of whisper equal", wrong = "the first frame begins with the first sample" },
    { name = "features_measured", old = "variance < 0 ? 0 : sqrt(variance)", new = "variance",
      filter = "of grouped equal", wrong = "channels are divided by the variance" },
    { name = "features_rows", old = "attn2c_lesser(rows - done, facts->measured)", new = "facts->measured",
      filter = "of grouped equal", wrong = "rows after the sound's last count in its mean" },
    { name = "features_factor", old = "rest -= (double)moments", new = "rest -= 0 * (double)moments",
      filter = "of group equal", wrong = "directions of the windows of samples count several times" },
  }
end
