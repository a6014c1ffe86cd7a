-- joined.lua: puts the rows of a page's picture after the rows of its tokens, before the first layer.
local stages = require("data.stages")

local joined = {}

--- Returns x with the rows of self.joined after it and a norm of all, or x without them. Numbers that are added by
--- boxes then go by places of all rows.
function joined.add(self, x)
  if not self.joined then return x end
  local path = self.prefix .. "joined"
  if self.places then
    local down, across = stages.patches(self.spec.memory.encoder.input)
    self.boxes = self:op("page_places", path .. ".places", { boxes = self.boxes }, { across = across, down = down })
  end
  x = self:op("join", path .. ".rows", { a = x, b = self.joined }, { batch = self.batch, zeros = 0 })
  return self:norm(path .. ".norm", x)
end

--- Returns the first rows of x, those before the joined ones.
function joined.own(self, x, path)
  if not self.joined then return x end
  return self:op("join", path .. ".own", { a = x }, { batch = self.batch, zeros = 0, rows = self.spec.seq })
end

return joined
