-- forms_spec.lua: small models of every form of attention, and of what is before and after it, several forms in each.
-- They are built with guard pages and checked. So is each combination that once failed.
local helper = require("tests.spec.helper")
package.path = helper.root .. "/tests/fuzz/?.lua;" .. package.path
local case = require("case")

case.root = helper.absolute_root()
local folder = case.root .. "/out/spec/forms"

local function tokens(more)
  local stage = { stage = "tokens", vocab = 11 }
  for key, value in pairs(more or {}) do stage[key] = value end
  return stage
end

-- { what, keys in addition to those of `base` below }
local forms = {
  { "grouped heads, rotary halves, a past, RMS norms and a gate", { kv_heads = 2, positions = "rope", rope_dim = 4,
    past = 5, norm_kind = "rms", gated = true, mask = { "causal", "key_padding" }, batch = 2 } },
  { "rotary pairs after a window, shared keys for all heads", { kv_heads = 1, positions = "rope", rope_style = "pairs",
    mask = { window = { 3, 1 } }, batch = 3, norm = "pre", scoring = "additive" } },
  { "distances of alibi and every array", { positions = "alibi", batch = 2, attention_output = "heads",
    mask = { "key_padding", "key_bias", "additive", "additive_heads", "blocked", "blocked_heads" } } },
  { "relative positions in small blocks", { positions = "relative_key_query", max_position = 80, seq = 70,
    zero_attn = true, plan = { query_block = 17, key_block = 16, key_align = 3 } } },
  { "a prefix, values on padded keys", { mask = { "prefix", "padding" }, prefix = 4, mask_value = -4, batch = 2,
    head_mask = { { 0, 0.5, 1, 0 } } } },
  { "no projections, no residual", { projections = false, residual = false, weighting = "relu", scale = 0.1, d_ff = 0,
    head_mask = "input" } },
  { "values as they are, and so the result", { projections = { v = false, out = false }, batch = 2, mask = "causal",
    positions = "rope", memory = { seq = 9, mask = "padding" } } },
  { "queries and keys as they are, of fewer heads", { projections = { q = false, k = false }, kv_heads = 2, kdim = 12,
    input = { stage = "qkv" }, key_seq = 7, vdim = 5, mask = "key_padding" } },
  { "weights before factors of heads, which come in", { head_mask = "input", mask = { "causal", "padding" }, batch = 2,
    attention_output = { scores = true, before_head_mask = true }, memory = { seq = 5 }, seq = 40 } },
  { "weights before factors of heads, without a softmax, in blocks", { head_mask = { { 0, 0.5, -2, 1 } },
    weighting = "relu", scale = 0.2, mask = { window = { 3, 1 } }, zero_attn = true, seq = 40,
    attention_output = { before_head_mask = true }, plan = { query_block = 7, key_block = 16 } } },
  { "query, key and value one by one, and rows that see no key", { input = { stage = "qkv" }, key_seq = 5, kdim = 7,
    vdim = 9, norm = "none", residual = false, d_ff = 0, mask = { "causal", "key_padding" }, fully_masked = "nan",
    layout = "seq_first", batch = 3, attention_output = "heads" } },
  { "keys and values by head: a past and the new ones, in two micro-batches, two workers", { kv_layout = "heads_first",
    past = 5, kv_heads = 2, batch = 3, layers = 2, positions = "rope", mask = "causal", threads = 2,
    plan = { group_tokens = 26, least_phase = 0, least_team = 0 } } },
  { "keys and values by head, one by one, rows in front", { kv_layout = "heads_first", input = { stage = "qkv" },
    projections = false, kv_heads = 2, kdim = 12, vdim = 10, key_seq = 19, residual = false, d_ff = 0, norm = "none",
    layout = "seq_first", batch = 2, mask = "key_padding", zero_attn = true } },
  { "every pool of the rows that attention_mask keeps, in two micro-batches", { input = tokens(), batch = 3,
    mask = "attention_mask", plan = { group_tokens = 26 }, output = { { stage = "pool",
      over = { "mean", "max", "first", "last", "root", "weighted" } }, { stage = "normalise" } } } },
  { "the last row of a token that is no padding, in two micro-batches", { input = tokens { vocab = 2 }, batch = 3,
    mask = { "causal", "padding" }, layers = 2, plan = { group_tokens = 26 }, output = { { stage = "hidden" },
      { stage = "pool", over = "last", pad = 1 }, { stage = "linear", to = 5 } } } },
  { "the last row that attention_mask keeps, of a token that is no padding", { input = tokens { vocab = 2 }, batch = 3,
    mask = "attention_mask", output = { { stage = "pool", over = "last", pad = 0 } } } },
  { "two targets of several lengths and workers", { target = "avx2, x86_64", seq = { 3, 9 }, threads = 2, layers = 2,
    mask = "padding", input = tokens(), output = { { stage = "pool", over = "mean" } } } },
  { "an image and its class token", { input = { stage = "image", channels = 2, height = 6, width = 9, patch = 3 },
    seq = 7, norm = "pre", final_norm = true,
    output = { { stage = "pool", over = "first" }, { stage = "normalise" } } } },
  { "probabilities of rows, and logarithms of a vocabulary's", { input = tokens(), batch = 3, mask = "padding",
    plan = { token_block = 5 }, output = { { stage = "softmax", name = "inner" }, { stage = "linear", to = 300 },
      { stage = "log_softmax", name = "logarithms" }, { stage = "softmax" } } } },
  { "the largest numbers of every row, rows in front", { input = { stage = "linear", from = 5 }, batch = 3,
    mask = "padding", plan = { token_block = 5 }, layout = "seq_first",
    output = { { stage = "linear", to = 300, name = "all" }, { stage = "topk", k = 7 } } } },
  { "all numbers of a sequence in order", { input = tokens(), batch = 2, output = { { stage = "pool", over = "max" },
    { stage = "softmax" }, { stage = "topk", k = 24, name = "order" } } } },
  { "an encoder of its own sizes", { memory = { stage = "encoder", seq = 18, d_model = 9, heads = 3, layers = 2,
    mask = { "padding", window = { 2, 2 } }, input = tokens(), positions = "t5", attention_output = "mean" }, batch = 2,
    input = tokens { types = 2, norm = true }, mask = "causal", attention_output = { kind = "heads", layers = { 0 } },
    output = { { stage = "vocabulary", bias = true } } } },
  { "keys in chunks, after a causal mask and a past", { seq = 70, mask = { "causal", "key_padding" }, past = 9,
    batch = 2, plan = { tile_bytes = 64, piece_rows = 24, softmax_block = 16 } } },
  { "keys in chunks, with distances, a prefix and grouped heads", { seq = 61, mask = { "prefix", "padding" },
    prefix = 21, positions = "alibi", kv_heads = 2, softcap = 3,
    plan = { tile_bytes = 64, softmax_block = 32, key_block = 16 } } },
  { "keys in chunks, relative positions, memory, two workers", { seq = 40, positions = "relative_key", threads = 2,
    memory = { seq = 77, width = 10, mask = "padding" }, mask = { window = { 30, 9 } },
    plan = { tile_bytes = 64, softmax_block = 16, piece_rows = 17, least_phase = 0, least_team = 0 } } },
  { "micro-batches of two of three sequences, the last moved back to end with the batch", { batch = 3, mask = "padding",
    plan = { group_tokens = 26 }, output = { { stage = "hidden" }, { stage = "pool", over = "mean" } } } },
  { "a norm with a bias and one without, otherwise alike", { memory = { stage = "encoder", seq = 13,
    bias = { norm = false } } } },
  -- combinations that once failed
  { "two workers: a norm that is read again after a cross-attention, arrays of integers beside a private tile",
    { threads = 2, memory = { seq = 17, width = 5, mask = "key_padding" }, seq = 21,
      mask = { "key_padding", "additive" }, bias_kv = true,
      plan = { least_phase = 0, least_team = 0, token_block = 2, query_block = 5 } } },
  { "unit rows between blocks, a vocabulary of another width", { input = tokens(), plan = { token_block = 5 },
    output = { { stage = "normalise" }, { stage = "silu" }, { stage = "linear", to = 13 },
      { stage = "vocabulary", tied = false } } } },
  { "a scale whose nine digits are nearer to another float, sinusoidal positions after a past", {
    weighting = "none", d_model = 5, head_dim = 6, heads = 1, eps = 1, past = 3, positions = "sinusoidal" } },
  { "factors from outside for no layers", {
    memory = { stage = "encoder", seq = 4, layers = 0, head_mask = "input" } } },
  { "a pool with a mask of its own, in a call that is shorter than the entry", { seq = 55, batch = 2, mask = "additive",
    output = { { stage = "pool", mask = true, over = "root" } } }, 32 },
  { "a row that makes much of small errors", { activation = "relu", bias = { ff = false }, d_ff = 2, d_model = 31,
    eps = 0.001, head_dim = 65, heads = 1, input = { stage = "qkv" }, kdim = 97, vdim = 78, key_seq = 49, seq = 32,
    layout = "seq_first", mask = { "causal", "padding", "window" }, mask_value = -0.5, window = { 26, 5 },
    max_position = 119, positions = "rope", rope_dim = 50,
    rope_scaling = { factor = 3, max_position = 12, type = "dynamic" }, residual = false, scale = false }, 7185 },
  { "the deviation of rows that are the same, which is 0 but for roundings", { input = tokens(), batch = 6,
    d_model = 2, heads = 1, output = { { stage = "linear", to = 1 }, { stage = "norm", eps = 0.5 }, { stage = "silu" },
      { stage = "pool", over = "deviation" } } }, 9 },
}

