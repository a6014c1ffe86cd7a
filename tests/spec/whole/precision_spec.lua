-- precision_spec: models in bf16 and int8, built and checked: small ones for each target that this machine runs, with
-- guard pages, NaN and infinity planted; the same bits for any number of workers; packed weights; what the trained
-- models still know.
local helper = require("tests.spec.helper")
package.path = helper.root .. "/tests/fuzz/?.lua;" .. package.path
local case = require("case")
local checkpoints = require("tests.spec.checkpoint")
local files = require("common.files")
local json = require("dkjson")
local targets = require("data.targets")

case.root = helper.absolute_root()
local root = case.root
local folder = root .. "/out/spec/precision"
local shell = helper.shell

local function sh(command) return helper.succeeds(command, folder) end

-- Builds only the program of a description, without the libraries.
local function build(name, more)
  sh(("lua5.4 %s %s.lua %s %s"):format(shell(root .. "/tests/program.lua"), name, name, more or ""))
end

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
local INT8 = { "int8", attention = "int8" }

local forms = {
  { "padding, in bf16", form { precision = BF16, mask = "padding", input = tokens,
    output = { { stage = "pool", over = "mean" }, { stage = "linear", to = 7, name = "logits" } } } },
  { "padding, in int8", form { precision = INT8, mask = "padding", input = tokens, plan = { token_block = 5 },
    output = { { stage = "pool", over = "mean" }, { stage = "linear", to = 7, name = "logits" } } } },
  { "a window and shared keys, attention in int8", form { precision = { attention = "int8" }, kv_heads = 1, seq = 40,
    mask = { window = { 5, 2 } }, plan = { query_block = 8, key_align = 3, key_block = 16 } } },
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
    local function check()
      local ok, kind, said = case.run(each[2], folder .. "/" .. i, { flags = case.flags(i, 3), seed = i, nan = true })
      assert(ok, ("%s: %s"):format(kind, said))
    end
    if helper.is_long or i % 4 == 1 then it(each[1], check) end
  end
end)

describe("each target", function()
  setup(function()
    files.make_folder(folder)
    files.write_all(folder, { { name = "one.lua", text = [[
return { name = "one", seq = 19, d_model = 40, heads = 2, layers = 1, d_ff = 70, batch = 3, mask = "causal" }
]] } })
  end)

  for i, target in ipairs(helper.sample(runnable(), 3)) do
    it("passes the check in bf16 and int8: " .. target, function()
      local both = shell(("precision={ \"int8\", ff = \"bf16\", attention = \"%s\" }"):format(i % 2 == 1 and "int8"
        or "bf16"))
      local said = sh(("%s check one.lua %s target=%s"):format(shell(root .. "/gen/attn2c"), both,
        target))
      assert.truthy(said:find("passed, 0 failed", 1, true), said)
    end)
  end

  it("makes three workers give the bits of the trace, which one makes, and says its numbers; sanitized", function()
    for _, value in ipairs { "int8, attention int8", helper.is_long and "bf16" or nil } do
      sh(("%s lua5.4 %s one.lua one 'precision=%s' threads=3 plan.least_phase=0 plan.least_team=0 "
        .. "plan.group_tokens=19"):format(helper.with_addresses, shell(root .. "/tests/program.lua"),
        value == "bf16" and value or '{ "int8", attention = "int8" }'))
      local said = sh("./one/one check")
      assert.truthy(said:find("passed, 0 failed", 1, true), said)
      assert.truthy(said:find("output hidden, shipped = trace[^\n]*0.00e%+00[^\n]*ok"), said)
      assert.truthy(sh("./one/one info"):find("precision +" .. value))
      assert.truthy(sh("./one/one info --json"):find('"precision": "' .. value .. '"', 1, true))
    end
  end)
end)

