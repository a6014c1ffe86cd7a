-- loops.lua: declares the loops of emitted code: over the sequences of a micro-batch, and over sizes that a call sets.
-- A size that only a call knows is open: it is a symbol, with its least and most value. A call of an entry of any
-- length has `rows` consecutive rows of `sequences` sequences (attn2c_sequences in runtime/base/descriptor.h).
--
-- An entry has
--   head     the loop as C; ${name} is a field of the step
--   locals   the symbols that the body's steps may need, in addition to the loop's own: { name, C expression }
--   run      run(step, call, symbols, body): the same loop; sets the symbols of each iteration and calls body(). call:
--            { rows, first = the first row of each sequence, then rows }
-- Where workers divide a call, a phase's steps are for one block of rows, from row `block` on, and one `chunk` that a
-- worker claims. Then an entry that is a scope, not a loop, may have
--   chunks   the number of chunks as C, of the block that is of.block
--   count    count(step, call, symbols): the same number
local loops = {}

local least, most = math.min, math.max

local function round_up(n, to) return (n + to - 1) // to * to end

-- Runs body() for position = from, from + step, ... below stop; each(position, the step's size there).
local function walk(from, stop, step, each, body)
  for position = from, stop - 1, step do
    each(position, least(stop - position, step))
    body()
  end
end

loops.forms = {
  -- The sequences of a micro-batch.
  batch = {
    head = "for (size_t b = 0; b < ${count}; b++) {", locals = {},
    run = function(step, _, symbols, body)
      for b = 0, step.count - 1 do
        symbols.b = b
        body()
      end
    end,
  },
  -- Blocks of the rows of a call, whatever sequences they are of.
  rows = {
    head = "for (ptrdiff_t row = 0; row < n->rows; row += ${step}) {",
    locals = { { "rows", "ATTN2C_LEAST(n->rows - row, ${step})" } },
    run = function(step, call, symbols, body)
      walk(0, call.rows, step.step, function(row, rows) symbols.row, symbols.rows = row, rows end, body)
    end,
  },
  -- Blocks of the sequences of a call, as rows of what has one row for each.
  pooled = {
    head = "for (ptrdiff_t row = 0; row < n->count; row += ${step}) {",
    locals = { { "rows", "ATTN2C_LEAST(n->count - row, ${step})" } },
    run = function(step, call, symbols, body)
      walk(0, #call.first - 1, step.step, function(row, rows) symbols.row, symbols.rows = row, rows end, body)
    end,
  },
  -- The rows of a block that are of one sequence: `piece` rows, `skip` rows into the block, whose first is row
  -- `position` of its sequence.
  pieces = {
    head = "for (attn2c_stretch at = attn2c_first_stretch(n, row, rows); at.rows > 0; "
      .. "attn2c_next_stretch(n, row, rows, &at)) {",
    locals = { { "skip", "at.skip" }, { "piece", "at.rows" }, { "position", "at.position" } },
    run = function(_, call, symbols, body)
      for i = 1, #call.first - 1 do
        local from = most(symbols.row, call.first[i])
        local stop = least(symbols.row + symbols.rows, call.first[i + 1])
        if from < stop then
          symbols.skip, symbols.piece, symbols.position = from - symbols.row, stop - from, from - call.first[i]
          body()
        end
      end
    end,
  },
  -- The sequences of a call: number `sequence`, whose rows are `keys` from row `first` on.
  sequences = {
    head = "for (ptrdiff_t sequence = 0; sequence < n->count; sequence++) {",
    locals = { { "first", "n->first[sequence]" }, { "keys", "n->first[sequence + 1] - first" } },
    run = function(_, call, symbols, body)
      for i = 1, #call.first - 1 do
        symbols.sequence, symbols.first, symbols.keys = i - 1, call.first[i], call.first[i + 1] - call.first[i]
        body()
      end
    end,
  },
  -- Panels of the keys of a sequence, when they are packed.
  panels = {
    head = "for (ptrdiff_t key = 0; key < keys; key += ${step}) {",
    locals = { { "panel", "ATTN2C_LEAST(keys - key, ${step})" } },
    run = function(step, _, symbols, body)
      walk(0, symbols.keys, step.step, function(key, panel) symbols.key, symbols.panel = key, panel end, body)
    end,
  },
  -- Blocks of the queries of a sequence, with the keys [from, seen) that a static mask leaves to them: those from
  -- `left` keys before the first query to `right` keys after the last; -1 bounds nothing. `width` is their number,
  -- `columns` the same in whole vectors. Row i of the block sees columns [lo + i, hi + i) of these.
  queries = {
    head = "for (ptrdiff_t query = 0; query < keys; query += ${step}) {",
    locals = { { "queries", "ATTN2C_LEAST(keys - query, ${step})" }, { "from", "${from}" }, { "seen", "${seen}" },
      { "width", "seen - from" }, { "columns", "(width + ${lanes} - 1) / ${lanes} * ${lanes}" },
      { "lo", "${lo}" }, { "hi", "${hi}" } },
    run = function(step, _, symbols, body)
      walk(0, symbols.keys, step.step, function(query, queries)
        symbols.query, symbols.queries = query, queries
        symbols.from = step.left < 0 and 0 or most(0, query - step.left) // step.panel * step.panel
        symbols.seen = step.right < 0 and symbols.keys or least(symbols.keys, query + queries + step.right)
        symbols.width = symbols.seen - symbols.from
        symbols.columns = round_up(symbols.width, step.lanes)
        symbols.lo = step.left < 0 and -step.step or query - symbols.from - step.left
        symbols.hi = step.right < 0 and symbols.width or query - symbols.from + step.right + 1
      end, body)
    end,
  },
  -- Panels of the keys that a block of queries sees; `padded` is a panel's keys in whole vectors.
  seen = {
    head = "for (ptrdiff_t key = from; key < seen; key += ${step}) {",
    locals = { { "padded", "(ATTN2C_LEAST(seen - key, ${step}) + ${lanes} - 1) / ${lanes} * ${lanes}" } },
    run = function(step, _, symbols, body)
      walk(symbols.from, symbols.seen, step.step, function(key, keys)
        symbols.key, symbols.padded = key, round_up(keys, step.lanes)
      end, body)
    end,
  },
}

-- Returns the rows of a call that a loop over blocks counts: all, or one for each sequence.
local function all_rows(step, call) return step.all == "rows" and call.rows or #call.first - 1 end

-- A block of rows, in a chunk of some panels of a product.
loops.forms.block = {
  head = "{", locals = { { "row", "block" }, { "rows", "ATTN2C_LEAST(n->${all} - block, ${step})" } },
  run = function(step, call, symbols, body)
    symbols.row, symbols.rows = symbols.block, least(all_rows(step, call) - symbols.block, step.step)
    body()
  end,
}

-- A chunk of the rows of a block: `piece` rows, `slice` rows into the block.
loops.forms.slices = {
  head = "{", locals = { { "slice", "(ptrdiff_t)chunk * ${piece}" }, { "row", "block + slice" },
    { "rows", "ATTN2C_LEAST(ATTN2C_LEAST(n->${all} - block, ${step}) - slice, ${piece})" } },
  chunks = "(size_t)(ATTN2C_LEAST(n->${all} - of.block, ${step}) + ${piece} - 1) / ${piece}",
  count = function(step, call, symbols)
    return (least(all_rows(step, call) - symbols.block, step.step) + step.piece - 1) // step.piece
  end,
  run = function(step, call, symbols, body)
    symbols.slice = symbols.chunk * step.piece
    symbols.row = symbols.block + symbols.slice
    symbols.rows = least(least(all_rows(step, call) - symbols.block, step.step) - symbols.slice, step.piece)
    body()
  end,
}

-- A chunk is one sequence.
loops.forms.each = {
  head = "{", locals = { { "sequence", "(ptrdiff_t)chunk" }, table.unpack(loops.forms.sequences.locals) },
  chunks = "(size_t)n->count",
  count = function(_, call) return #call.first - 1 end,
  run = function(_, call, symbols, body)
    symbols.sequence, symbols.first = symbols.chunk, call.first[symbols.chunk + 1]
    symbols.keys = call.first[symbols.chunk + 2] - symbols.first
    body()
  end,
}

-- Adds to the step of a loop over queries what its locals name: the borders of the mask as C.
local function with_borders(step)
  local left, right, panel = step.left, step.right, step.panel
  step.from = left < 0 and "0" or ("ATTN2C_MOST(query - %d, 0) / %d * %d"):format(left, panel, panel)
  step.seen = right < 0 and "keys" or ("ATTN2C_LEAST(query + queries + %d, keys)"):format(right)
  step.lo = left < 0 and tostring(-step.step) or ("query - from - %d"):format(left)
  step.hi = right < 0 and "width" or ("query - from + %d"):format(right + 1)
end

--- Returns a step that begins a loop. fields: those that the form's texts name, and count, how often it runs at most;
--- for a loop over queries also left and right, the keys before and after a query that it sees, and panel.
function loops.begin(form, fields)
  local step = {}
  for name, value in pairs(fields) do step[name] = value end
  step.form, step.loop = "begin", form
  if form == "queries" then with_borders(step) end
  return step
end

-- Adds the words of a C text to a set.
local function add_words(set, text)
  for word in text:gmatch("[%a_][%w_]*") do set[word] = true end
end

--- Returns the locals of a loop that its body needs, as { name, C expression }. used: a set of words of the body.
function loops.locals(step, used, fill)
  local list = {}
  local all = loops.forms[step.loop].locals
  for i = #all, 1, -1 do
    local name, text = all[i][1], fill(all[i][2], step)
    if used[name] then
      table.insert(list, 1, { name, text })
      add_words(used, text)
    end
  end
  return list
end

return loops
