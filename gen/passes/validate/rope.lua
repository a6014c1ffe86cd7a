-- rope.lua: reads the key `rope_scaling` of a description: the fields of each type of scaled rotary positions.
local words = require("common.words")

-- Fields: { least, most, default }; a field without a default must be given. list: one number for each frequency.
local types = {
  linear = { factor = { 1e-3, 1e6 } },
  dynamic = { factor = { 1, 1e6 }, max_position = { 1, 1 << 30 }, longest = { 0, 1 << 30, 0 } },
  llama3 = { factor = { 1e-3, 1e6 }, low_freq_factor = { 1e-6, 1e6 }, high_freq_factor = { 1e-6, 1e6 },
    original = { 1, 1 << 30 } },
  yarn = { factor = { 1e-3, 1e6 }, original = { 1, 1 << 30 }, beta_fast = { 1e-3, 1e6, 32 },
    beta_slow = { 1e-3, 1e6, 1 }, attention_factor = { 1e-6, 1e6, 0 }, truncate = "boolean" },
  longrope = { short_factor = "list", long_factor = "list", original = { 1, 1 << 30 },
    attention_factor = { 1e-6, 1e6, 0 } },
}

return function(tools, read)
  local function read_field(say, key, declared, value)
    if declared == "boolean" then
      if value == nil then return true end
      return read.boolean(say, { key = key }, value)
    elseif declared == "list" then
      if type(value) ~= "table" or #value == 0 or #value > 128 then
        return say(key, "a list of numbers, one a frequency, is expected")
      end
      local list = {}
      for i, number in ipairs(value) do
        list[i] = read.number(say, { key = ("%s.%d"):format(key, i), min = 1e-6, max = 1e6 }, number) or 1.0
      end
      return list
    end
    if value == nil and declared[3] == nil then return say(key, "missing") end
    if value == nil then return declared[3] + 0.0 end
    return read.number(say, { key = key, min = declared[1], max = declared[2] }, value)
  end

  return function(say, field, value)
    if value == false then return false end
    local list = words.sorted_keys(types)
    if type(value) ~= "table" then
      return say(field.key, tools.show(value)
        .. ", but false or a table such as { type = \"linear\", factor = 2 } is allowed")
    end
    local fields = types[value.type]
    if not fields then
      return say(field.key .. ".type", ("%s, but %s is allowed"):format(tools.show(value.type), tools.one_of(list)))
    end
    local result = { type = value.type }
    for _, name in ipairs(words.sorted_keys(value)) do
      if name ~= "type" and not fields[name] then
        say(field.key, ("%s has no field %s%s"):format(value.type, tools.show(name), tools.suggestion(say, name,
          words.sorted_keys(fields))))
      end
    end
    for _, name in ipairs(words.sorted_keys(fields)) do
      result[name] = read_field(say, field.key .. "." .. name, fields[name], value[name])
    end
    return result
  end
end
