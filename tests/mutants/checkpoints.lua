-- checkpoints.lua: the part of list.lua that concerns checkpoint folders: keys of config.json, names, boxes of tensors.
-- of and spec: as in list.lua.
return function(of, spec)
  of("gen/checkpoints/families/pairs/t5_writer.lua", spec .. "checkpoints/values_spec.lua") {
    { name = "t5_writer_divides", old = "if given.scale_decoder_outputs == nil then divides = facts.is_tied end",
      new = "", filter = "of t5:writer gives each key", wrong = "Flan-T5's scores are divided" },
    { name = "t5_writer_layers", old = "facts.decoder_layers or facts.layers", new = "facts.layers",
      filter = "of t5:writer gives each key", wrong = "the decoder has the layers of the encoder" },
  }

  of("gen/data/languages.lua", spec .. "passes/validate/speech_spec.lua") {
    { name = "languages_letters", old = "given:lower()", new = "given", filter = "takes tokens",
      wrong = "names of languages are written in small letters only" },
  }

  of("gen/checkpoints/seq2seq.lua", spec .. "checkpoints/values_spec.lua") {
    { name = "seq2seq_scale", old = "facts.scales and math.sqrt(facts.d_model) or nil", new = "nil",
      filter = "of bart gives each key", wrong = "embeddings are not scaled" },
    { name = "seq2seq_rows", old = "facts.longest + 2", new = "facts.longest", filter = "of bart gives each key",
      wrong = "a table of positions lacks its first two rows" },
  }

  of("gen/common/headers.lua", spec .. "checkpoints/import_spec.lua") {
    { name = "headers_equal", old = "if not block or block ~= other:read(count) then return false end", new = "",
      filter = "copies", wrong = "an output's own table is taken for a copy of another" },
  }

  local captions = spec .. "whole/captions_spec.lua"

  of("gen/checkpoints/families/pairs/blip.lua", captions) {
    { name = "blip_end", old = "text.sep_token_id or 102", new = "text.eos_token_id or 2", filter = "blip",
      wrong = "captions end with another token" },
  }

  of("gen/checkpoints/families/pictures/blip_vision.lua", spec .. "checkpoints/values_spec.lua") {
    { name = "blip_vision_size", old = "image = 384", new = "image = 224", filter = "blip_vision_model has",
      wrong = "pictures have another size" },
  }

  of("gen/checkpoints/families/pairs/vision_gpt2.lua", captions) {
    { name = "vision_gpt2_values", old = '"h.*.crossattention.c_attn", parts = 2,',
      new = '"h.*.crossattention.c_attn", part = 1, parts = 2,', filter = "vit_gpt2",
      wrong = "values of pictures are their keys" },
  }

  of("gen/checkpoints/families/pairs/vision_trocr.lua", captions) {
    { name = "vision_trocr_first", old = "or facts.pad + 1", new = "or facts.pad", filter = "deit_trocr",
      wrong = "sinusoidal positions begin one too low" },
  }

  of("gen/checkpoints/families/pairs/marian.lua", spec .. "checkpoints/values_spec.lua") {
    { name = "marian_vocabulary", old = "if not facts.shares and facts.written_vocab then", new = "if false then",
      filter = "of marian gives each key", wrong = "texts are written with the vocabulary of sources" },
  }

  local values = spec .. "checkpoints/values_spec.lua"

  local encoders = "gen/checkpoints/families/encoders/"
  for file, mutant in pairs {
    eurobert = { "facts.variant = facts.pooling", "", "eurobert gives the stages", "late pooling is not known" },
    roberta_pre = { '== "roberta-prelayernorm"', '~= "roberta-prelayernorm"', "xlm.roberta.xl has",
      "norms are swapped" },
    ernie = { "if not facts.has_tasks", "if facts.has_tasks", "ernie gives each", "tasks are added to no model" },
    rembert = { 'dense", to = "scored"', 'dense", to = "d_model"', "rembert gives the stages",
      "the scoring layer is as wide as states" },
    esm = { "f.dropped = f.mask_id", "", "esm gives each key", "masked tokens keep their rows" },
    deberta = { "facts.bias, facts.projections = { k = false }", "facts.bias, facts.projections = nil",
      "of deberta has", "keys have a bias" },
    clip_text = { "facts.ending == 2 and -1 or facts.ending", "facts.ending", "clip_text_model gives each",
      "older folders end texts with the token 2" },
    layoutlm = { "default = 1024", "default = 1000", "layoutlm has", "tables of places have fewer rows" },
    layoutlmv3 = { "facts.by_distance and facts.by_box", "facts.by_box", "layoutlmv3 gives each",
      "boxes count without distances" },
    longformer = { "window = each // 2 + 1 end", "window = each + 1 end", "longformer has",
      "windows are twice as wide" },
  } do
    of(encoders .. file .. ".lua", values) { { name = "family_" .. file, old = mutant[1], new = mutant[2],
      filter = mutant[3], wrong = mutant[4] } }
  end

  of("gen/checkpoints/families/pictures/siglip2_vision.lua", values) {
    { name = "family_siglip2", old = "facts.num_patches ^ 0.5", new = "facts.num_patches * 1.0",
      filter = "siglip2_vision_model has", wrong = "the grid of positions has a side of all patches" },
  }

  of("gen/checkpoints/families/pictures/dinov3.lua", values) {
    { name = "family_dinov3", old = "k = facts.k_bias", new = "k = facts.q_bias", filter = "dinov3_vit has",
      wrong = "keys have the queries' bias" },
  }

  of("gen/text/older.lua", spec .. "text/older_spec.lua") {
    { name = "letters_unknown", old = "fuse_unk = true", new = "fuse_unk = false", filter = "ESM's letters",
      wrong = "each unknown letter is a token" },
  }

  of("gen/checkpoints/rotary.lua", values) {
    { name = "rotary_mscale", old = "attention = grown(scale) / grown(all)", new = "attention = 0",
      filter = "rotary", wrong = "yarn's mscale is ignored" },
    { name = "rotary_truncate", old = "if dictionary.truncate == false then", new = "if false then", filter = "rotary",
      wrong = "yarn's bounds are always rounded" },
    { name = "rotary_root", old = "math.log(factor) / math.log(original)", new = "math.log(factor)", filter = "rotary",
      wrong = "another attention factor of longrope" },
    { name = "rotary_theta", old = 'number("rope_theta", facts.rope_theta or 10000)', new = "facts.rope_theta or 10000",
      filter = "llama gives each", wrong = "theta in rope_parameters is ignored" },
    { name = "rotary_original", old = "facts.original or number(", new = "number(", filter = "llama gives each",
      wrong = "the original length beside rope_scaling is ignored" },
    { name = "rotary_beta", old = 'number("beta_slow", 1)', new = 'number("beta_fast", 1)', filter = "rotary",
      wrong = "one of yarn's bounds is the other" },
  }

  of("gen/checkpoints/facts.lua", values) {
    { name = "facts_alias", old = "for i = 1, #entry do", new = "for i = #entry, 1, -1 do", filter = "two names",
      wrong = "of two names of a key the last counts" },
    { name = "facts_null", old = "if entry.null ~= nil then return entry.null end", new = "",
      filter = "mistral gives each", wrong = "a window that is null is the default's" },
    { name = "facts_defaults", old = "local default = defaults[entry.to]", new = "local default",
      filter = "xlm%-roberta has", wrong = "every model has the defaults of its family's first" },
    { name = "facts_only", old = "{ known, \"config.json of \" .. family.name, \"config.json\" }",
      new = "{ known, \"config.json\" }", filter = "another value",
      wrong = "a value that this family does not support passes" },
    { name = "facts_sides", old = "return { value, value }", new = "return { value, 16 }", filter = "vit gives each",
      wrong = "images that are squares are not" },
  }

  of("gen/checkpoints/facts.lua", spec .. "checkpoints/file_keys_spec.lua") {
    { name = "facts_rope_keys", old = "check_rope(config[key], known[key] and key, notes)", new = "local _ = key",
      filter = "it lacks", wrong = "unknown keys of rotary positions get no line" },
  }

  of("gen/common/known.lua", spec .. "checkpoints/file_keys_spec.lua") {
    { name = "known_unknown", old = "unknown[#unknown + 1] = key", new = "unknown[1] = nil", filter = "it lacks",
      wrong = "unknown keys get no line" },
    { name = "known_allowed", old = "return each == value end)", new = "return true end)",
      filter = "refused: config", wrong = "values that are refused pass" },
    { name = "known_first", old = "if entry then return entry end", new = "return entry",
      wrong = "keys of all families are unknown in a family with keys of its own" },
    { name = "known_most", old = "math.min(#unknown, MOST_LINES)", new = "#unknown", filter = "it lacks",
      wrong = "an object may have thousands of lines" },
  }

  of("gen/checkpoints/gguf.lua", spec .. "checkpoints/gguf_spec.lua") {
    { name = "gguf_sampling", old = "if made.temperature == 0 then", new = "if false then", filter = "drawn",
      wrong = "a temperature of 0 draws tokens" },
    { name = "gguf_pooling", old = "if kind == 0 or kind == 0xffffffff then return nil end",
      new = "do return nil end", filter = "both sides",
      wrong = "what a decoder computes is not pooled" },
    { name = "gguf_turn_ends", old = "if token ~= \"<|end|>\" or not is_call then", new = "do",
      filter = "end a text", wrong = "<|end|> ends the answers of gpt-oss" },
    { name = "gguf_no_scaling", old = "kind == \"none\" and 1 or", new = "", filter = "rotary positions",
      wrong = "a factor scales positions that are said not to be scaled" },
    { name = "gguf_vocabulary", old = "stated ~= self.rows(tensor) then", new = "stated > self.rows(tensor) then",
      filter = "tokens as its table", wrong = "a number of tokens that is too small is taken" },
    { name = "gguf_joined_pairs", old = "unpair = part < 3 and source.unpair or nil", new = "unpair = nil",
      filter = "one tensor", wrong = "rows of joined queries are taken for halves" },
    { name = "gguf_saved_lists", old = "then metadata[key] = list[1] end", new = "then list = nil end",
      filter = "saved by", wrong = "lists of zeros are refused" },
  }

  of("gen/checkpoints/coded.lua", spec .. "checkpoints/coded_spec.lua") {
    { name = "coded_shifted", old = "if all == 0 or centred < all then", new = "do", filter = "symmetric GPTQ",
      wrong = "zero points of gptq_v2 are read one too high" },
  }

  of("gen/checkpoints/architectures.lua", spec .. "checkpoints/gguf_spec.lua") {
    { name = "gguf_gemma4_width", old = "{ head_dim = config.head_dim, num_key_value_heads = count }",
      new = "{ num_key_value_heads = count }", filter = "Gemma 4", wrong = "all heads of Gemma 4 have one width" },
    { name = "gguf_olmo3_base", old = "rope_theta = base } }", new = "rope_theta = 5e5 } }",
      filter = "missing or 0", wrong = "layers of OLMo 3 with a window have transformers' base" },
    { name = "gguf_causal", old = "      config.is_causal = false\n", new = "", filter = "both sides",
      wrong = "a decoder that sees both sides is causal" },
  }

  of("gen/checkpoints/sentence.lua", values) {
    { name = "import_tokenizer_limit", old = '{ config, "model_max_length", "tokenizer_config.json" },', new = "",
      suite = spec .. "checkpoints/import_spec.lua", filter = "the limit that", wrong = "model_max_length is ignored" },
    { name = "sentence_normalise", old = "check_place({ kind = module.kind, config = module.config or {} }, stages)",
      new = "local _ = module", filter = "something else", wrong = "rows of tokens that are to be scaled are not" },
  }

  of("gen/checkpoints/import.lua", values) {
    { name = "import_window", old = "{ window - 1, causal", new = "{ window, causal",
      filter = "mistral has", wrong = "a window is a token too wide" },
    { name = "import_first_position", old = "self.family.positions_after_pad and f.pad + 1",
      new = "self.family.positions_after_pad and f.pad", filter = "roberta has",
      wrong = "positions begin at the padding's" },
    { name = "import_head_dim", old = "f.head_dim * f.heads ~= f.d_model and f.head_dim", new = "f.head_dim",
      filter = "t5 has", wrong = "the usual width of a head is stated" },
    { name = "import_limit", old = "f.max_position - first", new = "f.max_position", filter = "mpnet gives each",
      wrong = "a length has more tokens than there are positions" },
    { name = "import_labels", old = "#tensor.shape == 2 then return tensor.shape[1]",
      new = "#tensor.shape == 2 then return tensor.shape[2]", filter = "make labels",
      wrong = "a classifier has a label for each input" },
    { name = "import_sigmoid", old = '"multi_label_classification" and "sigmoid"',
      new = '"multi_label_classification" and "none"', filter = "make labels",
      wrong = "several labels have no probabilities" },
    { name = "import_padding", old = "not causal or needs_lengths(stages)", new = "not causal",
      filter = "llama gives the stages", wrong = "a causal model that pools has no lengths" },
    { name = "import_tied", old = "if result.tied == true then", new = "if result.tied ~= nil then",
      filter = "bert gives the stages", wrong = "a decoder of its own is taken for the tokens' table" },
    { name = "import_bias", old = "f.bias or fixed.bias or", new = "fixed.bias or", filter = "qwen2 has",
      wrong = "biases that a family derives are ignored" },
    { name = "import_sequence_length", old = "math.min(most, sentence.limit(self.folder, self.notes) or most)",
      new = "sentence.limit(self.folder, self.notes) or most", filter = "bound the length",
      wrong = "a length beyond the positions" },
    { name = "import_classes", old = "if not json.is_texts(classes) then", new = 'if type(classes) ~= "table" then',
      suite = spec .. "checkpoints/import_spec.lua", filter = "list of strings",
      wrong = "a list of numbers names the class" },
  }

  of("gen/checkpoints/folder.lua", spec .. "checkpoints/import_spec.lua") {
    { name = "folder_processor", old = "and whole[key] ~= json.null then", new = "and false then",
      suite = spec .. "checkpoints/pictures_spec.lua", wrong = "processor_config.json has no pictures" },
  }

  of("gen/text/chat/template.lua", spec .. "text/chat/template_spec.lua") {
    { name = "template_processor", old = '"chat_template.json", "processor_config.json"', new = '"chat_template.json"',
      wrong = "a processor's template is passed over" },
  }

  of("gen/passes/graph/factors.lua", spec .. "passes/graph/smoothing_spec.lua") {
    { name = "factors_cut", old = "count ~= tostring(number - 1) or", new = "",
      wrong = "a file of factors may be cut" },
  }

  of("gen/passes/ranks/divide.lua", spec .. "passes/ranks_spec.lua") {
    { name = "divide_outputs", old = 'op.operands.b.kind == "output" then return false end',
      new = "false then return 0 end", wrong = "ranks add their terms of outputs before they meet" },
  }

  of("gen/commands/companion.lua", spec .. "commands/companion_spec.lua") {
    { name = "companion_place", old = "  files.check_place(path)\n", new = "",
      wrong = "a file that cannot be written is found at the end" },
  }

  of("gen/checkpoints/heads.lua", values) {
    { name = "heads_gelu", old = 'gelu_new = "gelu_tanh"', new = 'gelu_new = "gelu"', filter = "activations",
      wrong = "another gelu" },
    { name = "heads_eps", old = "defaults.eps and 1e-6 or nil", filter = "llama has",
      new = "defaults.eps and 1e-5 or nil",
      wrong = "another epsilon where a folder states none" },
    { name = "heads_score", old = '{ "linear", to = "labels", bias = false, name = "logits", tensor = "score" }',
      new = '{ "linear", to = "labels", name = "logits", tensor = "score" }', filter = "llama gives the stages",
      wrong = "a classifier without a bias gets one" },
    { name = "heads_end", old = "part = 2, parts = 2", new = "part = 1, parts = 2", filter = "bert gives the stages",
      wrong = "an answer ends where it begins" },
  }

  of("gen/checkpoints/families/encoders/albert.lua", values) {
    { name = "albert_groups", old = "i * facts.groups // facts.layers", new = "i // facts.groups",
      filter = "albert gives each", wrong = "layers share other weights" },
  }

  of("gen/checkpoints/families/decoders/gpt2.lua", values) {
    { name = "gpt2_inverse", old = "factor = 1 / (i + 1)", new = "factor = 1 / i", filter = "gpt2 gives each",
      wrong = "scores are divided by the number of the layer before" },
  }

  of("gen/checkpoints/layers.lua", values) {
    { name = "layers_bases", old = 'local kind = slides and "sliding_attention" or "full_attention"',
      new = 'local kind = "full_attention"', filter = "gemma3_text gives each",
      wrong = "layers with a window have the base of the others" },
  }

  of("gen/checkpoints/gemma.lua", values) {
    { name = "gemma3_both_sides", old = "(facts.window - more) // 2 + 1", new = "facts.window + 1",
      filter = "gemma3_text gives each", wrong = "a window to both sides is not halved" },
  }

  of("gen/checkpoints/families/encoders/gte.lua", values) {
    { name = "gte_ntk", old = "factor ^ (2 * facts.heads / facts.d_model)", new = "factor",
      filter = "of new gives each", wrong = "all frequencies are divided by the factor" },
  }

  of("gen/checkpoints/families/encoders/nomic_bert.lua", values) {
    { name = "nomic_padded", old = "(facts.vocab + facts.multiple - 1) // facts.multiple * facts.multiple",
      new = "facts.vocab", filter = "nomic_bert gives each", wrong = "the vocabulary is not padded" },
  }

  of("gen/checkpoints/families/decoders/smollm3.lua", values) {
    { name = "smollm3_rope", old = "i % facts.interval ~= 0", new = "(i - 1) % facts.interval ~= 0",
      filter = "smollm3 has", wrong = "another layer has no positions" },
  }

  of("gen/checkpoints/layers.lua", spec .. "checkpoints/layers_spec.lua") {
    { name = "layers_longest", old = "math.min(facts.window, keys.LONGEST)", new = "facts.window",
      wrong = "a window that is longer than any sequence may be is refused" },
    { name = "layers_switch", old = "slides and not facts.use_window", new = "false",
      wrong = "windows without their switch pass" },
    { name = "qwen2_window", suite = values, old = "i >= facts.window_layers", new = "i > facts.window_layers",
      filter = "qwen2 gives",
      wrong = "the first layer with a window has none" },
  }

  of("gen/checkpoints/families/pairs/t5.lua", values) {
    { name = "t5_gelu", old = 'if gated and name == "gelu" then', new = 'if name == "gelu" then',
      filter = "t5 gives each", wrong = "a gelu without a gate is the approximate one" },
  }

  of("gen/checkpoints/sentence.lua", values) {
    { name = "sentence_pools", old = '{ "mean_sqrt_len_tokens", "mean_sqrt_len_tokens", "root" }',
      new = '{ "mean_sqrt_len_tokens", "mean_sqrt_len_tokens", "mean" }', filter = "each pooling",
      wrong = "sums are divided by the length, not by its root" },
    { name = "sentence_order", old = '{ "cls_token", "cls", "first" }, { "max_tokens", "max", "max" }',
      new = '{ "max_tokens", "max", "max" }, { "cls_token", "cls", "first" }', filter = "each pooling",
      wrong = "two poolings are the other way round" },
    { name = "sentence_bias", old = "bias = config.bias ~= false", new = "bias = true", filter = "each dense",
      wrong = "a dense layer without a bias gets one" },
    { name = "sentence_activation", old = "return activations.Tanh", new = "return nil", filter = "each dense",
      wrong = "a dense layer without a word has no activation" },
  }

  of("gen/checkpoints/names.lua", spec .. "checkpoints/names_spec.lua") {
    { name = "names_braces", old = 'words.list(list, "[^,]+")[i]', new = 'words.list(list, "[^,]+")[1]',
      filter = "braces", wrong = "each of a rule's paths has the first of its names" },
    { name = "names_old", old = '"LayerNorm.gamma"', new = '"LayerNorm.beta"', filter = "old",
      wrong = "old checkpoints have another tensor as a norm's weight" },
    { name = "names_prefixes", old = "do result[#result + 1] = prefix .. name end",
      new = "do result[#result + 1] = name end", filter = "prefix",
      wrong = "names are looked for without their prefixes" },
    { name = "names_when", old = "not rule.when or rule.when(spec)", new = "true", filter = "without types",
      wrong = "rules hold for every model" },
  }

  of("gen/checkpoints/grid.lua", spec .. "checkpoints/sources_spec.lua") {
    { name = "grid_tokens", old = "return rule.tokens or 1 end", new = "return 1 end", filter = "positions",
      wrong = "every table of positions begins with one token" },
  }

  of("gen/checkpoints/pictures.lua", spec .. "checkpoints/pictures_spec.lua") {
    { name = "pictures_null", old = "return json.stated(config, key, default) end",
      new = "return json.given(config, key, default) end", filter = "all keys", wrong = "null is the default" },
    { name = "pictures_square", old = "and (rows == columns or not rule.any_size)", new = "", filter = "square",
      wrong = "a table of DINOv2 has the grid of the image" },
    { name = "pictures_padded", old = "and not (result.pad and result.height <= sides[1] and result.width <= sides[2])",
      new = "and not result.pad", filter = "says why", wrong = "padding makes pictures smaller" },
  }

  of("gen/checkpoints/sources.lua", spec .. "checkpoints/sources_spec.lua") {
    { name = "sources_part", old = "if i < rule.part then before = before + each end",
      new = "if i <= rule.part then before = before + each end", wrong = "a part is the one after it" },
    { name = "sources_unpair", old = "from = head + half, step = 2", new = "from = head + half, step = 1",
      wrong = "pairs of rotated rows are taken for halves" },
    { name = "sources_width", old = "assert(spec[part], part) * spec.head_dim", new = "assert(spec[part], part)",
      wrong = "a part of all heads has a row for each" },
    { name = "sources_plus_one", old = "factor = factor, plus_one = rule.plus_one }", new = "factor = factor }",
      wrong = "norms stored as one less are taken as they are" },
    { name = "sources_factor", old = "local factor = target.factor * (rule.factor or 1)",
      new = "local factor = target.factor", wrong = "a source's factor is ignored" },
    { name = "sources_added", old = "column = target.column, added = true,",
      new = "column = target.column, added = false,",
      wrong = "what is to be added replaces what is there" },
    { name = "sources_transposed", old = "transposed and 1 or all_columns, transposed and stored_rows or 1",
      new = "transposed and 1 or all_columns, 1", wrong = "a transposed tensor is read along its rows" },
  }

  of("gen/checkpoints/folder.lua", spec .. "checkpoints/import_spec.lua") {
    { name = "folder_torch", old = '{ "model.safetensors", "pytorch_model.bin" }', new = '{ "model.safetensors" }',
      filter = "a pickle", wrong = "files of torch.save() are no checkpoints" },
  }

  of("gen/checkpoints/fits.lua", spec .. "checkpoints/gguf_spec.lua") {
    { name = "fits_unread", old = "if is_part and not used", new = "if false and not used",
      filter = "no weight comes from",
      wrong = "a bias that the model does not compute with is left out without a word" },
  }

  of("gen/checkpoints/fits.lua", spec .. "checkpoints/fits_spec.lua") {
    { name = "fits_type", old = "if tensor and tensor.expected then", new = "if false then",
      wrong = "a tensor of integers is read as floats" },
    { name = "fits_rows", old = "have[1] ~= want[1] then return false", new = "false then return false",
      wrong = "a tensor of the same columns fits, whatever its rows" },
  }

  of("gen/common/gguf.lua", spec .. "common/gguf_spec.lua") {
    { name = "gguf_begins", old = 'if files.read_some(path, 4) ~= "GGUF" then', new = "if false then",
      filter = "cut anywhere", wrong = "a file that is no GGUF is refused as another format" },
  }

  of("gen/common/headers.lua", spec .. "checkpoints/coded_spec.lua") {
    { name = "headers_path", old = "if line:sub(1, #path) ~= path then", new = "if false then", filter = "do not fit",
      wrong = "a fault does not name the file" },
  }

  of("runtime/reading/checkpoint.c", spec .. "common/gguf_spec.lua") {
    { name = "gguf_part", old = "split.number == number && split.count", new = "split.count", filter = "several parts",
      wrong = "any file of the right name is a part" },
  }

  of("runtime/tools/tensors.c", spec .. "common/gguf_spec.lua") {
    { name = "tool_sign", old = "(int64_t)(value << (64 - 8 * entry->bytes)) >> (64 - 8 * entry->bytes)",
      new = "(int64_t)value", filter = "metadata", wrong = "negative numbers are read as large ones" },
    { name = "tool_bool", old = "(is_bool && value > 1) ||", new = "", filter = "contradicts",
      wrong = "a boolean may be 2" },
  }

  of("gen/checkpoints/facts.lua", spec .. "whole/counts_spec.lua") {
    { name = "facts_most", old = "meant > most_of(entry) then", new = "meant > 1 << 53 then", filter = "are named",
      wrong = "a loop follows any number of layers" },
  }

  of("gen/checkpoints/gguf.lua", spec .. "checkpoints/gguf_spec.lua") {
    { name = "gguf_count", old = "value >= 1 and value <= most", new = "value >= 1", filter = "is refused by the key",
      wrong = "a loop follows any number of blocks" },
  }

  of("gen/checkpoints/write.lua", spec .. "whole/counts_spec.lua") {
    { name = "write_infinite", old = '  return value > 0 and "1e999" or value < 0 and "-1e999" or "0 / 0"', new = "",
      filter = "are named", wrong = "an infinite number has no text" },
  }

  of("gen/checkpoints/architectures.lua", spec .. "checkpoints/gguf_spec.lua") {
    { name = "gguf_pairs", old = '{ "blk.*.attn_{q,k}", unpair = pairs }', new = '{ "blk.*.attn_{q,k}" }',
      filter = "is compiled as far",
      wrong = "Llama's queries keep the order of pairs" },
  }

  of("gen/checkpoints/names.lua", spec .. "checkpoints/sources_spec.lua") {
    { name = "names_meant", old = 'if modules[i]:sub(1, #path + 1) == path .. "." then return modules[i] end', new = "",
      filter = "path that was meant", wrong = "of a stage that is named the parameters are not" },
  }

  of("gen/checkpoints/folder.lua", spec .. "checkpoints/import_spec.lua") {
    { name = "folder_family", old = "if look then look(config) end", new = "", filter = "before it lacks weights",
      wrong = "an unsupported family is refused for its missing weights" },
    { name = "folder_graphs", old = 'ipairs { path, path .. "/onnx" }', new = "ipairs { path }",
      filter = "another format", wrong = "graphs in the inner folder are not named" },
  }

  of("gen/common/kinds.lua", spec .. "passes/describe_spec.lua") {
    { name = "kinds_hub", old = 'name = name or id:match("^[%w][%w_-][%w._-]*$")', new = "",
      filter = "a folder: a fault of input", wrong = "a hub's name without an organisation is no advice" },
  }

  of("runtime/weights/hints.c", "c:checkpoint") {
    { name = "hints_wanted", old = "if (ends_with(*name, end)) return 1;", new = "(void)end;",
      filter = "checkpoint/says_what*", wrong = "a model is advised to have the naming scheme that it has" },
  }

  of("gen/text/gguf.lua", spec .. "text/gguf_spec.lua") {
    { name = "gguf_wordpiece", old = 'list[i] = "##" .. token', new = "list[i] = token", filter = "WordPiece",
      wrong = "parts of words begin words" },
    { name = "gguf_gemma4_bos", old = "file.metadata[\"tokenizer.ggml.add_bos_token\"] = true\n", new = "",
      filter = "Gemma 4", wrong = "texts of Gemma 4 begin without BOS" },
    { name = "gguf_bytes", old = "self.kinds[id + 1] ~= TYPE.byte", new = "false", filter = "256 bytes",
      wrong = "255 bytes are taken for all" },
    { name = "gguf_merges", old = "if a.score ~= b.score then return a.score > b.score end", new = "",
      filter = "merges from scores", wrong = "merges do not follow scores" },
  }

  of("runtime/formats/torch.c", "c:torch") {
    { name = "torch_wide", old = "*wide[i] == UINT32_MAX", new = "*wide[i] == UINT64_MAX", filter = "*/tensors_are*",
      wrong = "places beyond 4 GB are not read" },
    { name = "torch_plain", old = "tensor->strides[d] != next", new = "tensor->strides[d] < 0",
      filter = "*/what_no_state_dict*", wrong = "a transposed tensor is read as if it were not" },
    { name = "torch_storage", old = "(uint64_t)(skip + bytes) > storage->size", new = "bytes < 0",
      filter = "*/what_contradicts*", wrong = "a tensor may go on after its storage" },
    { name = "torch_order", old = "strcmp(text, usual) != 0", new = "text[0] == 1", filter = "*/what_no_state_dict*",
      wrong = "big-endian numbers are read as they are" },
    { name = "torch_twice", old = "compare_members(&a->members[i - 1], &a->members[i]) == 0", new = "0",
      filter = "*/what_no_state_dict*", wrong = "either of two members of one name is read" },
  }

  of("runtime/formats/pickle.c", "c:torch") {
    { name = "pickle_outermost", old = "m->entries[i].dict != dict.number", new = "0", filter = "*/what_no_state_dict*",
      wrong = "tensors of inner dictionaries are the model's" },
    { name = "pickle_negative", old = "arguments->count > 6", new = "arguments->count > 7",
      filter = "*/what_no_state_dict*", wrong = "a negative view is read with its storage's signs" },
    { name = "pickle_cut", old = "if (count > m->size - m->at) {", new = "if (count > m->size + 1 - m->at) {",
      filter = "*/cut_at*", wrong = "a byte after the pickle is read" },
  }

  of("runtime/formats/gguf.c", "c:gguf") {
    { name = "gguf_end", old = "if (tensor->end > size)", new = "if (tensor->begin > size)",
      filter = "gguf/what_contradicts*", wrong = "a tensor may end after the file" },
    { name = "gguf_array", old = "count > left / least", new = "least > 99", filter = "gguf/what_contradicts*",
      wrong = "an array may claim more than the file holds" },
  }

  of("runtime/formats/tensors.c", "c:gguf") {
    { name = "tensors_part", old = "memcpy(values, whole + skip,", new = "memcpy(values, whole + skip / 2,",
      filter = "gguf/types*", wrong = "a part of a block is that before it" },
  }

  of("runtime/formats/gguf_blocks.c", "c:gguf") {
    { name = "gguf_high_bits", old = "*least = packed[g + 4] >> 4 | packed[g] >> 6 << 4;",
      new = "*least = packed[g + 4] >> 4 | packed[g - 4] >> 6 << 4;", filter = "gguf/types*",
      wrong = "minima of the last groups have other high bits" },
    { name = "gguf_parity", old = "return bits | __builtin_parity((unsigned)bits) << 7;", new = "return bits;",
      filter = "gguf/types*", wrong = "the eighth sign of IQ2 and IQ3 is always plus" },
  }
end
