-- loops.lua: declares the loops of emitted code: over the sequences of a micro-batch, and over sizes that a call sets.
-- A size that only a call knows is open: it is a symbol, with its least and most value. A call of an entry of any
-- length has `rows` consecutive rows of `sequences` sequences (attn2c_sequences in runtime/base/descriptor.h). In a
-- model that continues, a sequence has `past` keys before the call's first, in the caller's state number `slot`.
--
-- An entry has
--   head     the loop as C; ${name} is a field of the step
--   locals   the symbols that the body's steps may need, in addition to the loop's own: { name, C expression }
--   run      run(step, call, symbols, body): the same loop; sets the symbols of each iteration and calls body(). call:
--            { rows, first = the first row of each sequence, then rows, past = the keys before each, nil: none;
--            source = the keys of each one's source, which a loop has whose step says of_source, and origin = the
--            source's number, nil: each has its own;
--            forgotten(past, keys, window): the keys before the first that a state has, nil: none }
-- Where workers divide a call, a phase's steps are for one `block` of rows, { row, rows }, and one `chunk` that a
-- worker claims. Then an entry that is a scope, not a loop, may have
--   chunks   the number of chunks as C, of the block that is of->block
--   count    count(step, call, symbols): the same number
--
-- Blocks of rows are equal, except that the last has the rest: a block of few rows would read all weights for little
-- work. There are as few of at most `step` rows as there can be. Their size is a multiple of `multiple`, the rows
-- of a row operation's chunk.
local words = require("common.words")

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

