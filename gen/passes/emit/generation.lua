-- generation.lua: writes the defaults of generating text, as members of runtime/base/generation.h.
local c = require("common.c")
local words = require("common.words")

local emit_generation = {}

--- The numbers that a model draws with if its description says nothing about choosing a token. Greedy answers of small
--- models repeat themselves (runtime/generate/README.md has what was measured).
emit_generation.usual = { draw = true, temperature = 0.2, top_p = 0.9, repetition_penalty = 1.1 }

--- The same as a text.
emit_generation.usual_text = ("temperature %g, top_p %g and repetition_penalty %g"):format(
  emit_generation.usual.temperature, emit_generation.usual.top_p, emit_generation.usual.repetition_penalty)

local early_stopping = { [true] = "ATTN2C_STOP_TRUE", never = "ATTN2C_STOP_NEVER" }

-- Returns bad words as one list: the number of tokens of each, then these.
local function flat(bad_words)
  local list = {}
  for _, word in ipairs(bad_words or {}) do
    list[#list + 1] = #word
    table.move(word, 1, #word, #list + 1, list)
  end
  return list
end

-- Returns the options of beams and processors as members of attn2c_beam_options, and their lists as { name, ids }; nil
-- if nothing is said about them.
local function beam_of(said)
  local numbers, lists = {}, {}
  local function add(name, value) if value then numbers[#numbers + 1] = { name, value } end end
  for _, name in ipairs { "no_repeat_ngram", "min_length", "min_tokens" } do add(name, said[name]) end
  add("early_stopping", early_stopping[said.early_stopping])
  add("renormalize", said.renormalize and 1)
  for _, each in ipairs { { "forced_eos", said.forced_eos }, { "suppressed", said.suppress },
    { "begin_suppressed", said.begin_suppress }, { "bad_words", flat(said.bad_words) } } do
    local list = each[2] or {}
    if #list > 0 then lists[#lists + 1] = { name = each[1], count = #list, ids = table.concat(list, ", ") } end
  end
  if not (numbers[1] or lists[1] or said.beams or said.length_penalty or said.forced_bos) then return nil end
  add("beams", said.beams or 1)
  add("length_penalty", c.double(said.length_penalty or 1))
  add("forced_bos", said.forced_bos or -1)
  return { members = numbers, lists = lists }
end

-- Returns the facts of a model that writes down speech, as members of base/speech_facts.h, and its languages; or false.
local function speech_of(spec, said)
  local given = spec.speech
  if not given then return false end
  local languages, usual = given.languages or {}, -1
  for i, each in ipairs(languages) do if each.code == given.language then usual = i - 1 end end
  local task = given[given.task or "transcribe"]
  local heads, of_words, layers = {}, {}, 0
  if given.words then
    local number = {}
    for layer = 0, spec.layers - 1 do
      if given.layers[layer] then number[layer], layers = layers, layers + 1 end
    end
    heads = words.map(given.heads, function(each) return ("{ %d, %d }"):format(number[each[1]], each[2]) end)
    of_words = { { "heads", "alignment" }, { "head_count", #heads }, { "layer_count", layers },
      { "head_width", spec.head_dim }, { "median", given.median or 7 }, { "head_scale", c.double(spec.scale) } }
  end
  return { languages = languages, heads = table.concat(heads, ", "), members = words.append({
    { "start", said.start[1] }, { "end", said.stop[1] }, { "no_timestamps", given.no_timestamps or -1 },
    { "previous", given.previous or -1 }, { "no_speech", given.no_speech or -1 },
    { "transcribe", given.transcribe or -1 }, { "translate", given.translate or -1 },
    { "most_initial", given.initial or -1 },
    { "most_compression", c.double(given.compression or 2.4) }, { "least_score", c.double(given.score or -1) },
    { "least_silence", c.double(given.silence or 0.6) }, { "goes_on", given.goes_on == false and 0 or 1 },
    { "language", usual },
    { "task", #languages > 0 and task or -1 }, { "language_count", #languages },
  }, of_words) }
end

--- An answer to a source begins with this token if its description says nothing.
emit_generation.start = { 0 }

--- Returns { is_drawn, is_usual, usual = a text, members = list of { name, value }, stops = list of ids, stop_list =
--- the same as text, start = the ids that an answer to a source begins with, beam = the options of beams as beam_of has
--- them, speech = facts as speech_of has them, limit = the line of a Python module about an answer's tokens, or nil };
--- false if the model continues no sequences. Usually, a model with an encoder takes the most probable tokens.
function emit_generation.values(spec)
  if not spec.symbols.past.is_open then return false end
  local said = spec.generation or {}
  local is_usual, usual = not spec.source, emit_generation.usual
  for _, name in ipairs { "draw", "temperature", "top_k", "top_p", "min_p", "repetition_penalty", "beams" } do
    is_usual = is_usual and said[name] == nil
  end
  local from, stops = is_usual and usual or said, said.stop or {}
  local made = { is_drawn = from.draw or false, is_usual = is_usual, usual = emit_generation.usual_text, stops = stops,
    start = spec.source and table.concat(said.start or emit_generation.start, ", "),
    stop_list = table.concat(stops, ", "), beam = beam_of(said), speech = speech_of(spec, said), members = {
      { "is_drawn", from.draw and 1 or 0 },
      { "is_usual", is_usual and 1 or 0 },
      { "temperature", c.double(from.temperature or 1) },
      { "top_k", from.top_k or 50 },
      { "top_p", c.double(from.top_p or 1) },
      { "min_p", c.double(from.min_p or 0) },
      { "repetition_penalty", c.double(from.repetition_penalty or 1) },
      { "tokens", said.tokens or 0 },
    } }
  if spec.source then table.insert(made.members, { "start_count", #(said.start or emit_generation.start) }) end
  if said.length then table.insert(made.members, { "length", said.length }) end
  made.limit = said.tokens and "_tokens = " .. said.tokens or said.length and "_length = " .. said.length
  return made
end

return emit_generation
