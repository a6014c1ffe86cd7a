-- language.lua: compares how two variants of a model that writes predict a text.
-- Both programs run their command `perplexity` at the same time. The one in f32 writes its logits to a pipe, and the
-- other compares them with its own token by token, so that the logits of a text are never kept.
local dkjson = require("dkjson")
local emulator = require("common.emulator")
local faults = require("common.faults")
local files = require("common.files")
local process = require("common.process")
local ranks = require("commands.ranks")

local language = {}

-- The text that is used if none is given: answers of the model in f32, drawn with fixed seeds.
local TEXTS, TOKENS, PROMPT = 8, 128, "The"

-- Waits until both children have ended. If one fails, the other may wait for it at the pipe forever: it is ended.
local function wait(first, second)
  local function failed(child) return child.over and (child.code ~= 0 or child.signal ~= 0) end
  process.wait(function() return first.over and second.over or failed(first) or failed(second) end)
  if first.over and second.over then return end
  process.sleep(200) -- the other's message may say why
  if not (first.over and second.over) then process.stop() end
end

-- Starts a program. count: of its ranks, or nil.
local function start(words, count)
  local list, environment = ranks.start(count, emulator.words(words))
  local child, message = process.start { words = list, environment = environment, gather = "output" }
  if not child then faults.raise("io", "cannot start %s: %s", words[1], message) end
  return child
end

-- Writes a text of the model's own to a file. Returns nil and an exit code if the program fails.
local function write_own_text(path, program, weights, count)
  local words = { "./" .. program, "generate", "--weights", weights, "--temperature", "1", "--top-k", "0",
    "--top-p", "1", "--min-p", "0", "--repetition-penalty", "1", "--tokens", tostring(TOKENS) }
  for _ = 1, TEXTS do words[#words + 1], words[#words + 2] = "--prompt", PROMPT end
  local child = start(words, count)
  process.wait(function() return child.over end)
  if child.code ~= 0 then return nil, child.code end
  files.write(path, PROMPT .. child.output:gsub("\n(.)", "\n" .. PROMPT .. "%1"))
  return true
end

--- True if a model writes: its calls continue, and it has logits of its vocabulary.
function language.writes(state)
  local last = state.spec.output[#state.spec.output]
  return state.spec.symbols.past.is_open and last ~= nil and last.stage == "vocabulary"
end

--- Compares both programs on a text. Returns { tokens, predicted, perplexity, perplexity_f32, growth_error, kl_mean,
--- kl_p99, equal_greedy, cosine, relative, is_own_text = true if the model wrote the text }, or nil and an exit code.
--- growth_error: the standard error of perplexity / perplexity_f32, as if tokens were independent.
--- programs: { f32, other }; arguments.text_file, or arguments.input with one array of ids; folder: a scratch folder;
--- count: of the ranks of each program, or nil.
function language.measure(programs, weights, arguments, folder, has_text, count)
  local pipe, list = folder .. "/logits", { "perplexity", "--weights", weights, "--format", "json" }
  if #(arguments.input or {}) > 0 then
    for _, input in ipairs(arguments.input) do list[#list + 1], list[#list + 2] = "--input", input end
  elseif not has_text then
    faults.raise("usage", "quality: this model has no tokenizer: --input ids=X.npy is needed, token ids of a text")
  else
    local file = arguments.text_file
    if file then files.read_asked(file, "--text-file: ") end
    if not file then
      file = folder .. "/text.txt"
      local written, code = write_own_text(file, programs.f32, weights, count)
      if not written then return nil, code end
    end
    list[#list + 1], list[#list + 2] = "--text-file", file
  end
  if process.run({ words = { "mkfifo", pipe } }).code ~= 0 then faults.raise("io", pipe .. ": cannot be made") end
  local function words_of(which, option)
    local words = table.move(list, 1, #list, 2, { "./" .. programs[which] })
    words[#words + 1], words[#words + 2] = option, pipe
    return words
  end
  local writer = start(words_of("f32", "--logits"), count)
  local reader = start(words_of("other", "--compare"), count)
  wait(writer, reader)
  for _, child in ipairs { reader, writer } do
    if child.code ~= 0 then return nil, child.code end
  end
  local made = dkjson.decode(reader.output or "")
  local with = type(made) == "table" and made.compared
  if not with then faults.raise("io", "quality: the program printed no result") end
  return { tokens = made.tokens, predicted = made.predicted, perplexity = made.perplexity,
    perplexity_f32 = with.perplexity, growth_error = with.nats_error, kl_mean = with.kl_mean, kl_p99 = with.kl_p99,
    equal_greedy = with.equal_greedy, cosine = with.cosine, relative = with.relative_error,
    is_own_text = not arguments.text_file and #(arguments.input or {}) == 0 }
end

-- Returns what a program finds for sources by a search with two beams, whose scores are the logarithms of the answers'
-- probabilities: { { ids, score } }; or nil and an exit code.
local function answers_of(program, list, count)
  local words = table.move(list, 1, #list, 2, { "./" .. program })
  local child = start(words, count)
  process.wait(function() return child.over end)
  if child.code ~= 0 then return nil, child.code end
  local answers = {}
  for line in child.output:gmatch("[^\n]+") do answers[#answers + 1] = dkjson.decode(line) end
  return answers
end

--- Compares the answers of both programs to sources, in a model with an encoder. Returns { sources, same: the share of
--- equal answers, equal: the share of tokens up to the first that differs, log_probability, log_probability_f32: of an
--- answer, the mean, difference: the mean of their differences }, or nil and an exit code. Arguments: as of measure.
function language.sources(programs, weights, arguments, count)
  local found, list = {}, { "generate", "--weights", weights, "--format", "jsonl", "--beams", "2", "--length-penalty",
    "0" }
  for _, input in ipairs(arguments.input or {}) do list[#list + 1], list[#list + 2] = "--input", input end
  if arguments.text_file then
    files.read_asked(arguments.text_file, "--text-file: ")
    list[#list + 1], list[#list + 2] = "--prompt-file", arguments.text_file
  elseif #(arguments.input or {}) == 0 then
    faults.raise("usage", "quality: --text-file F or --input ids=X.npy is needed: sources, one a line")
  end
  for _, which in ipairs { "f32", "other" } do
    local code
    found[which], code = answers_of(programs[which], list, count)
    if not found[which] then return nil, code end
  end
  local tokens, made = 0, { sources = #found.f32, same = 0, equal = 0, log_probability = 0, log_probability_f32 = 0,
    difference = 0 }
  for i, plain in ipairs(found.f32) do
    local other, same = found.other[i], 0
    while same < #plain.ids and plain.ids[same + 1] == other.ids[same + 1] do same = same + 1 end
    tokens, made.equal = tokens + #plain.ids, made.equal + same
    if same == #plain.ids and same == #other.ids then made.same = made.same + 1 / #found.f32 end
    made.log_probability = made.log_probability + other.score / #found.f32
    made.log_probability_f32 = made.log_probability_f32 + plain.score / #found.f32
    made.difference = made.difference + math.abs(other.score - plain.score) / #found.f32
  end
  made.equal = tokens > 0 and made.equal / tokens or nil
  return made
end

return language
