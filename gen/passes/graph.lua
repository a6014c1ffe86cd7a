-- graph.lua: turns a spec into named tensors and the operations between them: *what* a model computes.
-- Operations come from the declared table. Their order is only what data need; tiles and layouts are decided later.
--
-- Before: state.spec. After: state.graph = { tensors = name -> tensor, order = names, weights = names, entry = {
-- name, ops, inputs, outputs, flops }, smoothing = the result of smoothing.apply }.
local answer = require("passes.graph.answer")
local asked = require("passes.graph.asked")
local attention = require("passes.graph.attention")
local Builder = require("passes.graph.builder")
local expose = require("passes.graph.exposed")
local fits = require("checkpoints.fits")
local growth = require("passes.graph.growth")
local joined = require("passes.graph.joined")
local mixture = require("passes.graph.experts")
local ops = require("data.ops")
local orders = require("passes.graph.orders")
local shorten = require("passes.graph.rounded")
local smoothing = require("passes.graph.smoothing")
local sources = require("checkpoints.sources")
local sounds = require("passes.graph.sounds")
local streams = require("passes.graph.streams")
local stages_table = require("data.stages")
local with_second = require("passes.graph.second")
local words = require("common.words")

local graph = {}

-- Returns the factor of the random weights of a feed-forward's last product.
local function gain_of(spec) return 1 / math.sqrt(2 * math.max(1, spec.layers)) end

local function dense(self, path, x, width)
  local spec = self.spec
  local gain = gain_of(spec)
  local factor = self:residual_factor(false)
  local function down(y)
    return self:linear(path .. ".down", y, spec.d_model, spec.bias.down, gain, factor and { factor = factor })
  end
  if not spec.gated then
    local up = self:linear(path .. ".up", x, width, spec.bias.up)
    return down(self:op("activate", path .. ".act", { x = up }, { ["function"] = spec.activation }))
  end
  return down(self:gated(path, function(name)
    return self:linear(("%s.%s"):format(path, name), x, width, spec.bias.up)
  end))
end

-- Returns the feed-forward of x, the states with the norm before it if there is one.
local function feed_forward(self, path, x, states)
  if not self.spec.experts then return dense(self, path, x, self.spec.d_ff) end
  return mixture(self, path, x, states, gain_of(self.spec), function(...) return dense(self, ...) end)
end

-- norm -> true if parts have a norm before them; of pre_ff all but the self-attention.
local norm_before = words.set { "pre", "pre_ff", "sandwich" }

-- Returns part(x) with the norms that belong to it: before it, unless `normed`, which it then reads, is x with that
-- norm; and after it.
local function branch(self, x, norm_path, part, normed)
  local before = norm_before[self.spec.norm] and not (self.spec.norm == "pre_ff" and norm_path:find("norm1$"))
  local y = part(normed or before and self:norm(norm_path, x) or x)
  if not self:has_norm_after() then return y end
  return self:norm(before and norm_path .. "_after" or norm_path, y, { factor = self:residual_factor(true) })
end

-- Returns x + part(x), with the norms before and after the part, or after the sum.
local function residual(self, x, norm_path, sum_path, part)
  local y = branch(self, x, norm_path, part)
  if self.spec.residual then y = self:op("add", sum_path, { a = y, b = x }) end
  return self.spec.norm == "post" and self:norm(norm_path, y) or y
end

-- Returns what a layer mixes its rows by: its self-attention to x, or a convolution.
local function mixed(self, path, index, x)
  if self.spec.short_conv > 0 then return attention.short_conv(self, path, x) end
  return attention.self(self, path, index, x)
end

-- Returns x + attention(x) + feed-forward(x). Ranks add both parts first, so that one meeting sums them.
local function parallel(self, path, index, x)
  local spec = self.spec
  local normed = spec.parallel == "one_norm" and self:norm(path .. ".norm1", x) or nil
  local y = branch(self, x, path .. ".norm1", function(z) return mixed(self, path, index, z) end, normed)
  local is_divided = (self.model.ranks or 1) > 1 and spec.d_ff > 0
  local function with_input(of)
    return spec.residual and self:op("add", path .. ".attn.sum", { a = of, b = x }) or of
  end
  if not is_divided then y = with_input(y) end
  if spec.d_ff == 0 and not spec.experts then return y end
  local z = branch(self, x, path .. ".norm2",
    function(each) return feed_forward(self, path .. ".ff", each, x) end, normed)
  if is_divided then return with_input(self:op("add", path .. ".ff.sum", { a = z, b = y })) end
  return self:op("add", path .. ".ff.sum", { a = z, b = y })
