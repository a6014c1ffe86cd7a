-- masks.lua: lists the words of the key `mask`, and all facts about the masks that are arrays of the caller.
-- One more array is one more row here: the validator, the graph, the command `keys` and its messages read this table.
local masks = {}

--- Masks that are arrays, in the order of messages. word: in a description; member: the name of the input; type: of
--- its numbers; op: the operation that takes it; form: the array's shape as the reference reads it (0: [B][keys],
--- 1: [S][keys], 2: [B][heads][S][keys]). keeps: a 1 keeps a key, and a 0 blocks it. takes_value: with `mask_value`
--- blocked keys are not excluded, but that number is added to their scores.
masks.arrays = {
  { word = "key_padding", member = "key_padding", type = "i32", form = 0, op = "block_array", takes_value = true },
  { word = "attention_mask", member = "attention_mask", type = "i32", form = 0, op = "block_array", keeps = true },
  { word = "key_bias", member = "key_bias", type = "f32", form = 0, op = "add_array" },
  { word = "additive", member = "mask_bias", type = "f32", form = 1, op = "add_array" },
  { word = "additive_heads", member = "head_bias", type = "f32", form = 2, op = "add_array" },
  { word = "blocked", member = "blocked", type = "i32", form = 1, op = "block_array" },
  { word = "blocked_heads", member = "head_blocked", type = "i32", form = 2, op = "block_array" },
}

--- Axes of the arrays of each form: b for the batch, s for tokens, k for keys, "." for heads.
masks.axes = { [0] = "bk", "sk", "b.sk" }

--- Words that a mask may be.
masks.words = { "none", "causal", "window", "prefix", "padding" }

--- How masks that have numbers are written with them.
masks.numbers = { window = "{ window = { LEFT, RIGHT } }", prefix = "{ prefix = KEYS }" }

--- The arrays by word, and the names of their inputs.
masks.by_word, masks.members = {}, {}

--- The arrays in the order in which scores meet them: first those that are added, then those that block keys.
masks.in_order = {}

for i, array in ipairs(masks.arrays) do
  masks.words[#masks.words + 1], masks.by_word[array.word], masks.members[i] = array.word, array, array.member
end
for _, op in ipairs { "add_array", "block_array" } do
  for _, array in ipairs(masks.arrays) do
    if array.op == op then masks.in_order[#masks.in_order + 1] = array end
  end
end

--- True if a mask has an array with numbers of its own for each head.
function masks.count_heads(mask)
  for _, array in ipairs(masks.arrays) do if array.form == 2 and mask[array.word] then return true end end
  return false
end

--- Returns the words of all masks as a text for the meaning of the key `mask`.
function masks.text()
  local parts = {}
  for i, word in ipairs(masks.words) do
    parts[i] = word .. (masks.by_word[word] and masks.by_word[word].keeps and " (1: keep)" or "")
  end
  return table.concat(parts, ", ")
end

return masks
