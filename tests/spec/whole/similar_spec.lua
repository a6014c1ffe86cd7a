-- similar_spec.lua: search as people do it: texts ranked for queries by embeddings and by a cross-encoder, as
-- sentence-transformers has it (tests/hf/texts.py); prompts, fewer dimensions, and embeddings that a file keeps.
local helper = require("tests.spec.helper")
local dkjson = require("dkjson")

local root = helper.absolute_root()
local folder = root .. "/out/spec/search"
local goldens = root .. "/tests/hf/texts"
local shell = helper.shell
local say = require("tests.say").of(folder)
local run, sh, output_of, lines_of, npy = say.run, say.sh, say.output_of, say.lines_of, say.npy

local ALLOWED = { embedding = 1e-5, score = 1e-4 } -- differences of values of about one

local builds = { modules = { "--text", "seq=40" }, reranker = { "--text", "seq=any(40)" },
  sentence = { "--text", "seq={8,16,24,40}", "batch={1,8}" } }

local function texts_of(name) return shell(goldens .. "/" .. name .. "/texts.txt") end

local function run_line(name, more)
  return ("%s/%s run --weights %s %s"):format(name, name, shell(goldens .. "/" .. name), more)
end

setup(function()
  local list = {}
  for name, words in pairs(builds) do
    list[#list + 1] = { name = name, path = goldens .. "/" .. name, words = words }
  end
  require("common.files").make_folder(folder)
  dofile(root .. "/tests/cases.lua").programs(folder, list)
end)

-- Compares the array all.npy with a golden's.
local function same_array(name, file, allowed)
  local want, want_shape = npy(("%s/%s/%s.npy"):format(goldens, name, file))
  local got, shape = npy(folder .. "/all.npy")
  assert.equal(want_shape, shape)
  for i, value in ipairs(want) do assert.is_true(math.abs(value - got[i]) <= allowed, file) end
  return want
end

describe("texts of a model of sentence-transformers", function()
  it("are sentence-transformers' with a prompt, with fewer numbers, and ranked", function()
    local texts = texts_of("modules")
    local function same(want, options)
      sh(run_line("modules", ("--text %s --format npy %s >all.npy"):format(texts, options)))
      same_array("modules", want, ALLOWED.embedding)
    end
    same("query", "--prompt query")
    same("out_sentence_embedding", "--prompt clear")
    same("kept", "--dimensions 8")
    sh(("head -n 3 %s >queries"):format(texts))
    same("ranked", "--query queries")
    same("ranked", "--query queries --similar")
    assert.matches("\nprompts +clear: \"\"\n +passage: \"text: \"\n +query: \"find, naïvely: \"\n",
      sh("modules/modules info"))
    assert.same({ clear = "", passage = "text: ", query = "find, naïvely: " },
      dkjson.decode(sh("modules/modules info --json")).prompts)
  end)

  it("are sentence-transformers' scores of pairs, ranked", function()
    sh(("cut -f 2 %s >texts; cut -f 1 %s | grep . | head -n 3 >queries"):format(texts_of("reranker"),
      texts_of("reranker")))
    local line = run_line("reranker", "--rank ")
    sh(line .. "--text queries --text-pair texts --format npy >all.npy")
    local want = same_array("reranker", "ranked", ALLOWED.score)
    -- The best texts of each query, and the same from the standard input.
    local expected = {}
    for i = 1, 3 do
      local best
      for j = 1, 10 do
        if not best or want[10 * i - 10 + j] > want[10 * i - 10 + best] then best = j end
      end
      expected[i] = best
    end
    local found = {}
    for number in output_of(line .. "--text queries --text-pair texts --top 1"):gmatch("\n[%d.-]+\t(%d+)\t") do
      found[#found + 1] = tonumber(number)
    end
    assert.same(expected, found)
    local all = output_of(line .. "--text queries --text-pair texts --format jsonl")
    assert.equal(all, output_of(line .. "--text queries --text-pair - --format jsonl <texts"))
    assert.equal(all, output_of(line .. "--text - --text-pair texts --format jsonl <queries"))
    assert.equal(10, #dkjson.decode(lines_of(all)[1]).texts)
    local code, said = run(line .. "--text a --text-pair /dev/null")
    assert.equal(3, code)
    assert.matches("%-%-rank: %-%-text%-pair gives no text", said)
    helper.write(folder .. "/empty", "")
    code, said = run(line .. "--text empty --text-pair texts")
    assert.equal(3, code)
    assert.matches("^reranker: %-%-text empty: it has no text, but at least one line is needed\n$", said)
  end)

  it("are searched in embeddings that a file keeps, which is never used if it is not of this run", function()
    helper.write(folder .. "/corpus", "x\nthe fox\n\nthe dog\nx\n")
    os.remove(folder .. "/kept.npy")
    local line = run_line("sentence", "--query 'the dog' --text-file corpus --format jsonl ")
    local expected = output_of(line)
    for _, words in ipairs { "--query empty --text-file corpus", "--query a --text-file empty" } do
      helper.write(folder .. "/empty", "")
      local code, said = run(run_line("sentence", words))
      assert.equal(3, code)
      local option = words:match("(%-%-[%a-]+) empty")
      assert.equal(("sentence: %s empty: it has no text, but at least one line is needed\n"):format(option), said)
    end
    local function notes() return helper.read(folder .. "/notes.txt") end
    local function kept() return helper.read(folder .. "/kept.npy") end
    local cached = line .. "--cache kept.npy "
    assert.equal(expected, output_of(cached))
    local first = kept()
    local values, shape = npy(folder .. "/kept.npy")
    assert.equal("5, 24", shape)
    sh(run_line("sentence", "--text corpus --format npy >all.npy"))
    for i, value in ipairs((npy(folder .. "/all.npy"))) do assert.equal(value, values[i]) end
    -- The file is used, and stays as it is.
    assert.equal(expected, output_of(cached))
    assert.equal("", notes())
    assert.equal(first, kept())
    -- Texts may be added, changed, moved and removed.
    for _, text in ipairs { "the dog\nx\na fox\nthe fox\n", "x\n", "y\nthe dog and the fox\n",
      "x\nthe fox\n\nthe dog\nx\n" } do
      helper.write(folder .. "/corpus", text)
      assert.equal(output_of(line), output_of(cached))
      assert.equal("", notes())
    end
    assert.equal(first, kept())
    -- Anything that decides an embedding.
    local other = output_of(line .. "--dimensions 8")
    assert.equal(other, output_of(cached .. "--dimensions 8"))
    assert.matches("%-%-cache kept%.npy: its embeddings have another number of dimensions; all embeddings are "
      .. "computed, and the file is made again\n$", notes())
    assert.equal(expected, output_of(cached))
    sh(("rm -rf moved && cp -r %s moved"):format(shell(goldens .. "/sentence")))
    local weights = helper.read(folder .. "/moved/model.safetensors")
    local place = 8 + string.unpack("<I8", weights) + 1 -- a number of the first tensor
    helper.write(folder .. "/moved/model.safetensors", weights:sub(1, place) .. string.char(weights:byte(place + 1) ~ 8)
      .. weights:sub(place + 2))
    local own = shell(goldens .. "/sentence")
    local function moved(text)
      local at = assert(text:find(own, 1, true))
      return text:sub(1, at - 1) .. "moved" .. text:sub(at + #own)
    end
    assert.equal(output_of(moved(line)), output_of(moved(cached)))
    assert.matches("it is of other weights; all embeddings", notes())
    assert.equal(expected, output_of(cached))
    -- Each damaged byte, and each cut.
    for at = 1, #first, 97 do
      local byte = string.char(first:byte(at) ~ 16)
      helper.write(folder .. "/kept.npy", first:sub(1, at - 1) .. byte .. first:sub(at + 1))
      local code, said = run(cached .. " 2>notes.txt")
      if code == 3 then
        assert.matches("kept%.npy: is no file that %-%-cache made, or was cut; remove it, or give another", notes())
      else
        assert.equal(expected, said)
        assert.matches("all embeddings are computed", notes())
        assert.equal(first, kept())
      end
    end
    for _, size in ipairs { 0, 7, 64, 600, #first - 1 } do
      helper.write(folder .. "/kept.npy", first:sub(1, size))
      assert.equal(3, (run(cached)), size)
      assert.equal(first:sub(1, size), kept()) -- a file of another kind is not written over
    end
    assert.equal(3, (run(line .. "--cache corpus")))
    helper.write(folder .. "/no text", "\xff\n") -- no line is read before the file is known to be writable
    for _, words in ipairs { "--query a --cache missing/kept.npy", "--output sentence_embedding=missing/kept.npy" } do
      local code, said = run(run_line("sentence", "--text-file 'no text' " .. words))
      assert.equal(4, code)
      assert.equal("sentence: missing/kept.npy: cannot be written: No such file or directory\n", said)
    end
    assert.equal(4, (run(line .. "--cache .")))
  end)

  it("are kept by a run that is ended before its last text, and the next run goes on with them", function()
    local texts = "the dog\nx\nthe fox\na fox\n"
    local function line(more) return run_line("sentence", "--query 'the dog' --cache ended.npy " .. more) end
    local function shape() return (select(2, npy(folder .. "/ended.npy"))) end
    -- Runs with texts that come one by one, and ends in the way of `signal`.
    local function ended(count, signal, seconds)
      return run(("set -m; mkfifo pipe; %s --text-file - <pipe 2>&1 & p=$!; exec 3>pipe; rm pipe; "
        .. "for i in $(seq %d); do sleep %s; printf '%%s\\n' the\\ dog x the\\ fox a\\ fox | sed -n $i\"p\" >&3; done; "
        .. "sleep 0.5; kill -%s $p; wait $p"):format(line(""), count, seconds, signal))
    end
    os.remove(folder .. "/ended.npy")
    for i, signal in ipairs { "INT", "TERM" } do
      local code, said = ended(1 + i, signal, 0)
      assert.equal(128 + (signal == "INT" and 2 or 15), code, said)
      assert.equal(("sentence: interrupted\nsentence: --cache ended.npy: %d new embeddings are kept, and the next run "
        .. "goes on with them\n"):format(i == 1 and 2 or 1), said)
      assert.equal(1 + i .. ", 24", shape())
    end
    local text = helper.read(folder .. "/ended.npy")
    local _, said = ended(1, "INT", 0) -- nothing new: those that were not reached stay
    assert.equal("sentence: interrupted\n", said)
    assert.equal(text, helper.read(folder .. "/ended.npy"))
    helper.write(folder .. "/few", "y\nx\n") -- a text that is new, and one that the file has
    local code
    code, said = run(line("--text-file few --text-file /dev/null/none"))
    assert.equal(4, code, said)
    assert.matches("%-%-cache ended.npy: 1 new embeddings are kept", said)
    assert.equal("4, 24", shape())
    helper.write(folder .. "/corpus", texts)
    assert.equal(output_of(run_line("sentence", "--query 'the dog' --text-file corpus")),
      output_of(line("--text-file corpus")))
    assert.equal("4, 24", shape())
    -- Now and then even where nothing can be done at the end.
    os.remove(folder .. "/ended.npy")
    ended(2, "KILL", 5.2)
    assert.equal("2, 24", shape())
  end)
end)
