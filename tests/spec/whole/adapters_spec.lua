-- adapters_spec.lua: a program that writes, with two adapters next to its weights: an adapter writes what a program
-- with the merged one writes; rows of one call have the bits that they have by themselves; a server answers by the
-- adapter's name. So do programs of pictures and of sounds. Whole models are compared with PEFT's in hf_spec.
local helper = require("tests.spec.helper")
local serving = require("tests.spec.serving")
local made = require("tests.spec.checkpoints.made")

local root = helper.absolute_root()
local folder = root .. "/out/spec/adapters"
local llama = root .. "/tests/generate/llama"
local shell = helper.shell
local say = require("tests.say").of(folder)

local LAYERS, WIDTH = 2, 24
local OUTPUTS = { ["self_attn.q_proj"] = 24, ["self_attn.v_proj"] = 12, ["mlp.gate_proj"] = 40 }

-- Writes an adapter of random numbers. modules: { path, outputs, inputs } each
local function write_adapter(name, rank, modules)
  local tensors, shapes, config = {}, {}, { peft_type = "LORA", r = rank, lora_alpha = 2 * rank }
  local function add(module, end_, rows, columns)
    local key, numbers = ("base_model.model.%s.lora_%s.weight"):format(module, end_), {}
    for i = 1, rows * columns do numbers[i] = string.pack("<f", (math.random() - 0.5) * 0.6) end
    shapes[#shapes + 1] = { key, rows, columns }
    tensors[#tensors + 1] = table.concat(numbers)
  end
  for _, module in ipairs(modules) do
    add(module[1], "A", rank, module[3])
    add(module[1], "B", module[2], rank)
  end
  local at, parts = 0, {}
  for i, shape in ipairs(shapes) do
    parts[i] = ('"%s":{"dtype":"F32","shape":[%d,%d],"data_offsets":[%d,%d]}'):format(shape[1], shape[2], shape[3], at,
      at + #tensors[i])
    at = at + #tensors[i]
  end
  local header = "{" .. table.concat(parts, ",") .. "}"
  local path = folder .. "/" .. name
  require("common.files").make_folder(path)
  helper.write(path .. "/adapter_config.json", made.json(config))
  helper.write(path .. "/adapter_model.safetensors", string.pack("<s8", header) .. table.concat(tensors))
end

-- Returns these modules of each layer of the llama.
local function of_layers(names)
  local list = {}
  for i = 0, LAYERS - 1 do
    for _, name in ipairs(names) do
      list[#list + 1] = { ("model.layers.%d.%s"):format(i, name), OUTPUTS[name], WIDTH }
    end
  end
  return list
end

local function line(program, words) return ("%s/model %s --weights %s"):format(program, words, shell(llama)) end

-- Writes an .npy file of int32.
local function write_ids(name, ids)
  local head = ("{'descr': '<i4', 'fortran_order': False, 'shape': (%d,), }"):format(#ids)
  head = head .. (" "):rep(-(10 + #head + 1) % 64) .. "\n"
  helper.write(folder .. "/" .. name, "\x93NUMPY\1\0" .. string.pack("<s2", head)
    .. string.pack("<" .. ("i4"):rep(#ids), table.unpack(ids)))
end

-- Returns the logits of prompts of three tokens, with a list of adapters or none.
local function logits(prompts, adapters)
  local lengths = {}
  for i = 1, #prompts // 3 do lengths[i] = 3 end
  write_ids("ids.npy", prompts)
  write_ids("lengths.npy", lengths)
  local more = ""
  if adapters then
    write_ids("adapters.npy", adapters)
    more = " --input adapters=adapters.npy"
  end
  say.sh(line("beside", "run") .. " --input input_ids=ids.npy --input lengths=lengths.npy --output logits=logits.npy"
    .. more)
  return (helper.read(folder .. "/logits.npy"):match("^.-\n(.*)$"))
end

local function generated(program, more)
  return say.output_of(line(program, "generate") .. " --prompt 'hello there' --tokens 16 --greedy " .. (more or ""))
end

-- Builds the llama by a command with its path and folder.
local function build(command, name, words)
  say.sh((command .. " name=model kernels=c context=200 sequences=4 chunk=16 %s >%s.log 2>&1 || { cat %s.log; "
    .. "false; }"):format(shell(llama), name, words, name, name))
end

setup(function()
  say.run("true")
  math.randomseed(7)
  write_adapter("sql", 4, of_layers { "self_attn.q_proj", "self_attn.v_proj" })
  write_adapter("tone", 9, of_layers { "self_attn.v_proj", "mlp.gate_proj" })
  build(shell(root .. "/gen/attn2c") .. " build %s -o %s", "beside", "--serve adapters.sql=sql adapters.tone=tone")
  local program = "lua5.4 " .. shell(root .. "/tests/program.lua") .. " %s %s --text --answers"
  build(program, "none", "")
  build(program, "sql_merged", "adapter=sql")
  build(program, "tone_merged", "adapter=tone")
end)

describe("adapters next to the weights", function()
  it("write what merged ones do, and nothing changes without one", function()
    local none, sql, tone = generated("none"), generated("sql_merged"), generated("tone_merged")
    assert.is_true(none ~= sql and sql ~= tone and none ~= tone)
    assert.equal(none, generated("beside"))
    assert.equal(sql, generated("beside", "--adapter sql"))
    assert.equal(tone, generated("beside", "--adapter tone"))
  end)

  it("give rows of one call the bits that they have by themselves", function()
    local a, b, c = { 5, 6, 7 }, { 9, 8, 7 }, { 5, 6, 7 }
    local single = logits(a) .. logits(b, { 1 }) .. logits(c, { 2 })
    assert.equal(single, logits({ 5, 6, 7, 9, 8, 7, 5, 6, 7 }, { 0, 1, 2 }))
    assert.equal(logits(a), logits(a, { 0 }))
    assert.are_not.equal(logits(a), logits(a, { 2 }))
  end)

  it("are in packed weights, and compared with the reference", function()
    say.sh(line("beside", "pack") .. " -o model.weights")
    local packed = say.output_of("beside/model generate --weights model.weights --prompt 'hello there' --tokens 16 "
      .. "--greedy --adapter tone")
    assert.equal(generated("beside", "--adapter tone"), packed)
    assert.matches("%d+ passed, 0 failed", say.sh(line("beside", "check")))
    assert.matches("decode %(position 0%)", say.sh(line("beside", "bench") .. " -r 1"))
  end)

  it("may change one layer's attention only, in bf16, where the next layer stores its context otherwise", function()
    for layer = 0, LAYERS - 1 do
      write_adapter("one", 4, { { ("model.layers.%d.self_attn.o_proj"):format(layer), 24, 24 } })
      build(shell(root .. "/gen/attn2c") .. " gen %s -o %s", "one_out", "precision=bf16 adapters.one=one")
    end
  end)

  it("are chosen by name in Python, and kept with a sequence", function()
    assert.equal("", say.sh(("PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=beside:%s /usr/bin/python3 -W error %s model %s")
      :format(shell(root .. "/tests/bindings"), shell(root .. "/tests/bindings/adapters.py"), shell(llama))))
  end)

  it("of other names are refused with those that there are", function()
    local code, said = say.run(line("beside", "generate") .. " --prompt x --tokens 1 --adapter nope")
    assert.equal(2, code, said)
    assert.is_truthy(said:find("sql", 1, true) and said:find("tone", 1, true), said)
    code, said = say.run(line("none", "generate") .. " --prompt x --tokens 1 --adapter sql")
    assert.equal(2, code, said)
    write_ids("adapters.npy", { 3 })
    code, said = say.run(line("beside", "run") .. " --input input_ids=ids.npy --input lengths=lengths.npy "
      .. "--input adapters=adapters.npy --output logits=none.npy")
    assert.equal(3, code, said)
  end)
end)

describe("a server with adapters", function()
  local server

  setup(function() server = serving.start(folder, line("beside", "serve"), "--port 0 --log none") end)
  teardown(function() server:stop() end)

  local function body(model)
    return { model = model, prompt = "hello there, hello there", max_tokens = 12, temperature = 0 }
  end

  local function cached(reply) return reply.usage.prompt_tokens_details.cached_tokens end

  it("lists them, and answers by their names, side by side as one by one", function()
    local _, list = server:ask("/v1/models")
    local names = {}
    for i, each in ipairs(list.data) do names[i] = each.id end
    assert.same({ "model", "sql", "tone" }, names)
    local texts, asked = {}, {}
    for i, name in ipairs { "model", "sql", "tone", "model:sql" } do
      local status, reply = server:ask("/v1/completions", body(name))
      assert.equal(200, status)
      assert.equal(i == 4 and "sql" or name, reply.model)
      assert.equal(i == 4, cached(reply) > 0) -- no keys of another adapter
      texts[i], asked[i] = reply.choices[1].text, { "/v1/completions", body(name) }
    end
    assert.is_true(texts[1] ~= texts[2] and texts[2] ~= texts[3] and texts[1] ~= texts[3])
    assert.equal(texts[2], texts[4])
    for i, said in ipairs(server:ask_all(asked)) do
      assert.equal(texts[i], require("dkjson").decode(said).choices[1].text)
    end
  end)

  it("refuses another name with the list", function()
    for _, name in ipairs { "nope", "model:nope" } do
      local status, reply, text = server:ask("/v1/completions", body(name))
      assert.equal(404, status)
      assert.equal("model", reply.error.param)
      assert.is_truthy(text:find("tone", 1, true))
    end
  end)
end)

describe("an adapter next to the weights of a model", function()
  local APART = 1e-4 -- of logits, as in hf_spec: a merged adapter is rounded with the weights

  -- Models by their option: the folder, what is read, and modules with their outputs and inputs.
  local models = {
    image = { path = root .. "/tests/hf/pictures/vit_labels", input = root .. "/tests/pictures/files/rgb420.jpg",
      modules = { { "vit.encoder.layer.0.attention.attention.query", 24, 24 },
        { "vit.encoder.layer.1.output.dense", 24, 24 } } },
    audio = { path = root .. "/tests/hf/sounds/layer", input = root .. "/tests/hf/speech/english/short.wav",
      modules = { { "wav2vec2.encoder.layers.0.attention.v_proj", 16, 16 },
        { "wav2vec2.encoder.layers.0.feed_forward.output_dense", 16, 24 } } },
  }

  setup(function()
    local list = {}
    for option, model in pairs(models) do
      write_adapter("of_" .. option, 3, model.modules)
      for kind, key in pairs { beside = "adapters.tone", merged = "adapter" } do
        list[#list + 1] = { name = ("%s_%s"):format(option, kind), path = model.path,
          words = { "--serve", "name=model", ("%s=of_%s"):format(key, option) } }
      end
    end
    dofile(root .. "/tests/cases.lua").programs(folder, list)
  end)

  for option, model in pairs(models) do
    it(("is chosen with --%s, and gives what the merged one does"):format(option), function()
      local function answer(kind, more)
        say.sh(("%s_%s/model run --weights %s --%s %s --output logits=logits.npy %s"):format(option, kind,
          shell(model.path), option, shell(model.input), more or ""))
        return (say.npy(folder .. "/logits.npy"))
      end
      local function apart(expected, got)
        local largest = #expected == #got and 0 or math.huge
        for i, number in ipairs(expected) do
          largest = math.max(largest, math.abs(number - got[i]) / math.max(1, math.abs(number)))
        end
        return largest
      end
      local merged, beside, none = answer("merged"), answer("beside", "--adapter tone"), answer("beside")
      assert.is_true(apart(merged, beside) <= APART, apart(merged, beside))
      assert.is_true(apart(merged, none) > 100 * APART, apart(merged, none))
      local code, said = say.run(("%s_beside/model run --weights %s --%s %s --adapter nope"):format(option,
        shell(model.path), option, shell(model.input)))
      assert.equal(2, code, said)
      assert.is_truthy(said:find("tone", 1, true), said)
    end)
  end

  it("is chosen by a form's part", function()
    local server = serving.start(folder, "image_beside/model serve --weights " .. shell(models.image.path),
      "--port 0 --log none")
    local function ask(name)
      return say.output_of(("curl -s %s/predict -F file=@%s %s"):format(server.address, shell(models.image.input),
        name and "-F model=" .. name or ""))
    end
    local none, tone = ask(), ask("tone")
    assert.is_true(none ~= tone and none == ask("model") and tone == ask("model:tone"), tone)
    assert.is_truthy(ask("nope"):find('model: \\"nope\\", but model or tone is allowed', 1, true), ask("nope"))
    server:stop()
  end)
end)
