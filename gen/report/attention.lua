-- attention.lua: what heads look at.
local attention = {}

function attention.wanted(_) return false end
function attention.part(subject) return subject.maps and "" or nil end

return attention
