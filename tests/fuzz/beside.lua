-- beside.lua: draws adapters that are kept next to the weights, and writes their files. A check without weights takes
-- random factors, so the files' numbers are zeros. An adapter's name says its rank.
local files = require("common.files")
local ops = require("data.ops")
local pipeline = require("pipeline")
local sizes = require("sizes")
local words = require("common.words")

local beside = {}

local random = math.random
local RANKS = { 1, 2, 3, 4, 5, 8, 16, 33, 64 }

--- True if a description goes with adapters.
function beside.may(d)
  return not (d.ranks or d.stages or d.input_order or d.layout == "seq_first" or d.opens == "gguf")
end

--- Gives a description some adapters.
function beside.change(d)
  d.adapters = {}
  for i = 1, random(3) do
    local name = ("r%d_%d"):format(sizes.pick(RANKS), i)
    d.adapters[name] = "adapter_" .. name
  end
end

-- Returns the module of a linear layer that an adapter may change, or nil.
local function module_of(op)
  local weight = ops.class(op).product and op.op:find("^linear") and op.operands.weight
  local stored = weight and not weight.experts and weight.from and #weight.from.stored == 1 and weight.from.stored[1]
  local is_small = weight and (weight.name:find("router", 1, true) or weight.name:find("shared_gate", 1, true)
    or weight.name:find(".streams.", 1, true))
  if not stored or is_small or #stored.shape ~= 2 or op.operands.x.name:find("windows$") then return nil end
  for _, view in ipairs(weight.from.views) do if view.taps or view.plus_one or view.added then return nil end end
  return stored.names[1]:match("^(.*)%.weight$"), stored
end

-- Returns a file of tensors, zeros of float16. shapes: by name.
local function file_of(shapes)
  local entries, at = {}, 0
  for i, name in ipairs(words.sorted_keys(shapes)) do
    local shape, stop = shapes[name], at + 2 * shapes[name][1] * shapes[name][2]
    entries[i] = ('%q:{"dtype":"F16","shape":[%d,%d],"data_offsets":[%d,%d]}'):format(name, shape[1], shape[2], at,
      stop)
    at = stop
  end
  local header = "{" .. table.concat(entries, ",") .. "}"
  return string.pack("<I8", #header) .. header .. ("\0"):rep(at)
end

--- Writes the adapters of the description in a file, next to it. Each changes about two of three layers. A description
--- without such layers loses its adapters.
function beside.write(root, path)
  local text, folder = files.read(path) or "", path:match("^(.*)/[^/]*$") or "."
  if not text:find('"adapter_r', 1, true) then return end
  local ok, state = pcall(pipeline.run, root, path, { "adapters=false" }, "graph")
  for name in text:gmatch('"adapter_(r[%d_]+)"') do
    local rank, shapes, number = math.tointeger(tonumber(name:match("%d+"))), {}, #name
    local ops_of_all, of_table = {}, {} -- of_table: weights of which a table of distances is made, by name
    for _, entry in ipairs(ok and state.entries or {}) do
      words.append(ops_of_all, entry.graph.entry.ops)
      for _, tensor in pairs(entry.graph.tensors) do
        for of in (tensor.formula or ""):gsub("^scales .*", ""):gmatch("%S+") do of_table[of] = true end
      end
    end
    for _, op in ipairs(ops_of_all) do
      local module, stored = module_of(op)
      number = number + 1
      if module and not of_table[op.operands.weight.name] and number % 3 > 0 then
        local out, inputs = table.unpack(stored.shape)
        if stored.is_transposed then out, inputs = inputs, out end
        shapes[module .. ".lora_A.weight"], shapes[module .. ".lora_B.weight"] = { rank, inputs }, { out, rank }
      end
    end
    if not next(shapes) then -- the model has no such layer
      text = text:gsub("%s*adapters = %b{},", "")
      return files.write_all(folder, { { name = path:match("[^/]*$"), text = text } })
    end
    local own = ("%s/adapter_%s"):format(folder, name)
    files.make_folder(own)
    files.write_all(own, { { name = "adapter_model.safetensors", text = file_of(shapes) },
      { name = "adapter_config.json", text = ('{"peft_type":"LORA","r":%d,"lora_alpha":%d}'):format(rank, rank + 3) } })
  end
end

return beside