end

-- Returns the part of a layer that reads tokens. Its table and its projection of the embeddings are columns and rows of
-- tensors of all layers. The sum of both is divided by sqrt(2).
local function of_tokens(self, path, index, x)
  local spec, width, half = self.spec, self.spec.layer_inputs, math.sqrt(0.5)
  path = path .. ".tokens"
  local function own(name, axis, factor)
    return { like = self.prefix .. "input." .. name, heads = { index }, all = spec.layers, axis = axis,
      factor = factor }
  end
  local from = self:linear(path .. ".context", self.embeddings, width, false, 1,
    own("layers_context.weight", 1, 1 / math.sqrt(spec.d_model)))
  local of_ids = self:embed(path .. ".embedded", self.ids, self:weight(path .. ".weight",
    { spec.input.vocab, width }, 0, 0.5, own("layers_tokens.weight", 2, half * math.sqrt(width))))
  local given = self:op("add", path .. ".sum", { b = of_ids,
    a = self:norm(path .. ".context_norm", from, { factor = half }) })
  local gate = self:op("activate", path .. ".act", { x = self:linear(path .. ".gate", x, width, false) },
    { ["function"] = spec.activation })
  local gated = self:op("multiply", path .. ".gated", { a = gate, b = given })
  return self:norm(path .. ".norm", self:linear(path .. ".project", gated, spec.d_model, false, gain_of(spec)))
end

-- Returns (x + attention(y) + y + norm(B A y)) / sqrt(2), where y is the norm of x, with the norms of the attention: a
-- learned residual of low rank (LAuReL, Menghani et al. 2024).
local function with_low_rank(self, path, index, x)
  local y, own = self:norm(path .. ".norm1", x), path .. ".low_rank"
  local sum = self:op("add", path .. ".attn.sum",
    { a = branch(self, x, path .. ".norm1", function(z) return mixed(self, path, index, z) end, y), b = x })
  local low = self:linear(own .. ".right", self:linear(own .. ".left", y, self.spec.residual_rank, false),
    self.spec.d_model, false)
  low = self:op("add", own .. ".sum", { a = self:norm(own .. ".norm", low), b = y })
  return self:op("scale", path .. ".attn.halved", { x = self:op("add", path .. ".attn.with_low_rank",
    { a = low, b = sum }) }, { factor = Builder.to_float(math.sqrt(0.5)) })
end

-- Returns x after a layer's mixing of rows and its feed-forward.
local function whole(self, path, index, x)
  if self.spec.parallel ~= "none" then return parallel(self, path, index, x) end
  x = self.spec.residual_rank and with_low_rank(self, path, index, x)
    or residual(self, x, path .. ".norm1", path .. ".attn.sum", function(y) return mixed(self, path, index, y) end)
  if self.memory then
    x = residual(self, x, path .. ".norm_cross", path .. ".cross.sum",
      function(y) return attention.cross(self, path, index, y) end)
  end
  if self.spec.d_ff == 0 and not self.spec.experts then return x end
  return residual(self, x, path .. ".norm2", path .. ".ff.sum",
    function(y) return feed_forward(self, path .. ".ff", y, x) end)
end

-- Returns the streams of states after a layer. The part that reads the tokens also reads the stream that the layer
-- computes. Its result is added to all streams but the first.
local function of_streams(self, path, index, list)
  local active = self.spec.streams.active + 1
  local predicted, result, more = streams.predict(self, path, list), {}, nil
  local corrected = streams.correction(self, path, predicted, whole(self, path, index, predicted[active]))
  result[active] = corrected(active)
  if self.spec.layer_inputs then
    local x = result[active]
    if self.spec.streams.scaled then
      x = self:op("multiply", path .. ".streams.scaled", { a = x,
        b = self:weight(path .. ".streams.scale.weight", { self.spec.d_model }, 1, 0.1) })
    end
    more = of_tokens(self, path, index, x)
  end
  for i = 1, #list do
    local x = result[i] or corrected(i)
    result[i] = more and i > 1 and self:op("add", ("%s.tokens.added.%d"):format(path, i - 1), { a = x, b = more }) or x
  end
  return result
end

