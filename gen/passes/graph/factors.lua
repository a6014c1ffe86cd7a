-- factors.lua: reads and writes the file of smoothing factors and of the importance of inputs, which `calibrate` finds.
-- A set has a power of two for each channel of an input of products.
--
-- The first line has the format and the number of lines that follow, which tells if the file was cut. A line follows
-- for each set of products that read the same numbers: the products' paths in the graph, each with a checksum of the
-- weights that it had (attn2c_factors in runtime/base/descriptor.h), and the powers, a whole number per channel.
-- Activations are divided by 2^power, weights multiplied:
--   attn2c factors 2 2
--   l0.attn.q=1f2e3d4c5b6a7988 l0.attn.k=0123456789abcdef l0.attn.v=fedcba9876543210: 0 0 4 -1
-- A line that begins with "weigh" has the importance of inputs of products in scale blocks (importance.lua):
--   weigh l0.attn.q=1f2e3d4c5b6a7988 l0.attn.k=0123456789abcdef: 0 3 -7 1
local faults = require("common.faults")
local files = require("common.files")
local hash = require("common.hash")

local factors = {}

factors.FORMAT, factors.MOST = 2, 24

local MOST_BYTES = 64 << 20
local CHECKSUM_DIGITS = 16

--- Returns the text of a file. list: { { products = paths, checksums = one per product, powers = integers, weighs =
--- true if these are the importance of inputs } }.
function factors.text(list)
  local lines = { ("attn2c factors %d %d"):format(factors.FORMAT, #list) }
  for _, each in ipairs(list) do
    local products = {}
    for i, product in ipairs(each.products) do products[i] = ("%s=%016x"):format(product, each.checksums[i]) end
    lines[#lines + 1] = ("%s%s: %s"):format(each.weighs and "weigh " or "", table.concat(products, " "),
      table.concat(each.powers, " "))
  end
  return table.concat(lines, "\n") .. "\n"
end

local function powers_of(text, refuse)
  local powers = {}
  for word in text:gmatch("[^ ]+") do
    local power = #word <= 4 and word:match("^-?%d+$") and math.tointeger(tonumber(word))
    if not power or math.abs(power) > factors.MOST then
      refuse("power %s, but an integer from -%d to %d is allowed", faults.quote(word:sub(1, 40)), factors.MOST,
        factors.MOST)
    end
    powers[#powers + 1] = power
  end
  return powers
end

-- Calls add(product, checksum) for each PRODUCT=CHECKSUM of a list.
local function each_product(list, refuse, add)
  for word in list:gmatch("[^ ]+") do
    local product, checksum = word:match("^([%w_.]+)=(%x+)$")
    if not product or #checksum ~= CHECKSUM_DIGITS then
      refuse("%s, but PRODUCT=CHECKSUM is expected, with %d hexadecimal digits", faults.quote(word:sub(1, 40)),
        CHECKSUM_DIGITS)
    end
    add(product, math.tointeger(tonumber("0x" .. checksum)))
  end
end

--- Reads a text that factors.text wrote. Returns product -> powers, product -> checksum, and product -> { powers,
--- checksum } of the importance of inputs. `place` names it in faults: format, one line.
function factors.parse(text, place)
  local number, count, of, checksums, weighed = 0, "", {}, {}, {}
  local function refuse(...) faults.raise("format", "%s: line %d: %s", place, number, faults.line(...)) end
  for line in (text:gsub("\n$", "") .. "\n"):gmatch("([^\n]*)\n") do
    number = number + 1
    local shown = faults.quote(line:sub(1, 60))
    if number == 1 then
      local format
      format, count = line:match("^attn2c factors (%d+) ?(%d*)$") -- older files have no count
      if not format then refuse(shown .. ", but \"attn2c factors FORMAT\" is expected") end
      if format ~= tostring(factors.FORMAT) then
        refuse("format %s, but %d is allowed: calibrate again", format:sub(1, 20), factors.FORMAT)
      end
    else
      local weighs, rest = line:match("^(weigh )(.*)$")
      local products, list = (rest or line):match("^([%w_.][%w_.= ]*):([ %w-]+)$")
      if not products then refuse(shown .. ", but \"PRODUCT=CHECKSUM …: POWER …\" is expected") end
      local powers, known = powers_of(list, refuse), weighs and weighed or of
      each_product(products, refuse, function(product, checksum)
        if known[product] then refuse("a second line for " .. faults.quote(product)) end
        known[product] = weighs and { powers = powers, checksum = checksum } or powers
        if not weighs then checksums[product] = checksum end
      end)
    end
  end
  if count ~= "" and (count ~= tostring(number - 1) or text:sub(-1) ~= "\n") then
    refuse("is the last, but line 1 says that %s follow it: the file was cut", count:sub(1, 20))
  end
  return of, checksums, weighed
end

--- Returns state.factors, { of, checksums, weighed: as parse returns them, file, asked, hash }, or nil.
--- asked: { file = path, asked = whether the user named it }. Faults: io if a file cannot be read, or the named one
--- does not exist; as parse.
function factors.given(asked)
  if not asked then return nil end
  local text, message = files.read_some(asked.file, MOST_BYTES + 1)
  if not text then
    if message or asked.asked then faults.raise("io", "%s: %s", asked.file, message or "is not there") end
    return nil
  end
  if #text > MOST_BYTES then faults.raise("format", "%s: more than %d bytes", asked.file, MOST_BYTES) end
  local of, checksums, weighed = factors.parse(text, asked.file)
  return { of = of, checksums = checksums, weighed = weighed, file = asked.file, asked = asked.asked,
    hash = hash.text(text) }
end

--- Adds a note if a file is used that no option names. The graph has been made.
function factors.conclude(state)
  if state.primary.graph.smoothing and not state.factors.asked then
    state.notes[#state.notes + 1] = state.factors.file
      .. ": is used, because it is next to the description; --factors=none goes without it"
  end
end

return factors
