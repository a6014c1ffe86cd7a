-- tables.lua: writes the tokenizer's tables, which runtime/text/tables.h reads.
-- They are one string of bytes, little-endian, aligned to 8, with a checksum.
local numbers = require("text.numbers")
local slots = require("text.slots")

local tables = {}

local NONE, TOKEN = numbers.NONE, numbers.TOKEN

-- Returns one more than the largest id. Pieces that the vocabulary lacks have ids, too (library.lua).
local function count_of(made) return math.max(made.pieces or 0, made.largest + 1) end

-- Returns the texts of tokens in the order of their ids, without empty ones. ids: by text.
local function texts_of(made, ids)
  local texts = {}
  for id = 0, count_of(made) - 1 do
    local token = made.tokens[id]
    if token and token ~= "" and ids[token] == id then texts[#texts + 1] = token end
  end
  return texts
end

-- Returns the ids of a Unigram's pieces by their texts: those that have a score.
local function pieces_of(made)
  local ids = {}
  for id, token in pairs(made.tokens) do if made.scores[id] then ids[token] = id end end
  return ids
end

local function vocabulary(ids, texts, seed)
  local hashes = {}
  for i, token in ipairs(texts) do hashes[i] = slots.hash(seed, token) end
  return slots.fill(#texts, function(i) return slots.of_hash(hashes[i]) end,
    function(i) return string.pack("<I4I4", hashes[i], ids[texts[i]]) end, string.pack("<I4I4", 0, NONE))
end

local function merges(list, seed)
  if not list then return "" end
  local left, right, rank, result = list.left, list.right, list.rank, list.result
  return slots.fill(list.count, function(i) return slots.of_number(seed, left[i] << 32 | right[i]) end,
    function(i) return string.pack("<I4I4I4I4", left[i], right[i], rank[i], result[i]) end, ("\255"):rep(16))
end

-- Returns the edges of the trie of a Unigram's tokens, { count, keys, children }, or nil if there are too many nodes.
-- The node of a token has the token's id. The root is `limit`, and other nodes follow.
local function trie(ids, texts, limit)
  local edges, parents, bytes, count, terminal = {}, {}, {}, 0, {}
  for _, token in ipairs(texts) do
    local node = 0
    for i = 1, #token do
      local byte = token:byte(i)
      local key = node << 8 | byte
      local child = edges[key]
      if not child then
        count = count + 1
        child = count
        edges[key], parents[count], bytes[count] = child, node, byte
      end
      node = child
    end
    terminal[node] = ids[token]
  end
  local names, next_name = { [0] = limit }, limit + 1
  for node = 1, count do
    names[node] = terminal[node]
    if not names[node] then names[node], next_name = next_name, next_name + 1 end
  end
  if next_name >= 1 << 24 then return nil end
  local keys = {}
  for node = 1, count do keys[node] = names[parents[node]] << 8 | bytes[node] end
  return { count = count, keys = keys, children = names }
end

local function edges_of(nodes, seed)
  local keys, children = nodes.keys, nodes.children
  return slots.fill(nodes.count, function(i) return slots.of_number(seed, keys[i]) end,
    function(i) return string.pack("<I4I4", keys[i], children[i]) end, string.pack("<I4I4", 0, NONE))
end

-- Returns a pool of texts, which stores equal texts once. Tokens come first, one after the other.
local function new_pool()
  local pool = { parts = {}, size = 0, places = {} }
  function pool.append(text)
    pool.parts[#pool.parts + 1] = text
    pool.size = pool.size + #text
  end
  function pool.place(text)
    if not pool.places[text] then
      pool.places[text] = pool.size
      pool.append(text)
    end
    return pool.places[text], #text
  end
  return pool
end

-- Returns a list of numbers packed in one format. It packs a hundred at a time.
local function pack_list(format, list)
  local parts, hundred = {}, "<" .. format:rep(100)
  for at = 1, #list - 99, 100 do parts[#parts + 1] = string.pack(hundred, table.unpack(list, at, at + 99)) end
  for at = #list - #list % 100 + 1, #list do parts[#parts + 1] = string.pack("<" .. format, list[at]) end
  return table.concat(parts)
end

-- Writes all ids' texts into the pool. Returns their places, their flags and the longest token's length.
local function write_tokens(made, added, pool)
  local special, places, bits, longest = {}, {}, {}, 0
  for _, token in ipairs(added) do if token.flags & numbers.ADDED.special ~= 0 then special[token.text] = true end end
  for id = 0, count_of(made) - 1 do
    local token = made.tokens[id]
    places[#places + 1] = pool.size
    pool.append(token or "")
    local is_present = token and id <= made.largest
    bits[#bits + 1] = string.char((is_present and TOKEN.present or 0) | (special[token] and TOKEN.special or 0))
  end
  places[#places + 1] = pool.size
  for token in pairs(made.ids) do if #token > longest then longest = #token end end
  return pack_list("I4", places), table.concat(bits), longest
end

local function write_components(list, pool)
  local parts = {}
  for i, record in ipairs(list) do
    local a, a_length = pool.place(record.a or "")
    local b, b_length = pool.place(record.b or "")
    parts[i] = string.pack("<I4I4I4I4I4I4I4I4", record.stage, record.kind, record.flags or 0, record.number or 0, a,
      a_length, b, b_length)
  end
  return table.concat(parts)
end

local function write_added(list, pool)
  local parts = {}
  for i, token in ipairs(list) do
    local at, length = pool.place(token.text)
    parts[i] = string.pack("<I4I4I4I4", at, length, token.id, token.flags)
  end
  return table.concat(parts)
end

local function write_templates(list)
  local parts = {}
  for i, piece in ipairs(list) do parts[i] = string.pack("<I4I4I4I4", piece.kind, piece.id, piece.type, piece.pair) end
  return table.concat(parts)
end

local function write_languages(languages, pool)
  local parts = {}
  for i, each in ipairs(languages and languages.list or {}) do
    local at, length = pool.place(each.code)
    parts[i] = string.pack("<I4I4I4", at, length, each.id)
  end
  return table.concat(parts)
end

local function ids_of(count, text, ids)
  local list = {}
  for i = 0, count - 1 do list[i + 1] = ids[text(i)] or NONE end
  return pack_list("I4", list)
end

local function write_settings(state, pool, longest, root, seed)
  local made, limit = state.model, state.limit
  local prefix, prefix_length = pool.place(made.prefix or "")
  local suffix, suffix_length = pool.place(made.suffix or "")
  local word, word_length = pool.place(state.word)
  local low, high = string.unpack("<I4I4", string.pack("<d", made.unknown_score))
  return pack_list("I4", numbers.in_order("SETTING", { model = made.kind, options = made.options,
    unknown = made.unknown or NONE, vocabulary = count_of(made), known = made.largest + 1,
    longest_word = made.longest_word, prefix = prefix, prefix_length = prefix_length, suffix = suffix,
    suffix_length = suffix_length, longest_token = longest, limit = limit and limit.tokens or NONE,
    strategy = limit and limit.strategy or 0,
    from_left = state.from_left, word = word, word_length = word_length, root = root,
    unknown_low = low, unknown_high = high, seed = seed,
    target = state.languages and state.languages.target or numbers.TARGET.none }))
end

local function scores(made)
  if not made.scores then return "" end
  local list = {}
  for id = 0, count_of(made) - 1 do list[id + 1] = made.scores[id] or 0.0 end
  return pack_list("d", list)
end

local function checksum(text)
  local hash, at, unpack = 0xcbf29ce484222325, 1, string.unpack
  local eight = "<i8i8i8i8i8i8i8i8"
  while at + 63 <= #text do
    local a, b, c, d, e, f, g, h = unpack(eight, text, at)
    hash = (hash ~ a) * 0x100000001b3
    hash = (hash ~ b) * 0x100000001b3
    hash = (hash ~ c) * 0x100000001b3
    hash = (hash ~ d) * 0x100000001b3
    hash = (hash ~ e) * 0x100000001b3
    hash = (hash ~ f) * 0x100000001b3
    hash = (hash ~ g) * 0x100000001b3
    hash = (hash ~ h) * 0x100000001b3
    at = at + 64
  end
  for place = at, #text, 8 do hash = (hash ~ unpack("<i8", text, place)) * 0x100000001b3 end
  return hash
end

--- Returns the bytes of the tables, or nil and the reason. state: { model, added, components, templates, limit,
--- from_left, word, languages }.
function tables.write(state)
  local made, pool = state.model, new_pool()
  local found = made.found or made.ids
  local texts, nodes, root = texts_of(made, found), { count = 0 }, 0
  if made.scores then
    local ids = made.pieces and pieces_of(made) or made.ids
    root = count_of(made)
    nodes = trie(ids, texts_of(made, ids), root)
    if not nodes then return nil, "tokens have too many different beginnings" end
  end
  local hashed, seed = slots.seeded(3, function(seed)
    return { vocabulary(found, texts, seed), merges(made.merges, seed), edges_of(nodes, seed) }
  end)
  if not hashed then return nil, "too many tokens or merges with the same hash" end
  local token_places, flags, longest = write_tokens(made, state.added, pool)
  local components, added = write_components(state.components, pool), write_added(state.added, pool)
  local settings = write_settings(state, pool, longest, root, seed)
  local languages = write_languages(state.languages, pool)
  local sections = numbers.in_order("SECTION", { settings = settings, strings = table.concat(pool.parts),
    tokens = token_places, flags = flags, vocabulary = hashed[1], merges = hashed[2], trie = hashed[3],
    scores = scores(made), components = components, added = added, templates = write_templates(state.templates),
    bytes = ids_of(256, function(i) return ("<0x%02X>"):format(i) end, made.ids),
    letters = ids_of(512, function(i) return utf8.char(i) end, found),
    languages = languages })
  local offset, directory, body = 32 + 16 * #sections, {}, {}
  for i, section in ipairs(sections) do
    directory[i] = string.pack("<I8I8", offset, #section)
    body[i] = section .. ("\0"):rep(-#section % 8)
    offset = offset + #body[i]
  end
  local rest = table.concat(directory) .. table.concat(body)
  return string.pack("<c8I4I4I8i8", "attn2cTX", numbers.VERSION, #sections, 32 + #rest, checksum(rest)) .. rest
end

return tables
