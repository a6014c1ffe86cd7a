-- c_tables.lua: reads tables in headers of the runtime, so that the compiler needs no copy of them.
local files = require("common.files")
local words = require("common.words")

local c_tables = {}

local RUNTIME = (debug.getinfo(1, "S").source:match("^@(.*)/[^/]*/[^/]*$") or "..") .. "/../runtime/"

local function code_of(header) return (files.read(RUNTIME .. header):gsub("/%*.-%*/", "")) end

--- Returns the enumerations of a header, in order: lists of { name, value }.
function c_tables.enums(header)
  local list = {}
  for body in code_of(header):gmatch("enum[%w_ ]*(%b{})") do
    local members, value = {}, -1
    for name, given in body:gmatch("([%u%d_]+)%s*=?%s*(%w*)") do
      value = tonumber(given) or value + 1
      members[#members + 1] = { name = name, value = value }
    end
    list[#list + 1] = members
  end
  return list
end

--- Returns the lines of a structure's members, with their comments.
function c_tables.members(header, name)
  return words.list(files.read(RUNTIME .. header):match("struct " .. name .. " (%b{})"):sub(2, -2), "[^\n]+")
end

function c_tables.number(header, name) return tonumber(code_of(header):match("#define " .. name .. " (%w-)u?\n")) end

--- Returns the rows of a macro NAME(X): lists of the texts of their fields, without quotes.
function c_tables.rows(header, name)
  local list = {}
  local body = code_of(header):match("#define " .. name .. "%(X%)(.-[^\\])\n")
  for row in body:gmatch("X(%b())") do
    local fields = {}
    for field in row:sub(2, -2):gmatch("[^,]+") do fields[#fields + 1] = field:match('^%s*"?(.-)"?%s*$') end
    list[#list + 1] = fields
  end
  return list
end

return c_tables
