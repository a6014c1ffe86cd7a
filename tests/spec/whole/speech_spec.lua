-- speech_spec.lua: models that write down speech: each folder of tests/hf/speech is built, given features, and compared
-- with what transformers' `generate` writes down; then how answers come, and what is refused.
local helper = require("tests.spec.helper")
local dkjson = require("dkjson")
local sorted_keys = require("common.words").sorted_keys
local files = require("common.files")

local shell = helper.shell
local root = helper.absolute_root()
local folder, goldens = root .. "/out/spec/speech", root .. "/tests/hf/speech"
local cases = { "english", "multilingual" }

local function sh(command) return helper.succeeds(command, folder) end

-- Returns the line that writes down a file of a case. more: further options; tokens: the most of a window.
local function line(case, file, more, tokens)
  local of = shell(goldens .. "/" .. case)
  local sound = file:find("%.wav$") and "--audio %s/%s" or "--features %s/%s.npy"
  return ("%s/%s generate --weights %s --tokens %d %s %s"):format(case, case, of, tokens or 16, sound:format(of, file),
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
  for _, name in ipairs(sorted_keys(golden.options)) do
    local value = golden.options[name]
    list[#list + 1] = value == true and "--" .. name or ("--%s %s"):format(name, value)
  end
  if golden.prompt and golden.prompt ~= dkjson.null then list[#list + 1] = "--prompt " .. shell(golden.prompt) end
  return table.concat(list, " ")
end

-- Returns ids and times of segments, as one text that shows what differs.
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

-- Builds only the program of a folder, which neither checks nor times itself.
local function build_program(path, name, words)
  sh(("rm -rf %s; lua5.4 %s %s %s --text --answers %s"):format(name, shell(root .. "/tests/program.lua"), shell(path),
    name, words))
end

describe("a model that writes down speech", function()
  setup(function()
    files.make_folder(folder)
    for _, case in ipairs(cases) do
      if case == "english" then -- of which the library is used, too
        sh(("%s/gen/attn2c build %s kernels=c speech.words=true name=%s -o %s >%s.log 2>&1 || { cat %s.log; exit 1; }")
          :format(shell(root), shell(goldens .. "/" .. case), case, case, case, case))
      else
        build_program(goldens .. "/" .. case, case, "kernels=c speech.words=true name=" .. case)
      end
    end
  end)

  for _, case in ipairs(cases) do
    local config = dkjson.decode(helper.read(("%s/%s/generation_config.json"):format(goldens, case)))
    for number, golden in ipairs(objects(helper.read(("%s/%s/speech.jsonl"):format(goldens, case)))) do
      it(("writes what transformers does: %s %d, %s"):format(case, number, options_of(golden)), function()
        local said = objects(sh(line(case, golden.file, options_of(golden))))
        local expected = without_pairs(golden.segments, config.no_timestamps_token_id + 1)
        if golden.file == "short.wav" then expected[1]["end"] = said[1]["end"] end -- of a window there, of a sound here
        assert.equal(shown(expected), shown(said))
        if golden.options.language then assert.equal(golden.options.language, said[1].language) end
        assert.equal(case == "english", said[1].language == nil)
      end)
    end
  end

  for _, case in ipairs(cases) do
    for number, golden in ipairs(objects(helper.read(("%s/%s/openai.jsonl"):format(goldens, case)))) do
      it(("writes what OpenAI's package does: %s %d, %s"):format(case, number, options_of(golden)), function()
        local said = objects(sh(line(case, golden.file, options_of(golden), golden.tokens)))
        assert.equal(shown(golden.segments), shown(said))
        for i, each in ipairs(golden.segments) do
          for _, key in ipairs { "score", "compression", "silence" } do
            assert.is_true(math.abs(each[key] - said[i][key]) < 1e-4, ("%s %d: %s"):format(key, i, said[i][key]))
          end
        end
      end)
    end
  end

  for _, case in ipairs(cases) do
    local config = dkjson.decode(helper.read(("%s/%s/generation_config.json"):format(goldens, case)))
    for number, golden in ipairs(objects(helper.read(("%s/%s/words.jsonl"):format(goldens, case)))) do
      it(("finds the times of tokens and words as transformers does: %s %d"):format(case, number), function()
        if case == "multilingual" then golden.options.language = golden.options.language or "de" end
        local said = objects(sh(line(case, golden.file, options_of(golden) .. " --words")))
        local expected = without_pairs(golden.segments, config.no_timestamps_token_id + 1)
        assert.equal(shown(expected), shown(said))
        for i, each in ipairs(expected) do
          local times, words = {}, {}
          for k = 1, #each.ids do times[k] = each.times[k] end
          assert.same(times, said[i].times)
          for k, word in ipairs(each.words) do
            words[k] = { word = word.word:gsub("^ +", ""), begin = word.begin, ["end"] = word["end"] }
          end
          assert.same(words, said[i].words)
        end
      end)
    end
  end

  it("writes a line or a cue for each word", function()
    local said = objects(sh(line("english", "long", "--greedy --words --format jsonl")))
    local lines, cues = {}, {}
    for _, each in ipairs(said) do
      for _, word in ipairs(each.words) do
        lines[#lines + 1] = ("%.2f\t%.2f\t%s\n"):format(word.begin, word["end"], word.word)
        local function time(seconds) return (("00:00:%06.3f"):format(seconds):gsub("%.", ",")) end
        cues[#cues + 1] = ("%d\n%s --> %s\n%s\n"):format(#lines, time(word.begin), time(word["end"]), word.word)
      end
    end
    assert.is_true(#lines > 10)
    assert.equal(table.concat(lines), sh(line("english", "long", "--greedy --words")))
    assert.equal(table.concat(cues, "\n"), sh(line("english", "long", "--greedy --words --format srt")))
  end)

  it("writes down several sounds side by side, each as by itself", function()
    local both, each = {}, {}
    for _, file in ipairs { "long.wav", "short.wav", "long.wav" } do
      local path = ("%s/multilingual/%s"):format(goldens, file)
      both[#both + 1] = "--audio " .. shell(path)
      each[#each + 1] = sh(line("multilingual", file, "--format jsonl"))
    end
    local command = ("multilingual/multilingual generate --weights %s --tokens 16 --format jsonl "):format(
      shell(goldens .. "/multilingual"))
    assert.equal(table.concat(each), sh(command .. table.concat(both, " ")))
    -- A fault ends the run after the answers before it.
    helper.write(folder .. "/cut.wav", helper.read(goldens .. "/english/long.wav"):sub(1, 9000))
    local code, said = helper.run(command .. both[1] .. " --audio cut.wav " .. both[2] .. " 2>&1", folder)
    assert.equal(3, code)
    assert.equal(each[1] .. "multilingual: cut.wav: was cut: 8956 bytes of its 105600 bytes of samples are there\n",
      said)
  end)

  it("writes down samples in C and in Python as the program does", function()
    sh(("ln -sf $(ls english/libenglish.so.*) english/libspeech.so && sed 's/speech/english/g; s/SPEECH/ENGLISH/g' "
      .. "%s/models/examples/speech.c >example.c && cc -std=c11 -Wall -Wextra -Werror -D_GNU_SOURCE -iquote english "
      .. "-I english -o example example.c english/libenglish.a -lutf8proc -lpcre2-8 -lz -lpthread -lm"):format(
      shell(root)))
    sh("tail -c +45 " .. shell(goldens .. "/english/long.wav") .. " >long.raw")
    local lines = {}
    for _, each in ipairs(objects(sh(line("english", "long.wav", "--words --tokens 24 --format jsonl")))) do
      lines[#lines + 1] = ("%.2f\t%.2f\t%s"):format(each.begin, each["end"], each.text)
      for _, word in ipairs(each.words) do
        lines[#lines + 1] = ("%.2f\t%.2f\t%s"):format(word.begin, word["end"], word.word)
      end
    end
    local said = sh(("./example %s/english/model.safetensors long.raw"):format(shell(goldens)))
    assert.equal(table.concat(lines, "\n") .. "\n", (said:gsub("\t +", "\t"):gsub("\n  ", "\n")))
    local function ids_of(more) -- as Python shows lists of integers
      local lists = {}
      for i, each in ipairs(objects(sh(line("english", "long.wav", "--temperature 0 --format jsonl " .. more)))) do
        lists[i] = "[" .. table.concat(each.ids, ", ") .. "]"
      end
      return "[" .. table.concat(lists, ", ") .. "]"
    end
    helper.write(folder .. "/say.py", ([=[
import sys
sys.path.insert(0, "english")
import english, wave, numpy
path = %q
with english.Model(path + "/model.safetensors") as model:
    for s in model.transcribe(path + "/long.wav", words=True, timestamps=True):
        print("%%.2f\t%%.2f\t%%s" %% (s.begin, s.end, s.text))
        for word in s.words: print("%%.2f\t%%.2f\t%%s" %% (word.begin, word.end, word.text))
    for sound in [], [0.5, float("nan")], [[0.5]], ["a"]:
        try: list(model.transcribe(numpy.array(sound)))
        except ValueError as fault: print(str(fault).replace(path, ""))
    fresh = list(model.transcribe(path + "/long.wav", temperature=0, tokens=16, condition_on_previous_text=False,
                                  carry_initial_prompt=True, prompt=" in the in", no_speech_threshold=numpy.inf))
    print([[int(i) for i in s.ids] for s in fresh])
    for more in {"no_speech_threshold": 2}, {"logprob_threshold": 1}, {"carry_initial_prompt": True}:
        try: list(model.transcribe(path + "/long.wav", **more))
        except ValueError as fault: print(fault)
]=]):format(goldens .. "/english"))
    assert.equal(table.concat(lines, "\n") .. [[

sound: is float64 [0], but floats [samples] are expected
sample 1 is nan, but samples are from -1 to 1
sound: is float64 [1, 1], but floats [samples] are expected
sound: is <U1 [1], but floats [samples] are expected
]] .. ids_of("--prompt ' in the in' --carry-initial-prompt --condition-on-previous-text no "
      .. "--no-speech-threshold none") .. [[

no_speech_threshold: 2, but 0 to 1 or none is allowed
logprob_threshold: 1, but -1000 to 0 or none is allowed
carry_initial_prompt: goes with prompt, which each window then goes on from
]], sh("/usr/bin/python3 say.py"))
  end)

  it("writes down what the functions of its Python module do", function()
    assert.equal("", helper.asks_tasks("speech", folder, goldens, root .. "/models/digits"))
  end)

  it("writes text, lines with times, and cues", function()
    local said = objects(sh(line("english", "long", "--greedy --format jsonl")))
    local text, cues, words = {}, { "WEBVTT" }, sh(line("english", "long", "--greedy"))
    for i, each in ipairs(said) do
      local function time(seconds) return ("00:00:%06.3f"):format(seconds) end
      text[i] = ("%.2f\t%.2f\t%s"):format(each.begin, each["end"], each.text)
      cues[#cues + 1] = ("\n%s --> %s\n%s"):format(time(each.begin), time(each["end"]), each.text)
    end
    assert.equal(table.concat(text, "\n") .. "\n", sh(line("english", "long", "--greedy --timestamps")))
    assert.equal(table.concat(cues, "\n") .. "\n", sh(line("english", "long", "--greedy --format vtt")))
    assert.equal(said[1].text, words:sub(1, #said[1].text))
    local both = sh(line("english", "short.wav", "--greedy --features " .. shell(goldens .. "/english/short.npy")))
    assert.truthy(both:find("^%S+short%.npy\t[^\n]+\n%S+short%.wav\t[^\n]+\n$"), both)
  end)

  it("listens to a stream, window by window, before it ends", function()
    local raw = helper.read(goldens .. "/english/long.wav"):sub(45)
    helper.write(folder .. "/long.raw", raw)
    local live = ("english/english generate --weights %s --tokens 16 --greedy --audio - "):format(
      shell(goldens .. "/english"))
    local said = objects(sh(line("english", "long.wav", "--greedy --format jsonl")))
    assert.equal(shown(said), shown(objects(sh(live .. "--format jsonl <long.raw"))))
    local text = sh(line("english", "long.wav", "--greedy"))
    local lines = sh("rm -f ended; (cat long.raw; sleep 5; echo end >ended) | " .. live
      .. "| (read first; test ! -e ended && echo $first; cat)")
    assert.equal((text:gsub("%s", "")), (lines:gsub("%s", "")))
    assert.is_true(select(2, lines:gsub("\n", "")) > 2, lines)
  end)

  it("leaves out silence, and times still count from the beginning of the file", function()
    local function quiet(seconds) return ("\0"):rep(math.floor(32000 * seconds)) end
    local loud = helper.read(goldens .. "/english/short.wav"):sub(45, 44 + 2 * 9600)
    helper.write(folder .. "/piece.raw", quiet(0.15) .. loud .. quiet(0.15))
    helper.write(folder .. "/pieces.raw", quiet(0.96) .. loud .. quiet(0.96) .. loud .. quiet(3))
    helper.write(folder .. "/quiet.raw", quiet(1))
    local function listen(file, more)
      return sh(("english/english generate --weights %s --tokens 16 --greedy --audio - %s <%s.raw"):format(
        shell(goldens .. "/english"), more, file))
    end
    -- The first piece is as by itself; the second goes on from its text.
    local one, said = objects(listen("piece", "--format jsonl --timestamps")), {}
    local both = objects(listen("pieces", "--vad --format jsonl --timestamps"))
    for i, each in ipairs(one) do
      each.begin, each["end"], said[i] = 0.81 + each.begin, 0.81 + each["end"], both[i]
    end
    assert.equal(shown(one), shown(said))
    assert.equal(2.37, both[#one + 1].begin)
    local last = one[#one]["end"] + 2.37 - 0.81
    assert.is_true(math.abs(both[#both]["end"] - last) < 0.001)
    local first = listen("piece", "")
    assert.equal(first, listen("pieces", "--vad"):sub(1, #first))
    assert.matches("^[^\n]+\n[^\n]+\n$", listen("pieces", "--vad"))
    assert.equal("", listen("quiet", "--vad"))
    -- A file, which is read twice, and samples in memory: what is loud goes by the loudest frame of all.
    local samples = helper.read(folder .. "/pieces.raw")
    local header = helper.read(goldens .. "/english/short.wav"):sub(9, 40)
    helper.write(folder .. "/pieces.wav", "RIFF" .. ("<I4"):pack(36 + #samples) .. header .. ("<I4"):pack(#samples)
      .. samples)
    helper.write(folder .. "/pieces.py", ([=[
import sys
sys.path.insert(0, "english")
import english
with english.Model(%q) as model:
    for vad in True, False:
        for s in model.transcribe("pieces.wav", vad=vad, tokens=16, temperature=0, timestamps=True):
            print("%%.2f\t%%.2f\t%%s" %% (s.begin, s.end, s.text))
]=]):format(goldens .. "/english/model.safetensors"))
    local lines = {}
    for _, vad in ipairs { " --vad", "" } do
      lines[#lines + 1] = sh(("english/english generate --weights %s --audio pieces.wav --tokens 16 --greedy "
        .. "--timestamps%s"):format(shell(goldens .. "/english"), vad))
    end
    assert.truthy(#lines[1] > 0 and lines[1] ~= lines[2], lines[1])
    assert.equal(table.concat(lines), sh("/usr/bin/python3 pieces.py"))
  end)

  it("draws again what repeats itself or is improbable, the same from run to run", function()
    local said, temperatures = sh(line("multilingual", "long", "--format jsonl")), {}
    for _, each in ipairs(objects(said)) do temperatures[each.temperature > 0] = true end
    assert.is_true(temperatures[true])
    assert.equal(said, sh(line("multilingual", "long", "--format jsonl")))
    assert.is_true(said ~= sh(line("multilingual", "long", "--format jsonl --seed 5")))
  end)

  it("has the limits of answers, the language and the task that its folder states", function()
    local golden = dkjson.decode(helper.read(goldens .. "/multilingual/limits.json"))
    sh(("rm -rf old && cp -r %s old"):format(shell(goldens .. "/multilingual")))
    local config = dkjson.decode(helper.read(folder .. "/old/generation_config.json"))
    for key, value in pairs(golden.keys) do config[key] = value end
    helper.write(folder .. "/old/generation_config.json", dkjson.encode(config))
    build_program("old", "bounded", "kernels=c name=bounded")
    local said = objects(sh("bounded/bounded generate --weights old --tokens 16 --greedy --format jsonl "
      .. "--features old/long.npy"))
    assert.equal(shown(without_pairs(golden.segments, config.no_timestamps_token_id + 1)), shown(said))
    assert.equal("de", said[1].language)
    local code, why = helper.run("bounded/bounded generate --weights old --features old/long.npy --words", folder)
    assert.same({ 2, "bounded: --words: this model was built without the times of words; build it with "
      .. "speech.words=true\n" }, { code, why })
  end)

  it("writes all that it draws as one segment without timestamps", function()
    for seed = 2, 7 do
      local said = objects(sh(line("english", "short", ("--temperature 1 --format jsonl --seed %d"):format(seed))))
      assert.same({ 1, 0.0 }, { #said, said[1].begin })
    end
  end)

  it("is checked against the reference", function()
    sh("english/english check --weights " .. shell(goldens .. "/english"))
    assert.truthy(sh("english/english bench -r 1"):find("first token", 1, true))
  end)

  local refused = {
    { "multilingual", "--language xx", 2, "--language: 'xx', but auto or a language of the model is allowed: de en haw "
      .. "yue" },
    { "english", "--language en", 2, "--language: this model knows one language, which has no token" },
    { "english", "--task translate", 2, "--task: this model only transcribes: it has no token of another task" },
    { "english", "--logprob-threshold x", 2, "--logprob-threshold: 'x', but a number or none is allowed" },
    { "english", "--no-speech-threshold 2", 2, "--no-speech-threshold: 2, but 0 to 1 or none is allowed" },
    { "english", "--carry-initial-prompt", 2, "--carry-initial-prompt: goes with --prompt, which each "
      .. "window then goes on from" },
    { "english", "--top-k 3", 2, "--top-k: does not go with a model that writes down speech" },
    { "english", "--vad", 2, "--vad: goes with --audio, from which it leaves out silence" },
    { "english", "--temperature -1", 2, "--temperature: -1, but 0 or 0.001 to 1000 is allowed" },
    { "english", "--format srt --audio " .. shell(goldens .. "/english/long.wav"), 2,
      "--format srt and vtt: one sound is allowed, but 2 are given" },
    { "english", "--beams 9", 2, "--beams: 9, but 1 to 8 is allowed: the model keeps 8 sequences (sequences=N of "
      .. "build)" },
  }
  for _, each in ipairs(refused) do
    it("refuses in one line: " .. each[2], function()
      local code, said = helper.run(line(each[1], "short", each[2]), folder)
      assert.same({ each[3], ("%s: %s\n"):format(each[1], each[4]) }, { code, said })
    end)
  end

  it("refuses features of another model, and no sound", function()
    local path = root .. "/tests/hf/goldens/whisper_writes/in_input_features.npy"
    local code, said = helper.run(("english/english generate --weights %s --features %s"):format(
      shell(goldens .. "/english"), shell(path)), folder)
    assert.same({ 3, ("english: %s: features of this model are [rows][8], 40 rows for a window; the array is for "
      .. "another one\n"):format(path) }, { code, said })
    code, said = helper.run("english/english generate --weights " .. shell(goldens .. "/english"), folder)
    assert.same({ 2, "english: generate: --audio FILE or --features X.npy is needed: this model writes down speech\n" },
      { code, said })
  end)
end)
