-- sound.lua: writes the facts of a model that takes sound (runtime/model/features.h), as values of templates.
local reserved = require("data.reserved")
local steps = require("data.steps")
local sounds = require("data.sounds")

local emit_sound = {}

--- Returns the floats that a call of N_features needs beside the arena of its entry.
function emit_sound.beside(spec)
  if spec.role ~= "features" then return 0 end
  local first = spec.sound.convolutions and spec.sound.convolutions[1] or { norm = "none" }
  if spec.is_measuring then return spec.samples + spec.seq * first.width end
  local how = sounds.moments(first)
  local moments = how == "covariance" and (first.kernel + 1) * first.kernel or how == "measured" and 2 * first.width
    or 0
  return spec.samples + spec.seq * sounds.width(spec.sound) + moments
end

--- Returns the values of a model that takes sound, or false. entries: of a build.
function emit_sound.values(entries)
  for i, entry in ipairs(entries) do
    local spec = entry.spec
    if spec.role == "features" and not spec.is_measuring then
      local sound = spec.sound
      local std, first = sound.std or 1, sound.convolutions and sound.convolutions[1] or { norm = "none" }
      local of_sound = first.norm == "group"
      local is_measured = sounds.moments(first) == "measured"
      local function float(value) return steps.constant(value + 0.0) end
      local reader = entries[1].spec.role == "features" and entries[#entries] or entries[1] -- what the encoder reads
      local input = reader.graph.tensors[reader.graph.entry.inputs[1]]
      return { input = reserved.member(input.member), width = sounds.width(sound), rate = sound.rate, facts = {
        { "entry", i - 1 }, { "length", sound.length }, { "hop", sound.hop }, { "width", sounds.width(sound) },
        { "chunk", spec.seq }, { "margin", sound.centre and sound.length // 2 or 0 },
        { "samples", sound.samples or 0 }, { "rows", sound.rows or 0 },
        { "filler", float(sound.mels and -sound.mean / std or 0) }, { "range", float((sound.range or 0) / std) },
        { "is_centred", sound.subtract_mean and 1 or 0 }, { "is_normalised", sound.normalise and 1 or 0 },
        { "kernel", of_sound and first.kernel or 0 }, { "stride", of_sound and first.stride or 0 },
        { "channels", is_measured and first.width or 0 },
        { "groups", is_measured and (first.groups or first.width) or 0 },
        { "measuring", is_measured and i or 0 }, { "measured", is_measured and entries[i + 1].spec.seq or 0 } } }
    end
  end
  return false
end

return emit_sound
