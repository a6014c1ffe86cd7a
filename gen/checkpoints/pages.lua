-- pages.lua: reads the boxes that a folder's tokenizer gives special tokens in texts whose words have boxes.
local faults = require("common.faults")
local json = require("common.json")

local pages = {}

-- Returns the number that all sides of a box are, or nil if the folder does not say.
local function side_of(folder, name, most)
  local box = json.given(folder.tokenizer_config or {}, name)
  if box == nil then return nil end
  local side = json.kind(box) == "array" and #box == 4 and math.type(box[1]) == "integer" and box[1] or -1
  for i = 2, side < 0 and 0 or 4 do if box[i] ~= side then side = -1 end end
  if side >= 0 and side <= most then return side end
  faults.raise("usage", "tokenizer_config.json: %s: only %s is supported", name,
    most == 0 and "[0, 0, 0, 0]" or "a box of four equal numbers from 0 to 1000")
end

--- Returns all sides of the boxes of separators, or nil: 0. usual: of the family, if the folder does not say. A
--- question has the box of padding.
function pages.separator_place(folder, usual)
  side_of(folder, "cls_token_box", 0)
  side_of(folder, "pad_token_box", 0)
  local side = side_of(folder, "sep_token_box", 1000) or usual
  return side ~= 0 and side or nil
end

return pages
