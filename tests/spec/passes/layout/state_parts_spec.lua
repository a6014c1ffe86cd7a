-- state_parts_spec: what a caller's context keeps of a sequence, for all entries of a build.
local encoded = require("tests.spec.encoded")
local helper = require("tests.spec.helper")
local checks = require("passes.checks")
local layout = require("passes.layout")
local state_parts = require("passes.layout.state_parts")

-- Returns keys or values of a head of 8 columns that a state keeps.
local function tensor(name, role, grows_with, rows)
  return { name = name, type = "f32", shape = { 1, rows, 8 }, kept = { role = role, head_dim = 8,
    grows_with = grows_with } }
end

local function op(kind, result, operands, attributes)
  return { op = kind, result = result, operands = operands, attributes = attributes or { left = -1, right = -1 } }
end

local function attention(k, v, left)
  return { op("scores", { name = "scores" }, { q = {}, k = k }, { left = left, right = 0 }),
    op("context", { name = "context" }, { weights = {}, v = v }) }
end

-- Returns a build of an encoder, whose keys a decoder reads beside its own.
local function encoder_beside_decoder()
  local source_k, source_v = tensor("cross.k", "keys", "source", 100), tensor("cross.v", "values", "source", 100)
  local own_k, own_v = tensor("attn.k", "keys", "tokens", 300), tensor("attn.v", "values", "tokens", 300)
  local encode = { op("linear", source_k, {}), op("linear", source_v, {}) }
  local decode = { op("linear", own_k, {}), op("linear", own_v, {}) }
  table.move(attention(own_k, own_v, 9), 1, 2, 3, decode)
  table.move(attention(source_k, source_v, -1), 1, 2, 5, decode)
  return { spec = { seq = 300, call_rows = 20, symbols = { past = { is_open = true }, tokens = { most = 300 } } },
    parameters = { common = { key_block = 64 } },
    entries = { { name = "encode", graph = { entry = { ops = encode } } },
      { name = "decode", graph = { entry = { ops = decode } } } } }
end

describe("the parts of a state", function()
  it("grow with a symbol; one entry writes a part, and others read it", function()
    local build = encoder_beside_decoder()
    state_parts.decide(build)
    local found = {}
    for i, part in ipairs(build.kept.parts) do
      found[i] = { part.name, part.form, part.grows_with, part.writer, table.concat(part.readers, " "),
        part.rows_per_sequence, part.window or "no window" }
    end
    assert.same({ { "attn.k", "state_keys", "tokens", "decode", "decode", 192, 0 },
      { "attn.v", "state_values", "tokens", "decode", "decode", 192, 0 },
      { "cross.k", "state_keys", "source", "encode", "decode", 100, "no window" },
      { "cross.v", "state_values", "source", "encode", "decode", 100, "no window" } }, found)
    assert.same({ { name = "tokens", most = 300 }, { name = "source", most = 100 } }, build.kept.symbols)
    assert.same({ ["attn.k@state"] = 0, ["attn.v@state"] = 192 * 32, ["cross.k@state"] = 2 * 192 * 32,
      ["cross.v@state"] = (2 * 192 + 128) * 32 }, build.kept.offsets)
    assert.equal(2 * (192 + 128) * 32, build.kept.bytes)
    local lines, of_tokens = {}, "grows with tokens, at most 192, window 0; written by decode, read by decode"
    state_parts.dump(build, lines)
    assert.same({ "state of a sequence: 20480 bytes, pages of 64 keys",
      "           0 attn.k as state_keys, " .. of_tokens, "        6144 attn.v as state_values, " .. of_tokens,
      "       12288 cross.k as state_keys, grows with source, at most 100; written by encode, read by decode",
      "       16384 cross.v as state_values, grows with source, at most 100; written by encode, read by decode",
      "  window 0: a query sees 9 keys before it; the last 192 keys are kept" }, lines)
  end)

  it("of a model with an encoder are written by one entry and read by the other", function()
    for _, cache in ipairs { "f32", "bf16" } do
      local _, state = encoded.states(nil, { cache = cache, layers = 2 }, "layout")
      local found = {}
      for i, part in ipairs(state.kept.parts) do
        found[i] = { part.name:sub(1, 10), part.grows_with, part.writer, table.concat(part.readers, " "),
          part.rows_per_sequence, part.window or "no window" }
      end
      local own, of_source = { "tokens", "forward", "forward", 100, "no window" },
        { "source", "encode", "forward", 24, "no window" }
      local wanted = {}
      for _, name in ipairs { "l0.attn.k", "l0.attn.v", "l0.cross.k", "l0.cross.v", "l1.attn.k", "l1.attn.v",
        "l1.cross.k", "l1.cross.v" } do
        wanted[#wanted + 1] = { name, table.unpack(name:find("cross") and of_source or own) }
      end
      table.sort(found, function(a, b) return a[1] < b[1] end)
      for _, each in ipairs(found) do each[1] = each[1]:gsub("%.$", "") end
      assert.same(wanted, found)
      assert.same({ { name = "tokens", most = 100 }, { name = "source", most = 24 } }, state.kept.symbols)
      if cache == "f32" then assert.equal(2 * 16 * 2 * (128 + 64) * 4, state.kept.bytes) end
    end
  end)

  it("have pages of integers that no step leaves", function()
    for cache, each in pairs { int8 = 4 + 8 + 4 + 16, int4 = 4 + 4 + 4 + 16 } do
      local state = helper.state(helper.description { input = { stage = "tokens", vocab = 30 }, context = 60,
        mask = "causal", cache = cache, output = { { stage = "vocabulary" } } }, "memory")
      assert.equal(64 * each * 2 * state.spec.layers, state.kept.bytes)
      checks.memory(state)
    end
  end)

  it("are none for a model that begins anew with each call", function()
    local state = helper.tiny({}, "layout")
    assert.same({ 0, 0, 0 }, { #state.kept.parts, #state.kept.symbols, state.kept.bytes })
    assert.falsy(layout.dump(state):find("state of a sequence", 1, true))
  end)

  it("have an entry that writes them, the rows of their symbol, and places apart: the checker", function()
    local function broken(change)
      local state = helper.state(helper.description { input = { stage = "tokens", vocab = 30 }, context = 40,
        mask = "causal", output = { { stage = "vocabulary" } } }, "layout")
      change(state.kept, state.kept.parts)
      return helper.defect(checks.layout, state)
    end
    assert.matches("no entry writes l0.attn.k, which the state keeps", broken(function(_, parts)
      parts[1].writer = nil
    end))
    assert.matches("the state has 39 rows of l0.attn.v", broken(function(_, parts) parts[2].rows_per_sequence = 39 end))
    assert.matches("the offset of l0.attn.v in the state", broken(function(kept, parts)
      kept.offsets[parts[2].buffer] = 0
    end))
    assert.matches("the state leaves its 64 bytes", broken(function(kept) kept.bytes = 64 end))
  end)
end)
