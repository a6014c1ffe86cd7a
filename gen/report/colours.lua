-- colours.lua: defines the colours of a page, for a light and a dark setting.
-- Kinds differ in hue and in lightness, so that people who see few hues can distinguish them.
-- tests/spec/report/colours_spec.lua measures contrast and distance.
local colours = {}

--- The number of kinds that have a colour. Pictures call the colours k1, k2, ...
colours.kinds = 6

-- paper: the page; ink: text; soft: secondary text; line: grid; k1 to k6: kinds.
colours.light = {
  paper = "#ffffff", ink = "#16181d", soft = "#555b66", line = "#d5d8de", panel = "#f4f5f7", link = "#0b57a4",
  k1 = "#2461c0", k2 = "#a93407", k3 = "#269751", k4 = "#632078", k5 = "#b98b11", k6 = "#53535b",
}

colours.dark = {
  paper = "#14161a", ink = "#eceef2", soft = "#aab0bb", line = "#3a3f48", panel = "#1d2026", link = "#8cc4ff",
  k1 = "#5d96f6", k2 = "#fa8f4a", k3 = "#49c58f", k4 = "#c2b8eb", k5 = "#d9dc2a", k6 = "#898991",
}

--- Returns a setting as CSS custom properties.
function colours.css(setting)
  local lines = {}
  for _, name in ipairs { "paper", "ink", "soft", "line", "panel", "link", "k1", "k2", "k3", "k4", "k5", "k6" } do
    lines[#lines + 1] = ("--%s:%s"):format(name, setting[name])
  end
  return table.concat(lines, ";")
end

return colours
