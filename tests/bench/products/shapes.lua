-- shapes.lua: lists the products that are measured, and their candidates.
local calls = require("commands.products.calls")
local targets = require("data.targets")
local tuning = require("passes.common.tuning")
local types = require("data.types")

local shapes = {}

--- Rows of the longest call of an open product, which decide its parameters.
shapes.LONGEST = 512

--- Version of the strips. It is raised when their loops change so much that older times say little; fit.lua then leaves
--- such lines of older tables out. 2: loops of four steps of f32 as copies, with a prefetch each. 3: strips of one
--- vector of f32 read inputs in the multiply-add. 4: strips prefetch into the second-level cache; single ones of few
--- rows one line of each pair, with more rows at two distances. 5: bf16 and int8 without instructions of their own
--- have loops like f32's; strips of six rows of bf16 on AVX2.
shapes.STRIPS = 5

--- True if a line of a table was measured with strips of another version, which had other speeds. With many rows, the
--- fourth version is as fast as the third within 2%.
function shapes.is_older(line, version)
  if line.target == "amx" or version >= shapes.STRIPS then return false end
  if line.type ~= "f32" and line.target ~= "avx512bf16" then return true end
  if version == 4 then return false end
  if line.type == "f32" then return version < 3 or line.rows <= 33 end
  return line.rows <= 17
end

-- Outputs, inputs and rows. The widths are as in models from 256 to 1,024 with their feed-forward layers; the rows
-- are numbers next to those at which strips and blocks change. Each weight has some of the rows, so that all come.
local LIST = {
  { 384, 384, { 1, 4, 9, 12, 16, 24, 33, 64, 128, 256 } },
  { 1536, 384, { 2, 8, 13, 17, 32, 65, 96, 192, 512 } },
  { 384, 1536, { 1, 8, 12, 16, 24, 48, 129, 384 } },
  { 768, 768, { 1, 9, 16, 32, 64, 128, 384 } },
  { 3072, 768, { 4, 13, 24, 65, 128, 192 } },
  { 768, 3072, { 1, 8, 12, 17, 33, 96, 256 } },
  { 576, 576, { 2, 12, 48, 129 } },
  { 896, 896, { 9, 16, 33, 192 } },
  { 256, 256, { 1, 12, 32, 128 } },
  { 1024, 256, { 8, 17, 64 } },
  { 3072, 1024, { 4, 24, 128 } },
}

-- Products that are not in LIST: other widths, some no multiple of a vector, and rows between LIST's. They show
-- what the rule loses elsewhere.
local BETWEEN = {
  { 2048, 512, { 2, 5, 11, 23, 77, 300 } },
  { 640, 2560, { 3, 7, 19, 41, 150 } },
  { 1152, 288, { 2, 7, 11, 23, 41, 77 } },
  { 4864, 896, { 3, 5, 19, 150 } },
  { 896, 4864, { 2, 7, 23, 77 } },
  { 1000, 384, { 3, 5, 11, 19, 41, 300 } },
  { 512, 512, { 3, 6, 10, 14, 15, 19, 77 } },
  { 1536, 384, { 5, 6, 7, 10, 11, 14, 15, 20 } },
  { 768, 768, { 3, 5, 6, 7, 10, 11, 14, 15, 20 } },
}

-- Parameters of the candidates, all of kernels in C. The rule's choice comes in addition.
local TOKEN_BLOCKS = { 64, 128, 256 }
local PANELS, STREAMS, CALL_ROWS = { 16, 32, 48, 64, 80 }, { 0, 3072, 8192, 10240, 16384 }, 4096

