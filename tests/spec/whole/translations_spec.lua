-- translations_spec.lua: texts that encoders with decoders write, from their folders as they are, against transformers'
-- generate (tests/hf/translations.py): greedy and by beams, with languages and prefixes, several sources side by side.
local helper = require("tests.spec.helper")
local dkjson = require("dkjson")
local files = require("common.files")
local lfs = require("lfs")
local gguf_t5 = require("tests.spec.gguf_t5")

local root = helper.absolute_root()
local folder = root .. "/out/spec/translations"
local goldens = root .. "/tests/hf/translations"
local shell = helper.shell
local say = require("tests.say").of(folder)
local output_of, lines_of = say.output_of, say.lines_of

-- For `make test-long`: their languages, positions and stacks are like those of nllb, mbart_50, and t5 or umt5.
local is_long = require("common.words").set { "m2m_100", "mbart", "mt5" }

local names = {}
for name in lfs.dir(goldens) do
  if name:sub(1, 1) ~= "." and (helper.is_long or not is_long[name]) then names[#names + 1] = name end
end
table.sort(names)

-- Folders of T5's kinds that are also written as GGUF files, with the names of gaps of their tokenizers. A file of mt5
-- differs from one of umt5 in that one table of positions stands for all layers, as in t5.
local as_gguf = { t5 = 100, mt5 = helper.is_long and 3 or nil, umt5 = 3 }

-- Folders whose Python modules are asked, too. The others differ in what only the C code of texts sees.
local has_module = { mbart_50 = true, marian = true, t5 = true }
for _, name in ipairs(helper.is_long and { "m2m_100", "nllb", "mbart" } or {}) do has_module[name] = true end

-- Returns the words that keep a folder's adapters next to its weights.
local function adapters(name)
  local place, list = ("%s/%s/adapters"):format(goldens, name), {}
  if not lfs.attributes(place) then return list end
  for each in lfs.dir(place) do
    if each:sub(1, 1) ~= "." then list[#list + 1] = ("adapters.%s=%s/%s"):format(each, place, each) end
  end
  table.sort(list)
  return list
end

setup(function()
  local list = {}
  for i, name in ipairs(names) do
    list[i] = { name = name, path = goldens .. "/" .. name,
      words = { has_module[name] and "--library" or "--text", "--text", "kernels=c", table.unpack(adapters(name)) } }
  end
  files.make_folder(folder)
  for name, gaps in pairs(as_gguf) do
    local path = ("%s/%s_file.gguf"):format(folder, name)
    helper.write(path, gguf_t5.bytes(goldens .. "/" .. name, gaps))
    list[#list + 1] = { name = name .. "_file", path = path, words = { "--text", "kernels=c",
      table.unpack(adapters(name)) } }
  end
  dofile(root .. "/tests/cases.lua").programs(folder, list)
end)

local options = { num_beams = "beams", length_penalty = "length-penalty", no_repeat_ngram_size = "no-repeat-ngram",
  num_return_sequences = "n-best" }

local function words_of(call, more)
  local words = { more and more.words }
  local given = require("common.words").merged(more and { num_beams = more.beams }, call.options)
  for key, value in pairs(given) do words[#words + 1] = ("--%s %s"):format(assert(options[key], key), value) end
  if call.options.num_beams == 1 then words[#words + 1] = "--greedy" end
  for _, key in ipairs { "source", "target" } do
    if call[key] then words[#words + 1] = ("--%s-language %s"):format(key, shell(call[key])) end
  end
  if call.adapter then words[#words + 1] = "--adapter " .. call.adapter end
  if call.prefix then words[#words + 1] = "--prefix " .. shell(call.prefix) end
  table.sort(words)
  return table.concat(words, " ")
end

-- The largest difference of a score that float's errors explain, as in beams_spec.lua.
local function allowed(penalty, count) return 4e-5 * count / count ^ penalty end

-- Compares what a program answers with a folder's goldens. more: { words: options that the program needs for them,
-- beams }, or nil.
local function compare(name, place, weights, stated, more)
  local line = ("%s/%s generate --weights %s --format jsonl --prompt-file sources "):format(name, name, shell(weights))
  local lines = lines_of(helper.read(place .. "/answers.jsonl"))
  if lfs.attributes(place .. "/adapters.jsonl") then
    for _, text in ipairs(lines_of(helper.read(place .. "/adapters.jsonl"))) do lines[#lines + 1] = text end
  end
  for _, text in ipairs(lines) do
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

local function stated_of(place) return (assert(dkjson.decode(helper.read(place .. "/generation_config.json")))) end

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
      local more = { words = ("--tokens %d"):format(stated.max_length - 1), beams = stated.num_beams }
      if stated.no_repeat_ngram_size then
        more.words = more.words .. " --no-repeat-ngram " .. stated.no_repeat_ngram_size
      end
      compare(name .. "_file", place, folder .. "/" .. name .. "_file.gguf", stated, more)
    end)
  end
end)

it("texts from the functions of Python modules are transformers', too", function()
  assert.equal("", helper.asks_tasks("translations", folder, goldens))
end)

-- Runs the program of mbart_50 or another folder. Returns the exit code, and what it says on both outputs.
local function generate(words, name)
  name = name or "mbart_50"
  return say.run(("%s/%s generate --weights %s %s"):format(name, name, shell(goldens .. "/" .. name), words))
end

-- Prints the milliseconds from the start of a process to its first output: the least of up to 200 processes, which end
-- with the first that takes less than a limit, as other work may disturb each.
local FIRST = [[
import os, subprocess, sys, time
limit, least = float(sys.argv[1]), 1e9
for _ in range(200):
    start = time.perf_counter()
    process = subprocess.Popen(sys.argv[2:], stdout=subprocess.PIPE, bufsize=0)
    first = process.stdout.read(1)
    least = min(least, 1e3 * (time.perf_counter() - start))
    process.stdout.read()
    assert process.wait() == 0 and first
    if least < limit: break
print(least)
]]

describe("generate", function()
  setup(function() helper.write(folder .. "/first.py", FIRST) end)

  it("writes the first word within 10 ms of its start, where the encoder takes no time", function()
    local least = tonumber(output_of(("/usr/bin/python3 first.py 10 marian/marian generate --weights %s --greedy "
      .. "--prompt 'the station'"):format(shell(goldens .. "/marian"))))
    assert.is_true(least < 10, ("%f ms"):format(least))
  end)
end)

describe("generate --split sentences", function()
  -- A text, and its sentences.
  local text = [[Dr. A. Smith sat on the mat.  "a cat, e.g. a dog!" (Twice.) Where is it?! it is here... ]]
    .. "東京の駅。どこ？ naïve Zoé, où est la gare.\nlast"
  local sentences = { "Dr. A. Smith sat on the mat.", '"a cat, e.g. a dog!"', "(Twice.)",
    "Where is it?! it is here...", "東京の駅。", "どこ？", "naïve Zoé, où est la gare.", "last" }

  local function texts_of(words)
    local list = {}
    for _, line in ipairs(lines_of(select(2, generate(words .. " --format jsonl")))) do
      list[#list + 1] = assert(dkjson.decode(line))
    end
    return list
  end

  it("answers each sentence as by itself, in order, and writes one answer for a text", function()
    local words, ids, expected, tokens = {}, {}, "", 0
    for i, sentence in ipairs(sentences) do words[i] = "--prompt " .. shell(sentence) end
    local alone = texts_of(table.concat(words, " "))
    assert.equal(#sentences, #alone)
    for i, each in ipairs(alone) do
      table.move(each.ids, 1, #each.ids, #ids + 1, ids)
      expected = expected .. each.text .. (i == #alone and "" or i == #alone - 1 and "\n" or " ")
      tokens = tokens + each.prompt_tokens
    end
    local whole = texts_of("--split sentences --prompt 'the cat' --prompt " .. shell(text) .. " --prompt x")
    assert.equal(3, #whole)
    assert.equal(table.concat(sentences, " "):gsub(" last$", "\nlast"), whole[2].prompt)
    assert.equal(expected, whole[2].text)
    assert.same(ids, whole[2].ids)
    assert.equal(tokens, whole[2].prompt_tokens)
    assert.equal(texts_of("--prompt x")[1].text, whole[3].text)
    local _, said = generate("--split sentences --prompt " .. shell(text))
    assert.equal(expected .. "\n", said)
    _, said = generate("--split sentences --prompt 'the cat' --prompt " .. shell(text))
    assert.equal(expected:gsub("\n", "\\n"), lines_of(said)[2])
  end)

  it("reads a text that is longer than the model's source, which is refused otherwise", function()
    local long = ("The cat sat on the mat. "):rep(30)
    local code, said = generate("--prompt 'a cat' --prompt " .. shell(long))
    assert.equal(3, code)
    assert.matches("\nmbart_50: %-%-prompt: text 2: the source has %d+ tokens, but at most 64 are allowed; %-%-split "
      .. "sentences reads it in parts\n$", said)
    assert.equal(0, (generate("--split sentences --prompt " .. shell(long))))
    code, said = generate("--split sentences --prompt " .. shell(long:gsub("%.", "")))
    assert.equal(3, code)
    assert.matches("^mbart_50: %-%-prompt: text 1, sentence 1: the source has %d+ tokens, but at most 64 are "
      .. "allowed\n$", said)
  end)
end)

describe("a source or option that a model cannot use is refused in a line:", function()
  setup(function()
    local write_ids = require("tests.spec.generating").new("translations", {}).write_ids
    write_ids("ids.npy", "3,", { 5, 6, 2 })
    write_ids("empty.npy", "0,", {})
    write_ids("other.npy", "2,", { 5, 9999 })
  end)

  local function refused(words, expected, name, status)
    it(words .. (name and " of " .. name or ""), function()
      local code, said = generate(words, name)
      assert.equal(status or 2, code, said)
      assert.equal(("%s: %s\n"):format(name or "mbart_50", expected), said)
    end)
  end
  refused("--prompt ''", "--prompt: text 1: the source is empty, but at least one token is needed")
  refused("--prompt ' ' --prefix x", "--prompt: text 1: the source is empty, but at least one token is needed")
  refused("--input ids=empty.npy", "empty.npy: prompt 1: the source has 0 tokens, but 1 to 64 are allowed")
  refused("--input ids=other.npy", "other.npy: prompt 1: an id is not in the vocabulary", nil, 3)
  refused("--input ids=ids.npy --source-language de_DE",
    "--source-language: goes with --prompt, in a model that was built with a tokenizer")
  refused("--input ids=ids.npy --prefix x", "--prefix: goes with --prompt, in a model that was built with a tokenizer")
  refused("--input ids=ids.npy --split sentences",
    "--split: goes with --prompt, in a model that was built with a tokenizer")
  for _, words in ipairs { "--vad", "--words", "--format vtt", "--carry-initial-prompt", "--logprob-threshold -1" } do
    refused("--prompt x " .. words, "--audio, --vad, --words, --features, --language, --task, --timestamps, "
      .. "--condition-on-previous-text, --carry-initial-prompt, the thresholds of answers, --format srt and vtt: go "
      .. "with models that write down speech")
  end
  refused("--input ids=ids.npy --target-language fra",
    "--target-language: goes with --prompt, as its token is in front of the source", "marian")
  refused("--prompt x --source-language fra",
    "--source-language: this model finds it by itself; --target-language chooses the other", "marian")
  refused("--prompt x --target-language de", "--target-language: no language is called de; languages: fra, deu",
    "marian")
  refused("--prompt x --target-language de",
    "--target-language: no language is called de: the tokenizer has no languages", "t5")
  refused("--prompt x --split sentences --n-best 2 --beams 2",
    "--split: does not go with --n-best, as a text has one answer to each sentence")
  refused("--prompt x --split sentences --output generated=x.npy",
    "--split: does not go with --output and --format npy; --format jsonl gives tokens")
  refused("--prompt x --split words", "--split: 'words', but sentences is allowed")
  refused("--prompt x --beams 0", "--beams: '0', but 1 to 128 is allowed")
  refused("--prompt x --beams 9",
    "--beams: 9, but 1 to 8 is allowed: the model keeps 8 sequences (sequences=N of build)")
end)

describe("quality of a model with an encoder", function()
  local function quality(words)
    local line = "ATTN2C_CFLAGS='-O0 -Werror' %s quality %s precision=int8 kernels=c --untimed --json --weights %s %s"
    local place = shell(goldens .. "/marian")
    return say.run(line:format(shell(root .. "/gen/attn2c"), place, place, words))
  end

  it("compares answers to sources, and needs some", function()
    helper.write(folder .. "/sources", "the cat sat\na dog\nwhere is it?\n")
    local code, said = quality("--text-file sources")
    assert.equal(0, code, said)
    local made = assert(dkjson.decode(said:match("{.*}")))
    local of = made.sources
    assert.equal(3, of.sources)
    assert.is_true(of.same >= 0 and of.same <= 1 and of.equal > 0 and of.equal <= 1, said)
    assert.is_true(of.log_probability_f32 < 0 and of.log_probability < 0 and of.difference > 0, said)
    assert.matches("% of the tokens of answers are the same", made.verdict)
    code, said = quality("")
    assert.equal(2, code)
    assert.matches("quality: %-%-text%-file F or %-%-input ids=X%.npy is needed: sources, one a line\n$", said)
  end)
end)
