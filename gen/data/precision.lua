-- precision.lua: lists the parts of a model that may have their own number type, and finds the part of a product.
-- The description's key, the graph and the messages read it.
local types = require("data.types")
local words = require("common.words")

local precision = {}

--- The words of the number types whose products' inputs may have factors against outliers, as a text.
precision.with_factors = types.words("quantise")

--- Parts in addition to "layer N" and "encoder layer N", with the linear layers that each has.
precision.parts = {
  { name = "input", meaning = "linear layers before the layers" },
  { name = "qkv", meaning = "projections to queries, keys and values, or to what a short convolution reads" },
  { name = "out", meaning = "projections of attentions' results" },
  { name = "ff", meaning = "feed-forwards" },
  { name = "attention", meaning = "queries by keys, and weights by values", is_attention = true },
  { name = "encoder attention", meaning = "the same in the layers of an encoder", is_attention = true },
  { name = "output", meaning = "linear layers after the layers" },
  { name = "embedding", meaning = "tables of token embeddings" },
}

local by_name = {}
for _, part in ipairs(precision.parts) do by_name[part.name] = part end

--- True if a word names a part of attentions, which has no linear layers.
function precision.is_of_attentions(word) return by_name[word] ~= nil and by_name[word].is_attention or false end

function precision.is_part(word)
  if by_name[word] then return true end
  local layer = word:match("^layer (%d+)$") or word:match("^encoder layer (%d+)$")
  return layer == "0" or layer ~= nil and layer:sub(1, 1) ~= "0"
end

-- Returns the part of a linear layer, by its path in the graph.
local function part_of(path)
  if path:match("%.[qkv]$") or path:match("%.conv%.[bcx]$") then return "qkv" end
  return path:match("%.out$") and "out" or path:match("%.ff%.[%w.]+$") and "ff" or nil
end

--- Returns the part of the linear layer `path` of a section ("layer 3", "output").
function precision.part_of(section, path)
  return section:find("layer", 1, true) and part_of(path) or section:match("(%w+)$")
end

--- Returns the number type of the linear layer `path` of a section ("layer 3", "output"). given: the spec's
--- precision, { all = a type, by_part = part -> type }. The type of a layer overrides the type of a part.
function precision.of_linear(given, section, path)
  local of = given.by_part
  return of[section] or of[precision.part_of(section, path)] or given.all
end

--- Returns the number type of an attention's products; a layer in f32 has all of them in f32. The default is bf16 if
--- has_pairs and the layer's other products are not f32. has_pairs: whether a target of the model has an instruction
--- that multiplies pairs of bf16; without one, f32 is as fast.
function precision.of_scores(given, section, has_pairs)
  local own = given.by_part[section]
  if own == "f32" then return "f32" end
  local stated = section:find("encoder layer", 1, true) == 1 and given.by_part["encoder attention"]
    or given.by_part.attention
  return stated or (own or given.all) ~= "f32" and has_pairs and "bf16" or "f32"
end

--- True if attentions multiply integers, where their layer is not f32. part: "attention" or "encoder attention"; nil:
--- one of the two suffices.
function precision.attends_in_integers(given, part)
  for _, each in ipairs(precision.parts) do
    local is_asked = each.is_attention and (part == nil or part == each.name)
    if is_asked and given and precision.quantises(given.by_part[each.name]) then return true end
  end
  return false
end

--- Returns the number type that tables of token embeddings are kept in.
function precision.of_table(given) return given.by_part.embedding or given.all end

--- True if some products have a number type.
function precision.multiplies(given, type)
  for part, of in pairs(given.by_part) do if part ~= "embedding" and of == type then return true end end
  return given.all == type
end

function precision.multiplies_f32(given)
  for part, type in pairs(given.by_part) do if part ~= "embedding" and type ~= "f32" then return false end end
  return given.all == "f32"
end

--- True if numbers of the type with this word are integers with a scale for each row.
function precision.quantises(word) return word ~= nil and types.all[types.of_word[word]].rows == "quantise" end

-- The bits of integers that a state keeps, by the word of the key `cache`.
local kept_bits = { int8 = 8, int4 = 4 }

--- Returns the bits of the integers that a state keeps as keys and values; nil: it keeps floats.
function precision.cache_bits(word) return kept_bits[word] end

--- Returns the words of the numbers that a state may keep, in order.
function precision.words_of_cache()
  local list = words.map(types.of_weights, function(each) return each.attention and each.word or nil end)
  list[#list + 1] = "int4"
  return list
end

--- True if some product's inputs may have factors against outliers.
function precision.takes_factors(given)
  local quantises = precision.quantises
  for part, word in pairs(given.by_part) do
    if part ~= "embedding" and not precision.is_of_attentions(part) and quantises(word) then return true end
  end
  return quantises(given.all)
end

--- True if all products and tables are f32.
function precision.is_plain(given) return precision.multiplies_f32(given) and precision.of_table(given) == "f32" end

--- Returns the precision as one word or a short text: "bf16", "int8, output f32".
function precision.text(given)
  local parts = words.sorted_keys(given.by_part)
  for i, part in ipairs(parts) do parts[i] = (", %s %s"):format(part, given.by_part[part]) end
  return given.all .. table.concat(parts)
end

return precision
