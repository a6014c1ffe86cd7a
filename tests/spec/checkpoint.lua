-- checkpoint.lua: files for programs under test: a checkpoint of what a description needs, and arrays.
local helper = require("tests.spec.helper")
local pipeline = require("pipeline")

local checkpoint = {}

--- The bytes of a checkpoint of a description's tensors, of values that F16 has, in F32 or F16.
function checkpoint.text(path, dtype)
  local state = pipeline.run(helper.root, path, {}, "graph").entries
  state = state[#state]
  local header, data, at, seed, written = {}, {}, 0, 7, {}
  for _, name in ipairs(state.graph.weights) do
    local tensor = state.graph.tensors[name]
    local stored = tensor.rule and tensor.rule.names[1]
    if stored and not written[stored] then -- an output may share a table
      written[stored] = true
      local count, values = 1, {}
      for _, n in ipairs(tensor.shape) do count = count * n end
      for i = 1, count do
        seed = (seed * 1103515245 + 12345) % 2147483648
        local sign, exponent, fraction = seed >> 30, 9 + (seed >> 20) % 5, (seed >> 8) & 1023
        local value = (sign == 1 and -1 or 1) * (1 + fraction / 1024) * 2.0 ^ (exponent - 15)
        values[i] = dtype == "F16" and string.pack("<I2", sign << 15 | exponent << 10 | fraction)
          or string.pack("<f", value)
      end
      local text = table.concat(values)
      header[#header + 1] = ('"%s":{"dtype":"%s","shape":[%s],"data_offsets":[%d,%d]}'):format(stored,
        dtype, table.concat(tensor.from.stored[1].shape, ","), at, at + #text)
      data[#data + 1], at = text, at + #text
    end
  end
  local text = "{" .. table.concat(header, ",") .. "}"
  return string.pack("<I8", #text) .. text .. table.concat(data)
end

--- True if a folder of tests/hf has integers in groups, which a build keeps without `weights=none`.
function checkpoint.is_quantised(name)
  for _, method in ipairs { "gguf", "gptq", "awq", "compressed", "mxfp4" } do
    if name:sub(1, #method) == method then return true end
  end
  return false
end

--- Integers, or floats where `floats` is true, as .npy; shape as Python writes it: "3, 5".
function checkpoint.npy(shape, values, floats)
  local header = ("{'descr': '<%s4', 'fortran_order': False, 'shape': (%s), }"):format(floats and "f" or "i", shape)
  header = header .. (" "):rep((64 - (10 + #header + 1) % 64) % 64) .. "\n"
  return "\x93NUMPY\1\0" .. string.pack("<I2", #header) .. header
    .. string.pack("<" .. (floats and "f" or "i4"):rep(#values), table.unpack(values))
end

return checkpoint
