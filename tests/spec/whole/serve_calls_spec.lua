-- serve_calls_spec.lua: programs that serve embeddings, rankings and labels, asked by curl: each request gets the bits
-- that `run --text` gives, whatever else is computed with it; the forms of requests and replies; what is refused.
local dkjson = require("dkjson")
local helper = require("tests.spec.helper")
local serving = require("tests.spec.serving")

local root = helper.absolute_root()
local folder = root .. "/out/spec/serve_calls"
local goldens = root .. "/tests/hf/texts"
local shell = helper.shell
local say = require("tests.say").of(folder)

local builds = { sentence = { "--text", "--serve", "seq=any(40)" },
  modules = { "--text", "--serve", "seq=40", "similarity=manhattan" },
  reranker = { "--text", "--serve", "seq=any(40)" },
  question = { "--text", "--serve" },
  entailment = { "--text", "--serve" } }
local servers = {}

local function line(name, words)
  return ("%s/%s %s --weights %s"):format(name, name, words, shell(goldens .. "/" .. name))
end

local function texts_of(name) return say.lines_of(helper.read(goldens .. "/" .. name .. "/texts.txt")) end

local function bits(value) return string.pack("<f", value) end

-- Returns the floats of an array as text of their bits.
local function packed(list)
  local words = {}
  for i, value in ipairs(list) do words[i] = bits(value) end
  return table.concat(words)
end

-- Returns the rows of `run --text` as texts of bits.
local function rows_of(name, options, width)
  say.sh(line(name, "run") .. " " .. options .. " --format npy >rows.npy")
  local values, rows = say.npy(folder .. "/rows.npy"), {}
  for i = 1, #values, width do rows[#rows + 1] = packed({ table.unpack(values, i, i + width - 1) }) end
  return rows
end

