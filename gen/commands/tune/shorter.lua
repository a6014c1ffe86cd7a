-- shorter.lua: says how many of a model's layers are enough to time its products in a model. A candidate of few layers
-- is built and timed sooner. A product takes the same time in each layer if the weights come from memory. In the whole
-- model they do if all are far larger than the caches. The layers that are left still have twice the largest cache, and
-- before each call other memory of this size is read: some caches keep a part of what does not fit.
local faults = require("common.faults")
local files = require("common.files")
local measure = require("commands.tune.measure")
local pipeline = require("pipeline")

local shorter = {}

local CACHES = 2       -- weights of the layers, in sizes of the largest cache
local MOST_PART = 0.5  -- part of the layers above which two models would cost more than they save
local LEAST = 2        -- a layer comes after another one
local INDEXES = 8      -- caches that the kernel may list for a processor
local UNITS = { K = 1 << 10, M = 1 << 20, G = 1 << 30 }

--- Returns the bytes of the largest cache that the kernel lists in a folder, or nil.
function shorter.cache(folder)
  local most
  for index = 0, INDEXES - 1 do
    local text = files.read_some(("%s/index%d/size"):format(folder, index), 32) or ""
    local number, unit = text:match("^(%d+)([KMG])\n?$")
    if number then most = math.max(most or 0, tonumber(number) * UNITS[unit]) end
  end
  return most
end

--- Returns the number of layers that stand for all, or nil if none fewer do. layers: of the model; products: in order
--- (measure.products); cache: bytes.
function shorter.count(layers, products, cache)
  local bytes = 0
  for _, product in ipairs(products) do
    if product.count % layers == 0 then bytes = bytes + product.bytes end
  end
  local count = bytes > 0 and math.max(LEAST, math.ceil(CACHES * cache * layers / bytes)) or layers
  return count <= MOST_PART * layers and count or nil
end

--- True if `few` of `all` layers have the products of all: the same number in each layer, and the others as often.
function shorter.is_alike(products, of_few, few, all)
  for key, product in pairs(of_few) do
    local whole = products[key]
    if not whole or whole.count ~= product.count and whole.count * few ~= product.count * all then return false end
  end
  for key in pairs(products) do if not of_few[key] then return false end end
  return true
end

--- Returns the overrides of a model with fewer layers that stand for all, their number, and the bytes of other memory
--- to read before a call; or nil. planned: the whole
--- model after `plan`; products, order: of measure.products.
function shorter.of(root, arguments, overrides, planned, products, order)
  local layers = planned.spec.layers
  local cache = shorter.cache("/sys/devices/system/cpu/cpu0/cache")
  local count = math.type(layers) == "integer" and cache and shorter.count(layers, order, cache)
  if not count then return nil end
  local list = { ("layers=%d"):format(count) }
  for _, word in ipairs(overrides) do if not word:match("^layers=") then list[#list + 1] = word end end
  local done, state = pcall(pipeline.run, root, arguments.description, list, "plan", { rates = arguments.rates })
  if not done and not faults.is(state) then error(state, 0) end -- a fault: a key names a layer that is left out
  if done and shorter.is_alike(products, measure.products(state), count, layers) then
    return list, count, CACHES * cache
  end
  return nil
end

return shorter