-- Returns the states after a layer, or the list of streams.
local function layer(stack_builder, index, x)
  local self = stack_builder:layer(index)
  local path = self.prefix .. "l" .. index
  self.section = self.stack_name .. "layer " .. index
  if self.spec.streams then return of_streams(self, path, index, x) end
  x = whole(self, path, index, x)
  if self.spec.second_ff then x = with_second(self, path .. ".ff.second", x, gain_of(self.spec)) end
  if self.spec.layer_inputs then
    x = self:op("add", path .. ".tokens.added", { a = of_tokens(self, path, index, x), b = x })
  end
  if not self.spec.layer_scale then return x end
  return self:op("multiply", path .. ".scaled", { a = x, b = self:weight(path .. ".scale.weight",
    { self.spec.d_model }, 1, 0.1) })
end

local input_stages = {}

function input_stages.hidden(self, spec) return self:rows_input("hidden", spec.seq, spec.d_model) end

function input_stages.linear(self, spec, stage)
  local features = self:rows_input("features", spec.seq, stage.from)
  if stage.features_norm then features = self:norm(self.prefix .. "input.features_norm", features) end
  return self:linear(self.prefix .. "input.linear", features, spec.d_model, stage.bias)
end

-- Reads two rows of features for each row of states. The convolutions see rows of zeros at both ends; the last one's
-- windows end before those after the last row.
function input_stages.frames(self, spec, stage)
  local x = self:rows_input("features", 2 * spec.seq, stage.from, true)
  for i = 1, 2 do
    local path = ("%sinput.conv%d"):format(self.prefix, i)
    x = self:op("join", path .. ".padded", { a = x }, { batch = self.batch, zeros_before = 1, zeros = 2 - i })
    x = self:op("windows", path .. ".windows", { x = x }, { kernel = 3, stride = i })
    x = self:linear(path, x, spec.d_model, true, 1, { taps = 3 })
    x = self:op("activate", path .. ".act", { x = x }, { ["function"] = "gelu" })
  end
  return x
end

-- Returns the vocabulary stage of a model's output that multiplies by the table of tokens, or nil.
local function tied_stage(model)
  for _, stage in ipairs(model.output or {}) do
    if stage.stage == "vocabulary" and stage.tied then return stage end
  end
  return nil
end

-- Returns the deviation of the random values of a vocabulary's weight with `inputs` inputs: logits vary by about 1.
local function vocabulary_deviation(stage, inputs) return 1 / (stage.scale * math.sqrt(inputs)) end

-- Returns x times a factor. It is no part of a table or of a vocabulary's weight, so that both may be one tensor.
local function times(self, path, x, factor)
  return factor == 1.0 and x or self:op("scale", path, { x = x }, { factor = Builder.to_float(factor) })
end

function input_stages.tokens(self, spec, stage)
  local ids = self:grows(self:input("ids", "i32", { self.batch, spec.seq }, 0, stage.vocab), "bs")
  self.ids = ids
  local path, width, tied = self.prefix .. "input", stage.width or spec.d_model, tied_stage(self.model)
  self.vocab_path = path .. ".tokens.weight"
  local table_ = self:weight(self.vocab_path, { stage.vocab, width }, 0,
    tied and vocabulary_deviation(tied, width) or 1)
  return times(self, path .. ".scaled", self:embed(path .. ".embedded", ids, table_), stage.scale)
end

-- Reads an image. A patch's layer is a convolution as wide as its stride: weight [d_model][channels patch patch].
function input_stages.image(self, spec, stage)
  local path = self.prefix .. "input"
  local x
  if stage.row_stride then
    x = self:op("patches_of_columns", path .. ".pixels", { x = self:rows_input("features", stage.width, stage.height,
      true) },
      { patch = stage.patch, row_stride = stage.row_stride, column_stride = stage.column_stride })
  else
    local shape = { self.batch, stage.channels, stage.height, stage.width }
    local image = self:grows(self:input("image", "f32", shape), "b...")
    x = self:op("patches", path .. ".pixels", { x = image }, { patch = stage.patch })
  end
  x = self:linear(path .. ".patches", x, spec.d_model, stage.bias)
  if not stage.class_token then return x end
  local tokens = (stage.distillation_token and 2 or 1) + stage.registers
  local class = self:weight(path .. ".class", { tokens, spec.d_model }, 0, 1)
  return self:op("join", path .. ".tokens", { a = class, b = x }, { batch = self.batch, zeros = 0 })
end

