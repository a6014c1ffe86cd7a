-- plain.lua: models that use no option of attention: a hash of all that is emitted for each target, except the version,
-- and the names of the runtime that it uses. Options of other models must leave no trace here. If plain models are to
-- change, run it from the top of the repository, which writes plain.txt again; say why in the commit. The difference is
-- in the files of `post`, which are next to it, or in the output of `gen/attn2c gen` before and after.
local plain = {}

local here = debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$") or "."
local root = here .. "/../.."
package.path = root .. "/gen/?.lua;" .. package.path

plain.file = here .. "/plain.txt"

--- Descriptions with their overrides.
plain.models = {
  { "models/small.lua" }, { "models/bert_base.lua" }, { "models/speaker.lua" }, { "tests/golden/post.lua" },
  { "tests/golden/causal.lua" }, { "tests/golden/window.lua" },
  { "models/small.lua", "threads=2", "seq=60", "mask=padding", "batch=3" },
  { "models/small.lua", "layers=4", "unroll=all" },
  { "models/small.lua", "norm=pre", "final_norm=true", "bias=false", "output={ pool \"mean\", linear { to = 5 } }" },
}

-- Returns the names that emitted C takes from the runtime, sorted. A further name is an option that left a trace.
local function runtime_names(text, taken)
  for name in text:gmatch("attn2c_[%w_]+") do taken[name] = true end
  for name in text:gmatch('#include "([%w_]+/[%w_/]+%.h)"') do taken[name] = true end
end

-- Words in lines of at most 120 characters, each after two spaces.
local function wrapped(list)
  local lines = { " " }
  for _, word in ipairs(list) do
    if #lines[#lines] + 1 + #word > 120 then lines[#lines + 1] = " " end
    lines[#lines] = lines[#lines] .. " " .. word
  end
  return table.concat(lines, "\n")
end

--- A model and target: a hash of all its files, and what its C takes from the runtime.
function plain.make()
  local hash, pipeline, version = require("common.hash"), require("pipeline"), require("common.version")
  local words = require("common.words")
  local lines = {}
  for _, model in ipairs(plain.models) do
    local taken = {}
    for _, target in ipairs { "avx512", "avx2" } do
      local overrides = { table.unpack(model, 2) }
      overrides[#overrides + 1] = "target=" .. target
      local state, hashes = pipeline.run(root, root .. "/" .. model[1], overrides), {}
      for _, file in ipairs(state.files) do
        if not file.name:match("^attn2c_%d") then -- the Python module that all models share
          local text = file.text:gsub(version.generator:gsub("%p", "."), "VERSION")
          hashes[#hashes + 1] = file.name .. " " .. hash.text(text)
          if not file.name:match("%.py$") then runtime_names(text, taken) end
        end
      end
      lines[#lines + 1] = ("%s %s %s"):format(hash.text(table.concat(hashes, "\n")), target, table.concat(model, " "))
    end
    lines[#lines + 1] = wrapped(words.sorted_keys(taken))
  end
  return table.concat(lines, "\n") .. "\n"
end

if arg and arg[0] and arg[0]:match("plain%.lua$") then
  require("common.files").write_all(here, { { name = "plain.txt", text = plain.make() } })
end

return plain
