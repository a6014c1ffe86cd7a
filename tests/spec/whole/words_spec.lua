-- words_spec.lua: the list of words that prose avoids (tests/words.lua) finds them, and nothing else.
local helper = require("tests.spec.helper")

-- The exit code for a file of this text, and the lines that were found.
local function found(name, text)
  local path = helper.file(text, name)
  local code, said = helper.run(("lua5.4 %s %s"):format(helper.shell(helper.root .. "/tests/words.lua"),
    helper.shell(path)))
  local lines = {}
  for line in said:gmatch(":(%d+): ") do lines[#lines + 1] = tonumber(line) end
  return code, lines
end

describe("the list of words", function()
  teardown(helper.clean)

  it("finds openings and words in comments and messages of code", function()
    assert.same({ 1, { 1, 3, 4, 6 } }, { found("a.lua", [[
-- Of all rows the first.
local x = 1 -- the row after it
-- Returns x. What is left is zero.
local message = "this is not done"
-- a sentence that goes on
--- and is placed behind the panel
]]) })
    assert.same({ 1, { 1, 1, 3 } }, { found("a.c", [[
/* Those of a row. */
int x; /* the row of x */
int f(void); /* in falling order */
]]) })
  end)

  it("finds them in pages, but not in their code", function()
    assert.same({ 1, { 1, 7 } }, { found("a.md", [[
What a page says.

```
What a program prints
```

Text goes on. Of two, one. `Of two` is code.
]]) })
  end)

  it("finds words that stand for things without a name, or for only", function()
    assert.same({ 1, { 1, 2, 3, 4 } }, { found("a.lua", [[
-- The rows and those of the next block.
-- Reads the weights alone.
-- A copy for the first row alone
local x = 1 -- as many as there are rows
-- alone: without the others; (alone.lua)
]]) })
    assert.same({ 1, { 1 } }, { found("a.c", "/* So many rows. */\n/* alone.c - `alone` and *alone are names. */\n") })
  end)

  it("finds no fault with plain sentences and questions", function()
    assert.same({ 0, {} }, { found("a.lua", "-- Returns the rows. What can a row be? One of two.\nlocal x = 1\n") })
  end)
end)
