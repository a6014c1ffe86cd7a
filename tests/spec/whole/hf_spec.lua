-- hf_spec: checkpoint folders against Hugging Face's transformers: every folder of tests/hf/goldens is
-- built as it is and run on its inputs, and each output compared with what transformers computed. GGUF files too.
-- Causal language models also find transformers' greedy tokens, in whole sequences and with a context.
-- HF_CASES=pattern takes some of them only.
local helper = require("tests.spec.helper")
local checkpoints = require("tests.spec.checkpoint")
local files = require("common.files")
local lfs = require("lfs")

local root = helper.absolute_root()
local folder = root .. "/out/spec/hf"
local goldens = root .. "/tests/hf/goldens"
local shell = helper.shell
local built = dofile(root .. "/tests/cases.lua")

local HIDDEN, LOGITS = 1e-5, 1e-4 -- of values of about one, relative to larger ones

local function sh(command) return helper.succeeds(command, folder) end

-- Returns the float32 numbers of an .npy file, and its shape as the header writes it.
local function floats(path)
  local text = helper.read(path)
  local at = 11 + string.unpack("<I2", text, 9)
  assert(text:sub(1, at):find("'<f4'", 1, true), path)
  local list = {}
  for i = at, #text - 3, 4 do list[#list + 1] = string.unpack("<f", text, i) end
  return list, text:sub(1, at):match("'shape': (%b())")
end

-- The largest difference, where the expected number is one, and how many are compared.
local function difference(expected, got)
  local largest, compared = 0, 0
  if #expected ~= #got then return math.huge, 0 end
  for i, want in ipairs(expected) do
    if want == want then
      local apart = math.abs(want - got[i]) / math.max(1, math.abs(want))
      if apart ~= apart then apart = math.huge end
      largest = math.max(largest, apart)
      compared = compared + 1
    end
  end
  return largest, compared
end

