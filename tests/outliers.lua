-- outliers.lua: makes a small model whose activations have outlier channels, as trained models of many layers have.
-- Some gains of norms and rows of the first product of a feed-forward are large, and the weights that read them are
-- small. `text`, `checkpoint` and `input` return the bytes of the description, the weights and the inputs.
local outliers = {}

local SEQ, WIDTH, HEADS, FF, LAYERS, SEQUENCES = 16, 32, 2, 64, 2, 12

--- Returns the description. more: further keys, as Lua.
function outliers.text(more)
  return ([[
return { name = "outliers", seq = %d, d_model = %d, heads = %d, d_ff = %d, layers = %d, batch = 4, activation = "gelu",
  output = { norm(), linear { to = 10, name = "logits" } }, %s }
]]):format(SEQ, WIDTH, HEADS, FF, LAYERS, more or "")
end

local function normal() return math.sqrt(-2 * math.log(1 - math.random())) * math.cos(2 * math.pi * math.random()) end

-- Returns a matrix [rows][columns] as the bytes of floats.
local function floats(rows, columns, value)
  local list = {}
  for i = 1, rows do for j = 1, columns do list[#list + 1] = ("<f"):pack(value(i, j)) end end
  return table.concat(list)
end

local function is_outlier(channel) return channel % 11 == 3 end

--- Returns the bytes of a checkpoint of the model. size: the factor by which outliers are larger than other values.
function outliers.checkpoint(size)
  math.randomseed(5, 0)
  local header, data, at = {}, {}, 0
  local function add(name, rows, columns, value)
    data[#data + 1] = floats(rows, columns or 1, value)
    header[#header + 1] = ('"%s":{"dtype":"F32","shape":[%d%s],"data_offsets":[%d,%d]}'):format(name, rows,
      columns and "," .. columns or "", at, at + #data[#data])
    at = at + #data[#data]
  end
  local function linear(name, rows, columns, reads_outliers, makes_outliers)
    local function factor(channel, way) return is_outlier(channel) and size ^ way or 1 end
    add(name .. ".weight", rows, columns, function(i, j)
      return normal() / math.sqrt(columns) * (reads_outliers and factor(j, -1) or 1)
        * (makes_outliers and factor(i, 1) or 1)
    end)
    add(name .. ".bias", rows, nil, function() return 0.1 * normal() end)
  end
  local function norm(name)
    add(name .. ".weight", WIDTH, nil, function(i) return is_outlier(i) and size or 1 end)
    add(name .. ".bias", WIDTH, nil, function() return 0.1 * normal() end)
  end
  for i = 0, LAYERS - 1 do
    local path = "l" .. i
    norm(path .. ".norm1")
    for _, part in ipairs { "q", "k", "v" } do linear(path .. ".attn." .. part, WIDTH, WIDTH, true) end
    linear(path .. ".attn.out", WIDTH, WIDTH)
    norm(path .. ".norm2")
    linear(path .. ".ff.up", FF, WIDTH, true, true)
    linear(path .. ".ff.down", WIDTH, FF, true)
  end
  norm("output.1.norm")
  linear("output.2.linear", 10, WIDTH, true)
  local text = "{" .. table.concat(header, ",") .. "}"
  text = text .. (" "):rep(-#text % 8)
  return ("<I8"):pack(#text) .. text .. table.concat(data)
end

--- Returns the bytes of an .npy file of inputs. value(i) returns the i-th number; without it they are normal.
function outliers.input(value)
  math.randomseed(6, 0)
  local header = ("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d, %d), }"):format(SEQUENCES, SEQ, WIDTH)
  header = header .. (" "):rep(-(#header + 11) % 64) .. "\n"
  return "\x93NUMPY\1\0" .. ("<I2"):pack(#header) .. header .. floats(SEQUENCES * SEQ, WIDTH, function(i, j)
    return value and value((i - 1) * WIDTH + j) or normal()
  end)
end

return outliers