describe("numbers near the largest", function()
  it("do not overflow between the two scales of int8", function()
    local numbers = {}
    for i = 1, 4 * 24 do numbers[i] = (i * 37 % 19 - 9) / 9 * 3e37 end
    files.write_all(folder, { { name = "large.lua", text = [[
return { name = "large", seq = 4, d_model = 16, heads = 1, layers = 0, precision = "int8",
  input = { stage = "linear", from = 24 }, output = { { stage = "linear", to = 5, bias = false } } }
]] }, { name = "large.npy", text = checkpoints.npy("1, 4, 24", numbers, true) } })
    build("large")
    local said = sh("./large/large check --input large.npy")
    assert.truthy(said:find("passed, 0 failed", 1, true), said)
  end)

  it("have squares that are too large for a norm, which the check says", function()
    local numbers = {}
    for i = 1, 4 * 16 do numbers[i] = i * 1e18 end
    files.write_all(folder, { { name = "squares.lua", text = [[
return { name = "squares", seq = 4, d_model = 16, heads = 1, layers = 0, output = { norm { kind = "rms" } } }
]] }, { name = "squares.npy", text = checkpoints.npy("1, 4, 16", numbers, true) } })
    build("squares")
    local _, said = helper.run("./squares/squares check --input squares.npy", folder)
    assert.truthy(said:find("overflow: hidden has values or sums beyond 3.4e38", 1, true), said)
  end)
end)

describe("a table of token embeddings", function()
  setup(function()
    files.make_folder(folder)
    files.write_all(folder, { { name = "tied.lua", text = [[
return { name = "tied", seq = 5, d_model = 21, heads = 3, layers = 1, d_ff = 8,
  input = tokens { vocab = 301 }, output = { vocabulary() } }
]] }, { name = "ids.npy", text = checkpoints.npy("1, 5", { 0, 300, 7, 150, 299 }) } })
    helper.write(folder .. "/tied.st", checkpoints.text(folder .. "/tied.lua", "F32"))
  end)

  for _, value in ipairs { "bf16", "int8" } do
    it("is packed in " .. value .. " once, for itself and for an output that shares it", function()
      local function bytes_of(precision, more)
        build("tied", ("'precision=%s' %s"):format(precision, more or ""))
        return tonumber(sh("./tied/tied info --json"):match('"weight_bytes": (%d+)'))
      end
      local plain = bytes_of(('{"%s", embedding="f32"}'):format(value), "--answers")
      local saved = plain - bytes_of(value)
      assert.is_true(math.abs(saved - 301 * 4 * 21) <= 2 * 64, tostring(saved))
      sh("./tied/tied pack --weights tied.st -o tied.weights")
      local outputs = {}
      for i, weights in ipairs { "tied.st", "tied.weights" } do
        local said = sh("./tied/tied check --nan --input ids=ids.npy --weights " .. weights)
        assert.truthy(said:find(" 0 failed", 1, true), said)
        said = sh("./tied/tied check --input ids=ids.npy --weights " .. weights)
        assert.truthy(said:find("passed, 0 failed", 1, true), said)
        sh("./tied/tied run --input ids=ids.npy --output y.npy --weights " .. weights)
        outputs[i] = helper.read(folder .. "/y.npy")
      end
      assert.equal(outputs[1], outputs[2])
    end)
  end
end)

describe("a model whose inner tensors are outputs, too,", function()
  for _, value in ipairs { "int8", helper.is_long and "bf16" or nil } do
    it("gives the bits of each that is the only one wanted: " .. value, function()
      files.write_all(folder, { { name = "inner.lua", text = [[
return { name = "inner", seq = 16, d_model = 32, heads = 2, layers = 2, norm = "pre" }
]] } })
      build("inner", "--exposed precision=" .. value)
      local said = sh("./inner/inner check")
      assert.truthy(said:find("passed, 0 failed", 1, true), said)
      assert.truthy(said:find("output exposed_3, by itself", 1, true), said)
    end)
  end
end)

