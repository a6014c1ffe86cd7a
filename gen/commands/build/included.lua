-- included.lua: finds the headers of the model that one of its files includes. An object depends on no others: models
-- whose kernels are the same share them, such as those for other numbers of workers.
local included = {}

--- Returns the names of the files of `texts`, by name, that a file of it includes, itself or through others, in order.
function included.by(file, texts)
  local is_there, list = {}, {}
  local function visit(name)
    for header in texts[name]:gmatch('#%s*include%s*"([^"\n]+)"') do
      if texts[header] and not is_there[header] then
        is_there[header], list[#list + 1] = true, header
        visit(header)
      end
    end
  end
  visit(file)
  table.sort(list)
  return list
end

return included
