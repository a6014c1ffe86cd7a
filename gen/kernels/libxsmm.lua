-- libxsmm.lua: writes the body of a product that calls kernels which libxsmm makes when a model is opened.
-- It takes the strips of rows, panels and prefetches that the plan has decided for the body in C. libxsmm is
-- column-major: its m are our outputs, its n a strip's rows, A a panel.
local lines_of_c = require("kernels.lines")
local product = require("kernels.product")
local types = require("data.types")
local words = require("common.words")

local libxsmm = {}

-- Lines that a call prefetches: few enough for a core's fill buffers (10 to 16) to hold while the kernel works; and the
-- least inputs of a call, as a call loads and stores its sums.
local LINES, LEAST_INPUTS = 16, 24

-- Inputs ahead of those in use whose weights are prefetched, if strips take turns; else the next panel's are.
local AHEAD_INPUTS = 384

-- Bytes of a first-level cache: panels larger than this come from further away for each strip.
local NEAR_BYTES = 32768

--- True if libxsmm 1.17 has kernels for a target's products of a type.
function libxsmm.multiplies(type, target)
  local form = types.all[type].libxsmm
  return target.has_libxsmm and (form == true or form ~= nil and target[types.all[type].word] == form) or false
end

--- True if libxsmm has a kernel for a product that is not slow. Sizes that only a call knows are for C.
function libxsmm.fits(kernel, target)
  local a, b = kernel.types.a, kernel.types.b
  return not kernel.open and a == b and libxsmm.multiplies(a, target) and kernel.k % types.group(a) == 0
    and kernel.m >= (target.libxsmm_outputs or 1)
end

