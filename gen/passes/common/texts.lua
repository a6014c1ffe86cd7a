-- texts.lua: finds the second model of a program: one that embeds texts for a model of pictures, by the key `texts` of
-- a description, or one that guesses for a model that writes, by the key `draft`. It is a model of its own, with passes
-- of its own; the program of the first model links its library.
local faults = require("common.faults")
local paths = require("checkpoints.paths")
local words = require("common.words")

local texts = {}

-- Keys whose overrides are for both models.
local shared = words.set { "precision", "weights", "target", "threads", "kernels", "reuse" }

--- True if an override is only for the second model: texts.seq=16, draft.context=512.
function texts.owns(override) return override:find("^texts%.") ~= nil or override:find("^draft%.") ~= nil end

--- Returns the file or folder of the second model, and its overrides. state: the finished `validate` of the first.
function texts.of(state)
  local path, list = state.spec.texts or state.spec.draft, {}
  if path:sub(1, 1) ~= "/" then path = state.folder .. "/" .. path end
  path = path:gsub("/%.$", "")
  if state.spec.draft then
    list = { ("name=%s_draft"):format(state.spec.name), ("sequences=%d"):format(state.spec.sequences) }
  elseif paths.is_checkpoint(path) then
    list[1] = "tower=text"
  end
  for _, override in ipairs(state.overrides) do
    local own = override:match("^texts%.(.*)$") or override:match("^draft%.(.*)$")
    if own or shared[override:match("^[%w_]*")] then list[#list + 1] = own or override end
  end
  return path, list
end

-- Returns the width of a model's answer, or nil if that is no embedding.
local function width_of(state)
  local graph = state.primary.graph
  if not graph.answer or graph.answer.kind ~= "EMBEDDING" then return nil end
  local tensor = graph.tensors[graph.entry.outputs[graph.answer.output + 1]]
  return tensor.shape[#tensor.shape]
end

-- Refuses a model whose tokens are others.
local function check_draft(state, other)
  local own, its = state.tokenizer, other.tokenizer
  local function refuse(...) faults.raise("usage", "%s: draft: %s %s", state.file, other.file, faults.line(...)) end
  if not other.spec.context then refuse("does not continue sequences") end
  if other.spec.memory then refuse("has an encoder") end
  if not own ~= not its or own and own.tables ~= its.tables then refuse("has another tokenizer") end
  if not own and state.spec.input.vocab ~= other.spec.input.vocab then
    refuse("has %d tokens, but %d are expected", other.spec.input.vocab, state.spec.input.vocab)
  end
end

--- Faults: usage, if the second model does not go with the first.
function texts.check(state, other)
  if state.spec.draft then return check_draft(state, other) end
  local own, width = width_of(state), width_of(other)
  local function refuse(...) faults.raise("usage", "%s: texts: %s %s", state.file, other.file, faults.line(...)) end
  if not own then faults.raise("usage", state.file .. ": texts: goes with models whose answer is an embedding") end
  if not other.tokenizer then refuse("takes no text: it has no tokenizer") end
  if not width then refuse("gives no embedding of a text") end
  if width ~= own then refuse("embeds in %d numbers, but pictures have %d", width, own) end
  if other.spec.name == state.spec.name then refuse("has the same name, " .. faults.quote(other.spec.name)) end
end

return texts
