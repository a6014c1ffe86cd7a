-- grammar.lua: the grammar of the command line, from which the manual and the completions are made, too.
local argparse = require("argparse") -- the first: what is missing is named in the order of need
local faults = require("common.faults")
local output = require("commands.output")
local pipeline = require("pipeline")
local precision = require("data.precision")
local version = require("common.version")

local grammar = {}

local FOLDER_HELP = "The folder to write to (default: out/NAME). Write a name that begins with a dash as ./-NAME."

local WEIGHTS_HELP = "A checkpoint, or a file that `pack` wrote (default: seeded random)."

local OWN_WEIGHTS_HELP = "A checkpoint (default: a checkpoint folder's own)."

local SEED_HELP = "The seed of random weights and inputs."

local REPETITIONS_HELP = "The number of calls to time (default: about a second of them)."

local TEXT_HELP = "A text, or a file of texts, for a model that takes text."

local CHAT_HELP = "A chat template in Jinja (default: that of the tokenizer's folder, if it has one). none: use none."

-- Adds --help to a parser. argparse's own help exits 0 even if it could not be written.
local function with_help(parser)
  return parser:add_help { action = function() output.print_and_leave(parser:get_help()) end }
end

local function with_description(sub)
  with_help(sub)
  sub:argument("description",
    "A description, such as models/small.lua, a checkpoint's folder with config.json, or a GGUF file.")
  sub:argument("overrides", "KEY=VALUE: overrides a key of the description (seq=64 mask=causal output.4.to=10).")
    :args("*")
  return sub
end

local function with_tuning(sub)
  sub:option("--tuning", "Measured tile parameters (default: NAME.tune next to a description in Lua, if it exists). "
    .. "none: use the rule's."):argname("FILE")
  sub:option("--factors", "Factors against outliers in " .. precision.with_factors
    .. ", and the importance of inputs, from `calibrate` (default: "
    .. "NAME.factors next to a description in Lua, if it exists). none: use none."):argname("FILE")
  sub:option("--parts", "The divergence of each part, from `quality --by-part`, by which weights = { size = ... } "
    .. "chooses types (default: NAME.parts next to a description in Lua, if it exists). none: use none.")
    :argname("FILE")
  return with_description(sub)
end

-- The commands, in the order of the help: { name, what all commands of a kind have, what it is for, add }. add(sub)
-- adds the command's own options.
local commands = {}

