-- report_spec: the command `report`, and its pages in a browser: nothing on the console, no text over another, no
-- horizontal scrolling at 1280 and 390 pixels, the numbers of the programs, and no markup of a user's. One browser
-- opens all pages (report.js), and leaves out/spec/report/pages.png for people to look at.
local helper = require("tests.spec.helper")
local files = require("common.files")
local json = require("common.json")
local process = require("common.process")

local root = helper.absolute_root()
local folder = root .. "/out/spec/report"
local cache = os.getenv("XDG_CACHE_HOME") or root .. "/out/spec/cache"

files.make_folder(folder)
local try, runs = helper.runner(folder)

local function report(...)
  return { "env", "XDG_CACHE_HOME=" .. cache, "lua5.4", root .. "/gen/attn2c", "report", ... }
end

-- A name as a stranger may give it: markup, quotes, a mark that turns the reading order, a line break.
local EVIL = "<script>alert(1)<b>\"'&\u{202E}\nname"

-- One that is as long as a file's may be.
local LONG = ("<b>long \u{202E}"):rep(20) .. ".json"

local WINDOW = [[
return { name = "window", seq = 128, d_model = 32, heads = 2, layers = 2, mask = "window", window = { 16, 8 },
  input = linear { from = 8 }, output = { pool "mean", linear { to = 3, name = "scores" } } }
]]

local MEL = [[
return { name = "mel", seq = any(90), d_model = 40, heads = 2, layers = 1, projections = false, d_ff = 0, norm = "none",
  final_norm = false, mask = "padding", sound = { rate = 16000, mels = 40, length = 400, hop = 160, least = 1e-6 },
  inputs = { hidden = "mels" } }
]]

local function chromium(...)
  return runs { "timeout", "600", "sh", "-c", 'exec chromium "$@" 2>chromium.log', "chromium", "--headless",
    "--no-sandbox",
    "--disable-gpu", "--hide-scrollbars", "--user-data-dir=" .. folder .. "/browser", ... }
end

-- A string for a script in HTML.
local function literal(text)
  return '"' .. text:gsub('[\\"]', "\\%0"):gsub("\n", "\\n"):gsub("\r", "\\r"):gsub("</", "<\\/") .. '"'
end

local pages, found, said = {}, {}, {}