local cases = {}
for name in lfs.dir(goldens) do
  if name:sub(1, 1) ~= "." and name:find(os.getenv("HF_CASES") or "") then cases[#cases + 1] = name end
end
table.sort(cases)
local writers = {}
for _, name in ipairs(cases) do
  if lfs.attributes(goldens .. "/" .. name .. "/greedy.txt") then writers[#writers + 1] = name end
end
writers = helper.sample(writers, 20, { gemma3_logits = true })
-- The first case of every third family is in every sample, and so are outputs that one case has, and what mutants ask.
local kept = { bert_dora_tables = true, electra_discriminator = true, gguf_llama = true, gpt2_adapter = true,
  wavlm_xvector = true }
local seen, families = {}, 0
for _, name in ipairs(cases) do
  local family = name:match("^[^_]+")
  if not seen[family] then
    seen[family], families = true, families + 1
    kept[name] = kept[name] or families % 3 == 1
  end
end
cases = helper.sample(cases, 60, kept)
assert(#cases > 0, "no goldens in " .. goldens)

-- The names of a case's arrays: in_NAME.npy, out_NAME.npy.
local function arrays(case, kind)
  local list = {}
  for file in lfs.dir(goldens .. "/" .. case) do
    local name = file:match("^" .. kind .. "_(.*)%.npy$")
    if name then list[#list + 1] = name end
  end
  table.sort(list)
  return list
end

-- The checkpoint of a case: its folder, or its GGUF file, or the first part of it.
local function checkpoint(case)
  local first
  for file in lfs.dir(goldens .. "/" .. case) do
    if file:find("%.gguf$") and (not first or file < first) then first = file end
  end
  return goldens .. "/" .. case .. (first and "/" .. first or "")
end

-- Returns the index of the largest of numbers first .. last, from 0.
local function largest(list, first, last)
  local best = first
  for i = first + 1, last do if list[i] > list[best] then best = i end end
  return best - first
end

-- Returns the number of a prompt's tokens in greedy.txt, and the ids of the prompt and of what follows it.
local function read_greedy(text)
  local prompt, ids = select(2, text:match("^[^\n]*"):gsub("%d+", "")), {}
  for id in text:gmatch("%d+") do ids[#ids + 1] = tonumber(id) end
  return prompt, ids
end

-- Checks that a case's model finds the tokens of greedy.txt: sequences that grow by one of them give the next.
local function check_greedy(case, text)
  local prompt, ids = read_greedy(text)
  local rows, lengths = {}, {}
  for count = prompt, #ids - 1 do
    for i = 1, #ids - 1 do rows[#rows + 1] = i <= count and ids[i] or 0 end
    lengths[#lengths + 1] = count
  end
  local place = folder .. "/" .. case
  helper.write(place .. "/ids.npy", checkpoints.npy(("%d, %d"):format(#lengths, #ids - 1), rows))
  helper.write(place .. "/lengths.npy", checkpoints.npy(("%d,"):format(#lengths), lengths))
  sh(("%s --weights %s --input input_ids=%s/ids.npy --input lengths=%s/lengths.npy --output logits=%s/next.npy")
    :format(built.command(folder, case), shell(checkpoint(case)), case, case, case))
  local logits = floats(place .. "/next.npy")
  local width = #logits // #lengths
  for i, count in ipairs(lengths) do
    assert.equal(ids[count + 1], largest(logits, (i - 1) * width + 1, i * width), ("token %d"):format(count + 1))
  end
end

-- The tokens of a small vocabulary, as tokenizer.json.
local function small_tokenizer()
  local vocabulary = {}
  for i = 0, 36 do vocabulary[i + 1] = ('"t%d": %d'):format(i, i) end
  return ('{"version": "1.0", "pre_tokenizer": {"type": "Whitespace"}, "model": {"type": "BPE", "vocab": {%s}, '
    .. '"merges": []}}'):format(table.concat(vocabulary, ", "))
end

-- Copies a case to a folder with a tokenizer, whose model keeps a context. Returns what builds its program.
local function writer(case)
  local copy = "written_" .. case
  sh(("mkdir -p %s && cp %s/*.json %s/*.safetensors %s"):format(copy, shell(goldens .. "/" .. case),
    shell(goldens .. "/" .. case), copy))
  helper.write(("%s/%s/tokenizer.json"):format(folder, copy), small_tokenizer())
  return { name = "writes_" .. case, path = copy }
end

-- Returns what builds a case's model.
local function model(case)
  local words = { checkpoints.is_quantised(case) and "weights=none" or nil } -- transformers multiplies floats
  for word in helper.read(goldens .. "/" .. case .. "/words.txt"):gmatch("%S+") do words[#words + 1] = word end
  return { name = case, path = checkpoint(case), words = words }
end

describe("a folder of transformers'", function()
  setup(function()
    local list = {}
    for i, case in ipairs(cases) do
      list[i] = model(case)
      list[i].is_program = i % 8 == 1
    end
    built.build(folder, list)
    list = {}
    for i, case in ipairs(writers) do list[i] = writer(case) end
    built.programs(folder, list)
  end)

  for _, case in ipairs(cases) do
    it(case, function()
      local golden = goldens .. "/" .. case
      local command, log = built.command(folder, case)
      local words = { assert(command, log), "--weights", shell(checkpoint(case)) }
      local header = helper.read(("%s/%s/%s.h"):format(folder, case, case))
      for _, input in ipairs(arrays(case, "in")) do
        if header:find("_IN_" .. input:upper(), 1, true) then
          words[#words + 1] = ("--input %s=%s/in_%s.npy"):format(input, shell(golden), input)
        end
      end
      local outputs = arrays(case, "out")
      assert.is_true(#outputs > 0)
      for _, output in ipairs(outputs) do
        words[#words + 1] = ("--output %s=%s/%s.npy"):format(output, case, output)
      end
      sh(table.concat(words, " "))
      for _, output in ipairs(outputs) do
        local expected, expected_shape = floats(("%s/out_%s.npy"):format(golden, output))
        local got, got_shape = floats(("%s/%s/%s.npy"):format(folder, case, output))
        local apart, compared = difference(expected, got)
        assert.equal(expected_shape, got_shape, output)
        assert.is_true(compared > 1, output .. ": nothing is compared")
        local allowed = output:find("logits") and LOGITS or HIDDEN
        assert.is_true(apart <= allowed, ("%s: %g apart"):format(output, apart))
      end
      local greedy = files.read(golden .. "/greedy.txt")
      if greedy then check_greedy(case, greedy) end
    end)
  end

  for _, case in ipairs(writers) do
    it(case .. " writes greedy tokens", function()
      local prompt, ids = read_greedy(helper.read(goldens .. "/" .. case .. "/greedy.txt"))
      local path, place = ("writes_%s/written_%s"):format(case, case), folder .. "/written_" .. case
      assert.is_truthy(files.read(folder .. "/" .. path), files.read(("%s/writes_%s.log"):format(folder, case)))
      helper.write(place .. "/prompt.npy", checkpoints.npy(("1, %d"):format(prompt), { table.unpack(ids, 1, prompt) }))
      local said = sh(("%s generate --weights written_%s --input ids=written_%s/prompt.npy --tokens %d --greedy "
        .. "--format jsonl"):format(path, case, case, #ids - prompt))
      assert.equal(table.concat(ids, ",", prompt + 1), said:match('"ids":%[([%d,]*)%]'))
    end)
  end
end)