--- Returns the products: { outputs, inputs, rows }. is_between: those that the rule is not fitted to.
function shapes.list(is_between)
  local list = {}
  for _, weight in ipairs(is_between and BETWEEN or LIST) do
    for _, rows in ipairs(weight[3]) do list[#list + 1] = { outputs = weight[1], inputs = weight[2], rows = rows } end
  end
  return list
end

-- Limits of drawn products: of widths, rows, numbers of a weight, and multiply-adds.
local LEAST_WIDTH, MOST_WIDTH, MOST_ROWS, MOST_NUMBERS, MOST_WORK = 16, 8192, 512, 1 << 24, 1 << 31

-- Widths are multiples of one of these.
local EACH = { 8, 8, 1 }

-- Outputs by inputs of drawn products: projections, feed-forward layers with and without a gate, heads of keys.
local FACTORS = { 1, 4, 1 / 4, 8 / 3, 3 / 8 }

--- Returns drawn products of a group, "TARGET:TYPE:FORM": widths of 16 to 8,192, of which a third may be odd, and up to
--- 512 rows, all sizes as likely as others. The same seed and group give the same products.
function shapes.drawn(seed, group, count)
  local number, list = 0, {}
  for i = 1, #group do number = (number * 31 + group:byte(i)) % (1 << 32) end
  math.randomseed(seed, number)
  local function between(least, most) return least * (most / least) ^ math.random() end
  while #list < count do
    local each = EACH[math.random(#EACH)]
    local inputs = math.tointeger(between(LEAST_WIDTH, MOST_WIDTH) // each * each)
    local outputs = math.tointeger(inputs * FACTORS[math.random(#FACTORS)] // each * each)
    local rows = math.tointeger(between(1, MOST_ROWS + 1) // 1)
    local numbers = outputs * inputs
    if outputs >= LEAST_WIDTH and outputs <= MOST_WIDTH and numbers <= MOST_NUMBERS and numbers * rows <= MOST_WORK then
      list[#list + 1] = { outputs = outputs, inputs = inputs, rows = rows }
    end
  end
  return list
end

-- Products of few rows: of heads, of feed-forward layers, and of a vocabulary.
local FEW = { { 2048, 2048 }, { 8192, 2048 }, { 2048, 8192 }, { 576, 1536 }, { 1536, 576 }, { 49152, 576 } }
local FEW_ROWS = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 24, 32 }

--- Returns the weights, { outputs, inputs }, and the rows that few.lua measures.
function shapes.few() return FEW, FEW_ROWS end

-- Returns the type of weights that a word names, and whether their rows are fine: a word of descriptions; or the name
-- of a type in scale blocks, before "fine" if the rows are.
local function named(word)
  local name = word:gsub("fine$", "")
  return types.of_word[word] or types.all[name] and name, name ~= word
end

--- True if a word names a type of weights.
function shapes.knows(word) return named(word) ~= nil end

--- Returns the types of a product whose weights have a number type, named by its word, on a target.
function shapes.types(target, word)
  local type, is_fine = named(word)
  return types.product(type, is_fine and types.fine or targets.rows(target, word))
end

--- Returns the rule's choice { panel, token_block, fetch, stream } for a product. is_open: whether only a call knows
--- its rows; the rule is then asked for the longest call's. measured: this machine's rates (facts.source), or nil.
function shapes.rule(target, word, shape, is_open, measured)
  local rows = is_open and shapes.LONGEST or shape.rows
  local parameters = tuning.parameters { spec = { target = target, plan = {}, kernels = "c",
    symbols = { rows = { is_open = is_open } } }, measured = measured }
  return parameters.of((" n %d "):format(rows), { shape = { shape.outputs, shape.inputs }, type = (named(word)) })
end

--- Returns the calls of a product with some parameters (commands/products/calls.lua).
function shapes.calls(target, word, shape, choice, is_open)
  local product = { outputs = shape.outputs, inputs = shape.inputs, rows = shape.rows,
    types = shapes.types(target, word) }
  return calls.of(targets.by_name[target], product, choice, is_open)
end

--- Returns the name of a choice: panel, "f" and the panels ahead, "s" and the KB ahead, "t" and the token block.
function shapes.name(choice)
  return ("%df%ds%dt%d"):format(choice.panel, choice.fetch, choice.stream // 1024, choice.token_block)
end

--- Returns the choices that candidates are made of, without the rule's.
function shapes.choices()
  local list = {}
  for _, panel in ipairs(PANELS) do
    for _, token_block in ipairs(TOKEN_BLOCKS) do
      for fetch = 0, 1 do
        for _, stream in ipairs(STREAMS) do
          list[#list + 1] = { panel = panel, fetch = fetch, stream = stream, token_block = token_block,
            call_rows = CALL_ROWS }
        end
      end
    end
  end
  return list
end

--- Returns the distinct candidates of a product: { name, choice, calls }; the first is the rule's.
function shapes.candidates(target, word, shape, is_open)
  local rule = shapes.rule(target, word, shape, is_open)
  local list, seen = {}, {}
  local function add(choice)
    local made = shapes.calls(target, word, shape, choice, is_open)
    if seen[made.signature] then return end
    seen[made.signature] = true
    list[#list + 1] = { name = shapes.name(choice), choice = choice, calls = made }
  end
  add(rule)
  for _, choice in ipairs(shapes.choices()) do add(choice) end
  return list
end

return shapes
