-- advice.lua: adds advice to argparse's message about a wrong command line.
-- The advice is the nearest command, option or value, or the KEY=VALUE that was meant.
local faults = require("common.faults")
local hints = require("data.hints")
local keys = require("data.keys")
local lfs = require("lfs")
local words = require("common.words")

local advice = {}

local QUANTISE = "the keys precision and weights of build say the types of numbers; attn2c keys lists them"

-- Commands of a built program, and words that other tools use.
local elsewhere = {
  run = "`run` is a command of the program that build makes: out/NAME/NAME run",
  info = "`info` is a command of the program that build makes: out/NAME/NAME info",
  pack = "`pack` is a command of the program that build makes: out/NAME/NAME pack",
  generate = "did you mean gen, or the command of the program that build makes: out/NAME/NAME generate?",
  chat = "`chat` is a command of the program that build makes: out/NAME/NAME chat",
  perplexity = "`perplexity` is a command of the program that build makes: out/NAME/NAME perplexity",
  serve = "`serve` is a command of the program that build --serve makes: out/NAME/NAME serve",
  quantize = QUANTISE, quantise = QUANTISE,
  help = "attn2c -h lists the commands, attn2c COMMAND -h explains a command",
  version = "attn2c --version prints it",
  compile = "did you mean build?", export = "did you mean import or build?", convert = "did you mean import or build?",
  test = "did you mean check?", benchmark = "did you mean bench?", make = "did you mean build?",
}

-- Options of a built program, and the command that they go with.
local of_program = { text = "run", image = "run", audio = "run", query = "run", similar = "run", rank = "run",
  prompt = "generate", greedy = "generate", temperature = "generate", tokens = "generate", beams = "generate",
  system = "chat", host = "serve", port = "serve" }

local known_keys = words.map(keys.list, function(field) return field.key end)
local is_key = words.set(known_keys)

local function command_of(parser, argv)
  for _, word in ipairs(argv) do
    for _, each in ipairs(parser._commands) do if each._name == word then return each end end
    if word:sub(1, 1) ~= "-" then return nil end
  end
  return nil
end

-- Returns all names of the options of a command, or of the parser itself.
local function options_of(parser)
  local names = {}
  for _, option in ipairs(parser._options) do
    for _, alias in ipairs(option._aliases) do if #alias > 2 then names[#names + 1] = alias end end
  end
  return names
end

-- Returns the name of the list that begins with the word, or nil.
local function longer(name, list)
  for _, each in ipairs(list) do if #name > 3 and each:sub(1, #name) == name then return each end end
  return nil
end

local function takes_keys(command)
  return words.any(command._arguments, function(argument) return argument._name == "overrides" end)
end

-- Returns the word of a line after an option, or "" if there is none or if it is an option.
local function value_after(argv, option)
  for i, word in ipairs(argv) do
    local value = word:match("^" .. option:gsub("%p", "%%%0") .. "=(.*)$")
    if value then return value end
    if word == option and argv[i + 1] and argv[i + 1]:sub(1, 1) ~= "-" then return argv[i + 1] end
  end
  return ""
end

local function about_option(parser, argv, name)
  local command = command_of(parser, argv)
  local word = name:gsub("^%-+", ""):gsub("%-", "_")
  if command and takes_keys(command) then
    local hint = hints.keys[word]
    if is_key[word] or (hint and is_key[hint]) then
      local value = value_after(argv, name)
      return ("%s is a key, not an option: %s=%s"):format(is_key[word] and word or hint, is_key[word] and word or hint,
        value ~= "" and value or "VALUE")
    end
    if of_program[word] then
      return ("an option of the program that build makes: out/NAME/NAME %s %s"):format(of_program[word], name)
    end
    local near = longer(name, options_of(command)) or words.nearest(name, options_of(command))
    if near then return ("did you mean %s?"):format(near) end
    if hint then return (hints.text(hints.keys, word):gsub("^ %((.*)%)$", "%1")) end
    near = words.nearest(word, known_keys)
    if near then return ("did you mean %s=%s?"):format(near, "VALUE") end
    return ("attn2c %s -h lists its options"):format(command._name)
  end
  local near = words.nearest(name, options_of(command or parser))
  return near and ("did you mean %s?"):format(near) or nil
end

local function about_command(parser, name)
  if elsewhere[name] then return elsewhere[name] end
  local names = words.map(parser._commands, function(each) return each._name end)
  if lfs.attributes(name, "mode") then return ("did you mean attn2c build %s?"):format(words.shell(name)) end
  local near = words.nearest(name, names)
  return near and ("did you mean %s?"):format(near) or "commands are " .. table.concat(names, ", ")
end

local function about_choice(argv, option, listed)
  local choices, value = words.list(listed, "'([^']*)'"), value_after(argv, option)
  local near = #choices > 3 and value ~= "" and words.nearest(value, choices)
  return near and ("did you mean %s?"):format(near) or nil
end

-- Returns what an option says of a negative number after it, which argparse takes for options of one letter, or nil.
local function about_negative(command, argv)
  for i, word in ipairs(argv) do
    local number = (argv[i + 1] or ""):match("^%-[%d.]+$")
    for _, option in ipairs(number and command and command._options or {}) do
      if words.set(option._aliases)[word] and option._convert then return (select(2, option._convert(number))) end
    end
  end
  return nil
end

--- Returns the first line of argparse's message about a command line, with advice in brackets.
function advice.line(parser, argv, message)
  message = message:gsub("\n.*", "")
  local command = command_of(parser, argv)
  message = message:find("^unknown option '%-[%d.]'$") and about_negative(command, argv) or message
  local more
  local option = message:match("^unknown option '(.*)'$")
  local name = message:match("^unknown command '(.*)'$")
  local choice, listed = message:match("^argument for option '(%-[^']*)' must be one of (.*)$")
  if option then
    more = about_option(parser, argv, option)
  elseif name then
    more = about_command(parser, name)
  elseif choice then
    more = about_choice(argv, choice, listed)
  elseif message == "missing option '--stage'" and command then
    for _, each in ipairs(command._options) do
      if each._choices then more = "--stage " .. table.concat(each._choices, "|") end
    end
  elseif message == "missing argument 'description'" then
    more = ("attn2c %s FILE: a description such as models/small.lua, or a checkpoint's folder"):format(
      command and command._name or "build")
  end
  return ("%s (%s)"):format(message, more or ("attn2c %s-h tells more"):format(command and command._name .. " " or ""))
end

--- Checks the words of a list. Faults: usage, if a word is not KEY=VALUE but may have been meant as one.
function advice.check_words(list)
  for i, word in ipairs(list) do
    if is_key[word] and not word:find("=", 1, true) then
      local value = list[i + 1] and not list[i + 1]:find("=", 1, true) and list[i + 1] or "VALUE"
      faults.raise("usage", "%s: an override is one word, KEY=VALUE: %s=%s", faults.quote(word), word, (value:gsub("^=",
        "")))
    end
    if word:match("^[%w_.]+=$") then faults.raise("usage", "%s: a value is missing after the =", faults.quote(word)) end
  end
end

return advice