local function check_form(form, i)
  local description = { name = "form", seq = 13, d_model = 24, heads = 4, layers = 1, d_ff = 19 }
  for key, value in pairs(form[2]) do description[key] = value end
  local ok, kind, said = case.run(description, folder .. "/" .. i,
    { flags = case.flags(i, 6), seed = form[3] or i, nan = true })
  assert(ok, ("%s: %s"):format(kind, said))
end

describe("a small model with", function()
  for i, form in ipairs(forms) do
    if helper.is_long or i % 5 == 1 then it(form[1], function() check_form(form, i) end) end
  end
end)

describe("a vocabulary", function()
  it("that is tied is as wide as its table", function()
    assert.same({ "output.2: tied to a table of width 16, but the rows are 5 wide; give tied = false" },
      helper.refusals(helper.description { input = tokens(),
        output = { { stage = "linear", to = 5 }, { stage = "vocabulary", tied = true } } }))
  end)
end)

describe("heads of factor 0", function()
  local function width(more, weight)
    more.head_mask = { { 1, 0 } }
    return helper.tiny(more, "graph").graph.tensors[weight or "l0.attn.q.weight"].shape[1]
  end

  it("are left out of self-attention where nothing else goes by heads", function()
    assert.equal(8, width {})
    assert.equal(16, width({ memory = { seq = 3 } }, "l0.cross.q.weight"))
    assert.equal(8, width { positions = "relative_key" })
    for _, more in ipairs {
      { positions = "alibi" }, { positions = "t5" }, { mask = "additive_heads" }, { mask = "blocked_heads" },
      { bias_kv = true }, { past = 3 }, { scoring = "additive" }, { kv_heads = 1 }, { attention_output = "mean" },
    } do
      assert.equal(16, width(more), next(more))
    end
  end)
end)
