-- spans_spec: folders of GLiNER find spans of labels that come with texts. Each folder of tests/hf/spans is built and
-- compared with what the library `gliner` finds: by the program, by the server, and from Python.
local helper = require("tests.spec.helper")
local dkjson = require("dkjson")
local files = require("common.files")
local libuv = require("common.libuv")
local serving = require("tests.spec.serving")
local version = require("common.version")
local words = require("common.words")

local root = helper.absolute_root()
local folder = root .. "/out/spec/spans"
local goldens = root .. "/tests/hf/spans"
local shell = helper.shell
local NEAR = 2e-5 -- of scores, which are sigmoids of sums of about ten

local say = require("tests.say").of(folder)
local run, output_of, lines_of = say.run, say.output_of, say.lines_of

local LIBRARY = "bert" -- which Python opens; the others are programs

local function weights_of(name) return shell(goldens .. "/" .. name) end

local function line(name, more) return ("%s/%s run --weights %s %s"):format(name, name, weights_of(name), more) end

local function texts_of(name) return lines_of(helper.read(goldens .. "/" .. name .. "/texts.txt")) end

local function calls_of(name)
  return words.map(lines_of(helper.read(goldens .. "/" .. name .. "/spans.jsonl")), function(text)
    return dkjson.decode(text)
  end)
end

-- Returns the options of a call of gliner.
local function options(call)
  return ("--labels %s --threshold %g%s%s"):format(shell(table.concat(call.labels, ", ")), call.threshold,
    call.nested and " --nested" or "", call.multi_label and " --multi-label" or "")
end

-- Returns the byte after `count` characters of a text, from 0.
local function byte_of(text, count) return utf8.offset(text, count + 1) - 1 end

