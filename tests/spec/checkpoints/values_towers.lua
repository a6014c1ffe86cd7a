-- values_towers: the part of values for the towers of CLIP and SigLIP. Returns a function that returns it by
-- model_type. Defaults are those of transformers 5.23.
return function(values)
  local parts, NONE = values.parts, values.NONE
  local like, output, hidden, image = parts.like, parts.output, parts.hidden, parts.image

  -- The towers of CLIP, whose whole folder has them in parts of its configuration.
  local function clip_vision()
    local norm = "vision_model.post_layernorm post_layernorm"
    local projected = output({ { "pool", over = "first" }, { "norm" }, { "linear", to = 512, bias = false,
      name = "image_embeds" } }, "clip_vision", { ["output.2.norm"] = norm, ["output.3.linear"] = "visual_projection" })
    projected["output.2.over"] = NONE
    local bare = output({ hidden, { "pool", over = "first" }, { "norm", name = "pooler_output" } }, "clip_vision",
      { ["output.3.norm"] = norm })
    projected["names.output.3.norm"] = NONE
    local base = like(like(image, bare), { activation = "quick_gelu", eps = 1e-5, ["input.patch"] = 32,
      ["input.norm"] = true, ["input.bias"] = false, final_norm = NONE })
    return { base = base, cases = {
      { { hidden_size = 384, num_attention_heads = 6 }, { d_model = 384, heads = 6, d_ff = 3072 } },
      { { num_hidden_layers = 3 }, { layers = 3 } },
      { { intermediate_size = 100 }, { d_ff = 100 } },
      { { hidden_act = "gelu" }, { activation = "gelu" } },
      { { layer_norm_eps = 1e-6 }, { eps = 1e-6 } },
      { { image_size = 64 }, { ["input.height"] = 64, ["input.width"] = 64 } },
      { { patch_size = 16 }, { ["input.patch"] = 16 } },
      { { num_channels = 1 }, { ["input.channels"] = 1 } },
      { { projection_dim = 9 }, {} },
    }, classes = { Model = { bare }, ModelWithProjection = { projected } } }
  end

  local function clip_text()
    local projected = output({ { "pool", over = "last", ending = 49407 },
      { "linear", to = 512, bias = false, name = "text_embeds" } },
      "clip_text", { ["output.2.linear"] = "text_projection" })
    projected["output.2.over"], projected["output.2.ending"] = NONE, NONE
    local bare = output({ hidden, { "pool", over = "last", ending = 49407, name = "pooler_output" } }, "clip_text")
    local base = like({ d_model = 512, heads = 8, layers = 12, activation = "quick_gelu", norm = "pre", eps = 1e-5,
      final_norm = true, seq = 77, max_position = 77, mask = "causal padding",
      ["input.stage"] = "tokens", ["input.vocab"] = 49408, ["inputs.ids"] = "input_ids" }, bare)
    return { base = base, cases = {
      { { vocab_size = 99, eos_token_id = 98 }, { ["input.vocab"] = 99, ["output.2.ending"] = 98 } },
      { { vocab_size = 99 }, { ["input.vocab"] = 99, ["output.2.over"] = "first", ["output.2.ending"] = NONE } },
      { { eos_token_id = 2 }, { ["output.2.ending"] = -1 } },
      { { hidden_size = 384, num_attention_heads = 6 }, { d_model = 384, heads = 6, d_ff = 2048 } },
      { { num_hidden_layers = 3 }, { layers = 3 } },
      { { intermediate_size = 100 }, { d_ff = 100 } },
      { { hidden_act = "gelu" }, { activation = "gelu" } },
      { { max_position_embeddings = 9 }, { max_position = 9, seq = 9 } },
      { { layer_norm_eps = 1e-6 }, { eps = 1e-6 } },
      { { projection_dim = 9 }, {} },
    }, classes = { Model = { bare }, ModelWithProjection = { projected } } }
  end

  local function siglip_text()
    local bare = output({ hidden, { "pool", over = "last" }, { "linear", to = 768, name = "pooler_output" } },
      "siglip_text", { ["output.3.linear"] = "text_model.head head" })
    local base = like({ d_model = 768, heads = 12, layers = 12, activation = "gelu_tanh", norm = "pre", eps = 1e-6,
      final_norm = true, seq = 64, max_position = 64, ["input.stage"] = "tokens", ["input.vocab"] = 32000,
      ["input.padded"] = true, ["inputs.ids"] = "input_ids" }, bare)
    return { base = base, cases = {
      { { vocab_size = 99 }, { ["input.vocab"] = 99 } },
      { { hidden_size = 384, num_attention_heads = 6 },
        { d_model = 384, heads = 6, d_ff = 3072, ["output.3.to"] = 384 } },
      { { num_hidden_layers = 3 }, { layers = 3 } },
      { { intermediate_size = 100 }, { d_ff = 100 } },
      { { hidden_act = "gelu" }, { activation = "gelu" } },
      { { max_position_embeddings = 9 }, { max_position = 9, seq = 9 } },
      { { layer_norm_eps = 1e-5 }, { eps = 1e-5 } },
      { { projection_size = 9 }, { ["output.3.to"] = 9 } },
    }, classes = { Model = { bare } } }
  end

  local image_keys = {
    { { hidden_size = 384, num_attention_heads = 6 }, { d_model = 384, heads = 6, d_ff = 3072 } },
    { { num_hidden_layers = 3 }, { layers = 3 } },
    { { intermediate_size = 100 }, { d_ff = 100 } },
    { { hidden_act = "gelu" }, { activation = "gelu" } },
    { { layer_norm_eps = 1e-4 }, { eps = 1e-4 } },
    { { image_size = 64 }, { ["input.height"] = 64, ["input.width"] = 64 } },
    { { patch_size = 8 }, { ["input.patch"] = 8 } },
    { { num_channels = 1 }, { ["input.channels"] = 1 } },
  }

  -- BLIP's image tower, whose pooler's output has the last norm twice.
  local function blip_vision()
    local stages = output({ hidden, { "pool", over = "first" }, { "norm", name = "pooler_output" } }, "blip_vision",
      { ["output.3.norm"] = "vision_model.post_layernorm post_layernorm" })
    local base = like(like(image, stages), { eps = 1e-5, ["input.height"] = 384, ["input.width"] = 384 })
    return { base = base, classes = { Model = { stages } }, cases = image_keys }
  end

  -- SigLIP's image tower, whose head has the rules of one attention.
  local function siglip_vision(scheme)
    local function pair(name) return ("vision_model.head.%s head.%s"):format(name, name) end
    local stages = output({ hidden, { "attend", name = "pooler_output" } }, scheme)
    stages.names, stages["names.1"] = NONE, scheme
    local function rule(path, name, part)
      local key = "names.output.2.attend." .. path
      if not part then
        stages[key] = pair(name)
      else
        stages[key .. ".1"], stages[key .. ".2"] = "vision_model.head." .. name, "head." .. name
        stages[key .. ".part"], stages[key .. ".parts"] = part, 3
      end
    end
    for number, part in ipairs { "q", "k", "v" } do
      rule("cross." .. part .. ".weight", "attention.in_proj_weight", number)
      rule("cross." .. part .. ".bias", "attention.in_proj_bias", number)
    end
    rule("cross.out", "attention.out_proj")
    rule("norm", "layernorm")
    rule("ff.up", "mlp.fc1")
    rule("ff.down", "mlp.fc2")
    rule("probe.weight", "probe")
    local base = like(like(image, stages), { activation = "gelu_tanh", eps = 1e-6, ["input.class_token"] = false })
    return { base = base, classes = { Model = { stages } }, cases = image_keys }
  end

  -- SigLIP 2's of any shape: rows of patches come in.
  local function siglip2_vision()
    local made = siglip_vision("siglip2_vision")
    local base = like(made.base, { ["input.class_token"] = NONE, ["input.channels"] = NONE, ["input.height"] = NONE,
      ["input.width"] = NONE, ["input.patch"] = NONE, ["inputs.image"] = NONE, seq = 256, mask = "padding",
      ["input.stage"] = "linear", ["input.from"] = 768, ["input.grid"] = 16, ["inputs.features"] = "pixel_values",
      ["inputs.shapes"] = "spatial_shapes" })
    local cases = { { { num_patches = 49 }, { ["input.grid"] = 7 } }, { { patch_size = 14 }, { ["input.from"] = 588 } },
      { { num_channels = 1 }, { ["input.from"] = 256 } } }
    for _, case in ipairs(image_keys) do
      local key = next(case[1])
      if key ~= "image_size" and key ~= "patch_size" and key ~= "num_channels" then cases[#cases + 1] = case end
    end
    return { base = base, classes = made.classes, cases = cases }
  end

  return { blip_vision_model = blip_vision(), clip_text_model = clip_text(), clip_vision_model = clip_vision(),
    siglip_text_model = siglip_text(), siglip2_text_model = siglip_text(),
    siglip_vision_model = siglip_vision("siglip_vision"), siglip2_vision_model = siglip2_vision() }
end
