-- file_keys_spec: the table of keys agrees with itself and with the code that reads them: what the code takes from a
-- file is in the table as read, and what the table calls read is taken; what it refuses is refused in one line; and no
-- folder of the tests has a key that it lacks.
local helper = require("tests.spec.helper")
local families = require("checkpoints.families")
local file_keys = require("common.file_keys")
local generation = require("checkpoints.generation")
local gguf_file = require("tests.spec.gguf_file")
local import = require("checkpoints.import")
local known = require("common.known")
local lfs = require("lfs")
local made = require("tests.spec.checkpoints.made")
local pictures = require("checkpoints.pictures")
local tokenizer = require("text.tokenizer")
local words = require("common.words")

-- How code takes keys from a file: the section, what the table has in front of the key, and for each source file the
-- patterns of its accesses. The first capture is the key.
local accesses = {
  { "config.json", "", { ["checkpoints/import.lua"] = { "%f[%w]config%.([%l%d_]+)" },
    ["checkpoints/facts.lua"] = { "%f[%w]config%.([%l_]+)" },
    ["checkpoints/folder.lua"] = { "%f[%w]config%.([%l_]+) = nil" },
    ["checkpoints/sentence.lua"] = { "folder%.config%.([%l_]+)" },
    ["text/specials.lua"] = { "%f[%w_]model%.(bos_[%l_]+)" },
    ["text/classes.lua"] = { "model%.(model_type)" }, ["text/pieces.lua"] = { "model%.(model_type)" } } },
  { "config.json: rope_parameters", "", { ["checkpoints/rotary.lua"] = { 'number%("([%l_]+)"', "dictionary%.([%l_]+)" },
    ["checkpoints/families/encoders/gte.lua"] = { "given%.([%l_]+)" }, ["checkpoints/families/decoders/phi3.lua"] =
    { "dictionary%.([%l_]+)" } } },
  { "config.json: quantization_config", "", { ["checkpoints/coded.lua"] = { "[( ]config%.([%l_]+)",
    "own%.([%l_]+_?method)", "own%.(config_groups)", '%(path, "([%l_]+)", config' } } },
  { "generation_config.json", "", { ["checkpoints/generation.lua"] = { "\n  ([%l_]+) = { \"" },
    ["checkpoints/speech.lua"] = { 'stated, "([%l_]+)"', "stated%.([%l_]+)" } } },
  { "preprocessor_config.json", "", { ["checkpoints/pictures.lua"] = { 'given%("([%l_]+)"', 'given%(config, "([%l_]+)"',
    "%f[%w]config%.([%l_]+)", 'planes_of%(given%("([%l_]+)"', '%.config, "([%l_]+)"' } } },
  { "tokenizer_config.json", "", { ["text/older.lua"] = { "%f[%w]config%.([%l_]+)", 'special%(config, "([%l_]+)"' },
    ["text/pieces.lua"] = { "%f[%w]config%.([%l_]+)", '"(mask_token_sent)"' },
    ["text/languages.lua"] = { "%f[%w]config%.([%l_]+)" }, ["text/agree.lua"] = { '\n  { "([%l_]+)"',
    "%f[%w]config%.([%l_]+)" }, ["text/classes.lua"] = { "%f[%w]config%.([%l_]+)" },
    ["text/specials.lua"] = { 'find, "([%l_]+)"', "%f[%w]config%.([%l_]+)" },
    ["text/chat/template.lua"] = { "%f[%w]config%.([%l_]+)" },
    ["checkpoints/pages.lua"] = { 'side_of%(folder, "([%l_]+)"' },
    ["checkpoints/ctc.lua"] = { "%f[%w]config%.([%l_]+)", 'special%("([%l_]+)"' } } },
  { "special_tokens_map.json", "", { ["text/specials.lua"] = { 'find, "([%l_]+)"' } } },
  { "modules.json", "", { ["checkpoints/folder.lua"] = { "%f[%w]entry%.(path)", "%f[%w]entry%.(type)" } } },
  { "sentence_bert_config.json", "", { ["checkpoints/sentence.lua"] = { "limits%.([%l_]+)" },
    ["text/tokenizer.lua"] = { "limits%.([%l_]+)" } } },
  { "config_sentence_transformers.json", "", { ["checkpoints/sentence.lua"] = { "settings or {}%)%.([%l_]+)",
    'settings or {}, "([%l_]+)"', "settings%.([%l_]+)" } } },
  { "gliner_config.json", "", { ["checkpoints/spans.lua"] = { 'count%(config, "([%l_]+)"', 'own, "([%l_]+)"',
    'token%("([%l_]+)"' } } },
  { "GGUF", "tokenizer.ggml.", { ["text/gguf.lua"] = { 'value_of%(file, "([%l_.]+)"', 'list_of%(file, "([%l_.]+)"',
    'id_of%(file, self, "([%l_.]+)"', 'wanted%("([%l_.]+)"', 'tokenizer%.ggml%.([%l_]+)"%]' } } },
  { "GGUF", "{arch}.", { ["checkpoints/gguf.lua"] = { '[^(]number%("([%l_.]+)"', 'name %.%. "%.([%l_.]+)"%]',
    '\n  local key = name %.%. "%.([%l_.]+)"' }, ["checkpoints/architectures.lua"] = {
    '"general.architecture"%] %.%. "%.([%l_.]+)"' } } },
  { "GGUF", "", { ["checkpoints/gguf.lua"] = { 'metadata%["([%l_.]+)"%]', '%["(tokenizer[%l_.]+)"%] =' },
    ["text/tokenizer.lua"] = { 'metadata%["([%l_.]+)"%]' } } },
  { "GGUF", "general.sampling.", { ["checkpoints/gguf.lua"] = { 'temperature = "(temp)"',
    'top_%l = "(top_%l)"', '"(min_p)"', '"(penalty_repeat)"' } } },
}

