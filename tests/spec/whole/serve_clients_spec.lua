-- serve_clients_spec.lua: clients from PyPI (openai, huggingface_hub, langchain-openai, litellm, cohere, llama-index,
-- haystack, infinity, ollama) talk to programs that serve, and requests damaged at random go through a server with
-- sanitizers; both are only in `make test-long`.
local dkjson = require("dkjson")
local helper = require("tests.spec.helper")
local serving = require("tests.spec.serving")

local root = helper.absolute_root()
local folder = root .. "/out/spec/serve_clients"
local shell = helper.shell
local say = require("tests.say").of(folder)
local tried = helper.is_long and it or pending

local goldens = root .. "/tests/hf/texts/"
local places = { llama = root .. "/tests/generate/llama", sentence = goldens .. "sentence",
  reranker = goldens .. "reranker", question = goldens .. "question", entailment = goldens .. "entailment",
  speech = root .. "/tests/hf/speech/multilingual" }
local words = { llama = "context=2000 sequences=4 chunk=16 --chat-template "
  .. shell(root .. "/tests/chat/templates/qwen2_5.jinja"), sentence = "'seq=any(40)'", reranker = "'seq=any(40)'",
  speech = "", question = "", tags = "", entailment = "" }

local function build(name, flags)
  local line = "%s %s/gen/attn2c build %s --serve kernels=c name=%s %s -o %s >%s.log 2>&1 || { cat %s.log; exit 1; }"
  say.sh(line:format(flags or "", shell(root), shell(places[name]), name, words[name], name, name, name))
end

local function start(name)
  return serving.start(folder, ("%s/%s serve --weights %s"):format(name, name, shell(places[name])),
    "--port 0 --log none", 1800)
end

