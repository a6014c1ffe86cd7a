-- numbers_spec.lua: the translator of models/numbers: what is in its folder, and that its tokens, logits, answers and
-- beams equal the results of transformers (tests/numbers/goldens.py).
local helper = require("tests.spec.helper")
local dkjson = require("dkjson")
local files = require("common.files")
local lfs = require("lfs")

local root = helper.absolute_root()
local model = root .. "/models/numbers"
local folder = root .. "/out/spec/numbers"
local shell = helper.shell

local answers = dkjson.decode(helper.read(root .. "/tests/numbers/answers.json"))

local function sh(command) return helper.succeeds(command, folder) end

-- Returns the objects that `generate` writes for the sources of the goldens.
local function generated(options)
  local words = {}
  for i, answer in ipairs(answers) do words[i] = "--prompt " .. shell(answer.source) end
  local said, list = sh(("./built/numbers_model generate --weights %s --format jsonl %s %s"):format(shell(model),
    options, table.concat(words, " "))), {}
  for line in said:gmatch("[^\n]+") do list[#list + 1] = assert(dkjson.decode(line)) end
  assert.equal(#answers, #list)
  return list
end

describe("models/numbers", function()
  setup(function()
    files.make_folder(folder)
    sh(("%s build %s -o built"):format(shell(root .. "/gen/attn2c"), shell(model)))
  end)

  it("is at most 3 MB, with all its files", function()
    local bytes = 0
    for name in lfs.dir(model) do
      local path = model .. "/" .. name
      if lfs.attributes(path, "mode") == "file" then bytes = bytes + lfs.attributes(path, "size") end
    end
    assert.is_true(bytes <= 3e6, ("%d bytes"):format(bytes))
    for _, name in ipairs { "generation_config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors",
      "held.tsv", "words.py", "train.py" } do
      assert.is_truthy(lfs.attributes(model .. "/" .. name), name)
    end
  end)

  it("has 200 held-out sources, of both directions and all languages", function()
    local count, of = 0, {}
    for source, target in helper.read(model .. "/held.tsv"):gmatch("([^\t\n]+)\t([^\t\n]+)\n") do
      count = count + 1
      local task = source:match("^[^:]+")
      of[task] = (of[task] or 0) + 1
      assert.is_truthy((task == "to digits" and target or source:match(": (.*)")):find("^[%d-]+$"), source)
    end
    assert.equal(200, count)
    assert.is_true(of["to digits"] >= 90)
    for _, language in ipairs { "English", "German", "French", "Spanish" } do
      assert.is_true(of["in " .. language] >= 20, language)
    end
  end)

  it("answers as transformers does, several sources side by side", function()
    for i, made in ipairs(generated("")) do
      assert.is_true(answers[i].margin > 1e-3, answers[i].source)
      assert.same(answers[i].greedy, made.ids, answers[i].source)
    end
  end)

  -- A score is a mean of log-probabilities, of which each has the errors of numbers below 60 (beams_spec.lua).
  it("has the beams of transformers", function()
    for i, made in ipairs(generated("--beams 4")) do
      assert.same(answers[i].beams, made.ids, answers[i].source)
      assert.is_true(math.abs(answers[i].score - made.score) <= 4e-5, answers[i].source)
    end
  end)

  it("refuses `run`, also of texts, and names the command that answers", function()
    for _, words in ipairs { "--text x", "--input ids=x.npy" } do
      local code, said = helper.run(("%s/built/numbers_model run --weights %s %s"):format(shell(folder), shell(model),
        words))
      assert.equal(2, code, said)
      assert.matches("run: this model has an encoder: generate writes answers to sources", said, 1, true)
    end
  end)

  it("has the logits of transformers", function()
    local apart = tonumber(sh(("PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=built /usr/bin/python3 -W error "
      .. "%s/bindings/source_logits.py numbers_model %s %s/numbers/answers.json %s/numbers/logits.npy"):format(
      shell(root .. "/tests"), shell(model), shell(root .. "/tests"), shell(root .. "/tests"))))
    assert.is_true(apart <= 1e-4, ("%g apart"):format(apart))
  end)
end)
