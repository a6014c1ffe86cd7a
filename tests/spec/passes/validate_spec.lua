-- validate_spec: defaults, every key's range at both ends and one beyond, suggestions, all
-- faults at once, and which keys go together.
local helper = require("tests.spec.helper")
local keys = require("data.keys")

local function spec(more) return helper.tiny(more, "validate").spec end

-- The refusals of helper.description(more).
local function refusals(more) return helper.refusals(helper.description(more)) end

-- The one refusal of helper.description(more).
local function refusal(more)
  local lines = refusals(more)
  assert.equal(1, #lines, table.concat(lines, "\n"))
  return lines[1]
end

describe("a spec", function()
  it("has every default", function()
    local s = helper.state({ name = "a", seq = 8, d_model = 24, heads = 3, layers = 2, target = "avx2" },
      "validate").spec
    s.symbols = nil -- validate/symbols_spec.lua
    assert.same({
      name = "a", batch = 1, seq = 8, d_model = 24, heads = 3, kv_heads = 3, head_dim = 8, layers = 2, d_ff = 96,
      gated = false, gate_sparsity = 0.0, activation = "gelu", norm = "post", norm_kind = "layer", eps = 1e-5,
      final_norm = false,
      role = "forward",
      short_conv = 0, values = "projected", layer_scale = false,
      residual = true, residual_scale = 1.0, parallel = "none", qk_norm = "none", dropout = 0.0, drop_path = 0.0,
      first_position = 0,
      bias = { q = true, k = true, v = true, out = true, up = true, down = true, norm = true },
      projections = true, scale = 1 / math.sqrt(8), scoring = "dot", weighting = "softmax", sinks = false,
      fully_masked = "zero", bias_kv = false, zero_attn = false, attention_output = { kind = "none" },
      head_mask = { kind = "none" }, past = 0,
      mask = { causal = false, padding = false }, positions = "none", max_position = 8, rope_theta = 10000.0,
      rope_style = "halves", rope_patches = false, rope_dim = 8, alibi_max = 8.0, alibi_factor = 1.0,
      t5_buckets = 32, t5_distance = 128, t5_by_layer = false, box_distance = 256,
      position_gate = false,
      conv_activation = "tanh",
      position_terms = "both", position_buckets = 256, position_distance = 512, position_norm = false,
      position_projections = "shared", position_kernel = 128, position_groups = 16,
      position_activation = "gelu", sinusoids = "pairs", layout = "batch_first", kv_layout = "rows_first",
      input = { stage = "hidden" }, output = { { stage = "hidden" } }, names = "attn2c",
      opens = "safetensors", target = "avx2",
      kernels = "auto", precision = { all = "f32", by_part = {} }, threads = 1, workers = { 1 },
      reuse = true, unroll = "alike", max_lines = 400000, plan = {}, least = 1,
      exact = "its tokens see all others, and it has neither lengths nor attention_mask",
    }, s)
  end)

  it("has learned positions after tokens and an image, unless told", function()
    assert.equal("learned", spec({ input = { stage = "tokens", vocab = 9 } }).positions)
    assert.equal("learned", spec({ seq = 5, input = { stage = "image", height = 4, width = 4, patch = 2 } }).positions)
    assert.equal("none", spec({ input = { stage = "tokens", vocab = 9 }, positions = "none" }).positions)
    assert.equal("sinusoidal", spec({ positions = "sinusoidal" }).positions)
  end)

  it("takes a head_dim that does not divide d_model", function()
    local s = spec({ d_model = 10, heads = 3, head_dim = 7 })
    assert.equal(7, s.head_dim)
    assert.equal(1 / math.sqrt(7), s.scale)
  end)

  it("resolves host to a target", function()
    assert.equal("avx2", spec({ target = "host" }).target) -- helper.state's
  end)

  it("takes floats that are integers", function()
    local s = spec({ seq = 8.0 })
    assert.equal("integer", math.type(s.seq))
  end)

  it("reads scale: a number, false for none", function()
    assert.equal(0.5, spec({ scale = 0.5 }).scale)
    assert.equal(1.0, spec({ scale = false }).scale)
    assert.equal(2.0, spec({ scale = 2 }).scale)
    assert.equal("float", math.type(spec({ scale = 2 }).scale))
  end)

  it("reads bias: a boolean, or parts with true for the rest", function()
    assert.same({ q = false, k = false, v = false, out = false, up = false, down = false, norm = false },
      spec({ bias = false }).bias)
    assert.same({ q = false, k = false, v = false, out = true, up = true, down = true, norm = true },
      spec({ bias = { qkv = false } }).bias)
    assert.same({ q = true, k = false, v = false, out = true, up = false, down = true, norm = true },
      spec({ bias = { qkv = false, q = true, ff = false, down = true } }).bias)
  end)

  it("reads masks in every form", function()
    local function mask(value, window) return spec({ mask = value, window = window }).mask end
    assert.same({ causal = false, padding = false }, mask("none"))
    assert.same({ causal = false, padding = false }, mask({}))
    assert.same({ causal = true, padding = false }, mask("causal"))
    assert.same({ causal = true, padding = true }, mask({ "padding", "causal" }))
    local window = { causal = false, padding = false, window = { left = 2, right = 3 } }
    assert.same(window, mask("window", { 2, 3 }))
    assert.same(window, mask("window", { left = 2, right = 3 }))
    assert.same(window, mask({ window = { 2, 3 } }))
    assert.same(window, mask({ "window" }, { 2, 3 }))
    assert.same({ causal = true, padding = true, window = { left = 0, right = 32768 } },
      mask({ "causal", "padding", window = { 0, 32768 } }))
  end)

  it("has no window that holds the longest sequence", function()
    local function mask(seq, left, right) return spec({ seq = seq, mask = { window = { left, right } } }).mask end
    assert.same({ causal = true, padding = false }, mask(8, 7, 0))
    assert.same({ causal = false, padding = false }, mask(8, 7, 7))
    assert.same({ left = 7, right = 0 }, mask(9, 7, 0).window)
    assert.same({ left = 7, right = 6 }, mask(8, 7, 6).window)
    assert.same({ left = 7, right = 0 }, spec({ seq = 8, past = 1, mask = { window = { 7, 0 } } }).mask.window)
  end)

  it("reads an output of one stage as a list, and an empty list as hidden states", function()
    assert.same({ { stage = "linear", to = 3, bias = true } }, spec({ output = { stage = "linear", to = 3 } }).output)
    assert.same({ { stage = "hidden" } }, spec({ output = {} }).output)
  end)

  it("refuses names of outputs that arrays of texts have", function()
    local more = { input = { stage = "tokens", vocab = 9, types = 2 }, tokenizer = "t", inputs = { ids = "input_ids" } }
    local function said(name)
      more.output = { { stage = "linear", to = 2, name = name } }
      return refusals(more)
    end
    for name, what in pairs { lengths = "how many tokens each has", input_ids = "the ids of their tokens",
      token_types = "the types of their tokens" } do
      assert.same({ ('output.1.name: "%s" is the name of another array that is written for texts, %s; any other name '
        .. "is allowed, or tokenizer = false"):format(name, what) }, said(name))
    end
    assert.same({}, said("ids"))
    more.tokenizer = false
    assert.same({}, said("lengths"))
    more.tokenizer, more.input = nil, nil
    more.inputs = nil
    assert.same({}, said("lengths"))
  end)

  it("reads a tokenizer's path, and labels as many as the last output has numbers", function()
    local more = { input = { stage = "tokens", vocab = 9 }, output = { { stage = "pool", over = "mean" },
      { stage = "linear", to = 2 } }, tokenizer = "../x", labels = { "no", "yés" }, label_function = "sigmoid" }
    local read = spec(more)
    assert.same({ "../x", { "no", "yés" }, "sigmoid" }, { read.tokenizer, read.labels, read.label_function })
    more.tokenizer = false
    assert.is_false(spec(more).tokenizer)
    more.labels = { "no", "yes", "perhaps" }
    assert.same({ "labels: 3, but the last output has 2 numbers" }, refusals(more))
    more.labels = { { "no" }, { "yes" } }
    assert.same({ "no", "yes" }, spec(more).labels)
    more.labels = { { "no" }, "yes" }
    assert.same({ 'labels.2: "yes", but parts of a list of at most 16000 texts are allowed' }, refusals(more))
    for _, label in ipairs { "\xff", "no\0yes", ("x"):rep(1001) } do
      more.labels = { "no", label }
      assert.matches("^labels.2: .*, but a text of at most 1000 bytes without NUL is allowed$", refusal(more))
    end
    assert.equal("tokenizer: goes with input = tokens { ... }", refusal({ tokenizer = "x" }))
  end)

  it("is dumped sorted", function()
    local text = require("passes.validate").dump(helper.tiny({}, "validate"))
    assert.matches('^activation = "gelu"\nalibi_factor = 1.0\nalibi_max = 8.0\nattention_output.kind = "none"\n'
      .. 'batch = 1\nbias.down = true\n', text)
    assert.matches('\noutput.1.stage = "hidden"\n', text)
  end)
end)

describe("every integer key", function()
  -- Keys that go with others are given company.
  local qkv = { input = { stage = "qkv" } }
  local writes = { context = 300, mask = "causal", input = { stage = "tokens", vocab = 9 } }
  local company = {
    d_model = { heads = 1, head_dim = 1 }, heads = { head_dim = 1 }, kv_heads = { heads = 128, head_dim = 1 },
    keys_of = { layers = 2 }, layer_inputs = { input = { stage = "tokens", vocab = 9 } },
    residual_rank = { norm = "pre" }, past = { seq = 1 }, context = writes, sequences = writes, chunk = writes,
    first_position = { positions = "learned" }, stages = { layers = 64 }, prefix = { mask = "prefix" },
    key_seq = qkv, kdim = qkv, vdim = qkv, rope_dim = { positions = "rope", head_dim = 512 },
    t5_buckets = { positions = "t5", mask = "causal", t5_distance = 1 << 20 },
    t5_distance = { positions = "t5", t5_buckets = 4 }, position_kernel = { positions = "convolution" },
    position_groups = { positions = "convolution", d_model = 1024 },
    position_buckets = { positions = "disentangled", position_distance = 65536 },
    position_distance = { positions = "disentangled", position_buckets = 0 },
    max_position = { positions = "learned", seq = 1 },
    box_distance = { box_buckets = 4, input = { stage = "tokens", vocab = 9, boxes = 9 } },
    box_buckets = { box_distance = 1000, input = { stage = "tokens", vocab = 9, boxes = 9 } },
    dimensions = { input = { stage = "tokens", vocab = 9 }, tokenizer = "../x",
      output = { { stage = "pool", over = "mean" } } },
  }
  -- How large each may be in company, where that is less than by itself; and what it is called in the spec.
  local most = { keys_of = 0, past = 4095, ranks = 2 }
  local function value_of(s, key) if key == "prefix" then return s.mask.prefix end return s[key] end
  for _, field in ipairs(keys.list) do
    if field.type == "integer" then
      it(field.key .. " takes both ends of its range and nothing beyond", function()
        local function with(value)
          local more = {}
          for key, each in pairs(company[field.key] or {}) do more[key] = each end
          more[field.key] = value
          return more
        end
        for _, inside in ipairs { field.min, most[field.key] or field.max } do
          assert.same({}, refusals(with(inside)))
          assert.equal(inside, value_of(spec(with(inside)), field.key))
        end
        local allowed = ("but an integer from %d to %d is allowed"):format(field.min, field.max)
        for _, outside in ipairs { field.min - 1, field.max + 1, math.maxinteger, math.mininteger } do
          assert.equal(("%s: %d, %s"):format(field.key, outside, allowed), refusal(with(outside)))
        end
        -- seq and batch may be lists, and so say something else of an empty one.
        local no_list = (field.key == "seq" or field.key == "batch") and { math.huge, "inf" } or { {}, "a table" }
        for _, wrong in ipairs { { 1.5, "1.5" }, { "8", '"8"' }, { true, "true" }, no_list, { 0 / 0, "nan" },
          { math.huge, "inf" } } do
          local got = refusal(with(wrong[1]))
          assert.equal(("%s: %s, %s"):format(field.key, wrong[2], allowed), (got:gsub("%-nan", "nan")))
        end
      end)
    end
  end
end)

describe("other keys' ranges", function()
  it("eps", function()
    assert.equal(1e-30, spec({ eps = 1e-30 }).eps)
    assert.equal(1.0, spec({ eps = 1 }).eps)
    for _, wrong in ipairs { 0, -1e-5, 9e-31, 1.0000001, math.huge, "1e-5", true } do
      assert.matches("^eps: .*, but a number from 1e%-30 to 1 is allowed$", refusal({ eps = wrong }))
    end
    assert.matches("^eps: %-?nan, but", refusal({ eps = 0 / 0 }))
  end)

  it("scale", function()
    assert.equal(1e6, spec({ scale = 1e6 }).scale)
    assert.equal(1e-30, spec({ scale = 1e-30 }).scale) -- a smaller one would not be a float of C
    for _, wrong in ipairs { 0, -1, 1e-31, 1.1e6, 0 / 0, math.huge, "half", true, {} } do
      assert.matches("^scale: .*, but false or a number from 1e%-30 to 1e6 is allowed$", refusal({ scale = wrong }))
    end
  end)

  it("booleans", function()
    for _, key in ipairs { "final_norm", "reuse" } do
      for _, wrong in ipairs { 0, 1, "true", {} } do
        assert.matches("^" .. key .. ": .*, but true or false is allowed$", refusal({ [key] = wrong }))
      end
    end
  end)

  it("names", function()
    for _, right in ipairs { "a", "a1_b", ("a"):rep(40), "bert_base" } do
      assert.equal(right, spec({ name = right }).name)
    end
    for _, wrong in ipairs { "", "A", "1a", "_a", "a-b", "a b", "a.b", "a/b", "..", "a\n", "a\0", ("a"):rep(41), "é",
      "int",
      "class", "while", "restrict", 5, true, {} } do
      assert.matches("^name: .*, but a name is 1 to 40 of a%-z, 0%-9 and _, " ..
        "begins with a letter and is not a word of C or C%+%+$",
        refusal({ name = wrong }))
    end
  end)

  it("names that stand before a header or a library", function()
    for _, wrong in ipairs { "string", "math", "stdint", "features", "immintrin", "vector", "m", "c", "xsmm", "sem",
      "attn2c", "attn2c_model", "attn2cx" } do
      assert.equal(('name: "%s", but that is the name of a header, of a library or of functions that programs are '
        .. "built with"):format(wrong), refusal({ name = wrong }))
    end
    assert.same({}, refusals({ output = { { stage = "norm", name = "math" } } })) -- an output is only a member
  end)

  it("windows", function()
    local function window(value) return refusals({ mask = "window", window = value }) end
    assert.same({}, window({ 0, 0 }))
    assert.same({}, window({ 32768, 32768 }))
    local allowed = ", but { left, right }, integers from 0 to 32768, is allowed"
    assert.same({ "window: { -1, 0 }" .. allowed }, window({ -1, 0 }))
    assert.same({ "window: { 0, 32769 }" .. allowed }, window({ 0, 32769 }))
    assert.same({ "window: { 1, nothing }" .. allowed }, window({ 1 }))
    assert.same({ "window: { 1, 2.5 }" .. allowed }, window({ 1, 2.5 }))
    assert.same({ "window: 5" .. allowed }, window(5))
    assert.same({ "window: 3 is not part of { left, right }" }, window({ 1, 2, 3 }))
    assert.same({ 'window: "wright" is not part of { left, right }' }, window({ left = 1, wright = 2 }))
  end)

  it("tile parameters", function()
    local targets = require("data.targets")
    for name, parameter in pairs(targets.parameters) do
      if parameter.words then
        for _, word in ipairs(parameter.words) do assert.equal(word, spec({ plan = { [name] = word } }).plan[name]) end
        assert.matches("^plan." .. name .. ': "inner", but ' .. table.concat(parameter.words, " or ")
          .. " is allowed", refusal({ plan = { [name] = "inner" } }))
      else
        for _, inside in ipairs { parameter.min, parameter.max } do
          assert.equal(inside, spec({ plan = { [name] = inside } }).plan[name])
        end
        for _, outside in ipairs { parameter.min - 1, parameter.max + 1 } do
          assert.equal(("plan.%s: %d, but an integer from %d to %d is allowed"):format(name, outside, parameter.min,
            parameter.max), refusal({ plan = { [name] = outside } }))
        end
        if parameter.multiple then
          assert.equal(("plan.%s: %d, but a multiple of %d is allowed"):format(name, parameter.min + 1,
            parameter.multiple),
            refusal({ plan = { [name] = parameter.min + 1 } }))
        end
      end
    end
    assert.matches("^plan: no parameter \"panels\"; there are .*%(did you mean panel%?%)$",
      refusal({ plan = { panels = 32 } }))
    assert.matches("^plan: 5, but a table of tile parameters is allowed$", refusal({ plan = 5 }))
  end)

  it("words, with the nearest suggested", function()
    assert.equal('norm: "prey", but post, pre, pre_ff, sandwich, res_post or none is allowed (did you mean pre?)',
      refusal({ norm = "prey" }))
    assert.equal('activation: "gleu", but gelu, gelu_tanh, log_relu, quick_gelu, relu, sigmoid, silu or tanh is '
      .. "allowed (did you mean gelu?)", refusal({ activation = "gleu" }))
    assert.equal('names: "berd", but attn2c, torch or a family (albert, bert, ... in gen/checkpoints/README.md) is '
      .. "allowed (did you mean bert?)", refusal({ names = "berd" }))
    assert.equal('target: "avx51", but host, amx, avx512bf16, avx512vnni, avx512, avxvnni, avx2, ' ..
      "x86_64, aarch64 or generic is allowed (did you mean avx512?)", refusal({ target = "avx51" }))
    assert.equal("norm: 5, but post, pre, pre_ff, sandwich, res_post or none is allowed", refusal({ norm = 5 }))
    assert.equal('kernels: "libxsm", but auto, c or libxsmm is allowed (did you mean libxsmm?)',
      refusal({ kernels = "libxsm" }))
  end)

  it("a mask is one list: lists in it, which look like a mask for each layer, are refused", function()
    local inner = helper.tiny({ mask = { "causal", "padding", "blocked", window = { 2, 3 } } }, "validate")
    assert.same({ causal = true, padding = true, blocked = true, window = { left = 2, right = 3 } },
      inner.spec.mask)
    local allowed = ": a list in a list, but one list, such as "
      .. '{ "causal", "padding", window = { 16, 16 } }, is allowed; '
      .. "masks that differ from layer to layer belong in layers"
    assert.same({ "mask.1" .. allowed, "mask.2" .. allowed },
      refusals({ layers = 2, mask = { { "causal" }, { window = { 1, 1 } } } }))
    assert.same({ "mask.2" .. allowed }, refusals({ mask = { "blocked", { window = { 1, 1 } } } }))
  end)

  it("masks", function()
    local allowed = "but none, causal, window, prefix, padding, key_padding, attention_mask, key_bias, additive, "
      .. "additive_heads, blocked or blocked_heads is allowed"
    assert.equal(('mask: "casual", %s (did you mean causal?)'):format(allowed), refusal({ mask = "casual" }))
    assert.equal("mask: true, " .. allowed, refusal({ mask = true }))
    assert.equal("mask: 5, " .. allowed, refusal({ mask = { "causal", 5 } }))
    assert.equal(('mask: "windows", %s (did you mean window?)'):format(allowed),
      refusal({ mask = { windows = { 1, 1 } } }))
  end)

  it("bias", function()
    assert.equal("bias: 5, but true, false or { qkv =, out =, ff =, norm = } is allowed", refusal({ bias = 5 }))
    assert.equal('bias: no part "qvk"; the parts are qkv, q, k, v, out, ff, up, down or norm (did you mean qkv?)',
      refusal({ bias = { qvk = true } }))
    assert.equal("bias.ff: 1, but true or false is allowed", refusal({ bias = { ff = 1 } }))
  end)
end)

describe("stages", function()
  it("before the layers", function()
    assert.same({ stage = "linear", from = 40, bias = true }, spec({ input = { stage = "linear", from = 40 } }).input)
    assert.equal("input.from: missing: width of the features that come in", refusal({ input = { stage = "linear" } }))
    assert.equal("input.from: 0, but an integer from 1 to 65536 is allowed",
      refusal({ input = { stage = "linear", from = 0 } }))
    assert.equal("input.from: 65537, but an integer from 1 to 65536 is allowed",
      refusal({ input = { stage = "linear", from = 65537 } }))
    assert.equal("input.vocab: 16777217, but an integer from 1 to 16777216 is allowed",
      refusal({ input = { stage = "tokens", vocab = 16777217 } }))
    assert.equal("input: pool is allowed only in the output", refusal({ input = { stage = "pool", over = "mean" } }))
    assert.equal('input: linear has no field "to"', refusal({ input = { stage = "linear", from = 4, to = 5 } }))
    assert.equal('input: linear has no field "fromm" (did you mean from?)',
      refusal({ input = { stage = "linear", from = 4, fromm = 5 } }))
    assert.equal("input: 5, but a stage such as linear { from = 40 } is allowed", refusal({ input = 5 }))
    assert.same({ "input.height: missing: rows of pixels", "input.patch: missing: edge of a patch, in pixels",
      "input.width: missing: columns of pixels" }, refusals({ input = { stage = "image" } }))
    assert.equal("input: encoder is allowed only in the memory", refusal({ input = { stage = "encoder" } }))
    assert.equal('input: no stage "x"; frames, hidden, image, linear, qkv or tokens is allowed',
      refusal({ input = { stage = "x" } }))
    assert.equal("input: tokens has no field \"vocab_size\" (did you mean vocab?)",
      refusal({ input = { stage = "tokens", vocab = 5, vocab_size = 5 } }))
    assert.matches('^output.1: no stage "hard_swish" %(hard_swish is not supported%); argmax, attend, .* is allowed$',
      refusal({ output = { { stage = "hard_swish" } } }))
  end)

  it("after the layers", function()
    local function output(...) return refusals({ output = { ... } }) end
    assert.same({}, output({ stage = "norm", eps = 1e-30 }, { stage = "norm", eps = 1 },
      { stage = "linear", to = 1048576 }))
    assert.same({ "output.1.eps: 0, but a number from 1e-30 to 1 is allowed" }, output({ stage = "norm", eps = 0 }))
    assert.same({ "output.1.to: 1048577, but an integer from 1 to 1048576 is allowed" },
      output({ stage = "linear", to = 1048577 }))
    assert.same({ "output.2.over: missing: mean, max, first or last" }, output({ stage = "norm" }, { stage = "pool" }))
    assert.same({ 'output.1.over: "median", but all, deviation, first, last, max, mean, '
        .. 'own, patches, root, second, tokens or weighted is allowed' },
      output({ stage = "pool", over = "median" }))
    assert.same({ "output.1: tokens is allowed only in the input" }, output({ stage = "tokens", vocab = 5 }))
    assert.same({ "output.2: 5, but a stage such as pool \"mean\" is allowed" }, output({ stage = "norm" }, 5))
    assert.same({ "output.1.name: \"Hidden\", "
      .. "but a name is 1 to 40 of a-z, 0-9 and _, begins with a letter" },
      output({ stage = "hidden", name = "Hidden" }))
    assert.same({ "output: 5, but a list of stages is allowed" }, refusals({ output = 5 }))
    assert.same({ 'output: a list of stages has no key "first"' },
      refusals({ output = { first = { stage = "norm" } } }))
    assert.same({ "output: the list of stages has holes" },
      refusals({ output = { { stage = "norm" }, [3] = { stage = "norm" } } }))
  end)

  it("are at most 64", function()
    local list = {}
    for i = 1, 64 do list[i] = { stage = "norm" } end
    assert.same({}, refusals({ output = list }))
    list[65] = { stage = "norm" }
    assert.same({ "output: 65 stages, but at most 64 are allowed" }, refusals({ output = list }))
  end)

  it("know every activation", function()
    for name in pairs(require("data.activations").of_descriptions) do
      assert.equal(name, spec({ output = { { stage = name } } }).output[1].activation)
      assert.equal(name, spec({ activation = name }).activation)
    end
  end)

  it("follow one another only where that means something", function()
    local pool, argmax, linear = { stage = "pool", over = "max" }, { stage = "argmax" }, { stage = "linear", to = 3 }
    assert.same({}, refusals({ output = { pool, linear, argmax } }))
    assert.same({ "output.2: the rows were pooled before; one pool is allowed" }, refusals({ output = { pool, pool } }))
    assert.same({ "input.optional_types: goes with types" },
      refusals({ input = { stage = "tokens", vocab = 9, optional_types = true } }))
    local top = { stage = "topk", k = 3, name = "best" }
    assert.same({}, refusals({ output = { pool, linear, top } }))
    assert.same({ "output.4: nothing can follow topk, which gives values and their indices" },
      refusals({ output = { pool, linear, top, { stage = "softmax" } } }))
    assert.same({ "output.2.k: 4, but the rows are 3 wide" },
      refusals({ output = { linear, { stage = "topk", k = 4 } } }))
    assert.same({ "output.1.k: 13, but the rows are 12 wide" }, refusals({ input = { stage = "qkv" }, vdim = 12,
      projections = false, residual = false, norm = "none", d_ff = 0, output = { { stage = "topk", k = 13 } } }))
    assert.same({ "output.1.k: 1025, but an integer from 1 to 1024 is allowed" },
      refusals({ output = { { stage = "topk", k = 1025 } } }))
    assert.same({ 'output.2.name: "best_index", of the indices, is another output\'s name, too' },
      refusals({ output = { { stage = "linear", to = 3, name = "best_index" }, top } }))
    assert.same({ "output.2: nothing can follow argmax, which gives integers" },
      refusals({ output = { argmax, linear } }))
    assert.same({ 'output.2.name: "a" is the name of another output, too' },
      refusals({ output = { { stage = "norm", name = "a" }, { stage = "norm", name = "a" } } }))
  end)
end)

describe("keys that contradict one another", function()
  it("heads and d_model", function()
    assert.equal("heads: d_model 16 is not divisible by heads 3, and head_dim is not given", refusal({ heads = 3 }))
    assert.equal("head_dim: d_model 2048 / heads 2 gives 1024, but 1 to 512 is allowed", refusal({ d_model = 2048 }))
    assert.same({}, refusals({ d_model = 1024 })) -- 512 a head
  end)

  it("window and mask", function()
    assert.equal("window: given, but mask does not say window", refusal({ window = { 1, 1 } }))
    assert.equal("window: given, but mask does not say window", refusal({ mask = "causal", window = { 1, 1 } }))
    assert.equal("window: given twice: here and in mask", refusal({ mask = { window = { 1, 1 } }, window = { 1, 1 } }))
    assert.equal("mask: window without bounds; give window = { left, right }", refusal({ mask = "window" }))
    assert.equal("mask: none goes with no other mask", refusal({ mask = { "none", "causal" } }))
  end)

  it("norm and final_norm", function()
    assert.equal('final_norm: does not go with norm = "none"',
      refusal({ norm = "none", final_norm = true }))
    assert.same({}, refusals({ norm = "pre", final_norm = true }))
    assert.same({}, refusals({ norm = "none" }))
  end)
end)

describe("what is not there", function()
  it("is refused with the nearest key otherwise", function()
    assert.equal("head: no such key (did you mean heads?)", refusal({ head = 2 }))
    assert.equal("dmodel: no such key (did you mean d_model?)", refusal({ dmodel = 2 }))
    assert.equal("xyzzy_plugh: no such key", refusal({ xyzzy_plugh = 2 }))
    assert.equal("7: no such key", refusal({ [7] = 2 }))
    assert.equal("true: no such key", refusal({ [true] = 2 }))
  end)

  it("is shown with control characters and length tamed", function()
    assert.equal("a?b: no such key", refusal({ ["a\nb"] = 2 }))
    assert.equal(("%s: no such key"):format(("z"):rep(60)), refusal({ [("z"):rep(1000)] = 2 }))
    assert.equal(('norm: "%s...", but post, pre, pre_ff, sandwich, res_post or none is allowed'):format(("z"):rep(57)),
      refusal({ norm = ("z"):rep(1000) }))
  end)
end)

describe("all faults", function()
  it("are found at once, unknown keys first, then in the table's order, each with the file", function()
    local fault = helper.fault(helper.state, { batch = 0, seq = 8, heads = 3, d_model = 16, layerz = 2, norm = "x",
      mask = "window", output = { { stage = "linear" }, { stage = "pool" } } }, "validate")
    assert.same({
      "tiny.lua: layerz: no such key (did you mean layers?)",
      "tiny.lua: name: missing: the model's name: of its folder, files and C symbols",
      "tiny.lua: batch: 0, but an integer from 1 to 256 is allowed",
      'tiny.lua: layers: missing: how many of them follow one another, or a list of them with what differs: '
        .. '{ {}, { mask = "causal" } }',
      'tiny.lua: norm: "x", but post, pre, pre_ff, sandwich, res_post or none is allowed',
      "tiny.lua: output.1.to: missing: width of the result",
      "tiny.lua: output.2.over: missing: mean, max, first or last",
      "tiny.lua: heads: d_model 16 is not divisible by heads 3, and head_dim is not given",
      "tiny.lua: mask: window without bounds; give window = { left, right }",
    }, fault.lines)
  end)

  it("of an empty description are its required keys", function()
    local lines = helper.refusals({})
    local got = {}
    for i, line in ipairs(lines) do got[i] = line:match("^([%w_]+): missing: ") end
    assert.same({ "name", "d_model", "heads", "layers", "seq" }, got)
    assert.equal("seq: missing: tokens (frames) a sequence", lines[5])
  end)

  it("are bounded where a description is nothing but faults", function()
    local many = {}
    for i = 1, 20000 do many["key" .. i] = i end
    local started = os.clock()
    local lines = helper.refusals(many)
    assert.is_true(#lines > 1 and #lines <= 101)
    assert.matches("and %d+ more$", helper.fault(helper.state, many, "validate").lines[#lines])
    assert.is_true(os.clock() - started < 5)
  end)

  it("of values of the wrong kind never stop the validator", function()
    local function loop() return loop end
    local cyclic = {}
    cyclic.cyclic = cyclic
    for _, field in ipairs(keys.list) do
      for _, value in ipairs { 0 / 0, -math.huge, "", ("x"):rep(5000), loop, cyclic, { cyclic }, { { {} } },
        { stage = 5 },
        { stage = "linear", from = {} }, { [1.5] = 1 }, { [loop] = 1 }, { window = {} } } do
        local description = helper.description({ [field.key] = value })
        for _, line in ipairs(helper.refusals(description)) do
          assert.is_nil(line:find("%c"))
          assert.is_true(#line < 500)
        end
      end
    end
  end)
end)

describe("a list of lengths", function()
  it("is another way to write any length, as one of batches is", function()
    for most, more in pairs { [16] = { seq = { 16, 5 } }, [8] = { batch = { 2, 3 } },
      [17] = { seq = { 17.0 }, batch = { 8, 1 } }, [9] = { seq = { 9, 2, 9 }, batch = 3 } } do
      local state = helper.tiny(more, "validate")
      assert.equal(1, #state.entries)
      local entry = state.entries[1]
      assert.same({ "forward", "", true, most, 1 },
        { entry.name, entry.suffix, entry.spec.any, entry.spec.seq, entry.spec.batch })
      assert.equal(entry, state.primary)
      assert.equal(entry.spec, state.spec)
    end
    assert.same(helper.tiny({ seq = { any = 16 } }, "validate").spec, helper.tiny({ seq = { 4, 16 } }, "validate").spec)
    local alone = helper.tiny({ batch = 3 }, "validate")
    assert.same({ "forward", "", 3 }, { alone.name, alone.suffix, alone.spec.batch })
    assert.is_nil(alone.spec.any)
  end)

  it("is refused where a model does not go with any length", function()
    local function refusals_of(more)
      more.seq = more.seq or { 4, 8 }
      return helper.refusals(helper.description(more))
    end
    local with, advice = ": not supported with seq = any(N)", "; a list of sizes means any(N), so give one size"
    assert.same({ "memory: a memory" .. with .. "; an encoder goes with a context" .. advice },
      refusals_of { memory = { stage = "encoder", seq = 6 } })
    assert.same({ "positions: relative_key positions" .. with .. advice }, refusals_of { positions = "relative_key" })
    assert.same({ 'mask: "attention_mask"' .. with .. ", whose sequences have no padding" .. advice },
      refusals_of { mask = "attention_mask" })
    local dynamic = { type = "dynamic", factor = 2, max_position = 6 }
    assert.same({ "rope_scaling: the angles of dynamic depend on the length beyond 6 positions, and then any length "
      .. "does not go with it; give it `longest`" }, refusals_of { positions = "rope", rope_scaling = dynamic })
    assert.same({}, refusals_of { positions = "rope", rope_scaling = dynamic, seq = 8 })
    dynamic.longest = 8
    assert.same({}, refusals_of { positions = "rope", rope_scaling = dynamic })
    assert.same({ 'inputs.ids: "sequences" is the name that a call of any size gives its number of sequences' },
      refusals_of { input = { stage = "tokens", vocab = 9 }, inputs = { ids = "sequences" } })
  end)

  it("is not needed for shorter texts where a model can mask what is missing", function()
    local function exact_of(more) return helper.tiny(more, "validate").spec.exact end
    local pools = function(over) return { { stage = "pool", over = over } } end
    for _, with in ipairs { {}, { mask = { window = { 2, 1 } } }, { mask = { "prefix" }, prefix = 3 },
      { mask = "padding", mask_value = -1 }, { mask = "key_padding", mask_value = -1 },
      { mask = "causal", output = pools("max") }, { layers = { { mask = "causal" }, {} } },
      { mask = "additive", fully_masked = "nan" },
      { mask = "padding", input = { stage = "qkv" }, output = pools("max") } } do
      assert.is_string(exact_of(with))
    end
    for _, without in ipairs { { mask = { window = { 2, 0 } } }, { mask = "blocked" }, { mask = "additive_heads" },
      { mask = "key_bias" }, { mask = "causal", output = pools("first") },
      { mask = "key_padding", output = pools("last") }, { input = { stage = "qkv" }, key_seq = 3 }, { layers = 0 } } do
      assert.is_nil(exact_of(without))
    end
    for _, more in ipairs { { mask = "causal" }, { mask = "padding", output = { { stage = "pool", over = "mean" } } },
      { mask = "attention_mask" }, { seq = { 2, 8 } },
      { mask = "attention_mask", output = { { stage = "pool", over = "max" } } } } do
      assert.is_nil(exact_of(more))
    end
    assert.equal("its tokens see all others, and it has neither lengths nor attention_mask", exact_of {})
    for past, expected in pairs { [2] = false, [3] = "its angles depend on the length" } do
      assert.equal(expected or nil, exact_of { mask = "causal", past = past, seq = 4, positions = "rope",
        rope_scaling = { type = "dynamic", factor = 2, max_position = 6 } })
    end
    assert.equal("pool mean takes all rows, and it has no lengths",
      exact_of { mask = "causal", output = { { stage = "pool", over = "mean" } } })
    assert.equal("an image has one size", exact_of { seq = 5, input = { stage = "image", height = 8, width = 8,
      patch = 4, channels = 1, class_token = true } })
  end)

  it("is refused in one line where it is none", function()
    local function refusals_of(seq, more)
      local description = helper.description(more)
      description.seq = seq
      return helper.refusals(description)
    end
    local range = "but an integer from 1 to 32768 is allowed"
    assert.same({ "seq: a list has only lengths: { 8, 16 }" }, refusals_of { 8, "16" })
    assert.same({ "seq: a list has only lengths: { 8, 16 }" }, refusals_of { 8, most = 16 })
    assert.same({ "seq: 50000, " .. range }, refusals_of { 8, 50000 })
    assert.same({ "seq: 0, " .. range }, refusals_of { 0, 8 })
    assert.same({ "seq: an empty list, but an integer from 1 to 32768 or a list of lengths, { 8, 16 }, is allowed" },
      refusals_of {})
    assert.same({ "batch: an empty list, but an integer from 1 to 256 or a list of batches, { 8, 16 }, is allowed" },
      refusals_of(8, { batch = {} }))
    assert.same({ "batch: 300, but an integer from 1 to 256 is allowed" }, refusals_of(8, { batch = { 1, 300 } }))
    assert.same({ "max_position: 8, but there are 16 positions" },
      refusals_of({ 4, 16 }, { positions = "learned", max_position = 8 }))
    assert.same({ "seq: any(N) takes the most tokens of a sequence, an integer from 2 to 32768" }, refusals_of { 1 })
  end)
end)
