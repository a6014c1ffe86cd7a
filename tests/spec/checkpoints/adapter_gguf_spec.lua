-- adapter_gguf_spec: LoRA adapters of GGUF files: what they change and by which scale, in files and in folders, and
-- what is refused by name. whole/hf_spec compares models of them with PEFT's.
local helper = require("tests.spec.helper")
local adapter = require("checkpoints.adapter")
local gguf_file = require("tests.spec.gguf_file")
local pipeline = require("pipeline")
local words = require("common.words")

local Q, TABLE = "blk.0.attn_q.weight", "token_embd.weight"
local goldens = helper.root .. "/tests/hf/goldens/"

-- Returns the bytes of a tensor of float32 with the numbers first, first + 1, ...
local function numbers(count, first)
  local list = {}
  for i = 1, count do list[i] = first + i - 1.0 end
  return ("<" .. ("f"):rep(count)):pack(table.unpack(list))
end

-- Returns the path of an adapter's file. change: key -> { type, value }, or false; tensors: { name, type, columns,
-- rows } each; without them, there are tensors of a query and a table.
local function file(change, tensors)
  local entries, list = {}, {}
  for key, entry in pairs(words.merged({ ["general.type"] = { "STRING", "adapter" },
    ["general.architecture"] = { "STRING", "llama" }, ["adapter.type"] = { "STRING", "lora" },
    ["adapter.lora.alpha"] = { "FLOAT32", 6.0 } }, change)) do
    if entry then entries[#entries + 1] = { key, entry[1], entry[2] } end
  end
  table.sort(entries, function(a, b) return a[1] < b[1] end)
  for i, tensor in ipairs(tensors or { { Q .. ".lora_a", "F32", 32, 2 }, { Q .. ".lora_b", "F32", 2, 32 },
    { TABLE .. ".lora_a", "F32", 3, 37 }, { TABLE .. ".lora_b", "F32", 3, 32 } }) do
    local name, type, columns, rows = table.unpack(tensor)
    local bytes = tensor.bytes or type == "F32" and numbers(columns * (rows or 1), 100 * i)
    list[i] = { name, type, rows and { rows, columns } or { columns }, bytes or nil }
  end
  return helper.file(gguf_file.bytes(entries, list), "lora.gguf")
end

local function refused(what, code, run, ...)
  local fault = helper.fault(run, ...)
  assert.is_truthy(fault, "nothing was refused: " .. what)
  assert.equal(1, #fault.lines)
  assert.is_truthy(fault.lines[1]:find(what, 1, true), fault.lines[1])
  assert.equal(code, fault.code)
end

-- Returns the state of a golden with an adapter: the key `adapter`, or `adapters.x`.
local function model(name, key, path, ...)
  return pipeline.run(helper.root, goldens .. name, { "seq=5", key .. "=" .. path, ... }, "ranks")
end

local FILE = "gguf_llama_adapters/gguf_llama_adapters.gguf"

describe("an adapter of a GGUF file", function()
  teardown(helper.clean)

  it("has alpha divided by each rank as its scale, and 1 without an alpha", function()
    for alpha, expected in pairs { [6.0] = { 3.0, 2.0 }, [0.0] = { 1.0, 1.0 } } do
      local scales = {}
      for _, change in ipairs(adapter.read(file { ["adapter.lora.alpha"] = { "FLOAT32", alpha } }, {}).changes) do
        scales[change.target] = change.scale
      end
      assert.same({ [Q] = expected[1], [TABLE] = expected[2] }, scales)
    end
    assert.equal(1.0, adapter.read(file { ["adapter.lora.alpha"] = false }, {}).changes[1].scale)
  end)

  it("has the rows of a table of tokens as columns, as PEFT has them", function()
    local found = adapter.read(file(), {})
    local a = found.tensors[TABLE .. ".lora_a"]
    assert.same({ 3, 37 }, a.shape)
    for token = 0, 36 do
      for k = 0, 2 do
        assert.equal(300.0 + token * 3 + k, (("<f"):unpack(a.data, 4 * (k * 37 + token) + 1)))
      end
    end
  end)

  it("has the numbers of Q8_0", function()
    local block = ("<I2"):pack(0x3800) -- 0.5
    for i = -16, 15 do block = block .. ("b"):pack(i) end
    local found = adapter.read(file({}, { { Q .. ".lora_a", "Q8_0", 32, 1, bytes = block },
      { Q .. ".lora_b", "F32", 1, 32 } }), {})
    local a = found.tensors[Q .. ".lora_a"]
    assert.equal("F32", a.dtype)
    for i = 0, 31 do assert.equal((i - 16) / 2, (("<f"):unpack(a.data, 4 * i + 1))) end
  end)

  it("changes a GGUF file's tensors as they are", function()
    local rows = model(FILE, "adapter", file(), "weights=none").adapter.rows
    assert.same({ { Q, Q .. ".lora_b", false }, { TABLE, TABLE .. ".lora_b", true } }, words.map(rows, function(row)
      return { row.names[1], row.outputs, row.is_transposed }
    end))
  end)

  it("changes a folder's tensors, with rows in its order", function()
    local state = model("llama_logits", "adapter", file({}, { { Q .. ".lora_a", "F32", 24, 2 },
      { Q .. ".lora_b", "F32", 2, 24 } }))
    local row = state.adapter.rows[1]
    assert.equal("model.layers.0.self_attn.q_proj.weight", row.names[1])
    local head_dim = state.spec.head_dim
    local half = head_dim // 2
    for i = 0, 23 do -- rows 2 d, 2 d + 1 of a head are rows d, d + half
      local of_head = i % head_dim
      local from = i - of_head + 2 * (of_head % half) + of_head // half
      assert.equal(200.0 + 2 * from, (("<f"):unpack(state.adapter.tensors[row.outputs].data, 8 * i + 1)))
    end
  end)

  it("may be kept next to the weights of a file or a folder, by the file's name", function()
    for name, columns in pairs { [FILE] = 32, llama_logits = 24 } do
      local path = file({}, { { Q .. ".lora_a", "F32", columns, 2 }, { Q .. ".lora_b", "F32", 2, columns },
        { "output.weight.lora_a", "F32", columns, 2 }, { "output.weight.lora_b", "F32", 2, 37 } })
      local state = pipeline.run(helper.root, goldens .. name, { "seq=5", ("adapters={%q}"):format(path) }, "ranks")
      assert.equal("lora", state.adapters[1].name)
      local found = {}
      for _, op in ipairs(state.entries[#state.entries - 1].graph.entry.ops) do
        if op.op == "adapt" then found[#found + 1] = op.result.name end
      end
      assert.same({ "l0.attn.q", "output.2.vocabulary" }, found)
    end
  end)

  it("says that a norm takes the place of the model's", function()
    local notes = {}
    local found = adapter.read(file({}, { { "blk.0.attn_norm.weight", "F32", 32 } }), notes)
    assert.equal("blk.0.attn_norm.weight", found.changes[1].base)
    assert.is_truthy(notes[1]:find("blk.0.attn_norm.weight takes the place of the model's; llama.cpp leaves it out", 1,
      true), notes[1])
  end)

  it("is refused in one line", function()
    local function each(what, code, ...) refused(what, code, adapter.read, file(...), {}) end
    each("metadata \"general.type\": \"model\", but an adapter is expected", 2, { ["general.type"] = { "STRING",
      "model" } })
    each("metadata \"general.type\": is missing", 2, { ["general.type"] = false })
    each("metadata \"adapter.type\": \"ia3\" is not supported; lora is", 2, { ["adapter.type"] = { "STRING", "ia3" } })
    each("metadata \"adapter.lora.alpha\": a number is expected", 2, { ["adapter.lora.alpha"] = { "STRING", "6" } })
    each("adapters that begin at some tokens (aLoRA) are not supported", 2,
      { ["adapter.alora.invocation_tokens"] = { "UINT32", 5 } })
    each("has one of two factors", 3, {}, { { Q .. ".lora_a", "F32", 32, 2 } })
    each("do not fit together", 3, {}, { { Q .. ".lora_a", "F32", 32, 2 }, { Q .. ".lora_b", "F32", 3, 32 } })
    each("I32 is not supported in an adapter; F32, F16, BF16 and Q8_0 are", 2, {}, { { Q .. ".lora_a", "I32", 32, 2 },
      { Q .. ".lora_b", "F32", 2, 32 } })
    refused("metadata \"general.architecture\": qwen2, but the model is of another architecture, with names of llama",
      2, model, "llama_logits", "adapter", file { ["general.architecture"] = { "STRING", "qwen2" } })
    refused("changes blk.7.attn_q.weight, which the model does not have", 2, model, FILE, "adapter", file({},
      { { "blk.7.attn_q.weight.lora_a", "F32", 32, 2 }, { "blk.7.attn_q.weight.lora_b", "F32", 2, 32 } }),
      "weights=none")
    refused("weights=none makes floats of them", 2, model, FILE, "adapter", file())
    refused("is [33, 2], but the model's " .. Q .. " is [32, 32]", 3, model, FILE, "adapters.x", file({},
      { { Q .. ".lora_a", "F32", 32, 2 }, { Q .. ".lora_b", "F32", 2, 33 } }))
  end)
end)
