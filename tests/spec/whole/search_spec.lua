-- search_spec: folders for searching: lexical weights, vectors of tokens, and scores of late interaction. Each folder
-- of tests/hf/search is built and compared with what sentence-transformers, PyLate and FlagEmbedding make of its texts.
local helper = require("tests.spec.helper")
local dkjson = require("dkjson")
local files = require("common.files")
local lfs = require("lfs")

local root = helper.absolute_root()
local folder = root .. "/out/spec/search"
local goldens = root .. "/tests/hf/search"
local shell = helper.shell
local NEAR = 1e-5 -- of values of about one, relative to larger ones

local say = require("tests.say").of(folder)
local serving = require("tests.spec.serving")
local run, sh, output_of, lines_of, npy = say.run, say.sh, say.output_of, say.lines_of, say.npy

local names = {}
for name in lfs.dir(goldens) do if name:sub(1, 1) ~= "." then names[#names + 1] = name end end
table.sort(names)

local function line(name, more)
  return ("%s/%s run --weights %s %s"):format(name, name, shell(goldens .. "/" .. name), more)
end

local function texts_of(name) return shell(goldens .. "/" .. name .. "/texts.txt") end

-- Compares two arrays; the second may have more rows of zeros at the end of an axis.
local function same(want_path, got_path, columns)
  local want, shape = npy(want_path)
  local got, got_shape = npy(got_path)
  local rows, got_rows = {}, {}
  for n in shape:gmatch("%d+") do rows[#rows + 1] = tonumber(n) end
  for n in got_shape:gmatch("%d+") do got_rows[#got_rows + 1] = tonumber(n) end
  assert.equal(#rows, #got_rows, shape .. " " .. got_shape)
  local width = columns and rows[#rows] or 1
  for i, value in ipairs(want) do
    local at = i
    if #rows == 3 then -- [texts][vectors][width]
      local text, rest = (i - 1) // (rows[2] * width), (i - 1) % (rows[2] * width)
      at = text * got_rows[2] * width + rest + 1
    end
    local apart = math.abs(value - got[at]) / math.max(1, math.abs(value))
    assert.is_true(apart <= NEAR, ("%s [%d]: %g, not %g"):format(got_path, i, got[at], value))
  end
end

local function exists(path) return lfs.attributes(path, "mode") ~= nil end

setup(function()
  local list = {}
  files.make_folder(folder)
  for _, name in ipairs(names) do
    list[#list + 1] = { name = name, path = goldens .. "/" .. name,
      words = { "--text", name == "splade" and "--serve" or nil } }
  end
  dofile(root .. "/tests/cases.lua").programs(folder, list)
end)

describe("a model for searching", function()
  for _, name in ipairs(names) do
    local golden = goldens .. "/" .. name
    local lexical = name == "bge_m3" and "--answer lexical_weights " or ""
    local late = name == "bge_m3" and "--answer token_embeddings " or ""

    it("gives the arrays of its library: " .. name, function()
      local words = {}
      for file in lfs.dir(golden) do
        local output = file:match("^out_(.*)%.npy$")
        if output then words[#words + 1] = ("--output %s=%s_%s.npy"):format(output, name, output) end
      end
      if exists(golden .. "/vectors.npy") then words[#words + 1] = ("--output vectors=%s_vectors.npy"):format(name) end
      sh(line(name, ("--text %s %s"):format(texts_of(name), table.concat(words, " "))))
      for _, word in ipairs(words) do
        local output = word:match("^%-%-output ([^=]*)=")
        local want = output == "vectors" and "/vectors.npy" or ("/out_%s.npy"):format(output)
        same(golden .. want, ("%s/%s_%s.npy"):format(folder, name, output), output == "token_embeddings")
      end
    end)

    it("scores as its library does: " .. name, function()
      local scored = late ~= "" and late or lexical
      sh(line(name, ("%s--query %s --text-file %s --format npy >%s_scores.npy"):format(scored, texts_of(name),
        texts_of(name), name)))
      same(golden .. "/scores.npy", ("%s/%s_scores.npy"):format(folder, name))
      if exists(golden .. "/lexical_scores.npy") then
        sh(line(name, ("%s--similar --text %s --format npy >%s_lexical.npy"):format(lexical, texts_of(name), name)))
        same(golden .. "/lexical_scores.npy", ("%s/%s_lexical.npy"):format(folder, name))
      end
    end)

    if exists(golden .. "/weights.jsonl") then
      it("prints lexical weights, the largest first: " .. name, function()
        local want = lines_of(helper.read(golden .. "/weights.jsonl"))
        local got = lines_of(output_of(line(name, ("%s--text %s"):format(lexical, texts_of(name)))))
        local objects = lines_of(output_of(line(name, ("%s--format jsonl --text %s"):format(lexical, texts_of(name)))))
        assert.same({ #want, #want }, { #got, #objects })
        for i, each in ipairs(want) do
          local pairs_ = dkjson.decode(each)
          local weights = dkjson.decode(objects[i]).weights
          assert.equal(#pairs_, #weights)
          local parts = {}
          for k, pair in ipairs(pairs_) do
            assert.equal(pair[1], weights[k].token)
            assert.is_true(math.abs(pair[2] - weights[k].weight) <= NEAR)
            parts[k] = ("%s %.4f"):format(pair[1], weights[k].weight)
          end
          assert.equal(#parts > 0 and table.concat(parts, "\t") or "-", got[i])
        end
        local best = output_of(line(name, ("%s--top 1 --text %s"):format(lexical, texts_of(name))))
        assert.equal(dkjson.decode(want[1])[1][1], best:match("^(%S+)"))
      end)
    end

    if exists(golden .. "/query_weights.npy") then
      it("gives queries the weights of their tokens: " .. name, function()
        local words = "--prompt query --text %s --output lexical_weights=%s_queries.npy"
        sh(line(name, words:format(texts_of(name), name)))
        same(golden .. "/query_weights.npy", ("%s/%s_queries.npy"):format(folder, name))
        -- Special tokens are not added; those that a text has count.
        local got = output_of(line(name, "--prompt query --text '[SEP]' --top 9"))
        local tokens = {}
        for token in got:gmatch("(%S+) %-?%d") do tokens[token] = true end
        assert.same({ ["[SEP]"] = true, the = true, ["-"] = true }, tokens)
      end)
    end

    if exists(golden .. "/queries.npy") then
      it("encodes queries in their own way: " .. name, function()
        sh(line(name, ("--prompt query --text %s --output token_embeddings=%s_queries.npy"):format(texts_of(name),
          name)))
        same(golden .. "/queries.npy", ("%s/%s_queries.npy"):format(folder, name), true)
      end)
    end
  end

  it("prints vectors of tokens with their places", function()
    local got = lines_of(output_of(line("colbert", "--text 'the cat.'")))
    assert.equal(6, #got) -- CLS, the marker, two words and SEP; the full stop has no vector
    assert.matches("^0\t0\t%[unused1%]\t", got[2])
    assert.matches("^4\t7\tcat\t", got[4])
    assert.equal("", got[6])
    local object = dkjson.decode(output_of(line("colbert", "--format jsonl --text 'the cat.'")))
    assert.same({ 5, 16 }, { #object.tokens, #object.tokens[1].vector })
  end)

  it("has one answer at a time, by its name", function()
    local usual = output_of(line("bge_m3", "--text cat"))
    assert.equal(usual, output_of(line("bge_m3", "--text cat --answer sentence_embedding")))
    assert.is_true(usual ~= output_of(line("bge_m3", "--text cat --answer lexical_weights")))
  end)

  it("finds no weights in a text without words", function()
    local empty = "--answer lexical_weights --text-string '' "
    assert.equal("-\n", output_of(line("bge_m3", empty)))
    assert.equal('{"weights":[]}\n', output_of(line("bge_m3", empty .. "--format jsonl")))
  end)

  it("refuses what does not go with it in a line", function()
    for _, case in ipairs {
      { "bge_m3", "--text a --answer other", "--answer other: no such answer; it has sentence_embedding, "
        .. "lexical_weights, token_embeddings" },
      { "colbert", "--query a --text b --cache x.npy", "--cache: goes with models that give an embedding" },
      { "splade", "--text a --dimensions 3", "--dimensions: goes with models that give an embedding" },
      { "colbert", "--text a --top 3", "--top: goes with models that give labels or tokens" },
      { "colbert", "--text a --prompt other", "the model has no prompt of this name; it has document, query" },
    } do
      local code, said = run(line(case[1], case[2]))
      assert.equal(2, code, said)
      assert.is_truthy(said:find(case[3], 1, true), said)
    end
  end)

  it("serves lexical weights as text-embeddings-inference does", function()
    local server = serving.start(folder, "splade/splade serve --weights " .. shell(goldens .. "/splade"))
    local status, said = server:ask("/embed_sparse", { inputs = { "cat", "cat mat" } })
    assert.equal(200, status)
    for i, text in ipairs { "cat", "cat mat" } do
      local want = dkjson.decode(output_of(line("splade", "--format jsonl --text-string '" .. text .. "'"))).weights
      assert.equal(#want, #said[i])
      for n, each in ipairs(want) do assert.same({ index = each.id, value = each.weight }, said[i][n]) end
    end
    assert.same({ said[1] }, select(2, server:ask("/embed_sparse", { inputs = "cat" })))
    assert.equal(400, (server:ask("/embed_sparse", { inputs = 5 })))
    server:stop()
  end)
end)
