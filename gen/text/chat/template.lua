-- template.lua: compiles a chat template to tables for runtime/chat/, and finds that of a folder.
-- Templates are Jinja, as transformers has it. A part of Jinja that is not supported is refused with its line.
local faults = require("common.faults")
local json = require("common.json")
local specials = require("text.specials")
local terminal = require("common.terminal")

local template = {}

local LARGEST = 1 << 20 -- bytes of a template

-- A refusal on its way out of the parser or the compiler.
local Refusal = {}

--- Compiles the text of a template. Returns its tables (compile.lua); or nil and a line that says what is wrong.
--- file: its name in the line.
function template.compile(text, file)
  local compile, parser = require("text.chat.compile"), require("text.chat.parser") -- they need LPeg
  local function fail(line, what)
    error(setmetatable({ terminal.safe(("%s: line %d: %s"):format(file, line, what)) }, Refusal), 0)
  end
  if #text > LARGEST then return nil, ("%s: %d bytes, but at most %d are allowed"):format(file, #text, LARGEST) end
  if not utf8.len(text) then return nil, file .. ": it is not UTF-8" end
  local ok, made = pcall(function() return compile.compile(parser.read(text, fail), fail) end)
  if ok then return made end
  if getmetatable(made) == Refusal then return nil, made[1] end
  return error(made, 0)
end

local MOST_NOTES, MOST_PLACES = 10, 5

--- Returns lines for the user about what a chat may reach that is refused then: one for each reason.
function template.refusals(made, file)
  local places, reasons = {}, {}
  for _, each in ipairs(made.refusals) do
    if not places[each.what] then places[each.what], reasons[#reasons + 1] = {}, each.what end
    local list = places[each.what]
    if list[#list] ~= each.line then list[#list + 1] = each.line end
  end
  local lines = {}
  for i = 1, math.min(#reasons, MOST_NOTES) do
    local list = places[reasons[i]]
    lines[i] = ("%s: line %s%s: %s; chats that reach it are refused"):format(file,
      table.concat(list, ", ", 1, math.min(#list, MOST_PLACES)), #list > MOST_PLACES and ", ..." or "", reasons[i])
  end
  return lines
end

-- Returns the template in a config: a string, or the one called "default" in a list of { name, template }. The second
-- result says why there is none.
local function of_config(value)
  if value == nil then return nil end
  if type(value) == "string" then return value end
  local names = {}
  for i, each in ipairs(type(value) == "table" and value or {}) do
    if type(each) ~= "table" or type(each.name) ~= "string" or type(each.template) ~= "string" then
      return nil, "a list of names and templates is expected"
    end
    if each.name == "default" then return each.template end
    names[i] = faults.quote(each.name)
  end
  return nil, #names > 0 and "no template is called default, but there are " .. table.concat(names, ", ")
    or "a string or a list is expected"
end

--- Returns a folder's template, { text, file }; { problem }, a line, if it has one that cannot be used; or nil. Folders
--- of models of pictures and texts may have it in their processor's files. read(name): a file's text or nil. config:
--- tokenizer_config.json, or nil.
function template.find(folder, read, config)
  local text = read("chat_template.jinja")
  if text then return { text = text, file = folder .. "/chat_template.jinja" } end
  for _, name in ipairs { "tokenizer_config.json", "chat_template.json", "processor_config.json" } do
    local file, object, problem = ("%s/%s"):format(folder, name), config, nil
    if name ~= "tokenizer_config.json" then object, problem = json.decode(read(name) or "{}") end
    if problem then return { problem = ("%s: %s"):format(file, problem) } end
    text, problem = of_config(type(object) == "table" and object.chat_template or nil)
    if text then return { text = text, file = file .. ": chat_template" } end
    if problem then return { problem = ("%s: chat_template: %s"):format(file, problem) } end
  end
  return nil
end

-- The special tokens that transformers gives to templates by their names.
local names = { "bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token" }

--- Returns the texts of special tokens for templates: a list of { name, text }. As in transformers,
--- special_tokens_map.json is read only if the config lists no added tokens, and then it comes first.
function template.tokens(config, map)
  local list = {}
  config, map = type(config) == "table" and config or {}, type(map) == "table" and map or {}
  if type(config.added_tokens_decoder) == "table" then map = {} end
  for _, name in ipairs(names) do
    local text = specials.content(map, name) or specials.content(config, name)
    if text then list[#list + 1] = { name = name, text = text } end
  end
  return list
end

return template
