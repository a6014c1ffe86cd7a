-- of_kind.lua: keeps what lowering finds out in a region for the other regions of its kind (plan/kinds.lua).
local of_kind = {}

--- Returns the table of what is known of the loops that are lowered next, the same for all regions of one kind; an
--- empty one where a region has no kind. what: "heads" or "panels", which are counted apart in self.known.
function of_kind.known(self, what)
  local kind = self.region and self.region.like
  if not kind then return {} end
  local found = self.known[what]
  if found.region ~= self.region then found.region, found.number = self.region, 0 end
  found.number = found.number + 1
  local list = found[kind] or {}
  found[kind] = list
  list[found.number] = list[found.number] or {}
  return list[found.number]
end

return of_kind