-- The limits of bf16 and int8 for a trained model: the least cosine with f32 and share of equal top-1, and the most
-- accuracy that is lost.
local bars = { bf16 = { cosine = 0.9999, top = 0.998 }, int8 = { cosine = 0.998, top = 0.99 } }
local MOST_LOST = 0.005

-- Holds an output of what `quality --json` says against the bars; in f32 the model is right in at least `known`.
local function hold(said, value, known)
  local measured = assert(json.decode(said))
  local has_accuracy
  assert.equal(value, measured.precision)
  for _, output in ipairs(measured.outputs) do
    assert.is_true(output.equal_top_1 >= bars[value].top, said)
    if output.cosine then
      assert.is_true(output.cosine >= bars[value].cosine and output.cosine < 1.000001, said)
    end
    if output.accuracy then
      has_accuracy = true
      assert.is_true(output.accuracy_f32 >= known and output.accuracy >= output.accuracy_f32 - MOST_LOST, said)
    end
  end
  assert.is_true(has_accuracy and #measured.within > 0, said)
end

describe("a trained model is near to itself in f32, and knows as much but for half a percent, by quality:", function()
  setup(function() files.make_folder(folder) end)

  it("speakers", function()
    local here = root .. "/models/speaker"
    local line = ("%s quality %s --untimed precision=%%s --weights %s --input features=%s "
      .. "--labels %s"):format(
      shell(root .. "/gen/attn2c"), shell(root .. "/models/speaker.lua"), shell(here .. "/speaker.safetensors"),
      shell(here .. "/segments.npy"), shell(here .. "/labels.npy"))
    for value in pairs(helper.is_long and bars or {}) do
      hold(sh(line:format(value) .. " --json"), value, 0.98)
    end
    -- The table says the same, and takes as long. bf16 is compared op by op above.
    local said = sh(line:format("int8"))
    assert.truthy(said:find("| speaker | 64 | - | - | 100.0% | - | 98.4% | 98.4% |\n", 1, true), said)
    assert.is_true(tonumber(said:match("| logits | 64x600 | ([%d.]+) |")) >= bars.int8.cosine, said)
    local code, refused = helper.run(line:format("f32"), folder)
    assert.equal(2, code)
    assert.truthy(refused:find("quality: all is f32; name a type", 1, true), refused)
  end)

  local function languages()
    local here, labels, lines = root .. "/models/language", {}, {}
    for _, name in ipairs { "sentences.tsv", "held.tsv" } do
      for language, text in helper.read(here .. "/" .. name):gmatch("(%a+)\t([^\n]+)\n") do
        labels[#labels + 1], lines[#lines + 1] = language .. "\n", text .. "\n"
      end
    end
    files.write_all(folder, { { name = "lines.txt", text = table.concat(lines) },
      { name = "labels.txt", text = table.concat(labels) } })
    for value in pairs(bars) do
      local line = "%s %s quality %s --untimed seq=32 precision=%s --labels labels.txt --json --text %s 2>log"
      local texts = value == "bf16" and "- <lines.txt" or "lines.txt" -- two programs read the standard input
      hold(sh(line:format(helper.optimised, shell(root .. "/gen/attn2c"), shell(here), value, texts)), value,
        0.97)
    end
  end
  if helper.is_long then it("languages", languages) end
end)

describe("weights of an attention in int8", function()
  it("are right when the error of their polynomial rounds one to the other integer", function()
    local description = [[return { name = "w", batch = 4, d_model = 5, heads = 5, d_ff = 7, input = qkv {},
      key_seq = 63, seq = 167, bias = { down = false, norm = false, out = true, qkv = true },
      eps = 0.1, layers = 1, norm = "none",
      final_norm = false, mask = { "causal" }, output = { norm { eps = 0.5 } }, target = "generic",
      precision = { "int8", attention = "int8", ff = "f32", ["layer 0"] = "bf16" } }]]
    files.write_all(folder, { { name = "turned.lua", text = description } })
    build("turned")
    assert.matches("0 failed", sh("turned/w check --seed 993329"))
  end)
end)
