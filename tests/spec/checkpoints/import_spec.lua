-- import_spec: folders as descriptions: what is mapped, noted, refused; hostile files; the command.
local helper = require("tests.spec.helper")
local headers = require("common.headers")
local import = require("checkpoints.import")
local json = require("common.json")
local lfs = require("lfs")
local made = require("tests.spec.checkpoints.made")
local pipeline = require("pipeline")
local words = require("common.words")

local function spec_of(folder, overrides)
  return pipeline.run(helper.root, folder, overrides or {}, "graph").spec
end

-- The line of the fault that a folder raises, and its code.
local function refusal(folder, overrides)
  local fault = helper.fault(spec_of, folder, overrides)
  assert.is_truthy(fault, "nothing was refused")
  return table.concat(fault.lines, "\n"), fault.code
end

local function refused(folder, what, code)
  local line, got = refusal(folder)
  assert.is_truthy(line:find(what, 1, true), line)
  assert.equal(code or 2, got)
  assert.is_nil(line:find("[%z\1-\9\11-\31]"), line)
  return line
end

describe("a checkpoint's folder", function()
  teardown(helper.clean)

  it("is the description that import writes", function()
    local folder = made.checkpoint(nil, nil, nil, "All-MiniLM L6.v2")
    local text, notes, tensors = import.text(folder)
    assert.same({}, notes)
    assert.same({ 11, 8 }, tensors["embeddings.word_embeddings.weight"].shape)
    local s = spec_of(folder .. "/")
    local from_text = pipeline.run(helper.root, helper.file(text, "x.lua"), {}, "graph").spec
    assert.same(s.names.scheme, from_text.names.scheme)
    s.names, from_text.names = nil, nil
    assert.same(s, from_text)
    assert.equal("all_minilm_l6_v2", s.name)
    assert.equal(1e-12, s.eps)
    assert.equal("last_hidden_state", s.output[1].name)
    assert.equal("pooler_output", s.output[3].name)
    assert.same({ ids = "input_ids", token_types = "token_type_ids" }, s.inputs)
  end)

  it("has its own name where that is one, and another where C would mind", function()
    for title, name in pairs { ["bert-base-uncased"] = "bert_base_uncased", ["4x"] = "m_4x", ["--"] = "m",
      ["math"] = "math_model", ["Ünï"] = "n", [("a"):rep(60)] = ("a"):rep(40) } do
      if title ~= "--" then assert.equal(name, import.identifier(title), title) end
    end
    assert.matches("^[a-z][a-z0-9_]*$", import.identifier("--"))
    assert.matches("^[a-z][a-z0-9_]*$", import.identifier("日本"))
  end)

  it("takes KEY=VALUE", function()
    local s = spec_of(made.checkpoint(), { "seq=5", "batch=3", "input.types=0", "output.3.name=unit" })
    assert.same({ 5, 3, 0, "unit" }, { s.seq, s.batch, s.input.types, s.output[3].name })
  end)

  it("takes any length where it has a tokenizer, as far as it allows", function()
    local function seq_of(longest, more, form)
      local config = made.config { max_position_embeddings = longest }
      local text = import.text(made.checkpoint(config, made.bert(), more), nil, form)
      return text:match("\n  seq = ([^\n]*)\n")
    end
    local tokenizer = { ["tokenizer.json"] = "{}" }
    assert.equal("16, -- tokens; up to 16", seq_of(16))
    assert.equal("128, -- tokens; up to 512", seq_of(512))
    assert.equal("1, -- tokens of a text, or fewer; up to 1", seq_of(1, tokenizer))
    assert.equal("any(16), -- tokens of a sequence", seq_of(16, tokenizer))
    assert.equal("any(512), -- tokens of a sequence", seq_of(512, tokenizer))
    assert.equal("any(512), -- tokens of a sequence; up to 8192", seq_of(8192, tokenizer))
    assert.equal("16, -- tokens of a text, or fewer; up to 16", seq_of(16, tokenizer, "one"))
    assert.equal("256, -- tokens of a text, or fewer; up to 8192", seq_of(8192, tokenizer, "one"))
    local s = spec_of(made.checkpoint(nil, nil, tokenizer), { "seq=5" })
    assert.equal(5, s.seq)
    assert.is_nil(s.any)
  end)

  it("of a model that writes has a context, unless lengths or outputs are asked for", function()
    local folder_ = helper.root .. "/tests/hf/texts/next"
    local s = spec_of(folder_)
    assert.same({ 40, 8, "vocabulary" }, { s.context, s.sequences, s.output[1].stage })
    for _, override in ipairs { "seq=any(30)", "seq=8", "output.1.over=all" } do
      assert.same({ nil, "pool" }, { spec_of(folder_, { override }).context,
        spec_of(folder_, { override }).output[1].stage })
    end
  end)

  it("has a context that is asked for, also without a tokenizer", function()
    local goldens = helper.root .. "/tests/hf/goldens/"
    assert.is_nil(spec_of(goldens .. "llama_logits").context)
    local s = spec_of(goldens .. "llama_logits", { "context=12" })
    assert.same({ 12, 8, "vocabulary" }, { s.context, s.sequences, s.output[1].stage })
    local fault = helper.fault(spec_of, goldens .. "bert_masked", { "context=12" })
    for _, line in ipairs(fault.lines) do assert.is_nil(line:find("seq", 1, true), line) end
  end)

  it("has one length where its model does not go with any length", function()
    local tokenizer = { ["tokenizer.json"] = "{}" }
    local path = made.checkpoint(nil, nil, tokenizer)
    local function length_of(overrides)
      local state = pipeline.run(helper.root, path, overrides, "validate")
      return state.spec.any and "any" or state.spec.seq, state.notes[#state.notes]
    end
    assert.equal("any", (length_of {}))
    local length, note = length_of { "past=2", "max_position=20" }
    assert.matches("^seq: " .. length .. " in place of any%(%d+%), seq=N changes it: past keys: not supported", note)
  end)

  it("finds a prefix, or none, and leaves the pooler out where the file has none", function()
    for _, prefix in ipairs { "", "bert." } do
      local tensors = made.bert(prefix)
      spec_of(made.checkpoint(nil, tensors))
      tensors[prefix .. "pooler.dense.weight"], tensors[prefix .. "pooler.dense.bias"] = nil, nil
      local folder = made.checkpoint(nil, tensors)
      assert.equal(1, #spec_of(folder).output)
      assert.matches("the file has no pooler.dense: pooler_output is left out", (import.text(folder)))
    end
  end)

  it("says where MPT's distances differ from transformers'", function()
    local golden = helper.root .. "/tests/hf/goldens/mpt_logits"
    local what = "config.json: attn_config: alibi_bias_max: its value counts, as in the code"
    assert.is_nil((import.text(golden)):find(what, 1, true))
    local folder = helper.folder()
    helper.succeeds(("cp %s/*.* %s"):format(helper.shell(golden), helper.shell(folder)))
    local config = json.decode(helper.read(golden .. "/config.json"), json.null)
    config.attn_config.alibi_bias_max = 16
    made.write(folder .. "/config.json", require("dkjson").encode(config))
    assert.is_truthy((import.text(folder)):find(what, 1, true))
  end)

  it("names layers of vectors of tokens and of lexical weights that no result reads", function()
    local searching = helper.root .. "/tests/hf/search/"
    local function said(name, without)
      local folder = helper.folder()
      helper.succeeds(("cp -r %s/. %s"):format(helper.shell(searching .. name), helper.shell(folder)))
      if without then os.remove(folder .. "/" .. without) end
      return (import.text(folder))
    end
    for _, name in ipairs { "bge_m3", "stanford", "colbert" } do
      assert.is_nil((said(name)):find("which no result of the model reads", 1, true))
    end
    assert.matches("the file has sparse_linear, colbert_linear, which no result of the model reads: lexical weights "
      .. "and vectors of tokens need modules.json", (said("bge_m3", "modules.json")))
    local tensors = made.bert("")
    tensors["linear.weight"] = { 4, 8 }
    assert.matches("the file has linear, which no result of the model reads: vectors of tokens need HF_ColBERT",
      (import.text(made.checkpoint(nil, tensors))))
  end)

  it("says which keys nobody knows, and refuses those that change the result", function()
    local _, notes = import.text(made.checkpoint(made.config { favourite_colour = "red" }))
    assert.same(1, #notes)
    assert.matches("config.json: \"favourite_colour\": not known: results may differ from transformers'", notes[1])
    for key, value in pairs { is_decoder = true, add_cross_attention = true, position_embedding_type = "relative_key",
      quantization_config = { bits = 8 }, auto_map = { AutoModel = "x.Y" }, pruned_heads = { ["0"] = { 1 } },
      hidden_act = "xielu" } do
      refused(made.checkpoint(made.config { [key] = value }), "config.json: " .. key)
    end
    assert.matches("family roberta", (import.text(made.checkpoint(made.config { model_type = "camembert",
      architectures = { "RobertaModel" } }))))
    refused(made.checkpoint(made.config { model_type = "xlnet" }),
      'model_type: "xlnet" is not supported; supported are ALBERT, AST, BART, BERT, BLIP, BLIP')
    refused(made.checkpoint(made.config { model_type = "funnel" }), '"funnel" is not supported: its layers pool rows')
    refused(made.checkpoint(made.config { model_type = "longformer",
      architectures = { "LongformerForQuestionAnswering" } }),
      '"LongformerForQuestionAnswering" is not supported: its global attention has projections of its own')
    refused(made.checkpoint(made.config { architectures = { "BertForMultipleChoice" } }),
      '"BertForMultipleChoice" is not supported; supported are BertForMaskedLM')
  end)

  it("refuses values of other types", function()
    for key, value in pairs { hidden_size = "8", num_hidden_layers = 1.5, vocab_size = 0, layer_norm_eps = -1,
      hidden_act = 5, tie_word_embeddings = "yes", num_attention_heads = { 2 }, intermediate_size = false } do
      refused(made.checkpoint(made.config { [key] = value }), "config.json: " .. key, 3)
    end
    refused(made.checkpoint("[1]"), "an object is expected", 3)
    refused(made.checkpoint("{}"), "config.json: model_type: missing", 3)
    refused(made.checkpoint('{"model_type":"bert","model_type":"bert"}'), "occurs twice", 3)
  end)

  it("refuses tensors that contradict the configuration, in ten lines", function()
    local line = refused(made.checkpoint(made.config { vocab_size = 12 }),
      "embeddings.word_embeddings.weight: shape [11, 8], but config.json and the command line ask for [12, 8]", 3)
    assert.is_nil(line:find("\n"))
    local many = refusal(made.checkpoint(made.config { num_hidden_layers = 3 }))
    local _, count = many:gsub("\n", "")
    assert.equal(8, count)
    assert.matches("and 24 more tensors do not fit$", many)
    local renamed = made.bert()
    renamed["encoder.layer.0.output.dense.bias"], renamed.extra = nil, { 8 }
    assert.matches("output.dense.bias: missing[^\n]*\n[^\n]*: the file's unused tensors: extra %[8%]$",
      (refusal(made.checkpoint(nil, renamed))))
    local tensors = made.bert()
    tensors["encoder.layer.0.output.dense.weight"] = { 12, 8 } -- lies the other way round
    refused(made.checkpoint(nil, tensors), "encoder.layer.0.output.dense.weight: shape [12, 8]", 3)
  end)

  it("may be cloned without its large files, or be a folder too high", function()
    local pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 437955512\n"
    local said = ": is a Git LFS pointer, not the file itself: run `git lfs pull`"
    refused(made.checkpoint(nil, nil, { ["model.safetensors"] = pointer }),
      "model.safetensors: is a Git LFS pointer, not the weights themselves: run `git lfs pull`", 3)
    refused(made.checkpoint(pointer), "config.json" .. said, 3)
    local folder = made.folder({ ["tokenizer.json"] = pointer })
    local fault = helper.fault(require("text.tokenizer").from_folder, folder)
    assert.equal(1, fault.lines[1]:find(folder .. "/tokenizer.json" .. said, 1, true), fault.lines[1])
    refused(made.checkpoint(nil, nil, { ["model.safetensors"] = "<!DOCTYPE html><html>" }), "is a page of HTML", 3)
    local above = helper.folder()
    lfs.mkdir(above .. "/snapshots")
    lfs.mkdir(above .. "/snapshots/0123abcd")
    helper.write(above .. "/snapshots/0123abcd/config.json", "{}")
    refused(above, "has no config.json, but " .. above .. "/snapshots/0123abcd has one: give that folder", 4)
    local other = helper.folder()
    helper.write(other .. "/x.onnx", "\8\7\18\7pytorch")
    refused(other, "; x.onnx is an ONNX model, which is not supported: ", 4)
    helper.write(other .. "/x.gguf", "GGUF")
    refused(other, "has no config.json, but " .. other .. "/x.gguf: give that file", 4)
  end)

  it("has weights in another format, which the message names", function()
    local function said_of(name, text)
      local folder = made.folder({ ["config.json"] = made.json(made.config()) })
      if name:find("/", 1, true) then lfs.mkdir(folder .. "/" .. name:match("^(.*)/")) end
      helper.write(folder .. "/" .. name, "")
      return refused(folder, ("the index of one; %s is %s: "):format(name, text), 4)
    end
    said_of("model.onnx", "an ONNX model, which is not supported")
    said_of("onnx/model.onnx", "an ONNX model, which is not supported")
    said_of("tf_model.h5", "a file of Keras or TensorFlow (HDF5), which is not supported")
    said_of("adapter_model.safetensors", "a LoRA adapter without its model")
    said_of("adapter_model.bin", "a LoRA adapter without its model")
    said_of("model.Q4_K_M.gguf", "a GGUF model")
  end)

  it("is of a family that is not supported, before it lacks weights", function()
    local folder = made.folder({ ["config.json"] = made.json({ model_type = "xlnet" }) })
    refused(folder, folder .. '/config.json: model_type: "xlnet" is not supported; supported are ALBERT', 2)
  end)

  it("has shards whose names a file system takes", function()
    local line = refused(made.checkpoint(nil, {}, { ["model.safetensors"] = false, ["model.safetensors.index.json"] =
      made.json({ weight_map = { embeddings = ("a"):rep(100000) } }) }),
      'model.safetensors.index.json: "embeddings" is in "aaa', 3)
    assert.matches('%.%.%.", a name of 100000 bytes, but at most 255 are allowed$', line)
  end)

  it("may be a file's cut, a folder's lack, a pickle", function()
    local whole = made.safetensors(made.bert())
    for _, cut in ipairs { 0, 7, 9, 200, #whole - 1 } do
      refused(made.checkpoint(nil, nil, { ["model.safetensors"] = whole:sub(1, cut) }), "model.safetensors: ", 3)
    end
    refused(made.checkpoint(nil, nil, { ["model.safetensors"] = whole .. "\0" }), "model.safetensors: ", 3)
    for header, said in pairs {
      ['"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,16]}'] =
        'model.safetensors: "a": F32 [2, 3] is 24 bytes, but data_offsets [0, 16] hold 16',
      ['"a":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,16]}'] =
        "shape [4294967296, 4294967296] is too large",
      ['"a":{"dtype":"U8","shape":[16],"data_offsets":["0",16]}'] = 'model.safetensors: "a": ',
      ['"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[8],"data_offsets":[8,16]}'] =
        '"b": data_offsets [8, 16] leave a hole after byte 4, where the tensor before it ends',
      ['"a":{"dtype":"U8","shape":[9],"data_offsets":[0,9]},"b":{"dtype":"U8","shape":[8],"data_offsets":[8,16]}'] =
        '"b": data_offsets [8, 16] overlap byte 9, where the tensor before it ends',
    } do
      refused(made.checkpoint(nil, nil, { ["model.safetensors"] = ("<s8"):pack("{" .. header .. "}")
        .. ("\0"):rep(16) }), said, 3)
    end
    refused(made.folder({ ["config.json"] = made.json(made.config()) }),
      "has neither model.safetensors nor pytorch_model.bin", 4)
    refused(made.folder({ ["model.safetensors"] = whole }), "has no config.json", 4)
    refused(made.folder({ ["config.json"] = made.json(made.config()), ["pytorch_model.bin"] = "PK\3\4" }),
      "is not a zip of torch.save()", 3)
    refused(helper.folder(), "has no config.json", 4)
  end)

  it("is not left by index, link or module", function()
    local config = made.json(made.config())
    for _, name in ipairs { "../model.safetensors", "/etc/passwd", "..", "", "a/b" } do
      refused(made.folder({ ["config.json"] = config,
        ["model.safetensors.index.json"] = made.json({ weight_map = { x = name } }) }),
        "but a file next to the index is expected", 3)
    end
    refused(made.folder({ ["config.json"] = config,
      ["model.safetensors.index.json"] = made.json({ weight_map = { x = "m.safetensors" } }) }),
      "m.safetensors: cannot be opened", 4)
    local outside = made.folder({ ["m.safetensors"] = made.safetensors(made.bert()) })
    local folder = made.folder({ ["config.json"] = config })
    assert(lfs.link(outside .. "/m.safetensors", folder .. "/model.safetensors", true))
    refused(folder, "is a link that leads out of its folder", 3)
    local modules = made.json({ { type = "x.Transformer", path = "../other" } })
    refused(made.checkpoint(nil, nil, { ["modules.json"] = modules }),
      "module 1: a type and a path in the folder are expected", 3)
  end)

  it("may be one of Hugging Face's cache, whose files are links to its store", function()
    local cache = helper.folder()
    for _, name in ipairs { "/blobs", "/snapshots", "/snapshots/main" } do assert(lfs.mkdir(cache .. name)) end
    made.write(cache .. "/blobs/abc", made.json(made.config()))
    made.write(cache .. "/blobs/def", made.safetensors(made.bert()))
    assert(lfs.link("../../blobs/abc", cache .. "/snapshots/main/config.json", true))
    assert(lfs.link("../../blobs/def", cache .. "/snapshots/main/model.safetensors", true))
    assert.equal(8, spec_of(cache .. "/snapshots/main").d_model)
  end)

  it("of sentence-transformers has its pooling, or is refused", function()
    local function modules(pooling, more)
      local list = { { type = "sentence_transformers.models.Transformer", path = "" },
        { type = "sentence_transformers.models.Pooling", path = "1_Pooling" } }
      for _, each in ipairs(more or {}) do list[#list + 1] = each end
      return { ["modules.json"] = made.json(list), ["1_Pooling/config.json"] = made.json(pooling),
        ["sentence_bert_config.json"] = '{"max_seq_length": 9}' }
    end
    local s = spec_of(made.checkpoint(nil, nil, modules({ pooling_mode_cls_token = true,
      pooling_mode_mean_tokens = true })))
    assert.same({ { "first", "mean" }, "sentence_embedding", 9, 0 }, { s.output[1].over, s.output[1].name, s.seq,
      s.input.types })
    s = spec_of(made.checkpoint(nil, nil, modules({ pooling_mode = "lasttoken" },
      { { type = "sentence_transformers.sentence_transformer.modules.normalize.Normalize", path = "2_Normalize" } })))
    assert.same({ "last", "normalise", "sentence_embedding" },
      { s.output[1].over, s.output[2].stage, s.output[2].name })
    refused(made.checkpoint(nil, nil, modules({ pooling_mode = "attention" })), "\"attention\" is not supported")
    refused(made.checkpoint(nil, nil, modules({}, { { type = "x.CNN", path = "2_CNN" } })),
      "CNN is not supported: it convolves tokens")
    local cut = modules({ pooling_mode = "mean" })
    cut["config_sentence_transformers.json"] = '{"truncate_dim": 4}'
    assert.is_nil(import.text(made.checkpoint(nil, nil, cut)):match("dimensions")) -- of texts alone
    cut["tokenizer.json"] = "{}"
    assert.equal("4", import.text(made.checkpoint(nil, nil, cut)):match("\n  dimensions = (%d+)"))
    for word, said in pairs { cosine = "", dot = "dot", euclidean = "euclidean", manhattan = "manhattan", far = "" } do
      cut["config_sentence_transformers.json"] = ('{"similarity_fn_name": "%s"}'):format(word)
      local text, notes = import.text(made.checkpoint(nil, nil, cut))
      assert.equal(said, text:match('\n  similarity = "(%l+)"') or "")
      assert.equal(word == "far", table.concat(notes, " "):find('"far" is not known', 1, true) ~= nil)
    end
    local unit = modules({}, { { type = "sentence_transformers.models.Normalize", path = "2_Normalize" } })
    unit["config_sentence_transformers.json"] = '{"truncate_dim": 4}'
    local _, notes = import.text(made.checkpoint(nil, nil, unit))
    assert.matches("truncate_dim: embeddings that are cut are scaled to unit vectors again", table.concat(notes, " "))
    for _, value in ipairs { "0", '"4"', "[4]" } do
      cut["config_sentence_transformers.json"] = ('{"truncate_dim": %s}'):format(value)
      local fault = helper.fault(import.text, made.checkpoint(nil, nil, cut))
      assert.equal(3, fault.code)
      assert.matches("truncate_dim: a number from 1 or null is expected", fault.lines[1])
    end
  end)

  it("with a tokenizer has the limit that its files state, the first that is there", function()
    local function limit(config, limits, more)
      local files = { ["tokenizer.json"] = "{}", ["tokenizer_config.json"] = config }
      if limits then
        files["modules.json"] = made.json { { type = "sentence_transformers.models.Transformer", path = "" },
          { type = "sentence_transformers.models.Pooling", path = "1_Pooling" } }
        files["1_Pooling/config.json"] = made.json { pooling_mode = "mean" }
        for name, text in pairs(limits) do files["sentence_" .. name .. "_config.json"] = text end
      end
      local text, notes = import.text(made.checkpoint(more and made.config(more), nil, files))
      return math.tointeger(tonumber(text:match("seq = any%((%d+)%)"))), notes
    end
    local longest = limit("{}")
    for _, each in ipairs { "5", "5.0" } do assert.equal(5, limit('{"model_max_length": ' .. each .. "}")) end
    for _, each in ipairs { "1000000000000000019884624838656", "1e30", "99999", "null" } do
      assert.equal(longest, limit('{"model_max_length": ' .. each .. "}"))
    end
    assert.equal(6, limit '{"max_len": 6}')
    assert.equal(5, limit('{"model_max_length": 5}', { bert = '{"max_seq_length": null}' }))
    assert.equal(9, limit('{"model_max_length": 5}', { bert = '{"max_seq_length": 9}' }))
    assert.equal(7, limit('{"model_max_length": 5}', { bert = "{}", roberta = '{"max_seq_length": 7}' }))
    assert.equal(4, limit("{}", { bert = '{"max_seq_length": 9, "tokenizer_args": {"model_max_length": 4}}' }))
    for _, each in ipairs { "0", "-1", "5.5", '"8"' } do
      local found, notes = limit('{"model_max_length": ' .. each .. "}")
      assert.equal(longest, found)
      assert.matches("^/.+/tokenizer_config.json: model_max_length: " .. each:gsub("%p", "%%%0")
        .. " is no number of tokens, and is left out$", notes[1])
    end
  end)

  it("of pages has the boxes of special tokens that its tokenizer states, or is refused", function()
    local pages = require("checkpoints.pages")
    local function place(name, box, usual)
      return pages.separator_place({ tokenizer_config = { [name] = box and json.decode(box) } }, usual)
    end
    assert.equal(1000, place("x", nil, 1000))
    assert.is_nil(pages.separator_place({}, nil))
    assert.is_nil(place("sep_token_box", "[0, 0, 0, 0]", 1000))
    assert.equal(7, place("sep_token_box", "[7, 7, 7, 7]"))
    assert.equal(1000, place("cls_token_box", "[0, 0, 0, 0]", 1000))
    for name, boxes in pairs { cls_token_box = { "[1, 1, 1, 1]", "0" }, pad_token_box = { "[0, 0, 0, 1]", "{}" },
      sep_token_box = { "[1001, 1001, 1001, 1001]", "[5, 5, 5]", "[5, 5, 6, 5]", "[-1, -1, -1, -1]", '"x"' } } do
      for _, box in ipairs(boxes) do
        local fault = helper.fault(place, name, box)
        assert.equal(2, fault.code)
        assert.matches("^tokenizer_config.json: " .. name .. ": only .* is supported$", fault.lines[1])
      end
    end
  end)

  it("says that an adapter next to the model is left out", function()
    local _, notes = import.text(made.checkpoint(nil, nil, { ["adapter_config.json"] = "{}" }))
    assert.matches("^/.+/adapter_config.json: not read; with PEFT, transformers adds", notes[1])
  end)

  it("names the folder in notes about its files", function()
    local _, notes = import.text(made.checkpoint(made.config { unheard_of = 1 }))
    assert.matches('^/.+/config.json: "unheard_of": not known: ', notes[1])
  end)

  it("has a list of strings as its architectures, or none", function()
    for value, shown in pairs { ["5"] = "5", ["{}"] = "an object", ["[5]"] = "an array", ["[null]"] = "an array",
      ['{"a":"b"}'] = "an object", ["true"] = "true" } do
      local config = made.json(made.config { architectures = 0 }):gsub('"architectures":0', '"architectures":' .. value)
      refused(made.checkpoint(nil, nil, { ["config.json"] = config }), "config.json: architectures: " .. shown
        .. ", but an array of strings is expected", 3)
    end
    for _, value in ipairs { json.null, {} } do assert.truthy(spec_of(made.checkpoint(made.config { architectures =
      value }))) end
  end)

  it("of sentence-transformers without a transformer is refused by its first module", function()
    local path = made.checkpoint(nil, nil, { ["modules.json"] = made.json {
      { type = "sentence_transformers.models.StaticEmbedding", path = "0_StaticEmbedding" } } })
    local fault = helper.fault(import.text, path)
    assert.same({ 2, 1 }, { fault.code, #fault.lines })
    assert.matches("/modules%.json: StaticEmbedding is not supported: it has no transformer; the first module must be "
      .. "Transformer$", fault.lines[1])
  end)

  it("of sentence-transformers has its default prompt, whose rows a pooling may leave out", function()
    local function stages_of(settings, pooling)
      return import.text(made.checkpoint(nil, nil, { ["tokenizer.json"] = "{}",
        ["modules.json"] = made.json { { type = "sentence_transformers.models.Transformer", path = "" },
          { type = "sentence_transformers.models.Pooling", path = "1_Pooling" } },
        ["1_Pooling/config.json"] = made.json(pooling), ["config_sentence_transformers.json"] = made.json(settings) }))
    end
    local prompts, none = { query = "query: ", none = "", long = ("x"):rep(200) }, require("common.json").null
    local function has(text, prompt, mask)
      assert.equal(prompt, text:match('\n  prompt = "([^"]*)"'), text)
      assert.equal(mask, text:find("mask = true", 1, true) ~= nil, text)
    end
    has(stages_of({ prompts = prompts, default_prompt_name = "query" }, { pooling_mode = "mean" }), "query: ", false)
    has(stages_of({ prompts = prompts, default_prompt_name = "long" }, { pooling_mode = "mean" }), prompts.long, false)
    has(stages_of({ prompts = prompts, default_prompt_name = "query" },
      { pooling_mode = "mean", include_prompt = false }), "query: ", true)
    has(stages_of({ prompts = prompts, default_prompt_name = "none" },
      { pooling_mode = "mean", include_prompt = false }), nil, true)
    has(stages_of({ prompts = prompts }, { pooling_mode = "mean", include_prompt = false }), nil, true)
    has(stages_of({ prompts = { none = "" } }, { pooling_mode = "mean", include_prompt = false }), nil, false)
    local named = stages_of({ prompts = { query = "", document = none } }, { pooling_mode = "mean" })
    assert.is_truthy(named:find('\n  prompts = { document = "", query = "" },', 1, true), named)
    local text = stages_of({ prompts = { query = "a: ", document = none } }, { pooling_mode = "mean" })
    assert.is_truthy(text:find('\n  prompts = { document = "", query = "a: " },', 1, true), text)
    local fault = helper.fault(stages_of, { prompts = prompts }, { pooling_mode = "cls", include_prompt = false })
    assert.matches("Pooling: cls after a prompt that is left out %(include_prompt%) is not supported", fault.lines[1])
    fault = helper.fault(stages_of, { prompts = { query = 5 } }, { pooling_mode = "mean" })
    assert.matches("prompts: an object of names and texts is expected", fault.lines[1])
    fault = helper.fault(stages_of, { prompts = prompts, default_prompt_name = "qeury" },
      { pooling_mode = "mean" })
    assert.matches('default_prompt_name: prompts has no "qeury"', fault.lines[1])
    for _, name in ipairs { 5, true, { "query" } } do
      fault = helper.fault(stages_of, { prompts = prompts, default_prompt_name = name }, { pooling_mode = "mean" })
      assert.equal(3, fault.code)
      assert.same({ "config_sentence_transformers.json: default_prompt_name: a name of prompts or null is expected" },
        { fault.lines[1]:match("[^/]*$"), fault.lines[2] })
    end
    has(stages_of({ prompts = prompts, default_prompt_name = none }, { pooling_mode = "mean" }), nil, false)
  end)

  it("has one place for tables that are copies, and reads one that differs", function()
    local golden, tensors = headers.read(helper.root .. "/tests/hf/goldens/t5_writes").tensors, {}
    local config = helper.read(helper.root .. "/tests/hf/goldens/t5_writes/config.json")
    for name, of in pairs(golden) do
      local handle <close> = assert(io.open(of.path, "rb"))
      handle:seek("set", of.at)
      tensors[name] = { dtype = of.dtype, bytes = handle:read(of.bytes), table.unpack(of.shape) }
    end
    local shared, tables = tensors["shared.weight"], { ["encoder.input.tokens.weight"] = "encoder.embed_tokens.weight",
      ["input.tokens.weight"] = "decoder.embed_tokens.weight", ["output.2.vocabulary.weight"] = "lm_head.weight" }
    -- Returns the places of the tables. differs: the path of one with numbers of its own, or nil.
    local function places(differs)
      for path, name in pairs(tables) do
        tensors[name] = words.merged(shared, { bytes = path == differs and ("\1"):rep(#shared.bytes) or nil })
      end
      return pipeline.run(helper.root, made.checkpoint(config, tensors), { "seq=7", "memory.seq=9", "mask=causal" },
        "layout").entries[1].weights.offsets
    end
    assert.is_false(headers.are_equal({ dtype = "F16", shape = { 1 } }, { dtype = "F16", shape = { 1 } })) -- coded ones
    local together = places()
    for path in pairs(tables) do
      local apart = places(path)
      assert.equal(together["input.tokens.weight"], together[path])
      for one in pairs(tables) do
        for other in pairs(tables) do assert.equal((one == path) == (other == path), apart[one] == apart[other]) end
      end
    end
    -- A file with one table has it for all uses, whatever its name is.
    for _, name in pairs(tables) do
      tensors["shared.weight"] = nil
      for _, other in pairs(tables) do tensors[other] = other == name and shared or nil end
      local only = pipeline.run(helper.root, made.checkpoint(config, tensors), { "seq=7", "memory.seq=9",
        "mask=causal" }, "layout").entries[1].weights.offsets
      for path in pairs(tables) do assert.equal(only["input.tokens.weight"], only[path], name) end
    end
  end)

  it("of T5 without a class says that only the encoder is built", function()
    local config = { model_type = "t5", architectures = { "T5Model" }, vocab_size = 11, d_model = 8,
      d_kv = 4, d_ff = 8, num_layers = 1, num_heads = 2 }
    local folder = made.checkpoint(made.json(config), {})
    local text, notes = import.text(folder)
    assert.same({ folder .. "/config.json: T5Model: only the encoder is built: T5ForConditionalGeneration has a "
      .. "decoder that writes" }, notes)
    assert.is_nil(text:find("memory", 1, true))
    config.architectures = { "T5ForConditionalGeneration" }
    text, notes = import.text(made.checkpoint(made.json(config), {}), nil, "continued")
    assert.same({}, notes)
    assert.matches("memory = encoder {.-seq = any%(512%)", text)
    assert.matches("generation = { draw = false, start = { 0 } }", text)
    config.architectures = { "T5EncoderModel" }
    text, notes = import.text(made.checkpoint(made.json(config), {}))
    assert.same({}, notes)
    assert.is_nil(text:find("memory", 1, true))
  end)

  it("never raises anything but a fault, whatever one byte of its files is", function()
    math.randomseed(11)
    local config = made.json(made.config())
    local count = helper.is_long and 150 or 60
    for _ = 1, count do
      local at = math.random(#config)
      local hostile = config:sub(1, at - 1) .. string.char(math.random(0, 255)) .. config:sub(at + 1)
      helper.fault(spec_of, made.checkpoint(hostile)) -- any other error goes on
    end
    local whole = made.safetensors(made.bert())
    for _ = 1, count do
      local at = math.random(2200)
      local bytes = whole:sub(1, at - 1) .. string.char(math.random(0, 255)) .. whole:sub(at + 1)
      helper.fault(spec_of, made.checkpoint(nil, nil, { ["model.safetensors"] = bytes }))
    end
    helper.clean()
  end)
end)

describe("the command import", function()
  teardown(helper.clean)

  it("writes what every command takes, soon", function()
    local folder, out = made.checkpoint(nil, nil, nil, "tiny-bert"), helper.folder()
    local before = helper.cpu_of_children()
    local code, text, errors = helper.command({ "import", folder })
    assert.is_true(helper.cpu_of_children() - before < 3) -- of processor time, on a machine that does more
    assert.same({ 0, "" }, { code, errors })
    assert.matches('^%-%- tiny%-bert: BertModel of transformers\' family bert', text)
    helper.write(out .. "/mine.lua", text)
    assert.equal(0, (helper.command({ "import", folder .. "/", "-o", out .. "/mine.lua" })))
    assert.equal(text, helper.read(out .. "/mine.lua"))
    local config = folder .. "/config.json"
    local before_it = helper.read(config)
    code, text, errors = helper.command({ "import", folder, "-o", config })
    assert.same({ 2, ("attn2c: -o: %s exists and is not a description of attn2c import; it would be lost\n"):format(
      config), before_it, "" }, { code, errors, helper.read(config), text })
    local _, of_folder = helper.command({ "show", folder, "--stage", "graph" })
    local _, of_file = helper.command({ "show", out .. "/mine.lua", "--stage", "graph" })
    assert.equal(of_folder, of_file)
    assert.is_truthy(#of_file > 1000)
  end)

  it("says what is no folder", function()
    local code, _, errors = helper.command({ "import", "/nowhere" })
    assert.same({ 4, "attn2c: /nowhere: no folder is there\n" }, { code, errors })
  end)
end)
