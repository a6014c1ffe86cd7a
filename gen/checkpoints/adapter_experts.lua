-- adapter_experts.lua: divides the factors that PEFT has for all experts of a layer (target_parameters) into factors of
-- each expert's layers, as checkpoints store them. PEFT's A is [experts rank][inputs], expert by expert; its B is
-- [outputs][rank experts], in which the experts alternate.
local copies = require("checkpoints.adapter_copies")
local faults = require("common.faults")
local words = require("common.words")

local adapter_experts = {}

-- The parameters of a module of experts, from the innermost of PEFT's layers around it to the outermost, and the layers
-- of an expert whose outputs follow one another in each.
local parameters = { { "gate_up_proj", "gate_proj", "up_proj" }, { "down_proj", "down_proj" } }

-- Returns the parameters of a module that target_parameters names.
local function chosen_of(module, targets)
  return words.filter(parameters, function(each)
    local name = "." .. module .. "." .. each[1]
    return words.any(targets, function(target) return name:sub(-#target - 1) == "." .. target end)
  end)
end

-- Returns the bytes of each expert's B for rows first .. last - 1. width: bytes of a number.
local function outputs_of(data, shape, experts, first, last, width)
  local pieces, rank, format = {}, shape[2] // experts, width == 4 and "I4" or "I2"
  for expert = 1, experts do pieces[expert] = {} end
  local of_row, of_expert = "<" .. format:rep(shape[2]), "<" .. format:rep(rank)
  for row = first, last - 1 do
    local numbers, own = { of_row:unpack(data, row * shape[2] * width + 1) }, {}
    for expert = 1, experts do
      for k = 1, rank do own[k] = numbers[(k - 1) * experts + expert] end
      pieces[expert][row - first + 1] = of_expert:pack(table.unpack(own, 1, rank))
    end
  end
  return words.map(pieces, function(rows) return table.concat(rows) end)
end

--- Returns the changes of each expert in place of one of all of them, with their tensors in self.tensors; nil if a
--- change is of no parameter in `targets`, the list of target_parameters. self: adapter.lua's, with `text`; rank: of an
--- expert. Faults: usage, format.
function adapter_experts.divided(self, change, targets, rank, scale)
  local module, depth = change.module:gsub("%.base_layer%f[\0]", "")
  local chosen = chosen_of(module, targets)
  local parameter = chosen[#chosen - depth]
  if not parameter or not (change.inputs and change.outputs) then return nil end
  local a, b = self.tensors[change.inputs], self.tensors[change.outputs]
  local function refuse(kind, what)
    faults.raise(kind, "%s: target_parameters: %s and its lora_B are %s and %s: %s", self.path,
      faults.quote(change.inputs), words.shape(a.shape), words.shape(b.shape), what)
  end
  local width, parts = copies.widths[a.dtype], #parameter - 1
  local experts = a.shape[1] // rank
  if not width or a.dtype ~= b.dtype or #a.shape ~= 2 or #b.shape ~= 2 or a.shape[1] ~= b.shape[2]
    or experts * rank ~= a.shape[1] or experts == 0 or b.shape[1] % parts ~= 0 then
    refuse("format", ("[experts %d][inputs] and [outputs][%d experts] are expected"):format(rank, rank))
  elseif a.shape[2] == b.shape[1] then
    refuse("usage", "versions of PEFT differ in which are the inputs, which equal sizes do not tell")
  end
  local function data(tensor) return tensor.data or self.text:sub(tensor.at + 1, tensor.at + tensor.bytes) end
  local inputs, outputs, result = data(a), data(b), {}
  local bytes, each = rank * a.shape[2] * width, b.shape[1] // parts
  local function add(name, shape, text)
    self.tensors[name] = { dtype = a.dtype, shape = shape, bytes = #text, data = text }
    return name
  end
  for part = 1, parts do
    local of_experts = outputs_of(outputs, b.shape, experts, (part - 1) * each, part * each, width)
    for expert = 1, experts do
      local path = ("%s.%d.%s"):format(module, expert - 1, parameter[part + 1])
      local own = inputs:sub((expert - 1) * bytes + 1, expert * bytes)
      result[#result + 1] = { target = path .. ".weight", module = path, rank = rank, scale = scale,
        inputs = add(path .. ".lora_A", { rank, a.shape[2] }, own),
        outputs = add(path .. ".lora_B", { each, rank }, of_experts[expert]) }
    end
  end
  self.tensors[change.inputs], self.tensors[change.outputs] = nil, nil
  return result
end

return adapter_experts
