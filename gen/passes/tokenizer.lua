-- tokenizer.lua: turns the tokenizer's files that a model names into tables for the runtime.
-- It decides nothing about the model. A build without text, or a description without a tokenizer, has no tables.
--
-- Before: state.spec, state.with_text. After: state.tokenizer = { tables (bytes), tokens (one more than the largest
-- number), made (what names the file's places in faults), mask, bos, cls (numbers of special tokens, or nil) }, or nil.
local dump = require("common.dump")
local faults = require("common.faults")
local hash = require("common.hash")
local tokenizer = require("text.tokenizer")

local pass = {}

function pass.run(state)
  local path = state.with_text and state.spec.tokenizer
  if not path then return end
  if path:sub(1, 1) ~= "/" then path = state.folder .. "/" .. path end
  local tables, made, warnings = tokenizer.from_path((path:gsub("/%.$", "")))
  -- The vocabulary, which may be large, is not kept.
  state.tokenizer = { tables = tables, tokens = made.model.largest + 1,
    made = { file = made.file, components = made.components, added = made.added }, mask = made.specials.mask,
    bos = made.specials.bos, cls = made.specials.cls }
  for _, line in ipairs(warnings) do table.insert(state.notes, line) end
  local rows = state.spec.input.vocab
  if state.tokenizer.tokens > rows then
    faults.raise("format", ("%s: the tokenizer has %d tokens, but the model knows %d; tokenizer=false builds it "
      .. "without text"):format(path, state.tokenizer.tokens, rows))
  end
end

--- Returns the size of the tables, special tokens, added tokens and components as text.
function pass.dump(state)
  local t = state.tokenizer
  if not t then return "no tokenizer: the model takes arrays, and no tables are made\n" end
  local lines = { ("tables: %d bytes, SHA-256 %s"):format(#t.tables, hash.content(t.tables)),
    ("tokens: %d"):format(t.tokens) }
  for _, name in ipairs { "mask", "bos", "cls" } do
    lines[#lines + 1] = ("special token %s: %s"):format(name, t[name] or "none")
  end
  return table.concat(lines, "\n") .. "\n" .. dump.table({ added = t.made.added, component = t.made.components })
end

return pass
