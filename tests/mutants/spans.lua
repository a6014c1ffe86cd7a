-- spans.lua: the part of list.lua that concerns spans of labels that come with texts, and LSTMs. of and spec: as in
-- list.lua.
return function(of, spec)
  of("gen/checkpoints/spans.lua", spec .. "whole/spans_spec.lua") {
    { name = "spans_lstm", old = 'both("weight_hh", nil, true)', new = 'both("weight_hh", nil, false)',
      filter = "from Python", wrong = "the weights of states are not transposed" },
    { name = "spans_missing", old = "if config == nil then", new = "if not own then", filter = "another kind",
      wrong = "no line says where the encoder's configuration is from" },
    { name = "spans_rows", old = "config.vocab_size = tensor.shape[1]", new = "config.vocab_size = config.vocab_size",
      filter = "gliner: published", wrong = "a table of tokens has the rows of the encoder's model" },
    { name = "spans_marker", old = "pieces[3 - part].factor", new = "pieces[part].factor",
      filter = "gliner: published", wrong = "the markers of both ends are in each other's half" },
    { name = "spans_most_lstms", old = "if most and value > most then", new = "if most and value > 1 << 62 then",
      filter = "another kind", wrong = "a folder may ask for more LSTMs than an output has stages" },
  }

  of("gen/checkpoints/sources.lua", spec .. "whole/spans_spec.lua") {
    { name = "sources_across", old = "columns, all_columns = through(columns, parts), stored_columns",
      new = "all_columns = #parts > 0 and stored_columns", filter = "modernbert",
      wrong = "all parts of columns are the first" },
  }

  of("gen/passes/validate/spans.lua", spec .. "passes/validate/spans_spec.lua") {
    { name = "spans_outputs", old = "stage.to ~= first + each[2]", new = "stage.to < first",
      filter = "outputs", wrong = "labels may be as wide as starts" },
  }

  of("gen/text/model.lua", spec .. "whole/spans_spec.lua") {
    { name = "text_more_tokens", old = "if not made.added_ids[content] then put(", new = "if false then put(",
      filter = "gliner: published", wrong = "a vocabulary gets no tokens around labels" },
  }

  of("runtime/ops/match.h", "c:rowops_rows_base") {
    { name = "match_valid", old = "const int most = valid < rows ? valid : rows;", new = "const int most = rows;",
      filter = "match/*", wrong = "rows after a sequence's length are words and labels" },
    { name = "match_columns", old = "out + (ptrdiff_t)j * scores, at", new = "out, at", filter = "match/*",
      wrong = "later columns of the hidden layer have the weights of the first ones" },
    { name = "match_labels", old = "c < most && at < cols; c++", new = "c < most; c++", filter = "match/*",
      wrong = "labels beyond the most are scored" },
  }

  of("runtime/reference/recurrent.c", "c:reference_rows") {
    { name = "reference_match", old = "word[of->width + at] * (double)label[of->width + at]",
      new = "word[at] * (double)label[at]", filter = "match/*", wrong = "the first halves are multiplied" },
  }

  of("runtime/ops/recurrent.h", "c:rowops_rows_base") {
    { name = "recurrent_marks", old = "(marks && marks[i] != 1)", new = "(marks && marks[i] == 0)",
      filter = "recurrent/*", wrong = "every mark but 0 counts" },
    { name = "recurrent_backward", old = "backward ? rows - 1 - t : t", new = "backward ? t : t",
      filter = "recurrent/*", wrong = "both directions begin at the first row" },
  }

  of("runtime/reference/recurrent.c", "c:reference_rows") {
    { name = "reference_recurrent", old = "weight + d * width * 4 * width", new = "weight + 0 * d",
      filter = "recurrent/*", wrong = "both directions have the first one's weights" },
    { name = "reference_recurrent_errors", old = "squares += w * w * s->h_error[k] * s->h_error[k]",
      new = "squares += 0 * w", filter = "recurrent/*", wrong = "errors end with their row" },
  }

  of("runtime/model/text/spans.c", spec .. "whole/spans_spec.lua") {
    { name = "spans_words", old = "next_point(&next) == '-'", new = "next_point(&next) == '+'",
      filter = "gliner: deberta", wrong = "a hyphen ends a word" },
    { name = "spans_best", old = "return x->score > y->score ? -1 : 1;", new = "return x->score < y->score ? -1 : 1;",
      filter = "gliner: deberta", wrong = "of spans that overlap, the worst one stays" },
    { name = "spans_inside", old = "if (inside < threshold) break;", new = "(void)0;", filter = "gliner: words",
      wrong = "spans go on over words that are not in them" },
    { name = "spans_least", old = "least = fminf(least, inside);", new = "", filter = "gliner: words",
      wrong = "a span's score is not that of its worst word" },
    { name = "spans_limit", old = "words == reader->facts->spans->words", new = "words < 0",
      filter = "from Python", wrong = "all words of a long text are read" },
    { name = "spans_same", old = "(size_t)work->numbers[i] != i || ", new = "", filter = "from Python",
      wrong = "labels have the numbers of an earlier list, which had one of them twice" },
  }

  of("runtime/program/text/spans.c", spec .. "whole/spans_spec.lua") {
    { name = "spans_spaces", old = 'word += strspn(word, " \\t");', new = "", filter = "gliner: deberta",
      wrong = "labels begin with a space" },
  }

  of("runtime/program/serve/text/work.c", spec .. "whole/spans_spec.lua") {
    { name = "serve_spans", old = "reader->span_options = work->spans;", new = "", filter = "serves",
      wrong = "a request's threshold is not taken" },
  }
end
