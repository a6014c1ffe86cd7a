-- gguf_patterns.lua: lists the pre-tokenizers that GGUF names by tokenizer.ggml.pre, for byte-level BPE.
-- GGUF has only the name. A record is what the tokenizer.json of models with that name says: its pre-tokenizer, its
-- normalizer, whether a whole word is taken before merges, and whether BOS begins a text unless the file says so.
local gguf_patterns = {}

local function split(text)
  return { type = "Split", pattern = { Regex = text }, behavior = "Isolated", invert = false }
end

local digits = { type = "Digits", individual_digits = true }
local bytes = { type = "ByteLevel", add_prefix_space = false, trim_offsets = true, use_regex = false }
local words = { type = "ByteLevel", add_prefix_space = false, trim_offsets = true, use_regex = true }

local endings = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
local rest = [[ ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+]]
local rest_with_slash = [[ ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+]]
local upper, lower = [=[[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]]=], [=[[\p{Ll}\p{Lm}\p{Lo}\p{M}]]=]
local before_word = [=[[^\r\n\p{L}\p{N}]?]=]

-- Returns the pattern of words whose digits are in groups of at most `number`.
local function common(number) return split(endings .. "|" .. before_word .. [[\p{L}+|]] .. number .. "|" .. rest) end

-- Returns the pattern of words that begin anew at a capital letter.
local function cased(number, ending)
  return split(table.concat { before_word, upper, "*", lower, "+", ending, "|", before_word, upper, "+", lower, "*",
    ending, "|", number, "|", rest_with_slash })
end

local gpt2 = { cuts = { words } }
local composed = { cuts = { words }, normalizer = "NFC" }
local digit_words = { cuts = { digits, words } }
local llama3 = { cuts = { common [[\p{N}{1,3}]], bytes }, ignore_merges = true, bos = true }
local triples = { cuts = { common [[\p{N}{1,3}]], bytes } }
local qwen2 = { cuts = { common [[\p{N}]], bytes }, normalizer = "NFC" }
local gpt4o = { cuts = { cased([[\p{N}{1,3}]], endings .. "?"), bytes } }
local bloom = split([[ ?[^(\s|.,!?…。，、।۔،)]+]])

--- tokenizer.ggml.pre -> its record. "default" is that of files without the name.
gguf_patterns.list = {
  ["default"] = gpt2, ["gpt-2"] = gpt2, ["phi-2"] = gpt2, ["jina-es"] = gpt2, ["jina-de"] = gpt2,
  ["jina-v2-es"] = gpt2, ["jina-v2-de"] = gpt2, ["roberta-bpe"] = gpt2, ["exaone4"] = gpt2,
  ["a.x-4.0"] = gpt2, ["gigachat"] = gpt2, ["granite-docling"] = gpt2, ["mellum"] = gpt2, ["trillion"] = gpt2,
  ["olmo"] = composed, ["mpt"] = composed,
  ["smollm"] = digit_words, ["starcoder"] = digit_words, ["refact"] = digit_words, ["codeshell"] = digit_words,
  ["minerva-7b"] = digit_words,
  ["command-r"] = { cuts = { digits, words }, normalizer = "NFC" },
  ["llama-bpe"] = llama3, ["llama3"] = llama3, ["llama-v3"] = llama3, ["falcon3"] = llama3, ["lfm2"] = llama3,
  ["pixtral"] = llama3, ["midm-2.0"] = llama3, ["jina-v5-nano"] = llama3,
  ["dbrx"] = triples, ["smaug-bpe"] = triples, ["chatglm-bpe"] = triples,
  ["glm4"] = { cuts = triples.cuts, ignore_merges = true },
  ["minicpm5"] = { cuts = { split [[\p{N}{1,3}]], common [[\p{N}+]], bytes }, ignore_merges = true },
  ["qwen2"] = qwen2, ["deepseek-r1-qwen"] = qwen2, ["megrez"] = qwen2, ["kormo"] = qwen2,
  ["f2llmv2"] = qwen2,
  ["stablelm2"] = { cuts = { common [[\p{N}]], bytes } },
  ["gpt-4o"] = gpt4o, ["llama4"] = gpt4o, ["kanana2"] = gpt4o,
  ["tekken"] = { cuts = { cased([[\p{N}]], ""), bytes }, ignore_merges = true, bos = true },
  ["deepseek-coder"] = { cuts = { split [=[[\r\n]]=], split [[\s?\p{L}+]], split [[\s?\p{P}+]],
    split "[一-龥ࠀ-一가-퟿]+", digits, bytes } },
  ["deepseek-v3"] = { cuts = { split [[\p{N}{1,3}]], split "[一-龥぀-ゟ゠-ヿ]+",
    split([=[[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+]=]
      .. [=[| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+]=]), bytes } },
  ["falcon"] = { cuts = { { type = "Punctuation", behavior = "Contiguous" }, words,
    { type = "Digits", individual_digits = false }, split "[0-9][0-9][0-9]" } },
  ["bloom"] = { cuts = { bloom, bytes } }, ["poro-chat"] = { cuts = { bloom, bytes } },
  ["gpt3-finnish"] = { cuts = { bloom, bytes } },
  ["viking"] = { cuts = { bloom, split [[\p{N}]], bytes } },
}

return gguf_patterns
