-- linkage.lua: what the emitted files and C symbols of an entry's programs are called. A model with one
-- length has the entry `forward`, whose files are called NAME; one of several entries has NAME_forward_8. Of a list of
-- targets, what is of one has its name behind the model's: NAME_avx2, NAME_avx2_forward_8.
local linkage = {}

--- What tells the symbols of an entry from those of another: "" or "_8".
function linkage.suffix(entry_name) return (entry_name:match("^forward(.*)$")) end

--- NAME, or NAME_forward_8.
function linkage.entry(name, entry_name)
  return linkage.suffix(entry_name) == "" and name or name .. "_" .. entry_name
end

--- Of the code for a number of workers; the first, or only, number is the entry's own.
function linkage.ship(name, entry_name, workers, is_first)
  local own = linkage.entry(name, entry_name)
  return is_first and own or ("%s_%d"):format(own, workers)
end

--- The file of what tells what a machine can do; all models for a target have the same.
function linkage.roof(build_suffix) return "attn2c_roof" .. build_suffix end

return linkage
