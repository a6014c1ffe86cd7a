-- hints_spec: what other libraries call what descriptions call otherwise: each hint leads to
-- something that there is, and none stands in the way of a word that is one.
local helper = require("tests.spec.helper")
local activations = require("data.activations")
local hints = require("data.hints")
local keys = require("data.keys")
local stages = require("data.stages")
local targets = require("data.targets")

local known_keys = {}
for _, field in ipairs(keys.list) do known_keys[field.key] = true end

-- The line about one key or value that is wrong.
local function refusal(more)
  local lines = helper.refusals(helper.description(more))
  assert.equal(1, #lines, table.concat(lines, "\n"))
  return lines[1]
end

describe("hints", function()
  it("of keys begin with a key, and are of words that are none", function()
    for word, hint in pairs(hints.keys) do
      assert.is_nil(known_keys[word], word)
      assert.is_true(hint:sub(1, 1) == "!" or known_keys[hint:match("^[%w_]+")] ~= nil, word .. ": " .. hint)
    end
  end)

  it("of fields name fields of stages", function()
    local fields = {}
    for _, stage in pairs(stages.constructors) do for name in pairs(stage.fields) do fields[name] = true end end
    for word, hint in pairs(hints.fields) do
      for name in hint:gsub(" and ", " "):gmatch("%S+") do assert.is_true(fields[name], word .. ": " .. hint) end
    end
  end)

  it("of tile parameters name parameters, and are of words that are none", function()
    for word, hint in pairs(hints.parameters) do
      assert.is_nil(targets.parameters[word], word)
      assert.is_table(targets.parameters[hint], word)
      assert.matches(("no parameter %q; .* %%(did you mean %s%%?%%)$"):format(word, hint),
        refusal({ plan = { [word] = 96 } }))
    end
  end)

  it("of values name values, and are of words that are none", function()
    local rows = {}
    for _, row in ipairs(require("commands.reference").keys()) do rows[row.name] = row.words end
    for key, list in pairs(hints.values) do
      local words = require("common.words").set(rows[key] or {})
      for word, hint in pairs(list) do
        assert.is_nil(words[word], word)
        assert.is_true(hint:sub(1, 1) == "!" or words[hint] or false, key .. ": " .. hint)
        local said = hint:sub(1, 1) == "!" and hint:sub(2) or ("did you mean %s?"):format(hint)
        assert.matches((" is allowed (%s)"):format(said), refusal({ [key] = word }), 1, true)
      end
    end
  end)

  it("of activations name activations, and are of words that are none", function()
    for word, hint in pairs(hints.activations) do
      assert.is_nil(activations.by_name[word], word)
      local meant = hint:match("^[%w_]+")
      assert.is_true(hint:sub(1, 1) == "!" or stages.constructors[meant] ~= nil, word .. ": " .. hint)
    end
  end)

  it("of config.json's and PyTorch's words give the key", function()
    for word, key in pairs {
      hidden_size = "d_model", n_embd = "d_model", num_attention_heads = "heads", n_head = "heads", nhead = "heads",
      num_hidden_layers = "layers", n_layer = "layers", num_layers = "layers", intermediate_size = "d_ff",
      dim_feedforward = "d_ff", n_inner = "d_ff", norm_first = 'norm = "pre"', layer_norm_eps = "eps",
      layer_norm_epsilon = "eps", rms_norm_eps = 'eps, with norm_kind = "rms"', hidden_act = "activation",
      max_position_embeddings = "max_position", type_vocab_size = "input = tokens { types = }",
      vocab_size = "input = tokens { vocab = }", num_key_value_heads = "kv_heads", attention_dropout = "dropout",
      num_encoder_layers = "layers, of encoder { } in memory", sliding_window = "mask = { window = { SIZE - 1, 0 } }",
      tie_word_embeddings = "output = { vocabulary { tied = } }",
    } do
      assert.equal(("%s: no such key (did you mean %s?)"):format(word, key), refusal({ [word] = 1 }))
    end
    assert.equal('memory: an encoder has no key "nhead" (did you mean heads?)',
      refusal({ memory = { stage = "encoder", input = { stage = "hidden" }, seq = 4, nhead = 2 } }))
  end)

  it("of activations say which is the same", function()
    for word, name in pairs {
      gelu_new = "gelu_tanh", gelu_fast = "gelu_tanh", gelu_pytorch_tanh = "gelu_tanh", gelu_python = "gelu",
      swish = "silu", swiglu = "silu, with gated = true",
    } do
      assert.matches((" is allowed (did you mean %s?)"):format(name), refusal({ activation = word }), 1, true)
    end
    for _, word in ipairs { "hard_swish", "hardtanh", "hard_sigmoid", "relu6", "mish" } do
      assert.matches((" is allowed (%s is not supported)"):format(word), refusal({ activation = word }), 1, true)
    end
  end)
end)
