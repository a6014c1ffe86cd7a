-- tokenizer.lua: compiles a tokenizer.json, the files of older folders, or a GGUF file's metadata, to tables for
-- runtime/text/.
-- It raises one fault with all errors, and returns a warning for each setting for which transformers would follow
-- tokenizer_config.json instead.
local agree = require("text.agree")
local classes = require("text.classes")
local components = require("text.components")
local faults = require("common.faults")
local files = require("common.files")
local from_gguf = require("text.gguf")
local gguf = require("common.gguf")
local json = require("common.json")
local kinds = require("common.kinds")
local known = require("common.known")
local languages = require("text.languages")
local lfs = require("lfs")
local library = require("text.library")
local look = require("text.look")
local model = require("text.model")
local numbers = require("text.numbers")
local older = require("text.older")
local pieces = require("text.pieces")
local process = require("text.process")
local regex = require("text.regex")
local specials = require("text.specials")
local tables = require("text.tables")
local template = require("text.chat.template")
local words = require("common.words")

local tokenizer = {}

local STRATEGY = { LongestFirst = 0, OnlyFirst = 1, OnlySecond = 2 }
local DIRECTION = { Right = 0, Left = 1 }

-- Returns the limit that the file states, or nil, and 1 if it removes the first tokens. transformers replaces the limit
-- in each call, but not the side.
local function read_limit(at, root)
  if root.truncation == nil then return nil, 0 end
  local value = at:object(root, "tokenizer", "truncation")
  if not value then return nil, 0 end
  at:count(value, "truncation", "stride")
  return { tokens = at:count(value, "truncation", "max_length") or 0,
    strategy = at:choice(value, "truncation", "strategy", STRATEGY) or 0 },
    at:choice(value, "truncation", "direction", DIRECTION, "Right") or 0
end

