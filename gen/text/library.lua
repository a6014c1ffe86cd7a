-- library.lua: makes a tokenizer that SentencePiece's own library runs, as the slow classes of transformers use it. The
-- library cuts a text into pieces, and another file (vocab.json) has their numbers. A piece that the file lacks is
-- found in texts all the same, and becomes the unknown token.
local numbers = require("text.numbers")

local library = {}

-- Returns the number of each piece, by its place: the file's, or the next one after all others.
local function places_of(made, given)
  local places, next_id = {}, given.after
  for id = 0, made.largest do
    local token = made.tokens[id]
    places[id] = given.ids[token]
    if not places[id] then places[id], next_id = next_id, next_id + 1 end
  end
  return places, next_id
end

-- The library sums scores as floats.
local function as_float(score) return (string.unpack("<f", string.pack("<f", score))) end

-- Gives merges the pieces' numbers. The piece of the highest score comes first, and the leftmost of equal ones.
local function renumber_merges(list, places, scores)
  local distinct, ranks = {}, {}
  for _, score in pairs(scores) do
    if not ranks[score] then distinct[#distinct + 1], ranks[score] = score, true end
  end
  table.sort(distinct, function(a, b) return a > b end)
  for rank, score in ipairs(distinct) do ranks[score] = rank end
  for i = 1, list.count do
    list.left[i], list.right[i], list.result[i] = places[list.left[i]], places[list.right[i]], places[list.result[i]]
    list.rank[i] = ranks[scores[list.result[i]]]
  end
end

--- Changes a model, whose ids are the places of pieces, to the numbers of a file. given: { ids = token -> number,
--- count: of these, after: one more than the largest number with added tokens, scores = text -> score of the pieces
--- that words are made of, unknown: the unknown token, falls_back: unknown characters become bytes, codes: a text may
--- begin with a code }.
--- Then model.pieces is one more than the largest number of a piece, and model.found = text -> number has the texts
--- that are looked up whole: the pieces of byte pairs, or the file's tokens.
function library.renumber(made, given)
  local OPTION, places, after = numbers.OPTION, places_of(made, given)
  local tokens, scores, found, least = {}, {}, {}, math.huge
  for id, token in pairs(made.tokens) do
    tokens[places[id]] = token
    if given.scores[token] then
      scores[places[id]], found[token] = as_float(given.scores[token]), places[id]
      least = math.min(least, given.scores[token])
    end
  end
  for token, id in pairs(given.ids) do tokens[id] = token end
  if made.merges then renumber_merges(made.merges, places, scores) end
  made.options = OPTION.library | OPTION.fuse_unknown | (given.falls_back and OPTION.byte_fallback or 0)
    | (given.codes and OPTION.codes or 0)
  made.tokens, made.ids, made.scores, made.pieces = tokens, given.ids, made.scores and scores, after
  made.found = made.merges and found or given.ids
  made.unknown, made.unknown_score = given.ids[given.unknown], as_float(least - 10)
  made.count, made.largest = given.count, given.count - 1
end

return library
