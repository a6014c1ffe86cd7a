-- output.lua: checks the stages of the output: which may follow which, the widths of their rows, and their names.
local faults = require("common.faults")
local layers = require("passes.validate.layers")
local projections = require("passes.validate.projections")
local sizes = require("passes.validate.sizes")
local stages = require("data.stages")

local output = {}

local quote = faults.quote

-- Patterns of names that inputs and attention's outputs have, so that no other output may have them.
local taken_outputs = { "^attention_%d+$", "^cross_attention_%d+$", "^source_attention_%d+$", "^scores_%d+$",
  "^cross_scores_%d+$", "^source_scores_%d+$", "^keys_%d+$", "^values_%d+$" }

-- Returns the arrays that the program writes besides the outputs of texts, by name: token counts, ids, token types.
local function arrays_of_text(spec)
  if not spec.tokenizer or spec.input.stage ~= "tokens" then return {} end
  local inputs, named = spec.inputs or {}, { lengths = "how many tokens each has" }
  named[inputs.ids or "ids"] = "the ids of their tokens"
  if (spec.input.types or 0) > 0 then named[inputs.token_types or "token_types"] = "the types of their tokens" end
  return named
end

-- True if a stage makes one row of a sequence's rows.
local function pools(stage) return stage.stage == "pool" and not stages.pools_of_rows[stage.over] end

