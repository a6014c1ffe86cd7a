-- opened_spec: the trial of a tokenizer's tables. Its words become a line about the tokenizer's file, and the build
-- goes on where the program does not run on this machine. tests/spec/whole/say_spec.lua has a build that fails.
local helper = require("tests.spec.helper")
local faults = require("common.faults")
local opened = require("commands.build.opened")
local tokenizer = require("text.tokenizer")

-- Opens a tokenizer by a shell script with these words: returns the fault, and the lines that are notes.
local function try(script, change)
  local program = helper.file("#!/bin/sh\n" .. script .. "\n", "opener")
  assert(os.execute("chmod +x " .. helper.shell(program)))
  local root = { added_tokens = {}, normalizer = { type = "Sequence", normalizers = { { type = "NFC" },
    { type = "Replace", pattern = { Regex = "(?<=a+)b\u{202E}" }, content = "" } } },
    model = { type = "Unigram", unk_id = 0, vocab = { { "a", -1.5 } } } }
  for i, content in ipairs { "", "x", "y" } do
    root.added_tokens[i] = { id = 7, content = content, single_word = false, lstrip = false, rstrip = false,
      normalized = true, special = false }
  end
  if change then change(root) end
  local _, made = tokenizer.compile(root, "t.json")
  local notes = {}
  local fault = helper.fault(opened.check, program, "x.tables", made, function(line) notes[#notes + 1] = line end)
  return fault, notes
end

local function says(what, code) return ("echo 'tokenizer tables: %s' >&2; exit %d"):format(what, code) end

describe("the trial of a tokenizer's tables", function()
  teardown(helper.clean)

  it("is silent where they open", function()
    local fault, notes = try("test \"$1\" = x.tables")
    assert.is_nil(fault)
    assert.same({}, notes)
  end)

  it("names the place in the tokenizer's file", function()
    local fault = try(says("component 1: PCRE2 refuses the pattern: why", faults.code.format))
    assert.equal(faults.code.format, fault.code)
    assert.same({ 't.json: normalizer.normalizers[1].pattern.Regex: "(?<=a+)b?": PCRE2 refuses the pattern: why' },
      fault.lines)
    assert.same({ 't.json: added_tokens[2]: "y": nothing is left' },
      try(says("added token 1: nothing is left", faults.code.format)).lines)
    -- The decoder that a file without one has is in no place of it.
    for _, said in ipairs { "component 2: what", "component 99: what", "damaged" } do
      assert.same({ "t.json: tokenizer tables: " .. said }, try(says(said, faults.code.format)).lines)
    end
  end)

  it("tells a lack of memory, and a file that cannot be read", function()
    assert.equal(faults.code.memory, try("echo no memory >&2; exit 5").code)
    assert.equal(faults.code.io, try("echo cannot read >&2; exit 4").code)
  end)

  it("is a note where the program does not run here", function()
    local fault, notes = try("kill -ILL $$")
    assert.is_nil(fault)
    assert.same({ "t.json: its tables were not tested: signal 4 ended it" }, notes)
    fault, notes = try("exit 127")
    assert.is_nil(fault)
    assert.same({ "t.json: its tables were not tested: status 127" }, notes)
  end)
end)
