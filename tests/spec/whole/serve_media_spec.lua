-- serve_media_spec.lua: programs that serve answers to sounds and pictures, asked by curl: the same as `run` and
-- `generate` give, in OpenAI's forms; what is refused; a client that goes away.
local dkjson = require("dkjson")
local helper = require("tests.spec.helper")
local serving = require("tests.spec.serving")

local root = helper.absolute_root()
local folder = root .. "/out/spec/serve_media"
local shell = helper.shell
local say = require("tests.say").of(folder)

local places = { digits = root .. "/models/digits", speech = root .. "/tests/hf/speech/multilingual",
  labels = root .. "/tests/hf/pictures/vit_labels", vectors = root .. "/tests/hf/pictures/dinov2_resized" }
local picture = root .. "/tests/pictures/files/cmyk.jpg"
local servers = {}

local function line(name, words)
  return ("%s/%s %s --weights %s"):format(name, name, words, shell(places[name]))
end

-- Sends a form: a file, and other fields as name=value. Returns what Server:ask returns.
local function send(server, path, file, fields)
  local words = { file and "-F " .. shell("file=@" .. file) or "" }
  for _, field in ipairs(fields or {}) do words[#words + 1] = "-F " .. shell(field) end
  return server:ask(path, nil, table.concat(words, " "))
end

setup(function()
  local list = {}
  for name, path in pairs(places) do
    list[#list + 1] = { name = name, path = path, words = { "--text", "--serve", "name=" .. name } }
  end
  require("common.files").make_folder(folder)
  dofile(root .. "/tests/cases.lua").programs(folder, list)
  for name in pairs(places) do servers[name] = serving.start(folder, line(name, "serve"), "--port 0") end
end)

teardown(function() for _, server in pairs(servers) do server:stop() end end)

describe("sounds over HTTP", function()
  local route = "/v1/audio/transcriptions"

  it("become the text that run writes, in each form", function()
    local wave = places.digits .. "/held1.wav"
    local server = servers.digits
    local want = say.output_of(line("digits", "run") .. " --audio " .. shell(wave)):gsub("\n$", "")
    local status, said = send(server, route, wave, { "model=whisper-1" })
    assert.same({ 200, { text = want } }, { status, said })
    assert.equal(want, (select(3, send(server, route, wave, { "response_format=text" }))))
    for _, form in ipairs { "srt", "vtt" } do
      local cues = say.output_of(line("digits", "run") .. (" --format %s --audio %s"):format(form, shell(wave)))
      assert.equal(cues, (select(3, send(server, route, wave, { "response_format=" .. form }))))
    end
    local _, verbose = send(server, route, wave, { "response_format=verbose_json", "timestamp_granularities[]=word",
      "timestamp_granularities[]=segment", "vad_filter=false", "chunking_strategy=auto" })
    local words = {}
    for i, each in ipairs(verbose.words) do words[i] = each.word end
    assert.same({ want, want, "transcribe", 1, "2.4930" },
      { verbose.text, table.concat(words, " "), verbose.task, #verbose.segments, ("%.4f"):format(verbose.duration) })
    for _, field in ipairs { "language=en", "prompt=a", "temperature=0.2", "task=transcribe" } do
      assert.equal(field:match("%a+") .. ": is not supported",
        select(2, send(server, route, wave, { field })).error.message)
    end
  end)

  it("become what generate writes down, with its options", function()
    local wave = places.speech .. "/long.wav"
    local server = servers.speech
    local function written(options)
      return (say.output_of(line("speech", "generate") .. (" --audio %s %s"):format(shell(wave), options))
        :gsub("\n$", ""))
    end
    assert.equal(written(""), select(2, send(server, route, wave)).text)
    assert.equal(written("--language de --prompt 'a b'"),
      select(2, send(server, route, wave, { "language=de", "prompt=a b" })).text)
    assert.equal(written("--language de --prompt 'a b' --carry-initial-prompt --condition-on-previous-text no"),
      select(2, send(server, route, wave, { "language=de", "prompt=a b", "carry_initial_prompt=true",
        "condition_on_previous_text=false" })).text)
    assert.equal(written("--task translate"), select(2, send(server, "/v1/audio/translations", wave)).text)
    assert.equal(written("--task translate"), select(2, send(server, route, wave, { "task=translate" })).text)
    assert.equal(written("--vad --language de"):gsub("\n", " "),
      select(2, send(server, route, wave, { "vad_filter=true", "language=de" })).text)
    local _, verbose = send(server, route, wave, { "response_format=verbose_json", "language=de" })
    local segments = say.lines_of(say.output_of(line("speech", "generate")
      .. (" --format jsonl --timestamps --language de --audio %s"):format(shell(wave))))
    assert.same({ "de", #segments, 3.3 }, { verbose.language, #verbose.segments, verbose.duration })
    local text = {}
    for i, each in ipairs(verbose.segments) do text[i] = each.text end
    assert.equal(verbose.text, (table.concat(text):gsub("^ ", ""))) -- no spaces between segments
    for i, each in ipairs(segments) do
      local want, got = dkjson.decode(each), verbose.segments[i]
      assert.same({ want.begin, want["end"], want.ids, want.score },
        { got.start, got["end"], got.tokens, got.avg_logprob })
    end
  end)

  it("are refused in one line", function()
    local server = servers.speech
    local wave = places.speech .. "/short.wav"
    for _, each in ipairs {
      { nil, { "model=x" }, "file: nothing, but a part with a file is needed" },
      { root .. "/Makefile", {}, "file: is no sound: WAV, FLAC, Ogg and MP3 files are supported" },
      { wave, { "response_format=xml" },
        'response_format: "xml", but json, text, srt, vtt or verbose_json is allowed' },
      { wave, { "temperature=2" }, 'temperature: "2", but a number from 0 to 1 is allowed' },
      { wave, { "temperature=x" }, 'temperature: "x", but a number from 0 to 1 is allowed' },
      { wave, { "stream=true" }, 'stream: "true", but false is allowed' },
      { wave, { "include[]=logprobs" }, "include: is not supported" },
      { wave, { 'chunking_strategy={"type":"server_vad"}' }, "chunking_strategy: is not supported: vad_filter is" },
      { wave, { "best_of=5" }, "best_of: is not supported" },
      { wave, { "compression_ratio_threshold=2" }, "compression_ratio_threshold: is not supported" },
      { wave, { "condition_on_previous_text=no" },
        'condition_on_previous_text: "no", but false or true is allowed' },
      { wave, { "carry_initial_prompt=true" },
        "carry_initial_prompt: goes with prompt, which each window then goes on from" },
      { wave, { "task=x" }, 'task: "x", but transcribe or translate is allowed' },
      { wave, { "language=de", "language=en" }, "language: a list, but a text is allowed" },
      { wave, { "timestamp_granularities[]=segment", "timestamp_granularities[]=char" },
        'timestamp_granularities: "char", but segment or word is allowed' },
      { wave, { "timestamp_granularities[0]=word" },
        "timestamp_granularities: go with the response_format verbose_json, srt or vtt" },
      { wave, { "language=xx" }, "language: 'xx', but auto or a language of the model is allowed: de en haw yue" },
    } do
      local status, said = send(server, route, each[1], each[2])
      assert.same({ 400, each[3], each[3]:match("^[%w_]+") }, { status, said.error.message, said.error.param })
    end
    assert.same({ 404, "there is no such route; this model has /tokenize, /decode, /v1/audio/transcriptions, "
      .. "/v1/audio/translations, /v1/models" }, { 404, select(2, server:ask("/predict", "{}")).error })
    assert.equal(400, (server:ask(route, "{}")))
    local said = select(2, server:ask(route, "--x\r\n", "-H 'Content-Type: multipart/form-data; boundary=x'"))
    assert.equal("the body: a part of the form ends within its headers", said.error.message)
    said = select(2, send(server, route, wave, { "\xff=a" }))
    assert.equal("part 2 of the form: a text of UTF-8 is allowed", said.error.message)
  end)

  it("have fields that nothing reads, which are named", function()
    local form = "-i -F user=a -F langage=de -F model=x -F " .. shell("file=@" .. places.speech .. "/short.wav")
    assert.matches("\nIgnored%-Fields: langage\r", (select(3, servers.speech:ask(route, nil, form))))
  end)

  it("leave nothing of a client that goes away, and a line in the log for each", function()
    local server = servers.speech
    local form = "-F " .. shell("file=@" .. places.speech .. "/long.wav")
    os.execute(server:curl(route, nil, "--max-time 0.3 " .. form .. " >/dev/null"))
    assert.equal(200, (server:ask("/health")))
    assert.matches("POST /v1/audio/transcriptions 200 ", server:said_of("/transcriptions 200 "), 1, true)
  end)
end)

describe("pictures over HTTP", function()
  it("get the labels and the vectors that run writes", function()
    local function answer(name, options)
      local words = (" --format jsonl --image %s %s"):format(shell(picture), options)
      return dkjson.decode(say.output_of(line(name, "run") .. words))
    end
    local want = answer("labels", "--top 1000").labels
    local status, said = send(servers.labels, "/predict", picture)
    assert.same({ 200, want }, { status, said })
    local coded = "data:image/jpeg;base64," .. say.output_of("base64 -w0 " .. shell(picture))
    local forms = { coded, { image = coded }, { type = "image_url", image_url = { url = coded } } }
    for _, each in ipairs(forms) do
      status, said = servers.labels:ask("/predict", { inputs = each })
      assert.same({ 200, want }, { status, said })
    end
    for detail, named in pairs { auto = false, low = "image_url.detail" } do -- auto asks for nothing
      local image = { type = "image_url", image_url = { url = coded, detail = detail } }
      local text = select(3, servers.labels:ask("/predict", { inputs = image }, "-i"))
      assert.equal(named or nil, text:match("\nIgnored%-Fields: ([^\r]*)"))
    end
    local _, best = servers.labels:ask("/predict", { inputs = coded, parameters = { top_k = 1 } })
    local _, every = servers.labels:ask("/predict", { inputs = coded })
    assert.same({ every[1] }, best)
    for field, value in pairs { raw_scores = true, function_to_apply = "sigmoid" } do
      _, said = servers.labels:ask("/predict", { inputs = coded, [field] = value })
      assert.equal(field .. ": is not supported", said.error)
    end
    _, said = servers.vectors:ask("/v1/embeddings", { input = coded, normalize = false })
    assert.equal("normalize: is not supported: embeddings are as the model has them", said.error.message)
    _, said = servers.labels:ask("/predict", { inputs = { coded, coded } })
    assert.same({ want, want }, said)
    want = answer("vectors", "").embedding
    _, said = servers.vectors:ask("/v1/embeddings", { input = { { image = coded }, coded } })
    assert.equal(2, #said.data)
    for i, value in ipairs(want) do
      assert.equal(string.pack("<f", value), string.pack("<f", said.data[2].embedding[i]))
    end
    _, said = servers.vectors:ask("/v1/embeddings", { input = coded, encoding_format = "base64" })
    helper.write(folder .. "/coded", said.data[1].embedding)
    assert.equal(#want * 4, #say.output_of("base64 -d coded"))
  end)

  it("are refused in one line", function()
    local server = servers.labels
    for _, each in ipairs {
      { '{"inputs":"https://example.org/a.png"}',
        "inputs: an address, but this server opens no connections; send the picture in a data URL" },
      { '{"inputs":"data:image/png;base64,AAAA"}', "inputs: is no picture; PNG and JPEG files are supported" },
      { '{"inputs":["data:image/png;base64,AAAA","data:image/png;base64,AAAA"]}',
        "inputs[0]: is no picture; PNG and JPEG files are supported" },
      { '{"inputs":"data:image/png;base64,A"}',
        'inputs: "data:image/png;base64,A", but base64 is needed after the comma of its data URL' },
      { '{"inputs":[]}', "inputs: a list, but 1 to 16 pictures are allowed" },
      { "x", "the body: a form with a file, or an object in JSON is allowed" },
    } do
      local status, said = server:ask("/predict", each[1])
      assert.same({ 400, each[2] }, { status, said.error })
    end
    local status, said = servers.vectors:ask("/predict", "{}")
    assert.same({ 404, "there is no such route; this model has /v1/embeddings, /v1/models" }, { status, said.error })
  end)
end)

describe("the page", function()
  (helper.is_long and it or pending)("takes files", function()
    local function try(name, steps)
      helper.write(folder .. "/steps", table.concat(steps, "\n") .. "\n")
      say.sh(("timeout 120 python3 %s/tests/serve/page.py %s steps"):format(shell(root), servers[name].address))
    end
    try("digits", { "focus\tsound-file", "file\tsound-file\t" .. places.digits .. "/held1.wav", "focus\tsound-file",
      "key\tTab", "key\tEnter", "see\tsound\tEIGHT FIVE THREE" })
    try("labels", { "file\tpicture-file\t" .. picture, "focus\tpicture-file", "key\tTab", "key\tEnter",
      "see\tpicture\tcat\\s+0\\.2" })
  end)
end)
