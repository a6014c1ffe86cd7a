-- candidates.lua: lists the tiles worth trying for a product, for `bench --bound` and `tune`.
-- `bench --bound` tries libxsmm's kernels, as data that bound_product.c reads; `tune` tries those and kernels in C.
-- Two candidates with the same calls are one.
local divide = require("passes.common.divide")
local tile = require("passes.plan.tile")
local types = require("data.types")

local candidates = {}

-- Parameters of whole tiles: a call takes all rows of a token block.
local WHOLE = { call_rows = 4096, k_panel = 8192, fetch = 0 }
local PANELS, K_BLOCKS, TOKEN_BLOCKS = { 64, 32, 48, 128, 16 }, { 64, 128, 256 }, { 128, 64, 256, 32 }
-- Strips: a panel and the rows that registers hold of it. K_PANELS: inputs of a K panel, and how many K panels ahead
-- are prefetched.
local STRIPS = { { 48, 9 }, { 32, 14 }, { 64, 6 }, { 32, 12 } }
local K_PANELS = { { 768, 1 }, { 192, 3 }, { 96, 4 }, { 768, 0 } }
local STRIP_K_BLOCKS, STRIP_TOKEN_BLOCKS = { 64, 48, 96, 24 }, { 128, 256 }

-- Parameters of kernels in C: panels; how many panels ahead they prefetch; bytes ahead in a stream.
local C_PANELS, C_FETCHES, C_STREAMS = { 48, 64, 32, 16, 80 }, { 1, 0 }, { 8192, 0, 4096, 16384 }

-- Maximum rows of one strip; only a product of one strip prefetches its own stream.
local ONE_STRIP = 14

local function choices()
  local list = {}
  local function add(panel, k_block, k_order, token_block, call_rows, k_panel, fetch)
    list[#list + 1] = { kernels = "libxsmm", stream = 0, panel = panel, k_block = k_block, k_order = k_order,
      token_block = token_block,
      call_rows = call_rows, k_panel = k_panel, fetch = fetch }
  end
  for _, panel in ipairs(PANELS) do
    for _, order in ipairs { "outer", "reduce" } do
      for _, k_block in ipairs(K_BLOCKS) do
        for _, tokens in ipairs(TOKEN_BLOCKS) do
          add(panel, k_block, order, tokens, WHOLE.call_rows, WHOLE.k_panel, WHOLE.fetch)
        end
      end
    end
  end
  for _, strip in ipairs(STRIPS) do
    for _, k_panel in ipairs(K_PANELS) do
      for _, k_block in ipairs(STRIP_K_BLOCKS) do
        for _, tokens in ipairs(STRIP_TOKEN_BLOCKS) do
          add(strip[1], k_block, "outer", tokens, strip[2], k_panel[1], k_panel[2])
        end
      end
    end
  end
  return list
end

local function choices_in_c()
  local list = {}
  for _, panel in ipairs(C_PANELS) do
    for _, fetch in ipairs(C_FETCHES) do
      for _, stream in ipairs(C_STREAMS) do
        for _, token_block in ipairs(TOKEN_BLOCKS) do
          list[#list + 1] = { kernels = "c", panel = panel, fetch = fetch, stream = stream, token_block = token_block,
            k_block = 64, k_order = "reduce", call_rows = WHOLE.call_rows, k_panel = WHOLE.k_panel }
        end
      end
    end
  end
  return list
end

--- Returns the bytes ahead in its own weights that a kernel in C prefetches; only a strip with all rows does so.
function candidates.stream(product, choice)
  local rows = divide.blocks(product.rows, choice.token_block)[1].count
  return math.min(rows, choice.call_rows) <= ONE_STRIP and choice.stream or 0
end

