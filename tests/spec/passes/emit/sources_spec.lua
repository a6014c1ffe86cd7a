-- sources_spec.lua: tests what is emitted of an encoder beside a decoder that goes on, and that other models have no
-- trace of it.
local encoded = require("tests.spec.encoded")
local helper = require("tests.spec.helper")
local pipeline = require("pipeline")

-- Returns the emitted files of a model with an encoder, as one text each: header and C.
local function emitted(of_encoder, more)
  local _, state = encoded.states(of_encoder, more)
  return helper.emitted(state, "tiny.h"), helper.emitted(state, "tiny_model.c")
end

describe("what is emitted of an encoder", function()
  it("declares a call that reads sources into sequences", function()
    local header = emitted({ input = { stage = "tokens", vocab = 7, types = 2 } }, { sequences = 3 })
    for _, line in ipairs {
      "int tiny_encode(tiny_ctx *ctx, const int32_t *sequences, const tiny_encode_in *in);",
      "  int64_t sequences;      /* 1 or more */",
      "  const int32_t *lengths; /* [sequences], the rows of each, from 1 to 24 */",
      "#define TINY_ENCODE_SEQ 24 /* the most rows of a source */",
    } do assert.truthy(header:find(line, 1, true), line) end
    assert.truthy(header:find("  const int32_t *source_ids; /* int32 [rows], 0 to 6", 1, true)
      or header:find("const int32_t *source_ids;", 1, true), header)
    assert.truthy(header:find("const int32_t *source_token_types;", 1, true))
    assert.falsy(header:find("tiny_encode_out", 1, true))
    assert.truthy(header:find("flops a call of 24 rows [%d,]+ %(encode%), of 100 rows [%d,]+ %(forward%),"), header)
  end)

  it("has rows that callers give as floats", function()
    local header = emitted { input = { stage = "linear", from = 5 } }
    assert.truthy(header:find("const float *source_features;", 1, true))
  end)

  it("gives the entry no outputs, and the descriptor the sizes of its calls", function()
    local _, text = emitted()
    for _, line in ipairs {
      "static const attn2c_size sizes_encode[] = { { 1, 24 } };",
      "static const attn2c_lengths lengths_encode = { input_axes_encode, NULL, sizes_encode, 1, NULL };",
      "  .source = 1,", "  .source_lengths = &lengths_encode,",
      "  return attn2c_encode(context_of(ctx), in->sequences, sequences, in->lengths, inputs);",
    } do assert.truthy(text:find(line, 1, true), line) end
    assert.falsy(text:find("outputs_encode", 1, true))
    assert.falsy(text:find("output_axes_encode", 1, true))
  end)

  it("says whether the axes of the decoder's tensors grow with a source", function()
    local _, text = emitted()
    assert.truthy(text:find("{ { 0, 0, 1, 4 }, 0 },", 1, true))
  end)

  it("writes down no speech in a variant without its tokenizer, whose functions are not linked", function()
    local folder = helper.root .. "/tests/hf/speech/english"
    local state = pipeline.run(helper.absolute_root(), folder, { "target=avx2" })
    assert.falsy(helper.emitted(state, "english_model.c"):find("transcription", 1, true))
    assert.falsy(helper.emitted(state, "english_program.c"):find("attn2c_the_speech", 1, true))
  end)

  it("looks for a table that has several uses by the names that all of them have; other names are copies", function()
    local folder = helper.root .. "/tests/hf/goldens/bart_writes"
    local state = pipeline.run(helper.absolute_root(), folder, { "target=avx2" })
    local text = helper.emitted(state, state.spec.name .. "_model.c")
    -- Returns the number of the list of names that begins with this one; it is of all three uses or of one.
    local function number_of(name) return text:match('names_(%d+)%[%] = { "' .. name:gsub("%p", "%%%0") .. '",') end
    local common = number_of("model.encoder.embed_tokens.weight")
    assert.matches("\n  { names_" .. common .. ", 2, { 37, 24 }, 0 },\n", text)
    assert.falsy(text:match("names_" .. common .. "[^\n]*"):find("lm_head", 1, true))
    for _, name in ipairs { "lm_head.weight", "model.decoder.embed_tokens.weight" } do
      assert.matches(("\n  { names_%s, 2, { 37, 24 }, %d },\n"):format(number_of(name), common + 1), text)
    end
  end)

  it("is in no other model", function()
    for _, more in ipairs { {}, { output = { { stage = "vocabulary" } } } } do
      more.memory = false
      local header, text = emitted(nil, more)
      for _, word in ipairs { "encode", "source" } do
        assert.falsy(header:find(word, 1, true), word)
        assert.falsy(text:find(word, 1, true), word)
      end
    end
  end)
end)
