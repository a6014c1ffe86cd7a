-- colours_spec: text and shapes can be read in both settings (WCAG's contrast), and kinds can be told by people who see
-- few hues (Viénot's, Brettel's and Mollon's simulation, 1999).
require("tests.spec.helper")
local colours = require("report.colours")

local function linear(hex)
  local rgb = {}
  for i = 1, 3 do
    local c = tonumber(hex:sub(2 * i, 2 * i + 1), 16) / 255
    rgb[i] = c <= 0.04045 and c / 12.92 or ((c + 0.055) / 1.055) ^ 2.4
  end
  return rgb
end

local function luminance(rgb) return 0.2126 * rgb[1] + 0.7152 * rgb[2] + 0.0722 * rgb[3] end

local function contrast(a, b)
  local x, y = luminance(linear(a)), luminance(linear(b))
  return (math.max(x, y) + 0.05) / (math.min(x, y) + 0.05)
end

-- As seen without one kind of cone, in linear RGB.
local simulations = {
  full = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } },
  protan = { { 0.11238, 0.88762, 0 }, { 0.11238, 0.88762, 0 }, { 0.00401, -0.00401, 1 } },
  deutan = { { 0.29275, 0.70725, 0 }, { 0.29275, 0.70725, 0 }, { -0.02234, 0.02234, 1 } },
}

-- CIE L*a*b* of linear RGB.
local function lab(rgb)
  local function f(t) return t > 0.008856 and t ^ (1 / 3) or 7.787 * t + 16 / 116 end
  local r, g, b = math.max(0, rgb[1]), math.max(0, rgb[2]), math.max(0, rgb[3])
  local x = f((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505)
  local y = f(0.2126 * r + 0.7152 * g + 0.0722 * b)
  local z = f((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089)
  return { 116 * y - 16, 500 * (x - y), 200 * (y - z) }
end

local function seen(hex, matrix)
  local rgb, result = linear(hex), {}
  for i = 1, 3 do result[i] = matrix[i][1] * rgb[1] + matrix[i][2] * rgb[2] + matrix[i][3] * rgb[3] end
  return lab(result)
end

describe("colours", function()
  for _, name in ipairs { "light", "dark" } do
    local setting = colours[name]

    it("of text have contrast 4.5 and more, of shapes 3 and more: " .. name, function()
      for _, text in ipairs { "ink", "soft", "link" } do
        for _, ground in ipairs { "paper", "panel" } do
          assert.is_true(contrast(setting[text], setting[ground]) >= 4.5, text .. " on " .. ground)
        end
      end
      for k = 1, colours.kinds do
        assert.is_true(contrast(setting["k" .. k], setting.paper) >= 3, "k" .. k)
      end
    end)

    it("of kinds can be told with any eyes: " .. name, function()
      for eyes, matrix in pairs(simulations) do
        for i = 1, colours.kinds do
          for j = i + 1, colours.kinds do
            local a, b, sum = seen(setting["k" .. i], matrix), seen(setting["k" .. j], matrix), 0
            for n = 1, 3 do sum = sum + (a[n] - b[n]) ^ 2 end
            assert.is_true(math.sqrt(sum) >= 20, ("%s: k%d and k%d: %.1f"):format(eyes, i, j, math.sqrt(sum)))
          end
        end
      end
    end)
  end
end)
