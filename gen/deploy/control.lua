-- control.lua: prints one text of the Debian package, for deb.sh: lua5.4 gen/deploy/control.lua WHAT.
-- WHAT is version, copyright (from LICENSE), changelog (from CHANGELOG.md) or control. The packages that control
-- depends on and recommends come from the Makefile's lists.
local gen = arg[0]:match("^(.*)/deploy/[^/]*$") or error("call it by its path, gen/deploy/control.lua")
package.path = gen .. "/?.lua;" .. package.path
local files = require("common.files")
local version = require("common.version")

local function fail(message)
  io.stderr:write("make: ", message, "\n")
  os.exit(2)
end

local function maintainer()
  return ("%s <%s>"):format(os.getenv("DEBFULLNAME") or "attn2c authors",
    os.getenv("DEBEMAIL") or "attn2c@attn2c.invalid")
end

-- Returns the text in lines of at most 78 characters. The first begins with `lead`, the others with `indent`.
local function wrapped(text, lead, indent)
  local lines, line = {}, lead
  for word in text:gmatch("%S+") do
    if #line + 1 + #word > 78 and line ~= lead then
      lines[#lines + 1] = line
      line = indent
    end
    line = line:match("%s$") and line .. word or line .. " " .. word
  end
  lines[#lines + 1] = line
  return table.concat(lines, "\n")
end

-- Returns the items of this version in CHANGELOG.md.
local function changes()
  local versions = assert(files.read(gen .. "/deploy/CHANGELOG.md"))
  local from = select(2, versions:find("\n## " .. version.generator .. "\n\n", 1, true))
  if not from then fail(("gen/deploy/CHANGELOG.md has no %s"):format(version.generator)) end
  local items = {}
  for line in versions:sub(from + 1):gmatch("([^\n]*)\n") do
    local first, more = line:match("^%- (.*)"), line:match("^  (.*)")
    if first then
      items[#items + 1] = first
    elseif more and #items > 0 then
      items[#items] = items[#items] .. " " .. more
    else
      break
    end
  end
  return items
end

local print_of = {}

function print_of.version() return version.generator .. " " .. version.date end

function print_of.changelog()
  local lines = { ("attn2c (%s) unstable; urgency=medium"):format(version.generator), "" }
  for _, item in ipairs(changes()) do lines[#lines + 1] = wrapped(item, "  * ", "    ") end
  local time = os.date("!%a, %d %b %Y %H:%M:%S +0000", math.tointeger(tonumber(os.getenv("SOURCE_DATE_EPOCH"))))
  lines[#lines + 1] = ("\n -- %s  %s"):format(maintainer(), time)
  return table.concat(lines, "\n")
end

function print_of.copyright()
  local licence = assert(files.read(gen .. "/../LICENSE"))
  local holder, terms = licence:match("Copyright %(c%) ([^\n]*)\n\n(.*)$")
  local lines = { "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/",
    "Upstream-Name: attn2c", "", "Files: *",
    ("Copyright: %s %s"):format(version.date:sub(1, 4), holder), "License: Expat", "", "License: Expat" }
  for line in terms:gmatch("([^\n]*)\n") do lines[#lines + 1] = " " .. (line == "" and "." or line) end
  return table.concat(lines, "\n")
end

-- Returns the packages that an environment variable lists, in the syntax of control files.
local function packages_in(variable)
  local list = {}
  for name in (os.getenv(variable) or ""):gmatch("%S+") do list[#list + 1] = name end
  if #list == 0 then fail(("the package needs its dependencies in $%s"):format(variable)) end
  table.sort(list)
  return table.concat(list, ", ")
end

-- The control file. Packages that Debian has for only some processors are recommended, not required: a package for all
-- processors may not depend on them.
function print_of.control(size)
  return table.concat({
    "Package: attn2c",
    "Version: " .. version.generator,
    "Section: devel",
    "Priority: optional",
    "Architecture: all",
    "Maintainer: " .. maintainer(),
    "Installed-Size: " .. size,
    "Depends: " .. packages_in("packages"),
    "Recommends: " .. packages_in("recommended"),
    "Suggests: cmake, pkg-config, python3-numpy",
    "Description: compiler from transformers to C",
    " attn2c turns a transformer, a checkpoint folder or a few lines of Lua, into C",
    " for exactly that model. Every layer, head and mask block is unrolled, every",
    " size is a constant, and every matrix product is a kernel of that shape, in C",
    " as well.",
    " .",
    " The C is compiled into a library and a program, for x86-64, aarch64 or any",
    " other little-endian processor with gcc or clang, and every tensor that the",
    " model computes can be checked against a plain reference.",
  }, "\n")
end

print((print_of[arg[1]] or fail)(arg[2]))