--- Returns the calls that parameters lead to for a product { outputs, inputs, rows }, as text. Two candidates with
--- the same text are the same.
function candidates.signature(product, choice)
  local panels = divide.panels(product.outputs, choice.panel, product.type or "f32")
  if choice.kernels == "c" then
    local rows = divide.blocks(product.rows, choice.token_block)[1].count
    return ("c %s; %d; %s; %d"):format(table.concat(panels.widths, " "), rows, choice.fetch,
      candidates.stream(product, choice))
  end
  local k = divide.k_blocks(product.inputs, choice.k_block)
  local order = (k.count == 1 and k.tail == 0) and "whole" or choice.k_order
  local blocks = divide.blocks(product.rows, choice.token_block)
  local strip = math.min(choice.call_rows, blocks[1].count)
  local k_panel = (strip == blocks[1].count and choice.fetch == 0) and "" or math.max(1, choice.k_panel // k.size)
  return ("%s; %d %d %s; %d %d; %d %s %d"):format(table.concat(panels.widths, " "), k.size, k.tail, order, #blocks,
    blocks[1].count, strip, k_panel, choice.fetch)
end

local function distinct(product, all)
  local list, seen = {}, {}
  for _, choice in ipairs(all) do
    local signature = candidates.signature(product, choice)
    if not seen[signature] then
      seen[signature] = true
      list[#list + 1] = choice
    end
  end
  return list
end

--- Returns the distinct candidates of a product with libxsmm's kernels, as choices of parameters.
function candidates.of(product) return distinct(product, choices()) end

--- Returns the distinct candidates with kernels in C.
function candidates.in_c(product) return distinct(product, choices_in_c()) end

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

local function runs_of(k_panel)
  return counted(k_panel, function(call) return call.blocks .. " " .. call.size end,
    function(call) return { blocks = call.blocks, size = call.size } end)
end

local function k_panel_key(k_panel)
  local parts = {}
  for i, run in ipairs(runs_of(k_panel)) do parts[i] = ("%d %d %d"):format(run.count, run.blocks, run.size) end
  return table.concat(parts, ", ")
end

--- Returns a choice for a product { outputs, inputs, rows, ldc, pad } as its tiles, in the form of attn2c_candidate
--- (descriptor.h); equal consecutive elements are one with a count. { text, panels = { count, width, outputs, ld },
--- blocks = { count, rows, strips = { count, rows } }, k_panels = { count, inputs, runs = { count, blocks, size } },
--- ahead }.
function candidates.tiles(product, choice)
  local panels = divide.panels(product.outputs, choice.panel, product.type or "f32")
  local kernels = divide.padded(panels.widths, product.ldc, product.pad)
  local columns = {}
  for i, width in ipairs(panels.widths) do
    columns[i] = { width = width, outputs = kernels[i], ld = types.whole_lines(width, "f32") }
  end
  local k = divide.k_blocks(product.inputs, choice.k_block)
  local blocks = rows_of(divide.blocks(product.rows, choice.token_block))
  for _, block in ipairs(blocks) do block.strips = rows_of(divide.blocks(block.rows, choice.call_rows)) end
  local k_panels = tile.k_panels(k, choice)
  local strip = math.min(choice.call_rows, blocks[1].rows)
  local order = (k.count == 1 and k.tail == 0) and "" or " " .. choice.k_order
  local by = strip < blocks[1].rows and (" by %d%s"):format(choice.call_rows,
    choice.fetch > 0 and ", fetched ahead" or "") or ""
  return {
    text = ("panel %d, K %d x %d%s, %d tokens%s"):format(panels.widths[1], k.count, k.size, order, blocks[1].rows, by),
    panels = counted(columns, function(column) return column.width .. " " .. column.outputs end,
      function(column) return { outputs = column.outputs, ld = column.ld, width = column.width } end),
    blocks = blocks,
    k_panels = counted(k_panels, k_panel_key,
      function(each) return { inputs = each.inputs, runs = runs_of(each) } end),
    ahead = choice.fetch * k_panels[1].inputs,
  }
end

return candidates
