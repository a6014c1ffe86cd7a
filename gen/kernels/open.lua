-- open.lua: writes the body of a product C[n][m] = B[n][k] A[k][m] of which a call knows n, and perhaps m or k.
-- The rows are divided evenly into strips of at most the rows that registers hold, so no strip has only a few rows of
-- many. A function chooses the code for a strip's number of rows. Open outputs are whole vectors: groups of the most,
-- then at most one of each further size.
local forms = require("kernels.forms")
local lines_of_c = require("kernels.lines")
local operands = require("data.operands")
local tiles = require("kernels.tiles")
local types = require("data.types")
local words = require("common.words")

local open = {}

local append, in_block = lines_of_c.append, lines_of_c.block

local function in_blocks(kernel) return forms.all[kernel.strips.form].in_blocks end

-- Returns the bytes from step to step of what a strip prefetches: its share of a panel, in whole floats.
local function step_of(kernel, fetch)
  local steps = math.max(1, kernel.k // types.group(kernel.types.a))
  return words.round_up((fetch.each + steps - 1) // steps, types.bytes(1, "f32"))
end

-- Returns the cache lines that a step prefetches at most.
local function lines_of(kernel)
  local most = 0
  for _, fetch in ipairs(kernel.fetch.by_strips) do
    if fetch then most = math.max(most, step_of(kernel, fetch)) end
  end
  return (most + types.LINE - 1) // types.LINE
end

-- Returns a table of what strips prefetch, by number of strips, after the entry for few rows, if there is one; and the
-- line that chooses from it. Its last entry is for all further numbers. text(fetch): an entry.
local function chosen(kernel, type, text)
  local fetch, entries = kernel.fetch, {}
  if fetch.few then entries[1] = text(fetch.few) end
  for _, each in ipairs(fetch.by_strips) do entries[#entries + 1] = text(each) end
  local least = fetch.few and 2 or 1
  while #entries > least and entries[#entries] == entries[#entries - 1] do entries[#entries] = nil end
  local last, few = #entries - 1, fetch.few and ("n <= %d ? 0 : "):format(fetch.few_rows) or ""
  return {
    ("static const %s by_strips[%d] = { %s };"):format(type, #entries, table.concat(entries, ", ")),
    ("const %s ahead = by_strips[%sstrips < %d ? strips%s : %d];"):format(type, few, fetch.few and last or last + 1,
      fetch.few and "" or " - 1", last),
  }
end

-- Returns the table of what the steps of strips prefetch, by number of strips, and the lines that choose from it.
local function stream_of(kernel)
  return chosen(kernel, "attn2c_stream", function(fetch)
    return fetch and ("{ %d, %d, %d, %d, %d }"):format(fetch.from, fetch.each, step_of(kernel, fetch), fetch.far or 0,
      fetch.nth) or "{ 0, 0, 0, 0, 1 }"
  end)
end

local function is_paced(kernel) return forms.all[kernel.strips.form].paced or false end

-- True if each step of a product's strips prefetches some.
local function streams(kernel) return not is_paced(kernel) and not in_blocks(kernel) end

-- Returns the same for paced forms, and for weights in scale blocks, in elements and inputs.
local function ahead_of(kernel)
  if streams(kernel) then return stream_of(kernel) end
  local type = kernel.types.a
  return chosen(kernel, "attn2c_ahead", function(fetch)
    return fetch and ("{ %d, %d, %d, %d, %d, %d }"):format(types.elements(fetch.from, type),
      types.elements(fetch.each, type), fetch.pace, fetch.lines,
      is_paced(kernel) and types.elements(fetch.far or 0, type) or 0, fetch.nth)
      or ("{ 0, 0, %d, 1, 0, 1 }"):format(in_blocks(kernel) and 0 or kernel.k)
  end)
end

--- True if strips of some rows prefetch.
function open.prefetches(kernel, rows) return kernel.fetch and rows.size >= (kernel.fetch.least or 1) or false end

-- Returns the call of a strip, or of a choice among strips. choice: { name, asks: its parameters for prefetching };
-- group: { offset: C text of the outputs before it, lanes of its last vector }; number: C text of the strip's number
-- among all.
local function call_of(kernel, choice, adds, a, b, group, number, after)
  local k, list = operands.named(kernel), kernel.strips.strips
  local inputs, more = types.apart(kernel.k, kernel.types.a), after or {}
  local function at(pointer, terms)
    for _, term in ipairs(terms) do if term ~= "0" then pointer = pointer .. " + " .. term end end
    return pointer
  end
  local of_a = group.offset == "0" and "0" or inputs == 1 and group.offset or ("%d * (%s)"):format(inputs, group.offset)
  local of_c = at(more.c or "c", { more.one_strip and "0" or ("row * %d"):format(kernel.ldc), group.offset })
  local size = k.k == "k" and "(int)k" or tostring(kernel.k)
  local of_bytes, fetch = streams(kernel), ""
  local values = { near = kernel.fetch and kernel.fetch.near, lines = of_bytes
    and kernel.fetch and kernel.fetch.by_strips and lines_of(kernel) or nil, ahead = (of_bytes
    and "(const char *)(%s) + ahead.from + %s * (size_t)ahead.each" or "%s + ahead.from + %s * ahead.each"):format(a,
      number) }
  for _, ask in ipairs(choice.asks) do fetch = fetch .. ", " .. (values[ask[2]] or "ahead." .. ask[2]) end
  return {
    ("%s(%s, %s, %s, %s,"):format(choice.name, #list > 1 and "rows" or list[1].size, at(kernel.split or a, { of_a }),
      at(b, { ("row * %d"):format(kernel.ldb) }), of_c),
    ("  %s, %d, %d, %d, %s, %s, %d%s);"):format(size, kernel.lda, kernel.ldb, kernel.ldc, adds,
      kernel.a_room and "ATTN2C_LANES" or group.lanes, group.lanes, fetch),
  }
end

-- Returns the calls of the strips of a strip's rows whose outputs are known.
local function of_known_outputs(kernel, groups, choice, adds, a, b, lanes, after)
  local lines, done, each_row = {}, 0, 0
  for _, group in ipairs(groups) do each_row = each_row + group.count end
  for _, group in ipairs(groups) do
    local function call(offset, number)
      return call_of(kernel, choice(group), adds, a, b, { offset = offset, lanes = group.lanes }, number, after)
    end
    local first = group.first == 0 and "" or group.first * lanes .. " + "
    if group.count == 1 then
      append(lines, call(tostring(group.first * lanes),
        each_row == 1 and "i" or ("(i * %d + %d)"):format(each_row, done)))
    else
      append(lines, in_block(("for (size_t j = 0; j < %d; j++)"):format(group.count),
        call(("%sj * %d"):format(first, group.size * lanes),
          ("(i * %d + %sj)"):format(each_row, done == 0 and "" or done .. " + "))))
    end
    done = done + group.count
  end
  return lines
end

-- Returns the calls of the strips of a strip's rows whose outputs, whole vectors, are open.
local function of_open_outputs(kernel, choice, adds, a, b, lanes)
  local widest = kernel.strips.groups[1].size
  local function call(size, offset)
    return call_of(kernel, choice { size = size }, adds, a, b, { offset = offset, lanes = lanes }, "0")
  end
  local lines = in_block(("for (size_t j = 0; j < vectors / %d; j++)"):format(widest),
    call(widest, ("j * %d"):format(widest * lanes)))
  for i = 2, #kernel.strips.groups do
    local size = kernel.strips.groups[i].size
    append(lines, in_block(("if (rest & %d)"):format(size),
      call(size, ("(vectors - rest %% %d) * %d"):format(2 * size, lanes))))
  end
  return lines
end

-- Returns the same table for strips in tiles, in bytes.
local function tiles_ahead_of(kernel)
  return chosen(kernel, "attn2c_tiles_ahead", function(fetch)
    return fetch and ("{ %d, %d, %d, %d }"):format(fetch.from, fetch.apart, fetch.lines, fetch.run) or "{ 0 }"
  end)
end

-- Returns the kinds of groups of vectors of a product in tiles, with C text for what only a call knows: { size, lanes,
-- first: the outputs before it, count: of groups, done: the groups of other kinds before it }.
local function groups_in_tiles(kernel, groups, lanes)
  local list, done = {}, 0
  if operands.named(kernel).m == "m" then
    for i, group in ipairs(kernel.strips.groups) do
      list[i] = { size = group.size, lanes = lanes, first = i == 1 and "0" or ("(vectors - 1) * %d"):format(lanes),
        count = i == 1 and ("vectors / %d"):format(group.size) or "vectors % 2", done = 0 }
    end
    return list
  end
  for i, group in ipairs(groups) do
    list[i] = { size = group.size, lanes = group.lanes, first = tostring(group.first * lanes),
      count = tostring(group.count), done = done }
    done = done + group.count
  end
  return list
end

-- Returns a pointer plus terms, without those that are 0: numbers, C text, or { symbol, step, count } of a loop, which
-- has no symbol if its count is "1".
local function plus(pointer, ...)
  for _, term in ipairs { ... } do
    if type(term) == "table" then term = term[3] ~= "1" and ("%s * %d"):format(term[1], term[2]) or "0" end
    if tostring(term) ~= "0" then pointer = ("%s + %s"):format(pointer, term) end
  end
  return pointer
end

-- Returns lines in a loop over `symbol`, from 0 to before `count`, as C; without the loop if that is "1".
local function over(symbol, count, lines)
  return count == "1" and lines
    or in_block(("for (size_t %s = 0; %s < %s; %s++)"):format(symbol, symbol, count, symbol), lines)
end

-- Returns the call of strips of a K block, in tiles, from strip `i`, K block `block` and group j of its kind on. strip:
-- { rows: as in kernel.strips, count: C text of the rows }; at: { group: of groups_in_tiles, block: of tiles.blocks,
-- before: C text of the steps of this group that came before this block, each: the strips in a block }.
local function call_in_tiles(kernel, strip, at, lanes, adds, a, b, strip_name)
  local high, inputs = kernel.strips.strips[1].size, types.group(kernel.types.a)
  local group, block, step = at.group, at.block, kernel.strips.step
  local is_open = operands.named(kernel).k == "k"
  local function over_blocks(each) return { "block", each, tostring(block.count) } end
  local function over_groups(each) return { "j", each, group.count } end
  local first = tonumber(group.first) and group.first * inputs or ("%d * (%s)"):format(inputs, group.first)
  local ahead = kernel.fetch and (", (const char *)(%s) + ahead.from + (%s * strips "
    .. "* %d + %s) * run, ahead.apart, ahead.lines, ahead.run"):format(a,
      group.count == "1" and group.done or ("(%d + j)"):format(group.done), kernel.k // step, at.before) or ""
  return {
    ("%s(%s,"):format(strip_name(strip.rows, group, not is_open and block.inputs % step == 0),
      plus(a, first, block.first * kernel.lda, over_blocks(block.inputs * kernel.lda),
        over_groups(group.size * lanes * inputs))),
    ("  %s, %s,"):format(plus(b, { "i", high * kernel.ldb }, block.first, over_blocks(block.inputs)),
      plus("c", { "i", high * kernel.ldc }, group.first, over_groups(group.size * lanes))),
    ("  %s, %d, %d, %d, %s, %d%s, %s);"):format(is_open and "(int)k" or block.inputs, kernel.lda, kernel.ldb,
      kernel.ldc, block.first > 0 and "2" or block.count > 1 and ("block ? 2 : %s"):format(adds) or adds, group.lanes,
      ahead, strip.count) }
end

--- Returns the body of a product in tiles, whose rows are open, and perhaps its outputs or inputs: strips of two tiles
--- of rows, K block by K block, then one for the rest, for which tiles are configured again. Parameters as below.
function open.body_in_tiles(kernel, lanes, adds, a, b, strip_name, groups)
  local two, one = kernel.strips.strips[1], kernel.strips.strips[2]
  local high, step = two.size, kernel.strips.step
  local lines = { ("const size_t whole = n / %d, rest = n %% %d%s;"):format(high, high,
    operands.named(kernel).m == "m" and (", vectors = m / %d"):format(lanes) or "") }
  if kernel.fetch then
    append(lines, { "const size_t strips = whole + (rest > 0);" })
    append(lines, tiles_ahead_of(kernel))
    append(lines, { "const size_t run = 64 * (size_t)ahead.run;" })
  end
  for _, group in ipairs(groups_in_tiles(kernel, groups, lanes)) do
    local outputs = (group.size - 1) * lanes + group.lanes
    local some = tonumber(group.count) and "" or (" && %s > 0"):format(group.count)
    local function call(rows, count, block, before)
      return call_in_tiles(kernel, { rows = rows, count = count }, { group = group, block = block, before = before },
        lanes, adds, a, b, strip_name)
    end
    local of_whole = { tiles.configure(high, outputs, step, kernel.types.a) }
    for _, block in ipairs(tiles.blocks(kernel.k, kernel.strips.block, step)) do
      local before = ("%d * whole + (%s) * %d"):format(block.first // step,
        block.count == 1 and "i" or "block * whole + i", block.inputs // step)
      append(of_whole, over("block", tostring(block.count),
        over("i", "whole", over("j", group.count, call(two, tostring(high), block, before)))))
    end
    local all, before = { first = 0, inputs = kernel.k, count = 1 }, ("whole * %d"):format(kernel.k // step)
    local of_rest = { "const size_t i = whole;", tiles.configure("(int)rest", outputs, step, kernel.types.a) }
    append(of_rest, over("j", group.count, in_block(("if (rest > %d)"):format(tiles.SIDE),
      call(two, "(int)rest", all, before), call(one, "(int)rest", all, before))))
    append(lines, in_block(("if (whole > 0%s)"):format(some), of_whole))
    append(lines, in_block(("if (rest > 0%s)"):format(some), of_rest))
  end
  return lines
end

-- Returns a kernel with the tall strips of another, and what they prefetch.
local function of_tall_strips(kernel)
  local fetch = kernel.fetch and kernel.fetch.tall
  return setmetatable({ strips = kernel.strips.tall,
    fetch = fetch and { by_strips = fetch, least = kernel.fetch.least } or false }, { __index = kernel })
end

--- Returns the kernels of the strips of a kernel: itself, and one with its tall strips if it has some.
function open.kernels(kernel) return { kernel, kernel.strips.tall and of_tall_strips(kernel) } end

--- Returns the lines of a product with tall strips, by the bodies of open.kernels.
function open.either(kernel, body, of_tall)
  local tall = kernel.strips.tall
  local upto = tall.upto and (" && n <= %d"):format(tall.upto) or ""
  return in_block(("if (n > %d%s)"):format(tall.above, upto), of_tall, body)
end

--- Returns the body as lines of C; parameters as for product.body, and choice(group): the function of a group's strips,
--- { name, asks }; groups: of the outputs, if they are known; after: product.body's after_strip. The body's symbols
--- are strips, row, i, j and rows; vectors and rest, if outputs are open.
function open.body(kernel, lanes, adds, a, b, choice, groups, after)
  local k, most = operands.named(kernel), kernel.strips.strips[1].size
  local usual = kernel.strips.usual or most
  local lines = { ("const size_t strips = %s(n + %d) / %d;"):format(
    usual < most and ("n <= %d ? (n > 0) : "):format(most) or "", usual - 1, usual) }
  if k.m == "m" then
    local widest = kernel.strips.groups[1].size
    lines[#lines + 1] = ("const size_t vectors = m / %d%s;"):format(lanes,
      widest > 1 and ", rest = vectors % " .. widest or "")
  end
  if kernel.fetch and kernel.fetch.by_strips then append(lines, ahead_of(kernel)) end
  local more = after or {}
  local of_strip = { "rows = n / strips + (i < n % strips);" }
  if more.line then append(of_strip, more.before("row", "rows")) end
  append(of_strip, k.m == "m" and of_open_outputs(kernel, choice, adds, a, b, lanes)
    or of_known_outputs(kernel, groups, choice, adds, a, b, lanes, after))
  if more.line then of_strip[#of_strip + 1] = more.line("row", "rows") end
  return append(lines, in_block("for (size_t i = 0, row = 0, rows; i < strips; i++, row += rows)", of_strip))
end

return open
