-- gguf_types.lua: gives the types of GGUF's tensors, which runtime/formats/gguf_types.h lists.
local c_tables = require("common.c_tables")

local gguf_types = { list = {}, by_name = {} }

-- A record has id, the number in the file; name; the elements and bytes of a block; type, the type of weights in scale
-- blocks (gen/data/types.lua) that holds the same numbers, or nil; and is_readable.
for i, row in ipairs(c_tables.rows("formats/gguf_types.h", "ATTN2C_GGUF_TYPES")) do
  local each = { id = tonumber(row[1]), name = row[2], elements = tonumber(row[3]),
    bytes = tonumber(row[4]), is_readable = row[5] ~= "NULL" or row[6] ~= "NULL",
    type = row[7] ~= "none" and row[7] or nil }
  gguf_types.list[i], gguf_types.by_name[each.name] = each, each
end

return gguf_types
