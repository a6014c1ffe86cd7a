-- try.lua: writes the last lines of `build`: what the keys and values of a model that writes take, and a command line
-- to try the program that has just been built.
local emit_text = require("passes.emit.text")
local files = require("common.files")
local lfs = require("lfs")
local libuv = require("common.libuv")
local ranks = require("commands.ranks")
local targets = require("data.targets")
local words = require("common.words")

local try = {}

-- The options of `run` that show a model's answer, by the kind of answer (emit_text). ${mask} is replaced by the token
-- for a word to fill in. A model with a context generates text instead.
local examples = {
  SPAN = { "--text", "Where is the key?", "--text-pair", "The key is under the mat." },
  MASKED = { "--text", "I drink a cup of ${mask}." },
  NEXT = { "--text", "Once upon a time" },
  EMBEDDING = { "--text", "A cat sleeps.", "--text", "A kitten is asleep.", "--similar" },
}
local PAIRS = { "--text", "Where is the key?", "--text-pair", "A cat sleeps.", "--text-pair",
  "The key is under the mat.", "--rank" }
local GENERATED = { "--prompt", "Once upon a time" }
local TRANSLATED = { "--prompt", "Where is the station?" } -- a source of a model with an encoder
local FEATURES = { "--features", "features.npy" }
local PAGE = { "--text", "words.txt", "--boxes", "boxes.txt", "--image", "page.png" }
local PLACED = { "--text", "Total: 12.50", "--boxes", "102 80 190 95 400 80 470 95" }
local ASKED = { "--text", "What is the total?", "--text-pair", "Total: 12.50", "--boxes", PLACED[4] }
local PICTURE = { "--image", "picture.jpg" }
local SOUND = { "--audio", "sound.wav" }
local PICTURE_AND_TEXTS = { "--image", "picture.jpg", "--text", "a photo of a cat", "--text", "a photo of a dog" }
local EXAMPLE = { "--text", "This is a sentence to try." }

-- Returns the text of the token for a word to be filled in, or nil.
local function mask_text(tokenizer)
  for _, token in ipairs(tokenizer.made.added) do if token.id == tokenizer.mask then return token.text end end
  return nil
end

-- True if a model scores pairs of texts: it has one label, and tokens of two types, or its folder says how it scores.
local function scores_pairs(state)
  local spec, last = state.spec, state.spec.output[#state.spec.output]
  return emit_text.values(state).answer == "LABEL" and last.to == 1
    and ((spec.input.types or 0) > 1 or spec.label_function ~= nil)
end

-- Returns the example of a model that takes text, pictures or sound, or nil.
local function example_of(state)
  local is_open = state.spec.symbols.past.is_open
  if state.spec.pictures and state.tokenizer and not is_open then return PAGE end
  if state.spec.pictures then return state.spec.texts and PICTURE_AND_TEXTS or PICTURE end
  if state.spec.sound then return (is_open or not state.spec.memory) and SOUND or nil end -- else of two inputs
  if not state.tokenizer then return nil end
  if state.spec.speech then return FEATURES end
  if is_open then return state.spec.memory and TRANSLATED or GENERATED end
  if scores_pairs(state) then return PAIRS end
  local values = emit_text.values(state)
  if values.boxes >= 0 then return values.answer == "SPAN" and ASKED or PLACED end
  local list, mask = {}, mask_text(state.tokenizer)
  for i, word in ipairs(examples[values.answer] or EXAMPLE) do
    if word:find("${mask}", 1, true) and not mask then return EXAMPLE end
    list[i] = word:gsub("%${mask}", function() return mask end)
  end
  return list
end

local function has_weights(folder)
  if lfs.attributes(folder, "mode") ~= "directory" then return true end -- a GGUF file
  local ok, names = pcall(files.names, folder)
  if not ok then return true end -- its files can be read, but not listed
  for _, name in ipairs(names) do
    if name:match("%.safetensors$") or name:match("^pytorch_model.*%.bin$") then return true end
  end
  return lfs.attributes(folder .. "/0_Transformer", "mode") == "directory"
end

-- True if this machine runs the program.
local function runs_here(state)
  local machine = targets.machine(os.getenv)
  return machine == libuv.os_uname().machine
    and targets.in_use(state.target_names, targets.runs_on(machine), os.getenv("ATTN2C_TARGET")) ~= nil
end

--- Returns the line without "try: ", or nil if this machine does not run the program. A model is run on a text, picture
--- or sound if it takes one and its weights are known; other models have a command that prints what they need.
--- The user has the picture or sound. program: its path; folder: the checkpoint folder or GGUF file that is the
--- description, or nil; is_embedded: true if the weights are linked in.
function try.line(state, program, folder, is_embedded)
  if not runs_here(state) then return nil end
  local list = { program:match("^[%a_][%w_]*=") and "./" .. program or program } -- a shell would set a variable
  local example = (is_embedded or folder and has_weights(folder)) and example_of(state)
  if example then
    list[2] = state.spec.symbols.past.is_open and "generate" or "run"
    if not is_embedded then list[3], list[4] = "--weights", folder end
    words.append(list, example)
  else
    list[2] = "info"
  end
  if example and state.spec.processes then list = ranks.typed(state.spec.processes, list) end -- `info` needs one
  return table.concat(words.map(list, words.shell), " ")
end

--- Returns a line about a context's keys and values. Returns nil for a model that keeps less than a megabyte, and for
--- ranks, whose `info` has them. The line names a smaller type if nobody has chosen the one of 32 bits.
function try.kept(state)
  local spec, most = state.spec, 0
  if not spec.symbols.past.is_open or spec.processes then return nil end
  local is_open = not spec.cache and not spec.precision.by_part.attention
  for _, each in ipairs(state.builds) do
    most = math.max(most, each.primary.kept.bytes)
    for _, tensor in pairs(each.primary.graph.tensors) do
      is_open = is_open and (not tensor.kept or tensor.type == "f32")
    end
  end
  if most * spec.sequences < 1e6 then return nil end
  return ("keys and values: up to %.4g MB for %d sequence%s of %d tokens%s"):format(most * spec.sequences / 1e6,
    spec.sequences, spec.sequences == 1 and "" or "s", spec.seq, is_open and "; cache=bf16 about halves this" or "")
end

return try
