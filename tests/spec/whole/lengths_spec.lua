-- lengths_spec.lua: small models of two lengths with each option that a shorter sequence has to go with, built with
-- guard pages and checked: calls of sizes between the entries, whose padding nothing may see.
local helper = require("tests.spec.helper")
package.path = helper.root .. "/tests/fuzz/?.lua;" .. package.path
local case = require("case")

case.root = helper.absolute_root()
local folder = case.root .. "/out/spec/lengths"

local function tokens(more)
  local stage = { stage = "tokens", vocab = 11 }
  for key, value in pairs(more or {}) do stage[key] = value end
  return stage
end

local function pool(over) return { stage = "pool", over = over } end

-- { what, keys beside those of `base` below }
local forms = {
  { "no mask, every pool, and attention weights", { attention_output = "heads", batch = { 1, 3 },
    output = { { stage = "hidden" }, pool({ "mean", "max", "first", "last", "root", "weighted" }),
      { stage = "normalise" }, { stage = "argmax" } } } },
  { "lengths, labels of tokens and scores", { mask = "padding", batch = 2, input = tokens { types = 2, norm = true },
    attention_output = { kind = "mean", scores = true },
    output = { { stage = "linear", to = 5 }, { stage = "argmax" } } } },
  { "the largest numbers of every token, rows in front", { mask = "padding", batch = 2, layout = "seq_first",
    output = { { stage = "linear", to = 9 }, { stage = "log_softmax", name = "all" }, { stage = "topk", k = 3 } } } },
  { "token types that need not be given", { input = tokens { types = 3, optional_types = true, norm = true },
    batch = { 1, 2 }, mask = "padding" } },
  { "a causal mask after a past, the mean and last of the rows", { mask = "causal", past = 4, batch = 2,
    positions = "rope", output = { { stage = "hidden" }, pool { "last", "mean" } } } },
  { "a window to both sides, alibi, rows after the keys", { mask = { window = { 3, 2 } }, positions = "alibi",
    zero_attn = true, bias_kv = true, attention_output = "heads", batch = 2 } },
  { "a prefix, values on padded keys, t5", { mask = { "prefix", "padding" }, prefix = 7, mask_value = -1,
    positions = "t5", batch = 2, output = { pool("mean") } } },
  { "attention_mask, relative positions, the first row", { mask = "attention_mask", batch = 2,
    positions = "relative_key_query", output = { pool("first"), { stage = "linear", to = 3 } } } },
  { "every pool of the rows that attention_mask keeps", { mask = "attention_mask", batch = { 1, 3 },
    output = { { stage = "hidden" }, pool({ "mean", "max", "first", "last", "root", "weighted" }) } } },
  { "pools of the rows that key_padding leaves, after a past", { mask = { "key_padding", "causal" }, past = 3,
    batch = 2, output = { { stage = "hidden" }, pool({ "last", "mean" }) } } },
  { "every array of a mask", { batch = 2, attention_output = "heads", layout = "seq_first",
    mask = { "key_padding", "key_bias", "additive", "additive_heads", "blocked", "blocked_heads" } } },
  { "values on padded keys by an array", { mask = "key_padding", mask_value = -2, batch = 2, positions = "learned" } },
  { "rows that see no key are NaN", { mask = { "additive", window = { 1, 1 } }, fully_masked = "nan", layers = 2 } },
  { "layers that differ, and sinusoidal positions", { positions = "sinusoidal",
    layers = { {}, { mask = "causal" }, { mask = { window = { 2, 0 } } } }, scoring = "additive" } },
  { "no softmax", { weighting = "relu", scale = 0.1, norm = "pre", mask = { "key_bias" }, head_mask = "input" } },
  { "query, key and value, as many keys", { input = { stage = "qkv" }, kdim = 7, mask = "padding", batch = 2,
    output = { { stage = "hidden" }, pool("max") } } },
  { "query, key and value, and keys of one number", { input = { stage = "qkv" }, key_seq = 6, layout = "seq_first",
    mask = "key_padding", batch = 2, attention_output = "heads" } },
  { "keys and values by head, as many as queries, and values alone", { input = { stage = "qkv" }, batch = { 1, 3 },
    kv_layout = "heads_first", projections = { k = false, v = false }, kv_heads = 2, kdim = 12, vdim = 12,
    mask = "padding" } },
  { "keys and values by head, a past and new ones", { kv_layout = "heads_first", past = 4, kv_heads = 2, batch = 2,
    mask = { "causal", "padding" } } },
  { "a memory", { memory = { seq = 6, width = 10, mask = "padding" }, mask = "causal", batch = 2,
    attention_output = "heads", input = tokens(), output = { { stage = "vocabulary" } } } },
  { "an encoder of one length", { memory = { stage = "encoder", seq = 6, mask = "padding", input = tokens(),
    attention_output = "mean" }, batch = { 2, 3 }, softcap = 3, positions = "rope" } },
  { "two workers, keys in pieces", { seq = { 40, 70 }, threads = 2, batch = 3,
    plan = { tile_bytes = 64, piece_rows = 24, softmax_block = 16, least_phase = 0, least_team = 0 } } },
}

describe("lengths with", function()
  for i, form in ipairs(forms) do
    local function check()
      local description = { name = "form", seq = { 5, 13 }, d_model = 24, heads = 4, layers = 1, d_ff = 19 }
      for key, value in pairs(form[2]) do description[key] = value end
      local ok, kind, said = case.run(description, folder .. "/" .. i,
        { flags = case.QUICK, seed = i, nan = true })
      assert(ok, ("%s: %s"):format(kind, said))
    end
    if helper.is_long or i % 2 == 1 then it(form[1], check) end
  end
end)
