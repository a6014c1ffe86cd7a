-- any_goldens_spec.lua: models of any length against PyTorch and transformers: the models of tests/torch and tests/hf
-- that may be of any length take their inputs without padding, in one call of several sequences. A sequence has the
-- bits of a model of fixed length.
local helper = require("tests.spec.helper")
local checkpoints = require("tests.spec.checkpoint")
local describe_pass = require("passes.describe")
local files = require("common.files")
local lfs = require("lfs")
local pipeline = require("pipeline")
local precision = require("data.precision")
package.path = helper.root .. "/tests/fuzz/?.lua;" .. package.path
local text = require("text")

local root = helper.absolute_root()
local folder = root .. "/out/spec/any_goldens"
local built = dofile(root .. "/tests/cases.lua")
local unpadded = dofile(root .. "/tests/unpadded.lua")
local shell = helper.shell

-- A case of tests/hf whose positions end before the sixteenth.
local FEW_POSITIONS = "roberta_sequence"
-- The positions of others that have less than 15.
local positions = { clip_both_text = 9, clip_text_model = 9, clip_text_projection = 9 }

-- As in torch_spec.lua and hf_spec.lua.
local STACK, BLOCK, HIDDEN, LOGITS = 1e-4, 1e-5, 1e-5, 1e-4

-- Models with a mask of padding that have no form of any length, and what is refused.
local refused = {
  additive_padding = "scoring", bert_cross = "memory", bert_relative = "positions", decoder_padding70 = "memory",
  torch_seq_first = "layout",
}

local function sh(command) return helper.succeeds(command, folder) end

