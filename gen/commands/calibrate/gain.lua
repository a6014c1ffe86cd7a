-- gain.lua: measures by how much a file of factors brings a model closer to f32, or changes the perplexity of a text.
local dkjson = require("dkjson")
local faults = require("common.faults")
local files = require("common.files")
local quality = require("commands.quality")
local terminal = require("common.terminal")

local gain = {}

-- Returns the perplexity of a text, or nil and an exit code.
local function perplexity_of(program, weights, path, gather)
  local code, said = gather(program, { "perplexity", "--weights", weights, "--text-file", path, "--format", "json" })
  local made = code == 0 and dkjson.decode(said) or {}
  if code ~= 0 then return nil, code end
  if not made.perplexity then faults.raise("format", "calibrate: the perplexity of the text is not finite") end
  return made.perplexity, made.predicted
end

--- Returns a line about the perplexity without and with the file, and whether it is worse; or nil and an exit code.
--- measured: the pieces of the text; programs: { without, with }; gather(program, words): the exit code and the output.
function gain.line(measured, is_own, programs, weights, folder, gather)
  local path = folder .. "/measured.txt"
  files.write(path, table.concat(measured))
  local before, code = perplexity_of(programs.without, weights, path, gather)
  if not before then return nil, code end
  local after, tokens = perplexity_of(programs.with, weights, path, gather)
  if not after then return nil, tokens end
  return ("perplexity of %d tokens %s: %.4f, without the file %.4f (%+.2f%%)"):format(tokens,
    is_own and "that were read" or "that were not read", after, before, 100 * (after / before - 1)), after > before
end

--- Returns a table of the outputs' errors without and with the file `path`, and whether each is worse; or nil and an
--- exit code. arguments, tools: calibrate.run's.
function gain.outputs(arguments, path, weights, tools)
  local plain, measured = {}, {}
  local of_arrays = { overrides = arguments.overrides, input = arguments.input, text = arguments.text }
  for i, file in ipairs { "none", path } do
    local code
    measured[i], code = quality.measure(of_arrays, weights, function(list, with_text, _, is_plain)
      if not is_plain then return tools.build(list, with_text, nil, file) end
      if not plain[1] then plain = { tools.build(list, with_text) } end
      return table.unpack(plain)
    end, tools.run)
    if not measured[i] then return nil, code end
  end
  local lines = { "| output | relative error to f32, without the file | with it | cosine, without the file | with it |",
    "|:--|--:|--:|--:|--:|" }
  local worse, others = 0, 0
  for i, before in ipairs(measured[1].outputs) do
    local after = measured[2].outputs[i]
    if before.relative and after.relative then
      if after.relative > before.relative then worse = worse + 1 else others = others + 1 end
      lines[#lines + 1] = ("| %s | %.2e | %.2e | %.6f | %.6f |"):format(terminal.safe(before.name), before.relative,
        after.relative, before.cosine, after.cosine)
    end
  end
  return table.concat(lines, "\n"), worse > 0 and others == 0
end

return gain
