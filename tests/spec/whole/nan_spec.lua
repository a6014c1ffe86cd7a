-- nan_spec.lua: `check --nan`: a NaN or an infinity reaches what it reaches in the reference, for every form of a mask,
-- and a compiler that forgets to keep it out is found where the plain check sees nothing. (forms_spec plants them in
-- every other form of attention.)
local helper = require("tests.spec.helper")
local files = require("common.files")
local hash = require("common.hash")

local root = helper.absolute_root()
local folder = root .. "/out/spec/nan"
local shell = helper.shell

local function sh(command) return helper.run(command, folder) end

-- Builds a small model with some keys; `spoil`, a sed script, is run over its row operations before they are compiled.
local function build(name, keys, spoil)
  local start = "lua5.4"
  if spoil then
    name = name .. "_" .. hash.text(spoil):sub(1, 8)
    start = helper.spoiling("_ops.c", spoil)
  end
  files.write_all(folder, { { name = name .. ".lua", text = ("return { name = %q, seq = 20, d_model = 24, heads = 2, "
    .. "layers = 1, d_ff = 16, target = \"x86_64\", plan = { query_block = 7, key_block = 16 }, %s }\n"):format(name,
    keys) } })
  local code, said = sh(("%s %s %s.lua %s"):format(start, shell(root .. "/tests/program.lua"), name, name))
  assert.equal(0, code, said)
  return ("%s/%s check "):format(name, name)
end

local function tally(said) return tonumber(said:match("(%d+) passed")), tonumber(said:match("(%d+) failed")) end

describe("NaN and infinity, planted in a model with", function()
  for name, form in pairs {
    all = { 'mask = "none", output = { pool "max" }', 3 },
    causal = { 'mask = "causal", attention_output = "heads"', 3 },
    window = { "mask = { window = { 3, 2 } }", 3 },
    -- the score of an infinite key of the past is -inf, which becomes minus the cap; that of a hidden key stays
    causal_window = { "mask = { \"causal\", window = { 4, 0 } }, past = 3, softcap = 5, attention_output = "
      .. "{ scores = true }", 3 * 3 },
    arrays = { 'mask = { "causal", "key_padding", "additive", "blocked_heads" }, batch = 2', 3 * (1 + 3) + 3 },
    tokens = { 'mask = { "causal", "padding" }, input = tokens { vocab = 9 }, output = { linear { to = 5 }, argmax() }',
      3 * 2 },
  } do
    it(name, function()
      local code, said = sh(build(name, form[1]) .. "--nan")
      assert.equal(0, code, said)
      local passed, failed = tally(said)
      assert.equal(form[2], passed, said)
      assert.equal(0, failed)
    end)
  end
end)

describe("a NaN that is let through", function()
  for what, case in pairs {
    static = { 'mask = "causal"', "s/^  attn2c_context_repair(.*/  (void)c, (void)p, (void)v, (void)valid;/" },
    padded = { 'mask = "padding", batch = 2',
      "s/^  attn2c_context_repair(.*/  (void)c, (void)p, (void)v, (void)valid;/" },
    dotted = { 'mask = "key_padding"', "s/^  attn2c_context_repair_nonzero(.*/  (void)c, (void)p, (void)v;/" },
    blocked = { 'mask = "blocked"',
      "s/v = \\(.*\\) ? -__builtin_inff() : v;/v = v + (\\1 ? -__builtin_inff() : 0.0f);/" },
  } do
    it("by a " .. what .. " mask is found by check --nan alone", function()
      local check = build("leaky_" .. what, case[1], case[2])
      local code, said = sh(check)
      assert.equal(0, code, said)
      code, said = sh(check .. "--nan --seed 5")
      assert.equal(1, code, said)
      assert.is_truthy(said:find("first to diverge: NaN in hidden", 1, true), said)
      assert.is_truthy(said:find("repeat: .* check %-%-seed 5 %-%-nan"), said)
      assert.equal(1, (sh(check .. "--nan --json >nan.json")))
    end)
  end
end)