setup(function()
  local list = {}
  for name, words in pairs(builds) do
    list[#list + 1] = { name = name, path = goldens .. "/" .. name, words = words }
  end
  require("common.files").make_folder(folder)
  dofile(root .. "/tests/cases.lua").programs(folder, list)
  for name in pairs(builds) do
    servers[name] = serving.start(folder, line(name, "serve"), "--port 0 --log none")
  end
end)

teardown(function() for _, server in pairs(servers) do server:stop() end end)

describe("embeddings over HTTP", function()
  local texts = texts_of("sentence")

  it("have the bits of run --text, for single requests, together and at once", function()
    local server = servers.sentence
    local options = "--text " .. shell(goldens .. "/sentence/texts.txt")
    local _, whole = server:ask("/v1/embeddings", { input = texts, truncate = true })
    local width = #whole.data[1].embedding
    local want = rows_of("sentence", options, width)
    local asked = {}
    for i, each in ipairs(whole.data) do
      assert.same({ i - 1, "embedding" }, { each.index, each.object })
      assert.equal(want[i], packed(each.embedding))
      asked[i] = { "/v1/embeddings", { input = texts[i], encoding_format = "base64", truncate = true,
        model = "text-embedding-3" } }
    end
    for i, said in ipairs(server:ask_all(asked)) do
      helper.write(folder .. "/coded", dkjson.decode(said).data[1].embedding)
      assert.equal(want[i], say.output_of("base64 -d coded"))
    end
    local _, lists = server:ask("/embed", { inputs = texts, truncate = true })
    for i, each in ipairs(lists) do assert.equal(want[i], packed(each)) end
    assert.same({ "sentence", "list" }, { whole.model, whole.object })
    assert.equal(whole.usage.prompt_tokens, whole.usage.total_tokens)
  end)

  it("are shorter if they are asked to be, and have a prompt", function()
    local server, options = servers.modules, "--text " .. shell(goldens .. "/sentence/texts.txt")
    local _, short = server:ask("/v1/embeddings", { input = texts, dimensions = 8, truncate = true })
    local want = rows_of("modules", options .. " --dimensions 8", 8)
    for i, each in ipairs(short.data) do assert.equal(want[i], packed(each.embedding)) end
    local _, lists = server:ask("/embed", { inputs = texts[1], prompt_name = "query", dimensions = 8 })
    want = rows_of("modules", ("--text-string %s --dimensions 8 --prompt query"):format(shell(texts[1])), 8)
    assert.same(want, { packed(lists[1]) })
    assert.same(lists, (select(2, server:ask("/embed", { inputs = texts[1], input_type = "query", dimensions = 8 }))))
    local status, said = server:ask("/embed", { inputs = "a", prompt_name = "none" })
    assert.same({ 400, 'prompt_name: "none", but clear or passage or query is allowed' }, { status, said.error })
  end)

  it("take ids in place of texts, as /tokenize gives them", function()
    local server = servers.modules
    local _, tokens = server:ask("/tokenize", { inputs = { texts[1], texts[2] }, prompt_name = "clear" })
    local lists = {}
    for i, each in ipairs(tokens) do
      lists[i] = {}
      for j, token in ipairs(each) do lists[i][j] = token.id end
    end
    local _, by_ids = server:ask("/embed", { inputs = lists })
    local _, by_text = server:ask("/embed", { inputs = { texts[1], texts[2] }, prompt_name = "clear" })
    assert.same(by_text, by_ids)
    local _, one = server:ask("/v1/embeddings", { input = lists[2] })
    assert.equal(packed(by_text[2]), packed(one.data[1].embedding))
    local _, decoded = server:ask("/decode", { ids = lists })
    assert.equal(2, #decoded)
    assert.equal("string", type(decoded[1]))
    assert.same({ true, tokens[1][2].start }, { tokens[1][1].special, 0 })
  end)

  it("are compared as the model says", function()
    local function compare(name)
      local inputs = { source_sentence = texts[1], sentences = { texts[1], texts[2] } }
      local _, found = servers[name]:ask("/similarity", { inputs = inputs, parameters = { truncate = true } })
      assert.equal(2, #found)
      return table.unpack(found)
    end
    local one, other = compare("sentence")
    assert.is_true(math.abs(one - 1) < 1e-6 and other < 1)
    local _, said = servers.modules:ask("/v1/embeddings", { input = { texts[1], texts[2] } })
    local distance = 0
    for i, value in ipairs(said.data[1].embedding) do
      distance = distance + math.abs(value - said.data[2].embedding[i])
    end
    one, other = compare("modules")
    assert.is_true(one == 0 and distance > 0 and math.abs(other + distance) < 1e-5 * distance)
  end)

  it("are refused with the field, what came and what is allowed", function()
    local server = servers.modules
    local long = ("word "):rep(100)
    local expected = "a text, a list of texts, a list of ids, or a list of lists of ids is allowed"
    local no_route = "there is no such route; this model has /v1/embeddings, /embed, /similarity, /tokenize, /decode, "
      .. "/v1/models"
    for _, each in ipairs {
      { "/v1/embeddings", "{}", 400, "input: nothing, but " .. expected },
      { "/v1/embeddings", '{"input":[]}', 400, "input: a list, but " .. expected },
      { "/v1/embeddings", '{"input":[1,"a"]}', 400, "input: a list, but " .. expected },
      { "/v1/embeddings", '{"input":["a",null]}', 400, "input: a list, but " .. expected },
      { "/v1/embeddings", '{"input":[1.5]}', 400, "input: a list, but " .. expected },
      { "/v1/embeddings", '{"input":[-1]}', 400, "input: a list, but " .. expected },
      { "/v1/embeddings", '{"input":[99999999999]}', 400, "input: a list, but " .. expected },
      { "/v1/embeddings", '{"input":"a","dimensions":0}', 400,
        "dimensions: 0, but a whole number from 1 to 24 is allowed" },
      { "/v1/embeddings", '{"input":"a","encoding_format":"hex"}', 400,
        'encoding_format: "hex", but float or base64 is allowed' },
      { "/v1/embeddings", dkjson.encode { input = long }, 400,
        'input: it has more tokens than a call of the model takes, 40; "truncate": true cuts it' },
      { "/v1/embeddings", dkjson.encode { input = { "a", long } }, 400,
        'input[1]: it has more tokens than a call of the model takes, 40; "truncate": true cuts it' },
      { "/embed", dkjson.encode { inputs = long }, 413,
        'inputs: it has more tokens than a call of the model takes, 40; "truncate": true cuts it' },
      { "/similarity", dkjson.encode { inputs = { source_sentence = "a", sentences = { "a", long } } }, 413,
        'sentences[1]: it has more tokens than a call of the model takes, 40; "truncate": true cuts it' },
      { "/similarity", dkjson.encode { inputs = { source_sentence = long, sentences = { "a", long } } }, 413,
        'source_sentence: it has more tokens than a call of the model takes, 40; "truncate": true cuts it' },
      { "/similarity", '{"inputs":{"source_sentence":"a","sentences":["b"]},"parameters":5}', 400,
        "parameters: is not supported" },
      { "/embed", '{"inputs":"a","truncate":true,"parameters":{"truncate":false}}', 400,
        "parameters: truncate has another value than beside them, but one is allowed" },
      { "/embed", '{"inputs":"a","truncation_direction":"Left"}', 400,
        'truncation_direction: "Left", but right or Right is allowed' },
      { "/embed", '{"inputs":"a","normalize":"yes"}', 400, 'normalize: "yes", but true or false is allowed' },
      { "/embed", "[1]", 400, "the body: an object in JSON is expected" },
      { "/embed", '{"inputs":"a","parameters":{"pooling":"x"}}', 400, "pooling: is not supported" },
      { "/embed", '{"inputs":"a","input_type":"none"}', 400,
        'input_type: "none", but clear or passage or query is allowed' },
      { "/v1/embeddings", '{"input":"a","add_special_tokens":false}', 400, "add_special_tokens: is not supported" },
      { "/v1/embeddings", '{"input":"a","normalized":false}', 400, "normalized: is not supported: normalize is" },
      { "/v1/embeddings", '{"input":"a","task_type":"q"}', 400, "task_type: is not supported: prompt_name is" },
      { "/v1/embeddings", '{"input":"a","endianness":"big"}', 400,
        'endianness: "big", but native or little is allowed' },
      { "/embed", '{"inputs":"a","encoding_format":"base64"}', 400, 'encoding_format: "base64", but float is allowed' },
      { "/rerank", "{}", 404, no_route },
      { "/nothing", "{}", 404, no_route },
      { "/v1/nothing", "{}", 404, no_route },
      { "/info", "{}", 405, "the route takes GET, HEAD" },
    } do
      local status, said = server:ask(each[1], each[2])
      local fault = said.error
      assert.same({ each[3], each[4] }, { status, type(fault) == "table" and fault.message or fault }, each[2])
      assert.equal(each[1]:match("^/v1") and "table" or "string", type(fault))
    end
    local _, cut = server:ask("/embed", { inputs = long, truncate = true })
    local want = rows_of("modules", "--text-string " .. shell(long), #cut[1])
    assert.equal(want[1], packed(cut[1]))
    assert.equal(400, (server:ask("/embed", '{"inputs":"\xff"}')))
    assert.equal("Validation", (select(2, server:ask("/embed", "{")).error_type))
    local status, said = server:ask("/embed", nil, "-H 'Content-Length: 1000000000' -X POST")
    assert.same({ 413, { error = "the body: at most 4194304 bytes are allowed",
      error_type = "Validation" } }, { status, said })
  end)
end)

describe("rankings over HTTP", function()
  it("have the scores of run --rank, in both forms", function()
    local server = servers.reranker
    local documents = texts_of("reranker")
    for i, text in ipairs(documents) do documents[i] = text:match("[^\t]*") end
    helper.write(folder .. "/documents", table.concat(documents, "\n") .. "\n")
    local query = "which is it?"
    local said = say.output_of(line("reranker", "run") .. " --format jsonl --top 1000 --rank --text-string "
      .. shell(query) .. " --text-pair documents")
    local want = dkjson.decode(said).texts
    local _, ranks = server:ask("/rerank", { query = query, texts = documents, return_text = true, truncate = true })
    local _, results = server:ask("/v1/rerank", { query = query, documents = documents, top_n = 2,
      return_documents = true, truncate = true })
    assert.equal(#documents, #ranks)
    assert.equal(2, #results.results)
    for field, value in pairs { use_activation = false, activation = "softmax", normalize = false, min_score = 0.5 } do
      local code, refused = server:ask("/v1/rerank", { query = query, documents = documents, [field] = value })
      assert.same({ 400, field }, { code, refused.error.param })
    end
    for i, each in ipairs(ranks) do
      assert.same({ want[i].number - 1, bits(want[i].score), want[i].text },
        { each.index, bits(each.score), each.text })
      local other = results.results[i]
      if other then
        assert.same({ each.index, each.score, each.text }, { other.index, other.relevance_score, other.document.text })
      end
    end
    for _, route in ipairs { "/v2/rerank", "/rerank" } do
      local _, other = server:ask(route, { query = query, documents = documents, top_n = 2, return_documents = true,
        truncate = true })
      results.object = route == "/rerank" and "rerank" or "list"
      assert.same(results, other, route)
    end
    for _, route in ipairs { "/v1/rerank", "/rerank" } do
      assert.equal(200, (server:ask(route, '{"query":"a","texts":["b"],"documents":null}')))
    end
    local _, objects = server:ask("/v1/rerank", { query = query, documents = { { text = "a" } } })
    assert.is_nil(objects.results[1].document)
    local _, pairs_of = server:ask("/predict", { inputs = { { "a", "b" }, { "a" } }, raw_scores = true })
    assert.same({ 2, 1, "LABEL_0" }, { #pairs_of, #pairs_of[1], pairs_of[1][1].label })
    local _, one = server:ask("/", { inputs = "a", raw_scores = true })
    assert.same({ pairs_of[2] }, one)
    for how, same in pairs { none = true, sigmoid = false } do
      local _, other = server:ask("/", { inputs = "a", parameters = { function_to_apply = how, top_k = 1 } })
      assert.equal(same, one[1][1].score == other[1][1].score, how)
    end
    local _, _, named = server:ask("/v1/rerank", { query = "a", documents = { { text = "a", title = "b" } } }, "-i")
    assert.matches("\nIgnored%-Fields: documents%.title\r", named)
    local status, refused = server:ask("/rerank", '{"texts":["a"]}')
    assert.same({ 400, "query: nothing, but a text is needed" }, { status, refused.error })
    status, refused = server:ask("/v1/rerank", '{"query":"a"}')
    assert.same({ 400, "documents: nothing, but a list of texts is allowed", "documents" },
      { status, refused.error.message, refused.error.param })
  end)
end)

describe("answers over HTTP", function()
  it("are the objects of run --format jsonl, over all windows of a pair", function()
    local server = servers.question
    local question, text = "What is there?", ("one two three four "):rep(40)
    local want = say.output_of(line("question", "run") .. (" --format jsonl --text %s --text-pair %s")
      :format(shell(question), shell(text)))
    local status, _, said = server:ask("/predict", { inputs = { question, text } })
    assert.same({ 200, want }, { status, said .. "\n" })
    local answer = dkjson.decode(said)
    local _, pipeline = server:ask("/", { inputs = { question = question, context = text } })
    assert.same({ answer.answer, answer.begin, answer["end"] },
      { pipeline.answer, pipeline.start, pipeline["end"] })
    for field, value in pairs { raw_scores = true, top_k = 2, candidate_labels = { "a" }, align_to_words = true } do
      local code, refused = server:ask("/", { inputs = { question, text }, parameters = { [field] = value } })
      assert.same({ 400, field .. ": is not supported" }, { code, refused.error:match("^[%w_]+: is not supported") })
    end
    local _, info = server:ask("/info")
    assert.truthy(info.model_type.classifier)
  end)

  it("are scores of labels that come with the request, as transformers' pipeline gives them", function()
    local server = servers.entailment
    local function ask(inputs, labels, more)
      more.candidate_labels = labels
      return server:ask("/", { inputs = inputs, truncate = true, parameters = more })
    end
    local said = dkjson.decode(helper.read(goldens .. "/entailment/pipeline.json"))
    for _, each in ipairs(said) do
      local status, found, text = ask(each.text, each.labels,
        { multi_label = each.multi_label, hypothesis_template = each.template })
      assert.equal(200, status, text)
      for i, want in ipairs(each.found) do
        assert.equal(want[1], found[i].label)
        assert.is_true(math.abs(want[2] - found[i].score) < 2e-5 + 1e-4 * want[2])
      end
      assert.equal(#each.found, #found)
    end
    local _, one = ask("the dog", { "a", "b" }, {})
    local _, list = ask({ "the dog", "x" }, { "a", "b" }, {})
    assert.same({ one, 2 }, { list[1], #list })
    for _, each in ipairs {
      { 400, "hypothesis_template: ", { "a" }, { hypothesis_template = "It is." } },
      { 400, "hypothesis_template: ", { "a" }, { hypothesis_template = "{} {}" } },
      { 400, "candidate_labels: ", { 5 }, {} }, { 400, "candidate_labels: ", {}, {} },
      { 400, "top_k: is not supported", { "a" }, { top_k = 1 } },
      { 422, "inputs: the limit leaves nothing", { ("one two "):rep(60) }, {} } } do
      local status, refused = ask("the dog", each[3], each[4])
      assert.same({ each[1], each[2] }, { status, (refused.error or ""):sub(1, #each[2]) })
    end
  end)
end)

describe("damaged requests", function()
  it("are answered, and leave other answers as they are", function()
    helper.write(folder .. "/requests", dkjson.encode {
      { path = "/v1/rerank", type = "application/json",
        body = '{"query":"a","documents":["b",{"text":"c"}],"top_n":1}' },
      { path = "/predict", type = "application/json", body = '{"inputs":[["a","b"],["c"]],"truncate":true}' },
      { path = "/tokenize", type = "application/json", body = '{"inputs":["a b","c"],"add_special_tokens":false}' },
      { path = "/decode", type = "application/json", body = '{"ids":[[5,6],[7]],"skip_special_tokens":false}' } })
    say.sh(("timeout 100 python3 %s/tests/serve/fuzz.py %s 1500 1 requests"):format(shell(root),
      servers.reranker.address))
  end)
end)

describe("the page", function()
  it("may run its own script and style alone", function()
    local server = servers.modules
    local _, _, page = server:ask("/")
    local _, _, head = server:ask("/", nil, "-I")
    local policy = head:match("Content%-Security%-Policy: ([^\r\n]*)")
    for _, each in ipairs { "script", "style" } do
      helper.write(folder .. "/part", page:match("<" .. each .. ">(.-)</" .. each .. ">"))
      local sum = say.output_of("openssl dgst -sha256 -binary part | base64"):match("%S+")
      assert.truthy(policy:find(each .. "-src 'sha256-" .. sum .. "'", 1, true), each .. " has the hash " .. sum)
    end
    assert.truthy(policy:find("default-src 'none'; connect-src 'self'", 1, true))
    assert.is_nil(page:find("innerHTML", 1, true))
    local _, known = server:ask("/routes")
    assert.same({ "modules", { "text" }, false }, { known.model, known.takes, known.needs_key })
  end)

  local tried = helper.is_long and it or pending

  -- Follows steps on the page of a server in Chromium (tests/serve/page.py).
  local function try(name, steps, options)
    helper.write(folder .. "/steps", table.concat(steps, "\n") .. "\n")
    say.sh(("timeout 120 python3 %s/tests/serve/page.py %s steps %s"):format(shell(root), servers[name].address,
      options or ""))
  end

  tried("compares texts, ranks them and shows tokens, by the keyboard alone", function()
    for _, colours in ipairs { "", "--dark" } do
      try("sentence", { "hidden\tchat", "hidden\trank", "hidden\tpredict", "focus\tsimilar-one", "type\tthe dog",
        "focus\tsimilar-other", "type\tthe dog", "key\tCtrl+Enter", "see\tsimilar\tsimilarity\\s+1\\.0000",
        "focus\ttokens-text", "type\t<img src=x onerror=alert(1)>", "key\tCtrl+Enter", "see\ttokens\tonerror|special" },
        colours)
    end
    try("reranker", { "focus\trank-query", "type\tdog", "focus\trank-texts", "type\ta dog\\na cat",
      "key\tCtrl+Enter", "see\trank\ta (dog|cat).*a (dog|cat)" })
    try("question", { "focus\tpredict-text", "type\tWhat?", "focus\tpredict-pair", "type\tone two",
      "key\tCtrl+Enter", "see\tpredict\t\"answer\"" })
  end)
end)
