-- sound_facts.lua: writes the facts of a model that takes sound or whose scores become text by CTC, as the values of
-- templates/sound_facts.c.in (runtime/base/sound_facts.h).
local c = require("common.c")
local words = require("common.words")

local emit_facts = {}

--- Returns the facts of CTC: { tokens = C strings, blank, delimiter, space, lowers, cleans, longest }, or false.
function emit_facts.ctc(spec)
  local given = spec.ctc
  return given and { tokens = words.map(spec.labels, c.string), blank = given.blank,
    delimiter = given.delimiter and c.string(given.delimiter) or "NULL", space = c.string(given.space),
    lowers = given.lower and 1 or 0, cleans = given.clean and 1 or 0,
    longest = math.max(#given.space, words.most(spec.labels, string.len)) } or false
end

-- Returns the fewest and the most samples of a call, which has at most `rows` rows. A sound that is filled up or cut
-- has at most the samples that it keeps.
local function samples_of(sound, rows)
  local least, most = sound.length, sound.samples or sound.length + ((sound.rows or rows) - 1) * sound.hop
  return (sound.samples or sound.centre) and 1 or least, most
end

--- True if a model writes down speech. A variant that is made without its tokenizer does not, such as that of `check`.
function emit_facts.has_speech(state) return state.spec.speech and state.tokenizer and true or false end

function emit_facts.values(state)
  local spec, answer = state.spec, state.primary.graph.answer
  local sound, least_samples, most_samples = spec.sound, false, false
  if sound then least_samples, most_samples = samples_of(sound, state.primary.spec.seq) end
  return { ctc = emit_facts.ctc(spec), answer = answer.kind,
    label_list = words.map(spec.ctc and {} or spec.labels or {}, c.string),
    input = math.max(answer.inputs.features or answer.inputs.hidden or 0, 0), output = answer.output,
    has_speech = emit_facts.has_speech(state), label_function = "ATTN2C_" .. answer.label_function,
    rate = sound and sound.rate or false, hop = sound and sound.hop or false, least_samples = least_samples,
    most_samples = most_samples, has_calls = not state.primary.spec.symbols.rows.is_open, patch = false,
    similarity = false }
end

return emit_facts