local function command(name, with, meaning, add)
  commands[#commands + 1] = { name = name, with = with, meaning = meaning, add = add }
end

command("gen", with_tuning, "Emit C.", function(sub)
  sub:option("-o --output", FOLDER_HELP):argname("DIR")
  sub:option("--chat-template", CHAT_HELP):argname("FILE")
end)

command("build", with_tuning, "Emit C and compile it: libraries and program.", function(sub)
  sub:option("-o --output", FOLDER_HELP):argname("DIR")
  sub:option("--chat-template", CHAT_HELP):argname("FILE")
  sub:option("--embed", "Link weights into libraries and program, from a checkpoint or a file that `pack` wrote. "
    .. "f32, f16: link --weights' weights, packed, or as a checkpoint of f16 or bf16 stores them."):argname("FILE")
  sub:option("--weights", "The weights for --embed=f32 or f16 (default: a checkpoint folder's own)."):argname("FILE")
  sub:mutex(sub:flag("--static", "Link the program statically: it needs no other file."),
    sub:flag("--libraries", "Make only the libraries, for processors without Jansson, which the program needs."))
  sub:flag("--serve", "Give the program the command `serve`, which answers over HTTP.")
end)

command("wheel", with_tuning, "Build a Python package (a wheel) with the weights.", function(sub)
  sub:option("-o --output", FOLDER_HELP):argname("DIR")
  sub:option("--chat-template", CHAT_HELP):argname("FILE")
  sub:option("--weights", OWN_WEIGHTS_HELP):argname("FILE")
  sub:flag("--embed", "Link the weights into library and program, instead of a file of the package.")
  sub:flag("--serve", "Give the package's program the command `serve`, which answers over HTTP.")
  sub:option("--version", "The package's version, in the canonical form of PEP 440 (default: 1.0)."):argname("V")
end)

command("check", with_tuning, "Build, then compare every tensor with the reference.", function(sub)
  sub:option("--weights", WEIGHTS_HELP):argname("FILE")
  sub:option("--input", "An input as NAME=FILE.npy (default: seeded random)."):argname("NAME=FILE"):count("*")
  sub:option("--expect", "An output as another program computed it from the inputs: compare it with this model's, in "
    .. "place of the reference. The inputs have any size that run takes."):argname("NAME=FILE"):count("*")
  sub:option("--tolerance", "With --expect: a float may differ by X times the sum of its size and the root mean square "
    .. "of its array (default: 0.0001, up to 0.001 for models of 24 layers and more)."):argname("X")
  sub:option("--entry", "The entry that --input is for, if there are several (default: the longest)."):argname("NAME")
  sub:option("--seed", SEED_HELP):argname("K")
  sub:flag("--nan", "Plant NaN and infinity instead, and see which outputs they reach.")
  sub:flag("--json", "Print JSON.")
end)

command("bench", with_tuning, "Build, then time it against the peak of this machine.", function(sub)
  sub:option("--weights", WEIGHTS_HELP):argname("FILE")
  sub:option("-r --repetitions --reps", REPETITIONS_HELP):argname("N")
  sub:option("-o --output --format", "The format of the table."):choices { "md", "json", "csv" }
  sub:option("--length", "Time a call of N tokens, in a model of any length."):argname("N")
  sub:flag("--profile", "Split the time by operation and layer.")
  sub:flag("--bound", "Print the time that the best tiles and row operations would take, part by part.")
  sub:option("--compare", "A file of an earlier bench -o json: print old, new and their ratio."):argname("FILE")
  sub:option("--scale", "Predict the speed and memory of these numbers of ranks, such as 1,2,4,8, from parts of "
    .. "ranks that are timed one by one."):argname("N,...")
  sub:option("--latency", "With --scale: the latency of the network between ranks, such as 2us (default: that of "
    .. "messages between processes of this machine)."):argname("TIME")
  sub:option("--bandwidth", "With --scale: the network's bandwidth in each direction of a rank, such as 12GB/s or "
    .. "100Gbit/s (default: as for --latency)."):argname("RATE")
  sub:option("--layers", "With --scale: time K and 2 K layers, which stand for all of a model whose layers are "
    .. "equal. K layers of a rank should not fit into the caches."):argname("K")
end)

command("report", with_tuning, "Build, check and time it, and write the results as one page.", function(sub)
  sub:option("--weights", WEIGHTS_HELP):argname("FILE")
  sub:option("--input",
    "An input as NAME=FILE.npy: for the check, and for the maps of attention."):argname("NAME=FILE")
    :count("*")
  sub:option("--text", "A text whose maps of attention are shown, for models that take text."):argname("TEXT")
  sub:option("--audio", "A sound whose maps of attention and spectrogram are shown, for models of sound."):argname(
    "FILE")
  sub:option("--attention", "Also write the maps of attention to this folder, as PNG."):argname("FOLDER")
  sub:option("--seed", SEED_HELP):argname("K")
  sub:option("--scale", "A file of `bench --scale -o json`: also draws its predictions."):argname("FILE")
  sub:option("-r --repetitions --reps", REPETITIONS_HELP):argname("N")
  sub:option("-o --output", "The page to write (default: out/NAME.html)."):argname("FILE")
end)

command("quality", with_tuning,
  "Build in f32 and in the given precision, run both, and compare their outputs.", function(sub)
  sub:option("--weights", OWN_WEIGHTS_HELP):argname("FILE")
  sub:option("--input", "An input as NAME=FILE.npy (default: seeded random)."):argname("NAME=FILE"):count("*")
  sub:option("--text", TEXT_HELP):argname("TEXT"):count("*")
  sub:option("--text-file", "A text, for models that write: its perplexity, and how far each token's distribution "
    .. "is from that in f32 (default: texts that it writes in f32)."):argname("FILE")
  sub:option("--labels", "The right answers, for the accuracy of both: integers in an .npy file, or one per line, "
    .. "or the model's own labels."):argname("FILE")
  sub:flag("--by-part", "Measure how far each layer, the output and the embedding by themselves are from f32 with "
    .. "weights of 3 bits, and write that, for weights = { size = ... }. The model must write.")
  sub:option("-o --output", "The file that --by-part writes (default: NAME.parts, next to a description in Lua, else "
    .. "in the working folder)."):argname("FILE")
  sub:flag("--untimed", "Do not time the two variants.")
  sub:flag("--json", "Print JSON.")
end)

command("calibrate", with_description, "Measure activations, and write factors against outliers for "
  .. precision.with_factors .. ", and the importance of inputs for weights of 4 bits.",
  function(sub)
    sub:option("--weights", OWN_WEIGHTS_HELP):argname("FILE")
    sub:option("--input", "An input as NAME=FILE.npy."):argname("NAME=FILE"):count("*")
    sub:option("--text", TEXT_HELP):argname("TEXT"):count("*")
    sub:option("--text-file", "A text, for models that write. Four parts in five are read, and the rest measures "
      .. "the perplexity with and without the file."):argname("FILE")
    sub:option("-o --output", "The file to write (default: NAME.factors, next to a description in Lua, else in the "
      .. "working folder)."):argname("FILE")
  end)

command("import", with_help, "Write the description of a checkpoint folder's model.", function(sub)
  sub:argument("folder", "A folder with config.json, as Hugging Face publishes checkpoints, or a GGUF file.")
  sub:argument("tower", "tower=text: the model of texts of a folder with a tower for texts and one for images.")
    :args("?")
    :convert(function(text)
      if text == "tower=text" or text == "tower=image" then return text end
      if text:find("^adapter=") then
        return nil, ("%s: a description cannot name the file of an adapter: build the folder with this word")
          :format(faults.quote(text))
      end
      return nil, ("%s: tower=text or tower=image is expected"):format(faults.quote(text))
    end)
  sub:option("-o --output", "The file to write (default: the standard output)."):argname("NAME.lua")
  sub:flag("-v --verbose", "Add comments that list the tensors, their types, and the weights that they become.")
end)

command("tune", with_description, "Measure which tile parameters are best on this machine.", function(sub)
  sub:option("--budget", "Seconds, compilers among them. When they are over, the best choices so far are taken.")
    :argname("SECONDS"):default("60")
    :convert(function(text)
      local n = tonumber(text)
      if n and n >= 1 and n <= 1e6 then return n end
      return nil, "--budget: " .. faults.quote(text) .. ", but 1 to 1000000 seconds are allowed"
    end)
  sub:option("-o --output", "The file to write (default: NAME.tune, next to a description in Lua, else in the working "
    .. "folder)."):argname("FILE")
  sub:flag("-v --verbose", "Print each candidate's time relative to the rule's, by product, and its region's.")
end)

command("show", with_tuning, "Print the result of a pass of the compiler.", function(sub)
  sub:option("--stage", "The pass."):choices(pipeline.passes):count(1)
end)

command("machine", with_help,
  "Print measured facts of this machine: rates by number type, levels of memory, and what target=host means.",
  function(sub)
    sub:flag("--measure", "Measure again.")
    sub:flag("--json", "Print JSON.")
  end)

command("keys", with_help, "Print every key of a description: type, default, range, meaning.")

-- Returns an option's label in the help: "-o, --output DIR". argparse gives each name a line, aligned on the right.
local function label_lines(option)
  local names = table.concat(option._public_aliases, ", ")
  return { table.concat({ names, table.unpack(option:_get_argument_list()) }, " ") }
end

--- Returns the command line's grammar as an argparse parser.
function grammar.parser()
  local parser = argparse("attn2c", "Compiles a description of a transformer to C made for exactly that model.")
  with_help(parser):command_target("command"):help_max_width(100)
  parser:flag("--version", "Print the version.")
    :action(function() output.print_and_leave("attn2c " .. version.generator) end)
  for _, each in ipairs(commands) do
    local sub = each.with(parser:command(each.name, each.meaning))
    if each.add then each.add(sub) end
    for _, option in ipairs(sub._options) do option._get_label_lines = label_lines end
  end
  return parser
end

return grammar
