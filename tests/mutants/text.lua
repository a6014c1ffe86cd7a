-- text.lua: the part of list.lua that concerns tokenizers: gen/text and runtime/text. of and spec: as in list.lua.
-- A golden is named where what the real library gives is what must differ.
return function(of, spec)
  local goldens = spec .. "whole/text_spec.lua"

  of("gen/text/older.lua", spec .. "text/older_spec.lua") {
    { name = "older_lower", old = "choose(config.do_lower_case, true)", new = "true",
      wrong = "a cased BERT with vocab.txt is lower-cased" },
    { name = "older_accents", old = "strip_accents = config.strip_accents", new = "strip_accents = nil",
      wrong = "accents are stripped whatever the folder says" },
    { name = "older_mask", old = "is_roberta and token.content == mask", new = "false",
      wrong = "RoBERTa's mask leaves the space before it" },
    { name = "older_blanks", old = "if ids[name] and not seen[name] then", new = "if not seen[name] then",
      wrong = "special tokens that the vocabulary lacks are added" },
    { name = "older_prefix", old = "local prefix = choose(config.add_prefix_space, false)",
      new = "local prefix = false",
      wrong = "add_prefix_space is ignored" },
    { name = "older_longest", old = "max_input_chars_per_word = 100", new = "max_input_chars_per_word = 200",
      wrong = "words of 101 letters are cut into pieces" },
  }

  of("gen/text/components.lua", spec .. "text/components_spec.lua") {
    { name = "components_accents", old = "if strip == nil then strip = lower end", new = "",
      wrong = "accents stay where letters are lowered" },
    { name = "components_digits", old = "one_by_one and BEHAVIOR.Isolated or BEHAVIOR.Contiguous",
      new = "one_by_one and BEHAVIOR.Contiguous or BEHAVIOR.Isolated", wrong = "digits are one by one, or not" },
    { name = "components_scheme", old = '"prepend_scheme", SCHEME, "always"', new = '"prepend_scheme", SCHEME, "first"',
      wrong = "another default of prepend_scheme" },
    { name = "components_split", old = '"split", true', new = '"split", false', wrong = "another default of split" },
    { name = "components_regex", old = '"use_regex", true', new = '"use_regex", false',
      wrong = "another default of use_regex" },
    { name = "components_invert", old = "flag(invert, CUT.invert)", new = "flag(not invert, CUT.invert)",
      wrong = "a split is inverted" },
    { name = "components_strip", old = 'number = look:count(object, path, "start")',
      new = 'number = look:count(object, path, "stop")', wrong = "both ends are stripped alike" },
    { name = "components_join", old = "kind = DECODE.join, a = \" \"", new = "kind = DECODE.fuse, a = \" \"",
      wrong = "without a decoder words have no space between" },
  }

  of("gen/text/gguf.lua", spec .. "text/gguf_spec.lua") {
    { name = "gguf_lengths", old = "if has_length[at - 1] and has_length[#token - at + 1] then", new = "do",
      filter = "merges of long tokens", wrong = "each half of a long token is looked up" },
    { name = "gguf_read", old = "if read > MOST_READ then", new = "if false then", filter = "merges of long tokens",
      wrong = "tokens of many lengths take minutes" },
  }

  of("gen/text/base64.lua", spec .. "text/components_spec.lua") {
    { name = "base64_padding", old = "#bytes - #padding", new = "#bytes", wrong = "padding of base64 is text" },
  }

  of("gen/text/pieces.lua", spec .. "text/pieces_spec.lua") {
    { name = "pieces_class", old = 'if type(stated) == "string" then', new = 'if type(stated) == "strings" then',
      filter = "another class", wrong = "a class that is not supported has the steps of the folder's type" },
    { name = "pieces_strips", old = "key == \"mask_token\" and class.mask or {}", new = "{}", filter = "Camembert",
      wrong = "a mask keeps the space before it" },
    { name = "pieces_ids", old = "id, count = count, count + 1", new = "return", filter = "Deberta",
      wrong = "special tokens that the vocabulary lacks are left out" },
  }

  of("gen/text/sentencepiece.lua", spec .. "text/tokenizer_spec.lua") {
    { name = "sentencepiece_end", old = "if not is_whole or not is_right", new = "if not is_right",
      filter = "spiece", wrong = "a model that is cut off is read" },
  }

  of("gen/text/tokenizer.lua", spec .. "text/tokenizer_spec.lua") {
    { name = "tokenizer_side", old = "calls and calls.from_left or state.from_left", new = "state.from_left",
      filter = "side and the types", wrong = "truncation_side is ignored" },
  }

  of("gen/text/classes.lua", spec .. "text/tokenizer_spec.lua") {
    { name = "classes_other", old = "(other[model.model_type] or {})[stated] or stated", new = "stated",
      filter = "SigLIP 2", wrong = "SigLIP 2 keeps capitals" },
    { name = "classes_lower", old = 'before(root, { type = "Lowercase" })\nend', new = "end", filter = "small letters",
      wrong = "sentence-transformers' do_lower_case is passed over" },
    { name = "classes_names", old = "not words.set(names).token_type_ids", new = "false", filter = "side and the types",
      wrong = "a folder that asks for no types gets them" },
  }

  of("gen/text/process.lua", spec .. "text/process_spec.lua") {
    { name = "process_types", old = 'special(look, object, path, "sep"), 1)',
      new = 'special(look, object, path, "sep"), 0)', wrong = "BERT's pair has the type of the first text" },
    { name = "process_doubled", old = '"sep"), 0, true), trims', new = '"sep"), 0), trims',
      wrong = "RoBERTa's pair has one separator" },
    { name = "process_trim", old = "flags = add_prefix_space and 1 or 0", new = "flags = 1",
      wrong = "a space that stands in the text belongs to no place" },
    { name = "process_template_type", old = "piece(TOKEN, id, type_id, pair)", new = "piece(TOKEN, id, 0, pair)",
      wrong = "special tokens of a template have the type 0" },
    { name = "process_none", old = "piece(SECOND, 0, 1, 1) }", new = "piece(SECOND, 0, 0, 1) }",
      wrong = "without a post-processor a pair has one type" },
  }

  of("gen/text/model.lua", spec .. "text/model_spec.lua") {
    { name = "model_version", old = 'if type(merge) ~= "string" or merge:sub(1, 8) ~= "#version" then',
      new = "if true then", wrong = "the line of the version is a merge" },
    { name = "model_prefix", old = "b:sub(prefix + 1)", new = "b",
      wrong = "a merge keeps the prefix of its second half" },
    { name = "model_penalty", old = "UNKNOWN_PENALTY = 10", new = "UNKNOWN_PENALTY = 1",
      wrong = "unknown characters cost less than the library says" },
    { name = "model_scores", old = "as_read(score + 0.0)", new = "score + 0.0",
      wrong = "scores are nearer to what is written than the library's" },
    { name = "model_added", old = "made.added_ids[content] or made.ids[content]", new = "made.added_ids[content]",
      wrong = "an added token that the model has gets a new id" },
    { name = "model_needs_unknown", old = "if token and not made.unknown then made.options",
      new = "if not made.unknown then made.options", wrong = "a model without an unknown token refuses texts" },
    { name = "model_flags", old = "bits | numbers.ADDED[name]", new = "bits | numbers.ADDED[name] << 1",
      wrong = "flags are those beside them" },
    { name = "model_next_id", old = "next_id = {}, {}, made.count", new = "next_id = {}, {}, made.largest",
      wrong = "the first added token takes the last one's id" },
  }

  of("gen/text/specials.lua", spec .. "text/specials_spec.lua") {
    { name = "specials_class", old = "found.cls or (has_own and find(names.cls) or nil)",
      new = "found.cls or find(names.cls)", wrong = "a class without names of its own has a CLS" },
    { name = "specials_bos", old = "if not found.bos and", new = "if",
      wrong = "config.json comes before the tokenizer" },
  }

  of("gen/text/agree.lua", spec .. "text/agree_spec.lua") {
    { name = "agree_default", old = '"lowercase", true }', new = '"lowercase", nil }',
      wrong = "transformers' default is not compared" },
    { name = "agree_listed", old = "is_new or entry and token.is_listed", new = "is_new",
      wrong = "flags of added_tokens_decoder are passed over" },
    { name = "agree_sequence", old = '{ "normalizers", "pretokenizers" }', new = '{ "pretokenizers" }',
      wrong = "a normalizer in a sequence is not compared" },
  }

  of("gen/text/regex.lua", spec .. "text/regex_spec.lua") {
    { name = "regex_atomic", old = '"=" or ">"', new = '"=" or ":"',
      wrong = "a character is matched in several ways, so that a match takes exponential time" },
    { name = "regex_lines", old = '"(?>(?!%s)(?s:.))"', new = '"(?>(?!%s).)"', wrong = "[^a&&b] matches no newline" },
    { name = "regex_inner_word", old = "inner_word = listed.rust_word",
      new = 'inner_word = union("outer_word", "rust_word")',
      wrong = "superscripts are in [\\\\w]" },
    { name = "regex_hyphen", old = ' and self:peek(3) ~= "-&&"', new = "", wrong = "[a-&&b] is a range" },
    { name = "regex_inner_case", old = 'if self.insensitive and negated then', new = "if false then",
      wrong = "(?i:[a[^b]]) is translated" },
    { name = "regex_literal", old = 'find("[%w ]")', new = 'find("[%g ]")',
      wrong = "a literal sign has a meaning in the pattern" },
    { name = "regex_surrogates", old = "(code >= 0xd800 and code < 0xe000)", new = "code == 0xd800",
      wrong = "a half of a pair is a character" },
  }

  of("runtime/text/process.c", "c:text") {
    { name = "limit_odd", old = "n1 = most / 2, n2 = n1 + most % 2", new = "n2 = most / 2, n1 = n2 + most % 2",
      filter = "text/a_limit*", wrong = "the shorter text has the rest of an odd limit" },
    { name = "limit_shorter", old = "n1 > most - n1 ? n1 : most - n1", new = "n1", filter = "text/a_limit*",
      wrong = "the longer text has no more than the shorter one" },
    { name = "limit_from_left", old = "if (from_left) encoding->first += removed;", new = "(void)from_left;",
      filter = "text/a_limit*", wrong = "a limit from the left takes the last tokens away" },
    { name = "windows_left", old = "last = cut->first + stride", new = "last = cut->first + (stride ? stride - 1 : 0)",
      filter = "text/windows*", wrong = "windows from the left share a token less" },
    { name = "windows_right", old = "cut->first = end - stride", new = "cut->first = end", filter = "text/windows*",
      wrong = "windows share nothing" },
    { name = "windows_first", old = "last > full ? last - full : 0", new = "last > full ? last - full : 1",
      filter = "text/windows*", wrong = "the last window from the left has no first token" },
    { name = "process_pair", old = "piece.pair != (uint32_t)has_pair", new = "piece.pair > (uint32_t)has_pair",
      filter = "text/a_limit*", wrong = "a pair has the template of one text, too" },
    { name = "process_blanks", old = "blanks.leading == 1 && keeps_one", new = "keeps_one", filter = "text/two*",
      wrong = "two spaces before a word belong to its place" },
  }

  of("runtime/text/model_wordpiece.c", goldens) {
    { name = "wordpiece_prefix", old = "begin ? text->prefix :", new = "begin > 1 ? text->prefix :",
      filter = "bert_uncased gives", wrong = "what follows the first letter is a word of its own" },
    { name = "wordpiece_longest", old = "return count > most;", new = "return count >= most;", suite = "c:text",
      filter = "text/a_word*", wrong = "a word as long as is allowed is unknown" },
    { name = "wordpiece_characters", old = "count += (bytes[i] & 0xc0) != 0x80", new = "count += bytes != NULL",
      suite = "c:text",
      filter = "text/a_word*", wrong = "the longest word is counted in bytes" },
    { name = "wordpiece_rest", old = "work->tokens.count = first;", new = "(void)first;",
      filter = "bert_uncased gives", wrong = "an unknown word has pieces before it" },
  }

  of("runtime/text/model_bpe.c", goldens) {
    { name = "bpe_leftmost", old = "symbols[at].rank < symbols[best].rank",
      new = "symbols[at].rank <= symbols[best].rank",
      filter = "llama3 gives", wrong = "of equal pairs the last is merged" },
    { name = "bpe_heap", old = "a.position < b.position", new = "a.position > b.position", filter = "gpt2 gives",
      wrong = "of equal pairs of a long word the last is merged" },
    { name = "bpe_fuse", old = "if (pending && !(options & OPTION_FUSE_UNKNOWN))", new = "if (pending)",
      filter = "partial_fused gives", wrong = "unknown characters are a token each" },
    { name = "bpe_stale", old = "left->result != top.result || left->rank != top.rank", new = "0",
      filter = "gpt2 gives", wrong = "a pair that has changed is merged" },
    { name = "bpe_suffix", old = "is_last ? text->suffix.length : 0, read;", new = "is_last ? 0 : 0, read;",
      filter = "suffix gives", wrong = "the end of a word has no suffix" },
    { name = "bpe_whole", old = "if (id != TEXT_NONE) return text_token_add(work, id, 0, length);",
      new = "if (id == 0) return text_token_add(work, id, 0, length);", filter = "llama3 gives",
      wrong = "a word of the vocabulary is merged from its letters" },
  }

  of("runtime/text/model_unigram.c", goldens) {
    { name = "unigram_tie", old = "NO_PATH || score > path->score", new = "NO_PATH || score >= path->score",
      filter = "xlmr gives", wrong = "of two ways with one score the later is taken" },
    { name = "unigram_unknown", old = "while (end < length && paths", new = "while (end < begin && paths",
      filter = "xlmr gives", wrong = "neighbours that are unknown are a token each" },
    { name = "unigram_bytes", old = "!= TEXT_NONE;\n  if (!has_bytes)", new = "== TEXT_NONE;\n  if (!has_bytes)",
      filter = "unigram_bytes gives", wrong = "unknown characters are no bytes" },
  }

  of("runtime/text/added.c", goldens) {
    { name = "added_lstrip", old = "while ((flags & ADDED_LSTRIP)", new = "while ((flags & ADDED_RSTRIP)",
      filter = "added gives", wrong = "a token takes the space before it, not the one after it" },
    { name = "added_split", old = "(added.flags & ADDED_SPECIAL)) continue;", new = "added.flags == 0) continue;",
      suite = spec .. "text/open_spec.lua", filter = "split_special_tokens",
      wrong = "special tokens are found though they are split" },
    { name = "added_alone", old = "*alone = !before && !after;", new = "*alone = !before;", filter = "added gives",
      wrong = "a token of single words is found at the beginning of a word" },
  }

  of("runtime/text/added_trie.c", "c:text") {
    { name = "added_longest", old = "nodes[node].token != TEXT_NONE ? node : nodes[nodes[node].shorter].found",
      new = "nodes[nodes[node].shorter].found ? nodes[nodes[node].shorter].found\n"
        .. "      : nodes[node].token != TEXT_NONE ? node : 0",
      filter = "text/added*", wrong = "of added tokens the shortest is taken" },
  }

  of("runtime/text/normalize/bert.c", goldens) {
    { name = "bert_ascii", old = "byte >= 'A' && byte <= 'Z'", new = "byte >= 'A' && byte < 'Z'",
      filter = "bert_accents gives", wrong = "Z stays" },
    { name = "bert_clean", old = "byte == 9 || byte == 10 || byte == 13", new = "byte == 9 || byte == 10",
      filter = "bert_cased gives", wrong = "a carriage return is no space" },
    { name = "bert_chinese", old = "!(flags & BERT_CHINESE) || !text_is_chinese(point)",
      new = "!(flags & BERT_CHINESE)",
      filter = "bert_uncased gives", wrong = "each character beyond ASCII is a word" },
  }

  of("runtime/text/cut/spans.c", goldens) {
    { name = "cut_next", old = "return span->token && !span[1].token;",
      new = "return !span->token && span[1].token;", filter = "split_next gives",
      wrong = "a match joins what stands before it" },
    { name = "cut_contiguous", old = "while (next < spans->count && joins(", new = "if (next < spans->count && joins(",
      filter = "split_contiguous gives", wrong = "two neighbours of one kind become one, not all" },
    { name = "cut_removed", old = "behavior == BEHAVIOR_REMOVED && span.token",
      new = "behavior == BEHAVIOR_REMOVED && !span.token",
      filter = "removed gives", wrong = "what is between matches is removed" },
  }

  of("runtime/text/cut/bytes.c", goldens) {
    { name = "bytes_prefix", old = "in->bytes[piece->begin] != ' '", new = "in->bytes[piece->begin] == ' '",
      filter = "bytes_prefix gives", wrong = "a space is put before a space" },
  }

  of("runtime/text/cut/metaspace.c", goldens) {
    { name = "metaspace_first", old = "in->origins[piece.begin].from == 0", new = "in->origins[piece.begin].from < 99",
      filter = "llama_new gives", wrong = "what follows an added token begins with a space" },
  }

  of("runtime/text/decode_words.c", goldens) {
    { name = "decode_first", old = "if (!is_begin && begins_with(word, 0, component->a))",
      new = "if (begins_with(word, 0, component->a))", filter = "prefix gives",
      wrong = "the first piece loses its prefix" },
    { name = "decode_cleanup", old = '{" ,", ","}', new = '{" ,", " ,"}', filter = "bert_uncased gives",
      wrong = "one of the cleanups is left out" },
    { name = "decode_strip", old = "n < most &&", new = "n <= most &&",
      filter = "llama_old gives", wrong = "a space more is stripped" },
    { name = "decode_metaspace", old = "drops = is_first(work, i) && component->number != SCHEME_NEVER",
      new = "drops = is_first(work, i)",
      suite = "c:text", filter = "text/spaces*", wrong = "the first space is dropped that nobody put there" },
  }

  of("runtime/text/decode_bytes.c", goldens) {
    { name = "decode_run", old = "i < run->length && !valid", new = "i < 1 && !valid", filter = "llama_new gives",
      wrong = "bytes that are no text are one sign for all" },
    { name = "decode_letters", old = "to->length = before;", new = "(void)before;", suite = "c:text",
      filter = "text/words*",
      wrong = "a word that is no letters is written twice in part" },
  }

  local translated = spec .. "whole/languages_spec.lua"

  of("gen/text/library.lua", translated) {
    { name = "library_floats", old = "scores[places[id]], found[token] = as_float(given.scores[token]), places[id]",
      new = "scores[places[id]], found[token] = 0.0, places[id]", filter = "texts: marian$",
      wrong = "all pieces have the same score" },
    { name = "library_ranks", old = "a > b", new = "a < b", filter = "m2m_100_bpe", wrong = "rare pieces come first" },
  }

  of("gen/text/languages.lua", translated) {
    { name = "languages_older", old = "older and rules.older or rules.around", new = "rules.around",
      filter = "nllb_legacy", wrong = "older folders have the language before the text" },
    { name = "languages_source", old = 'json.given(config, "src_lang", rules.default)',
      new = "rules.default", filter = "mbart_json", wrong = "the folder's own source language is ignored" },
  }

  of("gen/text/pieces.lua", translated) {
    { name = "merges_halves", old = "if known[left] and known[right] then", new = "if known[left] then",
      suite = spec .. "text/pieces_spec.lua", filter = "NllbTokenizer", wrong = "halves that are no pieces merge" },
  }

  of("runtime/text/normalize/precompiled.c", translated) {
    { name = "precompiled_longest", old = "key[i] && (is_longest || !found)",
      new = "key[i] && (is_longest < 2 && !found)", filter = "texts: marian$",
      wrong = "the shortest entry of a map counts" },
  }

  of("runtime/text/added.c", translated) {
    { name = "added_code", old = "end - begin >= 4 &&\n      memcmp(bytes + begin, \">>\", 2) == 0",
      new = "end - begin >= 4", filter = "texts: marian$", wrong = "any text before << is a code" },
    { name = "added_unknown_code", old = "if (id == TEXT_NONE) id = tables->settings[SETTING_UNKNOWN];", new = "",
      filter = "texts: marian$", wrong = "a code that the vocabulary lacks is text" },
  }

  of("runtime/text/buffer.c", translated) {
    { name = "buffer_known", old = "if (id >= work->text->tables.known)", new = "if (0)", filter = "texts: marian$",
      wrong = "a piece without a number gets a number of its own" },
  }

  of("runtime/text/process.c", translated) {
    { name = "process_language", old = "piece->kind == TEMPLATE_LANGUAGE && language ?", new = "0 ?",
      filter = "texts: nllb$", wrong = "the caller's language is ignored" },
  }

  of("runtime/text/decode_words.c", translated) {
    { name = "decode_held", old = "work->is_held |= ends_later;", new = "(void)ends_later;", filter = "m2m_100_bytes",
      wrong = "blanks between pieces that come one by one are lost" },
  }
end
