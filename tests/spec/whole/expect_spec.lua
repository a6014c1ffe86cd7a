-- expect_spec.lua: `check --expect`: outputs of PyTorch and transformers (tests/torch, tests/hf) agree with their
-- descriptions; a description that differs from its model, other numbers, and arrays that do not fit are found.
local helper = require("tests.spec.helper")
local files = require("common.files")

local root = helper.absolute_root()
local folder = root .. "/out/spec/expect"
local golden = root .. "/tests/torch/goldens/bert_added/"
local try = helper.runner(folder)

local INPUTS = { "--weights", golden .. "model.safetensors", "--input", "ids=" .. golden .. "ids.npy", "--input",
  "lengths=" .. golden .. "lengths.npy", "--input", "token_types=" .. golden .. "token_types.npy" }

local function words(...)
  local list = {}
  for _, part in ipairs { ... } do
    for _, word in ipairs(type(part) == "table" and part or { part }) do list[#list + 1] = word end
  end
  return list
end

-- Builds the program of a description, with keys overridden, and returns its path.
local function build(description, name, ...)
  helper.runner(folder)
  local code, said, errors = try(words({ "lua5.4", root .. "/tests/program.lua", description, name }, ...))
  assert.equal(0, code, said .. errors)
  return "./" .. name .. "/" .. files.read(description):match('name = "([^"]+)"')
end

-- Returns the exit code of a check, the report, and the lines on standard error.
local function check(program, ...) return try(words(program, "check", INPUTS, ...)) end

-- A copy of an array of 4-byte elements with one of them, counted from 0, replaced.
local function changed(path, element, format, value)
  local text = files.read(path)
  local at = 10 + string.unpack("<I2", text, 9) + 4 * element
  files.write_all(folder, { { name = "changed.npy", text = text:sub(1, at) .. string.pack(format, value)
    .. text:sub(at + 5) } })
  return "changed.npy"
end

local HIDDEN, POOLED = "hidden=" .. golden .. "expected_hidden.npy", "pooled=" .. golden .. "expected_pooled.npy"
local bert

describe("check --expect", function()
  setup(function()
    files.make_folder(folder)
    bert = build(golden .. "description.lua", "bert")
  end)

  it("passes the outputs of the model that was described, one or several", function()
    for count, expected in ipairs { { "--expect", HIDDEN }, { "--expect", HIDDEN, "--expect", POOLED } } do
      local code, said, errors = check(bert, expected)
      assert.equal(0, code, said .. errors)
      assert.is_truthy(said:find("outputs against arrays", 1, true), said)
      assert.is_truthy(said:find(("\n%d passed, 0 failed\n"):format(count), 1, true), said)
      assert.equal("", errors)
    end
  end)

  it("is an option of the command, too", function()
    local list = words({ "lua5.4", root .. "/gen/attn2c", "check", golden .. "description.lua" }, INPUTS)
    local code, said, errors = try(words(list, "--expect", HIDDEN, "--expect", POOLED))
    assert.equal(0, code, said .. errors)
    assert.is_truthy(said:find("\n2 passed, 0 failed\n", 1, true), said)
    code, said, errors = try(words(list, "--expect", POOLED, "--tolerance", "0"))
    assert.equal(1, code, said .. errors)
  end)

  it("names the first element that differs, and not the worst", function()
    local path = changed(golden .. "expected_hidden.npy", 16 * 30 + 29, "<f", 1000)
    path = changed(folder .. "/" .. path, 3 * 30 + 7, "<f", 0.25)
    local code, said = check(bert, "--expect", "hidden=" .. path, "--expect", POOLED)
    assert.equal(1, code, said)
    local first = "\n1 passed, 1 failed\nfirst to diverge: output hidden at [0][3][7]: expected 0.25, got "
    assert.is_truthy(said:find(first, 1, true), said)
    assert.is_truthy(said:find("[0][16][29]", 1, true), said) -- the worst, in the table
    assert.is_nil(said:find("seed", 1, true), said)
  end)

  it("finds a description with another activation, which the plain check cannot find", function()
    for _, activation in ipairs { "gelu_tanh", helper.is_long and "relu" or nil } do
      local other = build(golden .. "description.lua", activation, "activation=" .. activation)
      assert.equal(0, (try(words(other, "check"))))
      local code, said = check(other, "--expect", HIDDEN)
      assert.equal(1, code, said)
      assert.is_truthy(said:find("(error above the tolerance)", 1, true), said)
    end
  end)

  it("holds for the module of models/examples, as it was written and as PyTorch here writes it", function()
    local description = root .. "/models/examples/classifier.lua"
    local sources = { root .. "/tests/torch/module" }
    if try { "python3", "-c", "import torch, safetensors" } == 0 then
      files.make_folder(folder .. "/module")
      assert.equal(0, (try { "python3", root .. "/models/examples/export_module.py", folder .. "/module" }))
      sources[2] = folder .. "/module"
    end
    for activation, wanted in pairs { gelu = 0, gelu_tanh = 1, relu = helper.is_long and 1 or nil } do
      local program = build(description, "classifier_" .. activation, "activation=" .. activation)
      for _, from in ipairs(sources) do
        local code, said, errors = try { program, "check", "--weights", from .. "/classifier.safetensors", "--input",
          "ids=" .. from .. "/ids.npy", "--expect", "logits=" .. from .. "/logits.npy" }
        assert.equal(wanted, code, activation .. said .. errors)
      end
    end
  end)

  it("takes the tolerance that is given", function()
    local far = changed(golden .. "expected_pooled.npy", 3, "<f", 0.5)
    assert.equal(1, (check(bert, "--expect", "pooled=" .. far)))
    assert.equal(0, (check(bert, "--expect", "pooled=" .. far, "--tolerance", "1")))
    assert.equal(1, (check(bert, "--expect", HIDDEN, "--tolerance", "0")))
  end)

  it("says the reason where products are rounded", function()
    local rounded = build(golden .. "description.lua", "rounded", "precision=bf16")
    local code, said, errors = check(rounded, "--expect", HIDDEN)
    assert.equal(1, code, said)
    assert.is_truthy(errors:find("products of this model are rounded to bf16", 1, true), errors)
    code, said, errors = check(rounded, "--expect", HIDDEN, "--tolerance", "0.05")
    assert.equal(0, code, said .. errors)
    assert.equal("", errors)
  end)

  it("gives JSON", function()
    local path = changed(golden .. "expected_hidden.npy", 31, "<f", 0.25)
    local code, said = check(bert, "--expect", "hidden=" .. path, "--json")
    assert.equal(1, code, said)
    local made = require("common.json").decode(said)
    assert.equal(1, made.failed)
    assert.same({ 0, 1, 1 }, made.first_to_diverge.worst)
  end)

  it("leaves padding out, as lengths and masks declare it, and nothing else", function()
    assert.equal(0, (try { "/usr/bin/python3", "-c", "import numpy as n\ng = '" .. golden .. "'\n"
      .. "lengths = n.load(g + 'lengths.npy')\nkept = n.arange(17) < lengths[:, None]\n"
      .. "n.save('attention_mask.npy', kept.astype('int64'))\nn.save('key_padding.npy', ~kept)\n"
      .. "hidden = n.load(g + 'expected_hidden.npy')\nhidden[~kept] = 7\nn.save('padded.npy', hidden)\n"
      .. "hidden[1, lengths[1] - 1, 0] = 7\nn.save('wrong.npy', hidden)\n" }))
    files.write_all(folder, { { name = "plain.lua", text = (files.read(golden .. "description.lua"):gsub(
      "  mask_value = %-10000,\n", "")) } })
    for mask, word in pairs { lengths = "padding", key_padding = helper.is_long and "key_padding" or nil,
      attention_mask = "attention_mask" } do
      local program = build(folder .. "/plain.lua", mask, "mask=" .. word)
      local array = mask == "lengths" and golden .. "lengths.npy" or mask .. ".npy"
      local list = words(program, "check", "--weights", golden .. "model.safetensors", "--input", "ids=" .. golden
        .. "ids.npy", "--input", "token_types=" .. golden .. "token_types.npy", "--input", mask .. "=" .. array)
      local code, said, errors = try(words(list, "--expect", "hidden=padded.npy"))
      assert.equal(0, code, mask .. said .. errors)
      code, said = try(words(list, "--expect", "hidden=wrong.npy"))
      assert.equal(1, code, mask .. said)
      assert.is_truthy(said:find("output hidden at [1]", 1, true), said)
    end
  end)

  it("compares integers exactly, of any number of sequences", function()
    files.write_all(folder, { { name = "picks.lua", text = [[
return { name = "picks", input = qkv(), seq = 4, batch = 3, d_model = 3, heads = 1, layers = 1, projections = false,
  residual = false, norm = "none", d_ff = 0, output = { argmax { name = "pick" } } }
]] } })
    local picks = build(folder .. "/picks.lua", "picks")
    assert.equal(0, (try { "/usr/bin/python3", "-c", "import numpy as n\n"
      .. "x = n.random.default_rng(1).normal(size=(2, 4, 3))\nn.save('x.npy', x)\n"
      .. "s = x @ x.transpose(0, 2, 1) / 3 ** .5\n"
      .. "e = n.exp(s)\npick = (e / e.sum(2, keepdims=True) @ x).argmax(2)\nn.save('pick.npy', pick)\n"
      .. "pick[1, 2] = (pick[1, 2] + 1) % 3\nn.save('other.npy', pick)\n" }))
    local list = { picks, "check", "--input", "query=x.npy", "--input", "key=x.npy", "--input", "value=x.npy" }
    local code, said, errors = try(words(list, "--expect", "pick.npy"))
    assert.equal(0, code, said .. errors)
    code, said = try(words(list, "--expect", "pick=other.npy", "--tolerance", "1"))
    assert.equal(1, code, said)
    assert.is_truthy(said:find("output pick at [1][2]: expected ", 1, true), said)
    assert.is_truthy(said:find("(another integer)", 1, true), said)
    code, said, errors = try(words(list, "--expect", "pick=x.npy"))
    assert.equal(3, code, said)
    assert.equal("picks: pick: int32 [2, 4] expected, but x.npy holds float64 [2, 4, 3]\n", errors)
  end)

  it("refuses what does not fit, one line each", function()
    local function refused(code, line, ...)
      local got, said, errors = check(bert, ...)
      assert.equal(code, got, said .. errors)
      assert.equal("", said)
      assert.equal("bert_added: " .. line .. "\n", errors)
    end
    refused(2, "--expect logits=x.npy: no such name; known: hidden, pooled", "--expect", "logits=x.npy")
    refused(2, "--expect x.npy: a name is needed, NAME=PATH; known: hidden, pooled", "--expect", "x.npy")
    refused(2, "--expect " .. HIDDEN .. ": this one is given twice, but once is allowed", "--expect", HIDDEN,
      "--expect", HIDDEN)
    refused(4, "nowhere.npy: cannot be opened: No such file or directory", "--expect", "hidden=nowhere.npy")
    refused(3, ("hidden: float32 [3, 17, 30] expected, but %sexpected_pooled.npy holds float32 [3, 30], without an "
      .. "axis of sequences: one sequence is [1, 3, 30]"):format(golden), "--expect", "hidden=" .. golden
      .. "expected_pooled.npy")
    refused(2, "--tolerance: 2, but 0 to 1 is allowed", "--expect", HIDDEN, "--tolerance", "2")
    refused(2, "--tolerance: 'x', but a number is allowed", "--expect", HIDDEN, "--tolerance", "x")
    refused(2, "--tolerance: goes with --expect", "--tolerance", "0.1")
    refused(2, "check: --nan does not go with --expect", "--expect", HIDDEN, "--nan")
    local code, _, errors = try { bert, "check", "--expect", HIDDEN }
    assert.equal(2, code, errors)
    assert.is_truthy(errors:find("check: --weights F.safetensors is needed\n", 1, true), errors)
    assert.is_truthy(errors:find("check: --input ids=X.npy is needed: int32 [3, 17], 0 to", 1, true), errors)
  end)
end)
