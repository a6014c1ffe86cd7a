-- merges.lua: makes the merges of byte pairs from a SentencePiece model, which has only the pieces.

local merges = {}

--- Returns the merges of a list of pieces, in their order: all pairs of pieces that are a piece together. The pairs of
--- one piece are by ascending length of their left halves. Each is { left, right, place of the piece in the list }.
function merges.of(pieces)
  local known, list = {}, {}
  for _, piece in ipairs(pieces) do known[piece.text] = true end
  for place, piece in ipairs(pieces) do
    local text = piece.text
    local at = utf8.offset(text, 2)
    while at and at <= #text do
      local left, right = text:sub(1, at - 1), text:sub(at)
      if known[left] and known[right] then list[#list + 1] = { left, right, place } end
      at = utf8.offset(text, 2, at)
    end
  end
  return list
end

return merges
