-- linkage.lua: names the emitted files and C symbols of an entry's programs.
-- A model with one length has the entry `forward`, whose files are called NAME; one of several entries has
-- NAME_forward_8. With a list of targets, the target's name follows the model's: NAME_avx2, NAME_avx2_forward_8.
local linkage = {}

--- Returns the suffix that distinguishes the symbols of an entry: "" or "_8".
function linkage.suffix(entry_name) return (entry_name:match("^forward(.*)$")) end

--- Returns NAME or NAME_forward_8.
function linkage.entry(name, entry_name)
  return linkage.suffix(entry_name) == "" and name or name .. "_" .. entry_name
end

--- Returns the name of the code for a number of workers; the first, or only, number has the entry's own name.
function linkage.ship(name, entry_name, workers, is_first)
  local own = linkage.entry(name, entry_name)
  return is_first and own or ("%s_%d"):format(own, workers)
end

--- Returns the file that measures the machine; all models for a target have the same one.
function linkage.roof(build_suffix) return "attn2c_roof" .. build_suffix end

return linkage
