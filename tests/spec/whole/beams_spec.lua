-- beams_spec.lua: beam search by the program against transformers' (tests/generate/beams.py): ids and scores for
-- options of a call and for what a folder states, in the order of the prompts; how answers are written, and what is
-- refused.
local helper = require("tests.spec.helper")
local dkjson = require("dkjson")
local files = require("common.files")

local shell = helper.shell
local of = require("tests.spec.generating").new("beams", {})
local folder, root, run, sh = of.folder, of.root, of.run, of.sh
local goldens = of.goldens("beams.jsonl")

-- Builds by what their folders state: one of next, one of llama with some keys, one with all.
local names, stated_by = {}, {}
for _, golden in ipairs(goldens) do
  local key = golden.folder .. dkjson.encode(golden.stated, { keyorder = { "eos_token_id" } })
  if not stated_by[key] then
    names[#names + 1] = { name = ({ "next", "some", "all" })[#names + 1], golden = golden }
    stated_by[key] = names[#names]
  end
  golden.build = stated_by[key].name
end

-- Builds a model whose folder states what the goldens' does.
setup(function()
  files.make_folder(folder)
  for _, each in ipairs(names) do
    local place, from = each.name .. ".folder", of.places[each.golden.folder]
    sh(("rm -rf %s && cp -r %s %s"):format(place, shell(from), place))
    files.write_all(folder .. "/" .. place, { { name = "generation_config.json",
      text = dkjson.encode(each.golden.stated) } })
    local command = each.name == "some" and shell(root .. "/gen/attn2c") .. " build %s -o %s" -- with libraries
      or "lua5.4 " .. shell(root .. "/tests/program.lua") .. " %s %s --text --answers"
    sh((command .. " sequences=6 kernels=c name=%s >log 2>&1 || { cat log; exit 1; }"):format(place, each.name,
      each.name))
  end
end)

local function line(name, more)
  return ("%s/%s generate --weights %s.folder %s"):format(name, name, name, more)
end

local options = { num_beams = "beams", length_penalty = "length-penalty", early_stopping = "early-stopping",
  no_repeat_ngram_size = "no-repeat-ngram", min_new_tokens = "min-tokens", repetition_penalty = "repetition-penalty",
  forced_bos_token_id = "forced-bos", num_return_sequences = "n-best", max_new_tokens = "max-tokens" }

local function option_words(golden)
  local words = {}
  for key, value in pairs(golden.options) do
    words[#words + 1] = ("--%s %s"):format(assert(options[key], key), value)
  end
  if golden.options.num_beams == 1 then words[#words + 1] = "--greedy" end
  table.sort(words)
  return table.concat(words, " ")
end

-- Writes prompts as ids one after the other, and their lengths.
local function write_prompts(prompts)
  local joined, lengths = {}, {}
  for i, prompt in ipairs(prompts) do
    table.move(prompt, 1, #prompt, #joined + 1, joined)
    lengths[i] = #prompt
  end
  of.write_ids("ids.npy", #joined .. ",", joined)
  of.write_ids("lengths.npy", #lengths .. ",", lengths)
  return "--input ids=ids.npy --input lengths=lengths.npy "
end

-- The largest difference of a score that float's errors explain: a token's log-probability is x - max - log(sum),
-- whose numbers are below 60 and have errors of 2^-24 of themselves each; the logits of both programs differ by as
-- much again.
local function allowed(golden, count)
  return 4e-5 * count / count ^ (golden.options.length_penalty or golden.stated.length_penalty or 1)
end

describe("beams", function()
  it("give transformers' answers and scores", function()
    assert.equal(3, #names)
    for _, golden in ipairs(goldens) do
      local words = write_prompts(golden.prompts) .. option_words(golden)
      local got = of.lines_of(sh(line(golden.build, "--format jsonl " .. words)))
      local place = 0
      for i, answers in ipairs(golden.answers) do
        for rank, answer in ipairs(answers) do
          place = place + 1
          local made, where = assert(dkjson.decode(got[place])), ("%s, prompt %d, answer %d"):format(words, i, rank)
          assert.same(answer.ids, made.ids, where)
          assert.equal(answer.score == nil, made.score == nil, where)
          if answer.score then
            assert.is_true(math.abs(answer.score - made.score) <= allowed(golden, #answer.ids), where)
          end
        end
      end
      assert.equal(place, #got)
    end
  end)

  it("are written as lines and as an array, the best first", function()
    local more = "--prompt 'the cat' --prompt a --beams 3 --tokens 4 "
    local lines = of.lines_of(sh(line("some", more .. "--n-best 2")))
    local objects = of.lines_of(sh(line("some", more .. "--n-best 2 --format jsonl --output generated=made.npy")))
    local ids, shape = of.read_int64("made.npy")
    assert.equal("4, 4", shape)
    assert.equal(4, #lines)
    for i, text in ipairs(objects) do
      local object, row = assert(dkjson.decode(text)), {}
      for j = 1, 4 do if ids[4 * i - 4 + j] >= 0 then row[#row + 1] = ids[4 * i - 4 + j] end end
      assert.same(object.ids, row)
      assert.equal(object.text:gsub("\\", "\\\\"):gsub("\n", "\\n"), lines[i])
      assert.equal(i <= 2 and "the cat" or "a", object.prompt)
    end
    assert.same({ lines[1], lines[3] }, of.lines_of(sh(line("some", more))))
  end)

  it("take a forced token by its text", function()
    local more = write_prompts { { 5 } } .. "--beams 2 --tokens 3 --forced-bos "
    assert.equal(sh(line("some", more .. "2")), sh(line("some", more .. "'</s>'")))
  end)

  it("are refused in a line where they do not go with the model or with other options", function()
    local prompts = write_prompts { { 9, 8, 7 } }
    for words, said in pairs {
      ["--beams 0"] = "--beams: '0', but 1 to 128 is allowed",
      ["--beams two"] = "--beams: 'two', but 1 to 128 is allowed",
      ["--beams 7"] = "--beams: 7, but 1 to 6 is allowed: the model keeps 6 sequences (sequences=N of build)",
      ["--beams 2 --n-best 3"] = "--n-best: 3, but 1 to 2 is allowed: the number of beams",
      ["--n-best 2"] = "--n-best: goes with --beams N, from 2",
      ["--length-penalty 2"] = "--length-penalty: goes with --beams N, from 2",
      ["--early-stopping true --beams 1"] = "--early-stopping: goes with --beams N, from 2",
      ["--early-stopping maybe"] = "--early-stopping: 'maybe', but false, true or never is allowed",
      ["--beams 2 --length-penalty nan"] = "--length-penalty: 'nan', but a number is allowed",
      ["--beams 2 --length-penalty 9"] = "--length-penalty: 9, but -8 to 8 is allowed",
      ["--beams 2 --temperature 0.7"] = "--beams: 2 do not go with --temperature; --beams 1 turns them off",
      ["--beams 2 --greedy"] = "--beams: 2 do not go with --greedy, which takes one token each time; --beams 1 turns "
        .. "them off",
      ["--beams 2 --logit-bias 3=1"] = "--beams: 2 do not go with --logit-bias; --beams 1 turns them off",
      ["--min-tokens 9 --tokens 8"] = "--min-tokens: 9, but at most 8 are allowed: the most tokens of an answer",
      ["--no-repeat-ngram -1"] = "--no-repeat-ngram: '-1', but 0 to 2147483647 is allowed",
      ["--forced-bos 'two words'"] = "--forced-bos: 'two words' is not one token of this model, but an id or a token "
        .. "is allowed",
      ["--forced-bos 901"] = "--forced-bos: 901, but 0 to 900 is allowed",
    } do
      local code, notes = of.refusal(line("some", prompts .. words))
      assert.equal(2, code, words)
      assert.equal(said .. "\n", notes)
    end
    local code, notes = of.refusal(line("all", prompts .. "--allow 3"))
    assert.equal(2, code, "beams that the folder asks for")
    assert.equal("--beams: 4 do not go with --allow; --beams 1 turns them off\n", notes)
    assert.equal(0, (run(line("all", prompts .. "--allow 3 --beams 1"))))
    assert.equal(0, (run(line("all", prompts .. "--temperature 0.7"))))
  end)
end)

describe("beams of the library", function()
  it("are transformers' from C and C++, also from a state that other calls made", function()
    local golden
    for _, each in ipairs(goldens) do
      if each.build == "some" and each.options.num_beams == 2 and each.options.num_return_sequences == nil
        and each.options.early_stopping == nil then golden = each end
    end
    for i, compiler in ipairs { "cc -std=c99 -Wall -Wextra -Werror", "c++ -x c++ -std=c++11 -Wall -Wextra -Werror" } do
      sh(("%s -Isome -o host%d %s -x none some/libsome.a -lutf8proc -lpcre2-8 -lpthread -lm"):format(compiler, i,
        shell(root .. "/tests/c/host_beams.c")))
      for number, prompt in ipairs(golden.prompts) do
        local answer, lines = golden.answers[number][1],
          of.lines_of(sh(("./host%d some.folder 2 %s"):format(i, table.concat(prompt, " "))))
        assert.equal(lines[1], lines[2])
        assert.equal(table.concat(answer.ids, " "), (lines[1]:gsub(" [^ ]*$", "")))
        assert.is_true(math.abs(tonumber(lines[1]:match("[^ ]*$")) - answer.score) < 1e-4)
      end
    end
  end)

  it("are transformers' in Python", function()
    local line_of = "PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=some:%s /usr/bin/python3 -W error %s some.folder %s"
    assert.equal("", sh(line_of:format(shell(root .. "/tests/bindings"), shell(root .. "/tests/bindings/beams.py"),
      shell(root .. "/tests/generate/beams.jsonl"))))
  end)

  -- Builds a model, and compares scores of its answers.
  local function scores(name, from, weights, keys)
    sh(("%s build %s %s sequences=6 chunk=6 kernels=c name=%s --libraries -o %s >log 2>&1 || { cat log; exit 1; }")
      :format(shell(root .. "/gen/attn2c"), shell(from), keys, name, name))
    assert.equal("", sh(("PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=%s /usr/bin/python3 -W error %s %s %s"):format(name,
      shell(root .. "/tests/bindings/beam_scores.py"), name, shell(weights))))
  end

  it("have the scores of their answers in a model with windows", function()
    local from = root .. "/tests/hf/goldens/gemma3_logits"
    scores("window", from, from, "context=60")
  end)

  it("have the scores of their answers to sources", function()
    local cases = dofile(root .. "/tests/oracle/cases.lua")
    local place = folder .. "/reader.case"
    files.make_folder(place)
    cases.write(cases.read(root .. "/tests/oracle/sources/apart.safetensors"), place)
    scores("reader", place .. "/description.lua", place .. "/model.safetensors", "generation.start=3 generation.stop=5")
  end)
end)
