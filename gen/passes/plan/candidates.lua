-- candidates.lua: lists the tiles worth trying for a product, for `bench --bound` and `tune`.
-- `bench --bound` tries them with libxsmm's kernels, as data that bound_product.c reads; `tune` with each provider. Two
-- candidates with the same calls are one.
local alike = require("common.alike")
local divide = require("passes.common.divide")
local libxsmm = require("kernels.libxsmm")
local registers = require("passes.plan.registers")
local types = require("data.types")

local candidates = {}

-- Panels; how many panels ahead are prefetched; bytes ahead in a stream.
local PANELS, FETCHES, STREAMS, TOKEN_BLOCKS = { 48, 64, 32, 16, 80 }, { 1, 0 }, { 3072, 0, 10240, 16384 },
  { 128, 64, 256, 32 }

local memoised = alike.memoiser() -- many candidates have panels and blocks of the same sizes

local CALL_ROWS = 4096 -- strips have the most rows that the registers hold

-- Maximum rows of one strip of panels of one vector of AVX-512, and of others; only a product of one strip prefetches
-- its own stream, and only in C.
local ONE_STRIP_NARROW, NARROW, ONE_STRIP = 28, 16, 14

local function choices(kernels)
  local list = {}
  for _, panel in ipairs(PANELS) do
    for _, fetch in ipairs(FETCHES) do
      for _, stream in ipairs(kernels == "c" and STREAMS or { 0 }) do
        for _, token_block in ipairs(TOKEN_BLOCKS) do
          list[#list + 1] = { kernels = kernels, panel = panel, fetch = fetch, stream = stream,
            token_block = token_block, call_rows = CALL_ROWS }
        end
      end
    end
  end
  return list
end

--- Returns the bytes ahead in its own weights that a product prefetches; only a strip with all rows does so.
function candidates.stream(product, choice)
  local rows = divide.blocks(product.rows, choice.token_block)[1].count
  local most = choice.panel <= NARROW and ONE_STRIP_NARROW or ONE_STRIP
  return choice.kernels == "c" and math.min(rows, choice.call_rows) <= most and choice.stream or 0
end

--- Returns the calls that parameters lead to for a product { outputs, inputs, rows }, as text. Two candidates with
--- the same text are the same.
function candidates.signature(product, choice)
  local panels = divide.panels(product.outputs, choice.panel, product.type or "f32")
  local rows = divide.blocks(product.rows, choice.token_block)[1].count
  return ("%s %s; %d %d; %d; %d"):format(choice.kernels, table.concat(panels.widths, " "), rows,
    math.min(rows, choice.call_rows), choice.fetch, candidates.stream(product, choice))
end

--- Returns the distinct candidates of a product whose bodies a provider makes, as choices of parameters.
function candidates.of(product, kernels)
  local list, seen = {}, {}
  for _, choice in ipairs(choices(kernels)) do
    local signature = candidates.signature(product, choice)
    if not seen[signature] then list[#list + 1] = choice end
    seen[signature] = true
  end
  return list
end

-- Returns runs of equal items as one with a count: item -> key, item -> { count, ... }.
local function counted(list, key_of, make)
  local result, before = {}, nil
  for _, item in ipairs(list) do
    local key = key_of(item)
    if key == before then
      result[#result].count = result[#result].count + 1
    else
      result[#result + 1] = make(item)
      result[#result].count = 1
    end
    before = key
  end
  return result
end

local function rows_of(blocks)
  return counted(blocks, function(block) return block.count end, function(block) return { rows = block.count } end)
end

--- Returns a choice for a product { outputs, inputs, rows, ldc, pad } as its tiles, in the form of attn2c_candidate
--- (descriptor.h); equal consecutive elements are one with a count. { text, panels = { count, width, outputs, ld },
--- blocks = { count, rows, strips = { count, rows } }, k = { size, count, tail }, ahead }.
function candidates.tiles(product, choice, target)
  local panels = divide.panels(product.outputs, choice.panel, product.type or "f32")
  local kernels = divide.padded(panels.widths, product.ldc, product.pad)
  local columns, most = {}, 0
  for i, width in ipairs(panels.widths) do
    columns[i] = { width = width, outputs = kernels[i], ld = types.whole_lines(width, "f32") }
  end
  local blocks = rows_of(divide.blocks(product.rows, choice.token_block))
  for _, block in ipairs(blocks) do
    block.strips, most = {}, 0
    local strips = memoised("strips", registers.strips, kernels[1], block.rows, product.inputs, target,
      choice.call_rows, false)
    for i, strip in ipairs(strips.strips) do
      block.strips[i], most = { count = strip.count, rows = strip.size }, most + strip.count
    end
  end
  local ahead = most > 1 and choice.fetch * product.inputs or 0
  return {
    text = ("panel %d, %d tokens%s"):format(panels.widths[1], blocks[1].rows, ahead > 0 and ", fetched ahead" or ""),
    panels = counted(columns, function(column) return column.width .. " " .. column.outputs end,
      function(column) return { outputs = column.outputs, ld = column.ld, width = column.width } end),
    blocks = blocks, ahead = ahead,
    k = libxsmm.blocks_of(product.inputs, ahead > 0 and types.bytes(product.inputs * columns[1].ld, "f32") // most
      or nil, "f32"),
  }
end

return candidates
