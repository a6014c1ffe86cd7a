-- say_spec.lua: text into models: each folder of tests/hf/texts is built, given its texts, and compared with what
-- transformers makes of them; then how answers come, and what hostile text does. SAY_CASES=pattern takes some only.
local helper = require("tests.spec.helper")
local dkjson = require("dkjson")
local files = require("common.files")
local lfs = require("lfs")
local words = require("common.words")

local root = helper.absolute_root()
local folder = root .. "/out/spec/say"
local goldens = root .. "/tests/hf/texts"
local shell = helper.shell

local HIDDEN, LOGITS = 1e-5, 1e-4 -- of values of about one, relative to larger ones

local say = require("tests.say").of(folder)
local run, sh, output_of, lines_of, npy = say.run, say.sh, say.output_of, say.lines_of, say.npy

local function apart(want, got) return math.abs(want - got) / math.max(1, math.abs(want)) end

-- Where two parsed values differ; numbers with a fraction may by `allowed`.
local function difference(want, got, allowed, where)
  if type(want) == "table" and type(got) == "table" then
    for key, value in pairs(want) do
      local found = difference(value, got[key], allowed, where .. "." .. tostring(key))
      if found then return found end
    end
    for key in pairs(got) do
      if want[key] == nil then return where .. "." .. tostring(key) .. " is more than expected" end
    end
    return nil
  end
  local same = want == got
  if math.type(want) == "float" or math.type(got) == "float" then
    same = type(got) == "number" and type(want) == "number" and apart(want, got) <= allowed
  end
  return not same and ("%s: %s, not %s"):format(where, tostring(got), tostring(want)) or nil
end

-- The words of each case's build after its folder, and how its texts are given.
local cases = {
  sequence = {}, pairs = { words = { "seq={8,16,40}", "batch={1,4}" }, pairs = true },
  many = { words = { "seq={16,40}" } }, token = { words = { "seq={8,40}" } }, masked = {},
  question = { words = { "seq=40", "batch=2" }, pairs = true },
  windows = { words = { "seq={24,40}", "batch={1,4}" }, pairs = true },
  sentence = { words = { "seq={8,16,24,40}", "batch={1,8}" } }, prompt = { words = { "seq=40" } },
  entailment = { pairs = true }, proteins = {}, disentangled = { pairs = true },
  modern = {}, modules = { words = { "seq=40" } }, reranker = { words = { "seq=any(40)" }, pairs = true },
  untyped = { pairs = true }, limited = {}, ended = {},
  states = { words = { "mask=attention_mask" } }, next = { words = { "seq=any(40)" } },
  next_bloom = { words = { "seq=any(40)" } }, next_cohere2 = { words = { "seq=any(40)" } },
}

-- The answers of a pipeline: as the program is run without and with a stride.
local answers = { { file = "answers.jsonl", option = "" }, { file = "answers_0.jsonl", option = "--stride 0" },
  { file = "answers_5.jsonl", option = "--stride 5" } }

local names = {}
for name in lfs.dir(goldens) do
  if name:sub(1, 1) ~= "." and name:find(os.getenv("SAY_CASES") or "") then names[#names + 1] = name end
end
table.sort(names)
-- Tests of hostile texts and of options take the ones that are in any sample.
names = helper.sample(names, 8, words.set { "many", "masked", "modules", "next", "pairs", "question", "reranker",
  "sentence", "sequence", "states", "token", "windows" })

local function built(name) return ("%s/%s"):format(name, name) end

local function run_line(name, more)
  return ("%s run --weights %s %s %s"):format(built(name), shell(goldens .. "/" .. name),
    cases[name].pairs and "--text-pair -" or "", more)
end

-- Builds only the program of a folder, by more words of tests/program.lua.
local function build_program(path, name, more)
  sh(("rm -rf %s && lua5.4 %s %s %s --text --answers %s"):format(name, shell(root .. "/tests/program.lua"), shell(path),
    name, more or ""))
end

local function texts_of(name) return shell(goldens .. "/" .. name .. "/texts.txt") end

setup(function()
  local list = {}
  files.make_folder(folder)
  for _, name in ipairs(names) do
    if name == "sequence" then -- whose libraries are used, too
      sh(("rm -rf %s && %s build %s -o %s"):format(name, shell(root .. "/gen/attn2c"), shell(goldens .. "/" .. name),
        name))
    else
      list[#list + 1] = { name = name, path = goldens .. "/" .. name, words = { "--text",
        table.unpack(cases[name].words or {}) } }
    end
  end
  dofile(root .. "/tests/cases.lua").programs(folder, list)
end)

