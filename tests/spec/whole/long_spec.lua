-- long_spec: texts of 8,192 tokens against transformers (tests/hf/long.py), and what a model of the longest sequences
-- needs: memory that grows with the tokens and not with their square, and a check that says what it would need.
local helper = require("tests.spec.helper")
local files = require("common.files")

local root = helper.absolute_root()
local folder = root .. "/out/spec/long"
local shell = helper.shell
package.path = root .. "/tests/?.lua;" .. package.path
local unpadded = require("unpadded")

local LOGITS = 1e-4 -- as in hf_spec.lua

local function sh(command) return helper.succeeds(command, folder) end

-- environment: helper.optimised for a program that computes much
local function build(source, name, words, environment)
  sh(("%s lua5.4 %s %s %s %s >%s.log 2>&1"):format(environment or "", shell(root .. "/tests/program.lua"),
    shell(source), name, words, name))
end

local function arena_of(name) return tonumber(sh(name .. " info"):match("arena%s+(%d+) bytes")) end

describe("sequences of 8,192 tokens", function()
  setup(function() files.make_folder(folder) end)

  for _, case in ipairs(helper.is_long and { "modernbert", "jina_bert" } or { "modernbert" }) do
    it("have the logits of transformers: " .. case, function()
      local place = root .. "/tests/hf/long/" .. case
      build(place, case, "'seq=any(8192)'", helper.optimised)
      local program = ("%s/%s"):format(case, case)
      sh(("%s run --weights %s --input input_ids=%s --input lengths=%s --output logits=%s.npy"):format(program,
        shell(place), shell(place .. "/in_input_ids.npy"), shell(place .. "/in_lengths.npy"), case))
      local want = unpadded.read(place .. "/out_logits.npy")
      local got = unpadded.read(("%s/%s.npy"):format(folder, case))
      assert.same(want.shape, got.shape)
      local apart, compared = unpadded.difference(want.data, got.data)
      assert.equal(6, compared)
      assert.is_true(apart <= LOGITS, apart)
      assert.is_true(arena_of(program) < 8192 * 32 * 4 * 8, "no tensor has queries times keys")
    end)
  end

  it("are in memory that grows as they do, and their check says what it needs", function()
    files.write_all(folder, { { name = "d.lua", text = 'return { name = "longest", seq = any(32768), d_model = 16, '
      .. 'heads = 2, layers = 2, norm = "pre", positions = "rope" }' } })
    build("d.lua", "longest", "")
    build("d.lua", "shorter", "'seq=any(4096)' name=shorter")
    local long, short = arena_of("longest/longest"), arena_of("shorter/shorter")
    assert.is_true(long < 8.1 * short, ("%d and %d bytes"):format(long, short))
    local code, said = helper.run("ulimit -v 2000000; longest/longest check", folder)
    assert.equal(5, code)
    assert.equal("longest: trace arena: no memory for the check, which keeps every tensor: 34.4 GB; "
      .. "sequences of a model that is built with seq=any(512) have the same bits\n", said:match("[^\n]+\n$"))
  end)
end)
