-- keys.lua: lists every key of a description: its type, default, range and meaning.
-- The validator, the command `keys` and the manual read this table. Messages follow its order.
--
-- type: integer, number, boolean, word (one of `words`), name, or a type that readers.lua reads (mask, window, bias,
--   input, output, scale, plan, memory, ...)
-- of_model: the name is also the name of files, libraries and functions
-- layer: the key may differ from layer to layer, if `layers` is a list
-- with: the words of `positions` that the key has an effect with; with others only its default is allowed
-- stack: the key belongs to a stack of layers, so that an encoder { } in `memory` may have its own

local masks = require("data.masks")
local precision = require("data.precision")
local scale_blocks = require("data.scale_blocks")
local targets = require("data.targets")
local types = require("data.types")

local keys = {}

--- The longest sequence: tokens, and keys that an attention reads.
keys.LONGEST = 32768

local function part_names()
  local names = {}
  for i, part in ipairs(precision.parts) do names[i] = part.name end
  return table.concat(names, ", ")
end

--- Words that attention_output may be.
keys.attention_outputs = { "none", "heads", "mean" }

local function target_words()
  local words = { "host" }
  for _, target in ipairs(targets.list) do words[#words + 1] = target.name end
  return words
end

keys.list = {
  { key = "name", type = "name", required = true, of_model = true,
    meaning = "the model's name: of its folder, files and C symbols" },
  { key = "batch", type = "integer", default = 1, min = 1, max = 256,
    meaning = "sequences a call; a list, { 1, 8 }, means any number, as any(N) for seq does" },
  { key = "seq", type = "integer", stack = true, min = 1, max = keys.LONGEST,
    default_text = "for an image: its patches",
    meaning = "tokens (frames) a sequence; queries of an attention. For the model also any(512): sequences of any "
      .. "length up to 512, without padding; a list, { 8, 512 }, means the same" },
  { key = "d_model", type = "integer", stack = true, required = true, min = 1, max = 8192,
    meaning = "width of a token's state" },
  { key = "heads", type = "integer", stack = true, required = true, min = 1, max = 128, meaning = "attention heads" },
  { key = "kv_heads", type = "integer", stack = true, layer = true, min = 1, max = 128, default_text = "heads",
    meaning = "heads of keys and values, each shared by heads / kv_heads query heads" },
  { key = "head_dim", type = "integer", stack = true, layer = true, min = 1, max = 512,
    default_text = "d_model / heads",
    meaning = "width of a head's query, key and value" },
  { key = "layer_groups", type = "layer_groups", stack = true, default_text = "a group each",
    meaning = "{ 0, 0, 1, 1 }: layers of one group have the same weights, l0 and l1" },
  { key = "layers", type = "layers", stack = true, required = true, min = 0, max = 1000,
    meaning = "how many of them follow one another, or a list of them with what differs: "
      .. "{ {}, { mask = \"causal\" } }" },
  { key = "d_ff", type = "integer", stack = true, layer = true, min = 0, max = 65536, default_text = "4 d_model",
    meaning = "width of the feed-forward's hidden state; 0: no feed-forward" },
  { key = "experts", type = "experts", stack = true, layer = true, default_text = "none",
    meaning = "the feed-forward is a mixture: { count = 128 (experts), used = 8 (of them for each row), d_ff = 768 "
      .. "(the width of each), router = \"softmax\" or \"sigmoid\", normalise = true (the weights of a row's experts "
      .. "sum to 1), bias = false (of the router), correction = false (sigmoid: a number for each expert that only the "
      .. "choice adds), sum_eps = 1e-20 (sigmoid: added to the sum by which normalise divides), sum_bias = false (a "
      .. "bias of the sum of experts), factor = 1 (of the weights), shared = 0 (the width of an expert that all rows "
      .. "have), shared_gate = false (a sigmoid of the row multiplies its result), scales = false (a learned number of "
      .. "each expert multiplies its weights), own_norms = false (router and experts have norms of the states "
      .. "themselves, and both results have a norm; Gemma 4) }; false: it is not" },
  { key = "gated", type = "boolean", stack = true, layer = true, default = false,
    meaning = "feed-forward: down(activation(gate x) * up x)" },
  { key = "gate_limit", type = "number", stack = true, layer = true, min = 1e-3, max = 1e6, default_text = "none",
    meaning = "gated: gate x is at most this, up x is cut to this size, and 1 is added to it (gpt-oss)" },
  { key = "gate_sparsity", type = "number", stack = true, layer = true, min = 0, max = 0.9999, default = 0.0,
    meaning = "gated: gate x becomes max(gate x - cutoff, 0) before the activation; the cutoff of a row is its mean "
      .. "plus z deviations, and this share of normal numbers is below z (Gemma 3n); 0: it stays" },
  { key = "activation", type = "activation", stack = true, layer = true, default = "gelu",
    meaning = "the feed-forward's function" },
  { key = "norm", type = "word", stack = true, layer = true,
    words = { "post", "pre", "pre_ff", "sandwich", "res_post", "none" }, default = "post",
    meaning = "post: norm after each residual sum; pre: before each part; pre_ff: before each part except the "
      .. "self-attention (ModernBERT's first layer); sandwich: before and after each part (Gemma 2); res_post: after "
      .. "each part, before the sum (OLMo 2); none: not at all" },
  { key = "parallel", type = "word", stack = true, layer = true, words = { "none", "two_norms", "one_norm" },
    default = "none",
    meaning = "attention and feed-forward read the same states, and one sum adds both results: each with a norm of its "
      .. "own (GPT-NeoX), or both with one (Phi)" },
  { key = "norm_kind", type = "word", stack = true, layer = true, words = { "layer", "rms" }, default = "layer",
    meaning = "layer norm, or RMS norm, which does not subtract the mean and has no bias" },
  { key = "eps", type = "number", stack = true, layer = true, default = 1e-5, min = 1e-30, max = 1,
    meaning = "added to the variance (or mean square) in norms" },
  { key = "final_norm", type = "boolean", stack = true, default = false,
    meaning = "one more norm after the last layer" },
  { key = "conv_kernel", type = "integer", stack = true, min = 1, max = 63, default_text = "none",
    meaning = "rows of a convolution of the first layer's input; its result, with conv_activation, is added to the "
      .. "layer's, and a norm follows (DeBERTa-v2); an odd number" },
  { key = "conv_activation", type = "activation", stack = true, default = "tanh",
    meaning = "the function of that convolution" },
  { key = "short_conv", type = "integer", stack = true, layer = true, default = 0, min = 0, max = 64,
    meaning = "in place of a self-attention, a gated convolution of each column (LFM2): out(c · conv(b · x)), where b, "
      .. "c and x are projections of the states, and conv reads this number of rows, the last of which is its own; 0: "
      .. "an attention" },
  { key = "residual", type = "boolean", stack = true, layer = true, default = true,
    meaning = "whether a part's input is added to its result" },
  { key = "residual_scale", type = "number", stack = true, default = 1.0, min = 1e-6, max = 1e6,
    meaning = "factor of each part's result before its input is added (Granite)" },
  { key = "dropout", type = "number", stack = true, layer = true, default = 0.0, min = 0, max = 1,
    meaning = "accepted, without effect: it is for training only" },
  { key = "drop_path", type = "number", stack = true, layer = true, default = 0.0, min = 0, max = 1,
    meaning = "accepted, without effect: it is for training only" },
  { key = "bias", type = "bias", stack = true, layer = true, default = true, default_text = "true",
    meaning = "true, false, or { qkv =, out =, ff =, norm = }: products and norms with a bias; q, k, v, and up (with "
      .. "the gate) and down of ff, one by one; qkv is also that of what a short_conv reads, and of its convolution" },
  { key = "projections", type = "projections", stack = true, default = true,
    meaning = "false: attention without parameters, query = key = value = the states (or the inputs of qkv()); or "
      .. "{ q =, k =, v =, out = }: one by one, false where they stay as they are" },
  { key = "qk_norm", type = "word", stack = true, layer = true, words = { "none", "heads", "each", "all" },
    default = "none",
    meaning = "norm of a self-attention's queries and keys before their positions: each head by itself, all with one "
      .. "weight (Qwen 3), or each with a weight of its own and no bias (Command R+); or all heads together (OLMo 2)" },
  { key = "values", type = "word", stack = true, layer = true, words = { "projected", "normed", "keys" },
    default = "projected",
    meaning = "a self-attention's values: projections of the states; normed: each head by itself has an RMS norm "
      .. "without a weight; keys: the projected keys with such a norm, before their own (Gemma 4)" },
  { key = "keys_of", type = "integer", stack = true, layer = true, min = 0, max = 999, default_text = "its own",
    meaning = "the number of a layer, from 0, whose keys and values the layers after it read (Gemma 4)" },
  { key = "layer_scale", type = "boolean", stack = true, layer = true, default = false,
    meaning = "a learned number for each column multiplies the layer's result (Gemma 4)" },
  { key = "second_ff", type = "integer", stack = true, layer = true, min = 1, max = 4096, default_text = "none",
    meaning = "width of one more feed-forward at the end of a layer (the adapters of languages in MMS): x + down(relu("
      .. "up norm(x))), with biases, and a layer norm of eps = 1e-5" },
  { key = "layer_inputs", type = "integer", stack = true, min = 1, max = 4096, default_text = "none",
    meaning = "width of a further part of each layer, which reads tokens (Gemma 4): it adds norm(project(activation("
      .. "gate x) * (norm(linear of the embeddings) + a row of the layer's own table of tokens)))" },
  { key = "residual_rank", type = "integer", stack = true, layer = true, min = 1, max = 4096, default_text = "none",
    meaning = "rank of a learned residual next to the attention, which reads y, the norm of the states x (Gemma 3n): "
      .. "(x + attention(y) + y + norm(right(left y))) / sqrt(2)" },
  { key = "streams", type = "streams", stack = true, default_text = "none",
    meaning = "parallel streams of states: { count = 4, active = 0 (the one that layers compute), scaled = false (a "
      .. "learned number for each column multiplies what layer_inputs reads) }. Each layer predicts and corrects them "
      .. "(AltUp; Gemma 3n); false: none" },
  { key = "qkv_limit", type = "number", stack = true, layer = true, min = 1e-3, max = 1e6, default_text = "none",
    meaning = "a self-attention's projected queries, keys and values are cut to this size, after any norm (MPT, "
      .. "OLMoE)" },
  { key = "scale", type = "scale", stack = true, layer = true, default_text = "1 / sqrt(head_dim)",
    meaning = "factor of the scores before the softmax; false: none" },
  { key = "softcap", type = "number", stack = true, layer = true, min = 1e-3, max = 1e6, default_text = "none",
    meaning = "scaled scores s become c tanh(s / c), with this c" },
  { key = "scoring", type = "word", stack = true, words = { "dot", "additive" }, default = "dot",
    meaning = "query · key, or v · tanh(query + key) with a learned v a head" },
  { key = "weighting", type = "word", stack = true, layer = true,
    words = { "softmax", "relu", "none" }, default = "softmax",
    meaning = "how scores become weights; relu: max(scale s, 0); none: scale s" },
  { key = "sinks", type = "boolean", stack = true, layer = true, default = false,
    meaning = "each head of a self-attention has one learned score more, which has no key: only the softmax's sum has "
      .. "it (gpt-oss)" },
  { key = "fully_masked", type = "word", stack = true, layer = true, words = { "zero", "nan" }, default = "zero",
    meaning = "weights and context of a row that sees no key" },
  { key = "bias_kv", type = "boolean", stack = true, default = false,
    meaning = "a learned key and value after each sequence's own, seen by all" },
  { key = "zero_attn", type = "boolean", stack = true, default = false,
    meaning = "a key and value of zeros after those, seen by all" },
  { key = "attention_output", type = "attention_output", stack = true, default = "none",
    meaning = "attention weights as outputs: none, heads, mean (over heads), or { kind = \"heads\", layers = { 0, 3 }, "
      .. "scores = true, before_head_mask = true }: of some layers, and also the scores, and the weights as "
      .. "they are before head_mask" },
  { key = "head_mask", type = "head_mask", stack = true, default = "none",
    meaning = "factors of each layer's self-attention heads: none, input (head_mask), or { { 1, 0, 1 }, ... }; where "
      .. "nothing else goes by heads, heads of factor 0 cost nothing" },
  { key = "past", type = "integer", default = 0, min = 0, max = keys.LONGEST,
    meaning = "keys and values before the first token: inputs past_keys_0, ..., outputs keys_0, ..." },
  { key = "context", type = "integer", min = 2, max = 131072,
    meaning = "in place of seq, for a causal model of tokens that writes: the most tokens of a sequence; a call goes "
      .. "on from the keys and values of the calls before, which the caller's context keeps" },
  { key = "sequences", type = "integer", min = 1, max = 128, default_text = "1 with context",
    meaning = "with context: the sequences that a caller's context keeps" },
  { key = "cache", type = "word", words = precision.words_of_cache(),
    default_text = "the attention's of `precision`",
    meaning = "with context: numbers of the keys and values that are kept, which the attention multiplies; integers "
      .. "have a scale for each head of a row, which a Hadamard matrix turns first" },
  { key = "chunk", type = "integer", min = 1, max = 4096, default_text = "256 with context, 512 with experts",
    meaning = "with context: the most tokens of a call; longer prompts take several" },
  { key = "mask", type = "mask", stack = true, layer = true, default_text = "none",
    meaning = masks.text() .. ", or a list of them: { \"causal\", \"padding\" }, { window = { 16, 16 } }" },
  { key = "window", type = "window", stack = true, layer = true,
    meaning = "{ left, right } of mask = \"window\": each token sees `left` before, itself, `right` after" },
  { key = "prefix", type = "integer", stack = true, layer = true, min = 1, max = keys.LONGEST,
    meaning = "with mask = \"prefix\": keys that all tokens see; after them it is causal" },
  { key = "mask_value", type = "number", stack = true, layer = true, min = -1e30, max = 0, default_text = "exclusion",
    meaning = "padding and key_padding add this to scores (BERT's -10000) instead of excluding keys" },
  { key = "positions", type = "positions", stack = true, words = { "none", "learned", "sinusoidal", "rope", "alibi",
    "relative_key", "relative_key_query", "t5", "disentangled", "convolution" },
    default_text = "learned after tokens and image, else none",
    meaning = "added to the states before the first layer, or part of every self-attention; or one of each: "
      .. "{ \"learned\", \"t5\" }" },
  { key = "sinusoids", type = "word", stack = true, words = { "pairs", "halves", "fairseq" }, default = "pairs",
    with = { "sinusoidal" },
    meaning = "sinusoidal: sines and cosines in turn; halves: the sines first; fairseq: so, with the last wavelength "
      .. "20,000 pi" },
  { key = "first_position", type = "integer", stack = true, default = 0, min = 0, max = 65536,
    with = { "learned", "sinusoidal" },
    meaning = "learned: the row of the checkpoint's table that the first token has; sinusoidal: its position" },
  { key = "max_position", type = "integer", stack = true, min = 1, max = 1048576, default_text = "the positions in use",
    with = { "learned", "relative_key", "relative_key_query", "disentangled" },
    meaning = "learned: rows of the checkpoint's table; relative_key: its distances reach this far, exclusive" },
  { key = "rope_theta", type = "number", stack = true, layer = true, default = 10000.0, min = 1, max = 1e12,
    with = { "rope" },
    meaning = "base of rotary positions" },
  { key = "rope_style", type = "word", stack = true, words = { "halves", "pairs" }, default = "halves",
    with = { "rope" },
    meaning = "partners of a rotation: d and d + rope_dim / 2, or 2 d and 2 d + 1" },
  { key = "rope_patches", type = "boolean", stack = true, default = false,
    meaning = "with input = image { ... }: half of a head's pairs are rotated by a patch's place from top to bottom, "
      .. "the others by that from left to right, both from -1 to 1; tokens before the patches are not (DINOv3)" },
  { key = "rope_scaling", type = "rope_scaling", stack = true, layer = true, default_text = "none",
    meaning = "{ type = linear, dynamic, llama3, yarn or longrope, factor = ... }: as in transformers; false: none" },
  { key = "rope_dim", type = "integer", stack = true, layer = true, min = 0, max = 512, default_text = "head_dim",
    with = { "rope" },
    meaning = "leading dimensions of a head that are rotated; 0: none" },
  { key = "alibi_max", type = "number", stack = true, default = 8.0, min = 0.1, max = 64, with = { "alibi" },
    meaning = "alibi: the least slope is 2 to the power of minus this" },
  { key = "alibi_factor", type = "number", stack = true, default = 1.0, min = 1e-6, max = 1e6, with = { "alibi" },
    meaning = "alibi: factor of all slopes" },
  { key = "t5_buckets", type = "integer", stack = true, default = 32, min = 2, max = 4096, with = { "t5" },
    meaning = "number of buckets that distances are sorted into" },
  { key = "t5_distance", type = "integer", stack = true, default = 128, min = 2, max = 1048576, with = { "t5" },
    meaning = "all distances from here on share the last bucket" },
  { key = "t5_by_layer", type = "boolean", stack = true, default = false, with = { "t5" },
    meaning = "t5: each layer has a table of its own, as umT5's do" },
  { key = "box_buckets", type = "integer", stack = true, min = 4, max = 2048, default_text = "none",
    meaning = "with boxes: to each score are added a number of each head for the difference of both tokens' left "
      .. "sides, and one for that of their lower sides; differences are sorted into this many buckets, as t5's "
      .. "(LayoutLMv3)" },
  { key = "box_distance", type = "integer", stack = true, default = 256, min = 2, max = 1000,
    meaning = "all differences of boxes from here on share the last bucket" },
  { key = "position_gate", type = "boolean", stack = true, default = false, with = { "t5" },
    meaning = "t5: a gate of the states, a number of each query and head, multiplies what a distance adds (WavLM)" },
  { key = "position_terms", type = "word", stack = true,
    words = { "both", "content_to_position", "position_to_content" }, default = "both", with = { "disentangled" },
    meaning = "disentangled (DeBERTa): to each score are added query · K(distance), K(distance) from the keys' "
      .. "projection of a table of distances, and key · Q(distance), from the queries'; or one of both" },
  { key = "position_buckets", type = "integer", stack = true, default = 256, min = 0, max = 4096,
    with = { "disentangled" },
    meaning = "disentangled: distances on each side with a row of the table; from half of them on several distances "
      .. "share a row, by their logarithms; 0: each distance below position_distance has its own" },
  { key = "position_distance", type = "integer", stack = true, default = 512, min = 2, max = 65536,
    with = { "disentangled" },
    meaning = "disentangled: the last row of the table is for this distance less one, and all longer ones" },
  { key = "position_norm", type = "boolean", stack = true, default = false, with = { "disentangled" },
    meaning = "disentangled: a layer norm of the table of distances" },
  { key = "position_projections", type = "word", stack = true, words = { "shared", "own", "half_biased" },
    default = "shared", with = { "disentangled" },
    meaning = "disentangled: the table is projected by each layer's weights of queries and keys, or by weights of its "
      .. "own; half_biased: the keys' own has no bias (the first DeBERTa)" },
  { key = "position_kernel", type = "integer", stack = true, default = 128, min = 1, max = 1024,
    with = { "convolution" },
    meaning = "convolution (wav2vec2): rows of a convolution of the states before the first layer, whose result is "
      .. "added to them" },
  { key = "position_groups", type = "integer", stack = true, default = 16, min = 1, max = 1024,
    with = { "convolution" },
    meaning = "convolution: groups of columns, each of which is convolved by itself" },
  { key = "position_activation", type = "activation", stack = true, default = "gelu", with = { "convolution" },
    meaning = "convolution: the function of its result" },
  { key = "memory", type = "memory", default_text = "none",
    meaning = "{ seq =, width =, mask = } or encoder { ... }: what each layer's cross-attention reads; "
      .. "encoder { joined = true, ... }: its rows follow the sequence's own in each self-attention (LayoutLMv3)" },
  { key = "key_seq", type = "integer", min = 1, max = keys.LONGEST, default_text = "seq",
    meaning = "with input = qkv(): rows of key and value" },
  { key = "kdim", type = "integer", min = 1, max = 8192, default_text = "d_model",
    meaning = "with input = qkv(): width of key" },
  { key = "vdim", type = "integer", min = 1, max = 8192, default_text = "d_model",
    meaning = "with input = qkv(): width of value" },
  { key = "layout", type = "word", words = { "batch_first", "seq_first" }, default = "batch_first",
    meaning = "order of the first two axes of hidden states, features, query, key, value and memory; seq_first: a call "
      .. "takes exactly the batch" },
  { key = "kv_layout", type = "word", words = { "rows_first", "heads_first" }, default = "rows_first",
    meaning = "order of rows and heads in keys and values that come in or go out (of past, and of qkv() where nothing "
      .. "projects them); heads_first: [batch][kv_heads][rows][head_dim], as in transformers" },
  { key = "input", type = "input", stack = true, default_text = "hidden()",
    meaning = "hidden(), linear { from = }, tokens { vocab = }, image { ... }, qkv(): what comes in" },
  { key = "output", type = "output", default_text = "{ hidden() }",
    meaning = "stages after the layers: hidden, norm, pool, linear, vocabulary, normalise, similarity, softmax, "
      .. "log_softmax, activations, argmax, topk" },
  { key = "inputs", type = "inputs", default_text = "their own names",
    meaning = "names of inputs: { ids = \"input_ids\", token_types = \"token_type_ids\" }" },
  { key = "names", type = "names", default = "attn2c",
    meaning = "naming scheme of the checkpoint's tensors: attn2c, torch, timm, a family (bert, gpt2, ...), or a table: "
      .. "{ \"torch\", [\"output.2.linear\"] = \"head\" } or "
      .. "{ \"bert\", prefix = \"model.\", modules = { encoder = \"trunk\" }, [\"l*.attn.q\"] = { \"c_attn\", "
      .. "part = 1, parts = 3, transpose = true } }; quantised = \"gptq\", \"gptq_v2\", \"awq\", "
      .. "\"compressed-tensors\" or \"mxfp4\": how the file has quantised tensors. torch counts the members of "
      .. "output from 0: output.0.weight in the file is that of the first stage" },
  { key = "opens", type = "word", words = { "safetensors", "torch", "gguf", "any", "packed" },
    default_text = "gguf for names of a GGUF file, else safetensors",
    meaning = "checkpoints that the library opens, next to packed weights; torch: files of torch.save(), and "
      .. "safetensors; packed: no others, so that the library is "
      .. "smaller. The program packs checkpoints all the same" },
  { key = "adapter", type = "path", default_text = "none",
    meaning = "a folder with a LoRA adapter of PEFT, or a GGUF file with one of llama.cpp, its path relative to the "
      .. "description's, or on a command line to the working directory: it is a part of the model, whose program and "
      .. "library merge it into the weights that they read; for a folder that has adapters of its own, the name of a "
      .. "task or language; false: none" },
  { key = "adapters", type = "adapters", default_text = "none",
    meaning = "LoRA adapters, as for adapter, that are kept next to the weights, of rank 1 to 64: a list, or a table "
      .. "of them by name, { sql = FOLDER }, with paths as for adapter. Each sequence of a call has one of them, or "
      .. "none; false: there are none" },
  { key = "tokenizer", type = "path", default_text = "none",
    meaning = "a tokenizer.json, or a folder with one (or with vocab.txt, or vocab.json and merges.txt), its path "
      .. "relative to the description's: the model takes text; false: it does not" },
  { key = "pictures", type = "pictures", default_text = "none",
    meaning = "with input = image { ... } of 3 channels, or rows of patches (linear { grid = ... }), whose pictures "
      .. "keep their ratio: the program takes PNG and JPEG files, which become images by these steps: { height =, "
      .. "width = (or shortest_edge =, also with longest_edge =, or max_height =, max_width =: resized to that), "
      .. "filter = nearest, box, bilinear, hamming, bicubic or lanczos, fractions = false (whether resized values "
      .. "keep their fractions, as torchvision's of floats), crop = true (the middle, as large as the image) or "
      .. "pad = true (zeros at the right and below), scale = 1 / 255, "
      .. "mean = { 3 numbers }, std = { 3 numbers } }; false: "
      .. "it takes only arrays" },
  { key = "sound", type = "sound", default_text = "none",
    meaning = "how samples of a sound become the rows that the model reads: a table of mels, or of convolutions "
      .. "(runtime/sound/README.md); false: the model takes only these rows" },
  { key = "texts", type = "path", default_text = "none",
    meaning = "with pictures: the description of a model that embeds texts, or the folder whose text tower does, its "
      .. "path relative to the description's: it is built next to this model and linked into its program, which scores "
      .. "texts for pictures; false: it is not" },
  { key = "draft", type = "path", default_text = "none",
    meaning = "with context: the description or folder of a smaller model with the same tokenizer, its path relative "
      .. "to the description's: it is built next to this model, called NAME_draft, and linked into its program, where "
      .. "it guesses (generate --draft F); draft.KEY=VALUE overrides its keys; false: there is none" },
  { key = "prompt", type = "text", default_text = "none",
    meaning = "put in front of each text before it is cut into tokens: \"query: \"" },
  { key = "prompts", type = "prompts", default_text = "none",
    meaning = "texts by name, one of which a caller may have in place of prompt: { query = \"query: \", document = "
      .. "\"\" }" },
  { key = "dimensions", type = "integer", min = 1, max = 65536, default_text = "all",
    meaning = "numbers of an embedding of a text that are kept, from the first; if the model scales embeddings to unit "
      .. "vectors, these are scaled again" },
  { key = "similarity", type = "word", words = { "cosine", "dot", "euclidean", "manhattan" }, default_text = "cosine",
    meaning = "how embeddings of texts are compared; the distances have a minus, so that larger is more alike" },
  { key = "query_weights", type = "path", default_text = "none",
    meaning = "with an output called lexical_weights of the vocabulary: a .safetensors file, its path relative to the "
      .. "description's, whose tensor weight has a number for each token: a query has the weights of its tokens, "
      .. "without the model (SPLADE with queries free of inference)" },
  { key = "late_interaction", type = "late_interaction", default_text = "none",
    meaning = "with an output called token_embeddings: how texts become vectors of tokens, and are compared: { "
      .. "query_marker = \"[unused0]\", document_marker = \"[unused1]\" (a token after the first), query_length = 32, "
      .. "document_length = 180 (tokens), expands = true (queries are filled up with the mask token), attends = false "
      .. "(whether the others see these), skip = { \"!\" } (tokens of documents without a vector), skips_unknown = "
      .. "true (those that the vocabulary lacks are the unknown token; false: they are left out), first = 0 (rows at "
      .. "the beginning without one), mean = false (a score is the sum of a query's best cosines; true: the mean "
      .. "of them) }" },
  { key = "spans", type = "spans", default_text = "none",
    meaning = "with outputs called starts, ends and labels: texts get spans of labels that come with them (GLiNER): { "
      .. "label = \"<<ENT>>\" (the token before each label), separator = \"<<SEP>>\" (the token after the last one), "
      .. "width = 12 (the most words of a span), words = 384 (of a text), added = \"[FLERT]\" (a vocabulary without "
      .. "these tokens gets this one, label and separator, in this order) }" },
  { key = "labels", type = "labels", default_text = "none",
    meaning = "labels of the last output's numbers, from 0: { \"no\", \"yes\" }; more than 1000 in parts: { { \"no\", "
      .. "... }, { ... } }" },
  { key = "ctc", type = "ctc", default_text = "none",
    meaning = "rows of scores of tokens become text, by connectionist temporal classification: { blank = 0 (the token "
      .. "between equal tokens), delimiter = \"|\" (the token between words), space = \" \" (its text), lower = false "
      .. "(the text in lower case), clean = false (no spaces before punctuation) }; labels are the tokens; false: they "
      .. "do not" },
  { key = "label_function", type = "word", words = { "softmax", "sigmoid", "none" },
    default_text = "softmax, for one label sigmoid",
    meaning = "how the program turns the last output, or with texts the scores, into probabilities; sigmoid: each "
      .. "label by itself" },
  { key = "generation", type = "generation", default_text = "of the folder, else drawn",
    meaning = "with context: defaults of the program's options: { draw = true, temperature = 0.7, top_k = 50, top_p = "
      .. "0.9, min_p = 0, repetition_penalty = 1.1, tokens = 256, stop = { 2 } }; draw: tokens are drawn; stop: token "
      .. "ids that end an answer; length, without tokens: the most of a prompt and its answer; beams = 4, and the "
      .. "other options of a beam search (runtime/generate/README.md). Without one of the "
      .. "first six, tokens are drawn with numbers that the program says" },
  { key = "speech", type = "speech", default_text = "none",
    meaning = "with an encoder of frames { ... } and a tokenizer: the program writes down speech, with these special "
      .. "tokens: { no_timestamps = 50363 (timestamps follow it), previous = 50361, no_speech = 50362, transcribe = "
      .. "50359, translate = 50358, languages = { en = 50259, ... }, initial = 50 (the last timestamp of those that an "
      .. "answer begins with), language = \"en\" (else it is found), task = \"transcribe\", compression = 2.4, score = "
      .. "-1, silence = 0.6 (limits of answers), goes_on = false (a window does not go on from the text before it), "
      .. "words = true (the program finds the times of words, by the attention of heads = { { layer, head }, ... }, "
      .. "default all heads of the upper half of the layers, and a median of median = 7 rows) }; generation has start "
      .. "and stop, a token each. false: the program takes no speech" },
  { key = "target", type = "target", words = target_words(), default = "host",
    meaning = "instructions to compile for; generic: any little-endian processor; host: the best that this machine has "
      .. "(LIBXSMM_TARGET=hsw: avx2), or of the processor that CROSS or CC names. A list, \"avx512, avx2, x86_64\": "
      .. "code for each, chosen when a model is opened" },
  { key = "kernels", type = "word", words = { "auto", "c", "libxsmm" }, default = "auto",
    meaning = "who makes the matrix kernels: c: attn2c, as C, and libxsmm is not linked; libxsmm: that library, when a "
      .. "model is opened; auto: for each product what the target's rule or the tuning file says" },
  { key = "precision", type = "precision", default = "f32",
    meaning = "numbers that products multiply: " .. types.words() .. ", or a table by part: { \"bf16\", "
      .. "output = \"f32\", [\"layer 0\"] = \"f32\" }; parts: " .. part_names()
      .. ", \"layer N\", \"encoder layer N\"" },
  { key = "weights", type = "weights", default_text = "numbers of `precision`",
    meaning = "integers in blocks of 32 that share a scale, for linear layers and tables of embeddings: "
      .. scale_blocks.text() .. "; or a table by part: { \"int4\", output = \"int4m\", [\"layer 0\"] = \"none\", "
      .. "[\"l1.attn.v\"] = \"none\" }; parts: precision's parts except attention, and paths of linear layers. The end "
      .. "m means a minimum a block; f, minima and scales of f32; h, a scale of f32 for 16; k, int2 and int3, scales "
      .. "of 4 or 8 bits; iq4 and so on are values of GGUF's types. { size = \"60 MB\" }: the types are chosen so that "
      .. "all packed weights take at most that (`quality --by-part`)" },
  { key = "input_order", type = "input_order", default_text = "none",
    meaning = "of linear layers in scale blocks: file: the inputs are in the order of the groups that the checkpoint "
      .. "has (g_idx of GPTQ), one order for all layers that read the same numbers; own: the same, by itself; none; or "
      .. "a table by part, as for weights" },
  { key = "threads", type = "integer", default = 1, min = 0, max = 64,
    meaning = "worker threads a call; 0: code for 1, 2, 4 and 8, chosen by the cores when a model is opened" },
  { key = "ranks", type = "integer", min = 1, max = 64, default_text = "1",
    meaning = "processes, started by MPI (mpirun -n 4), that compute the model together: each has its heads, its part "
      .. "of the feed-forward and of the vocabulary, and reads only these parts of the weights" },
  { key = "stages", type = "integer", min = 1, max = 64, default_text = "1",
    meaning = "parts of the layers, in a row, of which each has `ranks` processes of its own: a pipeline. Each reads "
      .. "and keeps only the weights, keys and values of its layers, and passes its states on" },
  { key = "reuse", type = "boolean", default = true, meaning = "whether tensors share memory after their last use" },
  { key = "unroll", type = "word", default = "alike", words = { "alike", "all" },
    meaning = "alike: layers that differ in the places of their weights and tensors only are one function, which is "
      .. "called for each; all: each layer is a function of its own, and heads and key blocks are written out" },
  { key = "max_lines", type = "integer", default = 400000, min = 1, max = 10000000,
    meaning = "budget of emitted steps; a model over it is refused" },
  { key = "plan", type = "plan", default_text = "the rule of the target",
    meaning = "overrides of tile parameters, such as { panel = 32, token_block = 128 }" },
}

--- Keys that a stack of layers has, including an encoder { }.
keys.of_stack = {}
for _, field in ipairs(keys.list) do if field.stack then keys.of_stack[#keys.of_stack + 1] = field end end

--- Keys of an encoder { }.
keys.of_encoder = { { key = "to", type = "integer", min = 1, max = 65536, default_text = "d_model",
  meaning = "width of the states that the model reads, after a linear layer" }, table.unpack(keys.of_stack) }

--- Keys that may differ from layer to layer. The width of the states and whatever all layers share (heads, tables of
--- positions, inputs) may not.
keys.of_layer = {}
for _, field in ipairs(keys.list) do if field.layer then keys.of_layer[#keys.of_layer + 1] = field end end

return keys
