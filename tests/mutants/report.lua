-- report.lua: the part of list.lua that concerns the pages that show a model. of, spec: as in list.lua.
return function(of, spec)
  of("gen/report/svg.lua", spec .. "report/svg_spec.lua") {
    { name = "report_markup", old = '["<"] = "&lt;", ', new = "",
      filter = "escaped", wrong = "names are markup on a page" },
    { name = "report_labels", old = "return not overlap(box, other)", new = "return true",
      filter = "labels", wrong = "labels lie on one another" },
  }
  of("gen/report/work.lua", spec .. "report/pictures_spec.lua") {
    { name = "report_bytes", old = "if not group.made[tensor] then", new = "do", filter = "work",
      wrong = "what stays on a tile counts as moved" },
    { name = "report_bound", old = " / 1000 / workers", new = " / 1000", filter = "work",
      wrong = "the bound of an operation is not divided among workers" },
  }
  of("gen/report/masks.lua", spec .. "report/pictures_spec.lua") {
    { name = "report_masks", old = "query + one.offset\n", new = "query\n", filter = "masks",
      wrong = "masks of models with a past are drawn as if there were none" },
  }
  of("gen/report/memory.lua", spec .. "report/pictures_spec.lua") {
    { name = "report_peak", old = "change[item.last + 1] = (change[item.last + 1] or 0) - item.bytes",
      new = "", filter = "memory map", wrong = "the peak has tensors that are gone" },
  }
  of("gen/report/roofline.lua", spec .. "report/pictures_spec.lua") {
    { name = "report_roof", old = "if point.type == subject.type then return", new = "do return", filter = "times",
      wrong = "what is in f32 is measured by the roof of int8" },
    { name = "report_alike", old = "< 0.08 end", new = "< 0.8 end", filter = "share a roof",
      wrong = "roofs that are far apart are one line" },
  }
  of("gen/report/document.lua", spec .. "report/pictures_spec.lua") {
    { name = "report_room", old = "is_first and math.huge or MOST_BYTES - bytes", new = "math.huge",
      filter = "details", wrong = "a page of many models is larger than 2 MB" },
  }
  of("gen/commands/report/maps.lua", spec .. "commands/report/maps_spec.lua") {
    { name = "report_picture", old = "not begins:match(PICTURE)", new = "false",
      filter = "maps", wrong = "another's picture is written over" },
  }
end
