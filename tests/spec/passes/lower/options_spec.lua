-- lower_options_spec: which steps each option of attention adds, where, and that a model
-- without the option has none of them.
local helper = require("tests.spec.helper")

local function texts(more) return helper.step_texts(helper.tiny(more, "lower").programs[1]) end

-- The texts that hold a word.
local function with(list, word)
  local found = {}
  for _, text in ipairs(list) do if text:find(word, 1, true) then found[#found + 1] = text end end
  return found
end

-- Returns the steps on the tiles of scores of the first head: the first word of each step's text.
local function done_to_scores(list)
  local found, tile = {}, "l0.attn.scores@tile"
  for _, text in ipairs(list) do
    if text:find(tile, 1, true) then
      found[#found + 1] = text:match("^[%w_+]+")
      if text:match("^product.*l0.attn.context%+0$") then return found end
    end
  end
  return found
end

-- Option -> what it adds to the steps of helper.description, by how many (2 heads, one block of 8 queries).
local options = {
  { { past = 4 }, { ["y=l0.attn.all_keys"] = 2, ["y=l0.attn.all_values"] = 2 } },
  { { past = 4, kv_layout = "heads_first" }, { ["y=l0.attn.all_keys"] = 3, ["y=l0.attn.all_values"] = 3,
    ["y=l0.attn.keys_by_head"] = 2, ["y=l0.attn.values_by_head"] = 2, ["x=in.past_keys_0+0"] = 1,
    ["x=in.past_keys_0+128"] = 1, ["y=l0.attn.keys_by_head+256"] = 1 } },
  { { bias_kv = true }, { ["x=l0.attn.bias_k"] = 1, ["x=l0.attn.bias_v"] = 1 } },
  { { zero_attn = true }, { ["fill cols=16"] = 2 } },
  { { mask = "causal" }, { ["mask_band "] = 2 } },
  { { mask = { prefix = 3 } }, { ["mask_band_prefix"] = 2 } },
  { { mask = "padding" }, { ["mask_length"] = 2 } },
  { { mask = "padding", mask_value = -5 }, { ["add_length"] = 2 } },
  { { mask = "key_padding" }, { ["mask_where 8x8"] = 2 } },
  { { mask = "key_padding", mask_value = -5 }, { ["add_where"] = 2 } },
  { { mask = "blocked" }, { ["in.blocked+0"] = 2 } },
  { { mask = "blocked_heads" }, { ["in.head_blocked+0"] = 1, ["in.head_blocked+256"] = 1 } },
  { { mask = "key_bias" }, { ["scale+bias 8x8"] = 2 } },
  { { mask = "additive" }, { ["scale+add 8x8"] = 2 } },
  { { mask = "additive_heads" }, { ["in.head_bias+0"] = 1, ["in.head_bias+256"] = 1 } },
  { { positions = "rope" }, { ["rotate "] = 2 } },
  { { positions = "alibi" }, { ["positions.alibi+28"] = 1, ["positions.alibi+88"] = 1 } },
  { { positions = "t5" }, { ["bucket_table"] = 1, ["add_band"] = 2 } },
  { { input = { stage = "tokens", vocab = 9, boxes = 30, place_width = 3 }, box_buckets = 8, box_distance = 20 },
    { ["bucket_table"] = 2, ["join_boxes"] = 1, ["add_places cols=8"] = 2, ["across=places.across.table+192"] = 1 } },
  { { input = { stage = "linear", from = 8, grid = 3 } }, { ["grid_positions cols=16 grid=3"] = 1 } },
  { { positions = "relative_key" }, { ["add_reversed"] = 2 } },
  { { positions = "relative_key_query" }, { ["scores@transposed"] = 4 } },
  { { scoring = "additive" }, { ["additive_scores"] = 2 } },
  { { weighting = "relu" }, { ["weigh_relu"] = 2 } },
  { { weighting = "none" }, { ["weigh 8x8"] = 2 } },
  { { fully_masked = "nan" }, { ["softmax_nan"] = 2 } },
  { { head_mask = "input" }, { ["in.head_mask+0"] = 1, ["in.head_mask+4"] = 1 } },
  { { attention_output = "heads" }, { ["y=l0.attn.weights+0"] = 1, ["y=l0.attn.weights+512"] = 0 } },
  { { attention_output = "mean" }, { ["mean_heads"] = 1 } },
  { { attention_output = { kind = "none", scores = true } }, { ["y=l0.attn.scaled+0"] = 1 } },
  { { memory = { seq = 5 } }, { ["l0.cross.scores@tile"] = 6 } },
  { { norm_kind = "rms" }, { ["rms_norm"] = 2 } },
  { { gated = true }, { ["multiply"] = 1 } },
  { { input = { stage = "tokens", vocab = 9, types = 2 } }, { ["ids=in.token_types"] = 1 } },
  { { layout = "seq_first", batch = 2 }, { ["output.hidden.swapped"] = 1 } },
  { { output = { { stage = "normalise" } } }, { ["normalise"] = 1 } },
  { { output = { { stage = "softmax" } } }, { ["softmax_rows"] = 1 } },
  { { output = { { stage = "topk", k = 3 } } }, { ["topk_values cols=16 k=3"] = 1,
    ["topk_indices cols=16 k=3"] = 1 } },
  { { output = { { stage = "log_softmax" } } }, { ["log_softmax"] = 1 } },
}

describe("an option", function()
  local plain = texts()

  it("adds its steps, of which a plain model has none", function()
    for _, option in ipairs(options) do
      local what = require("common.dump").table(option[1])
      local list = texts(option[1])
      for word, count in pairs(option[2]) do
        assert.equal(count, #with(list, word), what .. word .. "\n" .. table.concat(list, "\n"))
        assert.equal(0, #with(plain, word), word)
      end
    end
  end)

  it("that says what is so anyway adds none", function()
    for _, more in ipairs { { kv_heads = 2 }, { past = 0 }, { mask = "none" }, { weighting = "softmax" },
      { head_mask = { { 1, 1 } } }, { attention_output = { layers = {} } }, { dropout = 0.1, drop_path = 0.5 },
      { layout = "batch_first" }, { projections = true } } do
      assert.same(plain, texts(more))
    end
  end)
end)

describe("what is added to scores", function()
  it("is one pass over the tile, then come masks and the softmax", function()
    assert.same({ "product", "softmax", "product" }, done_to_scores(texts()))
    assert.same({ "product", "scale+add_band+bias+add+mask_where", "mask_band", "mask_length", "softmax", "product" },
      done_to_scores(texts({ positions = "alibi",
        mask = { "causal", "padding", "key_bias", "additive", "blocked" } })))
    assert.same({ "product", "add_reversed", "scale+bias", "mask_band", "softmax", "product" },
      done_to_scores(texts({ positions = "relative_key", mask = { "causal", "key_bias" } })))
    assert.same({ "product", "scale+add_where", "add_length", "softmax", "scale_by", "product" },
      done_to_scores(texts({ head_mask = "input", mask = { "padding", "key_padding" }, mask_value = -9 })))
  end)

  it("touches the keys of the sequence, not those after them", function()
    local list = texts({ bias_kv = true, zero_attn = true, mask = { "padding", "key_bias" } })
    assert.same({ "product m8", "product m2" }, { with(list, "scores@tile+0")[1]:match("^product m8"),
      with(list, "scores@tile+32")[1]:match("^product m2") })
    assert.equal(0, #with(list, "scale+bias")) -- the scale is of all ten, the bias of eight
    assert.equal(2, #with(list, "scale 8x10"))
    assert.equal(2, #with(list, "bias 8x8 ld16  l0.attn.scores@tile+0"))
    assert.equal(2, #with(list, "mask_length cols=8"))
    assert.equal(2, #with(list, "softmax cols=10"))
  end)
end)

describe("keys and values by head", function()
  local function list_of(more)
    more.kv_layout, more.input, more.projections, more.key_seq = "heads_first", { stage = "qkv" }, false, 5
    return texts(more)
  end

  it("are read where they lie", function()
    local list = list_of {}
    assert.equal(0, #with(list, "input.key"))
    assert.equal(0, #with(list, "input.value"))
    assert.equal(1, #with(list, "transpose cols=8 ldx=8 ldy=64 rows=5  x=in.key+0"), table.concat(list, "\n"))
    assert.equal(1, #with(list, "x=in.key+160"))
    assert.equal(1, #with(list, "in.value+160"))
  end)

  it("are copied where something needs rows of all heads", function()
    for _, more in ipairs { { positions = "rope" }, { zero_attn = true }, { positions = "relative_key_query" } } do
      local list = list_of(more)
      assert.equal(1, #with(list, "x=in.key+160  y=input.key+32"), table.concat(list, "\n"))
    end
  end)
end)

describe("boxes", function()
  it("of any length are the boxes of a block's queries and of all keys", function()
    local input = { stage = "tokens", vocab = 9, boxes = 30 }
    local text = with(texts({ seq = { any = 40 }, input = input, box_buckets = 8 }), "add_places")[1]
    assert.is_truthy(text:find("keys=in.boxes+0+first*16  queries=in.boxes+0+first*16+query*16", 1, true), text)
  end)
end)

describe("a past", function()
  it("moves a causal mask and lengths after itself", function()
    local list = texts({ past = 4, mask = { "causal", "padding" } })
    -- Query r of a block sees keys j < r + 5.
    assert.equal("mask_band cols=12 hi=5 ld=16 lo=-8 rows=8  s=l0.attn.scores@tile+0", with(list, "mask_band")[1])
    assert.equal("mask_length cols=12 ld=16 rows=8  s=l0.attn.scores@tile+0  valid=[in.lengths+0]+4",
      with(list, "mask_length")[1])
    list = texts({ past = 4, mask = "padding", mask_value = -5 })
    assert.matches("valid=%[in.lengths%+0%]%+4$", with(list, "add_length")[1])
  end)

  it("of one query more needs no mask", function()
    assert.equal(0, #with(texts({ seq = 1, past = 40, mask = "causal" }), "mask_band"))
  end)
end)

describe("heads", function()
  it("that share keys read the same ones", function()
    local list = texts({ heads = 4, kv_heads = 2 })
    local keys = {}
    for _, text in ipairs(list) do
      keys[#keys + 1] = text:match("^product.*  (l0%.attn%.k@%S+)  l0%.attn%.q%+%d+  l0%.attn%.scores@tile")
    end
    assert.equal(4, #keys)
    assert.same({ true, true, false }, { keys[1] == keys[2], keys[3] == keys[4], keys[2] == keys[3] })
  end)

  it("that are left out cost nothing", function()
    local list = texts({ heads = 4, head_mask = { { 0, 1, 0, 1 } } })
    assert.equal(2, #with(list, "softmax"))
    assert.equal(0, #with(list, "scale 8x8")) -- the factors of those kept are 1
    assert.equal(2, #with(texts({ heads = 4, head_mask = { { 0, 2, 0, 0.5 } } }), "scale 8x8"))
  end)
end)

describe("weights that go out", function()
  it("of keys that a mask leaves no block of are zero, scores -inf", function()
    local list = texts({ seq = 64, mask = "causal", plan = { query_block = 16, key_block = 16 },
      attention_output = { scores = true } })
    assert.equal(6, #with(list, "value=0  y=l0.attn.weights")) -- in each head all blocks of queries but the last
    assert.equal(6, #with(list, "y=l0.attn.scaled+") - #with(list, "x=l0.attn.scores@tile+0  y=l0.attn.scaled+"))
    assert.equal(6, #with(list, "value=-inf  y=l0.attn.scaled"))
  end)
end)
