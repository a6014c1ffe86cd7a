-- completions.lua: writes completions for bash, zsh and fish from the command's grammar.
-- argparse writes the completions of commands and options. This file adds KEY=VALUE, the keys of a description, after
-- the description's name.
local files = require("common.files")
local reference = require("commands.reference")
local words = require("common.words")

local completions = {}

-- Returns a word quoted for a shell. fish reads \ within such quotes.
local function quoted(text, is_fish)
  if is_fish then return "'" .. text:gsub("[\\']", "\\%0") .. "'" end
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

-- Returns the names of the commands that take KEY=VALUE.
local function with_overrides(parser)
  local names = {}
  for _, command in ipairs(parser._commands) do
    for _, argument in ipairs(command._arguments) do
      if argument._name == "overrides" then names[#names + 1] = command._name end
    end
  end
  return names
end

-- Returns the names of the options that take a value.
local function with_value(parser)
  local names, is_there = {}, {}
  for _, command in ipairs(parser._commands) do
    for _, option in ipairs(command._options) do
      for _, name in ipairs(option._maxargs > 0 and option._aliases or {}) do
        if not is_there[name] then names[#names + 1] = name end
        is_there[name] = true
      end
    end
  end
  return names
end

local function names_and_values()
  local names, values = {}, {}
  for _, row in ipairs(reference.keys()) do
    names[#names + 1] = row.name
    if row.words then values[#values + 1] = { name = row.name, words = table.concat(row.words, " ") } end
  end
  return names, values
end

-- Returns the text of completions.bash, .zsh or .fish, filled in. bash splits words at =: after KEY= the words are KEY,
-- = and the beginning of the value.
local function fill(shell, of)
  local path = (debug.getinfo(1, "S").source:match("^@(.*%.)lua$") or "completions.") .. shell
  return (assert(files.read(path)):gsub("%${(%w+)}", of))
end

local function lines(list, line_of)
  local parts = words.map(list, function(each) return line_of(each) .. "\n" end)
  return table.concat(parts)
end

--- Returns completions for bash. parser: the command's grammar, an argparse parser.
function completions.bash(parser)
  local names, values = names_and_values()
  -- bash completes names of files itself (-o default). A list from compgen would be split at the blanks in names.
  local text, count = parser:get_bash_complete():gsub('COMPREPLY=%(%$%(compgen %-f %-%- "%$cur"%)%)', "COMPREPLY=()")
  assert(count > 0, "argparse writes another form of completions for bash")
  return text .. "\n" .. fill("bash", { names = table.concat(names, " "),
    commands = table.concat(with_overrides(parser), "|"), valued = table.concat(with_value(parser), "|"),
    values = lines(values, function(each)
      return ("        %s) COMPREPLY=($(compgen -W '%s' -- \"$cur\")); return 0 ;;"):format(each.name, each.words)
    end) })
end

function completions.zsh(parser)
  local _, values = names_and_values()
  local own = fill("zsh", { keys = lines(reference.keys(), function(row)
    return "    " .. quoted(row.name .. ":" .. row.meaning)
  end), values = lines(values, function(each)
    return ("      %s) compadd -- %s; return ;;"):format(each.name, each.words)
  end) })
  local text, count = parser:get_zsh_complete():gsub('"%*: :_files"', '"*: :_attn2c_overrides"')
  assert(count == #with_overrides(parser), "argparse writes another form of completions for zsh")
  local at = assert(text:match("()\n_attn2c\n*$"), "argparse ends completions for zsh in another way")
  return text:sub(1, at) .. own .. text:sub(at)
end

function completions.fish(parser)
  local _, values = names_and_values()
  local seen = words.map(with_overrides(parser), function(name) return "__fish_attn2c_seen_command " .. name end)
  return parser:get_fish_complete() .. "\n" .. fill("fish", { seen = table.concat(seen, "; or "),
    values = lines(values, function(each)
      return ("        case '%s=*'\n            printf '%%s\\n' %s="):format(each.name, each.name)
        .. each.words:gsub(" ", " " .. each.name .. "=")
    end), keys = lines(reference.keys(), function(row)
      return ("            printf '%%s=\\t%%s\\n' %s %s"):format(row.name, quoted(row.meaning, true))
    end) })
end

return completions
