-- names.lua: naming schemes: how checkpoints call the weights that the graph calls
-- l3.attn.q.weight and so on. A scheme is a list of rules, the first that fits is taken.
--
-- pattern   of the graph's path
-- names     what a checkpoint may call it, tried in order; %1 .. are the pattern's captures
-- part, parts   the weight is the part-th of `parts` equal row ranges of the checkpoint's tensor
-- when          a function of the spec: whether the rule holds for this model
local names = {}

local function layer(path, torch_path, more)
  local rule = {
    pattern = "^l(%d+)%." .. path .. "%.(%a+)$",
    names = { "encoder.layers.%1." .. torch_path, "layers.%1." .. torch_path },
  }
  for key, value in pairs(more or {}) do rule[key] = value end
  return rule
end

-- nn.MultiheadAttention keeps its projections apart where keys or values have another width.
local function is_apart(spec)
  return (spec.kdim ~= nil and spec.kdim ~= spec.d_model) or (spec.vdim ~= nil and spec.vdim ~= spec.d_model)
end

-- One attention and nothing else, which a checkpoint may hold without any layer around it.
local function is_alone(spec)
  return spec.input ~= nil and (spec.input.stage == "qkv" or (spec.layers == 1 and spec.d_ff == 0))
end

local function is_decoder(spec) return spec.memory ~= nil end

-- The rules of an attention that is this member of a layer.
local function attention(path, module)
  local list = {}
  local function add(name, torch_name, more)
    local alone = layer(path .. "%." .. name, torch_name, more)
    alone.names, alone.when = { torch_name, "layers.%1." .. module .. "." .. torch_name }, is_alone
    list[#list + 1] = alone
    list[#list + 1] = layer(path .. "%." .. name, module .. "." .. torch_name, more)
  end
  for i, name in ipairs { "q", "k", "v" } do
    list[#list + 1] = { pattern = "^l0%." .. path .. "%." .. name .. "%.weight$", when = is_apart,
      names = { name .. "_proj_weight", "self_attn." .. name .. "_proj_weight" } }
    add(name, "in_proj_%2", { part = i, parts = 3 })
  end
  add("out", "out_proj.%2")
  for _, name in ipairs { "bias_k", "bias_v" } do
    local pattern = ("^l(%%d+)%%.%s%%.%s$"):format(path, name)
    list[#list + 1] = { pattern = pattern, when = is_alone,
      names = { name, ("layers.%%1.%s.%s"):format(module, name) } }
    list[#list + 1] = { pattern = pattern,
      names = { ("encoder.layers.%%1.%s.%s"):format(module, name), ("layers.%%1.%s.%s"):format(module, name) } }
  end
  return list
end

local function joined(...)
  local list = {}
  for _, part in ipairs { ... } do for _, rule in ipairs(part) do list[#list + 1] = rule end end
  return list
end

local torch = joined(attention("attn", "self_attn"), attention("cross", "multihead_attn"), {
  layer("ff%.up", "linear1.%2"),
  layer("ff%.down", "linear2.%2"),
  layer("norm1", "norm1.%2"),
  layer("norm_cross", "norm2.%2"),
  layer("norm2", "norm3.%2", { when = is_decoder }),
  layer("norm2", "norm2.%2"),
  { pattern = "^final_norm%.(%a+)$", names = { "encoder.norm.%1", "norm.%1" } },
  { pattern = "^input%.tokens%.weight$", names = { "token_embedding.weight", "embedding.weight" } },
  { pattern = "^input%.positions%.weight$", names = { "position_embedding.weight" } },
  { pattern = "^input%.linear%.(%a+)$", names = { "input.%1" } },
  { pattern = "^output%.(%d+)%.%a+%.(%a+)$", names = { "output.%1.%2" }, counts_from = 0 },
  { pattern = "^(.*)$", names = { "%1" } }, -- what PyTorch has no module for goes by the graph's own path
})

-- A stack with a memory is a decoder: `decoder` of a module, or by itself. With an encoder in the memory, as in
-- nn.Transformer, no other name is looked for.
function torch.adapt(found, spec)
  if not is_decoder(spec) then return end
  local names_before = table.move(found, 1, #found, 1, {})
  for i = #found, 1, -1 do found[i] = nil end
  for _, name in ipairs(names_before) do
    local decoder, count = name:gsub("^encoder%.", "decoder.")
    found[#found + 1] = decoder
    if spec.memory.encoder and count == 1 then return end
  end
end

names.schemes = {
  -- The graph's own paths.
  attn2c = { { pattern = "^(.*)$", names = { "%1" } } },

  -- torch.nn.TransformerEncoder as `encoder` of a module, or by itself; TransformerDecoder as `decoder`, or by itself;
  -- nn.Transformer with both; nn.MultiheadAttention by itself; `input`, and `output` as an nn.Sequential whose members
  -- are the description's output stages, counted from 0.
  torch = torch,
}

-- An encoder within a model goes by the names of an encoder, its tokens by source_embedding.
local encoder_spec = {}

local function find_in_encoder(scheme, path)
  if path == "input.tokens.weight" then return { "source_embedding.weight", part = 1, parts = 1 } end
  local found = names.find(scheme, path, encoder_spec)
  if found[1] == path then found[1] = "encoder." .. path end
  return found
end

--- The shape of a weight's tensor in a checkpoint: the weight's own, unless it takes only a part of it.
function names.source_shape(tensor)
  local source = tensor.source
  if source.shape then return source.shape end
  local shape = table.move(tensor.shape, 1, #tensor.shape, 1, {})
  if source.rows then shape[1] = source.rows end
  if source.heads then shape[source.axis] = shape[source.axis] // #source.heads * source.all end
  shape[1] = shape[1] * tensor.parts
  return shape
end

--- Where a weight of the graph is found: { names, part, parts }. spec: the model's.
function names.find(scheme, path, spec)
  local within = path:match("^encoder%.(.*)$")
  if within and scheme == "torch" then return find_in_encoder(scheme, within) end
  for _, rule in ipairs(assert(names.schemes[scheme], scheme)) do
    if path:match(rule.pattern) and (not rule.when or rule.when(spec or {})) then
      local found = { part = rule.part or 1, parts = rule.parts or 1 }
      for i, name in ipairs(rule.names) do
        local text = path:gsub(rule.pattern, name)
        if rule.counts_from then
          text = text:gsub("%.(%d+)%.", function(n)
            return (".%d."):format(math.tointeger(n) - 1 + rule.counts_from)
          end, 1)
        end
        found[i] = text
      end
      local adapt = names.schemes[scheme].adapt
      if adapt then adapt(found, spec or {}) end
      return found
    end
  end
  error("no name for " .. path .. " in scheme " .. scheme)
end

return names
