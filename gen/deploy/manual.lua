-- manual.lua: writes the manual: attn2c(1) from the command's grammar, attn2c(5) from the table of keys.
local reference = require("commands.reference")
local roff = require("deploy.roff")
local statuses = require("deploy.statuses")
local version = require("common.version")
local words = require("common.words")

local manual = {}

local bold, italic, escape, marked = roff.bold, roff.italic, roff.escape, roff.marked

local function new_page(section, purpose)
  local page = roff.page { name = "attn2c", section = section, date = version.date,
    version = "attn2c " .. version.generator }
  page:section("NAME")
  page:add("attn2c \\- " .. escape(purpose))
  return page
end

local function takes_value(option) return option._maxargs > 0 end

local MOST_CHOICES = 3 -- choices that are listed in a usage

local function value_of(option)
  if option._choices and #option._choices <= MOST_CHOICES then return table.concat(option._choices, "|") end
  local name = type(option._argname) == "table" and option._argname[1] or option._argname
  return name or option._name:gsub("^%-+", ""):upper()
end

-- Returns the shortest way to write an option.
local function usage_of(option)
  local shortest = option._aliases[1]
  for _, name in ipairs(option._aliases) do if #name < #shortest then shortest = name end end
  local text = bold(shortest) .. (takes_value(option) and " " .. italic(value_of(option)) or "")
  return option._mincount > 0 and text or "[" .. text .. "]"
end

local function argument_usage(argument)
  local name = italic(argument._name:upper())
  if argument._maxargs ~= 1 then name = name .. " ..." end
  return argument._minargs == 0 and "[" .. name .. "]" or name
end

-- Returns the options except --help, which all commands have.
local function own_options(parser)
  return words.filter(parser._options, function(option) return option._name ~= "-h" and option._aliases[1] ~= "-h" end)
end

