-- ranks.lua: checks a spec that is divided among ranks, ranks = 4 or stages = 2: what does not go with it is refused.
local divisions = require("data.divisions")
local masks = require("data.masks")
local precision = require("data.precision")
local projections = require("passes.validate.projections")
local types = require("data.types")

local ranks = {}

-- Returns the specs of a stack's layers.
local function each_layer(spec) return spec.each or { spec } end

-- True if some layer of a stack fulfils a condition.
local function some(spec, is_so)
  for _, each in ipairs(each_layer(spec)) do if is_so(each) then return true end end
  return false
end

-- Keys that do not go with ranks: the key, a condition on a stack's spec, and what is allowed.
local refused = {
  { "past", function(spec) return (spec.past or 0) > 0 end, "a model with past keys has inputs by heads" },
  { "input", function(spec) return spec.input.stage == "qkv" end, "qkv() is one attention of the caller's own keys" },
  { "layout", function(spec) return spec.layout == "seq_first" end, "give batch_first" },
  { "attention_output", function(spec)
    return some(spec, function(each) return each.attention_output.kind ~= "none" or each.attention_output.scores end)
  end, "each rank has the weights of its own heads" },
  { "head_mask", function(spec) return spec.head_mask.kind == "input" end, "give constant factors" },
  { "positions", function(spec) return spec.distances == "disentangled" end, "give other positions" },
  { "position_gate", function(spec) return spec.position_gate end, "a gate reads the states of all heads" },
  { "box_buckets", function(spec) return spec.box_buckets end, "the tables are of all heads" },
  { "bias_kv", function(spec) return spec.bias_kv end, "the key belongs to all heads" },
  { "zero_attn", function(spec) return spec.zero_attn end, "the key belongs to all heads" },
  { "mask", function(spec) return some(spec, function(each) return masks.count_heads(each.mask) end) end,
    "give a mask that is the same for all heads" },
  { "projections", function(spec)
    for _, part in ipairs { "q", "k", "v", "out" } do
      if not projections.has(spec, part) then return true end
    end
    return false
  end, "ranks divide the projections of attention" },
}

-- Keys that do not go with stages.
local refused_by_stages = {
  { "layout", function(spec) return spec.layout == "seq_first" end, "give batch_first" },
  { "attention_output", function(spec)
    return some(spec, function(each) return each.attention_output.kind ~= "none" or each.attention_output.scores end)
  end, "the last stage has the outputs" },
  { "positions", function(spec) return spec.distances == "disentangled" end, "give other positions" },
}

-- Refuses what does not go with a key, `ranks` or `stages`.
local function check_stack(say, spec, path, key, list)
  for _, each in ipairs(list) do
    if each[2](spec) then say(path .. each[1], "does not go with %s: %s", key, each[3]) end
  end
end

local function has_experts(each) return each.experts end

-- Ranks that choose experts by themselves must have the same bits, also if they have parts of other sizes, and so other
-- tiles. Kernels in C add in the same order in all tiles, and kernels of libxsmm do not.
local function check_kernels(say, spec, encoder)
  if not (some(spec, has_experts) or encoder and some(encoder, has_experts)) then return end
  if spec.kernels == "libxsmm" or spec.plan.kernels == "libxsmm" then
    say("kernels", "libxsmm does not go with ranks and experts, as all ranks must choose the same experts; give c")
  end
  spec.kernels = "c"
end

-- Parts of a stack, and how many ranks can divide them. place: "" or what names the stack in messages.
local function check_heads(say, spec, count, place)
  for i, each in ipairs(each_layer(spec)) do
    local of = (spec.each and (" of layer %d"):format(i - 1) or "") .. place
    if spec.layers > 0 and not divisions.heads(each.heads, each.kv_heads, count) then
      local more = each.kv_heads < each.heads
        and (", or a multiple of it up to %d"):format(each.heads // each.kv_heads * each.kv_heads) or ""
      return say("ranks", "%d, but there are %d heads of keys%s; give at most that number%s", count, each.kv_heads, of,
        more)
    end
    if spec.layers > 0 and each.d_ff > 0 and each.d_ff < count then
      return say("ranks", "%d, but d_ff%s is %d; give at most that number", count, of, each.d_ff)
    end
  end
end

-- The most processes: ATTN2C_RANKS_MOST of runtime/ranks/ranks.h.
local MOST = 64

-- Checks the keys that do not go with stages.
local function check_stages(say, spec, encoder)
  local layers = spec.layers + (encoder and encoder.layers or 0)
  if spec.stages > layers then
    say("stages", "%d, but the model has %d layer%s; give at most that number", spec.stages, layers,
      layers == 1 and "" or "s")
  end
  if spec.processes > MOST then
    say("stages", "%d stages of %d ranks, but at most %d processes are allowed", spec.stages, spec.ranks or 1, MOST)
  end
  check_stack(say, spec, "", "stages", refused_by_stages)
  if encoder then check_stack(say, encoder, "memory.", "stages", refused_by_stages) end
end

--- Checks the keys that do not go with ranks, and sets spec.processes: the ranks of all stages; nil: one process.
--- Before: the whole spec is resolved.
function ranks.check(say, spec)
  local count, encoder = spec.ranks or 1, spec.memory and spec.memory.encoder
  local processes = count * (spec.stages or 1)
  if processes == 1 then return end
  spec.processes = processes
  if processes > count then check_stages(say, spec, encoder) end
  if spec.threads ~= 1 then say("threads", "1 is allowed with ranks and stages: give a rank for each core") end
  if count == 1 then return end
  check_stack(say, spec, "", "ranks", refused)
  check_kernels(say, spec, encoder)
  check_heads(say, spec, count, "")
  if encoder then
    check_stack(say, encoder, "memory.", "ranks", refused)
    check_heads(say, encoder, count, " in the encoder")
  end
  local given = spec.precision
  local quantised = types.all[types.quantised].word
  if precision.takes_factors(given) or precision.attends_in_integers(given)
    or precision.of_table(given) == quantised then
    say("precision", quantised .. " does not go with ranks, as a scale is that of a whole row; other types and "
      .. "`weights` do")
  end
end

return ranks
