-- ahead.lua: decides what a product prefetches while it works: a later panel of weights, or its own; and later keys or
-- values of a sequence's state.
-- Tiles multiply so fast that one stretch of weights after the other comes too slowly. Their strips read a panel at
-- several places at a time: twice the bytes a second of one place, measured on a Xeon with AMX.
local forms = require("kernels.forms")
local scaled = require("kernels.scaled")
local strip = require("kernels.strip")
local types = require("data.types")
local words = require("common.words")

local ahead = {}

-- The most places at which tiles prefetch in a step.
local PLACES = 16

-- Bytes of a page, at whose border the hardware's own prefetching ends.
local PAGE = 4096

-- Bytes from the lines that a single strip prefetches to those further ahead: those come from memory, the near ones
-- begin the next page.
local FAR = 5120

--- The bytes `stream` with which a product prefetches into the first-level cache, if each step of its strips does. A
--- Zen 5 then takes 0.83 to 0.95 of the time with 4 to 14 rows of bf16 or int8; a Zen 4 waits for such lines. The next
--- panel comes there, too: 16 rows take up to 1.08 times as long if only some calls of a strip do so.
ahead.FIRST_LEVEL = 10240

-- True if a product prefetches into the first-level cache.
local function is_first_level(shape, form, stream)
  return stream == ahead.FIRST_LEVEL and not forms.all[form].paced and not types.all[shape.types.a].block
end

-- Returns the most rows of a single strip that prefetches one line of each pair; 0: there are none.
local function few_rows(shape)
  local type, width = types.all[shape.types.a], types.bytes(shape.lda, "f32")
  if width <= types.LINE then return 0 end
  return width == 2 * types.LINE and type.few_rows_of_pairs or type.few_rows or 0
end

-- The least rows of a single strip that prefetches weights in scale blocks, if `stream_rows` is more. A Zen 5 takes up
-- to 1.9 times as long with three rows that prefetch nothing, 1.4 times with two.
local BLOCK_ROWS = 2

-- Returns the least rows of a single strip that prefetches weights of a type.
local function least_rows(type, stream_rows)
  return types.all[type].block and math.min(stream_rows, BLOCK_ROWS) or stream_rows
end

