-- program_manual.lua: writes attn2c-program(1), the manual page of the programs that `build` makes. Its sources are the
-- tables that --help of these programs prints: options.c, generate/rows.c, serve/options.c and help.c in
-- runtime/program.
local files = require("common.files")
local lpeg = require("lpeg")
local roff = require("deploy.roff")
local statuses = require("deploy.statuses")
local version = require("common.version")
local words = require("common.words")

local program_manual = {}

local Cs, Ct, P, S = lpeg.Cs, lpeg.Ct, lpeg.P, lpeg.S

local escape, bold, italic = roff.escape, roff.bold, roff.italic

local plain = 1 - S '"\\'
local literal = '"' * Cs((P "\\n" / "\n" + P "\\" / "" * 1 + plain) ^ 0) * '"'
local literals = Ct(((1 - P '"') ^ 0 * literal) ^ 1)

-- Returns the value of a field of a C initialiser: its literals as one string, or its text, such as "RUN | CHECK". It
-- returns nothing after the last comma.
local function value_of(text)
  local list = literals:match(text)
  if text:find("%S") then return list and table.concat(list) or text:match("^%s*(.-)%s*$") end
end

local field = (1 - S ',{}"' + '"' * ("\\" * P(1) + plain) ^ 0 * '"') ^ 1 / value_of
local initialiser = Ct(((1 - P "{") ^ 0 * "{" * Ct(field * ("," * field ^ -1) ^ 0) * "}") ^ 0)

-- Returns the rows of a C initialiser, { { ... }, ... }, as lists of the values of their fields.
local function rows_of(text) return initialiser:match(text) end

-- Returns the rows of the table called `name`. Its braces end a line and begin another.
local function table_of(source, name)
  return rows_of(assert(source:match(name .. " = {\n(.-)\n};"), name .. " has another form"))
end

-- The parts of the page of `run`.
local parts = { TEXTS = true, PICTURES = true, SOUNDS = true }

-- Returns the options of a page, as { name, meaning }. bit: "RUN", or one of `parts`.
local function options_of(rows, bit)
  local list = {}
  for _, row in ipairs(rows) do
    local name, letter, value, commands, help = row[1], row[2], row[3], row[4], row[#row]
    local is_of_part = false
    for part in pairs(parts) do is_of_part = is_of_part or commands:find(part, 1, true) ~= nil end
    if help ~= "NULL" and commands:find("%f[%u]" .. bit .. "%f[%U]")
      and is_of_part == (parts[bit] == true) then
      local shown = letter == "NULL" and name or letter .. ", " .. name
      list[#list + 1] = { name = value == "NULL" and shown or shown .. " " .. value, meaning = help }
    end
  end
  return list
end

local function page_of(row, rows, bit)
  assert(#row == 4, "help.c: a page has four strings")
  return { command = row[1], usage = row[2], text = row[3], notes = row[4], options = options_of(rows, bit) }
end

--- Returns the pages of the program's help, in order, as { command, usage, text, notes, options = list of { name,
--- meaning } }. The last are the pages about texts, pictures and sounds, for `run`.
function program_manual.pages(root)
  local function source_of(name)
    return assert(files.read(root .. "/runtime/program/" .. name), name .. " is missing")
  end
  local help, server = source_of("help.c"), source_of("serve/options.c")
  local pages, rows = {}, {}
  for _, source in ipairs { source_of("options.c"), source_of("generate/rows.c"), server } do
    words.append(rows, table_of(source, "attn2c_[%l_]*options%[[%u%d_]+%]"))
  end
  for i, row in ipairs(table_of(help, "pages%[%]")) do pages[i] = page_of(row, rows, row[1]:upper()) end
  local of_server = rows_of("{" .. assert(server:match("_page = {(.-)};"), "serve/options.c has another form") .. "}")
  pages[#pages + 1] = page_of(of_server[1], rows, "SERVE")
  for _, part in ipairs { "text", "picture", "sound" } do
    local row = rows_of("{" .. assert(help:match(part .. "_page = {\n?%s*(.-)};"), "help.c has another form") .. "}")
    pages[#pages + 1] = page_of(row[1], rows, part:upper() .. "S")
    pages[#pages].part = part == "text" and part or part .. "s"
  end
  return pages
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
    .. "below; `run` takes texts if the model has a tokenizer, and `generate`, `chat` and `perplexity` are for models "
    .. "that continue sequences. `serve` is in programs that are built with `--serve`."):gsub("\\%(ga", ""))
  page:section("COMMANDS")
  for _, each in ipairs(pages) do
    page:subsection(each.command .. (each.part and ", for models that take " .. each.part or ""))
    paragraphs(page, each.text)
    for _, option in ipairs(each.options) do page:term(bold(option.name), escape(option.meaning)) end
    paragraphs(page, each.notes)
  end
  page:section("EXIT STATUS")
  for _, each in ipairs(statuses) do page:term(bold(each[1]), escape(each[2])) end
  page:section("SEE ALSO")
  page:paragraph(bold("attn2c") .. "(1)")
  return page:text()
end

return program_manual
