-- texts.lua: finds the model that embeds texts for a model of pictures: the key `texts` of a description. It is a model
-- of its own, with passes of its own; the program of the model of pictures links its library.
local faults = require("common.faults")
local paths = require("checkpoints.paths")
local words = require("common.words")

local texts = {}

-- Keys whose overrides are for both models.
local shared = words.set { "precision", "weights", "target", "threads", "kernels", "reuse" }

--- True if an override is only for the model of texts: texts.seq=16.
function texts.owns(override) return override:find("^texts%.") ~= nil end

--- Returns the file or folder of the model of texts, and its overrides. state: the finished `validate` of the model of
--- pictures.
function texts.of(state)
  local path, list = state.spec.texts, {}
  if path:sub(1, 1) ~= "/" then path = state.folder .. "/" .. path end
  path = path:gsub("/%.$", "")
  if paths.is_checkpoint(path) then list[1] = "tower=text" end
  for _, override in ipairs(state.overrides) do
    local own = override:match("^texts%.(.*)$")
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

--- Faults: usage, if the model of texts does not go with the model of pictures.
function texts.check(state, other)
  local own, width = width_of(state), width_of(other)
  local function refuse(what) faults.raise("usage", ("%s: texts: %s %s"):format(state.file, other.file, what)) end
  if not own then faults.raise("usage", state.file .. ": texts: goes with models whose answer is an embedding") end
  if not other.tokenizer then refuse("takes no text: it has no tokenizer") end
  if not width then refuse("gives no embedding of a text") end
  if width ~= own then refuse(("embeds in %d numbers, but pictures have %d"):format(width, own)) end
  if other.spec.name == state.spec.name then refuse("has the same name, " .. faults.quote(other.spec.name)) end
end

return texts