-- Returns how the strips of a product in tiles prefetch, as below.
local function in_tiles(shape, strips, calls, from)
  local panel = types.panel_bytes(shape.k, shape.lda, shape.types.a) // types.LINE
  local steps = math.max(1, shape.k // strips.step)
  local asked = (panel + calls * steps - 1) // (calls * steps)
  local places = math.min(asked, PLACES)
  local run, apart = (asked + places - 1) // places, (panel + places - 1) // places
  return { from = from, each = steps * run * types.LINE, every = strips.step, lines = places, run = run,
    apart = apart * types.LINE }
end

--- Returns how a product of few queries prefetches keys or values, which are read once: { near: groups of inputs from
--- those in use to those prefetched }, or nil. type: of keys or values; outputs: those that are read together; bytes:
--- from those in use to those prefetched.
function ahead.near(type, outputs, bytes)
  if bytes == 0 then return nil end
  return { near = math.max(1, bytes // types.bytes(outputs * types.group(type), type)) }
end

-- Returns how strips prefetch that are not paced (kernels/forms.lua): whole lines, as a step reads them, at the inputs
-- where their share needs them. of: the fields of all types.
local function in_lines(shape, widest, calls, share, lanes, of)
  local type = shape.types.a
  local inputs = types.group(type)
  local steps = (shape.k + inputs - 1) // inputs
  local wide = types.bytes((calls == 1 and shape.lda or widest * lanes) * inputs, type)
  local lines = math.max(1, wide // types.LINE)
  if lines % of.nth > 0 then lines = of.nth * lines end -- whole pairs of lines
  local every = math.max(1, math.min(steps, steps * lines // share))
  local times = (math.max(1, shape.k // inputs) + every - 1) // every -- a last step that is not whole prefetches none
  of.every, of.lines, of.pace = every * inputs, (share + times - 1) // times, every * inputs
  return of
end

-- Returns how paced strips prefetch: after every few steps, one for each copy of the code, the next lines of their
-- share. In a loop of the steps that whole lines need, the processor did not foresee each end, and took 1.05 times as
-- long. With vpdpbusd, requests as often as this took 1.3 times as long. Lines may be asked for twice.
local function in_steps(shape, of)
  local type = shape.types.a
  local every = strip.EVERY * types.group(type)
  local asks = shape.k // every
  if asks == 0 then return false end
  local bytes = words.round_up((of.each + asks - 1) // asks, types.bytes(1, "f32"))
  of.every, of.pace, of.lines = every, types.elements(bytes, type), (bytes + types.LINE - 1) // types.LINE
  return of
end

-- Returns how strips of weights in scale blocks prefetch: whole pairs of blocks. Of N strips, each prefetches one pair
-- while it takes N. A strip makes a request for each line of each pair, which then are less than a line apart. The
-- units of a panel of one pair may be more lines than that: a single strip then prefetches none.
local function in_pairs(shape, calls, from)
  local inputs, lines = types.group(shape.types.a), types.pair_lines(shape.lda, shape.types.a)
  local pairs_of_panel = (shape.k + inputs - 1) // inputs
  local every = math.min(pairs_of_panel, calls)
  local each = (pairs_of_panel + every - 1) // every * lines * types.LINE
  if each * calls < types.panel_bytes(shape.panel_inputs or shape.k, shape.lda, shape.types.a) then return false end
  local requests = pairs_of_panel * lines
  return { from = from, each = each, every = every * inputs, pace = (each + requests - 1) // requests, lines = lines,
    nth = 1 }
end

--- Returns how a product prefetches weights while it works, or false: { from, each: bytes after A where the first
--- strip begins to prefetch, and from strip to strip; every, lines: `lines` cache lines every `every` inputs; pace:
--- what the code is told: in paced forms the elements from one request to the next, in scale blocks the bytes, else
--- `every`; far: bytes from these lines to further ones, -1 if these come into the first-level cache, or nil; nth:
--- every nth line is prefetched }. Its strips together prefetch a panel, the `fetch`-th after this one, and so does a
--- joint strip, which reads two places. Another single strip reads the weights once, and prefetches `stream` bytes
--- ahead of itself: of few rows, one line of each pair; of more, all lines, and, if `stream` is less than a page, those
--- further ahead too.
--- Other weights go into the second-level cache: a panel is mostly larger than the first.
--- In tiles, one strip prefetches as several do. A step prefetches `run` lines at each of `lines` places that are
--- `apart` bytes apart, and the next step those after them.
--- shape: lda, k, types, panel_inputs: the inputs of a panel, where they are more than k;
--- strips: of registers.strips; lanes: floats of a vector; stream_rows: the least rows of a
--- single strip that prefetches, nil: 1
function ahead.of(shape, strips, parameters, lanes, stream_rows)
  shape, strips = scaled.each_panel(shape, strips)
  local calls, groups, widest, rows = 0, 0, 0, 0
  for _, group in ipairs(strips.groups) do groups, widest = groups + group.count, math.max(widest, group.size) end
  for _, each in ipairs(strips.strips) do calls, rows = calls + each.count * groups, rows + each.count * each.size end
  local type = shape.types.a
  local panel = types.panel_bytes(shape.panel_inputs or shape.k, shape.lda, type)
  local is_next = calls > 1 or strips.step or strips.joint
  local from = is_next and parameters.fetch * panel or parameters.stream
  if from == 0 then return false end
  if strips.step then return in_tiles(shape, strips, calls, from) end
  if calls == 1 and rows < least_rows(type, stream_rows or 1) then return false end
  if types.all[type].block then return in_pairs(shape, calls, from) end
  local share = (panel // types.LINE + calls - 1) // calls
  local is_first = is_first_level(shape, strips.form, parameters.stream)
  local is_few = calls == 1 and not is_first and rows <= few_rows(shape)
  local of = { from = from, each = share * types.LINE, nth = is_few and 2 or 1,
    far = is_first and -1 or calls == 1 and not is_few and from < PAGE and FAR or nil }
  if forms.all[strips.form].paced then return in_steps(shape, of) end
  return in_lines(shape, widest, calls, share, lanes, of)
end

-- Returns the rows of one of several strips of an open product, at most.
local function usual_rows(strips) return strips.usual or strips.strips[1].size end

--- Returns how the strips of an open product prefetch, or nil: { by_strips: for each number of strips as a product of
--- their rows does; few: the same for a single strip of at most few_rows rows, or nil; tall: by_strips of tall
--- strips, or nil; lines: at most; least: strips of fewer rows prefetch nothing }. product: { n: its most rows, the
--- rest as for ahead.of }; stream_rows: `least`, except in tiles.
function ahead.by_strips(product, parameters, lanes, stream_rows)
  local strips, lines = product.strips, 0
  local least = strips.step and 1 or least_rows(product.types.a, stream_rows)
  local rows = math.min(product.n, strips.many_rows or product.n) -- from there on, one panel after the other
  local function of(count, size, of_strips)
    local each = ahead.of(product, { groups = of_strips.groups, strips = { { count = count, size = size } },
      form = of_strips.form, step = strips.step, joint = of_strips.joint }, parameters, lanes)
    lines = math.max(lines, each and each.lines or 0)
    return each
  end
  local function list_of(of_strips, all)
    local list, size = {}, usual_rows(of_strips)
    for i = 1, (all + size - 1) // size do list[i] = of(i, size, of_strips) end
    return list
  end
  local most, list, tall = usual_rows(strips), list_of(strips, rows), strips.tall
  if lines == 0 or least > most then return nil end
  local of_tall = tall and list_of(tall, tall.upto or rows) or {}
  local few_most = math.min(most, few_rows(product))
  local few = few_most > 0 and of(1, few_most, strips)
  if few and few.nth == list[1].nth then few = nil end
  return { by_strips = list, few = few or nil, few_rows = few and few_most or nil,
    tall = of_tall[1] and of_tall or nil, lines = lines, least = least }
end

--- Returns what the strips of an open product prefetch in a call of some rows: one of the entries above, or false.
function ahead.of_rows(product, rows)
  local fetch, strips, tall = product.fetch, product.strips, product.strips.tall
  local list = fetch.by_strips
  if rows < fetch.least then return false end
  if rows <= (fetch.few_rows or 0) then return fetch.few end
  if tall and rows > tall.above and rows <= (tall.upto or rows) then strips, list = tall, fetch.tall or {} end
  local count = rows <= strips.strips[1].size and 1 or (rows + usual_rows(strips) - 1) // usual_rows(strips)
  return list[count] or false
end

return ahead
