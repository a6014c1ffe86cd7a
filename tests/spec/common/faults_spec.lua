-- faults_spec.lua: what is said of a user's texts is safe for a terminal, whatever they hold.
local helper = require("tests.spec.helper")

local function is_safe(text)
  return utf8.len(text) ~= nil and not text:find("[\0-\9\11-\31\127]") and not text:find("\xc2[\x80-\x9f]")
end

describe("a description that holds escapes", function()
  after_each(helper.clean)
  local escape = "\27]0;owned\7\u{9b}31m"

  for what, text in pairs {
    ["in a key that is read"] = 'return { name = ({})["' .. escape .. '"].x }',
    ["in a key that is added to"] = 'return { seq = {} + ({})["' .. escape .. '"] }',
    ["in a call"] = 'local t = {} return t["' .. escape .. '"]()',
    ["in a key"] = 'return { ["' .. escape .. '"] = 1 }',
    ["in a value"] = 'return { name = "' .. escape .. '" }',
    ["in its text"] = "return { " .. escape .. " }",
    ["in a file that it names"] = 'return { name = "x", seq = 1, d_model = 8, heads = 1, layers = 1, names = "'
      .. escape .. '" }',
  } do
    it(what, function()
      local path = helper.file(text, "a" .. escape .. ".lua")
      for _, words in ipairs { { "gen", path }, { "show", path, "--stage", "describe" },
        { "gen", path, escape .. "=1" }, { "gen", path, "seq=" .. escape }, { "gen", path, "--tuning", escape },
        { "gen", path, "--" .. escape }, { escape } } do
        local code, output, errors = helper.command(words)
        assert.is_true(is_safe(output), ("%q"):format(output))
        assert.is_true(is_safe(errors), ("%q"):format(errors))
        assert.is_true(code == 0 or code == 2 or code == 4, code .. errors)
      end
    end)
  end

  it("in its own name, which the program tells", function()
    local state = helper.state(helper.description())
    state.file = "x/a" .. escape .. ".lua"
    require("passes.emit").run(state)
    for _, file in ipairs(state.files) do assert.is_true(is_safe(file.text), file.name) end
    assert.is_nil(helper.emitted(state, "tiny_model.c"):find("\\033", 1, true))
  end)
end)
