-- program_manual.lua: writes attn2c-program(1), the manual page of the programs that `build` makes.
-- Its source is the table that --help of these programs prints (runtime/program/help.c).
local files = require("common.files")
local roff = require("deploy.roff")
local statuses = require("deploy.statuses")
local version = require("common.version")

local program_manual = {}

local escape, bold, italic = roff.escape, roff.bold, roff.italic

-- Returns the value of a C string literal without its quotes.
local function unescaped(text) return (text:gsub("\\(.)", function(c) return c == "n" and "\n" or c end)) end

-- Returns the strings of a C initialiser. Nested braces become nested lists; adjacent literals are joined.
local function initialiser(text)
  local stack, joined = { {} }, false
  for at, token in text:gmatch("()([{},\"])") do
    local top = stack[#stack]
    if at < (stack.skip or 0) then
      token = nil -- within a literal
    elseif token == '"' then
      local last = text:find('"', at + 1, true)
      while text:sub(at + 1, last - 1):gsub("\\\\", ""):sub(-1) == "\\" do last = text:find('"', last + 1, true) end
      local value = unescaped(text:sub(at + 1, last - 1))
      if joined then top[#top] = top[#top] .. value else top[#top + 1] = value end
      stack.skip, joined = last + 1, true
    elseif token == "{" then
      top[#top + 1] = {}
      stack[#stack + 1] = top[#top]
    elseif token == "}" then
      stack[#stack] = nil
    end
    if token and token ~= '"' then joined = false end
  end
  return stack[1][1]
end

-- Returns a page of help as { command, usage, text, options, notes }.
local function page_of(list)
  assert(#list == 5, "help.c: a page has five strings")
  return { command = list[1], usage = list[2], text = list[3], options = list[4], notes = list[5] }
end

--- Returns the pages of the program's help, in order. The last is the page about texts, for `run`.
function program_manual.pages(root)
  local source = assert(files.read(root .. "/runtime/program/help.c"), "runtime/program/help.c is missing")
  local pages = {}
  local function take(pattern) return initialiser(assert(source:match(pattern), "help.c has another form")) end
  for i, each in ipairs(take("pages%[%] = ({.-\n});")) do pages[i] = page_of(each) end
  pages[#pages + 1] = page_of(take("text_page = ({.-});\n"))
  return pages
end

--- Returns the options of a page: { name, meaning }. All meanings begin in the same column as the first.
function program_manual.options(text)
  local list, column = {}, #text:match("^  %-.-  +")
  for line in text:gmatch("[^\n]+") do
    local name, meaning = line:sub(1, column):match("^  (%-.-) *$"), line:sub(column + 1)
    if name then
      list[#list + 1] = { name = name, meaning = meaning }
    else
      list[#list].meaning = list[#list].meaning .. " " .. line:match("^ *(.*)$")
    end
  end
  return list
end

local function paragraphs(page, text)
  for each in (text .. "\n\n"):gmatch("(.-)\n\n+") do
    if each:find("%S") then page:paragraph(escape((each:gsub("\n", " ")))) end
  end
end

--- Returns the manual page, made from the files below `root`.
function program_manual.page(root)
  local pages = program_manual.pages(root)
  local page = roff.page { name = "attn2c-program", section = 1, date = version.date,
    version = "attn2c " .. version.generator }
  page:section("NAME")
  page:add("attn2c\\-program \\- " .. escape("run, check and time a model that attn2c has built"))
  page:section("SYNOPSIS")
  for _, each in ipairs(pages) do
    for line in each.usage:gmatch("[^\n]+") do page:usage("NAME " .. each.command, escape(line)) end
  end
  page:section("DESCRIPTION")
  page:paragraph(bold("attn2c build") .. escape(" makes a program with the model's name, out/") .. italic("NAME")
    .. "/" .. italic("NAME") .. escape(". It needs neither attn2c nor the description. All programs have the commands "
    .. "below; `run` takes texts if the model has a tokenizer."):gsub("\\%(ga", ""))
  page:section("COMMANDS")
  for i, each in ipairs(pages) do
    page:subsection(i < #pages and each.command or each.command .. ", for models that take text")
    paragraphs(page, each.text)
    for _, option in ipairs(program_manual.options(each.options)) do
      page:term(bold(option.name), escape(option.meaning))
    end
    paragraphs(page, each.notes)
  end
  page:section("EXIT STATUS")
  for _, each in ipairs(statuses) do page:term(bold(each[1]), escape(each[2])) end
  page:section("SEE ALSO")
  page:paragraph(bold("attn2c") .. "(1)")
  return page:text()
end

return program_manual
