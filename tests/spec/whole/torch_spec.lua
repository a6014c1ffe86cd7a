-- torch_spec.lua: models against PyTorch: every case of tests/torch/goldens is built and run on
-- the inputs and weights there, and each output compared with what PyTorch computed from the
-- definition. All are built (tests/cases.lua) before the first is run.
local helper = require("tests.spec.helper")
local files = require("common.files")
local lfs = require("lfs")
local pipeline = require("pipeline")
local precision = require("data.precision")

local root = helper.absolute_root()
local folder = root .. "/out/spec/torch"
local goldens = root .. "/tests/torch/goldens"
local shell = helper.shell
local built = dofile(root .. "/tests/cases.lua")

-- The largest difference of any element that is allowed: a stack of layers and a single block. Products of bf16 and
-- int8 have what torch/precision.py proves: its cases are drawn until every correct result lies within STACK.
local STACK, BLOCK = 1e-4, 1e-5

-- Returns the tolerance of a description, by the layers of both stacks.
local function allowed_of(description)
  local spec = pipeline.run(root, description, {}, "validate").spec
  local layers = spec.layers + (spec.memory and spec.memory.encoder and spec.memory.encoder.layers or 0)
  return layers == 1 and precision.is_plain(spec.precision) and BLOCK or STACK
end

local function sh(command) return helper.succeeds(command, folder) end

local cases = {}
for name in lfs.dir(goldens) do if name:sub(1, 1) ~= "." then cases[#cases + 1] = name end end
table.sort(cases)
cases = helper.sample(cases, 12, { bert_head_pruned = true, torch_odd17 = true })
assert(#cases > 0, "no goldens in " .. goldens)

-- The names before .npy of a case's arrays, those that begin with `prefix` without it, or those that do not.
local function arrays(case, expected)
  local list = {}
  for file in lfs.dir(goldens .. "/" .. case) do
    local name = file:match("^(.*)%.npy$")
    local output = name and name:match("^expected_(.*)$")
    if name and (output ~= nil) == expected then list[#list + 1] = output or name end
  end
  table.sort(list)
  return list
end

describe("PyTorch's outputs", function()
  setup(function()
    local runtime = {}
    for _, name in ipairs { "formats/npy", "formats/npy_header", "formats/file", "formats/file_write",
      "formats/new_file", "formats/place", "base/shape", "base/floats", "base/attn2c", "base/utf8",
      "system/linux" } do
      runtime[#runtime + 1] = shell(("%s/runtime/%s.c"):format(root, name))
    end
    sh(("cc -std=c11 -Wall -Wextra -Werror -O1 -iquote %s %s %s -lm -o npy_difference"):format(
      shell(root .. "/runtime"), shell(root .. "/tests/c/npy_difference.c"), table.concat(runtime, " ")))
    local list = {}
    for i, case in ipairs(cases) do
      local path = ("%s/%s/description.lua"):format(goldens, case)
      list[i] = { name = case, text = files.read(path), path = path }
    end
    built.build(folder, list)
  end)

  for _, case in ipairs(cases) do
    it(case, function()
      local golden = goldens .. "/" .. case
      local words = { assert(built.command(folder, case)) }
      if files.read(golden .. "/model.safetensors") then
        words[#words + 1] = "--weights " .. shell(golden .. "/model.safetensors")
      end
      for _, input in ipairs(arrays(case, false)) do
        words[#words + 1] = ("--input %s=%s/%s.npy"):format(input, shell(golden), input)
      end
      local outputs = arrays(case, true)
      assert.is_true(#outputs > 0)
      for _, output in ipairs(outputs) do
        words[#words + 1] = ("--output %s=%s/%s.npy"):format(output, case, output)
      end
      sh(table.concat(words, " "))
      local allowed = allowed_of(golden .. "/description.lua")
      for _, output in ipairs(outputs) do
        local said = sh(("./npy_difference %s/expected_%s.npy %s/%s.npy"):format(shell(golden), output, case, output))
        local difference = tonumber(said:match("^(%S+) at"))
        assert.is_true(difference <= allowed, ("%s: %s"):format(output, said))
      end
    end)
  end

  it("are the same where heads of factor 0 are left out of the model", function()
    local golden = goldens .. "/bert_head_pruned"
    sh(("lua5.4 %s %s/description.lua pruned --answers attention_output=none name=pruned"):format(
      shell(root .. "/tests/program.lua"), shell(golden)))
    assert.is_truthy(files.read(folder .. "/pruned/pruned.c"):find("2 heads of 17 x 17 x 10", 1, true))
    local words = { "pruned/pruned run --output hidden=pruned/hidden.npy", "--weights",
      shell(golden .. "/model.safetensors") }
    for _, input in ipairs(arrays("bert_head_pruned", false)) do
      words[#words + 1] = ("--input %s=%s/%s.npy"):format(input, shell(golden), input)
    end
    sh(table.concat(words, " "))
    local said = sh(("./npy_difference %s/expected_hidden.npy pruned/hidden.npy"):format(shell(golden)))
    assert.is_true(tonumber(said:match("^(%S+) at")) <= STACK, said)
  end)

  it("are not taken for equal to others", function()
    local golden = goldens .. "/torch_odd17"
    local said = sh(("./npy_difference %s/hidden.npy %s/expected_hidden.npy"):format(shell(golden), shell(golden)))
    assert.is_true(tonumber(said:match("^(%S+) at")) > STACK, said)
  end)
end)
