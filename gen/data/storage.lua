-- storage.lua: declares the forms in which a tensor is stored: one entry each.
-- An entry says where an element is, which buffers there are, and what passes may do with them.
--
-- A tensor's storage is a record that plan/storage.lua makes: { form, type (of its elements), width (of a row),
-- leading_dimension, rows_per_sequence, whole_batch, unbatched } and, by form, tile_rows (the rows of a block or
-- unit), key_block, head_dim (columns of a head), scale (the tensor of the keys' scales), buffer (the packed one's
-- name), of (the tensor that has the elements), over (the tensor that it overwrites), is_answer (a call makes the rows
-- only whose outputs it asks for). Functions below take the record as `s`.
--
-- Fields of a form:
--   class        whose memory it is: "arena", "caller" (`in` or `out`, by kind of tensor), or "state", which lives from
--                call to call; nil if it has none
--   rows         the place of its rows, as steps read and write them; nil if it has none
--   packed       the place where an attention reads it as keys or values; nil if it reads rows
--   bits         of the integers of a page, which row operations multiply; nil: products read the page
--   is_traced    true if no buffer of a trace has all rows, and so a trace copies them out
--   may_be_over  true if an op may write its result over an operand in this form
-- Fields of a place:
--   suffix       of the buffer's name, after that of the tensor
--   private      "block" or "unit": the buffer has the rows of one block, or the panel of one unit, of each worker at a
--                time; row and column count from its first; nil: the buffer has the sequences of a micro-batch or batch
--   of_trace     true if only a trace has this buffer
--   where(s, row, column)      elements from the buffer's first to this one
--   sequence(s)                elements of one sequence; only if not private
--   pitch(s)                   elements from a row of the buffer to the next
-- Fields of a place of rows only:
--   elements(s, sequences, tensor)   elements of the buffer; nil: it is another tensor's
--   run(s)                     columns of a row that are consecutive
-- Fields of a packed place only:
--   separate     suffix of its buffer, after the name of the scores, if stored rows are packed before the scores
--   ld(s)        leading dimension of steps on it
--   panel(s)     rows that one step may pack
--   together     rows of a sequence that one step must pack together
--   each_key(s)  elements from a key to the next, for keys that are whole panels of key_block
--   from_tile, from_rows   the row operation that packs a product's tile, or stored rows; without from_tile, a
--                          product's result is always stored
--   run(s)       columns that one step packs, if not those that are consecutive in the rows
--   scales(s), start(s)   elements from the scales of keys, and from the beginning of a product's panel, to the groups
--   from_open_rows         the row operation that packs a panel of stored rows whose number a call knows; is_filled: it
--                          fills the last vector of keys with zeros
--   added        the row operation that adds rows of a head to those that a state has; each_added(s): elements from a
--                key that is added to the next; nil: the operation takes the number of the first key in its page;
--                of_head(s): elements of a head
local types = require("data.types")
local words = require("common.words")

local storage = {}

local function leading_dimension(s) return s.leading_dimension end

local function in_rows(s, row, column) return row * s.leading_dimension + column end

local function rows_of_sequence(s) return s.rows_per_sequence * s.leading_dimension end

local function rows_of_tile(s) return s.tile_rows * s.leading_dimension end

local function width(s) return s.width end

local WHOLE = { suffix = "", where = in_rows, sequence = rows_of_sequence, pitch = leading_dimension, run = width,
  elements = function(s, sequences) return (s.unbatched and 1 or sequences) * rows_of_sequence(s) end }

local function private(suffix, to, of_trace)
  return { suffix = suffix, private = to, of_trace = of_trace, where = in_rows, elements = rows_of_tile,
    pitch = leading_dimension, run = width }
end

local GROUPS = private("", "block")

function GROUPS.elements(s) return 2 * rows_of_tile(s) + s.bounds end

-- The caller's rows: whole, whatever the order of the axes.
local CALLER = setmetatable({ elements = function(_, _, tensor) return words.elements(tensor.shape) end },
  { __index = WHOLE })

-- Rows by head, [heads][rows][leading_dimension], of another tensor.
local BY_HEAD = { suffix = "", run = leading_dimension }

