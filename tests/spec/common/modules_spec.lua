-- modules_spec: a Lua module that is not installed is one line, with the package that has it; so are one that cannot be
-- loaded, and the end of memory or of open files.
local helper = require("tests.spec.helper")
local modules = require("common.modules")

-- Returns the output of a command if Lua finds C modules in one folder alone and, with `none`, no others.
local function said(words, folder, none)
  local code, text = helper.run(("LUA_CPATH_5_4=%s %s lua5.4 %s %s"):format(helper.shell(folder .. "/?.so"),
    none and "LUA_PATH_5_4=/nonexistent/?.lua" or "", helper.shell(helper.root .. "/gen/attn2c"), words))
  assert.equal(6, code, text)
  return text
end

describe("a module of another package", function()
  after_each(helper.clean)

  it("that is missing is named with its package, and no other one", function()
    assert.equal("the Lua module luv is not installed: it is in Debian's package lua-luv",
      (modules.lack("x.lua:3: module 'luv' not found:\n\tno field")))
    assert.is_nil(modules.lack("module 'commands.nonsense' not found:"))
    assert.is_nil(modules.lack("another error"))
  end)

  it("that cannot be loaded is named, or memory is", function()
    local line = "error loading module 'luv' from file '/usr/lib/lua/5.4/luv.so':\n\tlibuv.so.1: "
    assert.same({ "out of memory", 5 }, { modules.lack(line .. "failed to map segment from shared object\nstack") })
    assert.same({ "the Lua module luv cannot be loaded: libuv.so.1: file too short", 6 },
      { modules.lack(line .. "file too short\nstack") })
    assert.same({ "out of memory", 5 }, { modules.lack("not enough memory") })
    assert.same({ "interrupted", 130 }, { modules.lack("/x/compiled.lua:59: interrupted!") })
    assert.same({ "too many open files", 4 }, { modules.lack("cannot open x.lua: Too many open files") })
  end)

  it("is one line of the command, whichever it is", function()
    local folder = helper.folder()
    local line = "attn2c: the Lua module %s is not installed: it is in Debian's package %s\n"
    assert.equal(line:format("lfs", "lua-filesystem"), said("--version", folder))
    local function install(name)
      helper.succeeds(("ln -s %s %s.so"):format(helper.shell(assert(package.searchpath(name, package.cpath))), name),
        folder)
    end
    install("lfs")
    assert.equal(line:format("argparse", "lua-argparse"), said("--version", folder, true))
    install("lpeg")
    local description = helper.file('return { name = "tiny", d_model = 16, heads = 2, seq = 4, layers = 1 }')
    assert.equal(line:format("luv", "lua-luv"), said("gen " .. helper.shell(description) .. " -o "
      .. helper.shell(folder .. "/out"), folder))
  end)
end)