-- Reads query, key and value one by one. The states that the layer continues with are the query's.
function input_stages.qkv(self, spec)
  local query = self:rows_input("query", spec.seq, spec.d_model)
  local fixed = not spec.keys_follow
  local function input(member, part, width)
    if spec.kv_layout ~= "heads_first" or attention.projects(spec, part) then
      return self:rows_input(member, spec.key_seq, width, fixed)
    end
    local x = self:heads_input(member, spec.key_seq, spec.kv_heads, width, fixed and "." or "s")
    return self:op("join", self.prefix .. "input." .. member, { a = x }, { batch = self.batch, zeros = 0 })
  end
  self.keys_from = { key = input("key", "k", spec.kdim), value = input("value", "v", spec.vdim) }
  return query
end

-- Returns x plus a convolution of its rows, each group of columns by itself (wav2vec2).
local function with_convolution(self, x)
  local spec, path = self.spec, self.prefix .. "positions"
  local y = self:convolution(path .. ".conv", x, spec.position_kernel, spec.position_groups,
    spec.mask.padding and self.lengths or nil)
  y = self:op("activate", path .. ".act", { x = y }, { ["function"] = spec.position_activation })
  return self:op("add", self.prefix .. "input.states", { a = y, b = x })
end

-- The layouts of sinusoidal positions, as the formula (runtime/weights/constants.h) has them.
local sinusoids = { pairs = 0, halves = 1, fairseq = 2 }

-- The share of tokens that ESM's training masks, and the right and lower end of a page in LayoutLM's boxes.
local DROPPED, MOST_PLACES = 0.15 * 0.8, 1000

