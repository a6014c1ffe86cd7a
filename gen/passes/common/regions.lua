-- regions.lua: iterates over a plan's regions in order, whatever segment and section they are in.

--- Returns an iterator: for region, segment in all_regions(segments) do ... end.
return function(segments)
  return coroutine.wrap(function()
    for _, segment in ipairs(segments) do
      for _, section in ipairs(segment.sections) do
        for _, region in ipairs(section.regions) do coroutine.yield(region, segment) end
      end
    end
  end)
end
