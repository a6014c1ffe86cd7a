-- tales_spec.lua: the teller of tales of models/tales: what is in its folder, its tokens and logits, and that it
-- generates the tokens of transformers (tests/tales/goldens.py).
local helper = require("tests.spec.helper")
local dkjson = require("dkjson")
local files = require("common.files")
local lfs = require("lfs")

local root = helper.absolute_root()
local model = root .. "/models/tales"
local folder = root .. "/out/spec/tales"
local shell = helper.shell

local config = dkjson.decode(helper.read(model .. "/config.json"))
local answers = dkjson.decode(helper.read(root .. "/tests/tales/greedy.json"))
local vocab = config.vocab_size

local function sh(command) return helper.succeeds(command, folder) end

-- An int32 array of one axis as .npy.
local function npy(values)
  local header = ("{'descr': '<i4', 'fortran_order': False, 'shape': (%d,), }"):format(#values)
  header = header .. (" "):rep(64 - (10 + #header + 1) % 64) .. "\n"
  local parts = { "\x93NUMPY\1\0", string.pack("<I2", #header), header }
  for _, value in ipairs(values) do parts[#parts + 1] = string.pack("<i4", value) end
  return table.concat(parts)
end

-- The bytes of the floats of an .npy file.
local function data(path)
  local bytes = helper.read(path)
  return bytes:sub(11 + string.unpack("<I2", bytes, 9))
end

-- Logit `token` (from 0) of row `row` (from 0).
local function logit(bytes, row, token) return (string.unpack("<f", bytes, (row * vocab + token) * 4 + 1)) end

local function most_likely(bytes, row)
  local best, at = -math.huge, nil
  for token = 0, vocab - 1 do
    local value = logit(bytes, row, token)
    if value > best then best, at = value, token end
  end
  return at
end

describe("models/tales", function()
  local rows, starts = nil, {}

  -- One call computes the logits of all tokens of each prompt with its answer.
  setup(function()
    files.make_folder(folder)
    sh(("%s build %s -o tales"):format(shell(root .. "/gen/attn2c"), shell(model)))
    local ids, lengths = {}, {}
    for i, answer in ipairs(answers) do
      starts[i] = #ids
      table.move(answer.ids, 1, #answer.ids, #ids + 1, ids)
      table.move(answer.greedy, 1, #answer.greedy, #ids + 1, ids)
      lengths[i] = #ids - starts[i]
    end
    files.write_all(folder, { { name = "ids.npy", text = npy(ids) }, { name = "lengths.npy", text = npy(lengths) } })
    sh(("./tales/tales run --weights %s --input input_ids=ids.npy --input lengths=lengths.npy --output logits=all.npy")
      :format(shell(model)))
    rows = data(folder .. "/all.npy")
    assert.equal(#ids * vocab * 4, #rows)
  end)

  it("is under 4 MB, with all its files", function()
    local bytes = 0
    for name in lfs.dir(model) do
      local path = model .. "/" .. name
      if lfs.attributes(path, "mode") == "file" then bytes = bytes + lfs.attributes(path, "size") end
    end
    assert.is_true(bytes < 4e6, ("%d bytes"):format(bytes))
    for _, name in ipairs { "generation_config.json", "tokenizer.json", "tokenizer_config.json",
      "model.safetensors" } do
      assert.is_truthy(lfs.attributes(model .. "/" .. name), name)
    end
  end)

  it("has the logits of transformers after each prompt", function()
    local expected, largest = data(root .. "/tests/tales/logits.npy"), 0
    assert.equal(#answers * vocab * 4, #expected)
    for i, answer in ipairs(answers) do
      local row = starts[i] + #answer.ids - 1
      for token = 0, vocab - 1 do
        local want = logit(expected, i - 1, token)
        local apart = math.abs(want - logit(rows, row, token)) / math.max(1, math.abs(want))
        assert.is_true(apart == apart)
        largest = math.max(largest, apart)
      end
    end
    assert.is_true(largest <= 1e-4, ("%g apart"):format(largest))
  end)

  it("finds the tokens of transformers most likely", function()
    for i, answer in ipairs(answers) do
      assert.is_true(answer.margin > 1e-3, answer.prompt)
      for k, token in ipairs(answer.greedy) do
        assert.equal(token, most_likely(rows, starts[i] + #answer.ids + k - 2), ("%s: %d"):format(answer.prompt, k))
      end
    end
  end)

  it("generates the tokens of transformers, several prompts side by side", function()
    local words = {}
    for i, answer in ipairs(answers) do words[i] = "--prompt " .. shell(answer.prompt) end
    local said = sh(("./tales/tales generate --weights %s --greedy --tokens 48 --format jsonl %s"):format(
      shell(model), table.concat(words, " ")))
    local count = 0
    for line in said:gmatch("[^\n]+") do
      count = count + 1
      assert.same(answers[count].greedy, dkjson.decode(line).ids, answers[count].prompt)
    end
    assert.equal(#answers, count)
  end)

  it("makes the same tokens of a text", function()
    local lines = {}
    for i, answer in ipairs(answers) do
      if not answer.prompt:find("\n", 1, true) then lines[#lines + 1] = { text = answer.prompt, at = i } end
    end
    local texts = {}
    for i, line in ipairs(lines) do texts[i] = line.text .. "\n" end
    files.write_all(folder, { { name = "lines.txt", text = table.concat(texts) } })
    sh(("./tales/tales run --weights %s --text-file lines.txt --output input_ids=texts.npy --output logits=too.npy")
      :format(shell(model)))
    local found, longest = data(folder .. "/texts.npy"), 0
    for _, line in ipairs(lines) do longest = math.max(longest, #answers[line.at].ids) end
    assert.equal(#lines * longest * 4, #found)
    for i, line in ipairs(lines) do
      for k, id in ipairs(answers[line.at].ids) do
        assert.equal(id, (string.unpack("<i4", found, ((i - 1) * longest + k - 1) * 4 + 1)), line.text)
      end
    end
  end)
end)
