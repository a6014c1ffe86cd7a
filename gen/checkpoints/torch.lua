-- torch.lua: holds the naming scheme of PyTorch's own modules.
-- It knows nn.TransformerEncoder and TransformerDecoder as `encoder` and `decoder` of a module or by themselves,
-- nn.Transformer with both, nn.MultiheadAttention by itself, `input`, and `output`: an nn.Sequential whose members
-- are the description's output stages, counted from 0.
local torch = {}

local function layer(path, torch_path, more)
  local rule = {
    pattern = "^l(%d+)%." .. path .. "%.(%a+)$",
    source = { names = { "encoder.layers.%1." .. torch_path, "layers.%1." .. torch_path } },
  }
  for key, value in pairs(more or {}) do
    if key == "when" then rule.when = value else rule.source[key] = value end
  end
  return rule
end

-- True if keys or values have another width: nn.MultiheadAttention then stores its projections as separate tensors.
local function is_apart(spec)
  return (spec.kdim ~= nil and spec.kdim ~= spec.d_model) or (spec.vdim ~= nil and spec.vdim ~= spec.d_model)
end

-- True if the model is one attention and nothing else, which a checkpoint may hold without a layer around it.
local function is_alone(spec)
  return spec.input ~= nil and (spec.input.stage == "qkv" or (spec.layers == 1 and spec.d_ff == 0))
end

local function is_decoder(spec) return spec.memory ~= nil end

-- Returns the rules of an attention that is the member `module` of a layer.
local function attention(path, module)
  local list = {}
  local function add(name, torch_name, more)
    local alone = layer(path .. "%." .. name, torch_name, more)
    alone.source.names, alone.when = { torch_name, "layers.%1." .. module .. "." .. torch_name }, is_alone
    list[#list + 1] = alone
    list[#list + 1] = layer(path .. "%." .. name, module .. "." .. torch_name, more)
  end
  for i, name in ipairs { "q", "k", "v" } do
    list[#list + 1] = { pattern = "^l0%." .. path .. "%." .. name .. "%.weight$", when = is_apart,
      source = { names = { name .. "_proj_weight", "self_attn." .. name .. "_proj_weight" } } }
    add(name, "in_proj_%2", { part = i, parts = 3 })
  end
  add("out", "out_proj.%2")
  for _, name in ipairs { "bias_k", "bias_v" } do
    local pattern = ("^l(%%d+)%%.%s%%.%s$"):format(path, name)
    list[#list + 1] = { pattern = pattern, when = is_alone,
      source = { names = { name, ("layers.%%1.%s.%s"):format(module, name) } } }
    list[#list + 1] = { pattern = pattern, source = { names = {
      ("encoder.layers.%%1.%s.%s"):format(module, name), ("layers.%%1.%s.%s"):format(module, name) } } }
  end
  return list
end

local function joined(...)
  local list = {}
  for _, part in ipairs { ... } do for _, rule in ipairs(part) do list[#list + 1] = rule end end
  return list
end

torch.rules = joined(attention("attn", "self_attn"), attention("cross", "multihead_attn"), {
  layer("ff%.up", "linear1.%2"),
  layer("ff%.down", "linear2.%2"),
  layer("norm1", "norm1.%2"),
  layer("norm_cross", "norm2.%2"),
  layer("norm2", "norm3.%2", { when = is_decoder }),
  layer("norm2", "norm2.%2"),
  { pattern = "^final_norm%.(%a+)$", source = { names = { "encoder.norm.%1", "norm.%1" } } },
  { pattern = "^input%.tokens%.weight$", source = { names = { "token_embedding.weight", "embedding.weight" } } },
  { pattern = "^input%.positions%.weight$", source = { names = { "position_embedding.weight" } } },
  { pattern = "^input%.linear%.(%a+)$", source = { names = { "input.%1" } } },
  { pattern = "^output%.(%d+)%.%a+%.(%a+)$", source = { names = { "output.%1.%2" } }, counts_from = 0 },
  { pattern = "^(.*)$", source = { names = { "%1" } } }, -- the graph's own path, if PyTorch has no such module
})

-- Returns the names of a decoder, as `decoder` of a module or by itself. With an encoder in the memory, as in
-- nn.Transformer, only the first is looked for.
local function decoder_names(list, spec)
  local result = {}
  for _, name in ipairs(list) do
    local decoder, count = name:gsub("^encoder%.", "decoder.")
    result[#result + 1] = decoder
    if spec.memory.encoder and count == 1 then return result end
  end
  return result
end

--- Returns the names that a rule gave for a path, changed as this model has them.
function torch.rules.adapt(rule, _, list, spec)
  if rule.counts_from then
    for i, name in ipairs(list) do
      list[i] = name:gsub("%.(%d+)%.", function(n) return (".%d."):format(math.tointeger(n) - 1 + rule.counts_from) end,
        1)
    end
  end
  return is_decoder(spec) and decoder_names(list, spec) or list
end

--- Returns the source of a path of an encoder within a model. It has the names of an encoder, and source_embedding for
--- its tokens. find: path -> source, for a model that is an encoder.
function torch.in_encoder(path, find)
  if path == "input.tokens.weight" then return { names = { "source_embedding.weight" } } end
  local found = find(path)
  if found.names[1] == path then found.names[1] = "encoder." .. path end
  return found
end

return torch