-- Makes all pages, and opens them.
local function open_all()
  for _, name in ipairs { "page", "png" } do runs { "rm", "-rf", name } end
  helper.write(folder .. "/window.lua", WINDOW)
  runs { "rm", "-rf", EVIL }
  runs { "cp", "-r", root .. "/tests/hf/texts/sequence", EVIL }
  files.make_folder(folder .. "/page")
  local function make(name, ...)
    local code, errors
    code, said[name], errors = try(report("-r", "2", "-o", "page/" .. name .. ".html", ...))
    if code ~= 0 then error(("%s: exit %d: %s"):format(name, code, errors)) end
  end
  make("speaker", root .. "/models/speaker.lua", "batch=2", "threads=2",
    "--weights=" .. root .. "/models/speaker/speaker.safetensors")
  local random = require("commands.quality.arrays").random
  helper.write(folder .. "/three.npy", random({ 3, 128, 8 }, "f32")) -- of a model whose batch is 1
  make("window", "window.lua", "--input=features=three.npy")
  make("lengths", "window.lua", "seq=16,32", "layers=1", "activation=relu", "norm=pre", "final_norm=true",
    "eps=1e-06") -- a folder with a long name
  make("evil", EVIL, "seq=8", "precision=int8", "--text=" .. EVIL, "--attention=png")
  helper.write(folder .. "/mel.lua", MEL)
  make("sound", "mel.lua", "--audio=" .. root .. "/tests/hf/speech/english/short.wav")
  runs { "sh", "-c", 'cp out/window.variants/as_described*/bench.json old.json; cp old.json new.json; cp old.json "$0"',
    LONG }
  make("files", "old.json", LONG)
  local parts = {}
  for _, name in ipairs { "speaker", "window", "lengths", "evil", "sound", "files" } do
    pages[name] = helper.read(folder .. "/page/" .. name .. ".html")
    parts[#parts + 1] = literal(name) .. ": " .. literal(pages[name])
  end
  local shown = 'const shown = [["speaker", 1280], ["speaker", 390], ["evil", 1280]];\n'
  helper.write(folder .. "/all.html", '<!DOCTYPE html><meta charset="utf-8"><body><script>const pages = {'
    .. table.concat(parts, ",\n") .. "};\n" .. shown
    .. helper.read(root .. "/tests/spec/whole/report.js") .. "</script>")
  local text = chromium("--window-size=3000,7050", "--virtual-time-budget=20000", "--dump-dom",
    "--screenshot=pages.png", "file://" .. folder .. "/all.html"):match('<pre id="result"[^>]*>(.-)</pre>')
  text = text:gsub("&lt;", "<"):gsub("&gt;", ">"):gsub("&amp;", "&")
  for _, each in ipairs(assert(json.decode(text))) do
    found[each.name] = found[each.name] or {}
    found[each.name][each.width] = each
  end
end

-- Returns the file that a program printed for a variant.
local function printed(pattern, name)
  local path = runs({ "sh", "-c", "ls -d out/" .. pattern .. "/" .. name }):match("[^\n]+")
  return assert(json.decode(helper.read(folder .. "/" .. path)))
end

describe("a report", function()
  setup(open_all)

  it("opens without an error, at each width", function()
    for name in pairs(pages) do
      for _, width in ipairs { 1280, 390 } do assert.same({}, found[name][width].found, name) end
      assert.is_true(found[name][390].text > 300, name)
    end
  end)

  it("has no text over another, and none beside its picture", function()
    for name in pairs(pages) do
      for _, width in ipairs { 1280, 390 } do
        assert.same({}, found[name][width].misplaced, ("%s at %d"):format(name, width))
        assert.is_true(found[name][width].texts > 10)
      end
    end
  end)

  it("has a name for each picture, and for each part that keys reach", function()
    for name in pairs(pages) do
      for _, width in ipairs { 1280, 390 } do assert.same({}, found[name][width].unnamed, name) end
    end
  end)

  it("has the commands that make it again, with all that was asked for", function()
    local function lines(name)
      local list = {}
      for block in pages[name]:gmatch("<pre>(.-)</pre>") do
        for line in block:gsub("<[^>]*>", ""):gmatch("[^\n]+") do
          assert.truthy(line:find("ATTN2C_CFLAGS=&#39;-O0 -Werror&#39; ", 1, true))
          list[#list + 1] = line:match("attn2c (.*)$")
        end
      end
      return list
    end
    -- A word with a blank is in quotes, which HTML escapes.
    local function word(text) return text:find(" ", 1, true) and "&#39;" .. text .. "&#39;" or text end
    local what = (" %s batch=2 threads=2 %s"):format(word(root .. "/models/speaker.lua"),
      word("--weights=" .. root .. "/models/speaker/speaker.safetensors"))
    assert.same({ "check" .. what, "bench" .. what .. " --repetitions=2 --profile --bound",
      "report" .. what .. " --repetitions=2 --output=page/speaker.html" }, lines("speaker"))
    local all = lines("lengths")
    assert.equal(5, #all)
    assert.matches("^report window%.lua seq=16,32 layers=1 .*%-%-output=page/lengths%.html$", all[5])
    all = lines("evil")
    assert.matches("^quality .* seq=8 precision=int8 ", all[3])
    assert.matches("%-%-attention=png %-%-repetitions=2", all[4])
  end)

  it("need not be scrolled sideways", function()
    for name in pairs(pages) do
      for _, width in ipairs { 1280, 390 } do assert.equal(0, found[name][width].scroll, name) end
    end
  end)

  it("has all parts, and a caption and a table for each picture", function()
    local function ids(name) return table.concat(found[name][1280].sections, " ") end
    assert.equal("summary architecture roofline time memory exactness", ids("speaker"))
    assert.equal("comparison summary architecture roofline time memory exactness", ids("lengths"))
    assert.equal("summary architecture roofline time memory exactness attention", ids("evil"))
    assert.equal("comparison summary architecture roofline time memory exactness attention", ids("sound"))
    assert.equal("comparison roofline", ids("files"):gsub(" ?summary", ""):match("^comparison")
      and "comparison roofline")
    for name in pairs(pages) do
      for _, figure in ipairs(found[name][1280].figures) do
        assert.is_true(figure.caption > 20, figure.title)
        assert.is_true(figure.table, figure.title)
      end
    end
  end)

  it("says what the programs say", function()
    local values = found.speaker[1280].values
    local at = "speaker.variants/*"
    local info, bench, check = printed(at, "info.json"), printed(at, "bench.json"), printed(at, "check.json")
    local expected = { parameters = info.parameters, weight_bytes = info.weight_bytes, layers = info.layers,
      arena_bytes = info.entries[1].arena_bytes, flops = bench.flops, ms_median = bench.ms_median,
        ms_min = bench.ms_min,
      ms_p95 = bench.ms_p95, ms_p99 = bench.ms_p99, gflops = bench.gflops, roof_fraction = bench.roof_fraction,
      passed = check.passed, failed = check.failed }
    for key, value in pairs(expected) do assert.equal(value, tonumber(values[key]), key) end
    assert.equal(info.name, values.name)
    local share = 0
    for _, tensor in ipairs(check.tensors) do share = math.max(share, tensor.share) end
    assert.equal(("page/speaker.html: checked: %d tensors, the worst uses %.2f of its tolerance"):format(check.passed,
      share),
      said.speaker:match("^[^;]*"))
    assert.equal(printed("speaker.variants/*", "info.json").parameters,
      json.decode(runs { "sh", "-c", "out/speaker.variants/*/speaker info --json" }).parameters)
  end)

  it("tells more where it is tapped", function()
    for name in pairs(pages) do
      local taps = found[name][390].taps
      assert.equal(taps.title, taps.tip)
      assert.is_true(taps.seen, name)
      if name ~= "files" then assert.truthy(taps.tip:find("[", 1, true)) end
    end
    local taps = found.evil[390].taps
    assert.equal("#" .. taps.head, taps.large)
    assert.equal(taps.head, taps.looks)
  end)

  it("draws the spectrogram of a sound, whose seconds are the labels of queries and keys", function()
    local figure, cells = pages.sound:match("<b>Spectrogram.</b>([^<]*)"), pages.sound:match(
      '<symbol id="sound_1" viewBox="0 0 68 40"[^>]*>(.-)</symbol>')
    assert.matches("68 rows, 0.0100 seconds apart, of 40 filters", figure, 1, true)
    local _, drawn = cells:gsub("M%d+ %d+h", "")
    assert.is_true(drawn > 200)
    assert.truthy(pages.sound:find('href="#sound_1"', 1, true))
    assert.truthy(pages.sound:find("where 0.%d%d s looks at 0.%d%d s"))
  end)

  it("has what a number type loses, as quality prints it", function()
    local titles = {}
    for _, figure in ipairs(found.evil[1280].figures) do titles[figure.title] = true end
    assert.is_true(titles["int8 against f32"])
    local words = report(EVIL, "seq=8", "precision=int8", "--text=" .. EVIL)
    words[5] = "quality"
    local code, output, errors = try(words) -- which also says that it cuts the text
    assert.equal(0, code, errors)
    local row = output:match("\n(| [^\n:]+ | %d[^\n]*)\n")
    local name, shape, cosine = row:match("^| (%S+) | (%S+) | (%S+) |")
    assert.truthy(pages.evil:find(('<td class="words">%s</td><td class="words">%s</td><td>%s</td>'):format(name,
      shape:gsub("x", " × "), cosine):gsub("%%", ""), 1, true), row)
    assert.is_nil(pages.speaker:find("against f32", 1, true))
  end)

  it("takes no markup of a user", function()
    local evil = pages.evil
    local _, scripts = evil:gsub("<script", "")
    assert.equal(1, scripts)
    assert.equal(2, found.evil[1280].scripts) -- and the one that report.js adds
    assert.is_nil(evil:find("\u{202E}", 1, true))
    assert.is_nil(evil:find("<b>alert", 1, true))
    assert.truthy(evil:find("&lt;script&gt;alert(1)&lt;b&gt;&quot;&#39;&amp;", 1, true))
  end)

  it("is one file below 2 MB that loads nothing", function()
    for name, text in pairs(pages) do
      assert.is_true(#text < 2e6, name)
      assert.is_nil(text:find('src="', 1, true))
      assert.is_nil(text:find('href="[^#d]'))
    end
  end)

  it("checks the first batch of more sequences, by a command that can be repeated", function()
    local array = runs({ "sh", "-c", "ls out/window.variants/as_described*/batch_features.npy" }):match("[^\n]+")
    assert.truthy(pages.window:gsub("<[^>]*>", ""):find("--input=features=" .. array, 1, true))
    assert.equal(helper.read(folder .. "/three.npy"):sub(129, 128 + 4 * 128 * 8),
      helper.read(folder .. "/" .. array):sub(129))
  end)

  it("writes maps of attention as PNG files, a weight a square of pixels", function()
    local list = runs { "sh", "-c", "ls png" }
    local info = printed("script*.variants/precision=int8,seq=8-*", "info.json")
    local count = 0
    for name in list:gmatch("[^\n]+") do
      count = count + 1
      assert.matches("_layer_%d+_head_%d+%.png$", name)
      local text = helper.read(folder .. "/png/" .. name)
      assert.equal("\x89PNG\r\n\x1a\n", text:sub(1, 8))
      local width, height = string.unpack(">I4I4", text, 17)
      assert.is_true(width == height and width > 128 and width <= 256, name)
    end
    assert.equal(4 * info.layers, count)
  end)
end)

describe("the command", function()
  local function refused(code, pattern, ...)
    local got, output, errors = try(report(...))
    assert.equal(code, got, errors)
    assert.equal("", output)
    assert.matches("^attn2c: [^\n]*" .. pattern .. "[^\n]*\n$", errors)
  end

  it("refuses in a line what it cannot do", function()
    helper.write(folder .. "/window.lua", WINDOW)
    helper.write(folder .. "/no.json", "{}\n")
    helper.write(folder .. "/broken.json", "{\n")
    refused(4, "nowhere%.json: cannot be read", "nowhere.json")
    refused(3, "no%.json: object 1 is not from bench %-o json", "no.json")
    refused(3, "broken%.json: byte", "broken.json")
    refused(2, "%-%-text, %-%-audio or %-%-input is needed", "window.lua", "--attention=png2")
    refused(2, "%-%-audio: the model takes no sound", root .. "/models/speaker.lua", "--audio=a.wav",
      "--weights=" .. root .. "/models/speaker/speaker.safetensors")
    refused(2, "%-%-text and %-%-audio exclude each other", "window.lua", "--audio=a.wav", "--text=a")
    refused(2, "%-%-attention: %-%-weights is needed", "window.lua", "--attention=png2", "--input=features=x.npy")
    refused(2, "%-%-text and %-%-input exclude each other", "window.lua", "--text=x", "--input=a=b")
    refused(2, "9 variants, but at most 8 fit on a report", "window.lua", "seq=1,2,3,4,5,6,7,8,9")
    refused(2, "%-o: the name is empty", "window.lua", "-o", "")
    refused(2, "%-o: window%.lua exists and is not a page of attn2c report", "window.lua", "-o", "window.lua")
    local own = "<!DOCTYPE html>\n<html><p>somebody's own"
    helper.write(folder .. "/own.html", own)
    refused(2, "%-o: own%.html exists and is not a page of attn2c report", "window.lua", "-o", "own.html")
    assert.equal(own, helper.read(folder .. "/own.html"))
    files.make_folder(folder .. "/out")
    helper.write(folder .. "/out/comparison.html", own) -- the name without -o
    refused(2, "%-o: out/comparison%.html exists and is not a page", "old.json")
    assert.equal(own, helper.read(folder .. "/out/comparison.html"))
    assert.equal(WINDOW, helper.read(folder .. "/window.lua"))
    refused(2, "%-o: no%.json exists", "no.json", "-o", "no.json")
    refused(4, "cannot write page: it is a directory", "window.lua", "-o", "page")
    refused(4, "cannot write newly/: it is a folder", "window.lua", "-o", "newly/")
    refused(4, "cannot write no%.json/x%.html: no%.json is not a folder", "window.lua", "-o", "no.json/x.html")
  end)

  it("refuses what it could not write, or show, before it builds anything", function()
    helper.write(folder .. "/early.lua", (WINDOW:gsub('"window", seq', '"early", seq')))
    local text = { "early.lua", "--text=x", "--weights=early.lua" }
    refused(4, "%-%-attention: cannot write early%.lua: it is a file, and a folder is expected",
      "early.lua", "--attention=early.lua", "--input=features=x.npy")
    refused(4, "%-%-attention: cannot write early%.lua/png: early%.lua is not a folder",
      "early.lua", "--attention=early.lua/png", "--input=features=x.npy")
    refused(2, "%-%-text: the model takes no text", table.unpack(text))
    refused(2, "%-%-attention: %-%-weights is needed", "early.lua", "--attention=png2", "--input=features=x.npy")
    assert.is_nil(require("lfs").attributes(folder .. "/out/early.variants", "mode"))
  end)

  it("says no more than the program that refuses weights or an input", function()
    helper.write(folder .. "/text.safetensors", "no weights")
    refused(4, "%-%-weights: nowhere%.safetensors cannot be read", "window.lua", "--weights=nowhere.safetensors")
    for code, words in pairs { [3] = "--weights=text.safetensors", [4] = "--input=features=nowhere.npy" } do
      local got, output, errors = try(report("window.lua", words, "-o", "none.html"))
      assert.same({ code, "" }, { got, output }, errors)
      assert.matches("^[^\n]+\n$", errors)
      assert.is_nil(files.read(folder .. "/none.html"))
    end
  end)

  it("leaves no page, and no part of one, where the disk is full", function()
    runs { "mkdir", "-p", "disk" }
    if try { "mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", "disk" } ~= 0 then
      return pending("needs the right to mount a small disk")
    end
    finally(function() try { "umount", "-l", "disk" } end)
    refused(4, "cannot write disk/page%.html: No space left on device", "old.json", "new.json", "-o", "disk/page.html")
    assert.equal("", runs { "ls", "-A", "disk" })
  end)

  it("leaves no page, and no part of one, where it is interrupted", function()
    local child = process.start { folder = folder, gather = "all", words = report("window.lua", "-o", "none.html") }
    process.wait(function() return #runs { "sh", "-c", "cat /proc/$0/task/*/children", tostring(child.pid) } > 0 end)
    require("luv").kill(child.pid, "sigint")
    process.wait(function() return child.over end)
    assert.same({ 130, "attn2c: interrupted\n" }, { child.code, child.errors })
    assert.equal("", runs { "sh", "-c", "ls -A | grep -F none.html || true" })
  end)

  it("refuses files of bench with what no page has room for, or without an object", function()
    local row = '{"ms_median":1,"flops":2,"gflops":3,"roof_gflops":4,"profile":{"ops":[{"name":"%s","ms":1}]}}\n'
    local function write(name, text) helper.write(folder .. "/" .. name, text) end
    write("none.json", "[]")
    write("empty.json", "")
    write("many.json", row:rep(65))
    write("endless.json", (row:gsub(":1,", ":1e999,")))
    write("minus.json", (row:gsub(":1,", ":-1,")))
    write("deep.json", ("["):rep(1000))
    write("long.json", row:format(("n"):rep(100000)):rep(3))
    refused(3, "none%.json: has no object", "none.json")
    refused(3, "empty%.json: has no object", "empty.json")
    refused(3, "many%.json: 65 objects, but at most 64 in all fit on a report", "many.json")
    refused(3, "endless%.json: object 1 is not from bench", "endless.json")
    refused(3, "minus%.json: object 1 is not from bench", "minus.json")
    refused(3, "deep%.json: byte 65: nests deeper", "deep.json")
    local output = runs(report("long.json", "long.json", "-o", "page/li\nne.html"))
    assert.matches("^page/li%?ne%.html: long 1 1%.00 ms\n.*: long 3 %(2%) 1%.00 ms\n$", output)
    local text = helper.read(folder .. "/page/li\nne.html")
    assert.is_true(#text < 1e5)
  end)

  it("writes a page that says so where a tensor differs from the reference, and ends with 1", function()
    helper.write(folder .. "/wrong.lua", (WINDOW:gsub('"window", seq = 128', '"wrong", target = "x86_64", seq = 16')))
    runs { "rm", "-f", "wrong.html" }
    local spoil = helper.spoiling("_ops.c", "s/attn2c_pool_mean(/attn2c_pool_max(/")
    local code, printed_text = helper.run(("XDG_CACHE_HOME=%s %s %s report wrong.lua -o wrong.html"):format(
      helper.shell(cache), spoil, helper.shell(root .. "/gen/attn2c")), folder)
    assert.equal(1, code, printed_text)
    assert.matches("wrong%.html: differs from the reference: %d+ of %d+ comparisons fail; not timed\n", printed_text)
    local text = helper.read(folder .. "/wrong.html")
    assert.truthy(text:find('<p class="verdict bad">differs from the reference', 1, true))
    assert.truthy(text:find(">FAIL</td>", 1, true))
    assert.is_nil(text:find('id="roofline"', 1, true))
  end)

  it("leaves no page behind where a model cannot be built", function()
    runs { "rm", "-f", "none.html" }
    refused(2, "heads: ", "window.lua", "heads=0", "-o", "none.html")
    assert.is_nil(files.read(folder .. "/none.html"))
  end)
end)