-- Looks at the keys of a component, and of those in it. name: what the table has in front of them.
local function check_keys(at, value, path, name)
  if json.kind(value) == "array" then
    for i, each in ipairs(value) do check_keys(at, each, ("%s[%d]"):format(path, i - 1), name) end
  elseif json.kind(value) == "object" and (name or type(value.type) == "string") then
    local copy = words.merged(value, {})
    copy.type = nil
    known.check(copy, path, { "tokenizer.json" }, at.warnings,
      function(key) return ("%s.%s"):format(name or value.type, key) end,
      function(line) at.lines[#at.lines + 1] = line end)
    for _, key in ipairs { "normalizers", "pretokenizers", "processors", "decoders" } do
      check_keys(at, value[key], path .. "." .. key)
    end
  end
end

local function check_top(at, root)
  known.check(root, at.file, { "tokenizer.json" }, at.warnings)
  for _, key in ipairs { "normalizer", "pre_tokenizer", "post_processor", "decoder", "model" } do
    check_keys(at, root[key], ("%s: %s"):format(at.file, key))
  end
  for _, key in ipairs { "truncation", "added_tokens" } do
    check_keys(at, root[key], ("%s: %s"):format(at.file, key), key)
  end
  if root.version ~= nil and root.version ~= "1.0" then at:fault("version", "is not 1.0") end
end

local function check_ids(at, state)
  for _, piece in ipairs(state.templates) do
    if piece.kind == numbers.TEMPLATE.token and not state.model.tokens[piece.id] then
      at:fault("post_processor", ("no token has the id %d"):format(piece.id))
    end
  end
  local most, holes = state.model.largest + 1, 0
  for id = 0, most - 1 do if not state.model.tokens[id] then holes = holes + 1 end end
  if holes > 0 then at:warn(("%d ids below %d have no token"):format(holes, most)) end
end

-- Returns the number of special tokens around one text.
local function around_of(templates)
  local count = 0
  for _, piece in ipairs(templates) do
    if piece.kind == numbers.TEMPLATE.token and piece.pair == 0 then count = count + 1 end
  end
  return count
end

-- Gives all tokens the first type. Returns true if some have another one.
local function remove_types(templates)
  local changes = false
  for _, piece in ipairs(templates) do changes, piece.type = changes or piece.type ~= 0, 0 end
  return changes
end

--- Compiles a parsed tokenizer.json. Returns the tables as a string of bytes, the state that they are made from, and
--- warnings. calls: how the folder's class calls the tokenizer (classes.calls), or nil. state.untyped: a line for users
--- of a model with types of tokens, or nil. state.around: the number of special tokens around a text. state.pads_left:
--- the file that says that padding is before texts, or nil. class: { name, config, file } of languages.read, or nil.
--- state.languages: what it returns. numbering: what library.renumber is given, or nil. more: as model.add has it.
function tokenizer.compile(root, file, calls, class, numbering, more)
  local at = look.new(file)
  if json.kind(root) ~= "object" then at:fault("tokenizer", "an object is expected") end
  at:settle()
  check_top(at, root)
  local state = { file = file, word = regex.word, components = components.read(at, root) }
  for _, record in ipairs(numbering and state.components or {}) do
    local is_map = record.stage == numbers.STAGE.normalize and record.kind == numbers.NORMALIZE.precompiled
    if is_map then record.flags = 1 end
  end
  state.limit, state.from_left = read_limit(at, root)
  state.from_left = calls and calls.from_left or state.from_left
  state.pads_left = calls and calls.pads_left
  state.templates = process.read(at, root, state.components)
  if calls and calls.without_types and remove_types(state.templates) then state.untyped = calls.note end
  state.around = around_of(state.templates)
  state.model = model.read(at, root)
  if numbering then library.renumber(state.model, numbering) end
  if calls and calls.splits_special then
    state.model.options = state.model.options | numbers.OPTION.split_special
  end
  state.model.added_ids = {}
  state.added = model.add(at, root, state.model, more)
  if class then
    local found, templates = languages.read(class.name, class.config, class.file, state.model)
    state.languages, state.templates = found, templates or state.templates
  end
  check_ids(at, state)
  at:settle()
  local written, reason = tables.write(state)
  if not written then faults.raise("format", "%s: model.vocab: %s", file, reason) end
  return written, state, at.warnings
end

--- Returns a line about the tokenizer's file, made from the runtime's message about tables that it refuses to open.
--- made: the state that the tables are made from.
function tokenizer.told(made, said)
  local kind, number, reason = said:match("^tokenizer tables: (%l[%l ]*) (%d+): (.*)$")
  local list = kind == "component" and made.components or kind == "added token" and made.added or {}
  local record = list[math.tointeger(tonumber(number or -1)) + 1]
  if not record or not record.path then return ("%s: %s"):format(made.file, said) end
  return ("%s: %s: %s: %s"):format(made.file, record.path, faults.quote(record.source or record.text or ""), reason)
end

-- Returns the value of a JSON file of the folder, and its path, or nil if there is no such file.
local function read_json(folder, name)
  local path = folder .. "/" .. name
  local text = files.read_if_there(path)
  if not text then return nil, nil end
  local root, problem = json.decode(text)
  if root == nil then faults.raise("format", "%s: %s", path, kinds.said(path, text, #text, true, "json") or problem) end
  return root, path
end

-- True if a folder of sentence-transformers puts texts into small letters.
local function is_lowered(folder)
  if not files.read_if_there(folder .. "/modules.json") then return false end
  for name in lfs.dir(folder) do
    local limits = name:find("^sentence_[%a-]+_config%.json$") and read_json(folder, name)
    if json.kind(limits) == "object" and limits.do_lower_case == true then return true end
  end
  return false
end

-- Compiles a folder's tokenizer. Returns nil if it has none. name: the file's name instead of tokenizer.json.
-- is_target: of the texts that a model writes whose vocabulary is another one than that of its sources. more: texts of
-- special tokens that the vocabulary gets if it lacks them, or nil.
local function from_files(folder, name, is_target, more)
  local config, of_model = read_json(folder, "tokenizer_config.json"), read_json(folder, "config.json")
  local map = read_json(folder, "special_tokens_map.json")
  local root, path = read_json(folder, name)
  agree.add(root, config, map)
  local class, numbering = pieces.class(config, of_model), nil
  if not root and pieces.is_in(folder, config, of_model) then
    root, path, config, numbering = pieces.read(folder, config, of_model, is_target)
  end
  if not root then root, path = older.read(folder, config, read_json) end
  if not root then return nil end
  local config_file = folder .. "/tokenizer_config.json"
  if is_lowered(folder) then classes.lower(root) end
  local note = classes.complete(root, config, of_model, config_file)
  local written, state, warnings = tokenizer.compile(root, path, classes.calls(config, config_file),
    class and { name = class, config = config, file = config_file }, numbering, more)
  state.has_target = pieces.has_target(config)
  for _, each in ipairs { { "tokenizer_config.json", config }, { "special_tokens_map.json", map } } do
    local file, object = each[1], each[2]
    if json.kind(object) == "object" then known.check(object, ("%s/%s"):format(folder, file), { file }, warnings) end
  end
  state.specials = specials.find(state, config, map, of_model)
  state.chat_tokens = template.tokens(config, map)
  state.chat = template.find(folder, function(file) return files.read_if_there(folder .. "/" .. file) end, config)
  for _, line in ipairs(agree.warnings(root, config, config_file, class)) do warnings[#warnings + 1] = line end
  local function has(text) return state.model.ids[text] ~= nil or state.model.added_ids[text] ~= nil end
  local older_tokens = read_json(folder, "added_tokens.json")
  older_tokens = json.kind(older_tokens) == "object" and words.sorted_keys(older_tokens) or nil
  warnings[#warnings + 1] = agree.tokens(config, has, folder .. "/tokenizer_config.json")
  warnings[#warnings + 1] = agree.tokens({ extra_special_tokens = older_tokens }, has, folder .. "/added_tokens.json")
  warnings[#warnings + 1] = note
  return written, state, warnings
end

--- Compiles a folder's tokenizer: tokenizer.json, or vocab.txt, or vocab.json and merges.txt, or a model of
--- SentencePiece (pieces.lua). Returns nil if it has none. state.specials has the ids of special tokens (specials.lua),
--- state.chat_tokens the texts of those that chat templates know, state.chat the folder's chat template, if it has one:
--- { text, file }, or { problem }. more: texts of special tokens that the vocabulary gets if it lacks them, or nil.
function tokenizer.from_folder(folder, more) return from_files(folder, "tokenizer.json", false, more) end

--- Compiles the tokenizer of the texts that a model writes, if its vocabulary is another one (state.has_target).
function tokenizer.of_target(folder) return from_files(folder, "tokenizer.json", true) end

-- Compiles the tokenizer of a GGUF file.
local function from_metadata(path)
  local file = gguf.read(path)
  if not from_gguf.has(file) then faults.raise("io", path .. ": its metadata has no tokenizer") end
  local root, config, notes = from_gguf.read(file)
  local written, state, warnings = tokenizer.compile(root, path)
  state.specials = specials.find(state, config)
  state.chat_tokens = template.tokens(config)
  local chat = file.metadata["tokenizer.chat_template"]
  if type(chat) == "string" then
    state.chat = { text = chat, file = path .. ": metadata tokenizer.chat_template" }
  elseif chat ~= nil then
    state.chat = { problem = path .. ": metadata tokenizer.chat_template: is not a text" }
  end
  for _, line in ipairs(notes) do warnings[#warnings + 1] = ("%s: %s"):format(path, line) end
  return written, state, warnings
end

--- Compiles the tokenizer of a folder, a tokenizer.json with any name, or a GGUF file. more: as from_folder has it; not
--- for GGUF. Faults: io, if there is none.
function tokenizer.from_path(path, more)
  local mode = lfs.attributes(path, "mode")
  if mode == "directory" then
    local written, state, warnings = tokenizer.from_folder(path, more)
    if written then return written, state, warnings end
    faults.raise("io", path .. ": has no tokenizer.json, no vocab.txt, no vocab.json with merges.txt, and no model of "
      .. "SentencePiece of a class that is supported")
  end
  if gguf.is(path) then return from_metadata(path) end
  if mode ~= "file" or not files.read(path) then faults.raise("io", path .. ": there is no tokenizer") end
  local folder, name = path:match("^(.*)/([^/]*)$")
  return from_files(folder or ".", name or path, false, more)
end

return tokenizer
