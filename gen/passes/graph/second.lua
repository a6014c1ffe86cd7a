-- second.lua: adds the second feed-forward of a layer (the adapters of languages in MMS, Pratap et al. 2023).
-- Its norm and activation do not follow the layer's.

--- Returns x + down(relu(up norm(x))). gain: the factor of the random weights of the last product.
return function(self, path, x, gain)
  local up = self:linear(path .. ".up", self:norm(path .. ".norm", x, { kind = "layer", eps = 1e-5 }),
    self.spec.second_ff, true)
  local act = self:op("activate", path .. ".act", { x = up }, { ["function"] = "relu" })
  return self:op("add", path .. ".sum", { a = self:linear(path .. ".down", act, self.spec.d_model, true, gain), b = x })
end