describe("a server", function()
  tried("answers clients from PyPI", function()
    local servers, list = {}, {}
    places.tags = folder .. "/tags_of" -- all tokens have the label O, which clients leave out
    say.sh(([[rm -rf %s; cp -r %stoken %s && sed -i 's/"O"/"B-Y"/' %s/config.json]]):format(shell(places.tags),
      shell(goldens), shell(places.tags), shell(places.tags)))
    local all = { llama = "chat", sentence = "embed", reranker = "rank", tags = "tag", question = "answer",
      entailment = "entail" }
    for name, as in pairs(all) do
      build(name)
      servers[name] = start(name)
      list[#list + 1] = as .. "=" .. servers[name].address
    end
    say.sh("test -e venv/done || { python3 -m venv venv && venv/bin/pip install -q openai huggingface_hub "
      .. "langchain-openai litellm mcp numpy cohere llama-index-llms-openai-like llama-index-embeddings-openai "
      .. "llama-index-embeddings-text-embeddings-inference haystack-ai huggingface-api-haystack infinity_client ollama "
      .. "&& touch venv/done; }")
    local said = say.sh(("timeout 300 venv/bin/python %s/tests/serve/clients.py %s"):format(shell(root),
      table.concat(list, " ")))
    for _, client in ipairs { "openai", "huggingface_hub", "langchain%-openai", "litellm", "cohere", "llama%-index",
      "haystack", "infinity", "ollama" } do
      assert.matches("ok " .. client, said)
    end
    for _, server in pairs(servers) do server:stop() end
  end)

  tried("shows special tokens that calls of tools have, and begins a call by them", function()
    local copy = folder .. "/mistral"
    say.sh(("rm -rf %s && cp -r %s %s && sed -i 's/<0xFF>/[TOOL_CALLS]/g' %s/tokenizer.json"):format(shell(copy),
      shell(places.llama), shell(copy), shell(copy)))
    helper.write(copy .. "/chat_template.jinja", "{{ bos_token }}{% if tools %}{{ tools | tojson }}{% endif %}"
      .. "{% for m in messages %}{{ m.content }}{% if m.tool_calls %}{{ '[TOOL_CALLS] [' }}{% endif %}{% endfor %}")
    places.mistral, words.mistral = copy, "context=2000"
    build("mistral")
    local server = start("mistral")
    local body = { messages = { { role = "user", content = "a" } }, max_tokens = 1, temperature = 0,
      logit_bias = { ["258"] = 100 } }
    local function ask()
      local status, said = server:ask("/v1/chat/completions", body)
      assert.equal(200, status, dkjson.encode(said))
      return said.choices[1].message.content, said.usage.prompt_tokens
    end
    assert.equal("", (ask()))
    body.tools = { { type = "function", ["function"] = { name = "f" } } }
    local content, tokens = ask()
    assert.equal("[TOOL_CALLS]", content)
    body.logit_bias = { ["257"] = 100 }
    assert.equal("", (ask()))
    body.tool_choice = "required"
    assert.equal(tokens + 1, (select(2, ask())))
    server:stop()
  end)

  tried("calls tools in the forms of several templates, whole and streamed", function()
    local tool = { type = "function", ["function"] = { name = "put", parameters = { type = "object",
      properties = { a = { type = "boolean" }, t = { type = "string", enum = { "x", "1" } } },
      required = { "a", "t" } } } }
    for _, form in ipairs { "qwen3_coder", "glm4_5", "python_calls", "gpt_oss" } do
      places[form] = places.llama
      words[form] = "context=4000 --chat-template " .. shell(("%s/tests/chat/templates/%s.jinja"):format(root, form))
      build(form)
      local server = start(form)
      local body = { messages = { { role = "user", content = "a" } }, tools = { tool }, tool_choice = "required",
        seed = 2, parallel_tool_calls = false, max_tokens = 400, temperature = 1 }
      local status, said = server:ask("/v1/chat/completions", body)
      assert.equal(200, status, dkjson.encode(said))
      local call = said.choices[1].message.tool_calls[1]["function"]
      local arguments = dkjson.decode(call.arguments)
      assert.same({ "put", "boolean", "string" }, { call.name, type(arguments.a), type(arguments.t) })
      body.stream = true
      local _, _, events = server:ask("/v1/chat/completions", body)
      local streamed
      for line in events:gmatch("data: ({[^\n]*})\n") do
        local delta = dkjson.decode(line).choices[1].delta
        if delta.tool_calls then streamed = delta.tool_calls[1]["function"] end
      end
      assert.same(call, streamed, form)
      body.messages = { body.messages[1], said.choices[1].message, { role = "tool", content = "5",
        tool_call_id = said.choices[1].message.tool_calls[1].id } }
      body.stream, body.tool_choice, body.max_tokens = nil, "auto", 3
      assert.equal(200, (server:ask("/v1/chat/completions", body)), form)
      server:stop()
    end
  end)

  local J = "application/json"
  local function form(fields, data)
    local parts = {}
    for _, field in ipairs(fields) do
      parts[#parts + 1] = ('--x\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n'):format(field[1], field[2])
    end
    return table.concat(parts) .. '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n' .. data
      .. "\r\n--x--\r\n"
  end

  -- Sends requests damaged at random to a server with sanitizers; given a folder, also those with odd values of each
  -- field that its files name. The server must not have said anything.
  local function damage(name, count, requests, sources)
    build(name, "ATTN2C_CFLAGS='-O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all'")
    local server = start(name)
    helper.write(folder .. "/requests", dkjson.encode(requests))
    say.sh(("timeout 1500 python3 %s/tests/serve/fuzz.py %s %d 1 requests %s"):format(shell(root), server.address,
      count, sources or ""))
    local said = server:said()
    server:stop()
    assert.equal("", said)
  end

  tried("answers requests damaged at random, and gives others the same bits", function()
    local sources = shell(root .. "/runtime/program/serve")
    damage("sentence", 100000, {
      { path = "/v1/embeddings", type = J,
        body = '{"input":["the dog","a cat"],"encoding_format":"base64","dimensions":8}' },
      { path = "/v1/embeddings", type = J, body = '{"input":[[1,2,3],[4]],"model":"m"}' },
      { path = "/embed", type = J, body = '{"inputs":"the dog","normalize":true,"truncate":false}' },
      { path = "/similarity", type = J,
        body = '{"inputs":{"source_sentence":"a","sentences":["a","b"]},"parameters":{"truncate":true}}' },
      { path = "/tokenize", type = J, body = '{"inputs":["a b","c"],"add_special_tokens":false}' },
      { path = "/decode", type = J, body = '{"ids":[[5,6],[7]],"skip_special_tokens":false}' } }, sources)
    local tools = '"tools":[{"type":"function","function":{"name":"f","parameters":{"properties":{"a":{"type":"null"}}'
      .. "}}}],"
    damage("llama", 2000, {
      { path = "/v1/chat/completions", type = J, body = '{"messages":[{"role":"user","content":"a"}],' .. tools
        .. '"tool_choice":"required","max_tokens":40,"parallel_tool_calls":false,"temperature":0}' },
      { path = "/v1/chat/completions", type = J, body = '{"messages":[{"role":"user","content":"a"},'
        .. '{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f",'
        .. '"arguments":"{\\"a\\":1}"}}]},{"role":"tool","content":"b","tool_call_id":"c"}],' .. tools
        .. '"max_tokens":20,"n":2,"seed":1}' },
      { path = "/v1/chat/completions", type = J, body = '{"messages":[{"role":"user","content":"a"}],' .. tools
        .. '"tool_choice":"required","stream":true,"max_tokens":20,"seed":1}' } })
    damage("reranker", 20000, {
      { path = "/rerank", type = J, body = '{"query":"a","texts":["b","c"],"return_text":true,"raw_scores":true}' },
      { path = "/v1/rerank", type = J, body = '{"query":"a","documents":["b",{"text":"c"}],"top_n":1}' },
      { path = "/predict", type = J, body = '{"inputs":[["a","b"],["c"]]}' } }, sources)
    local samples = ("\0\1"):rep(8000)
    local wave = "RIFF" .. string.pack("<I4", 36 + #samples) .. "WAVEfmt " .. string.pack("<I4I2I2I4I4I2I2", 16, 1, 1,
      16000, 32000, 2, 16) .. "data" .. string.pack("<I4", #samples) .. samples
    damage("speech", 3000, {
      { path = "/v1/audio/transcriptions", type = "multipart/form-data; boundary=x",
        body = form({ { "response_format", "verbose_json" }, { "temperature", "0" }, { "language", "en" } }, wave) } })
  end)
end)
