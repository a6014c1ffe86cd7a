-- features_spec: samples become the features that transformers makes of them, in models with convolutions over samples
-- and with log-mel filters, and Kaldi's filter banks (tests/hf/sounds.py); the entry that makes them is checked as any
-- other.
local helper = require("tests.spec.helper")
local files = require("common.files")
local version = require("common.version")

local root = helper.absolute_root()
local cases = dofile(root .. "/tests/cases.lua")
local goldens = root .. "/tests/hf/sounds/"
local shell = helper.shell

local MEL = [[
return { name = "%s", seq = any(400), d_model = %d, heads = 1, layers = 0, norm = "none", mask = "padding", %s }
]]
local WHISPER = [[sound = { rate = 16000, mels = 10, length = 400, hop = 160, centre = true, range = 8, mean = -4,
  std = 4, samples = 16000, rows = 100 }]]
local AST = [[sound = { rate = 16000, mels = 12, length = 400, hop = 160, fft = 512, window = "hann",
  preemphasis = 0.97, remove_mean = true, mel_scale = "kaldi", mel_norm = "none", low = 20, log = "natural",
  least = 2 ^ -23, mean = -4.2677393, std = 2 * 4.5689974, rows = 40 }]]
local KALDI = [[sound = { rate = 16000, mels = 12, length = 400, hop = 160, fft = 512, window = "hamming",
  scale = 32768, preemphasis = 0.97, remove_mean = true, mel_scale = "kaldi", mel_norm = "none", low = 20,
  log = "natural", least = 2 ^ -23, subtract_mean = true }]]

local GROUPED = [[
sound = { rate = 16000, convolutions = { { width = 12, kernel = 70, stride = 9, bias = true, norm = "group", groups = 3,
  activation = "tanh", activation_first = true }, { width = 10, kernel = 3, stride = 2 } } }]]

-- Each is a folder, or a description, that is built.
local models = {
  { name = "group", width = 12, logits = 9 },
  { name = "pairs", width = 12, logits = 9, is_checked = true },
  { name = "layer", width = 12, logits = 10, word = "adapter=fra" }, -- the language of an adapter
  { name = "grouped", width = 10, text = MEL:format("grouped", 10, GROUPED), weights = true },
  { name = "whisper", width = 10, text = MEL:format("whisper", 10, WHISPER) },
  { name = "ast", width = 12, text = MEL:format("ast", 12, AST), is_checked = true },
  { name = "kaldi", width = 12, text = MEL:format("kaldi", 12, KALDI) },
}

-- Numbers of rows of a call: 32 of a sound of any length, and of 57 known ones 29.
local CHUNKS = { { "any", "any(60)" }, { "known", "57" } }

-- Strides of the last convolution. The one before it is made in pairs, which begin at even rows in calls of any number
-- of rows if it is even.
local STRIDES = { 2, 3 }

local folder

local function library_of(name) return ("lib%s.so.%d"):format(name, version.abi) end

local function runs(command)
  local code, errors, output = helper.script(("cd %s && { %s; }"):format(shell(folder), command), folder)
  assert.equal(0, code, command .. "\n" .. errors .. output)
  return output
end

setup(function()
  folder = helper.folder()
  local list = {}
  for _, model in ipairs(models) do
    local path = goldens .. model.name
    if model.text then
      path = ("%s/%s.lua"):format(folder, model.name)
      helper.write(path, model.text)
    end
    list[#list + 1] = { name = model.name, path = path, words = { "--only=" .. library_of(model.name), model.word } }
    if model.is_checked then
      -- The greatest length of a folder would take ten times as long, for the same calls.
      list[#list + 1] = { name = model.name .. "_program", path = path, is_checked = true,
        words = { "seq=any(40)", "threads=2" } }
    end
  end
  for _, stride in ipairs(STRIDES) do
    for _, chunk in ipairs(CHUNKS) do
      local name = chunk[1] .. stride
      list[#list + 1] = { name = name, path = goldens .. "pairs", words = { "--only=" .. library_of(name),
        "name=" .. name, "seq=" .. chunk[2], "sound.convolutions.3.stride=" .. stride } }
    end
  end
  list[#list + 1] = { name = "padded", path = goldens .. "group",
    words = { "--only=" .. library_of("padded"), "name=padded", "sound.samples=400", "sound.normalise=false" } }
  cases.programs(folder, list)
end)

teardown(helper.clean)

