-- manual_spec: the manual has every command, option, key and constructor, and roff's own checkers find nothing in it.
local helper = require("tests.spec.helper")
local grammar = require("commands.grammar")
local manual = require("deploy.manual")
local program_manual = require("deploy.program_manual")
local reference = require("commands.reference")

local pages = { ["attn2c.1"] = manual.command(grammar.parser()), ["attn2c.5"] = manual.description(),
  ["attn2c-program.1"] = program_manual.page(helper.root) }

-- As a terminal shows it, each space single.
local function shown(name)
  local path = helper.file(pages[name], name)
  local text = helper.succeeds("groff -man -Tascii -rLL=200n -P-c -P-b -P-u " .. helper.shell(path))
  return (text:gsub("%s+", " "))
end

describe("the manual", function()
  after_each(helper.clean)

  for name, text in pairs(pages) do
    it("is clean: " .. name, function()
      local path = helper.shell(helper.file(text, name))
      assert.equal("", helper.succeeds("groff -man -ww -z -Tutf8 " .. path))
      if os.execute("command -v mandoc >/dev/null") ~= true then return pending("needs mandoc") end
      assert.equal("", helper.succeeds("mandoc -Tlint -W all " .. path))
    end)
  end

  it("has every command with its options, arguments and their texts", function()
    local text = shown("attn2c.1")
    local count = 0
    for _, each in ipairs(grammar.parser()._commands) do
      local at = assert(text:find(" attn2c " .. each._name .. " " .. each._description:gsub("`", ""), 1, true),
        each._name)
      for _, option in ipairs(each._options) do
        if option._aliases[1] ~= "-h" then
          local from = text:find(" " .. table.concat(option._aliases, ", "), at, true)
          assert.truthy(from, each._name .. " " .. option._name)
          assert.truthy(text:find(option._description:gsub("`", ""), from, true), option._name)
          count = count + 1
        end
      end
      for _, argument in ipairs(each._arguments) do
        assert.truthy(text:find(" " .. argument._name:upper() .. " " .. argument._description, at, true))
      end
    end
    assert.is_true(count > 20)
  end)

  it("of programs has each command with its options, as --help prints them", function()
    local text, count, all = shown("attn2c-program.1"), 0, {}
    local source = ""
    for _, name in ipairs { "options.c", "generate/rows.c", "serve/options.c" } do
      source = source .. helper.read(helper.root .. "/runtime/program/" .. name)
    end
    for _, page in ipairs(program_manual.pages(helper.root)) do
      all[page.command] = all[page.command] or {}
      for _, option in ipairs(page.options) do
        assert.truthy(text:find(" " .. option.name .. " " .. option.meaning, 1, true), option.name)
        count = count + 1
        all[page.command][option.name:match("%-%-[%w-]+")] = true
      end
      assert.truthy(text:find((page.text:gsub("\n+", " "):gsub(" $", "")), 1, true), page.text)
    end
    local read = 0 -- options that the program reads
    for option, commands in source:gmatch('\n    {"(%-%-[%w-]+)", [^,]+, [^,]+, ([%u |]+),') do
      for name in commands:gsub("TEXTS", ""):gsub("PICTURES", ""):gsub("SOUNDS", ""):gmatch("%u+") do
        assert.is_true(all[name:lower()][option] or option == "--pair", name .. " " .. option)
        read = read + 1
      end
    end
    assert.is_true(count > 30 and read > 30)
  end)

  it("has every exit code that the compiler knows", function()
    local text = shown("attn2c.1"):match("EXIT STATUS( .* )EXAMPLES")
    for _, code in pairs(require("common.faults").code) do assert.truthy(text:find(" " .. code .. " %u")) end
  end)

  it("has every variable of the environment that builds read", function()
    local text = shown("attn2c.1"):match("ENVIRONMENT( .* )FILES")
    for _, name in ipairs { "commands/build/toolchain", "common/store" } do
      local source = helper.read(("%s/gen/%s.lua"):format(helper.root, name))
      for variable in source:gmatch('environment%("([%w_]+)"%)') do
        assert.truthy(variable == "HOME" or text:find(" " .. variable .. " ", 1, true), variable)
      end
    end
  end)

  it("has every key and constructor with its meaning", function()
    local text = shown("attn2c.5")
    local function has(name, meaning)
      -- Up to the first character that is not of ASCII.
      local wanted = (name .. " " .. meaning):match("^[ -~]*"):gsub("%s+", " "):gsub("%s$", "")
      assert.truthy(text:find(" " .. wanted, 1, true), wanted)
    end
    for _, row in ipairs(reference.keys()) do has(row.name, row.meaning) end
    for _, row in ipairs(reference.constructors()) do
      has(row.name, row.meaning)
      for _, field in ipairs(row.fields) do has(field.name, field.meaning) end
    end
  end)

  it("has a description that is valid as an example", function()
    local example = pages["attn2c.5"]:match("\n%.nf\n(return .-)\n%.fi"):gsub("\\%(dq", '"')
    local state = require("pipeline").run(helper.root, helper.file(example, "first.lua"), {}, "graph")
    assert.equal("first", state.spec.name)
  end)
end)
