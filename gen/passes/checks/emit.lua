-- emit.lua: checks the emitted text.
local expect = require("passes.checks.expect")

local function check_text(file)
  expect(#file.text > 0 and file.text:sub(-1) == "\n", "emit", "%s does not end with a line", file.name)
  expect(not file.text:find("\0", 1, true), "emit", "%s holds a NUL", file.name)
  if file.name:find("%.[ch]$") then
    expect(not file.text:gsub("/%*.-%*/", ""):find("[\128-\255]"), "emit", "%s is not ASCII outside comments",
      file.name)
  end
end

--- Checks that each file of text ends with a line and has no NUL, and that C is ASCII outside comments.
return function(state)
  for _, file in ipairs(state.files) do if not file.is_data then check_text(file) end end
end