describe("texts", function()
  for _, name in ipairs(names) do
    local golden = goldens .. "/" .. name

    it("give transformers' arrays: " .. name, function()
      assert.is_truthy(files.read(("%s/%s"):format(folder, built(name))), files.read(folder .. "/" .. name .. ".log"))
      local outputs, options = {}, {}
      for file in lfs.dir(golden) do
        local output = file:match("^out_(.*)%.npy$")
        if output then
          outputs[#outputs + 1] = output
          options[#options + 1] = ("--output %s=%s_%s.npy"):format(output, name, output)
        end
      end
      assert.is_true(#outputs > 0)
      sh(run_line(name, ("--text %s --output lengths=%s_lengths.npy %s"):format(texts_of(name), name,
        table.concat(options, " "))))
      assert.same({ npy(golden .. "/lengths.npy") }, { npy(("%s/%s_lengths.npy"):format(folder, name)) })
      for _, output in ipairs(outputs) do
        local want, want_shape = npy(("%s/out_%s.npy"):format(golden, output))
        local got, got_shape = npy(("%s/%s_%s.npy"):format(folder, name, output))
        -- transformers has no axis of 1.
        assert.equal((want_shape:gsub(",$", "")), (got_shape:gsub(", 1$", "")))
        local largest = 0
        for i, value in ipairs(want) do largest = math.max(largest, apart(value, got[i])) end
        local allowed = output:find("logits") and LOGITS or HIDDEN
        assert.is_true(largest <= allowed, ("%s: %g apart"):format(output, largest))
      end
    end)

    for _, each in ipairs(answers) do
      if not files.read(golden .. "/" .. each.file) then goto next end
      it(("give a pipeline's answers: %s %s"):format(name, each.option), function()
        local want = lines_of(helper.read(golden .. "/" .. each.file))
        local said = output_of(run_line(name, ("--text %s --format jsonl %s"):format(texts_of(name), each.option)))
        local got = lines_of(said)
        assert.equal(#want, #got, said)
        for i, line in ipairs(want) do
          local expected, answer = dkjson.decode(line), assert(dkjson.decode(got[i]), got[i])
          assert.is_nil(difference(expected, answer, 1e-4, name .. " " .. i))
        end
        assert.is_nil(said:find("[%z\1-\9\11-\31\127]"))
      end)
      ::next::
    end
  end
end)

local function chosen(name) return built(name):find(os.getenv("SAY_CASES") or "") ~= nil end

if not chosen("sequence") or not chosen("sentence") then return end

describe("answers as text", function()
  it("are a label and its probability, with nothing of a stranger's raw", function()
    local got = lines_of(output_of(run_line("sequence", "--text " .. texts_of("sequence"))))
    assert.equal(10, #got)
    assert.equal("per\\u{202E}haps\\u{1B}[31m\t0.6740", got[1])
    assert.equal("no\t0.5124", got[6])
    assert.matches("2 of 10 texts were cut to 40 tokens\n$", helper.read(folder .. "/notes.txt"))
  end)

  it("are the best k", function()
    local got = output_of(run_line("sequence", "--text 'the dog' --top 2"))
    assert.matches("^per%S+\t0.6063\t%l+\t0.%d%d%d%d\n$", got)
    got = lines_of(output_of(run_line("masked", "--top 2 --text 'a <mask> and a <mask>' --text nothing")))
    assert.equal(2, #got)
    assert.matches("^[^\t]+\t0%.%d+\t[^\t]+\t0%.%d+\t|\t[^\t]+\t0%.%d+\t[^\t]+\t0%.%d+$", got[1])
    assert.equal("-", got[2])
  end)

  it("are a label a token with its bytes, and an empty line after a text", function()
    local got = lines_of(output_of(run_line("token", "--text 'é\tx' --text-string ''")))
    assert.same({ true, true, true, true }, { got[1]:match("^0\t2\té\t") ~= nil, got[2]:match("^3\t4\tx\t") ~= nil,
      got[3] == "", got[4] == "" })
    assert.equal(4, #got)
  end)

  it("are labels of at least a half where several may hold", function()
    local got = lines_of(output_of(run_line("many", "--text x --text x --top 1")))
    assert.matches("^b\t0.5306$", got[1])
    assert.matches("^c\t0.5608\td\t0.5315\n$", output_of(run_line("many", "--text 'how do I reset my password'")))
  end)

  it("are a span of the pair", function()
    local got = output_of(run_line("question", ""):gsub("%-%-text%-pair %-", "")
      .. "--text 'where is the cat?' --pair 'The cat sat on the mat.'")
    assert.equal("a\t0.2169\t20\t21\n", got)
  end)

  it("are tokens that may come next", function()
    local got = output_of(run_line("next", "--text 'the dog'"))
    local _, tabs = got:gsub("\t", "")
    assert.equal(9, tabs)
  end)

  it("are an embedding, and with --similar how alike texts are", function()
    local _, tabs = output_of(run_line("sentence", "--text 'the dog'")):gsub("\t", "")
    assert.equal(23, tabs)
    local got = lines_of(output_of(run_line("sentence", "--similar --text 'the dog' --text 'x' --text 'the dog'")))
    assert.equal(3, #got)
    local rows = {}
    for i, line in ipairs(got) do rows[i] = { line:match("^ *(%S+)\t *(%S+)\t *(%S+)$") } end
    assert.same({ "1.0000", "1.0000", "1.0000" }, { rows[1][1], rows[1][3], rows[2][2] })
    assert.equal(rows[1][2], rows[2][1])
    assert.is_true(math.abs(tonumber(rows[1][2])) < 1)
    sh(run_line("sentence", "--similar --format npy --text a --text b >similar.npy"))
    local values, shape = npy(folder .. "/similar.npy")
    assert.equal("2, 2", shape)
    assert.is_true(math.abs(values[1] - 1) < 1e-6)
  end)

  it("are ranked for queries", function()
    files.write_all(folder, { { name = "corpus", text = "x\nthe fox\nthe dog\nhow do I reset my password\n" },
      { name = "queries", text = "the dog\nhow do I reset my password\n" } })
    local got = lines_of(output_of(run_line("sentence", "--query 'the dog' --text-file corpus --top 2")))
    assert.equal(2, #got)
    assert.equal("1.0000\t3\tthe dog", got[1])
    assert.equal(4, #lines_of(output_of(run_line("sentence", "--query 'the dog' --text corpus"))))
    got = lines_of(output_of(run_line("sentence", "--query queries --text - --top 1 --format jsonl <corpus")))
    assert.same({ '{"query":"the dog","texts":[{"score":1.0,"number":3,"text":"the dog"}]}',
      '{"query":"how do I reset my password","texts":[{"score":1.0,"number":4,"text":"how do I reset my password"}]}' },
      { (got[1]:gsub("0%.9999+%d*", "1.0")), (got[2]:gsub("0%.9999+%d*", "1.0")) })
    -- All cosines are those of --similar.
    sh(run_line("sentence", "--query queries --text corpus --format npy >ranked.npy"))
    sh(run_line("sentence", "--similar --text queries --text corpus --format npy >similar.npy"))
    local ranked, shape = npy(folder .. "/ranked.npy")
    assert.equal("2, 4", shape)
    local similar = npy(folder .. "/similar.npy")
    for i, value in ipairs(ranked) do
      assert.is_true(math.abs(value - similar[(i - 1) // 4 * 6 + 2 + (i - 1) % 4 + 1]) < 1e-5)
    end
  end)

  it("may be an array on the standard output", function()
    sh(run_line("sentence", ("--format npy --text %s >all.npy"):format(texts_of("sentence"))))
    local want, got = npy(goldens .. "/sentence/out_sentence_embedding.npy"), npy(folder .. "/all.npy")
    for i, value in ipairs(want) do assert.is_true(apart(value, got[i]) <= HIDDEN) end
  end)
end)

describe("words of the command line", function()
  it("are a file where one is there, else a text; and either can be forced", function()
    files.write_all(folder, { { name = "two", text = "the dog\r\nx" } })
    local both = output_of(run_line("sequence", "--text 'the dog' --text x"))
    assert.equal(both, output_of(run_line("sequence", "--text two")))
    assert.equal(both, output_of(run_line("sequence", "--text-file two")))
    assert.equal(both, output_of(run_line("sequence", "--text - <two")))
    assert.equal(1, #lines_of(output_of(run_line("sequence", "--text-string two"))))
    output_of(run_line("sequence", "--text missing.txt"))
    assert.matches("missing%.txt: no such file exists, so that the word is used as a text", helper.read(folder
      .. "/notes.txt"))
  end)

  it("that do not go together are refused in a line", function()
    helper.write(folder .. "/two", "the dog\nx\n")
    helper.write(folder .. "/one", "the dog\n")
    for _, case in ipairs {
      { "sequence", "--text-file missing.txt", 4, "sequence: --text-file missing.txt: No such file" },
      { "sequence", "--text a --pair missing.txt --pair missing.txt", 2, "--pair: there are 2 pairs and 1 texts" },
      { "sequence", "--text-string a --text - --text-pair x <two", 2, "standard input: line 1: has no pair: "
        .. "--text-pair gives fewer texts" },
      { "sequence", "--text-file two --text-pair x", 2, "--text-pair: there are 1 pairs and 2 texts" },
      { "sequence", "--text a --format npy --output lengths=/dev/stdout | cat; exit ${PIPESTATUS[0]}", 2,
        "--output lengths=/dev/stdout: answers are printed on the standard output" },
      { "sequence", "--text a --format npy --output lengths=both.npy >both.npy", 2, "answers are printed on the stan" },
      { "sequence", "--text a --format text --output logits=/dev/fd/1", 2, "answers are printed on the standard" },
      { "sequence", "--text .", 0, "" },
      { "sequence", "--text a --similar", 2, "--similar: goes with models that give an embedding" },
      { "sentence", "--text a --top 2", 2, "--top: goes with --query, or with models that give labels or tokens" },
      { "sequence", "--text a --query b", 2, "--query: goes with models that give an embedding" },
      { "sentence", "--query a --text b --output lengths=x.npy", 2, "--output: does not go with --query" },
      { "sentence", "--rank --text b --text-pair c", 2, "--rank: goes with models that score pairs (cross-encoders); "
        .. "this one gives embeddings: --query QUERY --text-file FILE" },
      { "sequence", "--rank --text b", 2, "--rank: goes with models that give one score for a pair" },
      { "reranker", "--rank --text b --query c", 2, "--rank: its queries are given by --text, not by --query" },
      { "reranker", "--rank --text b --top 2 --format npy | cat; exit ${PIPESTATUS[0]}", 2,
        "--top: does not go with --format npy" },
      { "reranker", "--rank --text - </dev/null", 2, "--rank: the standard input can be read only once" },
      { "sentence", "--text a --cache x.npy", 2, "--cache: goes with --query" },
      { "sentence", "--text a --prompt query", 2, "--prompt: this model has no prompts" },
      { "modules", "--text a --prompt other", 2, "--prompt other: the model has no prompt of this name; it has clear, "
        .. "passage, query\n" },
      { "sentence", "--text a --dimensions 25", 2, "--dimensions 25: 25 numbers, but the embedding has 24" },
      { "sentence", "--text a --dimensions 0", 2, "--dimensions: '0', but 1 to 2147483647 is allowed" },
      { "sequence", "--text a --dimensions 2", 2, "--dimensions: goes with models that give an embedding" },
      { "sentence", "--query a --text b --text-pair c", 2, "--query: does not go with --text-pair" },
      { "sentence", "--query - --text -", 2, "--text -: the standard input can be read only once" },
      { "sentence", "--query a --text - </dev/null", 3, "--text -: it has no text, but at least "
        .. "one line is needed" },
      { "sentence", "--query a", 2, "--query: the texts to search are missing; --text-file FILE" },
      { "sequence", "--top 0 --text a", 2, "--top: '0', but 1 to 1000 is allowed" },
      { "sequence", "--format xml --text a", 2, "--format: 'xml', but text, jsonl, npy, srt or vtt is allowed" },
      { "sequence", "--top 2", 2, "--text TEXT, FILE or - is needed" },
      { "sequence", "--text a --input input_ids=x.npy", 2, "--input: does not go with --text" },
      { "sequence", "--text a --output nothing=x.npy", 2, "known: logits, lengths, input_ids, token_type_ids" },
      { "sequence", "--text a --output logits=-", 2, "--format npy prints the array of the answers" },
      { "sequence", "--text two --output logits=./two", 2, "this file is read" },
      { "sequence", "--text - --text - </dev/null", 2, "the standard input can be read only once" },
      { "sequence", "--text a --text b --text-pair c", 2, "--text-pair: there are 1 pairs and 2 texts, but a pair for "
        .. "each text is expected" },
      { "sequence", "--text a --text-pair b --text-pair c", 2, "there are 2 pairs and 1 texts" },
      { "sequence", "--text - --text-pair b --text-pair c <one", 2, "--text-pair: text 2: is a pair without a text: "
        .. "--text gives fewer texts" },
      { "pairs", "--text-string 'no tab'", 3, "--text-string: text 1: has no tab" },
      { "pairs", "--text 'no tab'", 3, "--text: text 1: has no tab between text and pair" },
      { "sequence", "--text - --output logits=none.npy </dev/null", 3, "no array is written" },
    } do
      local code, said = run(run_line(case[1], case[2]))
      assert.equal(case[3], code, case[2] .. "\n" .. said)
      assert.is_truthy(said:find(case[4], 1, true), case[2] .. "\n" .. said)
    end
    assert.is_nil(files.read(folder .. "/none.npy"))
    local code, said = run("sequence/sequence run --text a")
    assert.equal(2, code)
    assert.matches("run: %-%-weights F is needed; this model was built from sequence: "
      .. "%-%-weights PATH/sequence\n", said)
  end)

  it("are what info tells of", function()
    assert.matches("\nanswer +label\n", sh("sequence/sequence info"))
    local told = dkjson.decode(sh("sequence/sequence info --json"))
    assert.same({ "label", { "no", "yes", "per\u{202E}haps\27[31m" } }, { told.of_text, told.labels })
    assert.is_nil(sh("next/next info"):find("label"))
  end)

  it("are explained by the help of a model that takes text", function()
    assert.matches("%-%-text WORD", sh("sequence/sequence run --help"))
  end)
end)

describe("windows over the pair of a question", function()
  it("have a row each in arrays, with the number of its text", function()
    sh(run_line("windows", ("--text %s --output texts=numbers.npy"):format(texts_of("windows"))))
    assert.same({ npy(goldens .. "/windows/texts.npy") }, { npy(folder .. "/numbers.npy") })
  end)

  it("give one answer, however many they are, and whichever are computed together", function()
    local long = ("The cat sat on the mat - naive as it was, it slept for a very long time. "):rep(300)
    helper.write(folder .. "/one.txt", "who?\t" .. long .. "x dog!\n")
    helper.write(folder .. "/behind.txt", ("who?\tthe dog\n"):rep(700) .. "who?\t" .. long .. "x dog!\nwho?\tthe dog\n")
    local alone = lines_of(output_of(run_line("windows",
      "--text one.txt --format jsonl --output texts=numbers.npy")))
    assert.is_true(#npy(folder .. "/numbers.npy") > 1024)
    local behind = lines_of(output_of(run_line("windows", "--text behind.txt --format jsonl")))
    assert.same({ 1, 702 }, { #alone, #behind })
    assert.equal(alone[1], behind[701])
    assert.equal(behind[1], behind[702])
    local answer = dkjson.decode(alone[1])
    assert.equal((long .. "x dog!"):sub(answer.begin + 1, answer["end"]), answer.answer)
    assert.is_nil(answer.truncated)
    assert.equal("-\n", output_of(run_line("windows", "--text $'who?\\t'")))
    assert.equal('{"answer":null}\n', output_of(run_line("windows", "--format jsonl --text $'who?\\t'")))
  end)

  it("have the prompt before the question, which is in no place of an answer", function()
    build_program(goldens .. "/windows", "prompted", "seq=40 prompt='the cat: '")
    local pair = "\t" .. ("The cat sat on the mat - naive as it was, it slept. "):rep(9) .. "x dog!\n"
    helper.write(folder .. "/bare.txt", "who?" .. pair .. "who is it?\tthe dog\n")
    helper.write(folder .. "/whole.txt", "the cat: who?" .. pair .. "the cat: who is it?\tthe dog\n")
    local function said(program, texts, more)
      return output_of(("%s run --weights %s --text-pair - --text %s --format jsonl %s"):format(program,
        shell(goldens .. "/windows"), texts, more or ""))
    end
    local expected = said("windows/windows", "whole.txt", "--output input_ids=whole.npy --output texts=numbers.npy")
    assert.equal(expected, said("prompted/windows", "bare.txt", "--output input_ids=bare.npy"))
    assert.same({ npy(folder .. "/whole.npy") }, { npy(folder .. "/bare.npy") })
    assert.is_true(#npy(folder .. "/numbers.npy") > 4)
    assert.are_not.equal(expected, said("windows/windows", "bare.txt"))
    local code, message = run(("prompted/windows run --weights %s --text-pair - --text %s"):format(
      shell(goldens .. "/windows"), "$'" .. ("who? "):rep(20) .. "\tthe dog'"))
    assert.equal(3, code)
    assert.matches("the question has %d+ tokens with special ones and the prompt: it leaves none", message)
  end)

  it("are refused where they cannot be made", function()
    helper.write(folder .. "/question.txt", "who?\tthe dog\nwho?\t" .. ("the dog "):rep(40) .. "\n")
    for _, case in ipairs {
      { "question.txt --stride 40", 2, "question.txt: line 2: windows of the pair have 32 tokens: they share at most "
        .. "31, not 40" },
      { "question.txt --stride -1", 2, "--stride: '-1', but a number of tokens from 0 is allowed" },
      { "question.txt --stride 9999999999", 2, "--stride: '9999999999', but a number of tokens from 0 is allowed" },
      { "$'" .. ("who? "):rep(20) .. "\tthe dog'", 3, "--text: text 1: the question has 85 tokens with special ones: "
        .. "it leaves none of the 40 of a call for its pair" },
    } do
      local code, said = run(run_line("windows", "--text " .. case[1]))
      assert.equal(case[2], code, said)
      assert.is_truthy(said:find(case[3], 1, true), said)
    end
    local code, said = run(run_line("sequence", "--text a --stride 2"))
    assert.equal(2, code)
    assert.matches("%-%-stride: goes with models that answer questions", said)
  end)
end)

describe("many texts", function()
  it("keep their order, and are answered as each by itself", function()
    local texts = {}
    for i = 1, 300 do texts[i] = ("word "):rep(i * 7 % 50) .. i end
    files.write_all(folder, { { name = "many.txt", text = table.concat(texts, "\n") .. "\n" } })
    local alone = run_line("pairs", ""):gsub("%-%-text%-pair %-", "") .. "--format jsonl "
    local got = lines_of(output_of(alone .. "--text many.txt"))
    assert.equal(300, #got)
    for _, i in ipairs { 1, 7, 8, 150, 299, 300 } do
      local want = dkjson.decode(output_of(alone .. "--text-string " .. shell(texts[i])))
      assert.is_nil(difference(want, dkjson.decode(got[i]), 1e-6, tostring(i)))
    end
  end)

  it("are the same from a file, a pipe, and byte by byte", function()
    local all = output_of(run_line("sequence", "--text many.txt"))
    assert.equal(all, output_of("cat many.txt | " .. run_line("sequence", "--text -")))
    assert.equal(all, output_of("dd if=many.txt bs=1000 status=none | " .. run_line("sequence", "--text -")))
  end)
end)

-- A program that reads a pipe whose writing end is descriptor 3 of the script, and writes to out.txt.
local function streaming(script)
  return sh(([[
rm -f in out.txt notes.txt; mkfifo in; set -m
%s <in >out.txt 2>notes.txt &
pid=$!
exec 3>in
lines() { for i in $(seq 6000); do [ "$(wc -l <out.txt)" -ge "$1" ] && return 0; sleep 0.05; done; return 1; }
%s]]):format(run_line("sequence", "--text -"), script))
end

describe("a stream", function()
  it("is answered line by line, as lines come", function()
    streaming([[
echo "the dog" >&3; lines 1 || exit 11
printf "how do I reset" >&3; sleep 0.3; [ "$(wc -l <out.txt)" = 1 ] || exit 12
echo " my password" >&3; lines 2 || exit 13
exec 3>&-; wait $pid]])
    assert.equal(output_of(run_line("sequence", "--text 'the dog' --text 'how do I reset my password'")),
      helper.read(folder .. "/out.txt"))
  end)

  it("ends at Ctrl-C with whole lines and the status that shells expect", function()
    for signal, code in pairs { INT = 130, TERM = 143 } do
      streaming(([[
echo "the dog" >&3; lines 1 || exit 11
printf "half a" >&3; sleep 0.1; kill -%s $pid; wait $pid; [ $? = %d ] || exit 12]]):format(signal, code))
      assert.equal(1, #lines_of(helper.read(folder .. "/out.txt")))
      assert.matches("interrupted\n$", helper.read(folder .. "/notes.txt"))
    end
  end)

  it("ends when nobody reads the answers", function()
    local said = sh("yes 'the dog' | " .. run_line("sequence", "--text -")
      .. " 2>notes.txt | head -n 2; echo ${PIPESTATUS[1]} $(cat notes.txt)")
    assert.matches("\n4 sequence: standard output: Broken pipe\n$", said)
  end)

  it("answers what stands before a line that is wrong", function()
    local code, said = run("printf 'a\\tb\\nc\\td\\nno tab\\ne\\tf\\n' | " .. run_line("pairs", "--text -"))
    assert.equal(3, code)
    assert.matches("^%l+\t0%.%d+\n%l+\t0%.%d+\npairs: standard input: line 3: has no tab between text and pair\n$",
      said)
  end)
end)

describe("hostile text", function()
  it("of megabytes in a line takes a moment", function()
    local bytes = helper.is_long and 10000000 or 3000000
    sh("head -c " .. bytes .. " /dev/zero | tr '\\0' a >long.txt; echo >>long.txt; echo 'the dog' >>long.txt")
    local got = lines_of(output_of("timeout 600 " .. run_line("sequence", "--text - <long.txt")))
    assert.equal(2, #got)
    assert.equal("per\\u{202E}haps\\u{1B}[31m\t0.6063", got[2])
    sh("yes 'the dog ' | head -c " .. bytes .. " | tr -d '\\n' >long.txt")
    assert.equal(1, #lines_of(output_of("timeout 600 " .. run_line("sequence", "--text long.txt"))))
  end)

  it("escapes control characters before it prints them", function()
    files.write_all(folder, { { name = "evil.txt",
      text = "\27]0;x\7 \0nul \127 \194\155 \226\128\174 \xff\xfe \xc3 x\\ \\\n" } })
    for _, format in ipairs { "text", "jsonl" } do
      for _, name in ipairs { "token", "masked", "states", "next", "sequence" } do
        local said = output_of(run_line(name, "--text evil.txt --format " .. format))
        assert.is_nil(said:find("[%z\1-\8\11-\31\127]"), name)
        assert.is_nil(said:find("\194[\128-\159]"), name)
        assert.is_truthy(utf8.len(said), name)
        if format == "jsonl" then assert.is_truthy(dkjson.decode(said), name) end
        assert.is_nil(said:find("\226\128\174", 1, true), name) -- a mark of direction
      end
    end
    assert.matches("\\\\", output_of(run_line("token", "--text evil.txt")))
  end)

  it("that is no UTF-8 counts as U+FFFD", function()
    local mended = output_of(run_line("sequence", "--text $'a \\xef\\xbf\\xbd b'"))
    assert.equal(mended, output_of(run_line("sequence", "--text $'a \\xff b'")))
  end)

  it("of no tokens is what follows the BOS token, or has no answer", function()
    files.write_all(folder, { { name = "empty.txt", text = "the\n\ndog\n" } })
    local code, said = run(run_line("next", "--text empty.txt"))
    assert.equal(3, code)
    assert.matches("^[^\n]+\nnext: empty%.txt: line 2: has no tokens, and the tokenizer has no BOS token "
      .. "to begin with\n$", said)
    sh(("rm -rf begins && cp -r %s begins"):format(shell(goldens .. "/next")))
    local text = helper.read(folder .. "/begins/config.json"):gsub('"bos_token_id": 50256', '"bos_token_id": 7')
    helper.write(folder .. "/begins/config.json", text)
    build_program("begins", "begun")
    sh("begun/begins run --weights begins --format jsonl --text empty.txt --output logits=begun.npy "
      .. "--output input_ids=begun_ids.npy --output lengths=begun_lengths.npy >begun.txt")
    local ids, shape = npy(folder .. "/begun_ids.npy")
    assert.equal(7, ids[tonumber(shape:match("3, (%d+)")) + 1])
    assert.equal(1, npy(folder .. "/begun_lengths.npy")[2])
    local lines = lines_of(helper.read(folder .. "/begun.txt"))
    assert.equal(3, #lines)
    assert.equal(5, #dkjson.decode(lines[2]).next)
  end)
end)

describe("building", function()
  local attn2c = shell(root .. "/gen/attn2c")

  it("without text leaves no trace of it", function()
    sh(("%s build %s tokenizer=false -o silent 2>&1"):format(attn2c, shell(goldens .. "/sequence")))
    assert.is_nil(files.read(folder .. "/silent/sequence_text.c"))
    assert.is_nil(sh("ldd silent/sequence silent/libsequence.so"):find("pcre2"))
    assert.is_nil(sh("nm silent/libsequence.a silent/sequence"):find("attn2c_text_"))
    assert.is_nil(helper.read(folder .. "/silent/sequence.pc"):find("pcre2"))
    local code, said = run("silent/sequence run --text a")
    assert.equal(2, code)
    assert.matches("this model takes no text", said)
    assert.is_truthy(sh("ldd sequence/sequence"):find("pcre2"))
    assert.matches("%-lutf8proc %-lpcre2%-8", helper.read(folder .. "/sequence/sequence.pc"))
  end)

  it("finds the tokenizer of an imported description from where that lies", function()
    sh(("mkdir -p deep/er && %s import %s -o deep/er/other.lua"):format(attn2c, shell(goldens .. "/sequence")))
    local text = helper.read(folder .. "/deep/er/other.lua")
    assert.matches('tokenizer = "[./]+/tests/hf/texts/sequence"', text)
    build_program("deep/er/other.lua", "other")
    assert.equal(output_of(run_line("sequence", "--text 'the dog'")),
      output_of(("other/sequence run --weights %s --text 'the dog'"):format(shell(goldens .. "/sequence"))))
  end)

  -- A copy of a folder with other text in one of its files.
  local function changed(name, file, from, to, verb)
    sh(("rm -rf bad && cp -r %s bad && rm -rf made"):format(shell(goldens .. "/" .. name)))
    local text, count = helper.read(folder .. "/bad/" .. file):gsub(from, to)
    assert.is_true(count > 0)
    helper.write(folder .. "/bad/" .. file, text)
    return run(("%s %s bad -o made"):format(attn2c, verb or "gen"))
  end

  it("refuses by name a part of a tokenizer.json that is not supported", function()
    local code, said = changed("sequence", "tokenizer.json", '"BertPreTokenizer"', '"UnheardOf"')
    assert.equal(3, code, said)
    assert.matches("UnheardOf", said)
    assert.is_nil(lfs.attributes(folder .. "/made", "mode"))
  end)

  it("refuses patterns that PCRE2 refuses, with its reason, and leaves no program", function()
    local code, said = changed("sequence", "tokenizer.json", '{"type":"BertPreTokenizer"}',
      '{"type":"Split","pattern":{"Regex":"(?<=a+)b"},"behavior":"Isolated","invert":false}', "build --libraries")
    assert.equal(3, code, said)
    assert.matches('bad/tokenizer%.json: pre_tokenizer%.pattern%.Regex: "%(%?<=a%+%)b": PCRE2 refuses the pattern: '
      .. "lookbehind assertion is not fixed length\n", said)
    assert.is_nil(lfs.attributes(folder .. "/made/libbad.so", "mode"))
  end)

  it("makes programs that say why their tables do not open", function()
    local program, count = helper.read(folder .. "/sequence/sequence"):gsub("attn2cTX%c", "attn2cTX\99")
    assert.is_true(count > 0)
    helper.write(folder .. "/older", program)
    local code, said = run(("chmod +x older && ./older run --weights %s --text a"):format(
      shell(goldens .. "/sequence")))
    assert.equal(3, code)
    assert.equal("older: tokenizer tables: made by another version of attn2c\n", said)
  end)

  it("refuses a tokenizer that is larger than the model", function()
    local code, said = changed("sequence", "tokenizer.json", '"added_tokens":%[',
      '"added_tokens":[{"id":700,"content":"more","single_word":false,"lstrip":false,"rstrip":false,'
      .. '"normalized":false,"special":false},')
    assert.equal(3, code, said)
    assert.matches("the tokenizer has 701 tokens, but the model knows 700", said)
    assert.equal(0, (run(("%s gen bad tokenizer=false -o made"):format(attn2c))))
  end)

  it("refuses a limit of tokens that special tokens alone fill", function()
    for _, limit in ipairs { 1, 2 } do
      local code, said = changed("sequence", "tokenizer_config.json", "^{", ('{"model_max_length":%d,'):format(limit))
      assert.same({ 3, 1 }, { code, select(2, said:gsub("\n", "")) })
      assert.matches("bad: a text has 2 special tokens around it, so none fits into sequences of at most " .. limit,
        said)
    end
    assert.equal(0, (changed("sequence", "tokenizer_config.json", "^{", '{"model_max_length":3,')))
  end)

  it("refuses padding before texts where results depend on it", function()
    local side = '{"padding_side":"left",'
    for name, said in pairs { question = "for answers to questions",
      ["../towers/siglip"] = "where all texts are filled" } do
      local code, line = changed(name, "tokenizer_config.json", "^{", side)
      assert.equal(2, code, line)
      assert.matches("bad/tokenizer_config.json: padding_side: left is not supported " .. said, line)
    end
    assert.equal(0, (changed("sequence", "tokenizer_config.json", "^{", side)))
  end)

  it("says where tokenizer_config.json says otherwise", function()
    local code, said = changed("sequence", "tokenizer_config.json", ".*",
      '{"tokenizer_class": "BertTokenizer", "do_lower_case": false}')
    assert.equal(0, code, said)
    assert.matches("warning: do_lower_case is false here and true in tokenizer%.json", said)
  end)

  it("says when there is no tokenizer, and takes a path alone", function()
    local code, said = run(("%s gen %s 'tokenizer=\"nowhere\"' -o made"):format(attn2c, shell(goldens .. "/sequence")))
    assert.equal(4, code)
    assert.matches("nowhere: there is no tokenizer", said)
    code, said = run(("%s gen %s tokenizer=5 -o made"):format(attn2c, shell(goldens .. "/sequence")))
    assert.equal(2, code)
    assert.matches("tokenizer: 5, but a path or false is allowed", said)
    code, said = run(("%s gen %s 'labels={\"a\"}' -o made"):format(attn2c, shell(goldens .. "/sequence")))
    assert.equal(2, code)
    assert.matches("labels: 1, but the last output has 3 numbers", said)
  end)
end)

describe("the library", function()
  for _, language in ipairs { { "C", "cc -std=c99", "c" }, { "C++", "c++ -std=c++11", "cpp" } } do
    it("takes text from " .. language[1], function()
      sh(("cp %s guest.%s && PKG_CONFIG_PATH=sequence %s -Wall -Wextra -Werror guest.%s -o guest "
        .. "$(PKG_CONFIG_PATH=sequence pkg-config --static --cflags --libs sequence) "
        .. "-Wl,-rpath,\"$PWD\"/sequence"):format(
        shell(root .. "/tests/c/host_text.c"), language[3], language[2], language[3]))
      local said = sh("./guest " .. shell(goldens .. "/sequence/model.safetensors"))
      local logits = npy(goldens .. "/sequence/out_logits.npy")
      local got = {}
      for value in said:gmatch("logit (%S+)") do got[#got + 1] = tonumber(value) end
      assert.equal(6, #got, said)
      for i, value in ipairs(got) do assert.is_true(apart(logits[i], value) <= LOGITS, said) end
      assert.matches("decoded how do i reset my password\n", said)
    end)
  end
end)
