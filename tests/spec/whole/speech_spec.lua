-- speech_spec.lua: models that write down speech: each folder of tests/hf/speech is built, given features, and compared
-- with what transformers' `generate` writes down; then how answers come, and what is refused.
local helper = require("tests.spec.helper")
local dkjson = require("dkjson")
local files = require("common.files")

local shell = helper.shell
local root = helper.absolute_root()
local folder, goldens = root .. "/out/spec/speech", root .. "/tests/hf/speech"
local cases = { "english", "multilingual" }

local function sh(command) return helper.succeeds(command, folder) end

-- Returns the line that writes down a file of a case. more: further options.
local function line(case, file, more)
  local of = shell(goldens .. "/" .. case)
  return ("%s/%s generate --weights %s --features %s/%s.npy --tokens 16 %s"):format(case, case, of, of, file,
    more or "")
end

-- Returns the JSON objects of the lines of a text.
local function objects(text)
  local list = {}
  for each in text:gmatch("[^\n]+") do list[#list + 1] = assert(dkjson.decode(each)) end
  return list
end

-- Returns the options of a line of speech.jsonl, as words. Without beams they are greedy.
local function options_of(golden)
  local list = { "--temperature 0 --format jsonl" }
  for _, name in ipairs { "beams", "language", "task" } do
    if golden.options[name] then list[#list + 1] = ("--%s %s"):format(name, golden.options[name]) end
  end
  if golden.options.timestamps then list[#list + 1] = "--timestamps" end
  if golden.prompt and golden.prompt ~= dkjson.null then list[#list + 1] = "--prompt " .. shell(golden.prompt) end
  return table.concat(list, " ")
end

-- Returns ids, times and text-likeness of segments, as one text that shows what differs. The last timestamp of a window
-- with pairs is a part of transformers' last segment.
local function shown(list)
  local lines = {}
  for i, each in ipairs(list) do
    local ids = each.ids
    lines[i] = ("%.2f %.2f %s"):format(each.begin, each["end"], table.concat(ids, " "))
  end
  return table.concat(lines, "\n")
end

-- Takes the second of two equal timestamps at the end of a segment away, which transformers leaves there.
local function without_pairs(list, first)
  for _, each in ipairs(list) do
    local ids = each.ids
    if #ids > 2 and ids[#ids] >= first and ids[#ids - 1] >= first then ids[#ids] = nil end
  end
  return list
end

describe("a model that writes down speech", function()
  setup(function()
    files.make_folder(folder)
    for _, case in ipairs(cases) do
      sh(("%s/gen/attn2c build %s kernels=c name=%s -o %s >%s.log 2>&1 || { cat %s.log; exit 1; }"):format(shell(root),
        shell(goldens .. "/" .. case), case, case, case, case))
    end
  end)

  for _, case in ipairs(cases) do
    local config = dkjson.decode(helper.read(("%s/%s/generation_config.json"):format(goldens, case)))
    for number, golden in ipairs(objects(helper.read(("%s/%s/speech.jsonl"):format(goldens, case)))) do
      it(("writes what transformers does: %s %d, %s"):format(case, number, options_of(golden)), function()
        local said = objects(sh(line(case, golden.file, options_of(golden))))
        assert.equal(shown(without_pairs(golden.segments, config.no_timestamps_token_id + 1)), shown(said))
        assert.equal(golden.options.language or case == "english" and nil or said[1].language, said[1].language)
      end)
    end
  end
end)