-- Returns the rows of a loop's blocks but the last, of `all` rows: attn2c_even in runtime/ops/sequences.h.
local function even(step, all)
  local blocks = (all + step.step - 1) // step.step
  return blocks < 2 and step.step or least(round_up((all + blocks - 1) // blocks, step.multiple), step.step)
end

local function walk_blocks(step, all, symbols, body)
  walk(0, all, even(step, all), function(row, rows)
    symbols.row, symbols.rows, symbols.answer = row, rows, row
    symbols.whole_row, symbols.whole_answer, symbols.all = row, row, rows
  end, body)
end

-- Runs body() for each panel of the keys [from, stop). Only the last panel of the keys seen may be cut.
local function walk_keys(step, from, stop, symbols, body)
  walk(from, stop, step.step, function(key, keys)
    symbols.key, symbols.taken, symbols.padded = key, keys, round_up(keys, step.lanes)
  end, body)
end

-- Returns the keys that sequence i of a call has before the call's first row.
local function past_of(call, i) return call.past and call.past[i] or 0 end

local of_sequence = { { "first", "n->first[sequence]" }, { "slot", "${slot}" },
  { "past", "${past}" }, { "forgotten", "n->forgotten[${of_window}sequence]" },
  { "fresh", "n->first[${next}] - first" }, { "keys", "${keys}" }, { "before", "${before}" } }

-- Sets the symbols of sequence i of a call, or of the sequences from i up to `next`, which are taken as one.
local function set_sequence(step, call, i, symbols, next)
  symbols.sequence, symbols.first, symbols.past = i - 1, call.first[i], past_of(call, i)
  symbols.slot = 0 -- a buffer of a state is that of one sequence
  symbols.fresh = call.first[next or i + 1] - call.first[i]
  symbols.keys = step.of_source and call.source[i] or symbols.past + symbols.fresh
  symbols.forgotten = call.forgotten and call.forgotten(symbols.past, symbols.keys, step.window) or 0
  symbols.before = symbols.past - symbols.forgotten
end

local of_query = { { "heads", "${heads}" }, { "from", "${from}" }, { "width", "${width}" },
  { "columns", "(width + ${lanes} - 1) / ${lanes} * ${lanes}" }, { "lo", "${lo}" }, { "hi", "width" } }

local function set_query(step, symbols)
  symbols.heads, symbols.seen = step.heads, symbols.keys
  symbols.from = step.left < 0 and 0 or most(0, symbols.past - step.left) // step.panel * step.panel
  symbols.width = symbols.keys - symbols.from
  symbols.columns = round_up(symbols.width, step.lanes)
  symbols.lo = step.left < 0 and 0 or symbols.past - symbols.from - step.left
  symbols.hi = symbols.width
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
    head = "for (ptrdiff_t row = 0${size}; row < n->rows; row += ${by}) {",
    locals = { { "rows", "ATTN2C_LEAST(n->rows - row, ${by})" }, { "all", "rows" }, { "whole_row", "row" } },
    run = function(step, call, symbols, body) walk_blocks(step, call.rows, symbols, body) end,
  },
  -- The same from the first row on whose outputs a call asks for; `answer` is the block's first row among these.
  wanted = {
    head = "for (ptrdiff_t row = n->wanted${size}; row < n->rows; row += ${by}) {",
    locals = { { "rows", "ATTN2C_LEAST(n->rows - row, ${by})" }, { "answer", "row - n->wanted" }, { "all", "rows" },
      { "whole_row", "row" }, { "whole_answer", "answer" } },
    run = function(step, call, symbols, body) walk_blocks(step, call.rows, symbols, body) end,
  },
  -- Blocks of the sequences of a call, as rows of what has one row for each.
  pooled = {
    head = "for (ptrdiff_t row = 0${size}; row < n->count; row += ${by}) {",
    locals = { { "rows", "ATTN2C_LEAST(n->count - row, ${by})" }, { "all", "rows" }, { "whole_row", "row" } },
    run = function(step, call, symbols, body) walk_blocks(step, #call.first - 1, symbols, body) end,
  },
  -- The rows of a block that are of one sequence: `piece` rows, `skip` rows into the block, whose first is row
  -- `position` of its sequence. The call has `length` rows of this.
  pieces = {
    head = "for (attn2c_stretch at = attn2c_first_stretch(n, row, rows); at.rows > 0; "
      .. "attn2c_next_stretch(n, row, rows, &at)) {",
    locals = { { "skip", "at.skip" }, { "sequence", "at.sequence" },
      { "piece", "at.rows" }, { "position", "${position}" },
      { "length", "n->first[at.sequence + 1] - n->first[at.sequence]" } },
    run = function(_, call, symbols, body)
      for i = 1, #call.first - 1 do
        local from = most(symbols.row, call.first[i])
        local stop = least(symbols.row + symbols.rows, call.first[i + 1])
        if from < stop then
          symbols.skip, symbols.piece, symbols.sequence = from - symbols.row, stop - from, i - 1
          symbols.position = from - call.first[i] + past_of(call, i)
          symbols.length = call.first[i + 1] - call.first[i]
          body()
        end
      end
    end,
  },
  -- The sequences of a call: number `sequence`, whose rows are `fresh` from row `first` on, and whose keys are `keys`.
  sequences = {
    head = "for (ptrdiff_t sequence = 0; sequence < n->count; sequence++) {",
    locals = of_sequence,
    run = function(step, call, symbols, body)
      for i = 1, #call.first - 1 do
        set_sequence(step, call, i, symbols)
        body()
      end
    end,
  },
  -- The same, but neighbouring sequences with the keys of one source are taken as one: beams read these keys once.
  sources = {
    head = "for (ptrdiff_t sequence = 0, next = attn2c_next_source(n, 0); sequence < n->count; "
      .. "sequence = next, next = attn2c_next_source(n, next)) {",
    locals = of_sequence,
    run = function(step, call, symbols, body)
      local i, count = 1, #call.first - 1
      while i <= count do
        local next = i + 1
        while call.origin and next <= count and call.origin[next] == call.origin[i] do next = next + 1 end
        set_sequence(step, call, i, symbols, next)
        body()
        i = next
      end
    end,
  },
  -- The new rows of a sequence, where they go into the state's pages of keys: `piece` rows, `added` rows after the
  -- sequence's first in the call, go `into` rows into page number `page`; the first is key number `key`.
  pages = {
    head = "for (ptrdiff_t page = past / ${step}; page * ${step} < keys; page++) {",
    locals = { { "key", "ATTN2C_MOST(page * ${step}, past)" },
      { "piece", "ATTN2C_LEAST((page + 1) * ${step}, keys) - key" }, { "added", "key - past" },
      { "into", "key - page * ${step}" } },
    run = function(step, _, symbols, body)
      for page = symbols.past // step.step, (symbols.keys - 1) // step.step do
        local key = most(page * step.step, symbols.past)
        symbols.page, symbols.key, symbols.added = page, key, key - symbols.past
        symbols.into, symbols.piece = key - page * step.step, least((page + 1) * step.step, symbols.keys) - key
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
  -- `columns` the same in whole vectors. Row i of the block sees columns [lo + i, hi + i) of these. `reached` is the
  -- number of distances between a whole block and these keys, in whole vectors.
  queries = {
    head = "for (ptrdiff_t query = 0; query < ${all}; query += ${step}) {",
    locals = { { "queries", "ATTN2C_LEAST(${all} - query, ${step})" }, { "from", "${from}" }, { "seen", "${seen}" },
      { "width", "${width}" }, { "columns", "(width + ${lanes} - 1) / ${lanes} * ${lanes}" },
      { "lo", "${lo}" }, { "hi", "${hi}" },
      { "reached", "(width + ${step} - 1 + ${lanes} - 1) / ${lanes} * ${lanes}" } },
    run = function(step, _, symbols, body)
      walk(0, symbols.fresh, step.step, function(query, queries)
        local position = symbols.past + query
        symbols.query, symbols.queries = query, queries
        symbols.from = step.left < 0 and 0 or most(0, position - step.left) // step.panel * step.panel
        symbols.seen = step.right < 0 and symbols.keys or least(symbols.keys, position + queries + step.right)
        symbols.width = symbols.seen - symbols.from
        symbols.columns = round_up(symbols.width, step.lanes)
        symbols.lo = step.left < 0 and -step.step or position - symbols.from - step.left
        symbols.hi = step.right < 0 and symbols.width or position - symbols.from + step.right + 1
        symbols.reached = round_up(symbols.width + step.step - 1, step.lanes)
      end, body)
    end,
  },
  -- The one query of a sequence that is asked for, which sees all of its keys; a scope.
  asked = {
    head = "{",
    locals = { { "queries", "1" }, { "width", "keys" }, { "columns", "(width + ${lanes} - 1) / ${lanes} * ${lanes}" } },
    run = function(step, _, symbols, body)
      symbols.queries, symbols.from, symbols.seen, symbols.width = 1, 0, symbols.keys, symbols.keys
      symbols.columns = round_up(symbols.keys, step.lanes)
      body()
    end,
  },
  -- The one query of a sequence, which sees the keys [from, keys); a scope, not a loop. `heads` heads are rows of one
  -- product, and each sees its columns [lo, hi). If workers share them (turn), each takes the sequences whose number,
  -- modulo the heads, is its own; and none of a call of one row, whose keys they share (is_apart).
  single = {
    head = "if (${is_due}) {",
    locals = of_query,
    run = function(step, call, symbols, body)
      if symbols.fresh ~= 1 or step.turn and symbols.sequence % step.heads ~= step.turn then return end
      if step.is_apart and call.rows == 1 then return end
      set_query(step, symbols)
      body()
    end,
  },
  -- Queries of a sequence that are more than one; a scope.
  several = {
    head = "if (fresh > 1) {", locals = {},
    run = function(_, _, symbols, body) if symbols.fresh > 1 then body() end end,
  },
  -- The heads of a sequence, or groups of heads that are rows of one product; `group` of them share keys and values.
  heads = {
    head = "for (ptrdiff_t head = 0; head < ${count}; head++) {",
    locals = { { "kv_head", "head / ${group}" } },
    run = function(step, _, symbols, body)
      for head = 0, step.count - 1 do
        symbols.head, symbols.kv_head = head, head // step.group
        body()
      end
    end,
  },
  -- Panels of the keys that a block of queries sees; `taken`: a panel's keys, `padded`: in whole vectors.
  seen = {
    head = "for (ptrdiff_t key = ${start}; key < ${stop}; key += ${step}) {",
    locals = { { "taken", "ATTN2C_LEAST(${stop} - key, ${step})" },
      { "padded", "(ATTN2C_LEAST(${stop} - key, ${step}) + ${lanes} - 1) / ${lanes} * ${lanes}" } },
    run = function(step, _, symbols, body) walk_keys(step, symbols.from, symbols.seen, symbols, body) end,
  },
}

-- A chunk of a call of one row: of keys or values of one group of heads, number `group`. There are `shares` chunks of
-- each group, number `share` of which has the keys [begin, stop), in whole panels.
loops.forms.alone = {
  head = "if (n->rows == 1) {",
  locals = words.append({ { "sequence", "0" } }, of_sequence, of_query, { { "group", "(ptrdiff_t)chunk % ${groups}" },
    { "share", "(ptrdiff_t)chunk / ${groups}" }, { "panels", "(width + ${panel} - 1) / ${panel}" },
    { "begin", "${after}panels * share / ${shares} * ${panel}" },
    { "stop", "ATTN2C_LEAST(${after}panels * (share + 1) / ${shares} * ${panel}, keys)" } }),
  chunks = "(size_t)(n->rows == 1 ? ${all} : 1)",
  count = function(step, call) return call.rows == 1 and step.groups * step.shares or 1 end,
  run = function(step, call, symbols, body)
    if call.rows > 1 then return end
    set_sequence(step, call, 1, symbols)
    set_query(step, symbols)
    symbols.group, symbols.share = symbols.chunk % step.groups, symbols.chunk // step.groups
    local panels = (symbols.width + step.panel - 1) // step.panel
    local function border(share) return symbols.from + panels * share // step.shares * step.panel end
    symbols.begin, symbols.stop = border(symbols.share), least(border(symbols.share + 1), symbols.seen)
    body()
  end,
}

-- Panels of keys of such a chunk.
loops.forms.share = {
  head = "for (ptrdiff_t key = begin; key < stop; key += ${step}) {",
  locals = loops.forms.seen.locals,
  run = function(step, _, symbols, body) walk_keys(step, symbols.begin, symbols.stop, symbols, body) end,
}

-- A block of rows, in a chunk of some panels of a product.
loops.forms.block = {
  head = "{", locals = { { "row", "block.row" }, { "rows", "block.rows" }, { "answer", "block.row - n->wanted" },
    { "all", "rows" }, { "whole_row", "row" }, { "whole_answer", "answer" } },
  run = function(_, _, symbols, body)
    symbols.row, symbols.rows, symbols.answer = symbols.block.row, symbols.block.rows, symbols.block.row
    symbols.whole_row, symbols.whole_answer, symbols.all = symbols.row, symbols.answer, symbols.rows
    body()
  end,
}

-- A chunk of the rows of a block: `piece` rows, `slice` rows into the block.
loops.forms.slices = {
  head = "{", locals = { { "slice", "(ptrdiff_t)chunk * ${piece}" }, { "row", "block.row + slice" },
    { "rows", "ATTN2C_LEAST(block.rows - slice, ${piece})" }, { "answer", "row - n->wanted" }, { "all", "block.rows" },
    { "whole_row", "block.row" }, { "whole_answer", "block.row - n->wanted" } },
  chunks = "(size_t)(of->block.rows + ${piece} - 1) / ${piece}",
  count = function(step, _, symbols) return (symbols.block.rows + step.piece - 1) // step.piece end,
  run = function(step, _, symbols, body)
    symbols.slice = symbols.chunk * step.piece
    symbols.row = symbols.block.row + symbols.slice
    symbols.answer = symbols.row
    symbols.whole_row, symbols.whole_answer = symbols.block.row, symbols.block.row
    symbols.all = symbols.block.rows
    symbols.rows = least(symbols.block.rows - symbols.slice, step.piece)
    body()
  end,
}

-- A chunk is one sequence.
loops.forms.each = {
  head = "{", locals = { { "sequence", "(ptrdiff_t)chunk" }, table.unpack(of_sequence) },
  chunks = "(size_t)n->count",
  count = function(_, call) return #call.first - 1 end,
  run = function(step, call, symbols, body)
    set_sequence(step, call, symbols.chunk + 1, symbols)
    body()
  end,
}

-- Functions by form of a loop: each adds to a step what the texts of the form name, as C.
local texts = {}

-- Returns a sum as C, without a number that is 0.
local function plus(text, number)
  return number == 0 and text or ("%s %s %d"):format(text, number < 0 and "-" or "+", math.abs(number))
end

-- Sets the first key that a mask leaves, the number of keys, and the first column that row 0 of a block sees. The
-- first key is no local where the mask leaves all from 0 on. position: the first query's.
local function set_left(step, position, stop, first_column)
  local left, panel = step.left, step.panel
  if left < 0 then
    step.width, step.lo, step.after = stop, first_column, ""
    return
  end
  step.from = ("ATTN2C_MOST(%s, 0) / %d * %d"):format(plus(position, -left), panel, panel)
  step.width, step.lo, step.after = stop .. " - from", plus(position .. " - from", -left), "from + "
end

-- The borders of the mask.
function texts.queries(step)
  local right = step.right
  local position = step.continues and "past + query" or "query"
  step.all = step.continues and "fresh" or "keys"
  set_left(step, position, right < 0 and "keys" or "seen", tostring(-step.step))
  step.seen = right >= 0 and ("ATTN2C_LEAST(%s, keys)"):format(plus(position .. " + queries", right)) or nil
  step.hi = right < 0 and "width" or plus(position .. (step.left < 0 and "" or " - from"), right + 1)
end

-- The size of blocks. A loop that runs once has one of constant size.
local function add_blocks(all)
  return function(step)
    local is_one = step.count == 1
    step.by = is_one and step.step or "step"
    step.size = is_one and "" or (", step = attn2c_even(%s, %d, %d)"):format(all, step.step, step.multiple)
  end
end

texts.rows, texts.pooled = add_blocks("n->rows"), add_blocks("n->count")
texts.wanted = add_blocks("n->rows - n->wanted")

-- The borders of the mask of a sequence's one query, which sees all keys or its last ones.
local function add_query(step) set_left(step, "past", "keys", "0") end

-- Panels begin where the mask does, and end at its end or at the last key (left, right: -1).
function texts.seen(step)
  step.start, step.stop = step.left < 0 and "0" or "from", step.right < 0 and "keys" or "seen"
end

function texts.share(step) step.stop = "keys" end

function texts.sequences(step)
  step.keys = step.of_source and "n->source[sequence]" or step.continues and "past + fresh"
    or "n->first[sequence + 1] - first"
  step.slot = step.of_source and "n->origin[sequence]" or "n->slot[sequence]"
  step.next = "sequence + 1"
  step.past = step.continues and "n->past[sequence]" or "0"
  step.before = step.window and "past - forgotten" or "past"
  step.of_window = (step.window or 0) > 0 and ("%d * n->count + "):format(step.window) or ""
end

texts.each = texts.sequences

function texts.sources(step)
  texts.sequences(step)
  step.next = "next"
end

function texts.alone(step)
  texts.sequences(step)
  add_query(step)
  step.all = ("%d"):format(step.groups * step.shares)
end

function texts.single(step)
  add_query(step)
  step.is_due = "fresh == 1" .. (step.is_apart and " && n->rows > 1" or "")
    .. (step.turn and (" && sequence %% %d == %d"):format(step.heads, step.turn) or "")
end

function texts.pieces(step) step.position = step.continues and "at.position + n->past[at.sequence]" or "at.position" end

--- Returns a step that begins a loop. fields: those that the form's texts name, and count, how often it runs at most;
--- for a loop over queries also left and right, the keys before and after a query that it sees, and panel. continues:
--- whether sequences have keys of earlier calls.
function loops.begin(form, fields, continues)
  local step = words.merged({ continues = continues or nil }, fields, { form = "begin", loop = form })
  if texts[form] then texts[form](step) end
  return step
end

-- Members of a step that say where it is from.
local of_origin = words.set { "op", "unit", "block", "task" }

--- Returns what a loop's step says as text, but for where it is from. Nobody changes the step afterwards.
function loops.text(step)
  step.as_text = step.as_text or { words.plain_members(step, of_origin) } -- a table, which is no plain member
  return step.as_text[1]
end

-- Adds the words of a C text to a set, but not the members of structures: block.row is no use of `row`.
local function add_words(set, text)
  for word in text:gsub("%.[%a_][%w_]*", ""):gmatch("[%a_][%w_]*") do set[word] = true end
end

--- Returns the locals of a loop that its body needs, as { name, C expression }. used: a set of words of the body.
function loops.locals(step, used, fill)
  local list = {}
  local all = loops.forms[step.loop].locals
  for i = #all, 1, -1 do
    local name = all[i][1]
    if used[name] then
      local text = fill(all[i][2], step)
      table.insert(list, 1, { name, text })
      add_words(used, text)
    end
  end
  return list
end

return loops
