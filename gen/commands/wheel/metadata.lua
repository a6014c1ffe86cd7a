-- metadata.lua: writes the texts that describe a Python wheel, and checks its name and version.
local faults = require("common.faults")
local reserved_python = require("data.reserved_python")
local terminal = require("common.terminal")
local version = require("common.version")

local metadata = {}

metadata.usual_version = "1.0"

--- True for a version in the canonical form of PEP 440.
function metadata.is_version(text)
  local rest = text:gsub("^[1-9]%d*!", "", 1)
  local function take(before)
    local number, after = rest:match("^" .. before .. "(%d+)(.*)$")
    if not number or number:match("^0%d") then return false end
    rest = after
    return true
  end
  if #text > 60 or not take("") then return false end
  while take("%.") do end
  local _ = take("a") or take("b") or take("rc")
  take("%.post")
  take("%.dev")
  if rest == "" then return true end
  if not rest:match("^%+[%l%d.]+$") then return false end
  for part in (rest:sub(2) .. "."):gmatch("([^.]*)%.") do
    if part == "" or part:match("^0%d+$") then return false end
  end
  return true
end

--- Refuses a version that is not in the canonical form of PEP 440.
function metadata.check_version(text)
  if metadata.is_version(text) then return end
  faults.raise("usage", "--version: %s, but a version in the canonical form of PEP 440 is expected: 1.0, 1.0.2, "
    .. "2.0rc1, 1.0.post1, 1.0.dev3, 1.0+cpu", faults.quote(text))
end

--- Refuses the name of a model that cannot be that of a package and of its distribution.
function metadata.check_name(name)
  if not reserved_python.is_free(name) then
    faults.raise("usage", "name: %s is a word or a module of Python, or a package that environments have; "
      .. "name=OTHER names the package", faults.quote(name))
  elseif not name:match("^%a[%w_]*$") or name:match("_$") then
    faults.raise("usage", "name: %s, but the name of a wheel begins with a letter and ends with a letter or digit; "
      .. "name=OTHER names the package", faults.quote(name))
  end
end

--- Returns the name of a distribution as the names of its files have it.
function metadata.file_name(name) return (name:lower():gsub("_+", "_")) end

--- Returns the text of METADATA. facts: { name, version, summary, requires = a list of requirements, text = a page in
--- Markdown }. No field can begin another one.
function metadata.text(facts)
  local lines = {}
  local function add(name, value) lines[#lines + 1] = ("%s: %s"):format(name, terminal.safe(value)) end
  add("Metadata-Version", "2.1")
  add("Name", facts.name)
  add("Version", facts.version)
  add("Summary", facts.summary)
  for _, each in ipairs(facts.extras or {}) do add("Provides-Extra", each) end
  add("Requires-Python", ">=3.10")
  for _, each in ipairs(facts.requires) do add("Requires-Dist", each) end
  add("Description-Content-Type", "text/markdown")
  return table.concat(lines, "\n") .. "\n\n" .. facts.text
end

--- Returns the text of WHEEL for a tag such as py3-none-any.
function metadata.wheel(tag)
  local is_pure = tag:match("%-any$") and "true" or "false"
  return ("Wheel-Version: 1.0\nGenerator: attn2c %s\nRoot-Is-Purelib: %s\nTag: %s\n"):format(version.generator, is_pure,
    tag)
end

--- Returns the text of entry_points.txt for one program, whose function is main() of a package's __main__.
function metadata.entry_points(name) return ("[console_scripts]\n%s = %s.__main__:main\n"):format(name, name) end

return metadata
