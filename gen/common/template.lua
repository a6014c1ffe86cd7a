-- template.lua: compiles templates of C text, line by line, into Lua functions.
-- A line that begins with @ is Lua, ${expression} is replaced by its value, and everything else is text. An `@if` or
-- `@for` of one line of text has it after a bar: `@if any then |#include "model/sequences.h"`. Each line becomes one
-- line of Lua, so that an error names the template's own line.
--
-- Templates are strict: an unknown name is an error, and so is a value that is nil or a float (512/8 would print 64.0).
local compiled = require("common.compiled")
local files = require("common.files")
local lpeg = require("lpeg")
local P = lpeg.P

local template = {}

local expression = "${" * lpeg.C((1 - P "}") ^ 0) * "}" / "value_(%1)"
local parts = lpeg.Ct((expression + (1 - expression) ^ 1 / function(text) return ("%q"):format(text) end) ^ 0)

local function write_line(line)
  local list = parts:match(line)
  return ("line_(%s)"):format(list[1] and table.concat(list, " .. ") or '""')
end

local function code_of(line)
  if line:sub(1, 1) ~= "@" then return write_line(line) end
  local block, text = line:match("^@(.- then) |(.*)$")
  if not block then block, text = line:match("^@(.- do) |(.*)$") end
  return block and ("%s %s end"):format(block, write_line(text)) or line:sub(2)
end

local function lua_of(text, name)
  local code = {}
  for line in text:gmatch("([^\n]*)\n") do code[#code + 1] = code_of(line) end
  return assert(load("local _ENV = ...; " .. table.concat(code, "\n"), "=" .. name, "t", {}))
end

--- Compiles a template's text. Returns a function that takes a table of values and returns the filled text. lua: the
--- text's Lua function, or nil.
function template.compile(text, name, lua)
  local fill = lua
  return function(values)
    fill = fill or lua_of(text, name)
    local out = {}
    local env = {
      ipairs = ipairs,
      line_ = function(line) out[#out + 1] = line end,
      value_ = function(value)
        local kind = math.type(value) or type(value)
        if kind ~= "integer" and kind ~= "string" then error("a value is a " .. kind, 2) end
        return tostring(value)
      end,
    }
    setmetatable(env, {
      __index = function(_, key)
        local value = values[key]
        if value == nil then error(("%s: no value for %s"):format(name, key), 2) end
        return value
      end,
      __newindex = function(_, key) error(("%s: a template sets no globals: %s"):format(name, key), 2) end,
    })
    fill(env)
    return table.concat(out, "\n") .. "\n"
  end
end

local opened = {} -- by path: some are filled several times

local own_text -- the text of this file, on which a template's bytecode depends, too

function template.open(root, file)
  local path = root .. "/templates/" .. file
  if opened[path] then return opened[path] end
  local handle <close> = assert(io.open(path, "rb"))
  local text, name = handle:read("a"), "templates/" .. file
  own_text = own_text or assert(files.read(debug.getinfo(1, "S").source:sub(2)))
  local lua = compiled.chunk(name, own_text .. text, function() return lua_of(text, name) end)
  opened[path] = template.compile(text, name, lua)
  return opened[path]
end

return template
