-- gain.lua: measures by how much a file of factors changes the perplexity of a text.
local dkjson = require("dkjson")
local faults = require("common.faults")
local files = require("common.files")

local gain = {}

-- Returns the perplexity of a text, or nil and an exit code.
local function perplexity_of(program, weights, path, gather)
  local code, said = gather(program, { "perplexity", "--weights", weights, "--text-file", path, "--format", "json" })
  local made = code == 0 and dkjson.decode(said) or {}
  if code ~= 0 then return nil, code end
  if not made.perplexity then faults.raise("format", "calibrate: the perplexity of the text is not finite") end
  return made.perplexity, made.predicted
end

--- Returns a line about the perplexity without and with the file, or nil and an exit code. measured: the pieces of the
--- text; programs: { without, with }; gather(program, words): the exit code and the output.
function gain.line(measured, is_own, programs, weights, folder, gather)
  local path = folder .. "/measured.txt"
  files.write(path, table.concat(measured))
  local before, code = perplexity_of(programs.without, weights, path, gather)
  if not before then return nil, code end
  local after, tokens = perplexity_of(programs.with, weights, path, gather)
  if not after then return nil, tokens end
  return ("perplexity of %d tokens %s: %.4f, without the file %.4f (%+.2f%%)"):format(tokens,
    is_own and "that were read" or "that were not read", after, before, 100 * (after / before - 1))
end

return gain
