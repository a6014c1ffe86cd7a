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

-- Of a model with an encoder in its memory the main stack is the decoder.
local function has_encoder(spec) return spec.memory ~= nil and spec.memory.encoder ~= nil end

-- nn.MultiheadAttention keeps its projections apart where keys or values have another width.
local function is_apart(spec)
  return (spec.kdim ~= nil and spec.kdim ~= spec.d_model) or (spec.vdim ~= nil and spec.vdim ~= spec.d_model)
end

-- One attention and nothing else, which a checkpoint may hold without any layer around it.
local function is_alone(spec)
  return spec.input ~= nil and (spec.input.stage == "qkv" or (spec.layers == 1 and spec.d_ff == 0))
end

-- A rule of an attention, as a member of a layer: in self_attn, multihead_attn, or, of the first layer, by itself.
local function attention(path, module, bare)
  local list = {}
  local function add(name, torch_name, more)
    local rule = layer(path .. "%." .. name, module .. "." .. torch_name, more)
    list[#list + 1] = rule
    if bare then
      local alone = layer(path .. "%." .. name, torch_name, more)
      alone.names, alone.when = { torch_name, rule.names[2], rule.names[1] }, is_alone
      table.insert(list, 1, alone)
    end
    local decoder = {}
    for key, value in pairs(rule) do decoder[key] = value end
    decoder.names = { "decoder.layers.%1." .. module .. "." .. torch_name }
    decoder.when = has_encoder
    table.insert(list, 1, decoder)
  end
  for i, name in ipairs { "q", "k", "v" } do
    add(name, "in_proj_%2", { part = i, parts = 3 })
    if bare then
      table.insert(list, 1, { pattern = "^l0%." .. path .. "%." .. name .. "%.weight$", when = is_apart,
        names = { name .. "_proj_weight", "self_attn." .. name .. "_proj_weight" } })
    end
  end
  add("out", "out_proj.%2")
  for _, name in ipairs { "bias_k", "bias_v" } do
    list[#list + 1] = { pattern = ("^l(%%d+)%%.%s%%.%s$"):format(path, name),
      names = { ("encoder.layers.%%1.%s.%s"):format(module, name), ("layers.%%1.%s.%s"):format(module, name), name } }
  end
  return list
end

-- Whatever the main stack's rule says, of an encoder within a model.
local function of_encoder(rules)
  local list = {}
  for _, rule in ipairs(rules) do
    local copy = {}
    for key, value in pairs(rule) do copy[key] = value end
    copy.pattern = "^encoder%." .. rule.pattern:sub(2)
    list[#list + 1] = copy
  end
  return list
end

-- A part of a decoder's layer, under the decoder's name where the model has an encoder too.
local function decoder_layer(path, torch_path)
  local plain = layer(path, torch_path, { when = function(spec) return spec.memory ~= nil end })
  local within = layer(path, torch_path, { when = has_encoder })
  within.names = { "decoder.layers.%1." .. torch_path }
  return within, plain
end

local function flat(lists)
  local list = {}
  for _, each in ipairs(lists) do
    if each.pattern then list[#list + 1] = each
    else for _, rule in ipairs(each) do list[#list + 1] = rule end end
  end
  return list
end

local function torch_rules()
  local norm2_within, norm2 = decoder_layer("norm2", "norm3.%2")
  local cross_within, cross = decoder_layer("norm_cross", "norm2.%2")
  local feed_forward = {
    layer("ff%.up", "linear1.%2"), layer("ff%.down", "linear2.%2"), layer("norm1", "norm1.%2"),
    layer("norm2", "norm2.%2"),
  }
  local within = {}
  for i, rule in ipairs(feed_forward) do
    within[i] = { pattern = rule.pattern, names = { (rule.names[1]:gsub("^encoder", "decoder")) }, when = has_encoder }
  end
  local self_attention = attention("attn", "self_attn", true)
  local encoder_attention = {}
  for _, rule in ipairs(self_attention) do
    if rule.when == nil then encoder_attention[#encoder_attention + 1] = rule end
  end
  return flat {
    { norm2_within, norm2, cross_within, cross }, within, attention("cross", "multihead_attn", false), self_attention,
    feed_forward, of_encoder(encoder_attention), of_encoder(feed_forward),
    { pattern = "^encoder%.final_norm%.(%a+)$", names = { "encoder.norm.%1" } },
    { pattern = "^final_norm%.(%a+)$", names = { "decoder.norm.%1" }, when = has_encoder },
    { pattern = "^final_norm%.(%a+)$", names = { "encoder.norm.%1", "norm.%1" } },
    { pattern = "^encoder%.input%.tokens%.weight$", names = { "source_embedding.weight" } },
    { pattern = "^input%.tokens%.weight$", names = { "token_embedding.weight", "embedding.weight" } },
    { pattern = "^input%.positions%.weight$", names = { "position_embedding.weight" } },
    { pattern = "^input%.linear%.(%a+)$", names = { "input.%1" } },
    { pattern = "^output%.(%d+)%.%a+%.(%a+)$", names = { "output.%1.%2" }, counts_from = 0 },
    { pattern = "^(.*)$", names = { "%1" } }, -- what PyTorch has no module for goes by the graph's own path
  }
end

names.schemes = {
  -- The graph's own paths.
  attn2c = { { pattern = "^(.*)$", names = { "%1" } } },

  -- torch.nn.TransformerEncoder as `encoder` of a module, or by itself; TransformerDecoder, and nn.Transformer with
  -- both; nn.MultiheadAttention by itself; `input`, and `output` as an nn.Sequential whose members are the
  -- description's output stages, counted from 0.
  torch = torch_rules(),
}

--- Where a weight of the graph is found: { names, part, parts }. spec: the model's.
function names.find(scheme, path, spec)
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
      return found
    end
  end
  error("no name for " .. path .. " in scheme " .. scheme)
end

return names
