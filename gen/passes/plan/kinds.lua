-- kinds.lua: decides which layers and which of their regions are alike, so that one function does them
-- (kernels/shared.lua).
-- Regions are of one kind if their operations, with their attributes, types and shapes, are the same, and so is what
-- the plan decides for a block of their rows, and how their tensors are stored. The places of these may differ, and how
-- many blocks a call has.
local each_op = require("passes.common.region_ops")
local words = require("common.words")

local kinds = {}

-- Returns a tensor and its storage as text, without its name.
local function tensor_text(tensor, storage)
  local stored = storage[tensor.name]
  return ("%s %s %s %s %s"):format(table.concat(tensor.shape, "x"), tensor.type, tensor.grows,
    stored and stored.form, stored and stored.leading_dimension)
end

-- Returns an operation as text, without the names of its tensors.
local function op_text(op, storage)
  local parts = { op.op, words.plain_members(op.attributes), tensor_text(op.result, storage) }
  for _, name in ipairs(words.sorted_keys(op.operands)) do
    parts[#parts + 1] = name .. " " .. tensor_text(op.operands[name], storage)
  end
  return table.concat(parts, ", ")
end

--- Sets region.like = { number of the kind, section, region: where the first of the kind is }, and section.like, the
--- name of the first section whose regions are of the same kinds, if it is another one. text_of(region): what the plan
--- decides for a region. With unroll = "all" nothing has a kind.
function kinds.decide(state, segments, text_of)
  if state.spec.unroll == "all" then return end
  local first, count, sections, storage = {}, 0, {}, state.plan.storage
  for _, segment in ipairs(segments) do
    for _, section in ipairs(segment.sections) do
      local numbers = {}
      for i, region in ipairs(section.regions) do
        local parts = { segment.name, (text_of(region):gsub("%f[%w]%a+%d+%.", "")) }
        each_op(region, function(op) parts[#parts + 1] = op_text(op, storage) end)
        local key = table.concat(parts, "\n")
        if not first[key] then
          count = count + 1
          first[key] = { number = count, section = section.name, region = i }
        end
        region.like = first[key]
        numbers[i] = ("%d %s"):format(first[key].number, region.loop and region.loop.form)
      end
      local key = table.concat(numbers, " ")
      section.like, sections[key] = sections[key], sections[key] or section.name
    end
  end
end

return kinds
