-- linkage.lua: names the emitted files and C symbols of an entry's programs.
-- A model with one length has the entry `forward`, whose files are called NAME; one of several entries has
-- NAME_forward_8. With a list of targets, the target's name follows the model's: NAME_avx2, NAME_avx2_forward_8.
local linkage = {}

--- Returns NAME or NAME_forward_8. entry: { name, suffix }, as validate makes it.
function linkage.entry(name, entry) return entry.suffix == "" and name or name .. "_" .. entry.name end

--- Returns the name of the code for a number of workers; the first, or only, number has the entry's own name.
function linkage.ship(name, entry, workers, is_first)
  local own = linkage.entry(name, entry)
  return is_first and own or ("%s_%d"):format(own, workers)
end

--- Returns the file that measures the machine; all models for a target have the same one.
function linkage.roof(build_suffix) return "attn2c_roof" .. build_suffix end

return linkage