function BY_HEAD.where(s, row, column)
  local of_head = s.leading_dimension
  return (column // of_head * s.rows_per_sequence + row) * of_head + column % of_head
end

function BY_HEAD.sequence(s) return s.rows_per_sequence * s.width end

-- Rows that overlap, of another tensor: leading_dimension is smaller than width.
local WINDOWS = { suffix = "", where = in_rows, pitch = leading_dimension, run = width, sequence = rows_of_sequence }

-- Keys: [panels of keys][groups of columns][key_block][group].
local function column_groups(s)
  local group = types.group(s.type)
  return (s.width + group - 1) // group
end

local function keys(from_tile, from_rows, from_open_rows)
  local place = { suffix = "@transposed", separate = "@keys", together = 1, from_tile = from_tile,
    from_rows = from_rows, from_open_rows = from_open_rows, is_filled = true }
  function place.sequence(s)
    return words.round_up(s.rows_per_sequence, s.key_block) * column_groups(s) * types.group(s.type)
  end
  function place.where(s, row, column)
    local block, group, key = s.key_block, types.group(s.type), row % s.rows_per_sequence
    local groups = (key // block * column_groups(s) + column // group) * block + key % block
    return row // s.rows_per_sequence * place.sequence(s) + groups * group + column % group
  end
  function place.each_key(s) return column_groups(s) * types.group(s.type) end
  function place.pitch(s) return s.key_block * types.group(s.type) end
  function place.ld(s) return s.key_block end
  function place.panel(s) return s.key_block end
  function place.each_added(s) return types.group(s.type) end
  return place
end

-- Returns the place of what a state keeps, head by head: [heads][that of one head]. place: of one head, as if its
-- columns were all; added: the row operation that adds rows of a head.
local function of_state(place, added)
  local by_head = { suffix = "@state", added = added, together = place.together }
  local function of_head(s) return setmetatable({ width = s.head_dim }, { __index = s }) end
  for _, name in ipairs { "ld", "panel", "each_key", "each_added", "pitch" } do
    by_head[name] = place[name] and function(s) return place[name](of_head(s)) end
  end
  function by_head.run(s) return s.head_dim end
  function by_head.of_head(s) return place.sequence(of_head(s)) end
  function by_head.sequence(s) return s.width // s.head_dim * by_head.of_head(s) end
  function by_head.where(s, row, column)
    return column // s.head_dim * by_head.of_head(s) + place.where(of_head(s), row, column % s.head_dim)
  end
  return by_head
end

-- The keys of a sequence, in whole pages.
local function whole_pages(s) return words.round_up(s.rows_per_sequence, s.key_block) end

-- Values of a head, as rows.
local ROWS = { together = 1, ld = width, each_key = width, pitch = width, each_added = width }

function ROWS.panel(s) return s.rows_per_sequence end

function ROWS.sequence(s) return whole_pages(s) * s.width end

function ROWS.where(s, row, column) return row * s.width + column end

-- Values in pairs of rows: [pairs of keys][ld][2].
local PAIRS = { suffix = "@pairs", separate = "@values", together = 2, from_tile = "pairs_of_rows",
  from_rows = "pairs_of_bf16_rows", from_open_rows = "pairs_of_bf16_rows" }

function PAIRS.ld(s) return types.whole_lines(s.width, "f32") end

PAIRS.each_key = PAIRS.ld

function PAIRS.sequence(s) return (s.rows_per_sequence + 1) // 2 * PAIRS.pitch(s) end

function PAIRS.where(s, row, column)
  local key = row % s.rows_per_sequence
  return row // s.rows_per_sequence * PAIRS.sequence(s) + (key // 2 * PAIRS.ld(s) + column) * 2 + key % 2
end

function PAIRS.pitch(s) return 2 * PAIRS.ld(s) end

function PAIRS.panel(s) return s.rows_per_sequence end

-- Values of a head of a state, in pairs of rows.
local PAIRS_OF_HEAD = setmetatable({}, { __index = PAIRS })

function PAIRS_OF_HEAD.sequence(s) return whole_pages(s) // 2 * PAIRS.pitch(s) end

-- Rows of a panel of keys of int8 before its groups: the keys' scales, and the first values of sums (types.lua).
local SCALES = 1

-- Keys in int8, head by head: [heads][panels of keys][SCALES + start + groups of columns][key_block][4].
local KEY_QUADS = { suffix = "@transposed", separate = "@keys", together = 1, from_rows = "quads_of_keys",
  from_open_rows = "quads_of_keys", is_filled = true }

local function before_groups(s) return SCALES + types.all[s.type].start end

local function key_rows(s) return before_groups(s) + (s.head_dim + types.group(s.type) - 1) // types.group(s.type) end

function KEY_QUADS.pitch(s) return s.key_block * types.group(s.type) end
function KEY_QUADS.ld(s) return s.key_block end
function KEY_QUADS.panel(s) return s.key_block end
function KEY_QUADS.each_key(s) return key_rows(s) * types.group(s.type) end
function KEY_QUADS.run(s) return s.head_dim end
function KEY_QUADS.scales(s) return before_groups(s) * KEY_QUADS.pitch(s) end
function KEY_QUADS.start(s) return (before_groups(s) - SCALES) * KEY_QUADS.pitch(s) end

local function keys_of_head(s) return words.round_up(s.rows_per_sequence, s.key_block) * KEY_QUADS.each_key(s) end

function KEY_QUADS.sequence(s) return s.width // s.head_dim * keys_of_head(s) end

function KEY_QUADS.where(s, row, column)
  local group, key, of_head = types.group(s.type), row % s.rows_per_sequence, column % s.head_dim
  return row // s.rows_per_sequence * KEY_QUADS.sequence(s) + column // s.head_dim * keys_of_head(s)
    + (key // s.key_block * key_rows(s) + before_groups(s) + of_head // group) * KEY_QUADS.pitch(s)
    + key % s.key_block * group + of_head % group
end

-- Values in int8, head by head: [heads][groups of keys][ld][4].
local VALUE_QUADS = { suffix = "@quads", separate = "@values", together = 4, from_rows = "quads_of_values",
  from_open_rows = "quads_of_values" }

function VALUE_QUADS.ld(s) return types.whole_lines(s.head_dim, "f32") end
VALUE_QUADS.each_key = VALUE_QUADS.ld
function VALUE_QUADS.pitch(s) return types.group(s.type) * VALUE_QUADS.ld(s) end
function VALUE_QUADS.panel(s) return s.rows_per_sequence end
function VALUE_QUADS.run(s) return s.head_dim end

local function values_of_head(s)
  local group = types.group(s.type)
  return (s.rows_per_sequence + group - 1) // group * VALUE_QUADS.pitch(s)
end

function VALUE_QUADS.sequence(s) return s.width // s.head_dim * values_of_head(s) end

function VALUE_QUADS.where(s, row, column)
  local group, key = types.group(s.type), row % s.rows_per_sequence
  return row // s.rows_per_sequence * VALUE_QUADS.sequence(s) + column // s.head_dim * values_of_head(s)
    + key // group * VALUE_QUADS.pitch(s) + column % s.head_dim * group + key % group
end

-- Keys and values of a head as integers of some bits, by page (runtime/ops/kept.h): a scale in f32 for each key, then
-- the integers, in groups of four bytes. A byte has two integers of 4 bits: of columns that are apart.
local SCALE, BYTES = types.bytes(1, "f32"), 4

-- Columns of values are filled up to whole vectors of every target.
local LANES = 16

-- each(s): the bytes of a key in a page, without its scale; of_page(s, key, column): the place of an integer, in bytes
-- after the scales. Steps are given the beginning of a page, so places do not count the scales of their page.
local function integers_of_head(each, of_page)
  local place = { together = 1 }
  function place.panel(s) return s.key_block end
  function place.each_key(s) return SCALE + each(s) end
  place.pitch = place.each_key
  function place.sequence(s) return whole_pages(s) * place.each_key(s) end
  function place.where(s, row, column)
    local panel = s.key_block
    return row // panel * panel * place.each_key(s) + of_page(s, row % panel, column)
  end
  return place
end

local function keys_as_integers(bits)
  local columns = BYTES * 8 // bits -- of a key that are next to each other
  return integers_of_head(function(s) return (s.width + columns - 1) // columns * BYTES end, function(s, key, column)
    return (column // columns * s.key_block + key) * BYTES + column % BYTES
  end)
end

local function values_as_integers(bits)
  local function half(s) return (s.width * bits + 7) // 8 end
  local function wide(s) return words.round_up(half(s), LANES) end
  return integers_of_head(wide, function(s, key, column)
    return (key // BYTES * wide(s) + column % half(s)) * BYTES + key % BYTES
  end)
end

storage.forms = {
  -- The caller's memory: an input or output.
  external = { class = "caller", rows = CALLER },
  -- All rows.
  full = { class = "arena", rows = WHOLE, may_be_over = true },
  -- One block of rows at a time.
  tile = { class = "arena", rows = private("", "block"), may_be_over = true, is_traced = true },
  -- One block of rows, in the order of experts: each row has a part for each of its experts, and a part is at the place
  -- of its choice in this order. All parts are adjacent.
  grouped = { class = "arena", rows = private("", "block"), is_traced = true },
  -- That order: the place of each choice, the choice at each place, the first place of each expert.
  groups = { class = "arena", rows = GROUPS, is_traced = true },
  -- Stored in another type: the rows and columns that one unit makes.
  unit = { class = "arena", rows = private("@unit", "unit"), is_traced = true },
  -- Keys of f32 that a product's tile is transposed to.
  transposed = { class = "arena", rows = private("@tile", "unit"),
    packed = keys("transpose", "transpose", "transpose_keys"), is_traced = true },
  -- The same in bf16, in pairs of columns.
  key_pairs = { class = "arena", rows = private("@rounded", "unit", true),
    packed = keys("pairs_of_columns", "pairs_of_bf16_columns", "pairs_of_bf16_keys"), is_traced = true },
  -- Values of bf16 in pairs of rows.
  value_pairs = { class = "arena", rows = private("@rounded", "unit", true), packed = PAIRS, is_traced = true },
  -- Keys that a caller's context keeps: panels of key_block keys, to which a call adds its own.
  state_keys = { class = "state", is_traced = true, packed = of_state(keys(), "transpose") },
  -- The same in bf16, in pairs of columns.
  state_key_pairs = { class = "state", is_traced = true, packed = of_state(keys(), "pairs_of_bf16_columns") },
  -- Values that it keeps.
  state_values = { class = "state", is_traced = true, packed = of_state(ROWS, "copy") },
  -- The same in bf16, in pairs of rows.
  state_value_pairs = { class = "state", is_traced = true, packed = of_state(PAIRS_OF_HEAD, "add_pairs_of_bf16_rows") },
  -- Keys and values that it keeps as integers, each page with the scales of its keys.
  state_key_bytes = { class = "state", is_traced = true, packed = of_state(keys_as_integers(8), "add_bytes_of_keys"),
    bits = 8 },
  state_value_bytes = { class = "state", is_traced = true,
    packed = of_state(values_as_integers(8), "add_bytes_of_values"), bits = 8 },
  state_key_nibbles = { class = "state", is_traced = true, packed = of_state(keys_as_integers(4), "add_bytes_of_keys"),
    bits = 4 },
  state_value_nibbles = { class = "state", is_traced = true,
    packed = of_state(values_as_integers(4), "add_bytes_of_values"), bits = 4 },
  -- Keys and values of int8 in groups of four: of columns, and of rows.
  key_quads = { class = "arena", packed = KEY_QUADS },
  value_quads = { class = "arena", packed = VALUE_QUADS },
  -- Never stored: a step after its own reads it in a register or a tile.
  fused = { is_traced = true },
  -- Keys or values that an input has by head, read in place; without a buffer of its own.
  by_head = { rows = BY_HEAD, is_traced = true },
  -- Rows of another tensor side by side, which overlap in memory; without a buffer of its own.
  windows = { rows = WINDOWS, is_traced = true },
}

--- The packed form that an attention reads, by type; it reads other values as rows.
storage.read_as = { keys = { f32 = "transposed", bf16 = "key_pairs", [types.quantised] = "key_quads" },
  values = { bf16 = "value_pairs", s8 = "value_quads" } }

-- The form in which a state keeps them, by type, and by the bits of integers.
local kept_as = {
  keys = { f32 = "state_keys", bf16 = "state_key_pairs", [8] = "state_key_bytes", [4] = "state_key_nibbles" },
  values = { f32 = "state_values", bf16 = "state_value_pairs", [8] = "state_value_bytes", [4] = "state_value_nibbles" },
}

--- Returns the form in which a state keeps a tensor.
function storage.kept_as(tensor) return kept_as[tensor.kept.role][tensor.kept.bits or tensor.type] end

--- Returns the bits of the integers in the pages of keys or values, whose steps are not products; nil: they are.
function storage.bits(s) return s and storage.forms[s.form].bits end

--- Returns the place of the rows of a storage, or nil.
function storage.rows(s) return storage.forms[s.form].rows end

--- Returns the place of the packed keys or values of a storage, or nil.
function storage.packed(s) return storage.forms[s.form].packed end

--- True if a storage has the rows of a unit of work, a panel of columns at a time.
function storage.is_of_unit(s)
  local rows = storage.rows(s)
  return rows ~= nil and rows.private == "unit"
end

-- Types of buffers that the check reads; a trace widens others to floats.
local traced_as = { f32 = "f32", i32 = "i32" }

function storage.trace_type(s) return traced_as[s.type] or "f32" end

--- True if the elements of a storage are not floats, and a trace's copy of them is.
function storage.is_widened(s) return not traced_as[s.type] end

--- True if a trace keeps its own copy of a tensor with this storage.
function storage.is_traced(s) return storage.forms[s.form].is_traced or not traced_as[s.type] end

--- Returns the name of a trace's copy of a tensor.
function storage.trace_name(name) return name .. "@trace" end

local of_caller = { input = "in", output = "out" }

--- Returns the class of a tensor's buffer: in, out or arena.
function storage.class(tensor, s)
  local class = storage.forms[s.form].class
  return class == "caller" and of_caller[tensor.kind] or class
end

return storage