-- Adds learned and sinusoidal positions, token types, the norm after them, and the linear layer to the layers' width.
local function positions(self, x)
  local spec, stage, path = self.spec, self.spec.input, self.prefix .. "input"
  if stage.dropped then
    x = self:op("drop_tokens", path .. ".kept", { x = x, ids = self.ids,
      lengths = spec.mask.padding and self.lengths or nil }, { id = stage.dropped, share = Builder.to_float(DROPPED) })
  end
  local width = stage.stage == "tokens" and stage.width or spec.d_model
  local is_first = width ~= spec.d_model and stage.projected == "before_positions"
  if is_first then
    width = spec.d_model
    x = self:linear(path .. ".projection", x, width, false)
  end
  local shape = { spec.seq, width }
  if spec.positions == "learned" and stage.grid then
    local shapes = self:grows(self:input("shapes", "i32", { self.batch, 2 }, 1, spec.seq + 1), "b.")
    shapes.are_shapes = true
    local table_ = self:weight(path .. ".positions.weight", { stage.grid * stage.grid, width }, 0, 0.5)
    x = self:op("add", path .. ".states", { a = x, b = self:op("grid_positions", path .. ".positions",
      { shapes = shapes, table = table_ }, { rows = spec.seq }) })
  elseif spec.positions == "learned" then
    local table_ = self:weight(path .. ".positions.weight", shape, 0, 0.5,
      { rows = spec.max_position, first = spec.first_position + spec.past })
    x = self:op("add", path .. ".states", { a = x, b = table_ })
  elseif spec.positions == "sinusoidal" then
    local first, layout = spec.past + spec.first_position, sinusoids[spec.sinusoids]
    x = self:op("add", path .. ".states", { a = x, b = self:constant(path .. ".positions.sinusoidal", shape,
      layout > 0 and ("sinusoidal %d %d"):format(first, layout) or first > 0 and "sinusoidal " .. first
      or "sinusoidal") })
  elseif spec.positions == "convolution" then
    x = with_convolution(self, x)
  end
  if (stage.types or 0) > 0 then
    local types = self:grows(self:input("token_types", "i32", { self.batch, spec.seq }, 0, stage.types), "bs")
    types.zeros = stage.optional_types or nil
    local typed = self:op("embed", path .. ".typed",
      { ids = types, table = self:weight(path .. ".types.weight", { stage.types, width }, 0, 0.5) })
    x = self:op("add", path .. ".typed_states", { a = typed, b = x })
  end
  if stage.boxes then
    local boxes = self:grows(self:input("boxes", "i32", { self.batch, spec.seq, 4 }, 0,
      math.min(stage.boxes, MOST_PLACES + 1)), "bs.")
    boxes.zeros, boxes.wide, self.boxes = true, true, boxes
    local own = stage.place_width
    local placed = self:op("embed_boxes", path .. ".placed", { boxes = boxes,
      table = self:weight(path .. ".boxes.weight", { (own and 2 or 4) * stage.boxes, own or width }, 0, 0.5),
      sizes = own and self:weight(path .. ".sizes.weight", { 2 * stage.boxes, width // 2 - 2 * own }, 0, 0.5) or nil })
    x = self:op("add", path .. ".placed_states", { a = placed, b = x })
  end
  local is_before = width ~= spec.d_model and stage.projected == "before_norm"
  if is_before then x = self:linear(path .. ".projection", x, spec.d_model, false) end
  if stage.norm then x = self:norm(path .. ".norm", x, { eps = stage.eps }) end
  if is_before or width == spec.d_model then return x end
  return self:linear(path .. ".projection", x, spec.d_model, true)
end

-- Returns the norm of y, the first layer's result, plus a convolution of its input along the rows (DeBERTa-v2).
local function convolved(self, x, y)
  local spec, path, kernel = self.spec, self.prefix .. "conv", self.spec.conv_kernel
  self.section = self.stack_name .. "layer 0" -- which another builder set, if layers differ
  local lengths = spec.mask.padding and self.lengths or nil
  local rows = self:op("neighbours", path .. ".rows", { x = x, lengths = lengths }, { kernel = kernel })
  local z = self:linear(path, rows, spec.d_model, true, 1, { shape = { spec.d_model, spec.d_model, kernel } })
  z = self:op("activate", path .. ".act", { x = z }, { ["function"] = spec.conv_activation })
  return self:norm(path .. "_norm", self:op("add", path .. ".sum", { a = z, b = y }))
end

local output_stages = {}

function output_stages.hidden(_, x) return x end

function output_stages.norm(self, x, stage, path)
  return self:norm(path .. ".norm", x, { eps = stage.eps, kind = stage.kind })
end

function output_stages.normalise(self, x, _, path)
  return self:op("normalise", path .. ".normalise", { x = x }, { eps = 1e-12 })
end

function output_stages.softmax(self, x, _, path) return self:op("softmax_rows", path .. ".softmax", { x = x }) end

function output_stages.log_softmax(self, x, _, path)
  return self:op("log_softmax", path .. ".log_softmax", { x = x })
end

-- Multiplies by the vocabulary's weight. A tied head is a second weight that reads the token table's tensor: one is
-- looked up by rows, the other multiplied. The layout gives both one place if they have the same numbers.
function output_stages.vocabulary(self, x, stage, path)
  path = path .. ".vocabulary"
  local vocab, from = self.spec.input.vocab, x.shape[#x.shape]
  local y = self:product(path, {
    x = times(self, path .. ".scaled", x, stage.scale),
    weight = self:weight(path .. ".weight", { vocab, from }, 0, vocabulary_deviation(stage, from),
      { like = stage.tied and self.vocab_path or nil }),
    bias = stage.bias and self:weight(path .. ".bias", { vocab }, 0, 0.1) or nil,
  })
  if not stage.softcap then return y end
  return self:op("softcap", path .. ".capped", { x = y }, { cap = Builder.to_float(stage.softcap) })
end

-- Returns the mask that says which rows a pool takes, whether 1 in it keeps a row, and its number of past keys; nil if
-- no mask says it. The stage's own mask takes the place of lengths.
local function mask_of_pool(self, stage, list)
  if stage.mask then
    self.pool_mask = self.pool_mask or self:grows(self:input("pool_mask", "i32", { self.batch, self.spec.seq }, 0, 2),
      "bs")
    return self.pool_mask, true, 0
  end
  for _, over in ipairs(list) do
    if stages_table.pools_of_kept[over] then
      return self.masks[self.spec.pool_mask], self.spec.pool_mask == "attention_mask", self.spec.past
    end
  end
  return nil
end

-- Returns the number of rows of an image before its patches' rows.
local function tokens_of_image(input)
  return (input.class_token and 1 or 0) + (input.distillation_token and 1 or 0) + input.registers
end

function output_stages.pool(self, x, stage, path)
  local lengths = self.spec.input.stage ~= "qkv" and self.lengths or nil -- with qkv(): of the keys
  if stage.over == "all" then return x end
  if stage.over == "own" then return joined.own(self, x, path) end
  local list = type(stage.over) == "table" and stage.over or { stage.over }
  local mask, keeps, past = mask_of_pool(self, stage, list)
  return self:op("pool", path .. ".pool",
    { x = x, lengths = not stage.mask and lengths or nil, mask = mask, ids = (stage.pad or stage.ending) and self.ids },
    { ["function"] = table.concat(list, " "), cut = (stage.cut or 0) > 0 and stage.cut or nil,
      keeps = mask and keeps or nil, pad = stage.pad, ending = stage.ending,
      first = mask and past > 0 and past or nil,
      tokens = (words.set(list).patches or words.set(list).tokens) and tokens_of_image(self.spec.input) or nil })
end

-- Pools by attention with a learned query.
function output_stages.attend(self, x, _, path)
  path = path .. ".attend"
  local memory = self.memory
  self.memory = { states = x, lengths = self.spec.mask.padding and self.lengths or nil }
  local probe = self:weight(path .. ".probe.weight", { 1, self.spec.d_model }, 0, 1)
  local query = self:op("join", path .. ".query", { a = probe }, { batch = self.batch, zeros = 0 })
  local y = attention.cross(self, path, -1, query)
  self.memory = memory
  local z = feed_forward(self, path .. ".ff", self:norm(path .. ".norm", y))
  y = self:op("add", path .. ".sum", { a = z, b = y })
  return self:op("pool", path .. ".pool", { x = y }, { ["function"] = "first" })
end

-- Repeats the learned numbers for each sequence.
function output_stages.similarity(self, _, stage, path)
  path = path .. ".similarity"
  local weight = self:weight(path .. ".weight", { 1, stage.bias and 2 or 1 }, 0, 1)
  local rows = self:op("join", path .. ".rows", { a = weight }, { batch = self.batch, zeros = 0 })
  return self:op("pool", path .. ".pool", { x = rows }, { ["function"] = "first" })
end

function output_stages.linear(self, x, stage, path)
  if stage.kernel then
    x = self:op("neighbours", path .. ".rows", { x = x, lengths = self.spec.mask.padding and self.lengths or nil },
      { kernel = stage.kernel, dilation = stage.dilation or 1 })
  end
  local y = self:linear(path .. ".linear", x, stage.to, stage.bias)
  if not stage.activation then return y end
  return self:op("activate", path .. "." .. stage.activation, { x = y }, { ["function"] = stage.activation })
end

-- Returns the input that says what each row is.
local function marks_of(self)
  self.marks = self.marks or self:grows(self:input("marks", "i32", { self.batch, self.spec.seq }, 0, 3), "bs")
  return self.marks
end

-- An LSTM. Its products with rows of x are a linear layer before it.
function output_stages.recurrent(self, x, stage, path)
  path = path .. ".recurrent"
  local directions = stage.both and 2 or 1
  local width, marks = stage.to // directions, stage.marked and marks_of(self) or nil
  return self:op("recurrent", path, { x = self:linear(path .. ".gates", x, 4 * stage.to, true),
    weight = self:weight(path .. ".weight", { stage.to, 4 * width }, 0, 1 / math.sqrt(width)), marks = marks,
    lengths = self.spec.mask.padding and self.lengths or nil }, { directions = directions })
end

-- The rows of words and labels, in pairs.
function output_stages.match(self, x, stage, path)
  path = path .. ".match"
  local width, hidden, scores = x.shape[3] // 2, stage.hidden, stage.scores
  return self:op("match_labels", path, { x = x, labels = self.results[stage.labels],
    weight = self:weight(path .. ".weight", { 3 * width + 1, hidden }, 0, 1 / math.sqrt(3 * width)),
    out = self:weight(path .. ".out.weight", { hidden + 1, scores }, 0, 1 / math.sqrt(hidden)), marks = marks_of(self),
    lengths = self.spec.mask.padding and self.lengths or nil }, { most = stage.most })
end

function output_stages.argmax(self, x, _, path) return self:op("argmax", path .. ".argmax", { x = x }) end

-- Adds two results: the values and their indices.
function output_stages.topk(self, x, stage, path)
  return self:op("topk_values", path .. ".topk", { x = x }, { k = stage.k }),
    self:op("topk_indices", path .. ".topk_indices", { x = x }, { k = stage.k })
end

local default_output_names = { hidden = "hidden", norm = "hidden", pool = "pooled", linear = "logits",
  vocabulary = "logits", normalise = "embedding", attend = "pooled", argmax = "label", recurrent = "hidden",
  match = "scores",  similarity = "similarity",
  softmax = "probabilities", log_softmax = "log_probabilities", topk = "top" }

-- Returns rows [batch][seq][width] as [seq][batch][width] if the layout says so.
local function laid_out(self, x, member)
  if self.spec.layout == "batch_first" or #x.shape ~= 3 then return x end
  return self:op("swap", "output." .. member .. ".swapped", { x = x })
end

-- Returns the axes of a result: a row for each token, or one for each sequence.
local function axes_of(self, x, has_rows, seq_first)
  if self.joined and has_rows and x.shape[2] ~= self.spec.seq then return "b" .. ("."):rep(#x.shape - 1) end
  if not has_rows then return "b" .. ("."):rep(#x.shape - 1) end
  return (seq_first and #x.shape == 3 and "sb" or "bs") .. ("."):rep(#x.shape - 2)
end

local function output(self, x)
  self.section = "output"
  local stages, seq_first = self.spec.output, self.spec.layout == "seq_first"
  local taken, results, has_rows = {}, { [0] = x }, { [0] = true }
  self.results = results
  for _, stage in ipairs(stages) do if stage.name then taken[stage.name] = true end end
  for i, stage in ipairs(stages) do
    local path = "output." .. i
    x = results[stage.of or i - 1]
    local indices
    if stage.stage == "linear" or not stage.activation then
      x, indices = output_stages[stage.stage](self, x, stage, path)
    else
      x = self:op("activate", path .. "." .. stage.stage, { x = x }, { ["function"] = stage.activation })
    end
    results[i] = x
    has_rows[i] = has_rows[stage.of or i - 1] and (stage.stage ~= "pool" or stages_table.pools_of_rows[stage.over])
      and stage.stage ~= "attend" and stage.stage ~= "similarity"
    local member = stage.name
    if not member and (i == #stages or stage.stage == "hidden") then
      member = default_output_names[stage.stage] or "activations"
      while taken[member] or (indices and taken[member .. "_index"]) do member = member .. "_" .. i end
      taken[member] = true
    end
    if indices then
      local axes = axes_of(self, x, has_rows[i])
      self:expose(x, member, axes)
      self:expose(indices, member .. "_index", axes)
    elseif member then
      self:expose(laid_out(self, x, member), member, axes_of(self, x, has_rows[i], seq_first)).squeezed = stage.squeeze
    end
  end
end

-- Adds a stack of layers with the stages before it; returns its last states.
local function stack(self)
  local spec = self.spec
  self.section = self.stack_name .. "input"
  local x = input_stages[spec.input.stage](self, spec, spec.input)
  self.embeddings = x
  attention.inputs(self)
  x = joined.add(self, positions(self, x))
  if spec.streams then x = streams.begin(self, x) end
  for i = 0, spec.layers - 1 do
    local y = layer(self, i, x)
    x = i == 0 and spec.conv_kernel and convolved(self, x, y) or y
  end
  if spec.streams or spec.final_norm then self.section = self.stack_name .. "output" end
  if spec.streams then x = streams.join(self, x) end
  if spec.final_norm then
    x = self:norm(self.prefix .. "final_norm", x)
  end
  return x
end

-- Returns the states of an encoder, and the builder of its part of the graph.
local function encoded(self, spec)
  local encoder = self:part(spec, "encoder.", "source_", "encoder ")
  local states = stack(encoder)
  return spec.to and encoder:linear("encoder.projection", states, spec.to, true) or states, encoder
end

-- Returns the states that the cross-attentions read: an input, or the result of an encoder.
local function memory(self)
  local m = self.spec.memory
  if not m then return end
  if self.spec.source then
    self.memory = { rows = self.spec.source.seq, is_kept = true }
  elseif m.encoder then
    local states, encoder = encoded(self, m.encoder)
    if m.joined then
      self.joined = states
      return
    end
    self.memory = { states = states, lengths = encoder.lengths, key_padding = encoder.masks.key_padding }
  end
  if self.memory then return end
  self.section = "input"
  self.memory = { states = self:rows_input("memory", m.seq, m.width, true) }
  if m.mask == "padding" then
    self.memory.lengths = self:grows(self:input("memory_lengths", "i32", { self.batch }, 1, m.seq + 1), "b")
  elseif m.mask == "key_padding" then
    self.memory.key_padding = self:grows(self:input("memory_key_padding", "i32", { self.batch, m.seq }, 0, 2), "b.")
  end
end

-- Makes the keys and values of a source that each layer of a decoder reads, which the state keeps. spec: the encoder's.
local function encode(self, spec)
  local states = encoded(self, spec)
  for i = 0, self.spec.layers - 1 do
    local of_layer = self:layer(i)
    of_layer.section = "layer " .. i
    attention.keep_source(of_layer, "l" .. i, i, states)
  end
end

-- Returns the graphs of the entries after the state's, which are made before; nil if entries before it follow.
local function others(state)
  local list = {}
  if state ~= state.entries[1] then return nil end
  for i = 2, #state.entries do list[i - 1] = state.entries[i].graph end
  return list
end

-- Returns the graph of a spec of the state's entry.
local function built(state, spec)
  local self = Builder.new(spec.decoder or spec, state.name, state.target_names,
    spec.is_adapted and state.adapters or nil, state.adapter_schemes)
  if spec.role == "encode" then
    encode(self, spec)
  elseif spec.role == "features" then
    sounds.build(self, spec)
  else
    memory(self)
    output(self, stack(self))
  end
  if self.model.adapters and spec.role ~= "features" then -- the last of the inputs, also where the layers' are adapted
    local name, inputs = self:of_sequences().name, self.entry.inputs
    self.entry.inputs = words.filter(inputs, function(input) return input ~= name end)
    table.insert(self.entry.inputs, name)
  end
  attention.show_queries(self)
  orders.fold(self.graph, self.entry)
  local smoothed = smoothing.apply(self, state.factors)
  shorten(self.entry)
  if not expose(self, state) then asked.apply(self) end
  local made = self:finish(others(state))
  made.smoothing = smoothed
  return made
end

function graph.run(state)
  local spec = state.spec
  state.graph = built(state, spec)
  if spec.symbols.rows.is_open then
    local function set(shorter, rows, unit) growth.set(state.graph, built(state, shorter), rows, unit) end
    set(growth.shortened(spec, spec.least), spec.seq - spec.least, growth.OF_TOKENS)
    if spec.source then
      local least = math.min(spec.source.least, spec.source.seq - 1) -- two lengths tell how tensors grow
      set(growth.with_source(spec, least), spec.source.seq - least, growth.OF_SOURCE)
    end
  end
  if state == state.primary and (state.tokenizer or state.spec.pictures or state.spec.sound or state.spec.ctc) then
    state.graph.answer = answer.of(state.spec, state.graph, state.tokenizer)
  end
  local before = state.checkpoint and others(state)
  if before then fits.check({ state.graph, table.unpack(before) }, state.checkpoint, state.file) end
end

-- Returns the axes that grow with a sequence, for the dump: " +0 +1 +0"; "" for a model of fixed sizes.
local function growth_text(tensor)
  local text = ""
  for _, by in ipairs(tensor.growth or {}) do text = ("%s +%d"):format(text, by) end
  return text:find("[1-9]") and "   grows" .. text or ""
end

local function attributes_text(op)
  local parts = words.map(words.sorted_keys(op.attributes), function(key)
    local value = op.attributes[key]
    if math.type(value) == "float" then value = ("%.9g"):format(value) end
    return key .. "=" .. tostring(value)
  end)
  return #parts > 0 and " {" .. table.concat(parts, " ") .. "}" or ""
end

--- Returns the weights, then one line per op: result = op(operands) {attributes}   shape   flops.
function graph.dump(state)
  local lines = {}
  local g = state.graph
  for _, name in ipairs(g.weights) do
    local t = g.tensors[name]
    local factor = t.source and t.source.factor
    lines[#lines + 1] = ("%s %s %s%s%s%s%s"):format(t.kind, name, words.shape(t.shape),
      t.rule and sources.text(t.rule) or "",
      t.source and next(t.source) and not t.source.like and " of " .. words.shape(t.from.stored[1].shape) or "",
      factor and (" times %.9g"):format(factor) or "", growth_text(t))
  end
  local entry = g.entry
  lines[#lines + 1] = ("entry %s   %d flops"):format(entry.name, entry.flops)
  for _, name in ipairs(entry.inputs) do
    local t = g.tensors[name]
    lines[#lines + 1] = ("  input %s %s %s%s%s"):format(name, t.type, words.shape(t.shape),
      t.type == "i32" and (" from %d to %d"):format(t.minimum, t.limit - 1) or "", growth_text(t))
  end
  for _, op in ipairs(entry.ops) do
    local operands = words.map(ops.table[op.op].operands, function(each)
      return op.operands[each] and op.operands[each].name
    end)
    lines[#lines + 1] = ("  %s = %s(%s)%s   %s   %d flops%s"):format(op.result.name, op.op,
      table.concat(operands, ", "), attributes_text(op), words.shape(op.result.shape), op.flops,
      growth_text(op.result))
  end
  for _, name in ipairs(entry.outputs) do
    lines[#lines + 1] = ("  output %s = %s"):format(g.tensors[name].member, name)
  end
  for _, line in ipairs(g.answer and answer.dump(g.answer) or {}) do lines[#lines + 1] = line end
  return table.concat(lines, "\n") .. "\n"
end

return graph
