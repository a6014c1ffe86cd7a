-- projections.lua: checks attention without projections: the widths of states, heads and inputs must agree.
-- A spec's projections are true (all are there), false (none is) or { q =, k =, v =, out = }.
local projections = {}

--- True if a spec projects a part: q, k, v or out.
function projections.has(spec, part)
  local given = spec.projections
  if type(given) == "table" then return given[part] end
  return given ~= false
end

local has = projections.has

-- Returns "without projections", or the same for one part.
local function without(spec, part)
  return spec.projections == false and "without projections" or "without a projection of " .. part
end

local function context_width(spec)
  local v = has(spec, "v") and spec.head_dim or (spec.vdim or spec.d_model) // spec.kv_heads
  return spec.heads * v
end

local function must_be_parts(say, spec, part)
  local width = spec.heads * spec.head_dim
  if width == spec.d_model then return end
  say("head_dim", "%s heads x head_dim must be d_model, but %d x %d is not %d", without(spec, part), spec.heads,
    spec.head_dim, spec.d_model)
end

--- Reports the keys that do not go with parts that are not projected.
function projections.check(say, spec)
  if spec.projections == nil or spec.projections == true then return end
  local partly = type(spec.projections) == "table"
  local keys_and_values = has(spec, "k") and has(spec, "v")
  if not keys_and_values then
    local what = partly and "goes with projections of k and v" or "goes with projections"
    if spec.bias_kv then say("bias_kv", what) end
    if spec.past and spec.past > 0 then say("past", what) end
  end
  if spec.head_mask and spec.head_mask.kind == "constant" then
    say("head_mask", "constant factors go with %sprojections; \"input\" goes with either", partly and "all " or "")
  end
  if not (spec.d_model and spec.heads and spec.kv_heads and spec.head_dim) then return end
  if not has(spec, "q") then must_be_parts(say, spec, "q") end
  if spec.input.stage == "qkv" then return end
  if not partly then
    if spec.kv_heads ~= spec.heads then
      say("kv_heads", "without projections other heads than of the query need input = qkv()")
    end
    return
  end
  for _, part in ipairs { "k", "v" } do
    if not has(spec, part) and spec.kv_heads * spec.head_dim ~= spec.d_model then
      say("kv_heads", "%s kv_heads x head_dim must be d_model, but %d x %d is not %d", without(spec, part),
        spec.kv_heads, spec.head_dim, spec.d_model)
    end
  end
  if not has(spec, "out") and has(spec, "q") then must_be_parts(say, spec, "out") end
end

--- Checks qkv()'s keys, values and result that are not projected, once the heads are known.
function projections.check_widths(say, spec)
  if spec.input.stage ~= "qkv" or not (spec.kv_heads and spec.head_dim and spec.kdim and spec.vdim) then return end
  if not has(spec, "k") and spec.kdim ~= spec.kv_heads * spec.head_dim then
    say("kdim", "%d, but %s it must be kv_heads x head_dim, %d", spec.kdim, without(spec, "k"),
      spec.kv_heads * spec.head_dim)
  end
  if not has(spec, "v") and spec.vdim % spec.kv_heads ~= 0 then
    say("vdim", "%d is not divisible by kv_heads %d", spec.vdim, spec.kv_heads)
  elseif not has(spec, "out") and spec.residual and context_width(spec) ~= spec.d_model then
    if has(spec, "v") then
      if has(spec, "q") then must_be_parts(say, spec, "out") end
    else
      say("vdim", "%d, but with a residual sum the result must be as wide as d_model %d", spec.vdim, spec.d_model or 0)
    end
  end
end

--- Returns the width of the rows after the layers; with qkv() it may differ from d_model if nothing projects them.
function projections.result_width(spec)
  if spec.input.stage ~= "qkv" or has(spec, "out") or spec.residual or spec.d_ff ~= 0 then return spec.d_model end
  if not (spec.heads and spec.kv_heads and spec.head_dim and spec.vdim) then return nil end
  return context_width(spec)
end

--- Checks the memory of a cross-attention whose keys or values are not projected.
function projections.check_memory(say, spec)
  if has(spec, "k") and has(spec, "v") or spec.memory.width == spec.d_model then return end
  say("memory.width", "%s the memory must be as wide as d_model", without(spec, has(spec, "k") and "v" or "k"))
end

return projections