-- Keys that are read by other means than a pattern finds: a name that is put together, a loop over names.
local by_hand = {
  ["config.json"] = "decoder_start_token_id eos_token_id pad_token_id",
  ["config.json: rope_parameters"] = "llama_4_scaling_beta rope_theta",
  ["config.json: quantization_config"] = "bits checkpoint_format format pack_dtype version desc_act sym",
  ["generation_config.json"] = "decoder_start_token_id max_length",
  ["tokenizer_config.json"] = [[add_bos_token add_eos_token additional_special_tokens chat_template extra_ids
    extra_special_tokens eos_token max_len model_input_names model_max_length padding_side sep_token
    split_special_tokens strip_accents truncation_side unk_token]],
  ["special_tokens_map.json"] = "eos_token sep_token unk_token",
  ["sentence_bert_config.json"] = "do_lower_case max_seq_length",
  ["config_sentence_transformers.json"] = [[attend_to_expansion_tokens do_query_expansion document_length
    document_prefix query_length skiplist_words]],
  GGUF = [[general.alignment split.count split.no split.tensors.count tokenizer.ggml.eom_token_id
    tokenizer.ggml.eos_token_id tokenizer.ggml.eot_token_id]],
}

local function source(path) return "\n" .. helper.read(helper.root .. "/gen/" .. path) end

-- Calls visit(key, path) for each key of a row of accesses.
local function each_key(row, visit)
  for path, patterns in pairs(row[3]) do
    local text = source(path)
    for _, pattern in ipairs(patterns) do
      local count = 0
      for key in text:gmatch(pattern) do
        count = count + 1
        if key ~= "json" and key ~= row[1]:match("[%l_]+$") then visit(row[2] .. key, path) end -- no names of objects
      end
      assert.is_true(count > 0, ("%s: %s finds nothing"):format(path, pattern))
    end
  end
end

local states = { read = true, refused = true, told = true } -- of keys that code may take

-- Returns a value that no list of allowed values has.
local function other(allowed)
  for _, value in ipairs { 77, "other" } do
    if type(value) == type(allowed[1]) then return value end
  end
  return true ~= allowed[1] and true or false
end

-- The refused keys of a section: key -> a value that is not allowed.
local function refused(section)
  local result = {}
  for _, rules in pairs((file_keys[section] or {}).refused or {}) do
    for key, allowed in pairs(rules) do result[key] = other(allowed) end
  end
  return result
end

