-- tokenizer.lua: turns the tokenizer's files that a model names into tables for the runtime.
-- It decides nothing about the model. A build without text, or a description without a tokenizer, has no tables.
--
-- Before: state.spec, state.with_text, state.chat_template (a file in place of the folder's chat template, "none", or
-- nil). After: state.tokenizer = { tables (bytes), tokens (one more than the largest number), made (what names the
-- file's places in faults), written: the tables of the texts that the model writes, if they are others,
-- query_weights: the weights of a query's tokens as bytes, or nil, mask, bos, cls,
-- pad (numbers of special tokens, or nil), prefix (of tokens that go on a word), pads_left (the file that says that
-- padding is before texts, or nil),
-- languages (text/languages.lua, or nil) }, or nil; state.chat = { the tables of the chat template
-- (text/chat/compile.lua), tokens = { { name, text } }, file }, or nil.
local dump = require("common.dump")
local faults = require("common.faults")
local files = require("common.files")
local hash = require("common.hash")

local pass = {}

-- Compiles the chat template that was given, which must be right, or the folder's. The build goes on without one that
-- is not supported.
local function compile_chat(state, own)
  local template = require("text.chat.template")
  local path = state.chat_template
  if path == "none" or not path and not own then return nil end
  local text = path and files.read_asked(path, "--chat-template: ") or not path and own.text
  local file = path or own.file
  local made, problem = nil, own and own.problem
  if text then made, problem = template.compile(text, file) end
  if not made and path then faults.raise("format", problem) end
  for _, line in ipairs(made and template.refusals(made, file) or { problem
    .. "; the model is built without a chat template; --chat-template=FILE gives another" }) do
    table.insert(state.notes, line)
  end
  return made, file
end

local function check_rows(path, tokens, rows)
  if tokens <= (rows or tokens) then return end
  faults.raise("format", "%s: the tokenizer has %d tokens, but the model knows %d; tokenizer=false builds it "
    .. "without text", path, tokens, rows)
end

-- Returns the tables of the texts that a model writes with a vocabulary of its own.
local function written_of(state, path, warnings)
  local tables, made, more = require("text.tokenizer").of_target(path)
  for _, line in ipairs(more) do warnings[#warnings + 1] = line end
  check_rows(path, made.model.largest + 1, state.spec.input.vocab)
  state.tokenizer.written = tables
  return tables
end

-- Returns the ids of the tokens that late interaction needs: { query_marker, document_marker, expansion, skip = ids },
-- or nil. As in PyLate, a token to skip that the vocabulary lacks is the unknown one, unless skips_unknown is false.
local function late_tokens(given, made)
  if not given then return nil end
  local function find(token) return made.model.added_ids[token] or made.model.ids[token] end
  local function marker(key)
    local token = given[key]
    if token == nil or token == "" then return nil end
    return find(token) or faults.raise("format", "%s: late_interaction.%s: the vocabulary has no token %s", made.file,
      key, faults.quote(token))
  end
  local specials, skip, seen = made.specials, {}, {}
  local expansion = given.expands and (specials.mask or specials.eos or specials.pad) or nil
  if given.expands and not expansion then
    faults.raise("format", made.file .. ": late_interaction.expands: the tokenizer has no mask, EOS or padding token")
  end
  for _, token in ipairs(given.skip) do
    local id = find(token) or given.skips_unknown and specials.unk
    if id and not seen[id] then seen[id], skip[#skip + 1] = true, id end
  end
  return { query_marker = marker("query_marker"), document_marker = marker("document_marker"), expansion = expansion,
    skip = skip }
end

-- Returns the ids of the tokens around labels, { label, separator }, or nil.
local function span_tokens(given, made)
  if not given then return nil end
  local result = {}
  for _, key in ipairs { "label", "separator" } do
    result[key] = made.model.added_ids[given[key]] or made.model.ids[given[key]] or faults.raise("format",
      "%s: spans.%s: the vocabulary has no token %s", made.file, key, faults.quote(given[key]))
  end
  return result
end

-- Returns the weights of a query's tokens as bytes: a float for each token that the model knows.
local function query_weights_of(state, path)
  if not path then return nil end
  if path:sub(1, 1) ~= "/" then path = state.folder .. "/" .. path end
  local headers, gguf = require("common.headers"), require("common.gguf") -- few models have such a table
  local file, count = { path = path, tensors = headers.read(path).tensors }, state.spec.input.vocab
  local tensor = file.tensors.weight
  if not tensor or #tensor.shape ~= 1 or tensor.shape[1] ~= count then
    faults.raise("format", "%s: query_weights: a tensor \"weight\" of %d numbers is expected, one for each token of "
      .. "the vocabulary", path, count)
  end
  local values = gguf.floats(file, "weight", count)
  for i, value in ipairs(values) do
    if value ~= value or math.abs(value) == math.huge then
      faults.raise("format", "%s: query_weights: number %d is not finite", path, i - 1)
    end
    values[i] = ("<f"):pack(value)
  end
  return table.concat(values)
end

function pass.run(state)
  local path = state.with_text and state.spec.tokenizer
  if not path and state.chat_template and state.chat_template ~= "none" then
    faults.raise("usage", "--chat-template: goes with a model that takes text")
  end
  if not path then return end
  if path:sub(1, 1) ~= "/" then path = state.folder .. "/" .. path end
  path = path:gsub("/%.$", "")
  -- Loaded here, because most models have no tokenizer.
  local of_spans = state.spec.spans
  local more = of_spans and of_spans.added and { of_spans.added, of_spans.label, of_spans.separator } or nil
  local tables, made, warnings = require("text.tokenizer").from_path(path, more)
  -- The vocabulary, which may be large, is not kept.
  state.tokenizer = { tables = tables, tokens = made.model.largest + 1,
    made = { file = made.file, components = made.components, added = made.added }, mask = made.specials.mask,
    bos = made.specials.bos, cls = made.specials.cls, pad = made.specials.pad, pads_left = made.pads_left,
    prefix = made.model.prefix,
    query_weights = query_weights_of(state, state.spec.query_weights),
    specials = made.specials, late = late_tokens(state.spec.late_interaction, made),
    spans = span_tokens(of_spans, made),
    languages = made.languages }
  local written = made.has_target and written_of(state, path, warnings) or nil
  if (state.spec.input.types or 0) > 0 then warnings[#warnings + 1] = made.untyped end
  for _, line in ipairs(warnings) do table.insert(state.notes, line) end
  local chat, file = compile_chat(state, made.chat)
  if chat then
    chat.tokens, chat.file = made.chat_tokens, file
    state.chat = chat
  end
  if state.spec.input.padded and not state.tokenizer.pad then
    faults.raise("format", path .. ": names no pad_token, with which texts are filled up; tokenizer=false builds the "
      .. "model without text")
  end
  if made.around >= state.spec.seq then
    faults.raise("format", "%s: a text has %d special tokens around it, so none fits into sequences of at most %d; "
      .. "tokenizer=false builds the model without text", path, made.around, state.spec.seq)
  end
  local encoder = state.spec.memory and state.spec.memory.encoder
  check_rows(path, state.tokenizer.tokens, (encoder or state.spec).input.vocab)
  if not written then check_rows(path, state.tokenizer.tokens, state.spec.input.vocab) end
end

--- Returns the sizes of the tables, special tokens, added tokens and components as text.
function pass.dump(state)
  local t = state.tokenizer
  if not t then return "no tokenizer: the model takes arrays, and no tables are made\n" end
  local lines = { ("tables: %d bytes, SHA-256 %s"):format(#t.tables, hash.content(t.tables)),
    ("tokens: %d"):format(t.tokens) }
  for _, name in ipairs { "mask", "bos", "cls", "pad" } do
    lines[#lines + 1] = ("special token %s: %s"):format(name, t[name] or "none")
  end
  if state.chat then
    lines[#lines + 1] = ("chat template: %d steps, %d texts, %d macros"):format(#state.chat.steps, #state.chat.words,
      #state.chat.macros)
  end
  return table.concat(lines, "\n") .. "\n" .. dump.table({ added = t.made.added, component = t.made.components })
end

return pass