--- True if the only output has this name, and a row for each sequence.
function output.gives_only(spec, name)
  local count, pooled = 0, false
  for _, stage in ipairs(spec.output) do
    count, pooled = count + (stage.name and 1 or 0), pooled or pools(stage)
  end
  local last = spec.output[#spec.output]
  return last ~= nil and last.name == name and count == 1 and pooled
end

local function check_labels(say, spec, width)
  if spec.labels and width and #spec.labels ~= width then
    say("labels", "%d, but the last output has %d numbers", #spec.labels, width)
  end
end

-- Functions by stage: checks of a stage on the rows before it. rows: { spec, width, pooled, ended = the stage that
-- gives no rows, given = the rows of each stage before, two_masks = whether each of two masks says which rows are real
-- }.
local checks = {}

function checks.pool(say, key, stage, rows)
  if rows.pooled and not stage.of then say(key, "the rows were pooled before; one pool is allowed") end
  for _, over in ipairs(type(stage.over) == "table" and stage.over or { stage.over }) do
    if (over == "patches" or over == "tokens") and rows.spec.input.stage ~= "image" then
      say(key .. ".over", over .. " goes with input = image { ... }")
    elseif over == "tokens" and not rows.spec.input.class_token then
      say(key .. ".over", "tokens goes with class_token")
    end
  end
  local input, list = rows.spec.input, type(stage.over) == "table" and stage.over or { stage.over }
  local spreads, others = false, false
  for _, over in ipairs(list) do
    spreads = spreads or over == "deviation"
    others = others or over ~= "deviation" and over ~= "mean"
  end
  if stage.cut and others then say(key .. ".cut", "goes with over = \"mean\" and \"deviation\"") end
  if (stage.cut or spreads) and (stage.mask or layers.have_mask(rows.spec, "key_padding")
    or layers.have_mask(rows.spec, "attention_mask")) then
    say(key, "cut and deviation do not go with a mask of rows; \"padding\" takes lengths")
  end
  for _, name in ipairs { "pad", "ending" } do
    local id = stage[name]
    if id and (stage.over ~= "last" or input.stage ~= "tokens" or id >= input.vocab) then
      say(key .. "." .. name, "is an id of input = tokens { ... }, and goes with over = \"last\"")
    end
  end
  if stage.pad and stage.ending then say(key .. ".ending", "does not go with pad") end
  if rows.two_masks and sizes.asks_for_rows(stage) then
    say(key, "attention_mask and key_padding each say which rows it takes; give one of them, or \"padding\", whose "
      .. "lengths say it")
  end
end

function checks.linear(say, key, stage, rows)
  if stage.dilation and not stage.kernel then say(key .. ".dilation", "goes with kernel") end
  if not stage.kernel then return end
  if stage.kernel % 2 == 0 then say(key .. ".kernel", "%d, but an odd number is allowed", stage.kernel) end
  if rows.pooled then say(key .. ".kernel", "the rows were pooled before") end
  if rows.spec.context then say(key .. ".kernel", "does not go with a context, as it reads rows that come later") end
end

function checks.recurrent(say, key, stage, rows)
  if stage.both and stage.to and stage.to % 2 ~= 0 then
    say(key .. ".to", "%d, but an even number goes with both", stage.to)
  end
  if stage.to and stage.to > (stage.both and 2048 or 1024) then
    say(key .. ".to", "%d, but one LSTM has at most 1024", stage.to)
  end
  if rows.pooled then say(key, "the rows were pooled before") end
  if rows.spec.context then say(key, "does not go with a context, which would have to keep its state") end
  if rows.spec.input.stage == "qkv" then say(key, "does not go with input = qkv()") end
end

function checks.match(say, key, stage, rows)
  local words, labels = rows.given[stage.of] or rows, rows.given[stage.labels]
  if words.pooled then say(key, "the rows were pooled before") end
  if rows.spec.context then say(key, "does not go with a context, whose calls have some of the rows") end
  if words.width and words.width % 2 ~= 0 then
    say(key, ("rows of %d numbers, but an even number is allowed, as they have two halves"):format(words.width))
  end
  if stage.labels and (not labels or labels.pooled or labels.width ~= words.width) then
    say(key .. ".labels", ("%d, but a stage before it with rows of %s numbers, like words, is allowed"):format(
      stage.labels, tostring(words.width)))
  end
end

function checks.attend(say, key, _, rows)
  if rows.pooled then say(key, "the rows were pooled before; one pool is allowed") end
  local spec = rows.spec
  local shows = spec.attention_output and (spec.attention_output.kind ~= "none" or spec.attention_output.scores)
  if spec.input.stage ~= "image" and not spec.input.grid then
    say(key, "goes with input = image { ... }, or linear { grid = ... }")
  end
  if rows.width ~= spec.d_model then say(key, "the rows are %s wide, but d_model is expected", tostring(rows.width)) end
  if spec.d_ff == 0 then say(key, "goes with a feed-forward, but d_ff is 0") end
  if spec.projections ~= true then say(key, "goes with projections = true") end
  if shows then say(key, "does not go with attention_output") end
  rows.pooled = true
end

function checks.similarity(say, key, _, rows)
  if not rows.pooled then say(key, "goes after a stage that gives one row a sequence, such as pool") end
  rows.ended = "similarity, which gives the numbers of a score"
end

function checks.argmax(_, _, _, rows) rows.ended = "argmax, which gives integers" end

function checks.topk(say, key, stage, rows)
  rows.ended = "topk, which gives values and their indices"
  if stage.k and rows.width and stage.k > rows.width then
    say(key .. ".k", "%d, but the rows are %d wide", stage.k, rows.width)
  end
end

function checks.vocabulary(say, key, stage, rows)
  local input = rows.spec.input
  local table_width = input.width or rows.spec.d_model
  if input.stage ~= "tokens" then
    say(key, "vocabulary goes with input = tokens { ... }, whose table says how many there are")
  elseif stage.tied and table_width and rows.width ~= table_width then
    say(key, "tied to a table of width %d, but the rows are %d wide; give tied = false", table_width, rows.width)
  end
end

-- Checks the stage whose rows stage i takes, `of`. given: the rows of the stages before it, by number.
local function check_source(say, key, stage, i, rows, given)
  if stage.of and stage.of >= i then
    say(key .. ".of", "%d, but a stage before it, 0 to %d, is allowed", stage.of, i - 1)
    stage.of = i - 1
  end
  if stage.of and rows.pooled and not given[stage.of].pooled and not pools(stage) then
    say(key .. ".of", "the rows were pooled before, and that stage's were not")
  end
end

-- Returns the width of the rows that a stage gives. width: of those that it takes.
local function width_after(spec, stage, width)
  if stage.stage == "pool" and type(stage.over) == "table" and width then width = width * #stage.over end
  if stage.stage == "match" then return stage.most and stage.scores and stage.most * stage.scores end
  return stage.to or (stage.stage == "vocabulary" and spec.input.vocab) or width
end

-- Checks the name of a stage's result. names: of the stages before it; of_text: of arrays_of_text.
local function check_name(say, key, stage, names, of_text)
  local name = stage.name
  if not name then return end
  local function refuse(...) say(key .. ".name", quote(name) .. table.concat { ... }) end
  if stage.stage == "topk" and names[name .. "_index"] then
    say(key .. ".name", quote(name .. "_index") .. ", of the indices, is another output's name, too")
  end
  if names[name] then refuse(" is the name of another output, too") end
  names[name] = true
  if of_text[name] then
    refuse(" is the name of another array that is written for texts, ", of_text[name], "; any other name is allowed, ",
      "or tokenizer = false")
  end
  for _, pattern in ipairs(taken_outputs) do
    if name:match(pattern) then refuse(" is a name of an output of attention") end
  end
end

local function check_stages(say, spec)
  local two_masks = layers.have_mask(spec, "key_padding") and layers.have_mask(spec, "attention_mask")
    and not layers.have_mask(spec, "padding") and spec.input.stage ~= "qkv"
  local rows = { spec = spec, width = projections.result_width(spec), pooled = false, two_masks = two_masks }
  local given, names, of_text = { [0] = { width = rows.width, pooled = false } }, {}, arrays_of_text(spec)
  rows.given = given
  for i, stage in ipairs(spec.output) do
    local key, check = "output." .. i, checks[stage.stage]
    if rows.ended then say(key, "nothing can follow " .. rows.ended) end
    if check then check(say, key, stage, rows) end
    if stage.squeeze and stage.to and stage.to ~= 1 then
      say(key .. ".squeeze", "the last axis has %d elements, but only one of 1 can be left out", stage.to)
    end
    check_source(say, key, stage, i, rows, given)
    rows.pooled = rows.pooled or pools(stage)
    rows.width = width_after(spec, stage, stage.of and given[stage.of].width or rows.width)
    given[i] = { width = rows.width, pooled = rows.pooled }
    check_name(say, key, stage, names, of_text)
  end
  check_labels(say, spec, rows.width)
end

local function check_masks(say, spec)
  for i, stage in ipairs(spec.output) do
    if stage.stage == "pool" and stage.mask and not sizes.asks_for_rows(stage) then
      say(("output.%d.mask"):format(i), "goes with mean, max, last, root and weighted")
    end
  end
end

--- Checks the output, which is the rows themselves if the description gives none.
function output.check(say, spec)
  spec.output = spec.output or { { stage = "hidden" } }
  if #spec.output == 0 then spec.output = { { stage = "hidden" } } end
  check_stages(say, spec)
  check_masks(say, spec)
end

return output
