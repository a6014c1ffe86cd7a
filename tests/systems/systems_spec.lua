-- systems_spec: libraries and programs for other operating systems than Linux. Windows' are built by mingw-w64 and run
-- under wine; macOS' libraries are compiled by zig's compiler, and their names are looked at. `make test-systems`
-- installs these and runs it.
local helper = require("tests.spec.helper")
local serving = require("tests.spec.serving")

local root = helper.absolute_root()
local quote = helper.shell
local scratch = root .. "/out/spec/systems"
local speaker = quote(root .. "/models/speaker/speaker.safetensors")
local wine = ("env WINEPREFIX=%s WINEDEBUG=-all timeout 300 wine"):format(quote(root .. "/out/systems/wine"))
local libraries = quote(root .. "/out/systems/windows")
local windows = ("WINEPREFIX=%s WINEDEBUG=-all ATTN2C_CFLAGS=-I%s/include ATTN2C_LDFLAGS=-L%s/lib "):format(
  quote(root .. "/out/systems/wine"), libraries, libraries) .. "CROSS=x86_64-w64-mingw32-"
local zig = root .. "/out/systems/bin/python -m ziglang"

local function build(environment, folder, more, model)
  return helper.succeeds(("cd %s && %s gen/attn2c build %s --libraries threads=2 -o %s %s")
    :format(quote(root), environment, model or "models/speaker.lua", quote(scratch .. "/" .. folder), more))
end

-- Compiles a host of a library. Returns what it prints.
local function host(compiler, folder, linked, runs, of, source)
  helper.succeeds(("%s -std=c11 -Wall -Wextra -Werror -O1 -I%s %s/tests/systems/%s -o %s/host.exe %s"):format(
    compiler, folder, quote(root), source or "host.c", folder, linked), scratch)
  local _, said = helper.run(("%s %s/host.exe %s"):format(runs, folder, of or speaker), scratch)
  return (said:gsub("\r", ""))
end

setup(function() os.execute(("rm -rf %s && mkdir -p %s"):format(quote(scratch), quote(scratch))) end)

describe("a library for Windows", function()
  setup(function() helper.run(wine .. " wineboot -i") end) -- which prints while it makes its folder

  local compiler = "x86_64-w64-mingw32-gcc -municode"

  it("gives the bits that it gives on Linux, as a DLL and linked in, and refuses what is wrong", function()
    build("", "linux", "target=avx2")
    local expected = host("cc", "linux", "linux/libspeaker.a -lm -lpthread", "")
    assert.matches("^0: %x+\n$", expected)
    assert.truthy(build(windows, "windows", "target=avx2"):find("/libspeaker.a, speaker.dll, speaker.h", 1, true))
    assert.equal(expected, host(compiler, "windows", "windows/speaker.dll", wine))
    assert.equal(expected, host(compiler, "windows", "windows/libspeaker.a -l:libwinpthread.a", wine))
    local copy, missing = scratch .. "/наши ä€.safetensors", scratch .. "/nicht da, ä€"
    helper.succeeds(("cp %s %s"):format(speaker, quote(copy)))
    assert.equal(expected, host(compiler, "windows", "windows/speaker.dll", wine, quote(copy)))
    assert.equal(("4: %s: cannot be opened: No such file or directory\n"):format(missing),
      host(compiler, "windows", "windows/speaker.dll", wine, quote(missing)))
    assert.matches("^4: [^\n]*: [^\n]+\n$", host(compiler, "windows", "windows/speaker.dll", wine, quote(scratch)))
    assert.matches("^3: [^\n]+\n$", host(compiler, "windows", "windows/speaker.dll", wine,
      quote(root .. "/Makefile")))
  end)

  it("takes text, with the libraries that its toolchain lacks", function()
    local language, of = "models/language", quote(root .. "/models/language")
    build("", "linux_text", "target=avx2", language)
    local expected = host("cc", "linux_text", "linux_text/liblanguage.a -lutf8proc -lpcre2-8 -lm -lpthread", "", of,
      "host_text.c")
    assert.matches("^0: %d+ %d+ %d+ %x+\n$", expected)
    build(windows, "windows_text", "target=avx2", language)
    assert.equal(expected, host("x86_64-w64-mingw32-gcc", "windows_text", "windows_text/language.dll", wine, of,
      "host_text.c"))
  end)

  it("shows the names of its interface only", function()
    local shown = helper.succeeds("x86_64-w64-mingw32-objdump -p windows/speaker.dll", scratch)
    local names = 0
    for name in shown:match("%[Ordinal/Name Pointer%] Table(.-)\n\n"):gmatch("%] ([%w_]+)") do
      assert.matches("^speaker_", name)
      names = names + 1
    end
    assert.truthy(names > 8)
  end)
end)

