-- listing_spec.lua: the list of a checkpoint's tensors: types, shapes, and the weights that each becomes.
local helper = require("tests.spec.helper")
local gguf_file = require("tests.spec.gguf_file")
local listing = require("checkpoints.listing")
local pipeline = require("pipeline")

describe("the list of tensors", function()
  teardown(helper.clean)

  it("has a line for each, with the weights that it becomes", function()
    local entries, tensors = gguf_file.llama()
    tensors[#tensors + 1] = { "other", "IQ1_S", { 256 } }
    tensors[#tensors + 1] = { "rope_freqs.weight", "F32", { 4 }, string.pack("<ffff", 1, 1, 2, 2) }
    local path = helper.file(gguf_file.bytes(entries, tensors), "m.gguf")
    local state = pipeline.run(helper.root, path, { "seq=8" }, "graph")
    local lines = listing.lines(state.primary.graph, state.checkpoint)
    assert.equal(#tensors, #lines)
    assert.matches("^blk.0.attn_q.weight +Q4_0 +%[32, 32%] +%-> l0.attn.q.weight unpair, int4$", lines[4])
    assert.matches("^other +IQ1_S +%[256%] +%-> not used$", lines[19])
    assert.matches("^rope_freqs.weight +F32 +%[4%] +%-> rope_scaling$", lines[21])
    assert.matches("^token_embd.weight +Q8_0 +%[300, 32%] +%-> input.tokens.weight, output.2.vocabulary.weight, int8$",
      lines[22])
  end)
end)
