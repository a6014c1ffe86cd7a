-- sound_spec.lua: sounds into programs. The models have no weights: the scores of their tokens are the energies of
-- their bands, so that tones spell a text. How texts, labels and embeddings come, what is refused, and that other
-- models have no trace of it.
local helper = require("tests.spec.helper")
local files = require("common.files")
local version = require("common.version")

local root = helper.absolute_root()
local folder = root .. "/out/spec/sound"
local shell = helper.shell

local RATE, LIBRARY = 8000, ("libtones.so.%d"):format(version.abi)

-- The middles of the model's bands, in hertz; "-" is silence.
local tones = { a = 521, b = 781, [" "] = 1044, c = 1365, d = 1786, e = 2336, f = 3056 }

local function sh(command) return helper.succeeds(command, folder) end

local function fails(command)
  local code, said = helper.run(command, folder)
  return code, said
end

-- Returns the samples of a text, from -1 to 1: of each letter 0.2 seconds, of "-" 1 second of silence.
local function sung(text, rate)
  local samples, at = {}, 0
  for letter in text:gmatch(".") do
    local tone = tones[letter]
    for _ = 1, (tone and 0.2 or 1) * rate do
      samples[#samples + 1] = tone and 0.5 * math.sin(2 * math.pi * tone * at / rate) or 0
      at = at + 1
    end
  end
  return samples
end

local function raw(samples, channels)
  local parts = {}
  for i, sample in ipairs(samples) do
    parts[i] = string.pack("<i2", math.floor(32767 * sample)):rep(channels or 1)
  end
  return table.concat(parts)
end

-- Returns a WAV file of 16 bits. said: the bytes of samples that it says it has.
local function wav(data, rate, channels, said)
  channels = channels or 1
  local format = string.pack("<I2I2I4I4I2I2", 1, channels, rate, (rate * channels * 2) & 0xffffffff, channels * 2, 16)
  return "RIFF" .. string.pack("<I4", 36 + #data) .. "WAVEfmt " .. string.pack("<I4", #format) .. format .. "data"
    .. string.pack("<I4", said or #data) .. data
end

local base = [[
return {
  name = "%s", seq = any(1000), d_model = 8, heads = 1, layers = 0, norm = "none", final_norm = false, mask = "padding",
  sound = { rate = 8000, mels = 8, length = 400, hop = 160, least = 1e-6 }, inputs = { hidden = "mels" }, %s
}
]]

describe("a sound", function()
  setup(function()
    os.execute("rm -rf " .. shell(folder))
    files.make_folder(folder)
    local list = {}
    for name, more in pairs {
      tones = 'labels = { "-", "a", "b", " ", "c", "d", "e", "f" }, ctc = { blank = 0 }',
      labels = 'labels = { "-", "a", "b", " ", "c", "d", "e", "f" }, output = { pool "mean" }',
      embedding = "output = { pool \"mean\", normalise() }",
      plain = 'labels = { "-", "a", "b", " ", "c", "d", "e", "f" }, ctc = { blank = 0 }',
    } do
      local text = base:format(name, more)
      if name == "plain" then text = text:gsub("sound = {[^}]*},", "") end
      helper.write(("%s/%s.lua"):format(folder, name), text)
      list[#list + 1] = { name = name, path = ("%s/%s.lua"):format(folder, name) }
    end
    sh("mkdir from && cp -r " .. shell(root .. "/tests/hf/goldens/ast_model") .. " from/ast")
    helper.write(folder .. "/from/ast/preprocessor_config.json", '{"num_mel_bins":11,"max_length":18}')
    list[#list + 1] = { name = "ast", path = folder .. "/from/ast" }
    list[#list + 1] = { name = "module", path = folder .. "/tones.lua", words = { "--only=" .. LIBRARY } }
    dofile(root .. "/tests/cases.lua").programs(folder, list)
    local short, long = sung("ab cab", RATE), sung("-ab-cd -", RATE)
    helper.write(folder .. "/short.wav", wav(raw(short), RATE))
    helper.write(folder .. "/long.wav", wav(raw(long), RATE))
    helper.write(folder .. "/stereo.wav", wav(raw(sung("ab cab", 44100), 2), 44100, 2))
    helper.write(folder .. "/long.raw", raw(long))
  end)

  it("becomes a text", function()
    local run = "tones/tones run --audio "
    assert.equal("ab cab\n", sh(run .. "short.wav"))
    assert.equal("ab cab\n", sh(run .. "stereo.wav"))
    assert.equal("abcd\n", sh("tones/tones run --audio - <long.raw"))
    sh("mkdir -p both && cp short.wav both/2.WAV && cp long.wav both/1.wav && echo text >both/notes.txt")
    assert.equal("both/1.wav\tabcd\nboth/2.WAV\tab cab\n", sh(run .. "both"))
    assert.equal("short.wav\tab cab\nstandard input\tabcd\n", sh(run .. "short.wav --audio - <long.raw"))
    sh(run .. "short.wav --format npy >answer.npy && " .. run .. "short.wav --output hidden=output.npy")
    assert.equal(helper.read(folder .. "/answer.npy"), helper.read(folder .. "/output.npy"))
  end)

  it("becomes features and a text in Python", function()
    helper.write(folder .. "/tones.txt", table.concat(sung("ab cab", RATE), " "))
    helper.write(folder .. "/sounds.py", [[
import sys
import numpy as np
sys.path.insert(0, "module")
import tones
samples = np.loadtxt("tones.txt")
with tones.Model() as model:
    features = model.features(samples)
    scores = model.forward(mels=[features])["hidden"]
    words = [word["word"] for word in model.words_of(scores)]
    print(tones.RATE, features.dtype, features.shape[1], model.text_of(scores), words)
    print(repr(model.text_of(scores[:0])), model.features(samples[:400]).shape)
    for function, given in ((model.features, samples[:399]), (model.features, [1, 2]), (model.features, samples[None]),
                            (model.text_of, scores[:, 1:]), (model.text_of, scores.astype(int))):
        try:
            function(given)
        except ValueError as fault:
            print(fault)
]])
    assert.equal("8000 float32 8 ab cab ['ab', 'cab']\n'' (1, 8)\n"
      .. "samples: has 399, too few for a row of features\n"
      .. "samples: is int64 [2], but floats [samples] are expected\n"
      .. "samples: is float64 [1, 9600], but floats [samples] are expected\n"
      .. "logits: is float32 [58, 7], but floats [rows, 8] are expected\n"
      .. "logits: is int64 [58, 8], but floats [rows, 8] are expected\n",
      sh("ln -sf " .. LIBRARY .. " module/libtones.so && /usr/bin/python3 sounds.py"))
    sh("mypy --strict --cache-dir " .. shell(helper.mypy_cache) .. " module/tones.py >/dev/null")
  end)

  it("becomes a text with times", function()
    local run = "tones/tones run --audio "
    local list = {}
    for first, last, word in sh(run .. "short.wav --words"):gmatch("([%d.]+)\t([%d.]+)\t(%w+)\n") do
      list[#list + 1] = { tonumber(first), tonumber(last), word }
    end
    assert.equal(2, #list)
    for i, expected in ipairs { { 0, 0.38, "ab" }, { 0.58, 1.2, "cab" } } do
      for k = 1, 2 do assert.is_true(math.abs(expected[k] - list[i][k]) <= 0.06, expected[3] .. list[i][k]) end
      assert.equal(expected[3], list[i][3])
    end
    assert.matches("^1\n00:00:00,%d%d%d %-%-> 00:00:01,%d%d%d\nab cab\n$", sh(run .. "short.wav --format srt"))
    assert.matches("^WEBVTT\n\n00:00:00%.%d%d%d %-%-> 00:00:00%.%d%d%d\nab\n\n00:00:00%.%d+ %-%-> [%d:.]+\ncab\n$",
      sh(run .. "short.wav --format vtt --words"))
    assert.matches('^{"audio":"short.wav","text":"ab cab","begin":0%.0,"end":1%.2,"words":%[{"word":"ab",%S+\n$',
      sh(run .. "short.wav --format jsonl --words"))
  end)

  it("loses its silence, and times still count from the beginning of the file", function()
    local run = "tones/tones run --vad --audio "
    assert.equal("ab\ncd\n", sh(run .. "long.wav"))
    assert.equal("ab\ncd\n", sh(run .. "- <long.raw"))
    local words = sh(run .. "long.wav --words")
    local first, second = words:match("^([%d.]+)\t[%d.]+\tab\n([%d.]+)\t[%d.]+\tcd\n$")
    assert.is_true(math.abs(first - 1) < 0.06 and math.abs(second - 2.4) < 0.06, words)
    -- A file is read twice, and no more of it is kept than a call takes.
    helper.write(folder .. "/late.wav", wav(("\0\0"):rep(20 * 60 * 16000) .. raw(sung("ab", 16000)), 16000))
    assert.equal("1199.97\t1200.37\tab\n", sh("ulimit -v 65536 && " .. run .. "late.wav --words"))
    -- A live sound is answered before it ends.
    sh("(cat long.raw; sleep 5; echo end >ended) | " .. run .. "- | (read line; test ! -e ended && echo $line >first)")
    assert.equal("ab\n", helper.read(folder .. "/first"))
  end)

  it("that is longer than a call is cut where it is quiet", function()
    helper.write(folder .. "/hour.raw", raw(sung(("ab cd-"):rep(24), RATE)))
    local said = sh("tones/tones run --audio - <hour.raw")
    assert.equal(("abcd"):rep(24), (said:gsub("%s", "")))
    local _, lines = said:gsub("\n", "")
    assert.equal(3, lines)
    -- A file of cues has one beginning, also if nothing is said first, or at all.
    helper.write(folder .. "/late.raw", ("\0\0"):rep(30 * RATE) .. raw(sung("ab", RATE)))
    assert.matches("^WEBVTT\n\n00:00:[23]%S+ %-%-> %S+\nab\n$", sh("tones/tones run --audio - --format vtt <late.raw"))
    assert.equal("WEBVTT\n", sh("tones/tones run --audio - --format vtt --vad <late.raw | head -n 1"))
    sh("head -c 400000 late.raw >never.raw")
    assert.equal("WEBVTT\n", sh("tones/tones run --audio - --format vtt --vad <never.raw"))
  end)

  it("becomes labels and embeddings", function()
    assert.matches("^[abc ]\t0%.%d+\t[abc ]\t0%.%d+\n$", sh("labels/labels run --audio short.wav --top 2"))
    assert.matches('^{"audio":"short.wav","label":"[abc ]","score":0%.%d+}\n$',
      sh("labels/labels run --audio short.wav --format jsonl"))
    local run = "embedding/embedding run --audio short.wav --audio stereo.wav "
    assert.matches("^ 1%.0000\t 1%.0000\n 1%.0000\t 1%.0000\n$", sh(run .. "--similar"))
    sh(run .. "--format npy >two.npy")
    assert.matches("^short.wav\t1\t1%.0000\nstereo.wav\t2\t1%.0000\n$", sh(run .. "--against two.npy --top 1"))
    local code, said = fails(run .. "--against two.npy --output embedding=two.npy")
    assert.same({ 2, "this file is read, or would be next time\n" }, { code, said:match("=two%.npy: (.*)$") })
    -- All speech of a sound is one input.
    assert.matches("^[^\n]+\n$", sh("embedding/embedding run --vad --audio long.wav"))
  end)

  it("is filled up or cut for a model of spectrograms", function()
    local run = "ast/ast run --weights from/ast --output pooler_output=%s.npy "
    for _, rate in ipairs { 5000, RATE, 16000 } do
      helper.write(folder .. "/one.wav", wav(raw(sung("ab", RATE)), rate))
      sh(run:format("heard") .. "--output input_values=rows.npy --audio one.wav")
      sh(run:format("read") .. "--input input_values=rows.npy")
      assert.equal(helper.read(folder .. "/read.npy"), helper.read(folder .. "/heard.npy"))
    end
    helper.write(folder .. "/one.wav", wav(raw(sung("a", RATE)):sub(1, 500), 16000))
    local code, said = fails("ast/ast run --weights from/ast --audio one.wav")
    assert.same({ 3, "ast: one.wav: 0.0156 seconds are too short: the model takes 0.0250 and more\n" }, { code, said })
  end)

  it("that is wrong is refused in one line", function()
    local one = raw(sung("a", RATE))
    for name, text in pairs { empty = wav("", RATE), cut = wav(one, RATE):sub(1, 2000),
      head = wav(one, RATE):sub(1, 30), zero = wav(one, 0), fast = wav(one, 1000000000),
      tiny = wav(one:sub(1, 20), RATE), nothing = "", text = "hello\n",
      wide = wav(("\1\0"):rep(5000), RATE, 500), streamed = wav(one, RATE, 1, 0xffffffff),
      quiet = wav(("\0\0"):rep(8000), RATE) } do
      helper.write(("%s/%s.wav"):format(folder, name), text)
    end
    for name, value in pairs { nan = 0 / 0, loud = 3e38 } do
      local data = string.pack("<f", 0.5):rep(500) .. string.pack("<f", value):rep(500)
      data = wav(data, RATE):gsub("\1\0\1\0", "\3\0\1\0", 1):gsub("\2\0\16\0", "\4\0\32\0", 1)
      helper.write(("%s/%s.wav"):format(folder, name), data)
    end
    sh("mkdir -p none two && cp short.wav two/1.wav && cp short.wav two/2.wav && head -c 801 long.raw >odd.raw")
    assert.equal("a\n", sh("tones/tones run --audio streamed.wav"))
    assert.equal("", sh("tones/tones run --vad --audio quiet.wav"))
    for _, each in ipairs {
      { "empty.wav", 3, "empty.wav: has no samples" },
      { "cut.wav", 3, "cut.wav: was cut: 1956 bytes of its 3200 bytes of samples are there" },
      { "head.wav", 3, "head.wav: is no sound: Error in WAV file. No 'data' chunk marker." },
      { "zero.wav", 3 }, { "nothing.wav", 3 },
      { "fast.wav", 3, "fast.wav: 1000000000 samples a second, but 1000 to 1000000 are allowed" },
      { "tiny.wav", 3, "tiny.wav: 0.0013 seconds are too short: the model takes 0.0500 and more" },
      { "wide.wav", 3, "wide.wav: 0.0013 seconds are too short: the model takes 0.0500 and more" },
      { "text.wav", 3, "text.wav: is no sound: WAV, FLAC, Ogg and MP3 files are supported" },
      { "nan.wav", 3, "nan.wav: sample 500 is not a finite number" },
      { "loud.wav", 3, "loud.wav: sample 500 is 3e+38, but samples are from -1 to 1; up to 1e+09 is allowed" },
      { "none", 3, "--audio none: no file of this folder ends in .wav, .flac, .ogg, .oga, .opus or .mp3" },
      { "missing.wav", 4, "--audio missing.wav: No such file or directory" },
      { "- <short.wav", 3, "standard input: begins with RIFF: a file is given by its name; - takes raw samples: 16 "
        .. "bits, little-endian, one channel, 8000 a second" },
      { "- <odd.raw", 3, "standard input: ends within a sample of 16 bits" },
      { "- </dev/null", 3, "standard input: has no samples" },
      { "- --audio -", 2, "--audio -: given twice, but the standard input has one sound" },
      { "short.wav --audio long.wav --format srt", 2, "--format srt and vtt: one sound is allowed, but 2 are given" },
      { "two --format vtt", 2, "--format srt and vtt: one sound is allowed, but 2 are given" },
      { "short.wav --top 2", 2, "--top: goes with models that give labels, or with --against" },
      { "short.wav --input mels=x.npy", 2, "--input: does not go with --audio, which fills the input" },
      { "short.wav --output hidden=short.wav", 2,
        "--output hidden=short.wav: this file is read, or would be next time" },
      { "two --output hidden=two/new.wav", 2,
        "--output hidden=two/new.wav: this file is read, or would be next time" },
      { "short.wav --text a", 2, "--text: this program has no model of texts beside the one of sounds" },
    } do
      local code, said = fails("tones/tones run --audio " .. each[1])
      assert.equal(each[2], code, each[1] .. ": " .. said)
      assert.matches("^tones: [^\n]+\n$", said)
      if each[3] then assert.equal(("tones: %s\n"):format(each[3]), said) end
    end
    for _, each in ipairs {
      { "labels/labels run --audio tiny.wav", "labels: tiny.wav: 0.0013 seconds are too short", 3 },
      { "labels/labels run --audio - <hour.raw", "labels: standard input: ", 3 },
      { "labels/labels run --audio short.wav --words", "--words: goes with models that give the text of sounds" },
      { "labels/labels run --audio short.wav --format vtt",
        "--format srt and vtt: go with models that give the text of sounds" },
      { "plain/plain run --audio short.wav", "run: this model takes no sound: its description has no key `sound`" },
    } do
      local code, said = fails(each[1])
      assert.equal(each[3] or 2, code, said)
      assert.matches(each[2], said, 1, true)
    end
    local code, said = fails("embedding/embedding run --vad --audio quiet.wav")
    assert.equal(3, code)
    assert.equal("embedding: quiet.wav: --vad finds no speech\n", said)
    -- The sounds before a wrong one are answered.
    code, said = fails("tones/tones run --audio short.wav --audio cut.wav")
    assert.equal(3, code)
    assert.matches("^short.wav\tab cab\ntones: cut.wav: was cut", said)
  end)

  it("links its libraries into the program only, and has no static program", function()
    sh(("lua5.4 %s build tones.lua -o whole 2>&1"):format(shell(root .. "/gen/attn2c")))
    local text = helper.read(folder .. "/whole/tones.spdx.json")
    for _, name in ipairs { "libsndfile", "libsoxr" } do assert.matches(name, text, 1, true) end
    assert.is_nil(sh("ldd whole/libtones.so"):find("sndfile", 1, true))
    assert.is_nil(sh("ldd plain/plain"):find("sndfile", 1, true))
    assert.is_nil(sh("nm plain/plain"):find("attn2c_media", 1, true))
    local code, why = fails(("lua5.4 %s build tones.lua --static -o static 2>&1"):format(shell(root .. "/gen/attn2c")))
    assert.equal(2, code)
    assert.matches("^attn2c: %-%-static: a program that takes sound needs libsndfile and libsoxr[^\n]+\n$", why)
  end)

  it("has its rows of scores decoded by the library, which allocates nothing", function()
    helper.write(folder .. "/use.c", [[
#include "tones.h"
#include <string.h>
int main(void) {
  float rows[6][8] = {{0}};
  char text[6 * TONES_CTC_BYTES + 1];
  tones_word words[6];
  int64_t length, count;
  rows[0][1] = rows[1][1] = rows[2][0] = rows[3][1] = rows[4][3] = rows[5][4] = 1;
  if (tones_ctc_text(rows[0], 6, text, &length, words, &count) || strcmp(text, "aa c") || length != 4) return 1;
  if (count != 2 || words[0].first != 0 || words[0].last != 4 || words[1].begin != 3 || words[1].last != 6) return 2;
  if (tones_ctc_text(rows[0], 6, text, &length, words, 0) != 2) return 3;
  if (tones_ctc_text(rows[0], -1, text, 0, 0, 0) != 2) return 4;
  return tones_ctc_text(rows[0], 0, text, 0, 0, 0) || *text;
}
]])
    sh("gcc -std=c99 -Wall -Wextra -Werror use.c -Iwhole whole/libtones.a -lpthread -lm -o use && ./use")
  end)
end)