-- Returns `k` inputs as blocks of about `wanted`: { size, count, tail }. A divisor near it avoids a tail of its own.
local function blocks_near(k, wanted, group)
  if k <= 2 * wanted then return { size = k, count = 1, tail = 0 } end
  local best
  for size = wanted // 2 // group * group, wanted * 3 // 2, group do
    if size > 0 and k % size == 0 and (not best or math.abs(size - wanted) < math.abs(best - wanted)) then
      best = size
    end
  end
  best = best or wanted // group * group
  return { size = best, count = k // best, tail = k % best }
end

--- Returns the blocks of inputs of a product of several strips, of which each prefetches `share` bytes, or nil.
function libxsmm.blocks_of(k, share, type)
  local wanted = share and math.max(LEAST_INPUTS, k * LINES * types.LINE // share) or k
  return blocks_near(k, wanted, types.group(type))
end

-- Returns how many of the blocks each strip passes over before the next strip's turn: about the number of
-- strips, so that few strips find a block in the first-level cache; a divisor of the blocks' number.
local function near(blocks, strips)
  for number = math.min(strips, blocks.count), 1, -1 do if blocks.count % number == 0 then return number end end
end

--- Returns the calls of a product: { rows: the strips of rows, as shares; blocks: of inputs; near: how many of them a
--- strip passes over before the next strip's turn; number: of strips; ahead: { from, lines }: bytes after A where the
--- first call begins to prefetch, and lines of each call, or nil; strips = for each share of rows { first, next, tail
--- }, the kernels of its first block, of the others, and of the inputs after them }.
--- of_weights: A is weights, of which large panels are prefetched even if those in C are not
--- is_fused: something follows each of the plan's strips; else all rows are one if nothing is prefetched
function libxsmm.calls(kernel, of_weights, is_fused)
  local number, strips, ahead, shares = 0, {}, nil, kernel.strips.strips
  for _, rows in ipairs(shares) do number = number + rows.count end
  local panel = types.panel_bytes(kernel.k, kernel.lda, kernel.types.a)
  local prefetches = number > 1 and (kernel.fetch or of_weights and panel > NEAR_BYTES)
  if not prefetches and not is_fused then number, shares = 1, { { count = 1, size = kernel.n } } end
  local blocks = libxsmm.blocks_of(kernel.k, prefetches and panel // number, kernel.types.a)
  local turn = near(blocks, number)
  if prefetches then
    local calls = number * (blocks.count + (blocks.tail > 0 and 1 or 0))
    local inputs = turn == blocks.count and kernel.k or math.max(AHEAD_INPUTS, turn * blocks.size)
    ahead = { from = math.min(panel, types.panel_bytes(inputs, kernel.lda, kernel.types.a)),
      lines = (panel // types.LINE + calls - 1) // calls }
  end
  for i, rows in ipairs(shares) do
    local function shape(k, beta) return setmetatable({ n = rows.size, k = k, beta = beta }, { __index = kernel }) end
    strips[i] = { first = shape(blocks.size, kernel.beta), next = blocks.count > 1 and shape(blocks.size, 1) or nil,
      tail = blocks.tail > 0 and shape(blocks.tail, 1) or nil }
  end
  return { rows = shares, blocks = blocks, near = turn, ahead = ahead, strips = strips, number = number }
end

function libxsmm.text(calls)
  local blocks, ahead = calls.blocks, calls.ahead
  return ("libxsmm's kernels of %s by %s%d%s inputs%s%s"):format(words.shares(calls.rows, " + ") .. " rows",
    blocks.count > 1 and blocks.count .. " x " or "",
    blocks.size, blocks.tail > 0 and " + " .. blocks.tail or "",
    calls.near < blocks.count and (", %d inputs of all rows at a time"):format(calls.near * blocks.size) or "",
    ahead and (", each after %d lines from %d bytes ahead"):format(ahead.lines, ahead.from) or "")
end

--- Returns the condition that all kernels of a product were made.
function libxsmm.condition(calls)
  local list, seen = {}, {}
  for _, strip in ipairs(calls.strips) do
    for _, shape in ipairs { strip.first, strip.next or strip.first, strip.tail or strip.first } do
      if not seen[shape.index] then list[#list + 1] = ("kernels[%d]"):format(shape.index) end
      seen[shape.index] = true
    end
  end
  return table.concat(list, " && ")
end

--- Returns the body as lines of C. calls: of libxsmm.calls, each shape with its index in the table `kernels`;
--- after_strip: as for product.body. A strip makes all of its calls before something that follows it.
function libxsmm.body(kernel, calls, after_strip)
  local more, blocks, size, ahead = after_strip or {}, calls.blocks, calls.blocks.size, calls.ahead
  local whole = more.line or calls.near == blocks.count
  local together, type = whole and blocks.count or calls.near, kernel.types.a
  local turn = together + (whole and blocks.tail > 0 and 1 or 0)
  local function elements(lines) return types.elements(lines * types.LINE, type) end

  -- Returns the lines of a call on strips of rows, of which `done` come before. k: the block, or nil in a loop;
  -- in_a_turn: calls of a strip before the next strip's.
  local function call_of(rows, row, done, k, index, in_a_turn)
    local function at(pointer, first, i, step)
      return product.address(pointer, first + (k and k * step or 0), { symbol = "i", count = i == 0 and 1 or rows.count,
        step = i }, { symbol = "k", count = k and 1 or 2, step = step })
    end
    local c = more.one_strip and more.c or product.address(more.c or "c", row * kernel.ldc,
      { symbol = "i", count = rows.count, step = rows.size * kernel.ldc })
    local call = {}
    if ahead then
      local strip = elements(ahead.lines) * in_a_turn
      local first = types.elements(ahead.from, type) + done * strip
        + (in_a_turn == turn and 0 or elements(ahead.lines) * blocks.count * (calls.number - 1))
      local of_turn = not whole and not k and { symbol = "turn", count = 2, step = strip * (calls.number - 1) }
      call[1] = ("attn2c_fetch(%s, %d);"):format(product.address(at("a", first, strip, elements(ahead.lines)), 0,
        of_turn or nil), ahead.lines)
    end
    call[#call + 1] = ("kernels[%s](%s, %s, %s);"):format(index, at("a", 0, 0, size * kernel.lda),
      at("b", row * kernel.ldb, rows.size * kernel.ldb, size), c)
    return call
  end

  -- Returns the calls of strips on blocks [first, first + together), and on the tail.
  local function strips_of(after, has_blocks, has_tail)
    local done = 0
    return product.over_rows(calls.rows, after, function(rows, row, number)
      local strip, list = calls.strips[number], {}
      if has_blocks then
        local index = strip.next and ("k > 0 ? %d : %d"):format(strip.next.index, strip.first.index)
          or strip.first.index
        local call = call_of(rows, row, done, not strip.next and 0 or nil, index, turn)
        local from = whole and "int k = 0; k < " .. together
          or ("int k = turn * %d; k < (turn + 1) * %d"):format(together, together)
        list = strip.next and lines_of_c.block(("for (%s; k++)"):format(from), call) or call
      end
      if has_tail then
        lines_of_c.append(list, call_of(rows, row, done, blocks.count, strip.tail.index, whole and turn or 1))
      end
      done = done + rows.count
      return list
    end)
  end

  local has_tail = blocks.tail > 0
  if whole then return strips_of(more, true, has_tail) end
  local turns = lines_of_c.block(("for (int turn = 0; turn < %d; turn++)"):format(blocks.count // together),
    strips_of({}, true, false))
  return lines_of_c.append(turns, has_tail and strips_of({}, false, true) or {})
end

--- Returns a product's body as lines: libxsmm's kernels or, where none can be made at run time, the body in C.
function libxsmm.either(kernel, calls, in_c, after_strip)
  local body = lines_of_c.append(libxsmm.body(kernel, calls, after_strip), { "return;" })
  return lines_of_c.append(lines_of_c.block(("if (%s)"):format(libxsmm.condition(calls)), body), in_c)
end

return libxsmm
