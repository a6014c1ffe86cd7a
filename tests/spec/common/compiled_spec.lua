-- compiled_spec: modules as bytecode in the user's cache: used where they are right, made again otherwise, and never
-- a reason to fail.
local helper = require("tests.spec.helper")
local lfs = require("lfs")

local shell = helper.shell

-- Prints the modes in which modules were loaded, "b" of bytecode and "t" of text, and what the module returns.
local SCRIPT = [[
local modes, load_any = "", load
function load(text, name, mode) modes = modes .. mode return load_any(text, name, mode) end
package.path = arg[1] .. "/gen/?.lua;" .. package.path
local compiled = dofile(arg[1] .. "/gen/common/compiled.lua")
compiled.start(arg[2])
local one, two = require("one"), require("below.two")
io.write(modes, " ", one.place(), " ", two)
compiled.keep(function(name, text) require("common.store").write(name, text) end)
]]

local ONE = 'return { place = function() return debug.getinfo(1, "S").source:match("[^/]*/[^/]*$") .. %d end }\n'

local here, gen, cache

before_each(function()
  here = helper.folder()
  gen, cache = here .. "/gen", here .. "/cache"
  lfs.mkdir(gen)
  lfs.mkdir(gen .. "/below")
  helper.write(here .. "/script.lua", SCRIPT)
  helper.write(gen .. "/one.lua", ONE:format(1))
  helper.write(gen .. "/below/two.lua", "return 2\n")
end)

after_each(helper.clean)

local function run(environment)
  return helper.succeeds(("%s lua5.4 %s/script.lua %s %s"):format(environment or "XDG_CACHE_HOME=" .. shell(cache),
    shell(here), shell(helper.absolute_root()), shell(gen)))
end

-- Returns the path of the only file of modules.
local function file()
  local names = helper.entries(cache .. "/attn2c")
  assert.match("^modules%-%d+$", names[1])
  return cache .. "/attn2c/" .. names[1]
end

describe("a module", function()
  it("is loaded as bytecode from the second time on, under the name of its source", function()
    assert.equal("tt gen/one.lua1 2", run())
    assert.equal("rwx------", lfs.attributes(cache .. "/attn2c", "permissions"))
    local path = file()
    local before = lfs.attributes(path, "ino")
    assert.equal("bb gen/one.lua1 2", run())
    assert.equal(before, lfs.attributes(path, "ino"))
  end)

  it("is loaded from its source if that has changed, even to the same size at the same time", function()
    run()
    local time = lfs.attributes(gen .. "/one.lua", "modification")
    helper.write(gen .. "/one.lua", ONE:format(7))
    lfs.touch(gen .. "/one.lua", time, time)
    assert.equal("tb gen/one.lua7 2", run())
    assert.equal("bb gen/one.lua7 2", run())
  end)

  it("is loaded from its source in another place, and if Lua is another one", function()
    run()
    local text = helper.read(file())
    local function other(digits, last) return (" %s%d\n"):format(digits, 9 - last) end
    helper.write(file(), (text:gsub(" (%d+)(%d)\n", other, 1))) -- the time of a file of Lua
    assert.equal("tt gen/one.lua1 2", run())
    assert.equal("bb gen/one.lua1 2", run())
    local path = file()
    assert(os.rename(gen, here .. "/neg")) -- it has the same number, and so the same file
    gen = here .. "/neg"
    assert.equal("tt neg/one.lua1 2", run())
    assert.equal(path, file())
  end)

  it("is right whatever is cut off or damaged in the cache", function()
    run()
    local path = file()
    local text = helper.read(path)
    for at = 1, #text, helper.is_long and 1 or 37 do
      helper.write(path, text:sub(1, at - 1) .. string.char(text:byte(at) ~ 1 << at % 8) .. text:sub(at + 1))
      assert.match("^[bt][bt] gen/one.lua1 2$", run())
    end
    for at = 0, #text - 1, helper.is_long and 1 or 101 do
      helper.write(path, text:sub(1, at))
      assert.match("^t[bt] gen/one.lua1 2$", run())
    end
  end)
end)

describe("a cache of modules", function()
  it("is not read if others may write there", function()
    run()
    helper.succeeds("chmod o+w " .. shell(cache .. "/attn2c"))
    assert.equal("tt gen/one.lua1 2", run())
    assert.equal("tt gen/one.lua1 2", run())
  end)

  it("is not needed", function()
    helper.write(here .. "/none", "")
    for _, environment in ipairs { "env -u HOME XDG_CACHE_HOME=", "XDG_CACHE_HOME=/proc/none",
      "XDG_CACHE_HOME=" .. shell(here .. "/none") } do
      for _ = 1, 2 do assert.equal("tt gen/one.lua1 2", run(environment)) end
    end
  end)

  it("is whole when several commands have written it at once", function()
    local line = ("XDG_CACHE_HOME=%s lua5.4 %s/script.lua %s %s & "):format(shell(cache), shell(here),
      shell(helper.absolute_root()), shell(gen))
    assert.equal(("tt gen/one.lua1 2"):rep(4), (helper.succeeds(line:rep(4) .. "wait"):gsub("b", "t")))
    assert.equal("bb gen/one.lua1 2", run())
    assert.same({ file():match("[^/]*$") }, helper.entries(cache .. "/attn2c"))
  end)
end)
