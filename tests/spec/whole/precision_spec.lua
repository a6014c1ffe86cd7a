-- precision_spec: models in bf16 and int8, built and checked: small ones for each target that this machine runs, with
-- guard pages, NaN and infinity planted; the same bits for any number of workers; packed weights; what the trained
-- models still know.
local helper = require("tests.spec.helper")
package.path = helper.root .. "/tests/fuzz/?.lua;" .. package.path
local case = require("case")
local files = require("common.files")
local targets = require("data.targets")

case.root = helper.absolute_root()
local root = case.root
local folder = root .. "/out/spec/precision"
local shell = helper.shell

local function sh(command) return helper.succeeds(command, folder) end

-- The targets that this machine runs.
local function runnable()
  local list, best = {}, targets.host(targets.machine(os.getenv), { bf16 = true, int8 = true })
  local passed = false
  for _, target in ipairs(targets.list) do
    passed = passed or target.name == best
    if passed and target.name ~= "avxvnni" and (not target.machine or target.machine == targets.by_name[best].machine)
    then list[#list + 1] = target.name end
  end
  return list
end

local tokens = { stage = "tokens", vocab = 11 }

local function form(more)
  local description = { name = "form", seq = 13, d_model = 24, heads = 4, layers = 1, d_ff = 19, batch = 2 }
  for key, value in pairs(more) do description[key] = value end
  return description
end

local BF16 = { "bf16", attention = "bf16" } -- on targets without pairs, too

local forms = {
  { "padding, in bf16", form { precision = BF16, mask = "padding", input = tokens,
    output = { { stage = "pool", over = "mean" }, { stage = "linear", to = 7, name = "logits" } } } },
  { "padding, in int8", form { precision = "int8", mask = "padding", input = tokens, plan = { token_block = 5 },
    output = { { stage = "pool", over = "mean" }, { stage = "linear", to = 7, name = "logits" } } } },
  { "a window in blocks, norms before, in bf16", form { precision = BF16, norm = "pre", seq = 40,
    mask = { window = { 5, 2 } }, plan = { query_block = 8, key_align = 3, token_block = 7 } } },
  { "all types, shared keys, a gate, arrays of masks", form { layers = 2, kv_heads = 2, gated = true,
    positions = "rope", mask = { "causal", "key_padding" }, attention_output = "heads",
    precision = { "int8", qkv = "bf16", attention = "bf16", ["layer 1"] = "f32", output = "f32" } } },
  { "rotated queries in tiles", form { seq = 20, positions = "rope", precision = { "int8", attention = "bf16" },
    plan = { token_block = 8, group_tokens = 20 } } },
  { "cross-attention, odd heads", form { d_model = 21, heads = 3, memory = { seq = 9, width = 5, mask = "padding" },
    precision = { "bf16", out = "int8" } } },
}

describe("a small model with", function()
  for i, each in ipairs(forms) do
    it(each[1], function()
      local ok, kind, said = case.run(each[2], folder .. "/" .. i, { flags = case.flags(i, 3), seed = i, nan = true })
      assert(ok, ("%s: %s"):format(kind, said))
    end)
  end
end)

describe("each target", function()
  setup(function()
    files.make_folder(folder)
    files.write_all(folder, { { name = "one.lua", text = [[
return { name = "one", seq = 19, d_model = 40, heads = 2, layers = 1, d_ff = 70, batch = 3, mask = "causal" }
]] } })
  end)

  for _, target in ipairs(runnable()) do
    it("passes the check in bf16 and int8: " .. target, function()
      local both = shell("precision={ \"int8\", ff = \"bf16\", attention = \"bf16\" }")
      local said = sh(("ATTN2C_CFLAGS=-O0 %s check one.lua %s target=%s"):format(shell(root .. "/gen/attn2c"), both,
        target))
      assert.truthy(said:find("passed, 0 failed", 1, true), said)
    end)
  end

  it("makes three workers give the bits of the trace, which one makes, and says its numbers; sanitized", function()
    for _, value in ipairs { "bf16", "int8" } do
      sh(("%s %s build one.lua precision=%s threads=3 plan.least_phase=0 plan.least_team=0 "
        .. "plan.group_tokens=19 -o one"):format(helper.with_addresses, shell(root .. "/gen/attn2c"), value))
      local said = sh("./one/one check")
      assert.truthy(said:find("passed, 0 failed", 1, true), said)
      assert.truthy(said:find("output hidden, shipped = trace[^\n]*0.00e%+00[^\n]*ok"), said)
      assert.truthy(sh("./one/one info"):find("precision +" .. value))
      assert.truthy(sh("./one/one info --json"):find('"precision": "' .. value .. '"', 1, true))
    end
  end)
end)

-- The numbers of an .npy file, four bytes each.
local function numbers(path, form_of)
  local bytes, list = helper.read(path), {}
  local at = 11 + string.unpack("<I2", bytes, 9)
  local kind = bytes:match("'descr': '<(%a%d)'")
  local size = tonumber(kind:sub(2))
  for i = at, #bytes - size + 1, size do
    list[#list + 1] = string.unpack("<" .. (form_of or (size == 8 and "i8" or "i4")), bytes, i)
  end
  return list
end

describe("a trained model", function()
  setup(function() files.make_folder(folder) end)

  it("knows as many speakers in bf16 and int8, but for half a percent", function()
    local here = root .. "/models/speaker"
    local labels = numbers(here .. "/labels.npy")
    local function right(value)
      sh(("ATTN2C_CFLAGS=-O0 %s build %s precision=%s -o speaker"):format(shell(root .. "/gen/attn2c"),
        shell(root .. "/models/speaker.lua"), value))
      sh(("./speaker/speaker run --weights %s --input features=%s --output speaker=who.npy"):format(
        shell(here .. "/speaker.safetensors"), shell(here .. "/segments.npy")))
      local count = 0
      for i, who in ipairs(numbers(folder .. "/who.npy")) do if who == labels[i] then count = count + 1 end end
      return count / #labels
    end
    local f32 = right("f32")
    for _, value in ipairs { "bf16", "int8" } do
      local now = right(value)
      assert.is_true(now >= f32 - 0.005, ("%s: %.4f, and f32 %.4f"):format(value, now, f32))
    end
  end)

  it("is near to itself in f32, by the command quality", function()
    local here = root .. "/models/speaker"
    local line = ("%s quality %s precision=%%s --weights %s --input features=%s"):format(shell(root .. "/gen/attn2c"),
      shell(root .. "/models/speaker.lua"), shell(here .. "/speaker.safetensors"), shell(here .. "/segments.npy"))
    for value, least in pairs { bf16 = 0.9999, int8 = 0.998 } do
      local said = sh("ATTN2C_CFLAGS=-O0 " .. line:format(value))
      local cosine, top = said:match("| logits | 64x600 | ([%d.]+) | %S+ | ([%d.]+)%% |")
      assert.is_true(tonumber(cosine) >= least and tonumber(cosine) < 1.000001, said)
      assert.is_true(tonumber(top) >= 98, said)
    end
    local code, said = helper.run(line:format("f32") .. " 2>&1", folder)
    assert.equal(2, code)
    assert.truthy(said:find("quality: the precision is f32", 1, true), said)
  end)

  it("knows as many languages in bf16 and int8, but for half a percent", function()
    local here, list, lines = root .. "/models/language", {}, {}
    for _, name in ipairs { "sentences.tsv", "held.tsv" } do
      for language, text in helper.read(here .. "/" .. name):gmatch("(%a+)\t([^\n]+)\n") do
        list[#list + 1], lines[#lines + 1] = language, text .. "\n"
      end
    end
    files.write_all(folder, { { name = "lines.txt", text = table.concat(lines) } })
    local function right(value)
      sh(("ATTN2C_CFLAGS=-O0 %s build %s precision=%s -o language"):format(shell(root .. "/gen/attn2c"), shell(here),
        value))
      local said = sh(("./language/language run --weights %s --text-file lines.txt"):format(shell(here)))
      local count, i = 0, 0
      for found in said:gmatch("(%a+)\t[^\n]+\n") do
        i = i + 1
        if found == list[i] then count = count + 1 end
      end
      assert.equal(#list, i)
      return count / #list
    end
    local f32 = right("f32")
    for _, value in ipairs { "bf16", "int8" } do
      local now = right(value)
      assert.is_true(now >= f32 - 0.005, ("%s: %.4f, and f32 %.4f"):format(value, now, f32))
    end
  end)
end)