-- Returns the words after a command's name.
local function usage(command)
  local parts = words.map(own_options(command), function(option) return usage_of(option) end)
  for _, argument in ipairs(command._arguments) do parts[#parts + 1] = argument_usage(argument) end
  return table.concat(parts, " ")
end

local function options(page, parser)
  for _, option in ipairs(own_options(parser)) do
    local value = takes_value(option) and " " .. italic(value_of(option)) or ""
    local choices = option._choices and #option._choices > MOST_CHOICES
      and " One of " .. table.concat(option._choices, ", ") .. "." or ""
    page:term(table.concat(words.map(option._aliases, bold), ", ") .. value, marked(option._description .. choices))
  end
end

-- Environment variables, files and examples, which the grammar does not have.
local environment = {
  { "CC", "The compiler: a name or a path, and arguments after it (default: cc)." },
  { "ATTN2C_CFLAGS", "Flags of the compiler, after the build's own. Paths in it are absolute." },
  { "ATTN2C_LDFLAGS", "Flags for linking." },
  { "ATTN2C_MPI", "With ranks: the name by which pkg-config knows MPI (default: mpi-c, or mpich)." },
  { "ATTN2C_MPIRUN", "With ranks: the command that starts them, and arguments after it (default: mpirun)." },
  { "CROSS", "The prefix of compilers for another processor, such as aarch64-linux-gnu-." },
  { "XDG_CACHE_HOME", "The folder that contains attn2c, the folder of compiled parts (default: ~/.cache). attn2c "
    .. "belongs to nobody but the user, holds at most about 1 GiB, and may be removed at any time." },
  { "ATTN2C_TARGET", "The target of a list that check, bench, tune and built programs use." },
  { "LIBXSMM_TARGET", "With target=host: a lower target (hsw: avx2)." },
}

local files = {
  { "out/NAME/", "The files that `gen` and `build` make of a model, below the working directory." },
  { "out/NAME.variants/", "The programs that `check`, `bench`, `report` and `tune` build for themselves." },
  { "NAME.tune", "Measured tile parameters, next to the description." },
  { "~/.cache/attn2c/", "Compiled parts, by the hash of their sources." },
  { "~/.cache/attn2c/machine/", "The measured facts of each machine that the user has worked on, as JSON. `machine` "
    .. "prints them. A build with target=host and products of other types than f32 measures them if they are not "
    .. "there." },
}

local examples = [[
attn2c keys
attn2c check first.lua
attn2c bench first.lua seq=32,128 threads=1,2
attn2c build first.lua --embed first.safetensors --static
attn2c build all-MiniLM-L6-v2/
]]

local function terms(page, title, list, tag)
  page:section(title)
  for _, each in ipairs(list) do page:term(tag(each[1]), marked(each[2])) end
end

--- Returns attn2c(1). parser: the command's grammar, an argparse parser.
function manual.command(parser)
  local page = new_page(1, "compile a transformer to C made for exactly that model")
  page:section("SYNOPSIS")
  for _, each in ipairs(parser._commands) do page:usage("attn2c " .. each._name, usage(each)) end
  page:usage("attn2c", "[" .. bold("-h") .. "] [" .. bold("--version") .. "]")
  page:section("DESCRIPTION")
  page:paragraph(bold("attn2c") .. " " .. escape("reads a short description of a transformer, a checkpoint "
    .. "folder as Hugging Face publishes it, or a GGUF file. It writes C for exactly that model. The C is compiled "
    .. "into a library and a program. Every tensor that it computes can be compared with a plain reference."))
  page:paragraph(bold("attn2c") .. escape("(5) lists the keys of a description."))
  page:section("COMMANDS")
  for _, each in ipairs(parser._commands) do
    page:subsection("attn2c " .. each._name)
    page:paragraph(marked(each._description))
    for _, argument in ipairs(each._arguments) do
      page:term(italic(argument._name:upper()), marked(argument._description))
    end
    options(page, each)
  end
  page:section("OPTIONS")
  page:term(bold("-h") .. ", " .. bold("--help"), escape("Print help, also after a command, and exit."))
  options(page, parser)
  terms(page, "ENVIRONMENT", environment, bold)
  terms(page, "FILES", files, italic)
  terms(page, "EXIT STATUS", statuses, bold)
  page:section("EXAMPLES")
  page:example(examples)
  page:section("SEE ALSO")
  page:paragraph(bold("attn2c") .. "(5), " .. bold("attn2c-program") .. "(1)")
  return page:text()
end

local example = [[
return {
  name = "first",
  input = tokens { vocab = 30522 },
  seq = 128, d_model = 256, heads = 4, layers = 4,
  activation = "gelu", norm = "pre", final_norm = true,
  mask = "padding",
  output = { pool "mean", linear { to = 10, name = "logits" }, argmax() },
}
]]

-- Returns the non-empty arguments in brackets: " (default X; range)".
local function note(...)
  local parts = {}
  for _, part in ipairs { ... } do if part ~= "" then parts[#parts + 1] = part end end
  return #parts > 0 and " (" .. table.concat(parts, "; ") .. ")" or ""
end

--- Returns attn2c(5), about descriptions, from the tables of keys and constructors.
function manual.description()
  local page = new_page(5, "descriptions of transformers")
  page:section("DESCRIPTION")
  page:paragraph(escape("A description is a file in Lua 5.4 that returns a table. It may use arithmetic, the "
    .. "constructors below, sqrt, min, max, floor, pi and huge. Each key has a default unless it is required. On the "
    .. "command line, ") .. italic("KEY") .. "=" .. italic("VALUE")
    .. escape(" overrides a key, and a dotted path overrides a part of one (output.2.to=20)."))
  page:example(example)
  page:section("KEYS")
  for _, row in ipairs(reference.keys()) do
    local default = row.default == "required" and row.default or "default " .. row.default
    page:term(bold(row.name), escape(row.meaning .. note(default, row.range)))
  end
  page:section("CONSTRUCTORS")
  page:paragraph(escape("The constructors of input, output and memory, with their fields."))
  for _, row in ipairs(reference.constructors()) do
    page:subsection(row.name)
    page:paragraph(escape(row.meaning))
    for _, field in ipairs(row.fields) do
      page:term(bold(field.name), escape(field.meaning
        .. note(field.is_input and "of input" or "", field.default, field.range)))
    end
  end
  page:section("SEE ALSO")
  page:paragraph(bold("attn2c") .. "(1)")
  return page:text()
end

return manual
