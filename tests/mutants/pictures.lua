-- pictures.lua: the part of list.lua that concerns pictures: files that are decoded, turned, resized and prepared.
-- of: as in list.lua.
return function(of)
  of("runtime/picture/decode_jpeg.c", "c:picture") {
    { name = "jpeg_inks", old = "without_ink(255 - from[4 * x + i]", new = "without_ink(from[4 * x + i]",
      filter = "picture/decoded*", wrong = "pictures of four inks are negatives" },
    { name = "jpeg_orientation", old = "exif_name, 6) == 0", new = "exif_name, 6) == 99", filter = "picture/decoded*",
      wrong = "JPEG files with Exif are not turned" },
  }

  of("runtime/picture/decode_png.c", "c:picture") {
    { name = "png_wide", old = "from[2 * x] ? 255 : from[2 * x + 1]", new = "from[2 * x]", filter = "picture/decoded*",
      wrong = "grey with 16 bits is not cut as Pillow cuts it" },
    { name = "png_shallow", old = "j->depth < 8 ? 255 / ((1 << j->depth) - 1) : 1", new = "1",
      filter = "picture/decoded*", wrong = "grey with fewer than 8 bits is dark" },
    { name = "png_texts", old = "(j->png, MOST_TEXTS)", new = "(j->png, 0)",
      filter = "picture/many_texts", wrong = "a small file of many texts takes a gigabyte" },
  }

  of("runtime/picture/decoding.c", "c:picture") {
    { name = "decoding_pixels", old = " || height > ATTN2C_MOST_PIXELS / width)", new = ")", filter = "picture/sizes",
      wrong = "width times height has no limit" },
    { name = "decoding_turned", old = " && !attn2c_picture_fits(of->facts, h, w))", new = ")",
      filter = "picture/sizes_of_models", wrong = "a picture that fits once it is turned is refused" },
  }

  of("runtime/picture/orientation.c", "c:picture") {
    { name = "orientation_big", old = "of->is_big ? width - 1 - i : i", new = "i", filter = "picture/decoded*",
      wrong = "Exif data with the largest byte first is not understood" },
    { name = "orientation_xmp", old = "if (found == 0) found =", new = "if (found == 99) found =",
      filter = "picture/decoded*", wrong = "pictures with an orientation in XMP are not turned" },
  }

  of("runtime/picture/picture.c", "c:picture") {
    { name = "picture_turn", old = "[6] = {1, 0, 1}", new = "[6] = {1, 1, 0}", filter = "picture/decoded*",
      wrong = "a picture is turned the wrong way" },
  }

  of("runtime/picture/prepare.c", "c:picture") {
    { name = "prepare_torchvision", old = "size - to + !facts->keeps_fractions",
      new = "size - to + facts->keeps_fractions",
      filter = "picture/border*", wrong = "a border is where Pillow's processors have it, not torchvision's" },
    { name = "prepare_between", old = "edge = (double)(most * *shorter) / (double)*longer", new = "edge = (double)most",
      filter = "picture/sizes*", wrong = "the longest edge is not kept" },
    { name = "prepare_pad", old = ": facts->pads ? 0", new = ": facts->pads ? value_of(facts, plane, 0)",
      filter = "picture/pads*", wrong = "what is padded is normalised" },
    { name = "prepare_grid", old = "if (patches <= facts->most)", new = "if (patches < facts->most)",
      filter = "picture/as_many*", wrong = "pictures never become the most patches" },
    { name = "prepare_patches", old = "patch / across * side + line", new = "patch / across * side + line / side",
      filter = "picture/patches*", wrong = "all rows of a patch are its first" },
    { name = "prepare_shortest", old = "if (width <= height)", new = "if (width >= height)", filter = "picture/fits",
      wrong = "the longest edge gets the size of the shortest" },
  }

  of("runtime/picture/resample.c", "c:picture") {
    { name = "resample_order", old = "> 2 * (x->from - x->to)", new = "> x->from - x->to",
      filter = "picture/resized*", wrong = "rows are resized first where that saves little" },
    { name = "resample_window", old = "of->spans[r].first - begin) * step", new = "of->spans[r].first) * step",
      filter = "picture/resized*", wrong = "a window of rows reads others than its own" },
    { name = "resample_columns", old = "from[ATTN2C_PLANES * k]", new = "from[ATTN2C_PLANES * (k / 2)]",
      filter = "picture/*fractions*", wrong = "columns are summed with the weights of others" },
    { name = "resample_nearest", old = "double at = scale * 0.5;", new = "double at = 0;",
      filter = "picture/resized*", wrong = "the nearest input is the one of the left edge" },
    { name = "resample_rounding", old = "weight < 0 ? weight - 0.5 : weight + 0.5", new = "weight + 0.5",
      filter = "picture/resized*", wrong = "negative weights are rounded up" },
  }
end
