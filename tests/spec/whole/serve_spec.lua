-- serve_spec.lua: programs that are built with --serve, asked by curl: routes, keys, limits, and the end.
local dkjson = require("dkjson")
local generating = require("tests.spec.generating")
local helper = require("tests.spec.helper")
local serving = require("tests.spec.serving")

local own = generating.new("serve", { "llama" },
  "--serve --chat-template=" .. helper.shell(helper.absolute_root() .. "/out/spec/serve/chat.jinja"), { llama = true })
local shell = helper.shell
local tried = helper.is_long and it or pending

describe("a program that serves", function()
  local server
  setup(function()
    require("common.files").make_folder(own.folder)
    helper.write(own.folder .. "/chat.jinja", "{%- if only_last %}{% for m in messages if m.role == 'system' %}"
      .. "{% if loop.last %}{{ m.content | trim }}{% endif %}{% endfor %}{% else -%}"
      .. helper.read(own.root .. "/tests/chat/templates/qwen2_5.jinja") .. "{%- endif %}"
      .. "{%- if enable_thinking is defined and enable_thinking is false %}{{ '<think></think>' }}{% endif %}")
    own.build()
    server = serving.start(own.folder, own.line("llama", "serve"))
  end)
  teardown(function() if server then server:stop() end end)

  it("says that it is there, and what it has", function()
    local status, said = server:ask("/health")
    assert.same({ 200, { status = "ok" } }, { status, said })
    status, said = server:ask("/v1/models")
    assert.same({ 200, "llama" }, { status, said.data[1].id })
    status, said = server:ask("/v1/models/org%2Fany?x=1")
    assert.same({ 200, "llama", "model" }, { status, said.id, said.object })
    assert.equal(404, (server:ask("/v1/models/")))
    for _, path in ipairs { "/models", "/models/any" } do
      assert.equal((select(3, server:ask("/v1" .. path))), (select(3, server:ask(path))))
    end
    assert.equal(404, (server:ask("/models/")))
    assert.equal(404, (server:ask("/v1")))
    local _, _, text = server:ask("/metrics")
    assert.matches('attn2c_requests_total{route="/health",status="200"} 1\n', text, 1, true)
  end)

  it("refuses other routes and methods", function()
    local status, said = server:ask("/nothing")
    assert.same({ 404, "not_found_error" }, { status, said.error.type })
    status, said = server:ask("/health", "{}")
    assert.same({ 405, "the route takes GET, HEAD" }, { status, said.error.message })
    assert.matches("HTTP/1.1 200", (select(3, server:ask("/health", nil, "-I"))))
  end)

  it("asks for its key, except where it says that it lives", function()
    helper.write(own.folder .. "/key", "secret-1\n")
    local keyed = serving.start(own.folder, own.line("llama", "serve"), "--port 0 --api-key-file key")
    local function status_with(more) return (keyed:ask("/v1/models", nil, more)) end
    assert.equal(200, (keyed:ask("/health")))
    for _, wrong in ipairs { "", "-H 'Authorization: Bearer secret-2'", "-H 'Authorization: Bearer secret-'",
      "-H 'Authorization: Bearer secret-1secret-1'", "-H 'Authorization: Bearer '", "-H 'Authorization: secret-1'" } do
      assert.equal(401, status_with(wrong), wrong)
    end
    assert.equal(200, status_with("-H 'Authorization: Bearer secret-1'"))
    keyed:stop()
  end)

  it("refuses addresses that it cannot have", function()
    local port = server.address:match("%d+$")
    local line = own.line("llama", "serve")
    local function refused(options) return own.refusal(("timeout 20 %s %s"):format(line, options)) end
    assert.same({ 4, "127.0.0.1:" .. port .. ": another process listens there\n" }, { refused("--port " .. port) })
    assert.same({ 2, "--host: 'x', but a number such as 127.0.0.1 or ::1, or localhost is allowed\n" },
      { refused("--host x") })
    assert.same({ 2, "--unix: does not go with --host and --port\n" }, { refused("--unix s --port 1") })
    helper.write(own.folder .. "/file", "mine")
    assert.same({ 4, "--unix file: a file that is no socket is there\n" }, { refused("--unix file") })
    assert.equal("mine", helper.read(own.folder .. "/file"))
    assert.same({ 4, "none: cannot be opened: No such file or directory\n" },
      { refused("--api-key-file none --port 0") })
    assert.same({ 2, "--log: 'x', but none, text or jsonl is allowed\n" }, { refused("--log x") })
  end)

  it("takes a socket file that nobody listens on, and removes it at the end", function()
    os.execute("cd " .. shell(own.folder) .. " && rm -f s && python3 -c 'import socket; "
      .. "socket.socket(socket.AF_UNIX).bind(\"s\")' && test -S s")
    local first = serving.start(own.folder, own.line("llama", "serve"), "--unix s --log jsonl")
    first.address = "unix:" .. own.folder .. "/s"
    assert.equal(200, (first:ask("/health")))
    local status, said = own.refusal("timeout 20 " .. own.line("llama", "serve", "--unix s"))
    assert.same({ 4, "--unix s: another process listens there\n" }, { status, said })
    assert.matches('^{"time":"[^"]+","method":"GET","route":"/health","status":200,"ms":[%d.]+,"bytes":0', first:said())
    first:stop()
    assert.falsy(os.execute("test -e " .. shell(own.folder .. "/s")))
  end)

  -- Returns the status of a completion, and its reply.
  local function completion(body)
    local status, said = server:ask("/v1/completions", body)
    return status, said
  end

  it("completes a prompt as `generate` does", function()
    local said = own.sh(own.line("llama", "generate", "--prompt 'Once upon' --prompt 'a time' --tokens 12 --seed 5 "
      .. "--temperature 0.7 --top-k 20 --top-p 0.9 --format jsonl"))
    local expected = own.lines_of(said)
    local _, answer = completion { prompt = { "Once upon", "a time" }, max_tokens = 12, seed = 5, temperature = 0.7,
      top_k = 20, top_p = 0.9 }
    for i, line in ipairs(expected) do
      local one = dkjson.decode(line)
      assert.equal(one.text, answer.choices[i].text)
      assert.equal(one["end"] == "tokens" and "length" or "stop", answer.choices[i].finish_reason)
    end
    assert.equal(2, #answer.choices)
    local greedy = dkjson.decode(own.sh(own.line("llama", "generate", "--prompt 'Once upon' --greedy --tokens 12 "
      .. "--format jsonl")))
    local status, one = completion { prompt = "Once upon", max_tokens = 12, temperature = 0 }
    assert.same({ 200, greedy.text }, { status, one.choices[1].text })
    assert.same({ #greedy.ids, greedy.prompt_tokens }, { one.usage.completion_tokens, one.usage.prompt_tokens })
  end)

  it("ends at stop texts, and takes tokens, biases and penalties", function()
    local _, all = completion { prompt = { 1, 5, 9, 30 }, max_tokens = 12, temperature = 0 }
    local text = all.choices[1].text
    local middle = text:sub(utf8.offset(text, 4), utf8.offset(text, 6) - 1)
    local _, cut = completion { prompt = { 1, 5, 9, 30 }, max_tokens = 12, temperature = 0, stop = middle }
    assert.same({ text:sub(1, utf8.offset(text, 4) - 1), "stop" },
      { cut.choices[1].text, cut.choices[1].finish_reason })
    local _, same = completion { prompt = { 1, 5, 9, 30 }, max_tokens = 12, temperature = 0, stop = { "zzz", middle } }
    assert.equal(cut.choices[1].text, same.choices[1].text)
    -- Special tokens are not shown, but may begin a stop text.
    local _, begun = completion { prompt = "a", max_tokens = 4, temperature = 0, stop = "<unk><unk>",
      logit_bias = { ["0"] = 100 } }
    assert.same({ "stop", 2 }, { begun.choices[1].finish_reason, begun.usage.completion_tokens })
    for _, more in ipairs { {}, { tools = { { type = "function", ["function"] = { name = "f" } } } } } do
      more.messages, more.max_tokens, more.stop = { { role = "user", content = "a" } }, 3, "<unk>"
      more.logit_bias, more.temperature = { ["0"] = 100 }, 0
      local _, ended = server:ask("/v1/chat/completions", more)
      assert.same({ "stop", 1 }, { ended.choices[1].finish_reason, ended.usage.completion_tokens })
    end
    local bias = own.sh(own.line("llama", "generate", "--prompt 'Once upon' --greedy --tokens 8 --format jsonl "
      .. "--logit-bias 790=-inf --logit-bias 71=2.5 --frequency-penalty 0.5 --presence-penalty 0.25"))
    local _, biased = completion { prompt = "Once upon", temperature = 0, max_tokens = 8,
      logit_bias = { ["790"] = -100, ["71"] = 2.5 }, frequency_penalty = 0.5, presence_penalty = 0.25 }
    assert.equal(dkjson.decode(bias).text, biased.choices[1].text)
  end)

  it("writes texts of a grammar, and JSON that a schema allows", function()
    local schema = { type = "object", properties = { yes = { type = "boolean" } }, required = { "yes" } }
    local asked = { { grammar = 'root ::= "yes" | "no"' }, { json_schema = schema },
      { response_format = { type = "json_schema", json_schema = { name = "x", schema = schema } } },
      { response_format = { type = "json_object", schema = schema } } }
    for i, body in ipairs(asked) do
      body.prompt, body.n, body.seed, body.temperature, body.logprobs = "Once upon", 3, i, 2, 2
      local status, answer = completion(body)
      assert.equal(200, status)
      for _, each in ipairs(answer.choices) do
        assert.equal("stop", each.finish_reason)
        assert.is_true((each.text == "yes" or each.text == "no") or type(dkjson.decode(each.text).yes) == "boolean")
      end
    end
    local status, chat = server:ask("/v1/chat/completions", { response_format = { type = "json_object" }, top_k = 0,
      messages = { { role = "user", content = "JSON" } }, max_tokens = 300, temperature = 2, seed = 5 })
    local said = chat.choices[1]
    assert.same({ 200, "{" }, { status, said.message.content:sub(1, 1) })
    assert.is_true(said.finish_reason == "length" or type(dkjson.decode(said.message.content)) == "table")
  end)

  it("reads other servers' names of fields, and refuses what it has not", function()
    local asked = { prompt = "Once upon", max_tokens = 12, temperature = 0, repetition_penalty = 1.5 }
    local _, first = completion(asked)
    asked.n_predict, asked.max_tokens, asked.repeat_penalty, asked.repetition_penalty = 12, nil, 1.5, nil
    asked.seed, asked.stop, asked.logit_bias, asked.repeat_last_n, asked.min_tokens = -1, "[]", "[]", -1, 0
    local text = dkjson.encode(asked):gsub('"%[%]"', "[]")
    local _, second = completion(text)
    assert.equal(first.choices[1].text, second.choices[1].text)
    local drawn = {}
    for i = 1, 2 do drawn[i] = select(2, completion { prompt = "a", max_tokens = 12, temperature = 2, seed = -1 }) end
    assert.is_true(drawn[1].choices[1].text ~= drawn[2].choices[1].text)
    for said, fields in pairs {
      ["repeat_last_n: is not supported: penalties look at all tokens, as -1 says"] = { repeat_last_n = 64,
        repeat_penalty = 2 },
      ["n_predict: 1, but it is the same as max_tokens"] = { n_predict = 1, max_tokens = 1 },
      ["min_tokens: is not supported"] = { min_tokens = 1 },
      ["num_beams: is not supported"] = { num_beams = 4 },
      ["do_sample: is not supported: temperature is"] = { do_sample = false },
      ["skip_special_tokens: is not supported"] = { skip_special_tokens = false },
      ["n_probs: is not supported: logprobs are"] = { n_probs = 2 },
    } do
      fields.prompt = "a"
      local status, answer = completion(fields)
      assert.same({ 400, said, said:match("^[^:]*") }, { status, answer.error.message, answer.error.param })
    end
    local function read(fields)
      fields.messages, fields.max_tokens = { { role = "user", content = "Hi" } }, 1
      local status, chat = server:ask("/v1/chat/completions", fields)
      return status, status == 200 and chat.usage.prompt_tokens or chat.error.param
    end
    local _, usual = read {}
    local _, quick = read { enable_thinking = false }
    assert.is_true(quick > usual)
    assert.same({ 200, quick }, { read { chat_template_kwargs = { enable_thinking = false } } })
    assert.is_true(select(2, read { add_generation_prompt = false }) < usual)
    assert.same({ 400, "enable_thinking" }, { read { enable_thinking = 1 } })
    assert.same({ 400, "chat_template_kwargs" }, { read { chat_template_kwargs = "x" } })
  end)

  it("gives tokens' own bytes, of which the text is", function()
    local _, said = completion { prompt = "Once upon", max_tokens = 3, temperature = 0, logprobs = 20 }
    local choice, count = said.choices[1], 0
    assert.equal(choice.text, table.concat(choice.logprobs.tokens))
    assert.equal(" ", choice.text:sub(1, 1))
    for _ in pairs(choice.logprobs.top_logprobs[1]) do count = count + 1 end
    assert.equal(20, count) -- names of tokens differ
    local _, first = completion { prompt = { 1 }, max_tokens = 1, temperature = 0, logprobs = 0,
      logit_bias = { ["790"] = 100 } }
    assert.equal(first.choices[1].text, first.choices[1].logprobs.tokens[1])
    local _, echoed = completion { prompt = "ab c d", max_tokens = 1, temperature = 0, logprobs = 0, echo = true }
    local tokens, places = echoed.choices[1].logprobs.tokens, echoed.choices[1].logprobs.text_offset
    local prompt, found = "ab c d", 0
    for i, token in ipairs(tokens) do
      if prompt:sub(places[i] + 1, places[i] + #token) == token then found = found + #token end
    end
    assert.equal(#prompt, found)
    local _, chat = server:ask("/v1/chat/completions", { messages = { { role = "user", content = "Hi" } }, seed = 3,
      temperature = 1.5, max_tokens = 8, logprobs = true })
    local text, bytes = "", {}
    for _, each in ipairs(chat.choices[1].logprobs.content) do
      text = text .. each.token
      for _, byte in ipairs(each.bytes) do bytes[#bytes + 1] = string.char(byte) end
    end
    assert.same({ chat.choices[1].message.content, chat.choices[1].message.content }, { text, table.concat(bytes) })
  end)

  it("takes what clients send in place of nothing", function()
    local status, plain = completion { prompt = "a", max_tokens = 3, temperature = 0 }
    local code, more = completion { prompt = "a", max_tokens = 3, temperature = 0, suffix = "", functions = {},
      best_of = 1, user = "u" }
    assert.same({ 200, 200, plain.choices[1].text }, { status, code, more.choices[1].text })
    code, more = completion { prompt = "a", max_tokens = -1, stop = { "e", "a", "i", "o", "u", " " } }
    assert.same({ 200, "stop" }, { code, more.choices[1].finish_reason })
    code, more = completion { prompt = "ab c", max_tokens = 2, echo = true, logprobs = 1, temperature = 0 }
    local places = more.choices[1].logprobs.text_offset
    for i = 2, #places do assert.is_true(places[i] >= places[i - 1]) end
    assert.same({ 200, 0, 4 }, { code, places[2], places[#places - 1] })
  end)

  it("takes llama.cpp's options, as `generate` does", function()
    for words, fields in pairs {
      ["--xtc-probability 0.5 --xtc-threshold 0.02 --top-n-sigma 2"] = { xtc_probability = 0.5, xtc_threshold = 0.02,
        top_n_sigma = 2 },
      ["--typical-p 0.8 --sampler-order 'typ_p;top_k'"] = { typical_p = 0.8, samplers = { "typ_p", "top_k" } },
      ["--dynatemp-range 0.5 --dynatemp-exponent 2"] = { dynatemp_range = 0.5, dynatemp_exponent = 2 },
      ["--mirostat 2 --mirostat-tau 3 --mirostat-eta 0.3"] = { mirostat = 2, mirostat_tau = 3, mirostat_eta = 0.3 },
      ["--dry-multiplier 2 --dry-base 1.5 --dry-allowed-length 1 --dry-last-n 30"] = { dry_multiplier = 2,
        dry_base = 1.5, dry_allowed_length = 1, dry_penalty_last_n = 30 },
      ["--dry-multiplier 3 --dry-allowed-length 0 --dry-breaker e --dry-breaker 'th'"] = { dry_multiplier = 3,
        dry_allowed_length = 0, dry_sequence_breakers = { "e", "th" } },
    } do
      local expected = dkjson.decode(own.sh(own.line("llama", "generate", "--prompt 'Once upon' --tokens 20 --seed 5 "
        .. "--temperature 0.9 --format jsonl " .. words))).text
      fields.prompt, fields.max_tokens, fields.seed, fields.temperature = "Once upon", 20, 5, 0.9
      local status, answer = completion(fields)
      assert.same({ 200, expected }, { status, answer.choices[1].text }, words)
    end
    for said, fields in pairs {
      ["typical_p: 2, but a number from 0 to 1 is allowed"] = { typical_p = 2 },
      ["samplers: 'x', but llama.cpp or names of penalties;dry;temperature;top_n_sigma;top_k;top_p;min_p;typ_p;"
        .. "xtc are allowed, each once"] = { samplers = { "x" } },
    } do
      fields.prompt = "a"
      local status, answer = completion(fields)
      assert.same({ 400, said, said:match("^[^:]*") }, { status, answer.error.message, answer.error.param })
    end
  end)

  -- Requests that differ in everything, with log-probabilities.
  local function requests()
    local list = {}
    for i = 1, 24 do
      local words = ("one two three four five six seven eight nine ten "):rep(1 + i % 5):sub(1, 20 + 9 * i)
      list[i] = { "/v1/completions", { prompt = i % 6 == 0 and { words, "other" } or words, max_tokens = 3 + i % 11,
        temperature = i % 3 == 0 and 0 or 0.5 + i / 20, seed = i, logprobs = i % 4, n = 1 + (i % 5 == 0 and 2 or 0),
        echo = i % 7 == 0, frequency_penalty = i % 2, grammar = i % 8 == 3 and 'root ::= [a-z ]+ "."' or nil } }
    end
    return list
  end

  -- The part of a reply that does not depend on when it comes.
  local function lasting(text)
    return (text:gsub('"id":"[^"]*"', ""):gsub('"created":%d+', ""):gsub('"cached_tokens":%d+', ""))
  end

  it("gives each of many requests the bits that it gets alone", function()
    local list = requests()
    local together, fresh = server:ask_all(list), serving.start(own.folder, own.line("llama", "serve"),
      "--port 0 --sequences 1")
    for i, each in ipairs(list) do
      local status, _, alone = fresh:ask(each[1], each[2])
      assert.equal(200, status)
      assert.equal(lasting(alone), lasting(together[i]))
    end
    fresh:stop()
  end)

  it("gives the same bits with guesses", function()
    local list = requests()
    for i = 1, 12 do
      list[#list + 1] = { "/v1/completions", { prompt = ("the cat sat "):rep(2 + i % 4), max_tokens = 30 + i, seed = i,
        temperature = i % 2 == 0 and 0 or 0.4, logprobs = i % 3 == 0 and 2 or nil, stop = i % 5 == 0 and "e" or nil } }
    end
    local guessing = serving.start(own.folder, own.even_clock() .. own.line("llama", "serve"),
      "--port 0 --guess prompt")
    local together, guessed = server:ask_all(list), guessing:ask_all(list)
    for i in ipairs(list) do assert.equal(lasting(together[i]), lasting(guessed[i])) end
    for _, each in ipairs { list[25], list[30], list[34] } do
      local alone = select(3, guessing:ask(each[1], each[2]))
      assert.equal(lasting((select(3, server:ask(each[1], each[2])))), lasting(alone))
    end
    guessing:stop()
  end)

  it("streams the same text, and ends with its usage", function()
    local body = { prompt = "Once upon", max_tokens = 16, temperature = 0 }
    local _, whole = completion(body)
    body.stream, body.stream_options = true, { include_usage = true }
    local status, _, text = server:ask("/v1/completions", body)
    local said, usage, last = {}, nil, nil
    for line in text:gmatch("data: ([^\n]*)\n\n") do
      local event = dkjson.decode(line)
      if event and event.choices[1] then said[#said + 1] = event.choices[1].text end
      if event and event.choices[1] then last = event.choices[1].finish_reason or last end
      usage = event and event.usage or usage
    end
    assert.same({ 200, whole.choices[1].text, "length", whole.usage.total_tokens },
      { status, table.concat(said), last, usage.total_tokens })
    assert.matches("data: %[DONE%]\n\n$", text)
  end)

  it("chats by the model's template", function()
    local body = { messages = { { role = "system", content = "Be brief." }, { role = "user", content = "Hi" } },
      max_tokens = 7, temperature = 0 }
    local lines = '{"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Hi"}]}'
    local expected = dkjson.decode(own.sh(("echo %s | %s"):format(shell(lines),
      own.line("llama", "chat", "--greedy --tokens 7 --format jsonl"))))
    local status, said = server:ask("/v1/chat/completions", body)
    assert.same({ 200, "assistant", expected.content, "length" }, { status, said.choices[1].message.role,
      said.choices[1].message.content, said.choices[1].finish_reason })
    body.messages[2].content = { { type = "text", text = "H" }, { type = "text", text = "i" } }
    body.stream = true
    local _, _, text = server:ask("/v1/chat/completions", body)
    local parts = {}
    for line in text:gmatch("data: ([^\n]*)\n\n") do
      local event = dkjson.decode(line)
      parts[#parts + 1] = event and event.choices[1].delta.content
    end
    assert.equal(expected.content, table.concat(parts))
  end)

  it("gives the model all messages, or refuses them", function()
    local user = { role = "user", content = "Hi" }
    local function chat(role, more, body)
      body = body or { messages = { { role = role, content = "Be brief." }, user }, max_tokens = 5, temperature = 0 }
      for name, value in pairs(more or {}) do body.messages[1][name] = value end
      local status, said = server:ask("/v1/chat/completions", body)
      return status, said.error and said.error.message or said.choices[1].message.content
    end
    local _, system = chat("system")
    assert.same({ 200, system }, { chat("developer") })
    assert.same({ 400, "messages[0]: the model's chat template leaves out messages of the role usr" }, { chat("usr") })
    assert.same({ 3, "chat: the chat template leaves out messages of the role usr\n" },
      { own.refusal("echo '{\"role\":\"usr\",\"content\":\"a\"}' | "
        .. own.line("llama", "chat", "--greedy --format jsonl")) })
    assert.equal("messages[1]: the chat template leaves out messages of the role usr\n", own.sh(([=[
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=llama /usr/bin/python3 -W error -c '
import llama
said = [{"role": "user", "content": "a"}, {"role": "usr", "content": "b"}, {"role": "tool", "content": " "}]
with llama.Pipeline("%s") as pipeline:
    pipeline.chat([said[0], said[2]], 2)
    try: pipeline.chat(said, 2)
    except ValueError as fault: print(fault)']=]):format(own.root .. "/tests/generate/llama")))
    local only_last = { max_tokens = 1, chat_template_kwargs = { only_last = true },
      messages = { { role = "system", content = " - " }, user } }
    assert.equal(200, (server:ask("/v1/chat/completions", only_last)))
    only_last.messages[2] = { role = "system", content = "b" }
    assert.same({ 400, "messages[0]: the model's chat template leaves out messages of the role system" },
      { chat("system", nil, only_last) })
    assert.same({ 400, "messages: prefix: is not supported: the model's chat template has none" },
      { chat("assistant", { prefix = true }) })
  end)

  it("names the fields that nothing reads", function()
    local body = { messages = { { role = "user", content = "Hi", nick = "Bo" } }, max_tokens = 1, temprature = 0,
      user = "u", store = true, lora_id = false, reasoning_effort = "low", ["a\nb"] = 1, [("x"):rep(200)] = 1,
      chat_template_kwargs = { enable_thinking = false, colour = "red" } }
    local _, _, text = server:ask("/v1/chat/completions", body, "-i")
    local names = {}
    for name in text:match("\nIgnored%-Fields: ([^\r]*)"):gmatch("%S+") do names[#names + 1] = name end
    table.sort(names)
    assert.same({ "a?b", "colour", "nick", "reasoning_effort", "temprature", ("x"):rep(63) }, names)
    assert.matches(", 1 written, ignored fields: [%w_ ?]*temprature", server:said_of("temprature"))
    body = { messages = { { role = "user", content = { { type = "text", text = "a", detail = "low",
      cache_control = { type = "x" } } } } }, max_tokens = 1, stream = true, stream_options = { include_usage = true,
      continuous_usage_stats = true }, response_format = { type = "text", schema = { type = "null" } } }
    _, _, text = server:ask("/v1/chat/completions", body, "-i")
    names = {}
    for name in text:match("\nIgnored%-Fields: ([^\r]*)"):gmatch("%S+") do names[#names + 1] = name end
    table.sort(names)
    assert.same({ "content.detail", "response_format.schema", "stream_options.continuous_usage_stats" }, names)
    _, _, text = server:ask("/v1/completions", { prompt = "a", max_tokens = 1 }, "-i")
    assert.falsy(text:find("Ignored", 1, true))
    _, _, text = server:ask("/v1/completions", { prompt = "a", max_tokens = 1, [("x"):rep(80)] = 1,
      [("y"):rep(80)] = 1, [("z"):rep(80)] = 1 }, "-i")
    assert.matches("\nIgnored%-Fields: %S+ %S+ %.%.%.\r", text)
  end)

  it("goes on from a prompt that begins alike", function()
    local words = ("word "):rep(300)
    local _, first = completion { prompt = words .. "one", max_tokens = 2, temperature = 0 }
    local _, second = completion { prompt = words .. "two", max_tokens = 2, temperature = 0 }
    assert.is_true(first.usage.prompt_tokens_details.cached_tokens < 50)
    assert.is_true(second.usage.prompt_tokens_details.cached_tokens >= 300)
  end)

  it("refuses what is wrong in a line with the field, what came and what is allowed", function()
    local cases = {
      { '{"prompt":"a","temperature":"hot"}', "temperature",
        'temperature: "hot", but a number from 0 to 100 is allowed' },
      { '{"prompt":"a","max_tokens":0}', "max_tokens",
        "max_tokens: 0, but a whole number from 1, or -1 for no limit, is allowed" },
      { '{"prompt":"a","max_completion_tokens":0}', "max_completion_tokens",
        "max_completion_tokens: 0, but a whole number from 1, or -1 for no limit, is allowed" },
      { '{"prompt":"a","n":129}', "n", "n: 129, but a whole number from 1 to 128 is allowed" },
      { '{"prompt":[]}', "prompt",
        "prompt: a list, but a text, tokens, or a list of 1 to 64 texts or of lists of tokens is allowed" },
      { '{"prompt":[1,100000]}', "prompt", "prompt: token 100000, but 0 to 900 is allowed" },
      { '{"prompt":[1,-1]}', "prompt", "prompt: token -1, but 0 to 900 is allowed" },
      { '{"prompt":"a","stop":[""]}', nil, nil },
      { '{"prompt":"a","stop":[1]}', "stop", "stop: 1, but a text, or a list of 1 to 64 texts is allowed" },
      { '{"prompt":"a","logit_bias":{"x":1}}', "logit_bias",
        "logit_bias: 1, but a token's number in quotes with a number from -100 to 100 is allowed" },
      { '{"prompt":"a","response_format":{"type":"xml"}}', "response_format",
        "response_format: an object, but a type of text, json_object or json_schema is allowed" },
      { '{"prompt":"a","response_format":{"type":"json_schema","json_schema":{"name":"x"}}}', "response_format",
        "response_format: an object, but json_schema with a schema is expected" },
      { '{"prompt":"a","json_schema":{"properties":{"a":{"not":{}}}}}', "json_schema",
        "json_schema: at /properties/a: not: is not supported" },
      { '{"prompt":"a","grammar":"root ::= x"}', "grammar", "grammar: line 1, column 10: rule 'x' is not defined" },
      { '{"prompt":"a","grammar":5}', "grammar", "grammar: 5, but a text in GBNF is allowed" },
      { '{"prompt":"a","grammar":"root ::= []","json_schema":{}}', "grammar",
        'grammar: "root ::= []", but one of response_format, grammar and json_schema is allowed' },
      { '{"prompt":"a","suffix":"b"}', "suffix", "suffix: is not supported" },
      { '{"prompt":"a","random_seed":1}', "random_seed", "random_seed: is not supported: seed is" },
      { '{"prompt":"a","target_language":"de"}', "target_language",
        "target_language: is not supported: the model has no sources" },
      { '{"prompt":"\\u0000"}', false, nil },
      { '{"prompt":"a"', false, nil },
      { "[]", false, "the body: an object in JSON is expected" },
      { '{"prompt":"a","prompt":"b"}', false, nil },
      { '{"prompt":"\xff"}', false, nil },
    }
    for _, case in ipairs(cases) do
      local status, said = completion(case[1])
      assert.equal(case[2] == nil and 200 or 400, status, case[1])
      if case[2] then assert.equal(case[2], said.error.param) end
      if case[3] then assert.equal(case[3], said.error.message) end
    end
    local status, said = server:ask("/v1/chat/completions",
      '{"messages":[{"role":"user","content":[{"type":"image_url"}]}]}')
    assert.same({ 400, "messages.content" }, { status, said.error.param })
    status, said = completion { prompt = ("a b "):rep(20000), max_tokens = 1 }
    assert.same({ 400, "context_length_exceeded" }, { status, said.error.code })
  end)

  it("gives tools, calls and their results to the template", function()
    local tool = { type = "function", ["function"] = { name = "add", strict = true, limit = 2.5 } }
    local json = '{"type": "function", "function": {"name": "add", "strict": true, "limit": 2.5}}'
    local user = { role = "user", content = "2 + 2?" }
    local call = { role = "assistant", tool_calls = { { id = "c1", type = "function",
      ["function"] = { name = "add", arguments = '{"a": 2, "b": [2]}' } } } }
    local asked = ('{"tools":[%s],"messages":%s,"max_tokens":6,"temperature":0,"logprobs":true}'):format(json,
      dkjson.encode { user, call, { role = "tool", tool_call_id = "c1", content = "4" } })
    -- The same chat without tools, whose texts are what the template writes.
    local same = { max_tokens = 6, temperature = 0, logprobs = true, messages = {
      { role = "system", content = "You are a helpful assistant of the second kind.\n\n# Tools\n<tools>\n" .. json
        .. '\n</tools>\n{"name": <name>, "arguments": <object>}' }, user,
      { role = "assistant", content = '<tool_call>\n{"name": "add", "arguments": {"a": 2, "b": [2]}}\n</tool_call>' },
      { role = "user", content = "<tool_response>\n4\n</tool_response>" } } }
    local status, one = server:ask("/v1/chat/completions", asked)
    local _, other = server:ask("/v1/chat/completions", same)
    assert.equal(200, status)
    assert.same(other.choices, one.choices)
    assert.equal(other.usage.prompt_tokens, one.usage.prompt_tokens)
    local function refused(fields)
      local code, said = server:ask("/v1/chat/completions", (asked:gsub("^{", "{" .. fields .. ",", 1)))
      return code, said.error and said.error.param
    end
    assert.equal(200, (refused('"tool_choice":"none"')))
    assert.same({ 400, "tool_choice" }, { refused('"tool_choice":"any"') })
    assert.same({ 400, "tool_choice" }, { refused('"tool_choice":{"type":"function"}') })
    assert.same({ 400, "tool_choice" }, { refused('"tool_choice":{"type":"function","function":{"name":"sub"}}') })
    assert.same({ 400, "tool_choice" }, { refused('"tool_choice":"required","grammar":"root ::= []"') })
    assert.same({ 400, "parallel_tool_calls" }, { refused('"parallel_tool_calls":"no"') })
    for _, wrong in ipairs { tool, { { type = "function" } }, { { type = "custom", ["function"] = { name = "f" } } },
      { { type = "function", ["function"] = { name = "a b" } } } } do
      status, one = server:ask("/v1/chat/completions", dkjson.encode { messages = { user }, tools = wrong })
      assert.same({ 400, "tools" }, { status, one.error.param })
    end
    status, one = server:ask("/v1/chat/completions", { messages = { user }, tool_choice = "required" })
    assert.same({ 400, 'tool_choice: "required", but it goes with tools' }, { status, one.error.message })
    status, one = server:ask("/v1/chat/completions", { messages = { user }, tool_choice = "required", tools = {
      { type = "function", ["function"] = { name = "f", parameters = { ["not"] = {} } } } } })
    assert.same({ 400, "tools: f: at the top: not: is not supported" }, { status, one.error.message })
  end)

  it("calls tools", function()
    local function tool(name, parameters)
      return { type = "function", ["function"] = { name = name, parameters = parameters } }
    end
    local tools = { tool("add", { type = "object", properties = { a = { type = "boolean" },
      b = { ["$ref"] = "#/$defs/n" } }, required = { "a", "b" }, ["$defs"] = { n = { enum = { 1, 2.5 } } } }),
      tool("now") }
    local body = { messages = { { role = "user", content = "Hi" } }, tools = tools, tool_choice = "required", n = 4,
      temperature = 1.5, seed = 3, max_tokens = 2000 }

    -- Checks the calls of an answer, and returns how many there are.
    local function check(calls, names)
      local seen = {}
      for _, call in ipairs(calls) do
        local arguments = dkjson.decode(call["function"].arguments)
        assert.truthy(names[call["function"].name])
        assert.matches("^%w%w%w%w%w%w%w%w%w$", call.id)
        assert.is_nil(seen[call.id])
        seen[call.id] = true
        if call["function"].name == "add" then
          assert.equal("boolean", type(arguments.a))
          assert.is_true(arguments.b == 1 or arguments.b == 2.5)
        else
          assert.is_nil(next(arguments))
        end
      end
      return #calls
    end

    -- Returns the message of each answer.
    local function messages()
      local status, said = server:ask("/v1/chat/completions", body)
      assert.equal(200, status, dkjson.encode(said))
      local list = {}
      for i, choice in ipairs(said.choices) do
        assert.equal("tool_calls", choice.finish_reason)
        assert.is_true(choice.message.content == nil or choice.message.content == dkjson.null)
        list[i] = choice.message
      end
      return list
    end

    local most = 0
    for _, message in ipairs(messages()) do
      most = math.max(most, check(message.tool_calls, { add = true, now = true }))
    end
    assert.is_true(most > 1)
    local whole = messages()
    body.stream = true
    local _, _, text = server:ask("/v1/chat/completions", body)
    local streamed = { {}, {}, {}, {} }
    for line in text:gmatch("data: ([^\n]*)\n\n") do
      local event = dkjson.decode(line)
      local choice = event and event.choices[1]
      for _, call in ipairs(choice and choice.delta.tool_calls or {}) do
        local list = streamed[choice.index + 1]
        assert.equal(#list, call.index)
        list[#list + 1] = call
      end
      if choice and choice.finish_reason then assert.equal("tool_calls", choice.finish_reason) end
    end
    for i, message in ipairs(whole) do
      check(streamed[i], { add = true, now = true })
      assert.equal(#message.tool_calls, #streamed[i])
      for k, call in ipairs(message.tool_calls) do assert.same(call["function"], streamed[i][k]["function"]) end
    end
    body.stream, body.parallel_tool_calls = nil, false
    for _, message in ipairs(messages()) do
      assert.equal(1, check(message.tool_calls, { add = true, now = true }))
    end
    body.tool_choice = { type = "function", ["function"] = { name = "add" } }
    for _, message in ipairs(messages()) do assert.equal(1, check(message.tool_calls, { add = true })) end
    body.max_tokens = 5
    local _, cut = server:ask("/v1/chat/completions", body)
    assert.same({ "length", nil }, { cut.choices[1].finish_reason, cut.choices[1].message.tool_calls })
    -- A model that may call, and writes a call by a grammar.
    body.max_tokens, body.tool_choice, body.n = 200, "auto", 1
    body.grammar = [[root ::= "Now.\n<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call>"]]
    local _, auto = server:ask("/v1/chat/completions", body)
    local message = auto.choices[1].message
    assert.same({ "Now.", "now", "tool_calls" }, { message.content, message.tool_calls[1]["function"].name,
      auto.choices[1].finish_reason })
    body.tool_choice = "none"
    _, auto = server:ask("/v1/chat/completions", body)
    assert.same({ body.grammar:match('"(Now.*)"'):gsub("\\n", "\n"):gsub("\\(.)", "%1"), "stop" },
      { auto.choices[1].message.content, auto.choices[1].finish_reason })
  end)

  tried("has a page that chats and completes, by the keyboard alone", function()
    local steps = { "hidden\trank", "hidden\tpicture", "focus\tchat-text", "type\tSay <one", "key\tCtrl+Enter",
      "see\tchat-log\t^Say <one\\s+\\S", "idle\tchat", "focus\tchat-text", "type\tand two", "key\tCtrl+Enter",
      "see\tchat-log\t^Say <one\\s+\\S.*and two\\s+\\S", "idle\tchat", "key\tTab", "key\tTab", "key\tEnter",
      "see\tchat-log\t^\\s*$", "focus\tchat-text", "type\tthree", "key\tTab", "key\tEnter",
      "see\tchat-log\t^three\\s+\\S", "idle\tchat", "focus\tcomplete-text", "type\tOnce upon", "key\tCtrl+Enter",
      "see\tcomplete\tOnce upon.+\\S" }
    helper.write(own.folder .. "/steps", table.concat(steps, "\n") .. "\n")
    for _, colours in ipairs { "", "--dark" } do
      own.sh(("timeout 120 python3 %s/tests/serve/page.py %s steps %s"):format(shell(own.root), server.address,
        colours))
    end
  end)

  it("frees the sequence of a client that goes away", function()
    local single = serving.start(own.folder, own.line("llama", "serve"), "--port 0 --sequences 1")
    local long = { prompt = "a", max_tokens = 19000, n = 100, ignore_eos = true, stream = true }
    single:ask("/v1/completions", long, "--max-time 0.3")
    local begun = os.time()
    assert.equal(200, (single:ask("/v1/completions", { prompt = "b", max_tokens = 2 }, "--max-time 20")))
    assert.is_true(os.time() - begun < 10)
    long.stream = nil
    single:ask("/v1/completions", long, "--max-time 0.3")
    assert.equal(200, (single:ask("/v1/completions", { prompt = "b", max_tokens = 2 }, "--max-time 20")))
    assert.matches("POST /v1/completions 0 ", single:said_of("POST /v1/completions 0 "), 1, true)
    assert.is_nil(single:said():find("prompt", 1, true))
    single:stop()
  end)

  it("refuses more than may wait, and finishes what it has when it ends", function()
    local small = serving.start(own.folder, own.line("llama", "serve"), "--port 0 --sequences 1 --max-waiting 2")
    local long = { prompt = "a", max_tokens = 600, n = 3, temperature = 0, ignore_eos = true }
    local list = {}
    for i = 1, 8 do list[i] = { "/v1/completions", long } end
    local counts = { whole = 0, refused = 0 }
    for _, text in ipairs(small:ask_all(list)) do
      local said = dkjson.decode(text)
      local kind = said.choices and "whole" or "refused"
      counts[kind] = counts[kind] + 1
      if said.error then assert.equal("too many requests wait", said.error.message) end
    end
    assert.is_true(counts.refused >= 1 and counts.whole >= 2, dkjson.encode(counts))
    local name = os.tmpname()
    -- The signal comes once the model computes.
    local asks = ("%s & for i in {1..200}; do %s | grep -q 'requests_running [1-9]' && break; sleep 0.02; done; "
      .. "kill %s; wait"):format(small:curl("/v1/completions", long, "-o " .. name), small:curl("/metrics"), small.pid)
    os.execute("bash -c " .. shell(asks))
    assert.equal(3, #dkjson.decode(helper.read(name)).choices)
    os.remove(name)
    small:stop()
  end)

  it("has limits of bytes", function()
    local status, said = server:ask("/v1/completions", nil, "-H 'Content-Length: 1000000000' -X POST")
    assert.equal(413, status)
    assert.same({ message = "the body: at most 4194304 bytes are allowed",
      type = "invalid_request_error" }, said.error)
    helper.write(own.folder .. "/large", '{"prompt":"' .. ("a"):rep(4500000) .. '"}')
    status = server:ask("/v1/completions", nil, "--data-binary @" .. shell(own.folder .. "/large"))
    assert.equal(413, status)
    for _, more in ipairs { "-H 'X: " .. ("y"):rep(20000) .. "'", "--request-target 'http://['",
      "-X POST -H 'Content-Length: 0' -H 'Content-Length: 1'", "-X POST -H 'Transfer-Encoding: gzip'",
      "-X POST -H 'Transfer-Encoding: chunked' -H 'Transfer-Encoding: x' -d a" } do
      status, said = server:ask("/health", nil, more)
      assert.same({ 400, "the request: HTTP/1.1 with one length or chunks and at most 16384 bytes of headers is "
        .. "expected" }, { status, said.error.message })
    end
    status, said = server:ask("/v1/models", nil, "-H 'Expect: tea' -X POST -d a")
    assert.same({ 417, "Expect: 100-continue is allowed" }, { status, said.error.message })
  end)

  it("is in no other program", function()
    local plain = generating.new("serve_plain", { "llama" })
    plain.build()
    assert.equal(1, (plain.run("ldd llama/llama | grep -i libevent")))
    assert.equal(1, (plain.run("strings llama/llama | grep -iE 'evhttp|libevent|api-key|/v1/|prometheus'")))
    assert.same({ 2, "serve: this program was built without it; build it with --serve\n" },
      { plain.refusal("llama/llama serve") })
  end)
end)