-- Compares the spans of a text. got: objects with label and score. place: returns the begin and end of an object in
-- the unit of golden characters, as `of` makes them.
local function compare(want, got, place, of)
  assert.equal(#want, #got, dkjson.encode(got))
  for i, each in ipairs(want) do
    local first, last = place(got[i])
    assert.same({ of(each[1]), of(each[2]), each[3] }, { first, last, got[i].label })
    assert.is_true(math.abs(each[4] - got[i].score) <= NEAR, ("%g, not %g"):format(got[i].score, each[4]))
  end
end

local function in_bytes(each) return each.begin, each["end"] end
local function in_characters(each) return each.start, each["end"] end

setup(function()
  local list = {}
  files.make_folder(folder)
  for name, more in pairs { deberta = { "--text", "--serve" }, modernbert = { "--text" },
    published = { "--text" }, words = { "--text" },
    [LIBRARY] = { "--text", "kernels=c", ("--only=lib%s.so.%d"):format(LIBRARY, version.abi) } } do
    list[#list + 1] = { name = name, path = goldens .. "/" .. name, words = more }
  end
  dofile(root .. "/tests/cases.lua").programs(folder, list)
  libuv.fs_symlink(("lib%s.so.%d"):format(LIBRARY, version.abi), ("%s/%s/lib%s.so"):format(folder, LIBRARY, LIBRARY))
end)

teardown(function() files.remove_folder(folder) end)

describe("a model that finds spans of labels", function()
  for _, name in ipairs { "deberta", "modernbert", "published", "words" } do
    it("finds the spans of gliner: " .. name, function()
      local texts, found = texts_of(name), 0
      for _, call in ipairs(calls_of(name)) do
        local got = lines_of(output_of(line(name, ("--text %s --format jsonl %s"):format(
          shell(goldens .. "/" .. name .. "/texts.txt"), options(call)))))
        for i, want in ipairs(call.spans) do
          local spans = dkjson.decode(got[i]).spans
          compare(want, spans, in_bytes, function(count) return byte_of(texts[i], count) end)
          found = found + #spans
        end
      end
      assert.is_true(found > 20)
    end)
  end

  it("finds them from Python, also where a text has more words than the model reads", function()
    local name, texts = LIBRARY, texts_of(LIBRARY)
    local calls = calls_of(name)
    helper.write(folder .. "/try.py", ([[
import json, sys
sys.path.append("%s")
import bert
for line in open(sys.argv[1]):
    call = json.loads(line)
    options = {key: call[key] for key in ("threshold", "nested", "multi_label") if key in call}
    with bert.Pipeline(sys.argv[2]) as made:
        print(json.dumps(made.tag(open(sys.argv[3]).read().split("\n")[:-1], labels=call["labels"], **options)))
with bert.Model(sys.argv[2]) as model:
    for labels in [], ["a", " "], 5, ["a"] * 70, ["x y " * 200]:
        try:
            print(model.spans(["a"], labels))
        except (TypeError, ValueError) as fault:
            print(str(fault))
    model.spans(["a"], ["a", "a", "b"])
    print({span.label for span in model.spans(["a"], ["a", "b"], 0, multi_label=True)[0]})
]]):format(name))
    local golden = goldens .. "/" .. name
    local got = lines_of(output_of(("PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -W error try.py %s %s %s"):format(
      shell(golden .. "/spans.jsonl"), shell(golden), shell(golden .. "/texts.txt"))))
    for i, call in ipairs(calls) do
      for k, spans in ipairs(dkjson.decode(got[i])) do
        compare(call.spans[k], spans, in_characters, function(count) return count end)
        for _, each in ipairs(spans) do
          local first, last = byte_of(texts[k], each.start), byte_of(texts[k], each["end"])
          assert.equal(texts[k]:sub(first + 1, last), each.text)
        end
      end
    end
    for i, want in ipairs { "no label; at least one is needed", "label 2 of 2 is empty", "labels",
      "[[", "1 of 1 labels take", "{0, 1}" } do
      assert.is_truthy(got[#calls + i]:find(want, 1, true), got[#calls + i])
    end
  end)

  it("prints spans as taggers do", function()
    local call = calls_of("deberta")[2]
    local got = lines_of(output_of(line("deberta", ("--text-string %s %s"):format(shell(texts_of("deberta")[1]),
      options(call)))))
    assert.equal(#call.spans[1] + 1, #got)
    assert.equal("", got[#got])
    local first = call.spans[1][1]
    assert.equal(("%d\t%d\t%s\t%s\t%.4f"):format(first[1], first[2],
      texts_of("deberta")[1]:sub(first[1] + 1, first[2]), first[3], first[4]), got[1])
    assert.equal("\n", output_of(line("deberta", "--text-string '' --labels a --threshold 0")))
  end)

  it("serves them", function()
    local server = serving.start(folder, ("deberta/deberta serve --weights %s"):format(weights_of("deberta")))
    finally(function() server:stop() end)
    local call, texts = calls_of("deberta")[5], texts_of("deberta")
    local status, objects = server:ask("/predict", { inputs = words.map(texts, function(text) return { text } end),
      labels = call.labels, threshold = call.threshold, nested = true, multi_label = true, truncate = true })
    assert.equal(200, status)
    for i, want in ipairs(call.spans) do
      compare(want, objects[i].spans, in_bytes, function(count) return byte_of(texts[i], count) end)
    end
    for _, case in ipairs {
      { { inputs = "a" }, "labels" },
      { { inputs = { { "a" }, { "b" } }, labels = { "a", "" } }, '"labels: label 2 of 2 is empty' },
      { { inputs = "a", labels = { "a" }, threshold = 2 }, "threshold" },
    } do
      local code, _, said = server:ask("/predict", case[1])
      assert.is_true(code == 400 or code == 422, said)
      assert.is_truthy(said:find(case[2], 1, true), said)
    end
  end)

  it("refuses what is wrong in one line", function()
    for _, case in ipairs {
      { "--text a", "--labels: no label; at least one is needed" },
      { "--text a --labels 'a,,b'", "--labels: label 2 of 3 is empty" },
      { "--text a --labels ' '", "--labels: label 1 of 1 is empty" },
      { "--text a --labels '<<ENT>>'", "--labels: label 1 of 1 has a token that stands between labels" },
      { "--text a --labels " .. ("abcdefgh,"):rep(40) .. "abcdefgh", nil, 0 }, -- one label many times counts once
      { "--text a --labels '" .. ("some words "):rep(200) .. "'", "labels take" },
      { "--text a --labels a --threshold 1.5", "--threshold: 1.5, but 0 to 1 is allowed" },
      { "--text a --text-pair b --labels a", "takes no pair" },
      { "--text a --labels a --format npy >x.npy", "--format npy: this model's answers are several arrays" },
    } do
      local code, said = run(line("deberta", case[1]))
      assert.equal(case[3] or code == 3 and 3 or 2, code, said)
      if case[2] then assert.is_truthy(said:find(case[2], 1, true), said) end
    end
  end)

  it("refuses another kind of model of gliner by name", function()
    local place = folder .. "/other"
    local config = dkjson.decode(helper.read(goldens .. "/bert/gliner_config.json"))
    local function said_of(changes)
      local own = {}
      for key, value in pairs(config) do own[key] = value end
      for key, value in pairs(changes) do own[key] = value or nil end
      files.make_folder(place)
      helper.write(place .. "/gliner_config.json", dkjson.encode(own))
      helper.write(place .. "/model.safetensors", helper.read(goldens .. "/bert/model.safetensors"))
      return run(("%s/gen/attn2c import other"):format(shell(root)))
    end
    local function refusal(changes)
      local code, said = said_of(changes)
      assert.is_true(code == 2 or code == 3, said)
      return said
    end
    for key, case in pairs {
      span_mode = { "query", 'span_mode: "query" is not supported' },
      labels_encoder = { "other", "models with several encoders" },
      subtoken_pooling = { "mean", "a word's first token is" },
      words_splitter_type = { "spacy", "whitespace is" },
      fuse_layers = { true, "the states of several layers are not summed" },
      num_rnn_layers = { 1 << 53, "num_rnn_layers: 9007199254740992 is not supported; at most 54 is" },
      max_width = { 0, "max_width: 0, but an integer from 1 is expected" },
      encoder_config = { false, "encoder_config: missing; put config.json of small into the folder" },
    } do
      local said = refusal { [key] = case[1] }
      assert.is_truthy(said:find(case[2], 1, true), said)
    end
    local said = refusal { encoder_config = { model_type = "bart" } }
    assert.is_truthy(said:find("of the family bart are not supported", 1, true), said)
    local _, note = said_of { model_name = "microsoft/deberta-v3-small" }
    assert.is_truthy(note:find("takes no text; put tokenizer_config.json, and tokenizer.json or the model of "
      .. "SentencePiece, of microsoft/deberta-v3-small into it", 1, true), note)
  end)
end)
