-- draw_checkpoint.lua: random uses of what checkpoints brought into descriptions: layers that share
-- weights, scaled rotations, first positions, narrow tables, pools side by side, branches, names.
local attention = require("draw_attention")
local sizes = require("sizes")

local checkpoint = {}

local random = math.random
local pick, chance = sizes.pick, sizes.chance

local scalings = {
  function() return { type = "linear", factor = 2.5 } end,
  function() return { type = "dynamic", factor = 3.0, max_position = random(1, 50) } end,
  function() return { type = "llama3", factor = 8.0, low_freq_factor = 1, high_freq_factor = 4, original = 32 } end,
  function() return { type = "yarn", factor = 4.0, original = random(8, 64), truncate = chance(50) } end,
}

local function draw_positions(d)
  local stage = d.input and d.input.stage
  if d.positions == "rope" and (d.rope_dim or 4) >= 4 and (d.rope_dim or d.head_dim or d.d_model // d.heads) >= 4
    and not d.rope_patches and chance(40) then
    d.rope_scaling = pick(scalings)()
  end
  if d.rope_scaling and d.rope_scaling.type == "yarn" and d.rope_dim == (d.head_dim or d.d_model // d.heads)
    and chance(50) then
    d.rope_scaling.query_beta = 0.3
  end
  if d.positions ~= "learned" or stage == "qkv" then return end
  if chance(40) then
    d.first_position = random(0, 5)
    if d.max_position then d.max_position = d.max_position + d.first_position end
  end
  if chance(30) and not d.past and (d.weighting or "softmax") == "softmax" then d.positions = { "learned", "t5" } end
end

local function draw_tokens(d)
  local input = d.input
  if not input or input.stage ~= "tokens" then return end
  if chance(20) then input.scale = pick { 0.5, 2.0 } end
  if input.norm and chance(30) then input.eps = 0.5 end
  for _, stage in ipairs(d.output or {}) do if stage.stage == "vocabulary" then return end end
  if chance(20) then
    input.width, input.place_width = math.max(8, d.d_model // 2), nil
    if input.norm and input.width < 16 then input.eps = 0.5 end
  end
end

local function draw_branches(d)
  local output = d.output
  local has_mask = attention.has_mask(d, "key_padding")
  for _, layer in ipairs(type(d.layers) == "table" and d.layers or {}) do
    has_mask = has_mask or attention.has_mask(layer, "key_padding")
  end
  for _, stage in ipairs(has_mask and output or {}) do -- a deviation takes the rows that lengths leave
    if stage.over == "deviation" then stage.over = "mean" end
  end
  local last = output and output[#output]
  if not last or last.stage == "argmax" or last.stage == "topk" then return end
  if last.stage == "pool" and last.over ~= "first" and not (last.pad or last.ending) and chance(40) then
    last.over = pick { { "mean", "max" }, { "first", "last", "root" }, { "weighted" } }
  end
  local pooled = false
  for _, stage in ipairs(output) do pooled = pooled or stage.stage == "pool" end
  if not pooled and chance(30) then output[#output + 1] = { stage = "linear", to = random(20), of = 0 } end
end

local function draw_names(d)
  if chance(90) then return end
  local has_queries = d.layers > 0 and (d.projections == nil or d.projections == true)
  d.names = pick {
    { "torch", modules = { encoder = "trunk" } }, { "bert", prefix = { "model.", "" } },
    has_queries and { ["l*.attn.q"] = { "l*.qkv", part = 1, parts = 3, transpose = true } }
      or { "gpt2" },
  }
end

--- Adds to a description, which stays valid.
function checkpoint.draw(d)
  if d.layers > 0 and chance(15) then
    d.layer_groups = {}
    for i = 1, d.layers do d.layer_groups[i] = random(0, d.layers - 1) end
  end
  draw_positions(d)
  draw_tokens(d)
  draw_branches(d)
  draw_names(d)
  if d.mask == "key_padding" and not d.mask_value and not d.memory and chance(50) then d.mask = "attention_mask" end
  if chance(10) then d.inputs = { ids = "input_ids", lengths = "count" } end
end

return checkpoint
