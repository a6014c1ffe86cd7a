-- translations_spec.lua: texts that encoders with decoders write, from their folders as they are, against transformers'
-- generate (tests/hf/translations.py): greedy and by beams, with languages and prefixes, several sources side by side.
local helper = require("tests.spec.helper")
local dkjson = require("dkjson")
local files = require("common.files")
local gguf_t5 = require("tests.spec.gguf_t5")

local root = helper.absolute_root()
local folder = root .. "/out/spec/translations"
local goldens = root .. "/tests/hf/translations"
local shell = helper.shell
local say = require("tests.say").of(folder)
local output_of, lines_of = say.output_of, say.lines_of

local names = {}
for name in require("lfs").dir(goldens) do if name:sub(1, 1) ~= "." then names[#names + 1] = name end end
table.sort(names)

-- Folders of T5's kinds that are also written as GGUF files, with the names of gaps of their tokenizers.
local as_gguf = { t5 = 100, mt5 = 3, umt5 = 3 }

setup(function()
  local list = {}
  for i, name in ipairs(names) do
    list[i] = { name = name, path = goldens .. "/" .. name, words = { "--text", "kernels=c" } }
  end
  files.make_folder(folder)
  for name, gaps in pairs(as_gguf) do
    local path = ("%s/%s_file.gguf"):format(folder, name)
    helper.write(path, gguf_t5.bytes(goldens .. "/" .. name, gaps))
    list[#list + 1] = { name = name .. "_file", path = path, words = { "--text", "kernels=c" } }
  end
  dofile(root .. "/tests/cases.lua").programs(folder, list)
end)

local options = { num_beams = "beams", length_penalty = "length-penalty", no_repeat_ngram_size = "no-repeat-ngram",
  num_return_sequences = "n-best" }

local function words_of(call, more)
  local words = { more }
  for key, value in pairs(call.options) do words[#words + 1] = ("--%s %s"):format(assert(options[key], key), value) end
  if call.options.num_beams == 1 then words[#words + 1] = "--greedy" end
  for _, key in ipairs { "source", "target" } do
    if call[key] then words[#words + 1] = ("--%s-language %s"):format(key, shell(call[key])) end
  end
  if call.prefix then words[#words + 1] = "--prefix " .. shell(call.prefix) end
  table.sort(words)
  return table.concat(words, " ")
end

-- The largest difference of a score that float's errors explain, as in beams_spec.lua.
local function allowed(penalty, count) return 4e-5 * count / count ^ penalty end

-- Compares what a program answers with a folder's goldens. more: options that the program needs for them.
local function compare(name, place, weights, stated, more)
  local line = ("%s/%s generate --weights %s --format jsonl --prompt-file sources "):format(name, name, shell(weights))
  for _, text in ipairs(lines_of(helper.read(place .. "/answers.jsonl"))) do
    local call = assert(dkjson.decode(text))
    helper.write(folder .. "/sources", table.concat(call.sources, "\n") .. "\n")
    local got, at = lines_of(output_of(line .. words_of(call, more))), 0
    for i, row in ipairs(call.answers) do
      for rank, want in ipairs(row) do
        at = at + 1
        local made, where = assert(dkjson.decode(got[at])), ("%s: %s, source %d, answer %d"):format(name,
          words_of(call, more), i, rank)
        assert.same(want.ids, made.ids, where)
        assert.equal(want.text, made.text, where)
        assert.equal(call.sources[i], made.prompt, where)
        assert.equal(want.score == nil, made.score == nil, where)
        local penalty = call.options.length_penalty or stated.length_penalty or 1
        assert.is_true(not want.score or math.abs(want.score - made.score) <= allowed(penalty, #want.ids), where)
      end
    end
    assert.equal(at, #got)
  end
end

local function stated_of(place) return assert(dkjson.decode(helper.read(place .. "/generation_config.json"))) end

describe("texts that encoders with decoders write are transformers':", function()
  for _, name in ipairs(names) do
    it(name, function()
      local place = goldens .. "/" .. name
      compare(name, place, place, stated_of(place))
    end)
  end
  for name in pairs(as_gguf) do
    it(name .. " as a GGUF file", function()
      local place = goldens .. "/" .. name
      local stated = stated_of(place)
      -- A file has no defaults of generating.
      local more = ("--tokens %d"):format(stated.max_length - 1)
      if stated.no_repeat_ngram_size then more = more .. " --no-repeat-ngram " .. stated.no_repeat_ngram_size end
      compare(name .. "_file", place, folder .. "/" .. name .. "_file.gguf", stated, more)
    end)
  end
end)
