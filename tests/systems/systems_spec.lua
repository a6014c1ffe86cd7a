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

  it("serves, to several clients at a time", function()
    local server = serving.start(folder, ("%s language.windows/language.exe serve --weights %s"):format(wine,
      quote(models .. "language")))
    local status, said = server:ask("/health")
    assert.same({ 200, { status = "ok" } }, { status, said })
    local list = {}
    for i = 1, 8 do list[i] = { "/predict", { inputs = "Wo ist der Bahnhof " .. i .. "?" } } end
    for _, text in ipairs(server:ask_all(list)) do assert.matches('"de"', text) end
    status = server:ask("/predict", "{")
    assert.equal(400, status)
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
    local server = serving.start(folder, ("%s tales.windows/tales.exe serve %s"):format(wine, weights))
    local asked = { prompt = "A little mouse", max_tokens = 20, temperature = 0 }
    local status, answer = server:ask("/v1/completions", asked)
    assert.equal(200, status)
    assert.truthy(#answer.choices[1].text > 10)
    asked.stream = true
    local _, _, streamed = server:ask("/v1/completions", asked)
    assert.matches("data: %[DONE%]", streamed)
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
    local server = serving.start(folder, ("%s vit_labels.windows/vit_labels.exe serve %s"):format(wine, weights))
    local status = server:ask("/predict", nil, "-F file=@" .. quote(pictures .. "rgb420.jpg"))
    assert.equal(200, status)
    local _, refused = server:ask("/predict", nil, "-F file=@" .. quote(root .. "/Makefile"))
    assert.matches("^file: ", refused.error)
    server:stop()
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
    local server = serving.start(folder, ("%s digits.windows/digits.exe serve %s"):format(wine, weights))
    local status, answer = server:ask("/v1/audio/transcriptions", nil, "-F file=@" .. quote(models
      .. "digits/held3.wav"))
    assert.same({ 200, "TWO FIVE EIGHT SIX EIGHT" }, { status, answer.text })
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