describe("a program for Windows", function()
  local folder = scratch .. "/programs"
  local models = root .. "/models/"

  -- Builds a model's program for both systems, in folders NAME.linux and NAME.windows.
  local function build_both(model, more)
    local name = model:match("[^/]*$")
    for system, environment in pairs { linux = "", windows = windows } do
      helper.succeeds(("cd %s && %s gen/attn2c build %s target=avx2 threads=2 %s -o %s/%s.%s"):format(
        quote(root), environment, model, more or "", quote(folder), name, system))
    end
  end

  -- Runs a model's program on both systems: shell words of its arguments, and what it reads. Returns exit code, output
  -- and errors of Windows' program, which must equal Linux'.
  local function both(name, words, input)
    local results = {}
    for i, program in ipairs { ("./%s.linux/%s"):format(name:match("^[^:]*"), name:match("[^:]*$")),
      ("%s ./%s.windows/%s.exe"):format(wine, name:match("^[^:]*"), name:match("[^:]*$")) } do
      local from = io.open(folder .. "/input", "w")
      from:write(input or "")
      from:close()
      local code = helper.run(("%s %s <input >output 2>errors"):format(program, words), folder)
      results[i] = { code, helper.read(folder .. "/output"), (helper.read(folder .. "/errors"):gsub("\r", "")) }
    end
    assert.same(results[1], results[2])
    return table.unpack(results[2])
  end

  setup(function()
    helper.run(wine .. " wineboot -i")
    helper.succeeds("mkdir -p " .. quote(folder))
    build_both("models/language", "--serve")
  end)

  it("says what it is, and checks its model: the bits are Linux's", function()
    assert.matches("^language, compiled by attn2c", select(2, both("language", "--version")))
    local _, said = both("language", "check --seed 3 --weights " .. quote(models .. "language"))
    assert.matches("\n%d+ passed, 0 failed\n$", said)
    local _, info = both("language", "info --json")
    assert.matches('"name"', info)
    local notices = helper.succeeds(wine .. " language.windows/language.exe info --licenses", folder)
    for _, part in ipairs { "mingw%-w64", "Jansson", "utf8proc", "PCRE2", "libevent" } do
      assert.matches(part, notices)
    end
    assert.is_nil(notices:find("GNU C Library", 1, true))
  end)

  it("answers texts of any language: of the command line, of files and of the standard input", function()
    local weights = "--weights " .. quote(models .. "language")
    local _, said = both("language", "run " .. weights .. " --text 'Kde je nádraží?' --text 'Где вокзал?'")
    assert.matches("^cs\t0%.9%d+\nru\t0%.9%d+\n$", said)
    _, said = both("language", "run " .. weights .. " --text - --format jsonl", "Wo ist es?\r\nDove è?\r\nKde to je?")
    assert.matches('"de"', said)
    assert.equal(3, select(2, said:gsub("\n", "")))
    local list = io.open(folder .. "/texte ä€.txt", "w")
    list:write("Wo ist der Bahnhof?\r\n\nOù est la gare?\n")
    list:close()
    both("language", "run " .. weights .. " --text 'texte ä€.txt'")
    both("language", "run " .. weights .. " --text 'texte ä€.txt' --format npy")
    both("language", "run " .. weights .. " --text 'x' --output 'logits=werte ä.npy' && cat 'werte ä.npy'")
    helper.write(folder .. "/zeilen", "a\0b\r\n\255\254\n\26 c\rd\n\239\187\191e")
    both("language", "run " .. weights .. " --text zeilen --format jsonl")
    both("language", "run " .. weights .. " --text - --format npy", helper.read(folder .. "/zeilen"))
  end)

  it("takes paths of Windows, long ones too, and writes into no stream of a file", function()
    local weights = "--weights " .. quote(models .. "language")
    local deep = ("a long name of a folder/"):rep(15)
    helper.succeeds(("mkdir -p '%s' && printf 'Wo ist es?\r\n' >'%stext.txt'"):format(deep, deep), folder)
    both("language", ("run %s --text-file '%stext.txt' --output 'logits=%sx.npy' && cat '%sx.npy'"):format(weights,
      deep, deep, deep))
    both("language", ("pack %s -o '%sp.weights' && cat '%sp.weights'"):format(weights, deep, deep))
    both("language", ("run --weights '%sp.weights' --text-file '%snone'"):format(deep, deep))
    local function windows_only(words)
      local code, said = helper.run(("%s language.windows/language.exe run %s"):format(wine, words), folder)
      return code, (said:gsub("\r", ""))
    end
    local drive = ("Z:%s/"):format(folder):gsub("/", "\\")
    for _, before in ipairs { "", drive, "\\\\?\\" .. drive, "Z:" } do
      local path = before .. (deep .. "text.txt"):gsub("/", "\\")
      assert.same({ 0, "de\t0.8646\n" }, { windows_only(("--weights %s --text-file %s"):format(
        quote(((models .. "language/"):gsub("/", "\\"))), quote(path))) }, path)
    end
    for _, wrong in ipairs { "Z:x.npy", "a:b.npy", "text.txt:b", "a?b.npy" } do
      assert.same({ 4, ("language: %s: cannot be written: Invalid argument\n"):format(wrong) },
        { windows_only(("%s --text x --output logits=%s"):format(weights, quote(wrong))) })
    end
    assert.equal(2, (windows_only(weights .. " --text-file ZEILEN --output 'logits=.\\zeilen'")))
    assert.matches("a=b.*none.npy: cannot be written: No such file", select(2, windows_only(weights
      .. " --text x --output '.\\a=b\\none.npy'")))
    assert.matches("Is a directory\n$", select(2, windows_only(weights .. " --text-file .")))
  end)

  it("writes files in place of others, and reads what it has packed", function()
    for _ = 1, 2 do
      both("language", ("pack --weights %s -o 'gepackt ä.weights' && cat 'gepackt ä.weights'"):format(
        quote(models .. "language")))
    end
    both("language", "pack --verify 'gepackt ä.weights'")
    both("language", "run --weights 'gepackt ä.weights' --text 'Kde je nádraží?'")
    assert.equal(2, (both("language", "pack --weights 'gepackt ä.weights' -o './gepackt ä.weights'")))
  end)

  it("says what is wrong in a line, with Linux's status", function()
    assert.equal(2, (both("language", "run --texd x")))
    assert.equal(2, (both("language", "")))
    assert.equal(4, (both("language", "run --weights 'nicht da ä' --text x")))
    assert.equal(3, (both("language", "run --weights input --text x", "no weights")))
    local code, said = helper.run(("%s language.windows/language.exe serve --weights %s --unix s"):format(wine,
      quote(models .. "language")), folder)
    assert.equal(2, code)
    assert.matches("%-%-unix s: a program for Windows has no socket files", said)
  end)

  it("ends at Ctrl-C where its output is whole", function()
    local code, said = helper.script(([[
      cd %s
      mkfifo pipe
      %s language.windows/language.exe run --weights %s --text - <pipe >output 2>errors &
      exec 3>pipe
      echo 'Wo ist es?' >&3
      for i in $(seq 200); do test -s output && break; sleep 0.05; done
      kill -INT $(pgrep -f '^language.windows/language.exe run')
      wait $!
      status=$?
      cat output errors >&2
      exit $status]]):format(quote(folder), wine, quote(models .. "language")), folder, 60)
    assert.equal(130, code, said)
    assert.matches("^de\t[%d.]+\n.*language: interrupted", said)
  end)

  -- Returns a reply without what differs from time to time: the pieces of a stream are joined.
  local function lasting(text)
    local between = ',"logprobs":null,"finish_reason":null}%]}\n\ndata: {[^%[]*%[{"index":0,'
    return (text:gsub("Date: [^\r\n]*", ""):gsub('"created":%d+', ""):gsub('"id":"[^"]*"', "")
      :gsub('"' .. between .. '"text":"', ""):gsub('"}' .. between .. '"delta":{"content":"', ""))
  end

  -- Starts a model's server on both systems, asks both, and compares status and text of replies. list: path, body
  -- and words of curl of each request. Returns Windows' server, and the replies.
  local function serve_both(name, words, list)
    local replies, servers = {}, {}
    for i, program in ipairs { ("./%s.linux/%s"):format(name, name), ("%s ./%s.windows/%s.exe"):format(wine, name,
      name) } do
      servers[i], replies[i] = serving.start(folder, ("%s serve %s"):format(program, words)), {}
      for j, each in ipairs(list) do
        local status, _, text = servers[i]:ask(table.unpack(each, 1, 3))
        replies[i][j] = status .. " " .. lasting(text)
      end
    end
    assert.same(replies[1], replies[2])
    servers[1]:stop()
    return servers[2], replies[2]
  end

  it("answers requests as on Linux, wrong ones too", function()
    local asked = { inputs = "Wo ist der Bahnhof?" }
    helper.write(folder .. "/large", '{"inputs":"' .. ("a"):rep(4500000) .. '"}')
    helper.write(folder .. "/schlüssel", "geheim\r\n")
    local keyed = "-H 'Authorization: Bearer geheim' "
    local server, replies = serve_both("language", ("--weights %s --api-key-file schlüssel"):format(quote(models
      .. "language")), { { "/health" }, { "/health", nil, keyed .. "-I" }, { "/health", nil, keyed .. "-X DELETE" },
      { "/predict", asked }, { "/nothing", nil, keyed }, { "/info", nil, keyed }, { "/", nil, keyed },
      { "/predict", asked, keyed },
      { "/predict", asked, keyed .. "--http1.0" }, { "/predict", asked, keyed .. "-H 'Transfer-Encoding: chunked'" },
      { "/predict", asked, keyed .. "-H 'Expect: 100-continue'" }, { "/tokenize", asked, keyed },
      { "/decode", { ids = { 5, 6, 7 } }, keyed }, { "/predict", '{"inputs":"\255"}', keyed },
      { "/predict", nil, keyed .. "-H 'Expect:' --data-binary @" .. quote(folder .. "/large") },
      { "/health", nil, "-H 'X: " .. ("y"):rep(20000) .. "'" }, { "/health", nil, "-H 'Expect: tea' -X POST -d a" } })
    for i, status in ipairs { 200, 200, 405, 401, 404, 200, 200, 200, 200, 200, 200, 200, 200, 400, 413, 400, 417 } do
      assert.matches("^" .. status, replies[i])
    end
    assert.equal("1 0 ", helper.succeeds(("curl -s -o x -o x -w '%%{num_connects} ' %s/health %s/health"):format(
      server.address, server.address), folder)) -- one connection
    helper.succeeds(("python3 %s/tests/serve/refused.py %s 6"):format(quote(root), server.address))
    server:stop()
  end)

  it("serves, to several clients at a time", function()
    local server = serving.start(folder, ("%s language.windows/language.exe serve --weights %s"):format(wine,
      quote(models .. "language")))
    local list = {}
    for i = 1, 8 do list[i] = { "/predict", { inputs = "Wo ist der Bahnhof " .. i .. "?" } } end
    for _, text in ipairs(server:ask_all(list)) do assert.matches('"de"', text) end
    assert.equal(400, (server:ask("/predict", "{")))
    local _, taken = helper.run(("%s language.windows/language.exe serve --weights %s --port %s"):format(wine,
      quote(models .. "language"), server.address:match("%d+$")), folder)
    assert.matches("another process listens there", taken)
    os.execute("kill -INT $(pgrep -f '^language.windows/language.exe serve')")
    server:stop()
  end)

  it("writes answers, and chats", function()
    build_both("models/tales", "--serve --chat-template " .. quote(root .. "/tests/chat/templates/qwen2_5.jinja"))
    local weights = "--weights " .. quote(models .. "tales")
    local _, said = both("tales", "generate --greedy --tokens 40 --prompt 'A little mouse called' " .. weights)
    assert.truthy(#said > 40)
    both("tales", "generate --seed 3 --tokens 30 --prompt - --format jsonl " .. weights, "A cat\r\nThe old dog")
    both("tales", "chat --greedy --tokens 20 " .. weights, "Hello!\r\nWho are you?\n")
    both("tales", "perplexity --text-file input " .. weights, "A little mouse called Ben lived in a house.")
    local complete, chat = "/v1/completions", "/v1/chat/completions"
    local turns = { { role = "user", content = "Wer bist du?" } }
    local server, replies = serve_both("tales", weights, {
      { complete, { prompt = "A little mouse", max_tokens = 20, temperature = 0 } },
      { complete, { prompt = { "A cat", "A dog" }, max_tokens = 9, seed = 3, n = 2, logprobs = 2, stop = "." } },
      { complete, { prompt = "A little mouse", max_tokens = 20, temperature = 0, stream = true } },
      { chat, { messages = turns, max_tokens = 9, seed = 4 } },
      { chat, { messages = turns, max_tokens = 9, seed = 4, stream = true } },
      { chat, { messages = turns, max_tokens = 20, seed = 4, response_format = { type = "json_object" } } },
      { "/v1/models" }, { "/v1/models/tales" }, { "/tokenize", { inputs = "A cat" } },
      { "/decode", { ids = { 7, 8 } } },
      { complete, { prompt = "A", max_tokens = "x" } }, { chat, { messages = {} } } })
    assert.matches("data: %[DONE%]", replies[3])
    for i = 1, 10 do assert.matches("^200 ", replies[i]) end
    for i = 11, 12 do assert.matches("^400 ", replies[i]) end
    server:stop()
  end)

  it("translates", function()
    build_both("models/numbers")
    local _, said = both("numbers:numbers_model", "generate --beams 2 --prompt 'in French: 80097' --weights "
      .. quote(models .. "numbers"))
    assert.equal("quatre-vingt mille quatre-vingt-dix-sept\n", said)
  end)

  it("reads pictures", function()
    build_both("tests/hf/pictures/vit_labels", "--serve")
    local weights = "--weights " .. quote(root .. "/tests/hf/pictures/vit_labels")
    local pictures = root .. "/tests/pictures/files/"
    local _, said = both("vit_labels", ("run %s --image %s --format jsonl"):format(weights, quote(pictures)))
    assert.truthy(select(2, said:gsub("\n", "")) > 3)
    both("vit_labels", "run --image - " .. weights, helper.read(pictures .. "rgba8.png"))
    local coded = "data:image/png;base64," .. helper.succeeds("base64 -w0 " .. quote(pictures .. "rgba8.png"))
    local server, replies = serve_both("vit_labels", weights, {
      { "/predict", nil, "-F file=@" .. quote(pictures .. "rgb420.jpg") }, { "/predict", { inputs = coded } },
      { "/predict", { inputs = { coded, { image = coded } } } },
      { "/predict", nil, "-F file=@" .. quote(root .. "/Makefile") } })
    for i, status in ipairs { 200, 200, 200, 400 } do assert.matches("^" .. status, replies[i]) end
    server:stop()
    helper.succeeds(("mkdir -p 'bil der' && cp %srgba8.png %srgb420.jpg 'bil der'"):format(pictures, pictures), folder)
    local run = ("run %s --image 'bil der' --output "):format(weights)
    both("vit_labels", run .. "'logits=bil der/x.npy' && cat 'bil der/x.npy'")
    assert.equal(2, (both("vit_labels", run .. "'logits=bil der/x.PNG'")))
    local _, names = helper.run(("%s vit_labels.windows/vit_labels.exe run %s --image %s"):format(wine, weights,
      "'bil der\\'"), folder)
    assert.matches("^bil der\\\\rgb420.jpg\t", names) -- escaped
  end)

  it("writes down sounds", function()
    build_both("models/digits", "--serve")
    local weights = "--weights " .. quote(models .. "digits")
    local _, said = both("digits", ("run %s --audio %s"):format(weights, quote(models .. "digits")))
    assert.matches("TWO FIVE EIGHT SIX EIGHT", said)
    helper.succeeds(("cc -O1 -Wall -Wextra -Werror %s -lsndfile -o convert"):format(quote(root
      .. "/tests/systems/convert.c")), folder)
    for _, form in ipairs { "flac", "ogg", "mp3" } do
      helper.succeeds(("./convert %s sound.%s"):format(quote(models .. "digits/held3.wav"), form), folder)
      local _, read = both("digits", ("run %s --audio sound.%s"):format(weights, form))
      assert.matches("TWO FIVE EIGHT SIX EIGHT", read, form)
    end
    helper.succeeds(("./convert %s sound.opus"):format(quote(models .. "digits/held3.wav")), folder)
    assert.equal(0, (both("digits", ("run %s --audio sound.opus --format jsonl"):format(weights)))) -- faster speech
    local notices = helper.succeeds(wine .. " digits.windows/digits.exe info --licenses", folder)
    for _, part in ipairs { "libsndfile", "mpg123", "LAME", "Vorbis", "FLAC", "Opus" } do
      assert.matches(part, notices)
    end
    local list = {}
    for i, form in ipairs { "flac", "ogg", "mp3", "opus", "mp3 -F response_format=srt", "flac -F response_format=vtt",
      "ogg -F response_format=text", "ogg -F response_format=x" } do
      list[i] = { "/v1/audio/transcriptions", nil, "-F file=@" .. folder .. "/sound." .. form }
    end
    local server, replies = serve_both("digits", weights, list)
    for i = 1, 7 do assert.matches(i == 4 and "^200 " or "^200 .*TWO FIVE EIGHT SIX EIGHT", replies[i]) end
    assert.matches("^400 ", replies[8])
    server:stop()
  end)
end)

describe("a library for macOS", function()
  it("is compiled, and shows the names of its interface only", function()
    local said = build(("CC=%s"):format(quote(zig .. " cc -target aarch64-macos")), "macos", "target=aarch64")
    assert.truthy(said:find("/libspeaker.a, libspeaker.dylib, speaker.h", 1, true))
    local shown, names = helper.succeeds("llvm-nm -g --defined-only macos/libspeaker.dylib", scratch), 0
    for name in shown:gmatch(" [TSD] (%g+)") do
      if not name:find("dso_handle", 1, true) and not name:find("_mh_", 1, true) then
        assert.matches("^_speaker_", name)
        names = names + 1
      end
    end
    assert.truthy(names > 8)
  end)
end)

describe("a Python package for", function()
  -- Makes the package of the speaker, unpacks it, and returns the words of its tag.
  local function wheel(environment, folder, target)
    local said = helper.succeeds(("cd %s && %s gen/attn2c wheel models/speaker.lua --weights %s threads=2 "
      .. "target=%s -o %s"):format(quote(root), environment, speaker, target, quote(scratch .. "/" .. folder)))
    local path = assert(said:match("^(%g+%.whl) "))
    helper.succeeds(("unzip -qo %s"):format(quote(path)), scratch .. "/" .. folder)
    return path:match("py3%-none%-(.*)%.whl$")
  end

  it("Windows has a library with the bits of Linux for its packed weights, and the program", function()
    build("", "linux", "target=avx2")
    local expected = host("cc", "linux", "linux/libspeaker.a -lm -lpthread", "")
    build(windows, "packed", "target=avx2") -- for the header
    assert.equal("win_amd64", wheel(windows, "packed", "avx2"))
    helper.succeeds("cp speaker/speaker.dll .; test -s speaker/__main__.py", scratch .. "/packed")
    assert.equal(expected, host("x86_64-w64-mingw32-gcc -municode", "packed", "packed/speaker.dll", wine,
      quote(scratch .. "/packed/speaker/speaker.weights")))
    assert.matches(" passed, 0 failed\r?\n$", helper.succeeds(wine .. " speaker/speaker.exe check --weights "
      .. "speaker/speaker.weights", scratch .. "/packed"))
    assert.matches("mingw%-w64", helper.succeeds("cat *.dist-info/licenses/NOTICES.txt", scratch .. "/packed"))
  end)

  it("macOS says which version it needs", function()
    assert.matches("^macosx_%d%d_0_arm64$", wheel(("CC=%s"):format(quote(zig .. " cc -target aarch64-macos")), "mac",
      "aarch64"))
    assert.equal("macosx_13_0_arm64", wheel(("CC=%s"):format(quote(zig .. " cc -target aarch64-macos.13.0")), "mac",
      "aarch64"))
    helper.succeeds("test -s speaker/libspeaker.dylib -a -s speaker/speaker.weights", scratch .. "/mac")
  end)
end)
