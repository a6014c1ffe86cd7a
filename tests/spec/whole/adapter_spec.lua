-- adapter_spec: a program with an adapter: its numbers are in packed weights, which no program with another adapter
-- takes, and in no library that opens packed weights only. whole/hf_spec compares models of adapters with PEFT's.
local helper = require("tests.spec.helper")
local files = require("common.files")

local root = helper.absolute_root()
local folder = root .. "/out/spec/adapter"
local golden = root .. "/tests/hf/goldens/bert_adapter"
local shell = helper.shell

local say = require("tests.say").of(folder)
local run, sh, npy = say.run, say.sh, say.npy

local function inputs()
  local words = {}
  for _, name in ipairs { "input_ids", "lengths", "token_type_ids" } do
    words[#words + 1] = ("--input %s=%s/in_%s.npy"):format(name, shell(golden), name)
  end
  return table.concat(words, " ")
end

-- Runs a program with some weights. Returns its exit code and what it says.
local function result(program, weights, output)
  return run(("%s/%s run --weights %s %s --output logits=%s"):format(program, program, shell(weights), inputs(),
    output))
end

-- Builds a program with the adapter that is in FOLDER/adapter, or without one.
local function build(name, word)
  sh(("%s build %s seq=7 batch=2 name=model %s -o %s >%s.log 2>&1 && mv %s/model %s/%s"):format(
    shell(root .. "/gen/attn2c"), shell(golden), word, name, name, name, name, name))
end

setup(function()
  files.make_folder(folder)
  sh(("rm -rf adapter && cp -r %s/adapter adapter"):format(shell(golden)))
  local path = folder .. "/adapter/adapter_model.safetensors"
  local text, word = helper.read(path), shell("adapter=" .. folder .. "/adapter")
  build("own", word)
  build("none", "")
  -- the same description with one bit changed
  files.write_all(folder .. "/adapter", { { name = "adapter_model.safetensors",
    text = text:sub(1, -3) .. string.char(text:byte(-2) ~ 1) .. text:sub(-1) } })
  build("other", word)
end)

describe("an adapter", function()
  it("is in packed weights, of which no program with another adapter takes any", function()
    local code, said = result("own", golden, "whole.npy")
    assert.equal(0, code, said)
    sh(("own/own pack --weights %s -o own.weights"):format(shell(golden)))
    code, said = result("own", folder .. "/own.weights", "packed.npy")
    assert.equal(0, code, said)
    assert.same(npy(folder .. "/whole.npy"), npy(folder .. "/packed.npy"))
    for _, program in ipairs { "other", "none" } do
      code, said = result(program, folder .. "/own.weights", "none.npy")
      assert.equal(3, code, said)
      assert.is_truthy(said:find("packed weights", 1, true), said)
    end
  end)

  it("is in every command that reads the weights", function()
    assert.matches("%d+ passed, 0 failed", sh(("own/own check --weights %s"):format(shell(golden))))
  end)

  it("changes the results, and nothing of it is in a program without", function()
    local code, said = result("none", golden, "none.npy")
    assert.equal(0, code, said)
    assert.is_false(npy(folder .. "/none.npy")[1] == npy(folder .. "/whole.npy")[1])
    local text = helper.read(folder .. "/none/none")
    assert.is_nil(text:find("lora_", 1, true) or text:find("adapter: ", 1, true))
    assert.is_truthy(helper.read(folder .. "/own/own"):find("lora_A", 1, true))
  end)

  it("that does not fit the weights is refused in a line", function()
    local code, said = result("own", root .. "/tests/hf/goldens/bert_token", "none.npy")
    assert.equal(3, code, said)
  end)
end)
