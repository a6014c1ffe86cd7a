#!/usr/bin/env lua5.4
-- headers.lua: writes the header of the runtime that repeats tables of the compiler (`make headers`).
-- It prints the name if it changed.
local root = (debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$") or ".") .. "/.."
package.path = root .. "/gen/?.lua;" .. package.path
local files = require("common.files")
local headers = require("data.headers")

if files.read(root .. "/" .. headers.path) ~= headers.text() then
  files.write(root .. "/" .. headers.path, headers.text())
  print(headers.path)
end
