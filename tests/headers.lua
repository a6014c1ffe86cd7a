#!/usr/bin/env lua5.4
-- headers.lua: writes the headers of the runtime that repeat tables of the compiler (`make headers`).
-- It prints the names of those that it changed.
local root = (debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$") or ".") .. "/.."
package.path = root .. "/gen/?.lua;" .. package.path
local files = require("common.files")
local headers = require("data.headers")

for _, each in ipairs(headers.stale(function(path) return files.read(root .. "/" .. path) end)) do
  files.write(root .. "/" .. each.path, each.text)
  print(each.path)
end