local function unknown_of(list)
  local lines = {}
  for _, line in ipairs(list) do if line:find("not known", 1, true) then lines[#lines + 1] = line end end
  return lines
end

-- Calls visit(path) for each folder below one that has a file of this name.
local function each_folder(place, file, visit)
  for name in lfs.dir(place) do
    local path = place .. "/" .. name
    if name:sub(1, 1) ~= "." and lfs.attributes(path, "mode") == "directory" then
      if lfs.attributes(path .. "/" .. file, "mode") then visit(path) end
      each_folder(path, file, visit)
    end
  end
end

-- Keys that the file of a family, or the record of an architecture, lists.
local listed = { ["config.json"] = { is_causal = { state = "read" } }, GGUF = {} }
for _, family in pairs(families.by_name) do
  for _, entry in ipairs(family.config or {}) do
    for i = 1, #entry do listed["config.json"][entry[i]] = { state = "read" } end
  end
end
for _, record in pairs(require("checkpoints.architectures")) do
  for _, row in ipairs(record.keys) do listed.GGUF["{arch}." .. row[1]] = { state = "read" } end
end

describe("the table of a checkpoint's keys", function()
  teardown(helper.clean)

  it("has each key of a section once, and lists in order", function()
    for name, section in pairs(file_keys) do
      local seen = {}
      local function add(key)
        assert.is_nil(seen[key], ("%s: %s is there twice"):format(name, key))
        seen[key] = true
      end
      for _, rules in pairs(words.merged(section.refused or {}, section.told or {})) do
        for key in pairs(rules) do add(key) end
      end
      for _, list in pairs(words.merged(section.without or {}, { section.read })) do
        for key in list:gmatch("%S+") do add(key) end
      end
      for _, list in pairs(section.without or {}) do
        local last = ""
        for key in list:gmatch("%S+") do
          assert.is_true(last < key, ("%s: %s is after %s"):format(name, key, last))
          last = key
        end
      end
    end
  end)

  it("has sections of families that there are", function()
    for name in pairs(file_keys) do
      local family = name:match("^config%.json of ([%l%d_]+)$")
      if family then assert.is_table(families.by_name[family], name) end
    end
  end)

  it("has the keys that code takes from a file, and no others as read", function()
    local taken, wrong = {}, {}
    for _, row in ipairs(accesses) do
      local section = row[1]
      taken[section] = taken[section] or {}
      each_key(row, function(key, path)
        local entry = known.entry(key, { section }) or listed[section] and listed[section][key]
        if not entry or not states[entry.state] then
          wrong[#wrong + 1] = ("%s takes %s of %s: %s"):format(path, key, section, entry and entry.state or "unknown")
        end
        taken[section][key] = true
      end)
    end
    for section, keys in pairs(taken) do
      for key in (by_hand[section] or ""):gmatch("%S+") do keys[key] = true end
      for key, entry in pairs(known.section(section)) do
        if entry.state == "read" and not keys[key] then
          wrong[#wrong + 1] = ("%s: nobody takes %s"):format(section, key)
        end
      end
    end
    assert.same({}, wrong)
  end)

  it("has the members of components that code takes", function()
    local members = {}
    for key in file_keys["tokenizer.json"].read:gmatch("%S+") do members[key:match("[^.]*$")] = true end
    local seen = {}
    for _, path in ipairs { "text/components.lua", "text/process.lua", "text/model.lua", "text/tokenizer.lua" } do
      for _, before in ipairs { "path", '"model"', '"truncation"', '"tokenizer"' } do
        for key in source(path):gmatch(before .. ', "([%l_]+)"') do seen[key] = true end
      end
    end
    for _, key in ipairs { "single", "pair", "strip_left", "vocab", "unk_id", "stride", "content" } do
      assert.is_true(seen[key], key .. " was not found")
    end
    for _, key in ipairs { "mode", "type", "id", "type_id", "String", "Regex", "ids" } do seen[key] = nil end
    for key in pairs(seen) do assert.is_true(members[key], key .. " is not in the table") end
  end)

  it("refuses in one line what it calls refused: config.json", function()
    local function check(model_type, key, value)
      local folder = made.checkpoint(made.json { model_type = model_type, [key] = value }, {})
      local fault = helper.fault(import.text, folder)
      assert.is_table(fault, ("%s: %s"):format(model_type, key))
      assert.same({ 2, 1 }, { fault.code, #fault.lines })
      assert.matches("config%.json: " .. key .. ": ", fault.lines[1])
    end
    local count = 0
    for name, family in pairs(families.by_name) do
      for key, value in pairs(refused("config.json of " .. name)) do
        for model_type in pairs(family.model_types) do
          if not (family.inside or {})[model_type] then check(model_type, key, value) end
          count = count + 1
        end
      end
    end
    assert.is_true(count > 20)
    for key, value in pairs(refused("config.json")) do check("bert", key, value) end
  end)

  it("refuses in one line what it calls refused: generation_config.json", function()
    local count = 0
    for key, value in pairs(refused("generation_config.json")) do
      for _, file in ipairs { "generation_config.json", "config.json" } do
        local stated = file == "generation_config.json" and { [key] = value } or nil
        local fault = helper.fault(generation.of, stated, { [key] = value }, 9, {})
        assert.is_table(fault, key)
        assert.same({ 2, 1 }, { fault.code, #fault.lines })
        assert.is_truthy(fault.lines[1]:find(("%s: %s: "):format(file, key), 1, true))
        count = count + 1
      end
    end
    assert.equal(12, count)
  end)

  it("refuses in one line what it calls refused: GGUF", function()
    for key, value in pairs(refused("GGUF")) do
      if key:find("expert_u?s?e?d?_?count$") then goto continue end -- files of Mixtral are of this architecture
      local own = key:gsub("^{arch}", "llama"):gsub("%*", "x")
      local bytes = gguf_file.bytes(gguf_file.llama { [own] = { "UINT32", value } })
      local fault = helper.fault(import.text, helper.file(bytes, "m.gguf"))
      assert.is_table(fault, own)
      assert.same({ 3, 1 }, { fault.code, #fault.lines })
      assert.is_truthy(fault.lines[1]:find("m.gguf: metadata: " .. own .. ": 77 is not supported", 1, true))
      assert.is_table(import.text and { import.text(helper.file(gguf_file.bytes(gguf_file.llama {
        [own] = { "UINT32", 0 } }), "m.gguf")) })
      ::continue::
    end
  end)

  it("gives a line to each key whose value is left out", function()
    for why, rules in pairs(file_keys["generation_config.json"].told) do
      for key, allowed in pairs(rules) do
        local notes = {}
        generation.of({ [key] = other(allowed) }, {}, 9, notes)
        assert.same(1, #notes, key)
        assert.equal(("generation_config.json: %s: %s"):format(key, why), notes[1])
        assert.is_true(why:find("^not supported, and left out") ~= nil or why:find("^not read: ") ~= nil)
        for _, value in ipairs(allowed) do generation.of({ [key] = value }, {}, 9, notes) end
        assert.same(1, #notes, key)
      end
    end
    for key, value in pairs(refused("preprocessor_config.json")) do
      local notes = {}
      local config = { image_processor_type = "ViTImageProcessor", [key] = value }
      assert.is_nil(pictures.of({ file = "p.json", config = config }, { 224, 224 }, notes))
      assert.same(1, #notes)
      assert.matches("^p%.json: " .. key .. ": true is not supported", notes[1])
    end
  end)

  it("gives a line to a key that it lacks, in each file", function()
    local odd = { odd = 1, ["odd\27[1m"] = 2 }
    local rope = { rope_type = "default", rope_theta = 1e4, odd = 1 }
    local config = { model_type = "llama", odd = 1, pack_qkv = true, rope_parameters = rope } -- GTE has pack_qkv
    local function lines(files)
      local folder = made.checkpoint(made.json(files[1]), {}, files[2])
      local _, notes = import.text(folder)
      for i, note in ipairs(notes) do
        assert.equal(folder .. "/", note:sub(1, #folder + 1))
        notes[i] = note:sub(#folder + 2)
      end
      return unknown_of(notes)
    end
    assert.same({ 'config.json: "odd": not known: results may differ from transformers\'',
      'config.json: "pack_qkv": not known: results may differ from transformers\'',
      'config.json: rope_parameters: "odd": not known: results may differ from transformers\'' },
      lines { config })
    local quantised = { quant_method = "gptq", bits = 4, odd = 1 }
    assert.same({ 'config.json: quantization_config: "odd": not known: results may differ from transformers\'' },
      lines { { model_type = "llama", quantization_config = quantised } })
    local modules = { { type = "sentence_transformers.models.Transformer", path = "", odd = 1 },
      { type = "sentence_transformers.models.Pooling", path = "1_Pooling" } }
    local by = " not known: results may differ from sentence-transformers'"
    assert.same({ 'config_sentence_transformers.json: "odd":' .. by, 'sentence_bert_config.json: "odd":' .. by,
      'modules.json: "odd":' .. by, '1_Pooling/config.json: "odd":' .. by }, lines { { model_type = "bert" }, {
      ["modules.json"] = made.json(modules), ["1_Pooling/config.json"] = '{"pooling_mode":"mean","odd":1}',
      ["config_sentence_transformers.json"] = '{"odd":1}', ["sentence_bert_config.json"] = '{"odd":1}' } })
    local small = helper.root .. "/tests/hf/texts/sentence"
    local folder = helper.folder()
    assert(os.execute(("cp %s/*.json %s"):format(helper.shell(small), helper.shell(folder))))
    helper.write(folder .. "/tokenizer_config.json", '{"odd":1,"image_token":"[PAD]"}')
    helper.write(folder .. "/special_tokens_map.json", '{"odd":1}')
    local _, _, warnings = tokenizer.from_path(folder)
    assert.same({ folder .. '/tokenizer_config.json: "odd": not known: results may differ from transformers\'',
      folder .. '/special_tokens_map.json: "odd": not known: results may differ from transformers\'' },
      unknown_of(warnings))
    helper.write(folder .. "/tokenizer_config.json", '{"extra_special_tokens":["<x>"]}')
    helper.write(folder .. "/added_tokens.json", '{"[PAD]":0,"<y>":9}')
    local _, _, lacking = tokenizer.from_path(folder)
    local adds = ", which the tokenizer does not have; transformers adds tokens for them"
    assert.same({ folder .. '/tokenizer_config.json: warning: names "<x>"' .. adds,
      folder .. '/added_tokens.json: warning: names "<y>"' .. adds }, { table.unpack(lacking, #lacking - 1) })
    local notes = {}
    generation.of({ odd = 1 }, {}, 9, notes)
    assert.same({ 'generation_config.json: "odd": not known: results may differ from transformers\'' }, notes)
    notes = {}
    known.check({ 1, 2 }, "f.json", { "GGUF" }, notes) -- a list, which its reader refuses
    assert.same({}, notes)
    -- A name that would reach the terminal is escaped.
    notes = {}
    known.check(odd, "f.json", { "modules.json" }, notes)
    assert.same({ 'f.json: "odd":' .. by, 'f.json: "odd?[1m":' .. by }, notes)
    local many = {}
    for i = 1, 1000 do many["key" .. i] = i end
    notes = {}
    known.check(many, "f.json", { "modules.json" }, notes)
    assert.same({ 21, "f.json: 980 more keys are not known" }, { #notes, notes[21] })
  end)

  it("refuses what a module of sentence-transformers says that is not supported", function()
    local function line(files)
      files["modules.json"] = made.json { { type = "sentence_transformers.models.Transformer", path = "" },
        { type = "sentence_transformers.models.Pooling", path = "1_Pooling" } }
      files["1_Pooling/config.json"] = '{"pooling_mode":"mean"}'
      local fault = helper.fault(import.text, made.checkpoint('{"model_type":"bert"}', {}, files))
      assert.same({ 2, 1 }, { fault.code, #fault.lines })
      return fault.lines[1]:match("[%w_]+%.json: .*$")
    end
    assert.equal('config_sentence_transformers.json: model_type: "Other" is not supported: supported are '
      .. "SentenceTransformer, SparseEncoder, CrossEncoder, MultiVectorEncoder and ColBERT", line {
      ["config_sentence_transformers.json"] = '{"model_type":"Other"}' })
    assert.matches('^sentence_bert_config%.json: transformer_task: "any%-to%-any" is not supported: ', line {
      ["sentence_bert_config.json"] = '{"transformer_task":"any-to-any"}' })
    assert.matches('^sentence_bert_config%.json: module_output_name: "x" is not supported: ', line {
      ["sentence_bert_config.json"] = '{"module_output_name":"x"}' })
    assert.equal('sentence_bert_config.json: modality_config: text: method "get_text_features" with "pooler_output" is '
      .. "not supported; supported is forward with last_hidden_state or logits", line { ["sentence_bert_config.json"] =
      '{"modality_config":{"text":{"method":"get_text_features","method_output_name":"pooler_output"}}}' })
    local text = '"text":{"method":"forward","method_output_name":"last_hidden_state"}'
    assert.equal("sentence_bert_config.json: modality_config: message: texts become chats by the chat template, which "
      .. "is not supported here; only text is", line { ["sentence_bert_config.json"] = '{"modality_config":{' .. text
      .. "," .. text:gsub("text", "message", 1) .. "}}" })
  end)

  it("has every key of the tests' folders", function()
    local count = 0
    each_folder(helper.root .. "/tests/hf", "config.json", function(path)
      if path:find("/%d_%u") then return end -- a module of sentence-transformers
      local done, _, notes = pcall(import.text, path)
      if done then
        assert.same({}, unknown_of(notes), path)
        count = count + 1
      end
    end)
    assert.is_true(count > 100)
    each_folder(helper.root .. "/tests/hf", "tokenizer.json", function(path)
      local _, _, warnings = tokenizer.from_path(path)
      assert.same({}, unknown_of(warnings), path)
    end)
    for name in lfs.dir(helper.root .. "/tests/hf/goldens") do
      local path = ("%s/tests/hf/goldens/%s/%s.gguf"):format(helper.root, name, name)
      if lfs.attributes(path, "mode") then
        local _, notes = import.text(path)
        assert.same({}, unknown_of(notes), path)
      end
    end
  end)
end)
