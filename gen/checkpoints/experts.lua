-- experts.lua: holds what families of mixtures of experts share: configuration keys, tensors' names, and the key
-- `experts` of a description.
-- A name with {expert} stands for one tensor an expert; other tensors of experts have them as their first axis.
local layers = require("checkpoints.layers")
local words = require("common.words")

local experts = {}

-- The keys of config.json that say how many experts there are.
local sizes = {
  { "num_experts", "num_local_experts", to = "experts_count", default = 8, kind = "count" },
  { "num_experts_per_tok", to = "experts_used", default = 2, kind = "count" },
  { "moe_intermediate_size", to = "experts_width", default = false, kind = "count" },
}

--- Returns these keys with a family's defaults, by facts, and `others`.
function experts.config(defaults, others)
  local list = words.map(sizes, function(entry)
    local default = defaults[entry.to]
    return words.merged(entry, { default = default == nil and entry.default or default })
  end)
  return words.append(list, others)
end

--- The keys of families in which weights of chosen experts may be normalised, and of those with dense layers.
experts.normalised = { { "norm_topk_prob", to = "normalise", default = false, kind = "flag" } }
experts.of_qwen = words.append({
  { "decoder_sparse_step", to = "sparse_step", default = 1, kind = "count" },
  { "mlp_only_layers", to = "dense_layers", default = false, kind = "list" },
}, experts.normalised)

--- Returns Llama's rules of tensors in which the feed-forward is one of experts: the router's names and the names of
--- each expert's gate, up and down (in braces), after "layers.*.".
function experts.tensors(routers, parts)
  return {
    { "l*.ff.router", words.map(routers, function(router) return "layers.*." .. router end) },
    { "l*.ff.experts.{gate,up,down}", "layers.*." .. parts },
  }
end

--- The same for families that began with Qwen.
experts.qwen_tensors = experts.tensors({ "mlp.gate" }, "mlp.experts.{expert}.{gate,up,down}_proj")

-- Sets the names of weights of a folder that has all experts of a layer in two tensors. One has an expert's rows of its
-- gate, then its rows of up, as transformers 5 keeps them in memory. names, has: of a family's derive.
local function set_fused(facts, names, has)
  local function is_in(path)
    for i = 0, facts.layers - 1 do
      if has(("layers.%d.%s.experts.gate_up_proj"):format(i, path)) then return true end
    end
    return false
  end
  local path
  for _, each in ipairs { "feed_forward", "block_sparse_moe", "mlp" } do path = is_in(each) and each or path end
  local function set(part, name, more)
    names[("l*.ff.experts.%s.weight"):format(part)] = words.merged(words.map(facts.family.prefixes, function(prefix)
      return ("%slayers.*.%s.experts.%s"):format(prefix, path, name)
    end), more)
  end
  if not path then return end
  set("gate", "gate_up_proj", { part = 1, parts = 2 })
  set("up", "gate_up_proj", { part = 2, parts = 2 })
  set("down", "down_proj")
end

--- Sets facts.experts, the layers without experts, and names of the weights of experts. more: further fields; names,
--- has: of a family's derive, or nil if its files have one form.
function experts.set(facts, more, names, has)
  facts.experts = words.merged({ count = facts.experts_count, used = facts.experts_used,
    d_ff = facts.experts_width or facts.d_ff }, more)
  local is_dense, step = words.set(facts.dense_layers or {}), facts.sparse_step or 1
  for i = 0, facts.layers - 1 do
    if is_dense[i] or (i + 1) % step ~= 0 then layers.own(facts, i).experts = false end
  end
  if names then set_fused(facts, names, has) end
end

return experts
