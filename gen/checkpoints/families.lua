-- families.lua: collects the families of Hugging Face checkpoints; each is a table in its own file, which need not
-- have what `usual` has for its folder.
--
--   model_types   config.json's model_type -> the beginning of its classes' names, before ForMaskedLM and so on
--   known         models that people know, for the table of the README
--   called        model_type -> the name that people know it by, for messages; default: as in model_types
--   prefixes      prefixes of names of the model's own tensors, tried in order; default: the family's name, and none
--   tensors       { path of the graph, name or rule } (names.lua); the first that fits is taken
--   config        { key, aliases .., to = description key or fact, default =, kind = } : kind count, number, flag,
--                 activation, or word with words = { theirs = meaning }; without a default the key is required
--                 (file_keys.lua has the keys that are refused or without effect)
--   fixed         keys of the description that the family always has
--   other         a function of config.json: the model_type of another family that a folder with this one is of, or nil
--   similarity    in a family of two towers: the function that makes probabilities of the scores of texts for a picture
--   padded        true: texts are filled up to one length, and the model sees the padding
--   patches       true: rows of features come in, one for each patch of a picture
--   frames        {} if rows of features come in, one for each frame of a sound
--   inside        model_type -> the key of the part of config.json that describes the model
--   original      another end of the names of weights, in place of "weight"
--   inner         key of an object in config.json -> its keys, as in `config`
--   class         the beginning of the names of another family's classes, which config.json may have, too
--   sums_types    true: without an input of token types, the table of tokens has the first type added (typed_tokens)
--   encoder       key of the encoder's description -> the fact that has it, in families whose decoder reads its states
--   features      the fact that is the width of a source's features, in such families that read sounds
--   pictures      { inside, usual, kinds, names } in families that write about pictures: the key of the part of
--                 config.json that describes the image tower, its model_type if it has none, a set of those that are
--                 allowed, the prefix of its tensors
--   generation    a function of config.json and generation_config.json that returns the two that answers depend on
--   start         in such families: the token that texts begin with if config.json does not say it
--   heads         class suffix -> stages after the model (heads.lua)
--   refused       class suffix -> why it is not supported
--   variants      value of the fact `variant` -> class suffix -> stages that replace the ones in `heads`
--   said          a function of the facts that returns a line for the user, what of config.json counts here and not in
--                 transformers, or nil
--   derive        a function of the facts, config.json, the names of weights, a function that is true if the file has a
--                 tensor of the model, and one that returns the values of the first small tensor of a list that it has:
--                 for arithmetic that only this family has
local heads = require("checkpoints.heads")

local families = {}

-- The folders of families/ and the files in them; mixtures are decoders with experts, pairs encoders with decoders.
local folders = {
  encoders = { "albert", "bert", "clip_text", "deberta", "deberta_v2", "distilbert", "electra", "ernie", "esm",
    "eurobert", "gte", "jina_bert", "jina_v3", "layoutlm", "layoutlmv3", "longformer", "modernbert", "mpnet",
    "nomic_bert", "rembert", "roberta", "roberta_pre", "siglip_text" },
  decoders = { "bloom", "cohere", "cohere2", "exaone4", "falcon", "gemma", "gemma2", "gemma3", "gemma3n", "gemma4",
    "glm4", "gpt2", "gpt_neo", "gpt_neox", "gptj", "granite", "internlm2", "internlm3", "lfm2", "llama", "ministral",
    "mistral", "mistral3", "mpt", "olmo2", "olmo3", "opt", "phi", "phi3", "qwen2", "qwen3", "smollm3", "stablelm",
    "starcoder2" },
  mixtures = { "gpt_oss", "granitemoe", "lfm2_moe", "mixtral", "olmoe", "qwen2_moe", "qwen3_moe" },
  pairs = { "bart", "blip", "m2m_100", "marian", "mbart", "pegasus", "t5", "t5_writer", "vision_gpt2", "vision_trocr" },
  pictures = { "blip_vision", "clip_vision", "deit", "dinov2", "dinov3", "siglip2_vision", "siglip_vision", "timm",
    "vit" },
  sounds = { "ast", "moonshine", "wav2vec2", "wavlm", "whisper" },
}

-- A family of a folder has these entries unless it says otherwise.
local usual = {
  encoders = { tensors = heads.bert_tensors(), fixed = { norm = "post" }, heads = heads.bert },
  decoders = { prefixes = { "transformer.", "" }, causal = true, heads = heads.gpt },
  pictures = { fixed = { norm = "pre", final_norm = true } },
}

--- The families by their names, by model_type, and as naming schemes.
families.by_name, families.by_type, families.schemes = {}, {}, {}
for folder, names in pairs(folders) do
  for _, name in ipairs(names) do
    local family = require(("checkpoints.families.%s.%s"):format(folder, name))
    for key, value in pairs(usual[folder] or {}) do if family[key] == nil then family[key] = value end end
    family.name, family.prefixes = name, family.prefixes or { name .. ".", "" }
    families.by_name[name], families.schemes[name] = family, family
    for model_type in pairs(family.model_types or {}) do families.by_type[model_type] = family end
  end
end

local IN_PLANE = "each layer adds numbers of its own to scores, by the distance of patches in a plane"
local LATENT = "keys and values come of a narrow part that heads share"
local NARROWING = "its layers join rows, so that a layer has fewer and wider ones than the layer before"

--- model_type -> why its models are not supported.
families.refused = {
  layoutlmv2 = "it always reads a picture, through a network of another library, detectron2; LayoutLM and LayoutLMv3 "
    .. "are supported", beit = IN_PLANE, ["data2vec-vision"] = IN_PLANE,
  swin = NARROWING, swinv2 = NARROWING,
  funnel = "its layers pool rows, so that a layer has fewer than the layer before",
  squeezebert = "its layers are convolutions in groups", mobilebert = "each layer has a narrow part with several "
    .. "feed-forwards", convbert = "half of its heads are convolutions that depend on the text",
  deepseek_v2 = LATENT, deepseek_v3 = LATENT,
  nystromformer = "its attention is an approximation by a few keys",
}

--- Returns the sorted names that people know the families by.
function families.called()
  local result = {}
  for _, family in pairs(families.by_name) do
    for _, name in pairs(family.called or family.model_types or {}) do result[#result + 1] = name end
  end
  table.sort(result, function(a, b) return a:lower() < b:lower() end)
  return result
end

return families
