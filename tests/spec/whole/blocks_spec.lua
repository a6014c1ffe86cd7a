-- blocks_spec: GGUF files as they are: their weights stay in scale blocks, every tensor agrees with the reference,
-- with packed weights too, and the outputs are near transformers', which multiplies floats.
local helper = require("tests.spec.helper")
local checkpoint = require("tests.spec.checkpoint")
local lfs = require("lfs")

local root = helper.absolute_root()
local folder, goldens = root .. "/out/spec/blocks", root .. "/tests/hf/goldens"
local shell = helper.shell

local function sh(command) return helper.succeeds(command, folder) end

-- The float32 numbers of an .npy file.
local function floats(path)
  local text, list = helper.read(path), {}
  local at = 11 + string.unpack("<I2", text, 9)
  for i = at, #text - 3, 4 do list[#list + 1] = string.unpack("<f", text, i) end
  return list
end

-- The cosine of the angle between two lists of numbers.
local function cosine(a, b)
  local ab, aa, bb = 0, 0, 0
  assert.equal(#a, #b)
  for i = 1, #a do ab, aa, bb = ab + a[i] * b[i], aa + a[i] * a[i], bb + b[i] * b[i] end
  return ab / math.sqrt(aa * bb)
end

-- All types of blocks; a table of embeddings and residuals with factors.
for _, case in ipairs { "gguf_llama", "gguf_granite" } do
  describe("the GGUF file of " .. case, function()
    local path, program = goldens .. "/" .. case, folder .. "/" .. case .. "/" .. case
    local weights = ("%s/%s.gguf"):format(path, case)

    setup(function()
      sh("mkdir -p " .. folder)
      local words = {}
      for word in helper.read(path .. "/words.txt"):gmatch("%S+") do words[#words + 1] = shell(word) end
      sh(("lua5.4 %s/tests/program.lua %s %s %s"):format(shell(root), shell(weights), case,
        table.concat(words, " ")))
    end)
    teardown(function() os.execute("rm -rf " .. shell(folder)) end)

    it("keeps its blocks, and the reference rounds like the program", function()
      assert.matches("\n%d+ passed, 0 failed\n$", sh(("%s check --weights %s"):format(program, shell(weights))))
      sh(("%s pack --weights %s -o %s.packed"):format(program, shell(weights), case))
      assert.matches("\n%d+ passed, 0 failed\n$", sh(("%s check --weights %s.packed"):format(program, case)))
    end)

    it("gives outputs near those of the same weights as floats", function()
      local inputs, outputs = {}, {}
      for file in lfs.dir(path) do
        local kind, name = file:match("^(%a+)_(.*)%.npy$")
        if kind == "in" then inputs[#inputs + 1] = ("--input %s=%s/%s"):format(name, shell(path), file) end
        if kind == "out" then outputs[#outputs + 1] = name end
      end
      local words = {}
      for i, name in ipairs(outputs) do words[i] = ("--output %s=%s_%s.npy"):format(name, case, name) end
      sh(("%s run --weights %s %s %s"):format(program, shell(weights), table.concat(inputs, " "),
        table.concat(words, " ")))
      for _, name in ipairs(outputs) do
        local found = cosine(floats(("%s/out_%s.npy"):format(path, name)), floats(("%s/%s_%s.npy"):format(folder, case,
          name)))
        assert.is_true(found > 0.999, ("%s: cosine %f"):format(name, found))
      end
    end)
  end)
end

-- Minima and products of scales are summed apart, and cancel where a block has one number that is much larger.
describe("weights in blocks with minima", function()
  teardown(function() os.execute("rm -rf " .. shell(folder)) end)

  it("are judged by the terms that are added, also if single weights are large", function()
    sh("mkdir -p " .. folder)
    helper.write(folder .. "/large.lua", [[return { name = "large", d_model = 64, heads = 2, layers = 2, seq = 12,
      weights = "int8f" }]])
    local header, floats_of = checkpoint.text(folder .. "/large.lua", "F32"):match("^(.-}})(.*)$")
    local list = { header, floats_of:sub(1, #floats_of % 4) }
    for i = #floats_of % 4 + 1, #floats_of, 4 do
      list[#list + 1] = i % 400 < 4 and string.pack("<f", 100) or floats_of:sub(i, i + 3)
    end
    helper.write(folder .. "/large.safetensors", table.concat(list))
    sh(("lua5.4 %s/tests/program.lua large.lua large"):format(shell(root)))
    assert.matches("\n%d+ passed, 0 failed\n$", sh("large/large check --weights large.safetensors"))
  end)
end)
