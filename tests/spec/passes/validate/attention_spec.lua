-- validate_attention_spec: the keys that say what kind of attention a layer has: their
-- defaults, what each refuses, and which go together.
local helper = require("tests.spec.helper")
local known_keys = require("data.keys")
local words = require("common.words")

local function spec(more) return helper.tiny(more, "validate").spec end

-- The refusals of helper.description(more): seq 8, d_model 16, 2 heads, 1 layer.
local function refusals(more) return helper.refusals(helper.description(more)) end

-- The one refusal of helper.description(more).
local function refusal(more)
  local lines = refusals(more)
  assert.equal(1, #lines, table.concat(lines, "\n"))
  return lines[1]
end

local qkv = { stage = "qkv" }
local tokens = { stage = "tokens", vocab = 9 }

local function image(more)
  local result = { stage = "image", height = 4, width = 6, patch = 2 }
  for key, value in pairs(more or {}) do result[key] = value end
  return result
end

-- helper.description, of an image: without a seq.
local function of_image(more, seq)
  local description = helper.description({ input = image(more) })
  description.seq = seq
  return description
end

describe("heads", function()
  it("of keys and values are as many, or a divisor", function()
    assert.equal(2, spec().kv_heads)
    assert.equal(1, spec({ kv_heads = 1 }).kv_heads)
    assert.equal("kv_heads: heads 2 is not divisible by kv_heads 3", refusal({ kv_heads = 3 }))
    assert.equal("kv_heads: heads 2 is not divisible by kv_heads 4", refusal({ kv_heads = 4 }))
    assert.equal("kv_heads: heads 4 is not divisible by kv_heads 3", refusal({ heads = 4, kv_heads = 3 }))
  end)

  it("have factors: words, or a list of numbers for each layer", function()
    assert.same({ kind = "input" }, spec({ head_mask = "input" }).head_mask)
    assert.same({ kind = "constant", layers = { { 1.0, 0.0 }, { -1e6, 1e6 } } },
      spec({ layers = 2, head_mask = { { 1, 0 }, { -1e6, 1e6 } } }).head_mask)
    assert.same({ kind = "constant", layers = {} }, spec({ layers = 0, head_mask = {} }).head_mask)
    assert.equal("head_mask: 2 lists, but one for each of 1 layers is expected",
      refusal({ head_mask = { { 1, 1 }, { 1, 1 } } }))
    assert.equal("head_mask.1: 3 factors, but one for each of 2 heads is expected",
      refusal({ head_mask = { { 1, 1, 1 } } }))
    assert.equal('head_mask: "inputs", but none, input or a list of a list of factors a layer is allowed',
      refusal({ head_mask = "inputs" }))
    assert.equal("head_mask.1: 1, but a list of factors, one a head, is allowed", refusal({ head_mask = { 1, 0 } }))
    assert.equal('head_mask.1.2: "0", but a number from -1e+06 to 1e+06 is allowed',
      refusal({ head_mask = { { 1, "0" } } }))
    assert.matches("^head_mask%.1%.1: %-?nan, but a number from", refusal({ head_mask = { { 0 / 0, 1 } } }))
    assert.matches("^head_mask%.1%.1: inf, but a number from", refusal({ head_mask = { { math.huge, 1 } } }))
  end)

  it("have factors in lists without holes or names", function()
    assert.equal("head_mask.1: the list of factors has holes",
      refusal({ heads = 4, head_mask = { { 1, nil, nil, 1 } } }))
    assert.equal("head_mask.1: the list of factors has holes", refusal({ head_mask = { { [0] = 1, 1, 1 } } }))
    assert.equal("head_mask: the list of layers has holes", refusal({ layers = 2, head_mask = { [2] = { 1, 1 } } }))
    assert.equal('head_mask: a list of layers has no key "l0"', refusal({ head_mask = { { 1, 1 }, l0 = { 1, 1 } } }))
    assert.equal("head_mask: a list of layers has no key 1.5", refusal({ head_mask = { { 1, 1 }, [1.5] = { 1, 1 } } }))
  end)
end)

describe("weights as outputs", function()
  local function output(value) return spec({ layers = 3, attention_output = value }).attention_output end

  it("are of all heads, their mean, or none, of all layers or some", function()
    assert.same({ kind = "heads" }, output("heads"))
    assert.same({ kind = "mean" }, output({ kind = "mean" }))
    assert.same({ kind = "heads" }, output({}))
    assert.same({ kind = "heads", layers = { [0] = true, [2] = true } }, output({ layers = { 0, 2 } }))
    assert.same({ kind = "none", scores = true, layers = {} }, output({ kind = "none", scores = true, layers = {} }))
  end)

  it("are refused where a part is wrong or a layer is not there", function()
    local function refused(value) return refusal({ layers = 3, attention_output = value }) end
    assert.equal('attention_output: "head", but none, heads or mean is allowed (did you mean heads?)', refused("head"))
    assert.equal("attention_output: true, but none, heads or mean is allowed (did you mean heads?)", refused(true))
    assert.equal("attention_output.kind: false, but none, heads or mean is allowed", refused({ kind = false }))
    assert.equal("attention_output.scores: 1, but true or false is allowed", refused({ scores = 1 }))
    assert.equal("attention_output.layers: 3, but there are 3 layers, numbered from 0", refused({ layers = { 0, 3 } }))
    assert.equal("attention_output.layers.2: -1, but an integer from 0 to 999 is allowed",
      refused({ layers = { 0, -1 } }))
    assert.equal("attention_output.layers: 1, but a list of layers, counted from 0, is allowed",
      refused({ layers = 1 }))
    assert.equal("attention_output.layers: the list of layers has holes", refused({ layers = { [2] = 1 } }))
    assert.equal('attention_output.layers: a list of layers has no key "first"', refused({ layers = { first = 0 } }))
    assert.equal('attention_output: "layer" is not part of { kind =, layers =, scores =, before_head_mask = }',
      refused({ layer = { 0 } }))
    assert.equal("attention_output.before_head_mask: 0, but true or false is allowed",
      refused({ before_head_mask = 0 }))
    for _, kind in ipairs { "mean", "none" } do
      assert.equal('attention_output.before_head_mask: goes with kind = "heads"',
        refused({ kind = kind, before_head_mask = true }))
      assert.same({ kind = kind, before_head_mask = false }, output({ kind = kind, before_head_mask = false }))
    end
    assert.same({ kind = "heads", before_head_mask = true }, output({ before_head_mask = true }))
  end)

  it("have names that no output stage may take", function()
    for _, name in ipairs { "attention_0", "cross_attention_12", "source_attention_1", "scores_0", "cross_scores_0",
      "source_scores_0", "keys_0", "values_3" } do
      assert.equal(('output.1.name: "%s" is a name of an output of attention'):format(name),
        refusal({ output = { { stage = "norm", name = name } } }))
    end
    for _, name in ipairs { "attention", "keys", "scores_" } do
      assert.same({}, refusals({ output = { { stage = "norm", name = name } } }))
    end
  end)
end)

describe("masks", function()
  local function mask(value, more)
    local keys = { mask = value }
    for key, each in pairs(more or {}) do keys[key] = each end
    return spec(keys).mask
  end

  it("that are arrays are words, alone and in lists", function()
    for _, word in ipairs { "key_padding", "key_bias", "additive", "additive_heads", "blocked", "blocked_heads" } do
      assert.same({ causal = false, padding = false, [word] = true }, mask(word))
      assert.same({ causal = true, padding = true, [word] = true }, mask({ "causal", word, "padding" }))
    end
  end)

  it("of a prefix have its length, in the mask or beside it", function()
    local prefix = { causal = false, padding = false, prefix = 3 }
    assert.same(prefix, mask("prefix", { prefix = 3 }))
    assert.same(prefix, mask({ prefix = 3 }))
    assert.same(prefix, mask({ "prefix" }, { prefix = 3 }))
    assert.same({ causal = true, padding = true, prefix = 4096 }, mask({ "causal", "padding", prefix = 4096 }))
    assert.equal("mask: prefix without its length; give prefix = N", refusal({ mask = "prefix" }))
    assert.equal("prefix: given, but mask does not say prefix", refusal({ prefix = 3 }))
    assert.equal("prefix: given twice: here and in mask", refusal({ mask = { prefix = 3 }, prefix = 3 }))
    assert.equal("mask.prefix: 0, but an integer from 1 to 32768 is allowed", refusal({ mask = { prefix = 0 } }))
    assert.equal("prefix: 1.5, but an integer from 1 to 32768 is allowed", refusal({ mask = "prefix", prefix = 1.5 }))
    assert.equal("mask: prefix does not go with window", refusal({ mask = { prefix = 3, window = { 1, 1 } } }))
  end)

  it("of padding may add a value, which goes with nothing else", function()
    assert.equal(-10000.0, spec({ mask = "padding", mask_value = -10000 }).mask_value)
    assert.equal(-1e30, spec({ mask = { "causal", "key_padding" }, mask_value = -1e30 }).mask_value)
    assert.equal(-1.0, spec({ memory = { seq = 4, mask = "padding" }, mask_value = -1 }).mask_value)
    assert.is_nil(spec({ mask = "padding" }).mask_value)
    local goes = 'mask_value: goes with mask = "padding" or "key_padding"'
    assert.equal(goes, refusal({ mask_value = -1 }))
    assert.equal(goes, refusal({ mask = { "causal", "blocked" }, mask_value = -1 }))
    assert.equal(goes, refusal({ memory = { seq = 4 }, mask_value = -1 }))
    for _, wrong in ipairs { 1, -1.1e30, -math.huge, "low", true } do
      assert.matches("^mask_value: .*, but a number from %-1e%+30 to 0 is allowed$",
        refusal({ mask = "padding", mask_value = wrong }))
    end
  end)
end)

describe("positions", function()
  it("need a table as long as they are", function()
    assert.equal(8, spec({ positions = "learned" }).max_position)
    assert.equal(13, spec({ positions = "learned", past = 5 }).max_position)
    assert.equal(512, spec({ positions = "learned", max_position = 512 }).max_position)
    for _, word in ipairs { "learned", "relative_key", "relative_key_query" } do
      assert.same({}, refusals({ positions = word, past = 5, max_position = 13 }))
      assert.equal("max_position: 12, but there are 13 positions",
        refusal({ positions = word, past = 5, max_position = 12 }))
    end
    assert.matches("^max_position: goes with positions = ", refusal({ positions = "rope", max_position = 1 }))
  end)

  it("of qkv() are the query's where they are learned, and reach all keys where they are relative", function()
    assert.equal(8, spec({ input = qkv, key_seq = 20, positions = "learned" }).max_position)
    assert.equal(20, spec({ input = qkv, key_seq = 20, positions = "relative_key" }).max_position)
    assert.equal("max_position: 19, but there are 20 positions",
      refusal({ input = qkv, key_seq = 20, positions = "relative_key", max_position = 19 }))
  end)

  it("have keys of their own, of which only the defaults go with other positions", function()
    for key, value in pairs { rope_theta = 5e5, rope_dim = 4, rope_style = "pairs", sinusoids = "halves",
      alibi_max = 4, t5_distance = 9, position_norm = true, position_kernel = 3 } do
      assert.matches(("^%s: goes with positions = \"%%l"):format(key), refusal({ [key] = value }))
    end
    assert.same({ 'layers.1.rope_theta: goes with positions = "rope"',
      'layers.2.rope_dim: goes with positions = "rope"' },
      refusals({ layers = { { rope_theta = 5e5 }, { rope_dim = 4 } } }))
    assert.equal("box_distance: goes with box_buckets", refusal({ box_distance = 9 }))
    for _, field in ipairs(known_keys.list) do
      if field.with and field.default then assert.same({}, refusals({ [field.key] = field.default })) end
    end
    assert.equal('memory.alibi_max: goes with positions = "alibi"', refusal({ positions = "alibi", alibi_max = 4,
      memory = { stage = "encoder", seq = 4, positions = "none", alibi_max = 4 } }))
  end)

  it("rotate an even number of a head's dimensions", function()
    assert.equal(8, spec({ positions = "rope" }).rope_dim)
    assert.equal(2, spec({ positions = "rope", rope_dim = 2 }).rope_dim)
    assert.equal("rope_dim: 3, but an even number up to head_dim 8 is allowed",
      refusal({ positions = "rope", rope_dim = 3 }))
    assert.equal("rope_dim: 10, but an even number up to head_dim 8 is allowed",
      refusal({ positions = "rope", rope_dim = 10 }))
    local patches = { stage = "image", height = 8, width = 8, patch = 4 }
    assert.equal("rope_patches: goes with positions = \"rope\" and input = image { ... } without strides",
      refusal({ positions = "rope", rope_patches = true }))
    assert.equal("rope_dim: 6, but with rope_patches a multiple of 4 is allowed",
      refusal({ positions = "rope", rope_patches = true, rope_dim = 6, input = patches, seq = 5 }))
    assert.equal("rope_dim: 5, but an even number up to head_dim 5 is allowed",
      refusal({ positions = "rope", head_dim = 5 }))
    assert.equal(1.0, spec({ positions = "rope", rope_theta = 1 }).rope_theta)
    assert.equal("rope_theta: 0.5, but a number from 1 to 1e+12 is allowed", refusal({ rope_theta = 0.5 }))
    assert.equal('rope_style: "pair", but halves or pairs is allowed (did you mean pairs?)',
      refusal({ rope_style = "pair" }))
  end)

  it("of T5 have buckets enough for a side, and a distance beyond those of one", function()
    assert.same({}, refusals({ positions = "t5", t5_buckets = 4, t5_distance = 2 }))
    assert.same({}, refusals({ positions = "t5", mask = "causal", t5_buckets = 2, t5_distance = 2 }))
    assert.equal("t5_buckets: 3, but at least 4 are needed where queries see both sides",
      refusal({ positions = "t5", t5_buckets = 3 }))
    assert.equal("t5_distance: 8, but with 32 buckets it must be above 8",
      refusal({ positions = "t5", t5_distance = 8 }))
    assert.equal("t5_distance: 16, but with 32 buckets it must be above 16",
      refusal({ positions = "t5", mask = "causal", t5_distance = 16 }))
    assert.same({}, refusals({ positions = { "convolution", "t5" }, position_gate = true }))
    local boxed = { stage = "tokens", vocab = 9, boxes = 30, place_width = 5 }
    local function of_boxes(more, input)
      local all = { d_model = 32, heads = 4, input = words.merged(boxed, input), box_buckets = 8 }
      return refusal(words.merged(all, more))
    end
    assert.same({}, refusals({ d_model = 32, heads = 4, input = boxed, box_buckets = 8 }))
    assert.equal("box_buckets: goes with input = tokens { boxes = ... }", refusal({ box_buckets = 8 }))
    assert.equal("box_distance: 2, but with 8 buckets it must be above 2", of_boxes { box_distance = 2 })
    assert.equal("box_buckets: does not go with ranks: the tables are of all heads", of_boxes { ranks = 2 })
    assert.equal("input.place_width: 8, but four of them and two equal parts of the rest must be 32 wide",
      of_boxes({}, { place_width = 8 }))
    assert.equal("input.place_width: 5, but four of them and two equal parts of the rest must be 33 wide",
      of_boxes({ d_model = 33, heads = 3 }))
    assert.equal("input.place_width: 5, but four of them and two equal parts of the rest must be 20 wide",
      refusal({ d_model = 20, heads = 4, input = { stage = "tokens", vocab = 9, boxes = 30, place_width = 5, width = 32,
        projected = "before_positions" } }))
    assert.equal("input.place_width: goes with boxes",
      refusal({ d_model = 32, heads = 4, input = { stage = "tokens", vocab = 9, place_width = 5 } }))
    assert.equal("input.separator_place: goes with boxes",
      refusal({ d_model = 32, heads = 4, input = { stage = "tokens", vocab = 9, separator_place = 5 } }))
    assert.equal('position_gate: goes with positions = "t5"', refusal({ position_gate = true }))
    assert.is_truthy(refusal({ positions = "t5", position_gate = true, head_dim = 5 }):find("^position_gate: %d+ heads "
      .. "of 5 are not d_model, %d+: a gate reads a head's part of the states$"))
    assert.equal("position_gate: does not go with ranks: a gate reads the states of all heads",
      refusal({ positions = "t5", position_gate = true, ranks = 2 }))
  end)
end)

describe("an attention", function()
  it("that is no softmax has no NaN of its own", function()
    assert.equal("nan", spec({ fully_masked = "nan" }).fully_masked)
    for _, word in ipairs { "relu", "none" } do
      assert.equal('fully_masked: nan goes with weighting = "softmax"; other weights of masked keys are 0',
        refusal({ weighting = word, fully_masked = "nan" }))
    end
  end)

  it("has at most 32768 keys with its past", function()
    assert.same({}, refusals({ past = 4088 }))
    assert.equal("past: 32761 + seq 8, but at most 32768 keys are allowed", refusal({ past = 32761 }))
  end)

  it("may leave out projections one by one", function()
    assert.is_true(spec({ projections = { q = true, out = true } }).projections)
    assert.is_false(spec({ projections = { q = false, k = false, v = false, out = false } }).projections)
    assert.same({ q = true, k = true, v = true, out = false }, spec({ projections = { out = false } }).projections)
    local one = { bias_kv = true, past = 2, projections = { out = false, q = false } }
    assert.same({}, refusals(one))
    assert.equal("projections: \"none\", but true, false or { q =, k =, v =, out = } is allowed",
      refusal({ projections = "none" }))
    assert.equal("projections.k: 1, but true or false is allowed", refusal({ projections = { k = 1 } }))
    assert.equal('projections: no part "o"; the parts are q, k, v or out', refusal({ projections = { o = false } }))
    for _, part in ipairs { "k", "v" } do
      local rest = { [part] = false }
      assert.equal("bias_kv: goes with projections of k and v", refusal({ projections = rest, bias_kv = true }))
      assert.equal("past: goes with projections of k and v", refusal({ projections = rest, past = 1 }))
      assert.equal(("kv_heads: without a projection of %s kv_heads x head_dim must be d_model, but 1 x 8 is not 16")
        :format(part), refusal({ projections = rest, kv_heads = 1 }))
      assert.equal(("memory.width: without a projection of %s the memory must be as wide as d_model"):format(part),
        refusal({ projections = rest, memory = { seq = 4, width = 15 } }))
    end
    for _, part in ipairs { "q", "out" } do
      assert.equal(("head_dim: without a projection of %s heads x head_dim must be d_model, but 2 x 4 is not 16")
        :format(part), refusal({ projections = { [part] = false }, head_dim = 4 }))
      assert.same({}, refusals({ projections = { [part] = false }, kv_heads = 1, memory = { seq = 4, width = 15 } }))
    end
    assert.equal('head_mask: constant factors go with all projections; "input" goes with either',
      refusal({ projections = { out = false }, head_mask = { { 1, 0 } } }))
  end)

  it("without projections has heads that are parts of the states", function()
    assert.same({}, refusals({ projections = false }))
    assert.same({}, refusals({ projections = false, zero_attn = true, head_mask = "input" }))
    assert.equal("bias_kv: goes with projections", refusal({ projections = false, bias_kv = true }))
    assert.equal("past: goes with projections", refusal({ projections = false, past = 1 }))
    assert.equal("head_dim: without projections heads x head_dim must be d_model, but 2 x 4 is not 16",
      refusal({ projections = false, head_dim = 4 }))
    assert.equal("kv_heads: without projections other heads than of the query need input = qkv()",
      refusal({ projections = false, kv_heads = 1 }))
    assert.equal('head_mask: constant factors go with projections; "input" goes with either',
      refusal({ projections = false, head_mask = { { 1, 0 } } }))
    assert.equal("memory.width: without projections the memory must be as wide as d_model",
      refusal({ projections = false, memory = { seq = 4, width = 15 } }))
  end)
end)

describe("query, key and value", function()
  it("have sizes of their own", function()
    local s = spec({ input = qkv })
    assert.same({ 8, 16, 16 }, { s.key_seq, s.kdim, s.vdim })
    s = spec({ input = qkv, key_seq = 3, kdim = 4, vdim = 5 })
    assert.same({ 3, 4, 5 }, { s.key_seq, s.kdim, s.vdim })
    for _, key in ipairs { "key_seq", "kdim", "vdim" } do
      assert.equal(key .. ": goes with input = qkv()", refusal({ [key] = 4 }))
      assert.equal(key .. ": goes with input = qkv()", refusal({ input = tokens, [key] = 4 }))
    end
  end)

  it("are of one attention without keys from elsewhere", function()
    assert.equal("layers: input = qkv() has one attention: layers = 1", refusal({ input = qkv, layers = 2 }))
    assert.equal("layers: input = qkv() has one attention: layers = 1", refusal({ input = qkv, layers = 0 }))
    assert.equal("memory: does not go with input = qkv(), which has keys of its own",
      refusal({ input = qkv, memory = { seq = 4 } }))
    assert.equal("past: does not go with input = qkv(), which has keys of its own", refusal({ input = qkv, past = 1 }))
    assert.equal("norm: pre does not go with input = qkv(): only the query would have a norm",
      refusal({ input = qkv, norm = "pre" }))
  end)

  it("without some projections are as wide as those", function()
    local function partly(parts, more)
      local keys = { input = qkv, projections = parts }
      for key, value in pairs(more) do keys[key] = value end
      return refusals(keys)
    end
    assert.same({}, partly({ k = false }, { kdim = 8, kv_heads = 1, vdim = 5 }))
    assert.same({ "kdim: 10, but without a projection of k it must be kv_heads x head_dim, 16" },
      partly({ k = false }, { kdim = 10 }))
    assert.same({}, partly({ v = false }, { vdim = 6, kdim = 5 })) -- the projection after it makes d_model of 6
    assert.same({ "vdim: 7 is not divisible by kv_heads 2" }, partly({ v = false }, { vdim = 7 }))
    assert.same({ "vdim: 6, but with a residual sum the result must be as wide as d_model 16" },
      partly({ v = false, out = false }, { vdim = 6 }))
    assert.same({ "head_dim: without a projection of out heads x head_dim must be d_model, but 2 x 4 is not 16" },
      partly({ out = false }, { head_dim = 4 }))
    assert.same({}, partly({ out = false }, { head_dim = 4, residual = false, norm = "none", d_ff = 0 }))
  end)

  it("without projections are as wide as their heads", function()
    local function bare(more)
      local keys = { input = qkv, projections = false, residual = false, norm = "none", d_ff = 0 }
      for key, value in pairs(more) do keys[key] = value end
      return refusals(keys)
    end
    assert.same({}, bare {})
    assert.same({}, bare { kv_heads = 1, kdim = 8, vdim = 5 })
    assert.same({ "kdim: 10, but without projections it must be kv_heads x head_dim, 16" }, bare { kdim = 10 })
    assert.same({ "kdim: 16, but without projections it must be kv_heads x head_dim, 8" }, bare { kv_heads = 1 })
    assert.same({ "vdim: 11 is not divisible by kv_heads 2" }, bare { vdim = 11 })
    assert.same({}, bare { vdim = 12 })
    assert.same({ "vdim: 12, but with a residual sum the result must be as wide as d_model 16" },
      bare { vdim = 12, residual = true })
    assert.same({}, bare { kv_heads = 1, kdim = 8, vdim = 8, residual = true })
  end)
end)

describe("an image", function()
  it("says how long the sequence is", function()
    assert.equal(7, helper.state(of_image(), "validate").spec.seq)
    assert.equal(6, helper.state(of_image({ class_token = false }), "validate").spec.seq)
    assert.same({}, helper.refusals(of_image({}, 7)))
    assert.same({ "seq: 8, but the image has 7 rows: its patches and the class token" },
      helper.refusals(of_image({}, 8)))
    assert.same({ "seq: 7, but the image has 6 rows: its patches" },
      helper.refusals(of_image({ class_token = false }, 7)))
  end)

  it("is cut into patches that fit, not too many", function()
    assert.same({}, helper.refusals(of_image({ patch = 4 })))
    assert.same({ "input.patch: 8, but the image is 4 x 6" }, helper.refusals(of_image({ patch = 8 })))
    assert.same({}, helper.refusals(of_image({ height = 64, width = 64, patch = 1, class_token = false })))
    assert.same({ "input: the image has 4097 rows, but at most 4096 are allowed" },
      helper.refusals(of_image({ height = 64, width = 64, patch = 1 })))
    assert.same({}, helper.refusals(of_image({ height = 256, width = 256, patch = 256, channels = 1 })))
    assert.same({ "input.patch: a patch has 196608 values, but at most 65536 are allowed" },
      helper.refusals(of_image({ height = 256, width = 256, patch = 256 })))
    local apart = { height = 5, channels = 1, row_stride = 2, column_stride = 3 }
    local function by_columns(more)
      for key, value in pairs(apart) do if more[key] == nil then more[key] = value end end
      return of_image(more)
    end
    assert.equal(5, helper.state(by_columns {}, "validate").spec.seq)
    assert.same({ "input.channels: 3, but an image that comes in column by column has 1" },
      helper.refusals(by_columns { channels = 3 }))
    assert.same({ "input.patch: 6, but the image is 5 x 6" }, helper.refusals(by_columns { patch = 6 }))
    assert.same({ "input: row_stride and column_stride go together" }, helper.refusals(of_image { row_stride = 2 }))
    assert.same({ "input.channels: 0, but an integer from 1 to 4096 is allowed" },
      helper.refusals(of_image({ channels = 0 })))
    assert.same({ "input.class_token: 1, but true or false is allowed" },
      helper.refusals(of_image({ class_token = 1 })))
  end)
end)

describe("rows come and go sequence first", function()
  it("where they are floats", function()
    assert.equal("seq_first", spec({ layout = "seq_first", input = { stage = "linear", from = 3 } }).layout)
    assert.same({}, refusals({ layout = "seq_first", input = qkv }))
    local floats = "layout: seq_first goes with float inputs: hidden, linear or qkv"
    assert.equal(floats, refusal({ layout = "seq_first", input = tokens }))
    local description = of_image()
    description.layout = "seq_first"
    assert.same({ floats }, helper.refusals(description))
  end)
end)

describe("keys and values come by head", function()
  it("where there are any that come in", function()
    assert.equal("heads_first", spec({ kv_layout = "heads_first", past = 3 }).kv_layout)
    for _, given in ipairs { false, { k = false }, { v = false } } do
      assert.same({}, refusals({ kv_layout = "heads_first", input = qkv, projections = given }))
    end
    local line = "kv_layout: heads_first goes with past, or with input = qkv() whose keys or values are not projected "
      .. "(projections = false, or { k = false, v = false })"
    assert.equal(line, refusal({ kv_layout = "heads_first" }))
    assert.equal(line, refusal({ kv_layout = "heads_first", projections = false }))
    assert.equal(line, refusal({ kv_layout = "heads_first", input = qkv }))
    assert.equal(line, refusal({ kv_layout = "heads_first", input = qkv, projections = { q = false, out = false } }))
    assert.equal("kv_layout: \"seq_first\", but rows_first or heads_first is allowed",
      refusal({ kv_layout = "seq_first", past = 3 }))
  end)
end)

describe("a vocabulary", function()
  local vocabulary = { stage = "vocabulary" }

  it("is of the input's tokens, and tied to rows as wide as their table", function()
    local s = spec({ input = tokens, output = { vocabulary } })
    assert.same({ stage = "vocabulary", tied = true, bias = false, scale = 1.0 }, s.output[1])
    assert.equal("output.1: vocabulary goes with input = tokens { ... }, whose table says how many there are",
      refusal({ output = { vocabulary } }))
    local linear = { stage = "linear", to = 5 }
    assert.equal("output.2: tied to a table of width 16, but the rows are 5 wide; give tied = false",
      refusal({ input = tokens, output = { linear, vocabulary } }))
    assert.same({}, refusals({ input = tokens, output = { linear, { stage = "vocabulary", tied = false } } }))
    assert.same({}, refusals({ input = tokens, output = { linear, { stage = "linear", to = 16 }, vocabulary } }))
    assert.equal('d_model: "x", but an integer from 1 to 8192 is allowed',
      refusal({ d_model = "x", input = tokens, output = { linear, vocabulary } }))
    assert.equal("output.2: tied to a table of width 16, but the rows are 9 wide; give tied = false",
      refusal({ input = tokens, output = { vocabulary, vocabulary } }))
  end)
end)
