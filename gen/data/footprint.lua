-- footprint.lua: lists the elements or bytes of a buffer that an operand of a step touches, as dimensions.
-- A list of dimensions means the elements `first` + i * stride + j * stride + ... for each i, j, ... below the
-- dimension's count. Dimensions that several forms share have a constructor. Bounds, counts and rectangles follow
-- from nothing but the list.
local words = require("common.words")

local footprint = {}

--- Returns a function of constants: the product of the names and numbers of a text, "4 width".
function footprint.product(text)
  local factors = words.map(words.list(text), function(word) return math.tointeger(tonumber(word)) or word end)
  return function(c)
    local n = 1
    for _, factor in ipairs(factors) do n = n * (c[factor] or factor) end
    return n
  end
end

--- Returns the footprint of a rows x cols matrix with rows ld apart; the arguments are products of constants.
function footprint.matrix(rows, cols, ld)
  local of_rows, of_cols, of_ld = footprint.product(rows), footprint.product(cols), footprint.product(ld)
  return function(c) return { first = 0, { of_rows(c), of_ld(c) }, { of_cols(c), 1 } } end
end

--- Returns the footprint of contiguous elements; `count` is a product of constants.
function footprint.vector(count)
  local of = footprint.product(count)
  return function(c) return { first = 0, { of(c), 1 } } end
end

--- Returns the lowest and the highest element of a list of dimensions.
function footprint.reach(dimensions)
  local low, high = dimensions.first, dimensions.first
  for _, dimension in ipairs(dimensions) do
    local far = (dimension[1] - 1) * dimension[2]
    if far < 0 then low = low + far else high = high + far end
  end
  return low, high
end

--- Returns the number of elements; an element that two iterations touch counts twice.
function footprint.elements(dimensions)
  local n = 1
  for _, dimension in ipairs(dimensions) do n = n * dimension[1] end
  return n
end

--- Returns a list of dimensions of elements as one of bytes; `bytes`: the bytes of an element.
function footprint.in_bytes(dimensions, bytes)
  local result, neighbours = { first = dimensions.first * bytes }, false
  for i, dimension in ipairs(dimensions) do
    local count, stride = dimension[1], dimension[2]
    if stride == 1 and not neighbours then
      result[i], neighbours = { count * bytes, 1 }, true
    else
      result[i] = { count, stride * bytes }
    end
  end
  if not neighbours then result[#result + 1] = { bytes, 1 } end
  return result
end

--- Returns a list of dimensions `count` times, `stride` apart.
function footprint.repeated(dimensions, count, stride)
  if stride == 0 then return dimensions end
  local result = table.move(dimensions, 1, #dimensions, 1, { first = dimensions.first })
  result[#result + 1] = { count, stride }
  return result
end

-- Returns the first element, and the dimensions with positive strides in ascending order, but the ones of one element.
local function in_order(dimensions)
  local first, list = dimensions.first, {}
  for _, dimension in ipairs(dimensions) do
    local count, stride = dimension[1], dimension[2]
    if stride < 0 then first, stride = first + (count - 1) * stride, -stride end
    if count > 1 and stride > 0 then list[#list + 1] = { count, stride } end
  end
  table.sort(list, function(x, y) return x[2] < y[2] end)
  return first, list
end

-- Returns `count` copies of rectangles, `stride` apart; copies that touch are merged.
local function copies_of(boxes, count, stride)
  local result = {}
  for _, box in ipairs(boxes) do
    if box.rows == 1 and stride <= box.cols then -- one after the other
      result[#result + 1] = { first = box.first, rows = 1, cols = box.cols + (count - 1) * stride, ld = 0 }
    elseif box.rows == 1 then
      result[#result + 1] = { first = box.first, rows = count, cols = box.cols, ld = stride }
    elseif stride % box.ld == 0 and stride // box.ld <= box.rows then
      result[#result + 1] = { first = box.first, rows = box.rows + (count - 1) * (stride // box.ld), cols = box.cols,
        ld = box.ld }
    else
      for i = 0, count - 1 do
        result[#result + 1] = { first = box.first + i * stride, rows = box.rows, cols = box.cols, ld = box.ld }
      end
    end
  end
  return result
end

-- Returns the rectangle of most lists, rows of adjacent elements; nil if the list is no single rectangle.
local function plain(dimensions)
  local rows, ld, cols
  for _, dimension in ipairs(dimensions) do
    local count, stride = dimension[1], dimension[2]
    if count > 1 and stride == 1 and not cols then cols = count
    elseif count > 1 and not rows then rows, ld = count, stride
    elseif count > 1 then return nil end
  end
  cols = cols or 1
  if rows and ld < cols then return nil end
  if rows and ld == cols then rows, ld, cols = 1, 0, rows * cols end
  return { { first = dimensions.first, rows = rows or 1, cols = cols, ld = ld or 0 } }
end

--- Returns the elements as rectangles: { first, rows, cols, ld }; a single row has the leading dimension 0. The
--- result is kept in the list.
function footprint.boxes(dimensions)
  local boxes = dimensions.boxes
  if boxes then return boxes end
  boxes = plain(dimensions)
  if not boxes then
    local first, list = in_order(dimensions)
    boxes = { { first = first, rows = 1, cols = 1, ld = 0 } }
    for _, dimension in ipairs(list) do boxes = copies_of(boxes, dimension[1], dimension[2]) end
  end
  dimensions.boxes = boxes
  return boxes
end

return footprint
