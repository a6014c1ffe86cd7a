-- scale_blocks.lua: finds the type of weights in scale blocks that the key `weights` gives a part of a model.
-- A value of the key is { all = a word, by_part = part -> word }, or nil. A part is one of `precision`, or a linear
-- layer's path in the graph ("l0.attn.v"). The word "none" leaves a part to `precision`.
local precision = require("data.precision")
local types = require("data.types")

local scale_blocks = {}

--- The words: the types' words in order, then "none".
scale_blocks.words = {}
for i, type in ipairs(types.scaled) do scale_blocks.words[i] = type.weights end
scale_blocks.words[#scale_blocks.words + 1] = "none"

--- The words of the key `input_order`.
scale_blocks.order_words = { "none", "file", "own" }

function scale_blocks.text() return (table.concat(scale_blocks.words, ", "):gsub(", (%w+)$", " or %1")) end

local function known(word) return word ~= "none" and word or nil end

--- True if a word names a part, or looks like the path of a linear layer.
function scale_blocks.is_part(word)
  if precision.is_of_attentions(word) then return false end
  return precision.is_part(word) or word:match("^[%a][%w_]*%.[%w_.]+$") ~= nil
end

--- Returns the word of the linear layer `path` of a section, or nil. given: a value of `weights` or `input_order`.
function scale_blocks.of_linear(given, section, path)
  if not given then return nil end
  local of = given.by_part
  return known(of[path] or of[section] or of[precision.part_of(section, path)] or given.all)
end

-- The parts whose products have fine inputs. The products of the last layer have them, too: nothing evens it out later.
-- The rest takes two thirds of a divergence from floats away, and a token is hardly slower (models/README.md has what
-- each part gives). A token's weights are read once for both bytes, and a prompt has one row of logits.
local FINE = { output = true, qkv = true }

-- The number of heads that share a key from which on queries have plain inputs. Queries are then most of the products
-- that would have fine ones. With 3 heads a key, fine queries take 0.14 of a divergence away (models/README.md).
local SHARING = 4

--- Returns whether the inputs of a product with weights in scale blocks have 15 bits. spec: of the layer; layers: the
--- number of the model's.
function scale_blocks.has_fine_inputs(section, path, spec, layers)
  if section == "layer " .. layers - 1 then return true end
  local is_query = path:match("%.attn%.q$") and spec.heads >= SHARING * (spec.kv_heads or spec.heads)
  return not is_query and FINE[precision.part_of(section, path)] or false
end

--- Returns the word of the tables of token embeddings, or nil.
function scale_blocks.of_table(given) return given and known(given.by_part.embedding or given.all) end

--- Returns the number of inputs that some type of a value of `weights` rounds together.
function scale_blocks.together(given)
  local most = types.SCALE_BLOCK
  local function add(word)
    local type = types.of_scaled[word]
    if type and types.all[type].block.unit then most = types.SCALE_UNIT end
  end
  add(given.all)
  for _, word in pairs(given.by_part) do add(word) end
  return most
end

--- Returns the paths among the parts.
function scale_blocks.paths(given)
  local list = {}
  for part in pairs(given and given.by_part or {}) do
    if not precision.is_part(part) then list[#list + 1] = part end
  end
  table.sort(list)
  return list
end

--- Returns a model's numbers as a short text: "f32; weights int4m, output int8, 12 layers of their own". given: the
--- spec's precision; weights: the key's value, or nil.
function scale_blocks.text_of(given, weights)
  if not weights then return precision.text(given) end
  local by_part, paths = {}, scale_blocks.paths(weights)
  for part, word in pairs(weights.by_part) do if precision.is_part(part) then by_part[part] = word end end
  return ("%s; weights %s%s"):format(precision.text(given), precision.text { all = weights.all, by_part = by_part },
    #paths > 0 and (", %d layers of their own"):format(#paths) or "")
end

return scale_blocks