describe("features", function()
  for _, model in ipairs(models) do
    local name = model.name
    it("of " .. name .. " equal the golden's", function()
      runs(("gcc -std=c99 -Wall -Wextra -Wpedantic -Werror -I%s -DMODEL=%s -DHEADER='\"%s.h\"' -DWIDTH=%d -DLOGITS=%d "
        .. "%s/tests/c/host_features.c -o host_%s %s/%s -lm -Wl,-rpath,%s/%s"):format(name, name, name, model.width,
        model.logits or 0, shell(root), name, name, library_of(name), shell(folder), name))
      runs(("./host_%s '%s' %s%s.cases"):format(name, (model.logits or model.weights) and goldens .. name
        .. "/model.safetensors" or "", shell(goldens), name))
    end)

    if model.is_checked then
      it("of " .. name .. " agree with the reference, operation by operation", function()
        for _, options in ipairs { "", " --nan" } do
          local said = runs(("%s_program/%s check%s"):format(name, name, options))
          assert.equal(2, select(2, said:gsub("%d+ passed, 0 failed\n", "")), said)
          assert.truthy(options ~= "" or said:find("output features, end to end", 1, true), said)
        end
        assert.truthy(runs(("%s_program/%s bench -r 1"):format(name, name)):find("forward (", 1, true))
      end)
    end
  end

  it("of a sound that is filled up equal the features of the same sound with zeros after it", function()
    helper.write(folder .. "/padded.c", [[
#include "padded.h"
#include <math.h>
#include <string.h>
int main(int count, char **words) {
  static float samples[400], rows[2][4000];
  char message[400];
  padded_model *model;
  padded_ctx *ctx;
  if (count < 2 || padded_open(words[1], &model, message, sizeof message) || padded_create(model, &ctx)) return 1;
  for (int i = 1; i <= 400; i += 11) {
    const int64_t n = padded_feature_rows(400);
    samples[i - 1] = (float)sin(i * i);
    for (int k = 0; k < 2; k++)
      if (padded_features(ctx, samples, k ? 400 : i, rows[k], n)) return 2;
    if (memcmp(rows[0], rows[1], sizeof rows[0])) return 3;
  }
  return 0;
}
]])
    runs(("gcc -std=c99 -Wall -Wextra -Werror padded.c -Ipadded padded/%s -lm -Wl,-rpath,padded -o use_padded && "
      .. "./use_padded %sgroup/model.safetensors"):format(library_of("padded"), shell(goldens)))
  end)

  for _, stride in ipairs(STRIDES) do
    it("have the same bits in calls of 32 rows and of 29, before a stride of " .. stride, function()
      helper.write(folder .. "/chunks.c", ([[
#include "any%d.h"
#include "known%d.h"
#include <math.h>
#include <string.h>
static float samples[4000], rows[2][57 * 12];
#define MAKE(name, to)                                                                    \
  name##_model *name;                                                                     \
  name##_ctx *name##_of;                                                                  \
  if (name##_open(words[1], &name, message, sizeof message)) return 1;                    \
  if (name##_create(name, &name##_of)) return 1;                                          \
  if (name##_feature_rows(count) != 57 || name##_features(name##_of, samples, count, to, 57)) return 2;
int main(int words_count, char **words) {
  if (words_count < 2) return 4;
  char message[400] = "";
  const int count = ((56 * %d + 2) * 2 + 2) * 5 + 10;
  for (int i = 0; i < count; i++) samples[i] = (float)sin(i * i);
  MAKE(any%d, rows[0])
  MAKE(known%d, rows[1])
  return memcmp(rows[0], rows[1], sizeof rows[0]) ? 3 : 0;
}
]]):gsub("%%d", stride))
      runs(("gcc -std=c99 -Wall -Wextra -Werror chunks.c -Iany%d -Iknown%d any%d/%s known%d/%s -lm "
        .. "-Wl,-rpath,any%d:known%d -o chunks && ./chunks %spairs/model.safetensors"):format(stride, stride, stride,
        library_of("any" .. stride), stride, library_of("known" .. stride), stride, stride, shell(goldens)))
    end)
  end

  it("are no part of a model without sound", function()
    local header = files.read(folder .. "/whisper/whisper.h")
    assert.truthy(header:find("int64_t whisper_feature_rows(int64_t samples);", 1, true))
    helper.write(folder .. "/none.lua", MEL:format("none", 10, ""))
    local emitted = runs(("lua5.4 %s/gen/attn2c gen none.lua -o none && cat none/*.h none/*.c"):format(shell(root)))
    assert.falsy(emitted:find("feature_rows", 1, true))
  end)
end)
