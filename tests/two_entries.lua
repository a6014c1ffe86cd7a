-- two_entries.lua: builds the program of a model with two entries that have inputs, outputs and graphs of their own: an
-- "encode" of fixed size, and a "forward" that is of fixed size, of any length, or continues. No description has two
-- entries yet, so they are joined after their graphs are made.
--   lua5.4 tests/two_entries.lua fixed|any|context FOLDER
local here = debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$") or "."
package.path = here .. "/../gen/?.lua;" .. package.path

local build = require("commands.build")
local pipeline = require("pipeline")

local forward = { fixed = { seq = 8 }, any = { seq = { any = 40 } },
  context = { context = 60, sequences = 2, mask = "causal", input = { stage = "tokens", vocab = 30 },
    output = { { stage = "vocabulary" } } } }

-- Runs the passes up to `last` on a description; then the model has one entry, called `name`.
local function model(name, last, description)
  local state = { root = here .. "/..", file = "two.lua", overrides = {}, text = "", notes = {}, wanted = {},
    machine = "none", host = function() return "avx2" end, description = description }
  for key, value in pairs { name = "two", layers = 1, names = "torch" } do description[key] = value end
  for _, pass in ipairs(pipeline.passes) do
    if pass ~= "describe" then pipeline.step(state, pass) end
    if pass == "validate" and name ~= "forward" then
      state.entries[1].name, state.entries[1].suffix = name, "_" .. name
    end
    if pass == last then return state end
  end
end

local kind = forward[arg[1]]
kind.d_model, kind.heads = 16, 2
local state = model("forward", "ranks", kind)
local encode = model("encode", "ranks", { seq = 12, d_model = 24, heads = 3,
  input = { stage = "tokens", vocab = 20 }, output = { { stage = "pool", over = "mean" } } }).entries[1]
setmetatable(encode, { __index = state.builds[1] })
table.insert(state.builds[1].entries, 1, encode)
local is_after = false
for _, pass in ipairs(pipeline.passes) do
  if is_after then pipeline.step(state, pass) end
  is_after = is_after or pass == "ranks"
end
build.make(state, arg[2], here .. "/..", { only = "two" })
