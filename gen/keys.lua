-- keys.lua: every description key: type, default, range, meaning. The validator, the
-- command's `keys` and the docs read this table; its order is the order of messages.
--
-- type: integer, number, boolean, word (one of `words`), name, or a shape of its own that
-- validate.lua reads (mask, window, bias, input, output, scale, plan).
local words = require("words")

local keys = {}

-- A model NAME comes as NAME.h and libNAME, which must not stand before those that it includes and links.
local taken = words.set {
  "steps", "product", "model", "rowops", "team", "m", "c", "dl", "rt", "pthread", "gcc", "gomp", "jansson", "xsmm",
  "xsmmnoblas", "libxsmm", "assert", "complex", "ctype", "errno", "fenv", "float", "inttypes", "iso646", "limits",
  "locale", "math", "setjmp", "signal", "stdalign", "stdarg", "stdatomic", "stdbool", "stddef", "stdint", "stdio",
    "stdlib",
  "stdnoreturn", "string", "tgmath", "threads", "time", "uchar", "wchar", "wctype", "fcntl", "unistd", "dlfcn", "sched",
    "strings",
}

keys.list = {
  { key = "name", type = "name", required = true, taken = taken,
    meaning = "the model's name: of its folder, files and C symbols" },
  { key = "batch", type = "integer", default = 1, min = 1, max = 256, meaning = "sequences a call" },
  { key = "seq", type = "integer", required = true, min = 1, max = 4096, meaning = "tokens (frames) a sequence" },
  { key = "d_model", type = "integer", required = true, min = 1, max = 8192, meaning = "width of a token's state" },
  { key = "heads", type = "integer", required = true, min = 1, max = 128, meaning = "attention heads" },
  { key = "head_dim", type = "integer", min = 1, max = 256, default_text = "d_model / heads",
    meaning = "width of a head's query, key and value" },
  { key = "layers", type = "integer", required = true, min = 0, max = 1000, meaning = "encoder layers" },
  { key = "d_ff", type = "integer", min = 1, max = 65536, default_text = "4 d_model",
    meaning = "width of the feed-forward's hidden state" },
  { key = "activation", type = "activation", default = "gelu", meaning = "of the feed-forward" },
  { key = "norm", type = "word", words = { "post", "pre", "none" }, default = "post",
    meaning = "layer norm after each residual sum, before each part, or not at all" },
  { key = "eps", type = "number", default = 1e-5, min = 1e-30, max = 1, meaning = "added to the variance in norms" },
  { key = "final_norm", type = "boolean", default = false, meaning = "one more norm after the last layer" },
  { key = "bias", type = "bias", default = true, default_text = "true",
    meaning = "true, false, or { qkv =, out =, ff =, norm = }: which products and norms have a bias" },
  { key = "scale", type = "scale", default_text = "1 / sqrt(head_dim)",
    meaning = "what scores are multiplied with before the softmax; false: nothing" },
  { key = "mask", type = "mask", default_text = "none",
    meaning = "none, causal, window, padding, " ..
      "or a list of them: { \"causal\", \"padding\" }, { window = { 16, 16 } }" },
  { key = "window", type = "window",
    meaning = "{ left, right } of mask = \"window\": each token sees `left` before, itself, `right` after" },
  { key = "positions", type = "word", words = { "none", "learned", "sinusoidal" },
    default_text = "learned after tokens, else none", meaning = "added to the states before the first layer" },
  { key = "input", type = "input", default_text = "hidden()",
    meaning = "hidden(), linear { from = }, tokens { vocab = }: what comes in" },
  { key = "output", type = "output", default_text = "{ hidden() }",
    meaning = "stages after the layers: hidden, norm, pool, linear, activations, argmax" },
  { key = "names", type = "word", words = { "attn2c", "torch" }, default = "attn2c",
    meaning = "how the checkpoint calls its tensors" },
  { key = "target", type = "word", words = { "host", "avx512", "avx2", "x86_64" }, default = "host",
    meaning = "instructions to compile for; host: the best that this machine has (LIBXSMM_TARGET=hsw: avx2)" },
  { key = "kernels", type = "word", words = { "libxsmm", "portable" }, default = "libxsmm",
    meaning = "who makes the matrix kernels; portable: plain C, and libxsmm is not linked" },
  { key = "threads", type = "integer", default = 1, min = 0, max = 64,
    meaning = "worker threads a call; 0: code for 1, 2, 4 and 8, chosen by the cores when a model is opened" },
  { key = "reuse", type = "boolean", default = true, meaning = "whether tensors share memory once others are dead" },
  { key = "max_lines", type = "integer", default = 400000, min = 1, max = 10000000,
    meaning = "budget of emitted steps; a model over it is refused" },
  { key = "plan", type = "plan", default_text = "the rule of the target",
    meaning = "overrides of tile parameters, such as { panel = 32, k_block = 128 }" },
}

--- What the design lists and a later version will take. Refused by name.
keys.later = {
  kv_heads = "fewer key and value heads than query heads",
  kdim = "keys of another width", vdim = "values of another width", memory = "cross-attention",
  key_seq = "keys of another length", norm_kind = "RMS norm", gated = "gated feed-forward",
  dropout = "dropout", drop_path = "drop path", scoring = "additive scoring", weighting = "relu or no weighting",
  head_mask = "head mask", attention_output = "attention weights as an output", bias_kv = "bias_kv",
  zero_attn = "zero_attn", fully_masked = "the value of fully masked rows", rope_theta = "rotary positions",
}

--- Words of otherwise known keys that a later version will take.
keys.later_words = {
  positions = { "rope", "alibi", "relative_key", "relative_key_query", "t5" },
  mask = { "prefix", "key_padding", "additive" },
}

return keys