local function names_in(place)
  local list = {}
  for name in lfs.dir(place) do if name:sub(1, 1) ~= "." then list[#list + 1] = name end end
  table.sort(list)
  return list
end

-- Cases of tests/hf with a mask of padding that have no form of any length, and what is refused.
local GRID = "input: a grid of positions, which each sequence resizes: not supported with seq = any(N)"
local PAGE = "a memory: not supported with seq = any(N)"
local hf_refused = { siglip2_both = GRID, siglip2_labels = GRID, siglip2_vision_model = GRID, siglip2_wide = GRID,
  layoutlmv3_page = PAGE, layoutlmv3_page_deep = PAGE, layoutlmv3_page_question = PAGE,
  layoutlmv3_page_sequence = PAGE, layoutlmv3_page_token = PAGE }

-- Returns the names of a golden's arrays, from files that begin with `prefix`.
local function arrays(golden, prefix, but)
  local list = {}
  for _, file in ipairs(names_in(golden)) do
    local name = file:match("^" .. prefix .. "(.*)%.npy$")
    if name and not (but and name:find(but)) then list[#list + 1] = name end
  end
  return list
end

-- Runs a model on the sequences of a golden in a call without padding, in the reverse order and with the first once
-- more. golden: its folder, and prefixes of its arrays: { place, inputs, but, outputs }. Returns the data of each
-- sequence of each output by name, and the lengths.
local function run(command, golden, place, sequences, seq, taken)
  local order, list = {}, {}
  local given = files.read(("%s/%slengths.npy"):format(golden.place, golden.inputs))
  local lengths = given and unpadded.list(unpadded.read(("%s/%slengths.npy"):format(golden.place, golden.inputs)))
  if not lengths then
    lengths = {}
    for i = 1, sequences do lengths[i] = seq end
  end
  for i = 1, sequences do order[i] = sequences + 1 - i end
  order[#order + 1] = sequences
  local words = { command }
  local function input(name, array)
    files.write_all(folder .. "/" .. place, { { name = name .. ".npy", text = unpadded.text(array) } })
    words[#words + 1] = ("--input %s=%s/%s.npy"):format(name, place, name)
  end
  for _, name in ipairs(arrays(golden.place, golden.inputs, golden.but)) do
    local array = unpadded.read(("%s/%s%s.npy"):format(golden.place, golden.inputs, name))
    if name ~= "lengths" and taken(name) then
      local is_each = array.shape[1] == sequences and #array.shape == 1 -- a number of each sequence
      local has_rows = array.shape[1] == sequences and array.shape[2] == seq
      input(name, is_each and unpadded.picked(array, order) or has_rows and unpadded.joined(array, order, lengths)
        or array)
    end
  end
  for i, number in ipairs(order) do list[i] = lengths[number] end
  input("lengths", unpadded.integers(list))
  local outputs = arrays(golden.place, golden.outputs)
  assert.is_true(#outputs > 0)
  for _, name in ipairs(outputs) do words[#words + 1] = ("--output %s=%s/got_%s.npy"):format(name, place, name) end
  sh(table.concat(words, " "))
  local results = {}
  for _, name in ipairs(outputs) do
    local expected = unpadded.read(("%s/%s%s.npy"):format(golden.place, golden.outputs, name))
    local got = unpadded.read(("%s/%s/got_%s.npy"):format(folder, place, name))
    local has_rows = #got.shape > 0 and #got.shape == #expected.shape - 1
    local parts, by_number = unpadded.split(got, order, lengths, has_rows), {}
    for i, number in ipairs(order) do
      assert.is_true(by_number[number] == nil or by_number[number] == parts[i], name .. ": other bits a second time")
      by_number[number] = parts[i]
    end
    results[name] = { expected = expected, parts = by_number, has_rows = has_rows }
  end
  return results, lengths
end

-- Compares the results of a run with the golden.
local function compare(results, lengths, allowed_of)
  for name, result in pairs(results) do
    for number, part in ipairs(result.parts) do
      local want = unpadded.sequence(result.expected, number, result.has_rows and lengths[number] or nil)
      local apart, compared = unpadded.difference(want, part)
      assert.is_true(compared > 0, name)
      assert.is_true(apart <= allowed_of(name), ("%s, sequence %d: %g apart"):format(name, number, apart))
    end
  end
end

local function has_padding(description)
  local mask = description.mask
  if type(mask) ~= "table" then return mask == "padding" end
  for _, word in ipairs(mask) do if word == "padding" then return true end end
  return false
end

-- Returns the description of a case of tests/torch with sequences of any length, and the sizes that it had; or nil and
-- the first key that does not go with it, if it has a mask of padding.
local function of_torch(name)
  local path = ("%s/tests/torch/goldens/%s/description.lua"):format(root, name)
  local state = { file = path, overrides = {} }
  describe_pass.run(state)
  local d = state.description
  if type(d.seq) ~= "number" then return nil end
  local seq, batch = d.seq, d.batch or 1
  d.seq, d.batch = { any = math.max(seq, 2) }, nil
  local lines = helper.refusals(d)
  if #lines > 0 then return nil, has_padding(d) and lines[1]:match("^[%w_]+") end
  return { name = name, text = text.description(d), path = ("%s/%s.lua"):format(folder, name), seq = seq,
    batch = batch }
end

local torch, without = {}, {}
for _, name in ipairs(names_in(root .. "/tests/torch/goldens")) do
  local case, key = of_torch(name)
  if case then torch[#torch + 1] = case else without[name] = key or nil end
end

local function names_of(list)
  local names, by_name = {}, {}
  for i, case in ipairs(list) do names[i], by_name[case.name] = case.name, case end
  return names, by_name
end

local torch_names, torch_by_name = names_of(torch)

local hf = {}
for _, name in ipairs(names_in(root .. "/tests/hf/goldens")) do
  local place = ("%s/tests/hf/goldens/%s/"):format(root, name)
  local config = files.read(place .. "config.json") -- a GGUF file has none
  if config and files.read(place .. "in_lengths.npy") and not hf_refused[name] then hf[#hf + 1] = name end
end

local torch_sample = helper.sample(torch_names, 40, { bert_types = true, window_padding = true })
local hf_sample = helper.sample(hf, 50, { t5_relu = true, deberta_v2_long = true, wav2vec2_ctc = true, wavlm_ctc = true,
  mistral_window = true, gemma3_logits = true })

local function length_of(case)
  return tonumber(helper.read(("%s/tests/hf/goldens/%s/words.txt"):format(root, case)):match("seq=(%d+)"))
end

-- Returns what builds a case's program in a form, with more words in place of those of its sizes.
local function hf_program(case, form, more)
  local golden = ("%s/tests/hf/goldens/%s"):format(root, case)
  local words = { checkpoints.is_quantised(case) and "weights=none" or nil } -- transformers multiplies floats
  for word in helper.read(golden .. "/words.txt"):gmatch("%S+") do
    if not word:find("^seq=") and not word:find("^batch=") then words[#words + 1] = word end
  end
  return { name = form .. "_" .. case, path = golden, words = table.move(more, 1, #more, #words + 1, words) }
end

describe("a model of any length", function()
  setup(function()
    files.make_folder(folder)
    local list, programs = {}, {}
    for i, name in ipairs(torch_sample) do
      list[i] = torch_by_name[name]
      files.write_all(folder, { { name = name .. ".lua", text = list[i].text } })
    end
    built.build(folder, list)
    for _, case in ipairs(hf_sample) do
      local most = positions[case] or math.max(length_of(case), 15)
      programs[#programs + 1] = hf_program(case, "any", { ("seq=any(%d)"):format(most) })
      if case ~= FEW_POSITIONS then
        local size = ("seq=%d"):format(length_of(case))
        programs[#programs + 1] = hf_program(case, "fixed", { size, "batch=2", "kernels=c" })
      end
    end
    built.programs(folder, programs)
  end)

  it("is every model of tests/torch with a mask of padding, but for those that are refused", function()
    assert.same(refused, without)
    assert.is_true(#torch_names > 40, #torch_names)
  end)

  it("is every model of tests/hf with a mask of padding, but for those that are refused", function()
    for name, line in pairs(hf_refused) do
      local place = ("%s/tests/hf/goldens/%s"):format(root, name)
      local fault = helper.fault(pipeline.run, root, place, { "seq=any(15)" }, "validate")
      assert.is_truthy(fault.lines[1]:find(line, 1, true), fault.lines[1])
    end
  end)

  for _, name in ipairs(torch_sample) do
    it("computes what PyTorch does: " .. name, function()
      local case, place = torch_by_name[name], ("%s/tests/torch/goldens/%s"):format(root, name)
      local command = assert(built.command(folder, name))
      if files.read(place .. "/model.safetensors") then
        command = command .. " --weights " .. shell(place .. "/model.safetensors")
      end
      local golden = { place = place, inputs = "", but = "^expected_", outputs = "expected_" }
      local results, lengths = run(command, golden, name, case.batch, case.seq, function() return true end)
      local spec = pipeline.run(root, case.path, {}, "validate").spec
      local allowed = spec.layers == 1 and precision.is_plain(spec.precision) and BLOCK or STACK
      compare(results, lengths, function() return allowed end)
    end)
  end

  for _, case in ipairs(hf_sample) do
    it("computes what transformers do, with the bits of a model of one length: " .. case, function()
      local place = ("%s/tests/hf/goldens/%s"):format(root, case)
      local program = ("any_%s/%s"):format(case, case)
      assert.is_truthy(files.read(folder .. "/" .. program), files.read(("%s/any_%s.log"):format(folder, case)))
      local taken = sh(program .. " info")
      local golden = { place = place, inputs = "in_", outputs = "out_" }
      local results, lengths = run(("%s run --weights %s"):format(program, shell(place)), golden, "of_" .. case, 2,
        length_of(case), function(name) return taken:find(name, 1, true) ~= nil end)
      compare(results, lengths, function(name) return name:find("logits") and LOGITS or HIDDEN end)
      if case == FEW_POSITIONS then return end
      local fixed = ("fixed_%s/%s"):format(case, case)
      local words, known = { ("%s run --weights %s"):format(fixed, shell(place)) }, sh(fixed .. " info")
      for _, input in ipairs(arrays(place, "in_")) do
        if known:find(input, 1, true) then
          words[#words + 1] = ("--input %s=%s/in_%s.npy"):format(input, shell(place), input)
        end
      end
      for name in pairs(results) do words[#words + 1] = ("--output %s=of_%s/fixed_%s.npy"):format(name, case, name) end
      sh(table.concat(words, " "))
      for name, result in pairs(results) do
        local padded = unpadded.read(("%s/of_%s/fixed_%s.npy"):format(folder, case, name))
        for number, part in ipairs(result.parts) do
          local same = unpadded.sequence(padded, number, result.has_rows and lengths[number] or nil) == part
          assert.is_true(same, ("%s, sequence %d: other bits than with one length"):format(name, number))
        end
      end
    end)
  end
end)
