-- experts.lua: makes a feed-forward that is a mixture of experts.
-- A router chooses some of the experts for each row. Their rows are sorted by expert, so that each expert multiplies
-- its rows as one block. Tensors between `spread` and `combine` have a part for each expert of a row, and are stored in
-- the order of experts (the storage `grouped`).
local Builder = require("passes.graph.builder")

-- Returns what the router says of each expert: a number for the choice, and the one that weights are made of.
local function scores_of(self, path, x)
  local e = self.spec.experts
  local logits = self:router(path .. ".router", x, e.count, e.bias)
  if e.router == "sigmoid" then
    local y = self:op("activate", path .. ".scores", { x = logits }, { ["function"] = "sigmoid" })
    return e.correction and self:op("add", path .. ".corrected",
      { a = y, b = self:weight(path .. ".router.correction", { e.count }, 0, 0.1) }) or y, y
  end
  -- The softmax of the chosen logits equals the chosen part of a softmax of all, divided by its sum.
  local y = e.normalise and logits or self:op("softmax_rows", path .. ".scores", { x = logits })
  return y, y
end

-- Returns the choice of experts of each row, and their weights.
local function routed(self, path, x)
  local e = self.spec.experts
  local for_choice, for_weights = scores_of(self, path, x)
  local chosen = self:op("topk_indices", path .. ".chosen", { x = for_choice }, { k = e.used })
  local weights = self:op("pick", path .. ".picked", { x = for_weights, chosen = chosen })
  if e.normalise and e.router == "softmax" then
    weights = self:op("softmax_rows", path .. ".weights", { x = weights })
  elseif e.normalise then
    weights = self:op("share", path .. ".weights", { x = weights }, { eps = Builder.to_float(e.sum_eps) })
  end
  if not e.scales then return chosen, weights end
  local own = self:op("pick", path .. ".scales", { chosen = chosen,
    x = self:weight(path .. ".router.scales.weight", { e.count }, 1, 0.1) })
  return chosen, self:op("multiply", path .. ".scaled", { a = weights, b = own })
end

-- Returns the norm of the states that the router reads, which has the factor 1 / sqrt(d_model).
local function for_router(self, path, states)
  return self:norm(path .. ".router.norm", states, { kind = "rms", factor = 1 / math.sqrt(self.spec.d_model) })
end

-- Returns what the shared expert, a dense feed-forward, adds to each row. dense: makes one of a width.
local function shared(self, path, x, dense)
  local e = self.spec.experts
  local y = dense(path .. ".shared", x, e.shared)
  if e.own_norms then y = self:norm(path .. ".shared.norm", y) end
  if not e.shared_gate then return y end
  local gate = self:op("activate", path .. ".shared_gate.act",
    { x = self:router(path .. ".shared_gate", x, 1) }, { ["function"] = "sigmoid" })
  return self:op("gate_rows", path .. ".shared.with_gate", { a = y, b = gate })
end

--- Returns the result of a mixture of experts. x: the states with the norm before the feed-forward; with own_norms the
--- router and the experts have norms of the states themselves. dense(path, x, width): a feed-forward of a width.
return function(self, path, x, states, gain, dense)
  local spec, e = self.spec, self.spec.experts
  local chosen, weights = routed(self, path, e.own_norms and for_router(self, path, states) or x)
  local from_shared = e.shared > 0 and shared(self, path, x, dense) or nil
  if e.own_norms then x = self:norm(path .. ".experts.norm", states) end
  local groups = self:op("group_rows", path .. ".groups", { chosen = chosen }, { experts = e.count })
  local inner = { experts = e.count, width = e.d_ff, bias = spec.bias.up }
  local function product(name) return self:of_experts(("%s.experts.%s"):format(path, name), x, groups, inner) end
  local y = spec.gated and self:gated(path, product)
    or self:op("activate", path .. ".act", { x = product("up") }, { ["function"] = spec.activation })
  y = self:of_experts(path .. ".experts.down", y, groups,
    { experts = e.count, width = spec.d_model, bias = spec.bias.down, gain = gain })
  local factor = (self:residual_factor(false) or 1) * e.factor
  y = self:op("combine", path .. ".combined", { x = y, weights = weights, groups = groups },
    { factor = Builder.to_float(factor) })
  y.groups = nil
  if e.own_norms then y = self:norm(path .. ".experts.norm_after", y) end
  if e.sum_bias then
    local bias = self:weight(path .. ".combined.bias", { spec.d_model }, 0, 0.1)
    y = self:op("add", path .. ".with_bias", { a = y, b = bias })
  end
  return from_shared and self:op("add", path .. ".with_shared", { a = y, b = from_shared }) or y
end
