-- readme_tables_spec.lua: README files keep their form: tables are up to date, links lead somewhere, the first page is
-- short, sentences are too, and the walk-through has lines of the code. Each code file begins with a sentence.
local helper = require("tests.spec.helper")
local lfs = require("lfs")
local readme = require("tests.readme")

local pages = { table.unpack(readme.list) }
for _, name in ipairs { ".github/CONTRIBUTING.md", "gen/deploy/CHANGELOG.md", "models/language/README.md",
  "models/numbers/README.md", "models/speaker/README.md", "models/tales/README.md",
  "tests/bench/peers/README.md" } do pages[#pages + 1] = name end

local function read(name) return helper.read(helper.root .. "/" .. name) end

-- A page's lines outside code.
local function prose(text)
  local lines, code = {}, false
  for line in text:gmatch("([^\n]*)\n") do
    if line:match("^```") then code = not code elseif not code then lines[#lines + 1] = line end
  end
  return lines
end

local function anchors(text)
  local set = {}
  for _, line in ipairs(prose(text)) do
    local heading = line:match("^#+ (.*)$")
    if heading then set[readme.anchor(heading)] = true end
  end
  return set
end

-- The sentences of paragraphs and lists, joined from their lines.
local function sentences(text)
  local list, paragraph = {}, {}
  local function finish()
    local joined = table.concat(paragraph, " "):gsub("%[([^%]]*)%]%([^)]*%)", "%1"):gsub("`[^`]*`", "code")
    for sentence in (joined .. " "):gmatch("(.-[.:?!])%s") do list[#list + 1] = sentence end
    paragraph = {}
  end
  for _, line in ipairs(prose(text)) do
    if line == "" or line:match("^[|#<!]") then
      finish()
    else
      if line:match("^%s*%- ") or line:match("^%s*%d+%. ") then finish() end
      paragraph[#paragraph + 1] = line
    end
  end
  finish()
  return list
end

describe("README files", function()
  it("have tables that are up to date: make readme writes them", function()
    assert.same({}, readme.stale())
  end)

  it("need no tables of files: each code file begins with a sentence, which make files prints", function()
    local rows, lost = {}, {}
    for _, folder in ipairs { "gen", "runtime", "tests/c", "tests/spec" } do
      for _, row in ipairs(readme.files(folder)) do
        rows[row.path] = row.sentence
        if not row.sentence:find("^.+[.:?!)]$") then lost[#lost + 1] = row.path .. ": " .. row.sentence end
      end
    end
    assert.same({}, lost)
    assert.equal("runs the compiler's passes in order, and a checker after each.", rows["gen/pipeline.lua"])
    assert.equal("decides from past gains and costs whether sharing a call helps.", rows["runtime/model/balance.h, .c"])
    local printed = helper.succeeds("make -s files IN=gen/passes/lower", helper.root)
    assert.truthy(printed:find("gen/passes/lower/keys.lua +packs keys and values"))
    assert.is_nil(printed:find("gen/passes/plan", 1, true))
  end)

  it("have links to files and headings that are there", function()
    local lost = {}
    for _, name in ipairs(pages) do
      local text = read(name)
      for _, line in ipairs(prose(text)) do
        for target in line:gsub("`[^`]*`", ""):gsub("\\%]", ""):gmatch("%]%(([^)]*)%)") do
          local path, anchor = target:match("^([^#]*)#?(.*)$")
          if not target:match("^https?:") then
            local file = path == "" and name or (name:match("^(.*/)[^/]*$") or "") .. path
            local mode = lfs.attributes(helper.root .. "/" .. file, "mode")
            local known = anchor == "" or mode == "file" and anchors(read(file))[anchor]
            if not (mode and known) then lost[#lost + 1] = name .. ": " .. target end
          end
        end
      end
    end
    assert.same({}, lost)
  end)

  it("count the families of models", function()
    local count = 0
    for _, family in pairs(require("checkpoints.families").by_name) do
      if family.model_types then count = count + 1 end
    end
    assert.equal(count, tonumber(read("README.md"):match("%[(%d+) families%]")))
  end)

  it("have a first page of at most 250 lines", function()
    local lines = select(2, read("README.md"):gsub("\n", ""))
    assert.is_true(lines <= 250, lines .. " lines")
  end)

  it("have the limits on the second screen of the first page, and three models at most of each use", function()
    local text = read("README.md")
    local lines = select(2, text:match("^(.-\n)## Limits\n"):gsub("\n", ""))
    assert.is_true(lines <= 60, lines .. " lines before the limits")
    local uses = 0
    for models in text:match("\n## Models that work\n(.-)\n## "):gmatch("\n|[^|]*[^|-]|([^|\n]*)|") do
      assert.is_true(select(2, models:gsub(",", "")) <= 2, models)
      uses = uses + 1
    end
    assert.is_true(uses > 5)
  end)

  it("have no sentence of more than 25 words", function()
    local long = {}
    for _, name in ipairs(readme.list) do
      for _, sentence in ipairs(sentences(read(name))) do
        local words = select(2, sentence:gsub("%S+", ""))
        if words > 25 then long[#long + 1] = ("%s: %d: %s"):format(name, words, sentence) end
      end
    end
    assert.same({}, long)
  end)

  it("show how the soft cap was added with lines of the code, comments apart", function()
    local section = read("gen/README.md"):match("\nAn example is the soft cap.*$")
    local shown, lost, texts = 0, {}, {}
    for block in section:gmatch("```diff\n(.-)```") do
      for line in block:gmatch("([^\n]*)\n") do
        local paths, added = line:match("^  (%l+/.*)$"), line:match("^%+%s*(.-)%s*$")
        if paths then
          texts = {}
          for name in paths:gmatch("[%w_/]+%.%l+") do
            texts[#texts + 1] = read(name:find("/", 1, true) and name or paths:match("^.*/") .. name)
          end
        elseif added and not added:match("^/?%*") then
          local found = false
          for _, text in ipairs(texts) do found = found or text:find(added, 1, true) ~= nil end
          if not found then lost[#lost + 1] = added end
          shown = shown + 1
        end
      end
    end
    assert.same({}, lost)
    assert.is_true(shown > 11, shown .. " lines")
  end)

  it("name every family of checkpoints and its model_type, and every command", function()
    local families, lost = require("checkpoints.families"), {}
    local rows = read("gen/checkpoints/README.md"):match("\n## Families\n(.-)\n## ")
    for name in pairs(families.by_name) do
      if not rows:find("\n| " .. name .. " |", 1, true) then lost[#lost + 1] = name end
    end
    for model_type in pairs(families.by_type) do
      if not rows:find("`" .. model_type .. "`", 1, true) then lost[#lost + 1] = model_type end
    end
    local commands = read("gen/commands/README.md"):match("\n## All commands\n(.-)\n## ")
    local help = helper.succeeds("gen/attn2c --help", helper.root)
    local count = 0
    for name in help:match("\nCommands:(\n.*)$"):gmatch("\n   (%l+) ") do
      if not commands:find("\n| `" .. name .. "` |", 1, true) then lost[#lost + 1] = name end
      count = count + 1
    end
    assert.same({}, lost)
    assert.is_true(count >= 11, count .. " commands")
  end)

  it("take the first sentence of a comment in Lua, C, Python and shell", function()
    for text, wanted in pairs {
      ["-- a.lua: reads\n-- a file. It\n-- is quick.\nlocal x\n"] = "reads a file.",
      ["/* a.c - writes (Ba et al. 2016) both\n * halves. See a.h. */\n"] = "writes (Ba et al. 2016) both halves.",
      ['"""Draws. Then ends."""\n'] = "Draws.",
      ["#!/bin/sh\n# run.sh: runs:\n#\n#   more\n"] = "runs.",
      ["local x = 1\n"] = "",
    } do
      assert.equal(wanted, readme.sentence(text))
    end
  end)

  it("show lines of dumps and of C as the compiler writes them", function()
    local block = helper.read(helper.root .. "/gen/README.md"):match("### One decision.-\n```\n(.-)\n```")
    local folder, printed, lines = helper.folder(), nil, 0
    for line in block:gmatch("[^\n]+") do
      local words = line:match("^%$ gen/attn2c (.*)$")
      if words then
        local list = {}
        for word in words:gmatch("%S+") do list[#list + 1] = word end
        if list[1] == "gen" then table.move({ "-o", folder }, 1, 2, #list + 1, list) end
        local code, output, errors = helper.command(list)
        assert.equal(0, code, errors)
        printed = list[1] == "gen" and helper.read(folder .. "/small.c") or output
      else
        assert.truthy(("\n" .. printed):find("\n" .. line .. "\n", 1, true), line)
        lines = lines + 1
      end
    end
    assert.equal(5, lines)
    helper.clean()
  end)
end)
