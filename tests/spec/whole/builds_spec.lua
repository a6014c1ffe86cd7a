-- builds_spec: builds as users meet them: folders of any name, caches that others touched, builds
-- killed at random moments, two at once, variants beside what was built, the library's SONAME.
local helper = require("tests.spec.helper")
local files = require("common.files")
local lfs = require("lfs")
local process = require("common.process")

local root = helper.absolute_root()
local here = root .. "/out/spec/builds"
local TINY = [[return { name = "tiny", d_model = 16, heads = 2, seq = 4, layers = 1, norm = "none" }]]

-- Runs the command in a folder, with -O0 after the build's own flags; returns exit code, output, errors.
local function attn2c(folder, words, environment)
  local line = { "env", "XDG_CACHE_HOME=" .. here .. "/cache" }
  for _, each in ipairs(environment or {}) do line[#line + 1] = each end
  table.move({ "lua5.4", root .. "/gen/attn2c", table.unpack(words) }, 1, 2 + #words, #line + 1, line)
  local child = process.run { words = line, folder = folder, gather = "all" }
  return child.code, child.output, child.errors
end

local function succeeds(...)
  local code, output, errors = attn2c(...)
  assert.equal(0, code, errors)
  return output, errors
end

setup(function() helper.seed(here .. "/cache") end)

local function runs(words, folder)
  local child = process.run { words = words, folder = folder, gather = "all" }
  assert.same({ 0, 0 }, { child.code, child.signal }, child.errors)
  return child.output
end

local function fresh(name)
  local folder = here .. "/" .. name
  if lfs.attributes(folder, "mode") then files.remove_folder(folder) end
  files.make_folder(folder)
  helper.write(folder .. "/tiny.lua", TINY)
  return folder
end

-- Every file below a folder: path -> "bytes time", or a link's target.
local function snapshot(folder, list, below)
  list, below = list or {}, below or ""
  for name in lfs.dir(folder .. below) do
    if name ~= "." and name ~= ".." then
      local path = below .. "/" .. name
      local about = lfs.symlinkattributes(folder .. path)
      if about.mode == "directory" then snapshot(folder, list, path)
      else list[path] = about.target or ("%d %d %d"):format(about.size, about.modification, about.ino) end
    end
  end
  return list
end

local HOSTILE = { "./a$(touch ran)", "a`touch ran`", "a b", "a:b", "a%b%s", "a$HOME", "a&touch ran&", "a;touch ran;",
  "a'b", 'a"b', "a\nb", "a\\b", "-dash", "@file", "a=b,c", "a#b", "*", "\27[31mred", "ü\xFF", "a|b>c", "~", "{a,b}" }

describe("libraries alone", function()
  it("leave no program of an older build beside them, but what is another's", function()
    local folder = fresh("libraries")
    local words, program = { "build", "tiny.lua", "-o", "made", "--libraries" }, folder .. "/made/tiny"
    succeeds(folder, { "build", "tiny.lua", "-o", "made" })
    assert.equal("file", lfs.attributes(program, "mode"))
    assert.equal("", select(2, succeeds(folder, words)))
    assert.is_nil(lfs.attributes(program))
    helper.write(program, "of the user")
    assert.equal("attn2c: made/tiny: is kept, because no older build made it; it does not belong to these libraries\n",
      select(2, succeeds(folder, words)))
    assert.equal("of the user", files.read(program))
  end)
end)

describe("models called as a file of the runtime", function()
  it("are built and run, also above and below another one", function()
    local folder = fresh("same")
    for _, name in ipairs { "model", "batches", "team", "main" } do
      local place = name == "main" and "made" or "made/model" -- made/model has model.h when main is made
      helper.write(folder .. "/tiny.lua", TINY:gsub("tiny", name))
      succeeds(folder, { "build", "tiny.lua", "kernels=c", "-o", place })
      assert.truthy(runs({ place .. "/" .. name, "check" }, folder):find(" 0 failed\n", 1, true))
      assert.equal("lib" .. name .. ".o\n", runs({ "ar", "t", ("%s/lib%s.a"):format(place, name) }, folder))
    end
  end)
end)

describe("folders of any name", function()
  it("hold what is built, and nothing of them is run", function()
    local folder = fresh("names")
    for _, name in ipairs(helper.sample(HOSTILE, 6)) do
      local output, errors = succeeds(folder, { "build", "tiny.lua", "--output=" .. name })
      assert.equal("", errors)
      assert.is_nil(output:find("[\27\xFF]"), "a raw name on the terminal")
      local info = runs({ "./" .. name .. "/tiny", "info" }, folder)
      assert.equal(info, runs({ "bash", "-c", "--", (output:match("\ntry: ([^\n]*)\n$")) }, folder))
      for _, file in ipairs { "libtiny.a", "libtiny.so", "tiny.h", "tiny.pc", "tiny.py", "tiny-config.cmake",
          "tiny-config-version.cmake" } do
        assert.equal("file", lfs.attributes(("%s/%s/%s"):format(folder, name, file), "mode"))
      end
    end
    assert.is_nil(lfs.attributes(folder .. "/ran"))
    assert.is_nil(lfs.attributes(folder .. "/file"))
  end)

  it("hold descriptions and weights, and are worked in", function()
    local folder = fresh("inputs")
    for _, name in ipairs(helper.sample(HOSTILE, 11)) do
      files.make_folder(folder .. "/" .. name)
      helper.write(("%s/%s/tiny.lua"):format(folder, name), TINY)
      local output = succeeds(folder, { "check", "./" .. name .. "/tiny.lua" })
      assert.truthy(output:find(" 0 failed\n", 1, true))
      local code, _, errors = attn2c(folder, { "check", "tiny.lua", "--weights", "./" .. name .. "/none.safetensors" })
      assert.equal(4, code)
      assert.is_nil(errors:find("defect", 1, true), errors)
      succeeds(folder .. "/" .. name, { "build", "tiny.lua" })
      runs({ "out/tiny/tiny", "info" }, folder .. "/" .. name)
    end
    assert.is_nil(lfs.attributes(folder .. "/ran"))
  end)

  it("hold the checkout and the cache", function()
    local folder = fresh("places")
    for i, name in ipairs(helper.sample({ "a'\"\n%s $(touch ran)", "a b", "$(touch ran);x?y", "=a,b:c" }, 2)) do
      local copy = folder .. "/" .. name
      files.make_folder(copy)
      for _, each in ipairs { "gen", "runtime", "templates" } do -- links would be followed, and hide the name
        runs({ "cp", "-R", root .. "/" .. each, copy }, folder)
      end
      if i == 1 then helper.seed(copy, true) end
      local function works(...)
        local child = process.run { folder = folder, gather = "all", words = { "env",
          "XDG_CACHE_HOME=" .. (i == 1 and copy or here .. "/cache"), "lua5.4", copy .. "/gen/attn2c", ... } }
        assert.same({ 0, "" }, { child.code, child.errors })
      end
      local before = i == 1 and #helper.entries(copy .. "/attn2c/results")
      works("check", "tiny.lua", "kernels=c")
      if i == 1 then
        works("build", "tiny.lua", "target=amx", "precision=bf16") -- assembly in emitted files and in headers
        assert.is_true(#helper.entries(copy .. "/attn2c/results") > before) -- how many depends on their hashes
      end
    end
    assert.is_nil(lfs.attributes(folder .. "/ran"))
  end)

  it("that cannot be made are refused in one line, and nothing is left", function()
    local folder = fresh("refused")
    local before = snapshot(folder)
    for _, name in ipairs { "below/" .. ("x"):rep(300), "tiny.lua", "tiny.lua/below", "" } do
      local code, output, errors = attn2c(folder, { "build", "tiny.lua", "-o", name })
      assert.is_true(code == 4 or code == 2)
      assert.equal("", output)
      assert.matches("^attn2c: [^\n]+\n$", errors)
    end
    assert.same(before, snapshot(folder))
    assert.is_nil(lfs.attributes(folder .. "/below"))
  end)
end)

describe("the compiler", function()
  it("that writes no object is named, and its flags", function()
    local folder = fresh("silent")
    for _, each in ipairs { { "CC=/bin/true", "/bin/true" }, { "ATTN2C_CFLAGS=-O0 -S", "/[^ ]*cc" } } do
      local code, output, errors = attn2c(folder, { "check", "tiny.lua", "kernels=c" }, { each[1] })
      assert.same({ 4, "" }, { code, output })
      assert.matches("^attn2c: cannot compile [%w_/]+%.c: " .. each[2] .. " wrote no object; CC must be a C compiler, "
        .. "and ATTN2C_CFLAGS must not change what it writes\n$", errors)
    end
  end)

  it("compiles nothing where nothing changed, whatever the times", function()
    local folder = fresh("again")
    succeeds(folder, { "build", "tiny.lua" })
    local before = snapshot(folder)
    for path in pairs(before) do lfs.touch(folder .. path, 1000000, 1000000) end
    before = snapshot(folder)
    -- Every tool is a failure now, but for the questions which it is.
    files.make_folder(folder .. "/bin")
    for _, tool in ipairs { "ld", "ar", "objcopy", "as" } do
      helper.write(folder .. "/bin/" .. tool, "#!/bin/sh\nexit 1\n")
      runs({ "chmod", "+x", folder .. "/bin/" .. tool })
    end
    succeeds(folder, { "build", "tiny.lua" }, { "PATH=" .. folder .. "/bin:" .. os.getenv("PATH") })
    for path, was in pairs(before) do assert.equal(was, snapshot(folder)[path]) end
  end)
end)

describe("the shared library", function()
  it("has its ABI in its name at run time, and is found by it", function()
    local folder = fresh("soname")
    succeeds(folder, { "build", "tiny.lua" })
    assert.truthy(runs({ "readelf", "-d", "out/tiny/libtiny.so" }, folder):find("soname: [libtiny.so.3]", 1, true))
    assert.equal("libtiny.so.3", lfs.symlinkattributes(folder .. "/out/tiny/libtiny.so", "target"))
    helper.write(folder .. "/user.c", '#include "tiny.h"\nint main(void) { return tiny_strerror(0) == 0; }\n')
    runs({ "cc", "user.c", "-Iout/tiny", "-Lout/tiny", "-ltiny", "-Wl,-rpath," .. folder .. "/out/tiny", "-o", "user" },
      folder)
    runs({ "./user" }, folder)
    assert.truthy(runs({ "readelf", "-d", "user" }, folder):find("[libtiny.so.3]", 1, true))
  end)
end)

describe("what build made", function()
  it("is changed by no check, bench or tune", function()
    local folder = fresh("variants")
    succeeds(folder, { "build", "tiny.lua" })
    local before = snapshot(folder .. "/out/tiny")
    for _, words in ipairs { { "check", "tiny.lua" }, { "check", "tiny.lua", "seq=8" },
      { "bench", "tiny.lua", "-r", "1" }, { "bench", "tiny.lua", "seq=8", "batch=2", "-r", "1" },
      { "tune", "tiny.lua", "--budget", "1" } } do
      succeeds(folder, words)
      assert.same(before, snapshot(folder .. "/out/tiny"), table.concat(words, " "))
    end
  end)

  it("bench lists values, a row each", function()
    local folder = fresh("lists")
    local words = { "bench", "tiny.lua", "seq=4,8", "mask={window={1,1}}", "threads=1,2", "-r", "1" }
    local output = succeeds(folder, words)
    local rows = {}
    for seq, threads in output:gmatch("| (%d+) | tiny | forward | (%d) |") do
      rows[#rows + 1] = seq .. " " .. threads
    end
    assert.same({ "4 1", "4 2", "8 1", "8 2" }, rows)
    assert.equal(1, select(2, output:gsub("| seq | model ", "")))
    words[5] = "threads=1" -- which is built
    words[#words + 1] = "-o"
    words[#words + 1] = "csv"
    assert.equal(3, select(2, succeeds(folder, words):gsub("\n", "")))
    words[#words] = "json"
    local json = succeeds(folder, words)
    assert.matches('^%[\n{"seq": 4, "model": "tiny",.*}\n%]\n$', json)
    assert.is_nil(lfs.attributes(folder .. "/out/tiny"))
  end)
end)

describe("the cache", function()
  it("is checked by content: planted and cut objects are compiled anew", function()
    local folder = fresh("planted")
    local environment = { "XDG_CACHE_HOME=" .. folder }
    succeeds(folder, { "check", "tiny.lua", "kernels=c" })
    runs({ "cp", "-a", here .. "/cache/attn2c", "." }, folder)
    local count = 0
    for key in lfs.dir(folder .. "/attn2c/results") do
      for _, name in ipairs { "model-model.o", "model-load.o", "tiny.o", "libattn2c_c.a", "tiny" } do
        local path = ("%s/attn2c/results/%s/%s"):format(folder, key, name)
        local text = files.read(path)
        if text then
          helper.write(path, count % 2 == 0 and text:sub(1, #text // 2) or "planted")
          count = count + 1
        end
      end
    end
    assert.is_true(count >= 5)
    local output, errors = succeeds(folder, { "check", "tiny.lua", "kernels=c" }, environment)
    assert.truthy(output:find(" 0 failed\n", 1, true))
    assert.equal("", errors)
  end)

  it("of another user's making is not used, and all is compiled by CC, some words and a path from here", function()
    local folder = fresh("foreign")
    files.make_folder(folder .. "/attn2c")
    runs({ "chmod", "0777", folder .. "/attn2c" })
    helper.write(folder .. "/wrap.sh", ('#!/bin/sh\necho "$*" >>"%s/log"\nsleep 0.1\nexec cc "$@"\n'):format(folder))
    runs({ "chmod", "+x", folder .. "/wrap.sh" })
    -- On a terminal, where a build by a slow compiler shows a bar, and takes it away.
    local line = ("XDG_CACHE_HOME=%s CC='./wrap.sh -m64 -DWRAPPED' taskset -c 0 lua5.4 %s build tiny.lua kernels=c "
      .. "opens=packed --libraries"):format(helper.shell(folder), helper.shell(root .. "/gen/attn2c"))
    local said = runs({ "script", "-qec", line, "/dev/null" }, folder)
    local line_said = ("attn2c: the cache %s/attn2c is open to other users: out/tiny/.cache is used instead")
      :format(folder)
    assert.truthy(said:find(line_said, 1, true), said)
    assert.same({}, snapshot(folder .. "/attn2c"))
    assert.matches("\r%[#+%.*%] %d+ s, %d+ s left  compiling: %d+ of %d+\27%[K", said)
    assert.matches("\r\27%[K[^\r]*tiny%.spdx%.json\r\n$", said)
    local log = files.read(folder .. "/log")
    assert.truthy(log:find("%-m64 %-DWRAPPED [^\n]* %-c [^\n]*tiny%.c "))
    assert.truthy(log:find("-m64 -DWRAPPED -shared ", 1, true))
  end)
end)

-- The processes below one, itself first.
local function descendants(pid)
  local list, i = { pid }, 1
  while list[i] do
    local children = files.read(("/proc/%d/task/%d/children"):format(list[i], list[i])) or ""
    for child in children:gmatch("%d+") do list[#list + 1] = tonumber(child) end
    i = i + 1
  end
  return list
end

describe("builds that are killed", function()
  it("leave nothing that a later build uses", function()
    local folder = fresh("killed")
    helper.seed(folder, true)
    local environment = { "env", "XDG_CACHE_HOME=" .. folder }
    math.randomseed(20261122)
    local killed, rounds = 0, helper.is_long and 24 or 3
    for round = 1, rounds do
      local words = { table.unpack(environment) }
      for _, word in ipairs { "lua5.4", root .. "/gen/attn2c", "build", "tiny.lua", "seq=" .. round } do
        words[#words + 1] = word
      end
      local child = process.start { words = words, folder = folder, gather = "all" }
      -- Once so many processes were seen at work, however fast they are, and a little later.
      local most, seen, count, list = math.random(8), {}, 0, {}
      process.wait(function()
        list = child.over and {} or descendants(child.pid)
        for i = 2, #list do
          if not seen[list[i]] then seen[list[i]], count = true, count + 1 end
        end
        return child.over or count >= most
      end)
      -- The compilers alone, the command alone, or all at once.
      for i, pid in ipairs(list) do
        if (i > 1 and round % 3 ~= 1) or (i == 1 and round % 3 ~= 0) then require("luv").kill(pid, "sigkill") end
      end
      process.wait(function() return child.over end)
      if child.code ~= 0 or child.signal ~= 0 then killed = killed + 1 end
      -- A program that is there is whole.
      if lfs.attributes(folder .. "/out/tiny/tiny", "mode") then runs({ "out/tiny/tiny", "info" }, folder) end
    end
    assert.is_true(killed >= rounds // 2, killed .. " were killed")
    succeeds(folder, { "build", "tiny.lua" }, { "XDG_CACHE_HOME=" .. folder })
    runs({ "out/tiny/tiny", "check" }, folder)
    for name in lfs.dir(folder .. "/out/tiny") do assert.is_nil(name:match("%.new$"), name) end
    for name in lfs.dir(folder .. "/attn2c") do assert.is_nil(name:match("^new%-"), name) end
    local hash, entries = require("common.hash"), 0
    for key in lfs.dir(folder .. "/attn2c/results") do
      for name in lfs.dir(("%s/attn2c/results/%s"):format(folder, key)) do
        if #key == 64 and name:match("[^.]") and name ~= "sha256" then
          local entry = ("%s/attn2c/results/%s/"):format(folder, key)
          assert.equal(files.read(entry .. "sha256"), hash.content(files.read(entry .. name)))
          entries = entries + 1
        end
      end
    end
    assert.is_true(entries > 100)
  end)
end)

describe("a build that is interrupted", function()
  it("ends with its compilers, and with 130", function()
    local folder = fresh("interrupted")
    local child = process.start { folder = folder, gather = "all", words = { "env",
      "XDG_CACHE_HOME=" .. folder, "lua5.4", root .. "/gen/attn2c", "build", "tiny.lua" } }
    local list
    process.wait(function()
      list = descendants(child.pid)
      return #list >= 4 -- a driver and the compiler that it started
    end)
    require("luv").kill(child.pid, "sigint")
    process.wait(function() return child.over end)
    assert.same({ 130, "attn2c: interrupted\n" }, { child.code, child.errors })
    -- A compiler that a driver started has its signal, too, but nobody waits for it.
    local function is_left()
      for _, pid in ipairs(list) do if lfs.attributes(("/proc/%d/exe"):format(pid), "mode") then return true end end
      return false
    end
    for _ = 1, 6000 do if is_left() then process.sleep(10) end end
    assert.is_false(is_left())
    for name in lfs.dir(folder .. "/attn2c") do assert.is_nil(name:match("^new"), name) end
  end)
end)

describe("two builds at once", function()
  it("of one folder: one waits, says so, and what is there is of one of them", function()
    local folder = fresh("two")
    succeeds(folder, { "check", "tiny.lua" }) -- a runtime for the cache of this test
    runs({ "cp", "-a", here .. "/cache/attn2c", "." }, folder)
    -- The first build stops where it links until the second has said that it waits.
    files.make_folder(folder .. "/bin")
    helper.write(folder .. "/bin/objcopy", ([[
#!/bin/sh
touch '%s/begun'
while [ ! -e '%s/go' ]; do sleep 0.05; done
PATH=${PATH#*:}
exec objcopy "$@"
]]):format(folder, folder))
    runs({ "chmod", "+x", folder .. "/bin/objcopy" })
    local function start(seq)
      return process.start { folder = folder, gather = "all", words = { "env",
        "XDG_CACHE_HOME=" .. folder, ("PATH=%s/bin:%s"):format(folder, os.getenv("PATH")), "sh", "-c",
        'exec lua5.4 "$0" build tiny.lua "$1" 2>>said', root .. "/gen/attn2c", "seq=" .. seq } }
    end
    local function wait_for(condition, child)
      process.wait(function() return condition() or child.over end)
    end
    for round = 1, helper.is_long and 3 or 1 do
      for _, name in ipairs { "go", "begun", "said" } do os.remove(folder .. "/" .. name) end
      local children = { start(4 + round) }
      wait_for(function() return files.read(folder .. "/begun") end, children[1])
      children[2] = start(12 + round)
      wait_for(function() return (files.read(folder .. "/said") or ""):find("\n") end, children[2])
      helper.write(folder .. "/go", "")
      process.wait(function() return children[1].over and children[2].over end)
      local said = files.read(folder .. "/said")
      assert.same({ 0, 0 }, { children[1].code, children[2].code }, said)
      assert.equal("attn2c: another build is at work in out/tiny: waiting for its end\n", said)
      local seq = files.read(folder .. "/out/tiny/tiny.h"):match("#define TINY_SEQ (%d+)")
      assert.truthy(runs({ "out/tiny/tiny", "info" }, folder):find(("x%s[x%%]%%s]"):format(seq)) or
        runs({ "out/tiny/tiny", "info", "--json" }, folder):find(seq, 1, true))
      runs({ "out/tiny/tiny", "check" }, folder)
    end
  end)

  it("that fill one cache both succeed", function()
    local folder = fresh("race")
    succeeds(folder, { "check", "tiny.lua" })
    runs({ "cp", "-a", here .. "/cache/attn2c", "." }, folder)
    -- An eighth of the results is missing: what each build makes in the same moment as the other.
    for key in lfs.dir(folder .. "/attn2c/results") do
      local entry = folder .. "/attn2c/results/" .. key
      if key:match("^[01]") or lfs.attributes(entry .. "/libattn2c_libxsmm.a") then files.remove_folder(entry) end
    end
    local children = {}
    for i = 1, 2 do
      children[i] = process.start { folder = folder, gather = "all", words = { "env",
        "XDG_CACHE_HOME=" .. folder, "lua5.4", root .. "/gen/attn2c", "build", "tiny.lua", "-o", "out" .. i } }
    end
    process.wait(function() return children[1].over and children[2].over end)
    for i, child in ipairs(children) do
      assert.same({ 0, "" }, { child.code, child.errors })
      runs({ ("out%d/tiny"):format(i), "check" }, folder)
    end
    for name in lfs.dir(folder .. "/attn2c") do assert.is_nil(name:match("^new"), name) end
  end)
end)
