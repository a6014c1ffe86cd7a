-- precision_spec: the key `precision`, the operations and storage that it makes, and that rounding is never a pass of
-- its own where a product, a norm or an attention makes what is rounded.
local helper = require("tests.spec.helper")
local all_regions = require("passes.common.regions")
local precision = require("data.precision")
local programs = require("passes.common.programs")
local types = require("data.types")

local function refusal(more)
  local lines = helper.refusals(helper.description(more))
  assert.equal(1, #lines, table.concat(lines, "\n"))
  return lines[1]
end

local function of(value, section, path)
  return precision.of_linear(helper.tiny({ precision = value, layers = 2 }, "validate").spec.precision, section, path)
end

local function ops_of(more, name)
  local list = {}
  for _, op in ipairs(helper.tiny(more, "graph").graph.entry.ops) do
    if op.op == name then list[#list + 1] = op.result.name end
  end
  return list
end

local function storage(state, name)
  local s = state.plan.storage[name]
  return s.type .. " " .. s.form
end

describe("precision", function()
  it("is a number type, or one for each part, a layer's before a part's", function()
    assert.equal("f32", of(nil, "layer 0", "l0.attn.q"))
    assert.equal("bf16", of("bf16", "output", "output.1.linear"))
    local mixed = { "int8", output = "f32", ff = "bf16", ["layer 1"] = "f32" }
    assert.equal("int8", of(mixed, "layer 0", "l0.attn.out"))
    assert.equal("bf16", of(mixed, "layer 0", "l0.ff.up"))
    assert.equal("f32", of(mixed, "layer 1", "l1.ff.up"))
    assert.equal("f32", of(mixed, "output", "output.1.linear"))
    assert.equal("int8", of(mixed, "input", "input.linear"))
  end)

  it("of an attention is its own, f32 with its layer, or bf16 where the target has pairs", function()
    local function scores(value, has_pairs)
      return precision.of_scores(helper.tiny({ precision = value }, "validate").spec.precision, "layer 0", has_pairs)
    end
    assert.equal("f32", scores("f32", true))
    for _, value in ipairs { "bf16", "int8" } do
      assert.equal("bf16", scores(value, true))
      assert.equal("f32", scores(value, false))
      assert.equal("bf16", scores({ value, attention = "bf16" }, false))
      assert.equal("f32", scores({ value, attention = "f32" }, true))
    end
    assert.equal("bf16", scores({ "f32", ["layer 0"] = "int8" }, true))
    assert.equal("f32", scores({ "bf16", ["layer 0"] = "f32", attention = "bf16" }, true))
    assert.same({}, ops_of({ precision = "bf16", target = "avx512" }, "round_weights"))
    assert.same({ "l0.attn.rounded" }, ops_of({ precision = "bf16", target = "avx512bf16" }, "round_weights"))
  end)

  it("of an attention is the same on all targets of a list: bf16 where one has pairs", function()
    local function rounded(target)
      local builds = helper.tiny({ precision = "bf16", target = target }).builds
      local list = {}
      for i, build in ipairs(builds) do
        list[i] = 0
        for _, op in ipairs(build.entries[1].graph.entry.ops) do
          if op.op == "round_weights" then list[i] = list[i] + 1 end
        end
      end
      return list
    end
    assert.same({ 1, 1 }, rounded("avx512bf16, avx2"))
    assert.same({ 0, 0 }, rounded("avx512, avx2"))
  end)

  it("of a table of token embeddings is its own or the one of all parts, and multiplies nothing", function()
    local function table_in(value, output)
      local state = helper.tiny({ precision = value, input = { stage = "tokens", vocab = 9 }, layers = 0,
        output = output }, "lower")
      local used
      for _, step in ipairs(helper.steps(state.programs[1])) do
        if (step.fn or ""):find("^embed") or not used then used = step.fn or used end
      end
      return state.weights.layouts["input.tokens.weight"].type .. " " .. used
    end
    assert.equal("f32 embed", table_in("f32"))
    assert.equal("bf16 embed_bf16", table_in("bf16"))
    assert.equal("i8 embed_i8", table_in("int8"))
    assert.equal("f32 embed", table_in { "int8", embedding = "f32", ff = "bf16" })
    assert.equal("i8 embed_i8", table_in { embedding = "int8" })
    local tied = { { stage = "vocabulary" } }
    assert.equal("f32 embed_panels", table_in("f32", tied))
    assert.equal("bf16 embed_panels_bf16", table_in("bf16", tied))
    assert.equal("i8 embed_panels_i8", table_in("int8", tied))
    assert.equal("i8 embed_i8", table_in({ "f32", embedding = "int8" }, tied))
    assert.same({}, helper.refusals(helper.description { precision = { embedding = "int8" }, kernels = "libxsmm",
      input = { stage = "tokens", vocab = 9 } }))
  end)

  it("says what is wrong in a line", function()
    assert.equal('precision: "bf17", but f32, bf16 or int8 is allowed (did you mean bf16?)',
      refusal { precision = "bf17" })
    local parts = "; the parts are input, qkv, out, ff, attention, encoder attention, output, embedding, "
      .. '"layer N" or "encoder layer N" (did you mean '
    assert.equal('precision: no part "quv"' .. parts .. "qkv?)", refusal { precision = { "bf16", quv = "f32" } })
    assert.equal('precision.attention: "int4", but f32, bf16 or int8 is allowed',
      refusal({ precision = { attention = "int4" } }):gsub(" %(did.*", ""))
    for _, case in ipairs {
      { "scoring: additive scores", scoring = "additive" },
      { "weighting: a weighting other than softmax", weighting = "relu" },
      { "fully_masked: rows of NaN where all keys are masked", fully_masked = "nan" },
      { "positions: relative_key positions", positions = "relative_key", max_position = 64 },
      { "bias_kv: learned keys", bias_kv = true },
      { "zero_attn: keys of zeros", zero_attn = true },
      { "head_mask: a head mask", head_mask = "input" },
      { "attention_output: outputs of an attention", attention_output = "heads" },
      { "layers.2.weighting: a weighting other than softmax", layers = { {}, { weighting = "relu" } } },
    } do
      case.precision = { attention = "int8" }
      local said = table.remove(case, 1)
      assert.equal(said .. ': not supported with precision.attention = "int8"', refusal(case))
    end
    assert.equal("precision: encoder attention, but there is no encoder",
      refusal { precision = { ["encoder attention"] = "int8" } })
    assert.equal("memory.encoder.bias_kv: learned keys: not supported with precision.encoder attention = \"int8\"",
      refusal { memory = { stage = "encoder", seq = 8, bias_kv = true },
        precision = { ["encoder attention"] = "int8" } })
    assert.equal("precision: layer 3, but there are 1, numbered from 0",
      refusal { precision = { ["layer 3"] = "bf16" } })
    assert.equal('precision: no part "layer 00"' .. parts .. '"layer N"?)',
      refusal { precision = { ["layer 00"] = "bf16" } })
    assert.equal("precision: layer 9, but there are 1, numbered from 0",
      refusal { precision = { ["layer 9"] = "f32" } })
    assert.equal('kernels: libxsmm goes with precision = "f32", and with bf16 for the targets avx512bf16 and '
      .. 'amx; other numbers are multiplied by kernels in C', refusal { precision = "bf16", kernels = "libxsmm" })
    assert.same({}, helper.refusals(helper.description { precision = "bf16", kernels = "libxsmm",
      target = "avx512bf16" }))
    assert.equal('plan.kernels: libxsmm goes with precision = "f32", and with bf16 for the targets avx512bf16 '
      .. 'and amx; other numbers are multiplied by kernels in C',
      refusal { precision = "int8", target = "avx512bf16", plan = { kernels = "libxsmm" } })
    assert.equal("precision: layer 1 has the weights of another layer, which has another precision",
      refusal { precision = { ["layer 1"] = "bf16" }, layers = 2, layer_groups = { 0, 0 } })
  end)

  it("leaves no trace of itself in f32", function()
    local lines = helper.tiny({}, "lower").programs[1].lines
    assert.equal(lines, helper.tiny({ precision = "f32" }, "lower").programs[1].lines)
    assert.same({}, ops_of({ precision = { "f32", ff = "f32" } }, "round"))
  end)
end)

local BF16 = { "bf16", attention = "bf16" }

-- For a target with an instruction for pairs, where it is not another.
local function in_pairs(more, stage)
  more.precision, more.target = BF16, "avx512bf16"
  return helper.tiny(more, stage)
end

describe("a model in bf16", function()
  it("rounds each tensor once, for all its readers", function()
    assert.same({ "in.hidden.bf16", "l0.attn.context.bf16", "l0.norm1.bf16", "l0.ff.act.bf16" },
      ops_of({ precision = { "bf16", attention = "f32" }, target = "avx512bf16" }, "round"))
    assert.same({ "in.hidden.bf16", "l0.attn.q.bf16", "l0.attn.k.bf16", "l0.attn.v.bf16", "l0.attn.context.bf16",
      "l0.norm1.bf16", "l0.ff.act.bf16" }, ops_of({ precision = BF16, target = "avx512bf16" }, "round"))
    assert.same({ "l0.attn.rounded" }, ops_of({ precision = BF16 }, "round_weights"))
  end)

  it("stores in bf16 what products read, and in f32 only what else is read", function()
    local state = in_pairs({ layers = 2 }, "plan")
    assert.equal("bf16 full", storage(state, "l0.norm1.bf16"))
    assert.equal("f32 full", storage(state, "l0.norm1")) -- a residual sum reads it
    assert.equal("bf16 full", storage(state, "l0.ff.act.bf16"))
    assert.equal("f32 unit", storage(state, "l0.ff.act"))
    assert.equal("f32 unit", storage(state, "l0.attn.context"))
    assert.equal("bf16 key_pairs", storage(state, "l0.attn.k.bf16"))
    assert.equal("bf16 value_pairs", storage(state, "l0.attn.v.bf16"))
    assert.equal("f32 unit", storage(in_pairs({ norm = "pre" }, "plan"), "l0.norm1"))
    assert.truthy(require("passes.plan").dump(state):find("storage l0.norm1.bf16: bf16 full", 1, true))
  end)

  it("has products of bf16, whose panels are pairs", function()
    local state, found = in_pairs({}, "memory"), 0
    programs.each(state.programs[1], function(step)
      if step.form ~= "product" then return end
      found = found + 1
      assert.equal(types.product("bf16"), step.kernel.types)
    end)
    assert.is_true(found >= 6)
    assert.equal("bf16", state.weights.layouts["l0.attn.q.weight"].type)
    assert.equal("f32", state.weights.layouts["l0.attn.q.bias"].type)
  end)

  it("takes half the weights, and a smaller arena", function()
    local size = { target = "avx512bf16", seq = 32, d_model = 64, heads = 4, d_ff = 256, layers = 4 }
    local function state(value)
      size.precision = value
      return helper.tiny(size, "memory")
    end
    local f32, bf16, int8 = state("f32"), state(BF16), state("int8")
    assert.is_true(bf16.weights.bytes < 0.53 * f32.weights.bytes)
    assert.is_true(int8.weights.bytes < 0.33 * f32.weights.bytes) -- of 64 inputs, one a panel is no weight
    assert.is_true(bf16.programs[1].arena_bytes < f32.programs[1].arena_bytes)
  end)

  it("rounds in the map after a product, and where a norm or an attention makes its rows", function()
    local reads = {}
    local state = in_pairs({ layers = 2, plan = { token_block = 4 } }, "lower")
    programs.each(state.programs[1], function(step)
      if step.form ~= "map" or step.constants.type ~= "bf16" then return end
      local from = step.arguments.x.buffer
      reads[from] = true
    end)
    reads["in.hidden"] = nil -- the caller's
    for from in pairs(reads) do
      local unit = from:find("@unit", 1, true) or from:find("@tile", 1, true)
      assert.is_true(unit ~= nil or from:find("norm", 1, true) ~= nil, from .. " is rounded in a pass of its own")
    end
  end)

  it("keeps floats on bf16's grid where strips would widen rows, over what nobody else reads", function()
    for _, target in ipairs { "avx2", "avx512", "x86_64", "aarch64" } do
      local state = helper.tiny({ precision = "bf16", norm = "pre", layers = 2, target = target }, "memory")
      assert.equal("f32 fused", storage(state, "l0.norm1"))
      assert.equal("f32 full", storage(state, "l0.norm1.bf16_floats"))
      assert.equal("f32 fused", storage(state, "l0.ff.act"))
      assert.equal("bf16", state.weights.layouts["l0.attn.q.weight"].type)
      programs.each(state.programs[1], function(step)
        if step.form == "product" and step.arguments.a.class == "weight" then
          assert.equal(types.product("bf16", "f32"), step.kernel.types)
        end
      end)
    end
    local both = helper.tiny({ precision = BF16, target = "avx2" }, "plan")
    assert.equal("f32 full", storage(both, "l0.norm1")) -- a residual sum reads it
    assert.equal("bf16 key_pairs", storage(both, "l0.attn.k.bf16"))
    assert.truthy(require("passes.plan").dump(both):find("l0.ff.act.bf16_floats = linear + activate + round", 1, true))
  end)

  it("packs pairs of values in a product's tile where no block of rows ends within a pair", function()
    for block, form in pairs { [4] = "bf16 value_pairs", [7] = "bf16 full" } do
      assert.equal(form, storage(in_pairs({ seq = 40, plan = { token_block = block } }, "plan"), "l0.attn.v.bf16"))
    end
  end)

  it("begins each range of keys with a pair", function()
    local firsts = {}
    local state = in_pairs({ seq = 40, mask = { window = { 5, 2 } }, plan = { query_block = 8, key_align = 3 } },
      "plan")
    for region in all_regions(state.plan.segments) do
      for _, block in ipairs(region.kind == "attention" and region.blocks or {}) do
        for _, range in ipairs(block.ranges) do firsts[#firsts + 1] = range.first_key end
      end
    end
    assert.same({ 0, 0, 8, 16, 24 }, firsts)
  end)

  it("keeps attention in f32 where pairs would stand alone", function()
    for _, more in ipairs { { bias_kv = true }, { scoring = "additive" }, { d_model = 6, heads = 2 } } do
      more.precision = BF16
      assert.same({}, ops_of(more, "round_weights"))
    end
  end)
end)

describe("a model in int8", function()
  it("quantises rows once, and multiplies integers", function()
    assert.same({ "in.hidden.int8", "l0.attn.context.int8", "l0.norm1.int8", "l0.ff.act.int8" },
      ops_of({ precision = "int8" }, "quantise"))
    local state, found = helper.tiny({ precision = "int8" }, "memory"), {}
    programs.each(state.programs[1], function(step)
      if step.form == "product" then found[step.kernel.types.a] = true end
    end)
    assert.same({ f32 = true, i8 = true }, found) -- f32: the attention's own
    assert.equal("i32 unit", storage(state, "l0.ff.up.sums"))
    assert.equal("i8 full", storage(state, "l0.ff.act.int8"))
    assert.equal(16, state.graph.tensors["l0.attn.q.weight.scales"].shape[1])
  end)
end)

describe("an attention in int8", function()
  local INTEGERS = { "int8", attention = "int8" }

  it("has integers in all products, keys and values in groups of four, and weights of bytes", function()
    local state, found = helper.tiny({ precision = INTEGERS, target = "avx512bf16" }, "memory"), {}
    programs.each(state.programs[1], function(step)
      if step.form == "product" then found[step.kernel.types.a .. " " .. step.kernel.types.b] = step.fused_sums end
    end)
    assert.same({ ["i8 i8"] = "stack", ["s8 u8"] = "stack" }, found)
    assert.equal("i8 full", storage(state, "l0.attn.k.int8"))
    for region in all_regions(state.plan.segments) do
      if region.kind == "attention" then
        assert.same({ "key_quads", "value_quads" }, { region.keys.form, region.values.form })
      end
    end
    assert.equal("u8 fused", storage(state, "l0.attn.weights"))
  end)

  it("subtracts the mean of keys where each query sees all of them", function()
    for _, case in ipairs { { 1 }, { 1, mask = "padding" }, { 0, mask = "causal" }, { 0, mask = "key_padding" },
      { 0, softcap = 2 }, { 0, mask = "window", window = { 3, 3 } } } do
      local wanted = table.remove(case, 1)
      case.precision = INTEGERS
      assert.equal(wanted, #ops_of(case, "centre"))
    end
  end)

  it("does not pad sequences without lengths, as scales are of all rows", function()
    local function exact(mask)
      return helper.tiny({ precision = INTEGERS, mask = mask }, "validate").spec.exact
    end
    assert.equal("scales of its attention are of all tokens, and it has no lengths", exact("causal"))
    assert.is_nil(exact("padding"))
  end)

  it("is f32 in a layer of f32", function()
    assert.same({}, ops_of({ precision = { "int8", attention = "int8", ["layer 0"] = "f32" } }, "exponentials"))
  end)
end)

describe("an attention in int8", function()
  it("guards a head's keys by all its values, which may have another width", function()
    local state = helper.tiny({ input = { stage = "qkv" }, key_seq = 9, d_model = 6, heads = 2, vdim = 10,
      projections = false, residual = false, precision = { "int8", attention = "int8" }, target = "avx512vnni" },
      "lower")
    local count = 0
    for _, step in ipairs(helper.step_texts(state.programs[1])) do
      if step:find("^quantise_guarded") then
        assert.matches("guard_cols=10 guarded=5 heads=2 ldg=10 [^\n]* width=3 ", step)
        count = count + 1
      end
    end
    assert.equal(1, count)
  end)
end)
