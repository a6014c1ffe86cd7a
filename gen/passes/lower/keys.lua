-- keys.lua: packs keys and values into the form that an attention reads (data/storage.lua).
-- A product's tile is packed while it is in the cache; stored rows are packed before the scores.
local forms = require("data.storage")
local types = require("data.types")

local keys = {}

-- Emits a step that packs rows of x. Keys with scales are packed with these, before the groups of a panel.
local function pack_step(self, fn, constants, storage, arguments, row, column, origin)
  local scale, place = storage.scale, forms.packed(storage)
  if scale then
    arguments.y = self:before(arguments.y, place.scales(storage), storage.type)
    arguments.scale = self:at(scale, row, column // storage.head_dim, origin)
    constants.lds, constants.lanes = self:ld(scale), constants.lanes or 1
  end
  self:row(fn, constants, arguments)
end

-- Emits steps that pack rows [first, stop) of x, a step for the rows of each sequence and panel.
local function pack(self, x, storage, fn, origin, first, stop, column, width)
  local place, row = forms.packed(storage), first
  local panel = place.panel(storage)
  while row < stop do
    local key = row % storage.rows_per_sequence
    local count = math.min(stop - row, storage.rows_per_sequence - key, panel - key % panel)
    pack_step(self, fn, { rows = count, cols = width, ldx = self:ld(x), ldy = place.ld(storage) }, storage,
      { y = self:packed_at(storage, row, column, origin), x = self:at(x, row, column, origin) }, row, column, origin)
    row = row + count
  end
end

--- Packs a product's tile; a method of the lowering. storage: of the keys or values.
function keys.pack_tile(self, x, storage, origin, block, column, width)
  pack(self, x, storage, forms.packed(storage).from_tile, origin, block.first, block.first + block.count, column, width)
end

--- Packs the stored rows of x, a task with a unit for each panel of keys; a method of the lowering. It does nothing if
--- their product packs them, or if the attention reads rows.
function keys.pack_rows(self, x, storage, origin)
  if not (storage and storage.separate) then return end
  local stored = self.storage[x.name]
  local _, rows, cols = table.unpack(x.shape)
  local place = forms.packed(storage)
  local width = place.run and place.run(storage) or forms.rows(stored).run(stored)
  for first = 0, rows - 1, storage.key_block do
    self:unit()
    for column = 0, cols - 1, width do
      pack(self, x, storage, place.from_rows, origin, first, math.min(first + storage.key_block, rows), column, width)
    end
  end
  self.task = self.task + 1
end

--- Packs the rows of x of a sequence whose length is open, in a loop over panels of keys; a method of the lowering.
--- open: of the attention's region.
function keys.pack_open_rows(self, x, storage, open)
  if not storage then return end
  local stored, cols, first = self.storage[x.name], storage.width, storage.first_column or 0
  local place = forms.packed(storage)
  local width = math.min((place.run and place.run(storage)) or forms.rows(stored).run(stored), cols)
  self:loop("panels", { step = open.panel, count = x.shape[2] // open.panel + 1 }, function()
    self:with_open({ rows = "panel" }, function()
      self:heads((cols + width - 1) // width, 1, nil, function(i)
        local column = first + i * width
        self:unit()
        local origin = { over = { "first", "key" } }
        pack_step(self, place.from_open_rows, { rows = open.panel, cols = width, ldx = self:ld(x),
          ldy = place.ld(storage), lanes = place.is_filled and open.lanes or nil }, storage,
          { y = self:packed_at(storage, 0, column, { over = {}, packed = "key" }), x = self:at(x, 0, column, origin) },
          0, column, origin)
      end)
    end)
  end)
end

-- Adds the rows of a head, whose first column is given, to the page of a loop.
local function add_head(self, x, storage, column)
  local place, step = forms.packed(storage), storage.key_block
  local to = self:packed_at(storage, 0, column, { over = {} })
  to.terms.page = types.bytes(step * place.each_key(storage), storage.type)
  local first = place.each_added == nil and { symbol = "into", plus = 0, least = 0, most = step - 1 } or nil
  if not first then to.terms.into = types.bytes(place.each_added(storage), storage.type) end
  local origin = { over = { "first", "added" } }
  local scale, bits = storage.scale, forms.bits(storage)
  self:row(place.added, { rows = step, cols = storage.head_dim, ldx = self:ld(x), ldy = place.ld and place.ld(storage),
    panel = first and step or nil, lds = scale and self:ld(scale), bits = bits,
    page = bits and step * place.each_key(storage) },
    { y = to, x = self:at(x, 0, column, origin), first = first,
      scale = scale and self:at(scale, 0, column // storage.head_dim, origin) })
end

--- Adds the rows of x of a sequence to those that its state has, in a loop over the state's pages; a method of the
--- lowering.
function keys.add_rows(self, x, storage)
  local step = storage.key_block
  self:loop("pages", { step = step, count = self.state.spec.call_rows // step + 2 }, function()
    self:with_open({ rows = "piece" }, function()
      self:unit()
      self:heads(storage.width // storage.head_dim, 1, nil, function(i)
        add_head(self, x, storage, i * storage.head_dim)
      end)
    end)
  end)
end

--- Returns the constants by which a row operation reads pages of integers: the keys of a page, their bits, its bytes.
function keys.page(storage)
  local panel = storage.key_block
  return { head_dim = storage.head_dim, panel = panel, bits = forms.bits(storage),
    page = panel * forms.packed(storage).each_key(storage) }
end

--- Returns the storage of the packed keys or values of one head, whose first column is given: those that a worker packs
--- for itself.
function keys.of_head(storage, first_column, columns)
  return storage and setmetatable({ first_column = first_column, width = columns }, { __index = storage })
end

--- Calls body(key_block, column) for the key blocks of a block of queries; column: of the tile, of its first key. Whole
--- blocks that follow each other are a loop, if the plan says so.
function keys.each_key_block(self, at, body)
  local size = at.region.key_block
  for _, range in ipairs(at.block.ranges) do
    local list, i = range.key_blocks, 1
    local function one(key_block) body(key_block, range.column + key_block.first - range.first_key) end
    local function is_whole(key_block)
      return key_block and key_block.first % size == 0 and key_block.count == size and key_block.outputs == size
    end
    while list[i] do
      local count = 0
      while is_whole(list[i + count]) do count = count + 1 end
      if count < at.region.least_key_loop then count = 0 end
      if count > 0 then
        local first = i
        self:panels(count, true, function(number) one(list[first + number]) end, true)
      else
        one(list[i])
      end
      i = i + math.max(1, count)
    end
  end
end

return keys
