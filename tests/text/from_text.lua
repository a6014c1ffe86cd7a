-- from_text.lua: compiles the text of a tokenizer.json, as the compiler does with that of a file.
local faults = require("common.faults")
local json = require("common.json")
local tokenizer = require("text.tokenizer")

--- Returns what tokenizer.compile returns. file: the name in messages; calls: as there. Faults: format.
return function(text, file, calls)
  local root, problem = json.decode(text)
  if root == nil then faults.raise("format", ("%s: %s"):format(file, problem)) end
  return tokenizer.compile(root, file, calls)
end
