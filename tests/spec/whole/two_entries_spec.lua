-- two_entries_spec: entries of one build have inputs, outputs and graphs of their own, and share a library, an arena
-- and a state. `check` compares every tensor of both with the reference.
local helper = require("tests.spec.helper")

local root = helper.shell(helper.absolute_root())

describe("an entry of fixed size", function()
  local folder
  setup(function() folder = helper.folder() end)
  teardown(helper.clean)

  local function runs(line)
    local code, errors, output = helper.script(("cd '%s' && %s"):format(folder, line), folder)
    assert.equal(0, code, line .. "\n" .. errors .. output)
    return output
  end

  for kind, more in pairs { fixed = "output hidden, shipped = trace", any = "call 2 of 3, divided",
    context = "in mixed calls" } do
    it("goes beside a model that is " .. kind, function()
      runs(("ATTN2C_CFLAGS='%s' lua5.4 %s/tests/two_entries.lua %s %s"):format(helper.quick, root, kind, kind))
      for _, options in ipairs { "", " --nan" } do
        local said = runs(kind .. "/two check" .. options)
        assert.equal(2, select(2, said:gsub("%d+ passed, 0 failed\n", "")), said)
        assert.truthy(options ~= "" or said:find(more, 1, true), said)
      end
      local header = helper.read(folder .. "/" .. kind .. "/two.h")
      assert.truthy(header:find("  const int32_t *ids; /* [1][12], from 0 to 19 */\n} two_encode_in;", 1, true), header)
      for _, name in ipairs { "encode", "forward" } do
        local call = "int two_%s(two_ctx *ctx, const two_%s_in *in, two_%s_out *out);"
        assert.truthy(header:find(call:format(name, name, name), 1, true), header)
      end
    end)
  end
end)
