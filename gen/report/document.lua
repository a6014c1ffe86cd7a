-- document.lua: a report as one page. It takes subjects, one for each model, length, precision or file of bench, and
-- leaves out what they have no numbers of.
--
-- A subject has a label and, as far as there are, name, spec, state (an entry's, after all passes), work (work.of),
-- info, entry_info (of info's entries), bench (a row of bench -o json), check (an object of check --json), worst,
-- notes, files { { name, bytes } }, emitted_bytes, program_bytes, commands (of each its words), versions
-- { { name, version } }, maps (attention.lua), quality (what quality.measure returns: outputs against f32), group and
-- choice: subjects of one group are entries of one model, of which the reader chooses one by its number; is_main: the
-- one that is chosen at first.
local architecture = require("report.architecture")
local attention = require("report.attention")
local comparison = require("report.comparison")
local exactness = require("report.exactness")
local masks = require("report.masks")
local memory = require("report.memory")
local numbers = require("report.numbers")
local op_words = require("report.op_words")
local page = require("report.page")
local precision = require("data.precision")
local roofline = require("report.roofline")
local svg = require("report.svg")
local time = require("report.time")
local work = require("report.work")

local document = {}

local escape = svg.escape

local MOST_DISTURBED = 1.25 -- median by the least time
local MOST_P95 = 2          -- p95 by the median
local MOST_UNEQUAL = 1.5    -- times of layers that are alike

-- The largest time of a layer by the least, of layers with the same operations; nil of fewer than two.
local function unequal_layers(subject)
  if not subject.work or not subject.bench.profile or not subject.bench.profile.results then return nil end
  local least, most = {}, {}
  for _, section in ipairs(time.sections(subject)) do
    if work.layer(section.name) then
      local words = {}
      for i, each in ipairs(section.list) do words[i] = each.work.op.op end
      local key = table.concat(words, " ")
      least[key] = math.min(least[key] or section.ms, section.ms)
      most[key] = math.max(most[key] or section.ms, section.ms)
    end
  end
  local ratio
  for key, ms in pairs(most) do
    if least[key] > 0 then ratio = math.max(ratio or 1, ms / least[key]) end
  end
  return ratio
end

--- Returns sentences where times say more about a busy machine than about the model; nil else.
function document.disturbed(subject)
  local bench, signs = subject.bench, {}
  if not bench or not bench.ms_min then return nil end
  if bench.ms_median > MOST_DISTURBED * bench.ms_min then
    signs[1] = ("half of the calls took %s or more, the quickest %s"):format(numbers.time(bench.ms_median),
      numbers.time(bench.ms_min))
  end
  if bench.ms_p95 and bench.ms_p95 > MOST_P95 * bench.ms_median then
    signs[#signs + 1] = ("one call in twenty took %s or more, the median is %s"):format(numbers.time(bench.ms_p95),
      numbers.time(bench.ms_median))
  end
  local ratio = unequal_layers(subject)
  if ratio and ratio > MOST_UNEQUAL then
    signs[#signs + 1] = ("of two equal layers one took %s times as long as the other"):format(numbers.short(ratio, 2))
  end
  if #signs == 0 then return nil end
  return ("Other work disturbed the timing: %s. On a quiet machine times are lower."):format(table.concat(signs, "; "))
end

--- One sentence: what was checked, and how fast it is.
function document.verdict(subject)
  local parts = {}
  local check, bench = subject.check, subject.bench
  if check and check.failed == 0 then
    parts[1] = ("checked: %d tensors, the worst uses %s of its tolerance"):format(check.passed,
      numbers.short(subject.worst.share, 2))
  elseif check then
    parts[1] = ("differs from the reference: %d of %d comparisons fail"):format(check.failed,
      check.failed + check.passed)
  end
  if bench then
    parts[#parts + 1] = ("%s%s"):format(numbers.time(bench.ms_median),
      type(bench.roof_fraction) == "number" and (", %s of this machine's peak%s"):format(
        numbers.percent(bench.roof_fraction), document.disturbed(subject) and ", beside other work" or "") or "")
  else
    parts[#parts + 1] = "not timed"
  end
  return table.concat(parts, "; ")
end

local function shape_text(list)
  local texts = {}
  for i, each in ipairs(list) do
    texts[i] = ("%s %s [%s]"):format(each.name, each.type, table.concat(each.shape, " × "))
  end
  return table.concat(texts, ", ")
end

local value = page.value

local function number_fact(key, number, text) return { html = value(key, ("%.17g"):format(number), text) } end

local function summary_facts(subject)
  local info, entry, bench, spec = subject.info, subject.entry_info, subject.bench, subject.spec
  local rows = {
    { "model", { html = value("name", info.name) } },
    { "family", subject.family },
    { "entry", entry.name },
    { "inputs", shape_text(entry.inputs) },
    { "outputs", shape_text(entry.outputs) },
    { "parameters", number_fact("parameters", info.parameters, numbers.whole(info.parameters)) },
    { "layers", { html = value("layers", info.layers) .. escape((" of width %s, %s heads of %s"):format(spec.d_model,
      spec.heads, spec.head_dim)) } },
    { "precision", bench and bench.precision or "f32" },
    { "target", ("%s, %d thread%s"):format(info.target, info.threads, info.threads == 1 and "" or "s") },
    { "work of a call", number_fact("flops", entry.flops, numbers.flops(entry.flops)) },
    { "memory", { html = value("weight_bytes", info.weight_bytes, numbers.bytes(info.weight_bytes))
      .. " of packed weights, "
      .. value("arena_bytes", entry.arena_bytes, numbers.bytes(entry.arena_bytes)) .. " a context" } },
  }
  if bench then
    local texts = {}
    for i, key in ipairs { "ms_median", "ms_min", "ms_p95", "ms_p99", "gflops", "roof_fraction" } do
      texts[i] = bench[key] and value(key, ("%.17g"):format(bench[key]), numbers.short(bench[key])) or "–"
    end
    local times = ("median %s ms, least %s, p95 %s, p99 %s; %s GFLOP/s, %s of the roof"):format(table.unpack(texts))
    rows[#rows + 1] = { "time of a call", { html = times } }
    rows[#rows + 1] = { "opening", ("%s; the first call %s"):format(numbers.time(bench.open_ms),
      numbers.time(bench.first_ms)) }
  end
  local texts = {}
  for i, each in ipairs(subject.versions or {}) do texts[i] = each.name .. " " .. each.version end
  rows[#rows + 1] = { "versions", table.concat(texts, ", ") }
  return rows
end

-- HTML of a subject, which is seen where the reader has chosen it.
local function chosen(group, subject, html)
  if #group == 1 then return html end
  return page.choice(group.number, subject.choice, subject.is_main, html)
end

-- Lines of commands, each a list of words. An option's name is not broken: of --weights a line would end behind the
-- dashes.
local function commands(list)
  local lines = {}
  for i, line in ipairs(list) do
    local parts = {}
    for j, word in ipairs(line) do
      local option, text = word:match("^('?%-%-%w+=?)(.*)$")
      parts[j] = option and ('<span class="option">%s</span>%s'):format(escape(option), escape(text)) or escape(word)
    end
    lines[i] = table.concat(parts, " ")
  end
  return "<pre>" .. table.concat(lines, "\n") .. "</pre>"
end

-- Adds what all entries of a model share: its files, notes, and the commands that print its numbers.
local function add_files(parts, subject)
  local files = {}
  for i, each in ipairs(subject.files) do files[i] = { each.name, numbers.whole(each.bytes) } end
  if #files > 0 then
    parts[#parts + 1] = "<details><summary>Files, with their sizes</summary>"
      .. page.table({ { "file", words = true }, { "bytes" } }, files) .. "</details>"
  end
  for _, note in ipairs(subject.notes or {}) do parts[#parts + 1] = '<p class="soft">' .. escape(note) .. "</p>" end
  if subject.folder then
    parts[#parts + 1] = ("<p>The page was made of <code>%s</code>: info.json, check.json, bench.json.</p>"):format(
      escape(subject.folder))
  end
  parts[#parts + 1] = "<p>These print its numbers again:</p>" .. commands(subject.commands)
end

local function summary(all, groups, command)
  local parts = {}
  for _, group in ipairs(groups) do
    for _, subject in ipairs(group) do
      parts[#parts + 1] = chosen(group, subject, (#all > 1 and "<h3>" .. escape(subject.label) .. "</h3>" or "")
        .. page.facts(summary_facts(subject)))
    end
    add_files(parts, group[1])
  end
  if command then parts[#parts + 1] = "<p>This makes the page again:</p>" .. commands { command } end
  return table.concat(parts, "\n")
end

local function heading(subject, several) return several and "<h3>" .. escape(subject.label) .. "</h3>" or "" end

local function architecture_part(subject)
  local list, all_masks = subject.work, masks.of(subject.state)
  local groups, repeats = architecture.groups(list), 0
  for _, group in ipairs(groups) do if group.first then repeats = repeats + group.repeats end end
  local fused = 0
  for _, each in ipairs(list) do if each.fused then fused = fused + 1 end end
  local html = page.figure("The graph: " .. subject.label, function(width)
    return architecture.picture(subject.state, list, width)
  end, escape(("%d operations, drawn from the graph; layers that are alike are drawn once (%d in all). %d operations "
    .. "ride on the tile of another and cost no pass over memory of their own. Point at a box, or tap it, for its "
    .. "shape, bytes and flops."):format(#list, repeats, fused)),
    page.table(architecture.columns, architecture.rows(list)))
  local shown = masks.with_something_to_see(all_masks)
  if #shown == 0 then
    return html .. (#all_masks > 0 and "<p>Every query of an attention sees every key, but for what a call's own masks "
      .. "hide.</p>" or "")
  end
  local all, emitted, seen, at_run_time = 0, 0, 0, ""
  for _, one in ipairs(shown) do
    if #one.at_run_time > 0 then
      at_run_time = " What a call's own masks hide is not drawn: it differs from call to call."
    end
    seen = seen + one.visible * one.layers
    all, emitted = all + one.queries * one.keys * one.layers, emitted + one.emitted * one.layers
  end
  return html .. page.figure("Which query sees which key", function(width) return masks.picture(shown, width) end,
    escape("Queries go down, keys across. " .. (emitted == all and seen == all and "Every query sees every key."
      or ("%s of all scores are in blocks that are emitted, %s are seen. What is not emitted costs nothing; what is "
        .. "pale is computed, then masked element by element."):format(numbers.percent(emitted / all),
          numbers.percent(seen / all))) .. at_run_time), page.table(masks.columns, masks.rows(shown)))
end

-- What the level lines of the roofline are, and what has a roof that no line shows.
local function roof_text(timed)
  local parts, roofs, missing, seen = {}, roofline.roofs(timed), {}, {}
  for i, roof in ipairs(roofs) do
    parts[i] = ("%s GFLOP/s in %s"):format(numbers.short(roof.gflops), table.concat(roof.types, ", "))
  end
  for _, subject in ipairs(timed) do
    for _, point in ipairs(subject.points) do
      if not seen[point.type] and not roofline.fraction(point, subject, roofs) then
        missing[#missing + 1] = point.type
        seen[point.type] = true
      end
    end
  end
  table.sort(missing)
  return ("The level line%s the best rate of kernels here (%s%s)"):format(#parts > 1 and "s are" or " is",
    table.concat(parts, "; "), #missing > 0
    and ("; what is in %s has a roof of its own, which was not measured"):format(table.concat(missing, " or ")) or "")
end

local function roofline_part(all)
  local timed = {}
  for _, subject in ipairs(all) do
    local points = roofline.points(subject)
    if #points > 0 and subject.bench.roof_gflops > 0 then
      timed[#timed + 1] = { label = subject.label, points = points, bench = subject.bench,
        type = roofline.type_of(subject) }
    end
  end
  if #timed == 0 then return nil end
  local first, largest = timed[1], timed[1].points[1]
  for _, point in ipairs(first.points) do if point.share > largest.share then largest = point end end
  local columns, drawn = roofline.columns, roofline.drawn(timed)
  if #timed > 1 then columns = { { "of", words = true }, table.unpack(columns) } end
  local fraction = roofline.fraction(largest, first, roofline.roofs(timed))
  return page.figure("Roofline", function(width) return roofline.picture(drawn, width) end,
    escape(("Each point is an operation, all layers together; its area is its share of the time. %s, the slope what "
      .. "memory gives; a point above the slope has its operands in a cache. %s%s takes most of the time, %s of it%s. "
      .. "Row operations are counted by their additions, multiplications and polynomials.%s"):format(roof_text(timed),
      #timed > 1 and "Of " .. first.label .. ", " or "", largest.name, numbers.percent(largest.share),
      fraction and (", at %s of %s roof"):format(numbers.short(fraction, 2), #timed > 1 and "its" or "the") or "",
      #drawn < #timed and (" Of %d, %d are drawn; the table has all."):format(#timed, #drawn) or "")),
    page.table(columns, roofline.rows(timed)))
end

local function group_rows(list, total)
  local rows = {}
  for i, each in ipairs(list) do
    rows[i] = { op_words.of(each.name), numbers.short(each.ms), numbers.percent(each.ms / total) }
  end
  return rows
end

local function thread_figure(bench)
  local list, phases = time.threads(bench.profile, bench.threads)
  local lanes, working = {}, 0
  for i, each in ipairs(list) do
    if each.busy > 0 then working = working + 1 end
    lanes[i] = { each.thread == 0 and "caller" or "thread " .. each.thread, tostring(#each.parts),
      numbers.short(each.busy), numbers.short(each.waiting), numbers.percent(each.waiting / bench.profile.call_us) }
  end
  local caption = ("The fastest profiled call, %s: %d phase%s with a barrier behind each. Where a lane is dashed, a "
    .. "thread waits for the others, or has nothing to do."):format(numbers.time(bench.profile.call_us / 1000), phases,
    phases == 1 and "" or "s")
  if working < bench.threads then
    caption = caption .. (" Only %d of %d threads had a core in time."):format(working, bench.threads)
  end
  return page.figure("Threads side by side", function(width)
    return time.thread_lanes(bench.profile, bench.threads, width)
  end, escape(caption), page.table({ { "thread", words = true }, { "parts" }, { "works, µs" }, { "waits, µs" },
    { "waits" } }, lanes))
end

local function bars_figure(bench, sections)
  local total, by_op = bench.profile.profiled_ms, {}
  for i, row in ipairs(bench.profile.ops) do by_op[i] = row end
  table.sort(by_op, function(a, b) return a.ms > b.ms end)
  local most = {}
  for i = 1, math.min(2, #by_op) do
    most[i] = ("%s in “%s”"):format(numbers.percent(by_op[i].share), op_words.of(by_op[i].name))
  end
  local caption = ("A call spends %s. Times are medians of profiled calls, which take %s altogether; without the "
    .. "clock a call takes %s."):format(table.concat(most, ", "), numbers.time(total), numbers.time(bench.ms_median))
  if bench.threads > 1 then
    caption = caption .. " They are the caller's: an operation's time has what it waits for the others behind it."
  end
  return page.figure("Time by layer", function(width) return time.bars(sections, width) end, escape(caption),
    page.table({ { "section", words = true }, { "ms" }, { "share" } }, group_rows(sections, total))
      .. page.table({ { "operation", words = true }, { "ms" }, { "share" } }, group_rows(bench.profile.ops, total)))
end

local function strip_figure(section)
  local rows = {}
  for i, each in ipairs(section.list) do
    rows[i] = { each.work.name, op_words.of(each.work.op.op), numbers.short(each.ms),
      each.work.fused and each.work.fused.result.name or "" }
  end
  return page.figure("One layer in order of execution", function(width) return time.strip(section, width) end,
    escape(("From the first operation of %s to the last; a piece is as wide as it lasts. Operations on another's tile "
      .. "are in its piece."):format(section.name)),
    page.table({ { "tensor", words = true }, { "operation", words = true }, { "ms" },
      { "in the piece of", words = true } }, rows))
end

local function percentile_figure(bench)
  local list, rows = bench.ms_percentiles, {}
  for i, ms in ipairs(list) do
    rows[i] = { ("%d%%"):format((i - 1) * 100 // (#list - 1)), numbers.short(ms, 4) }
  end
  return page.figure("Percentiles of calls", function(width) return time.percentiles(bench, width) end,
    escape(("%d samples: half take no longer than %s, 95 of 100 no longer than %s; the longest took %s. A flat line "
      .. "means that calls are alike; a steep end, that other work disturbed some.%s"):format(bench.reps,
      numbers.time(bench.ms_median), numbers.time(bench.ms_p95), numbers.time(list[#list]),
      list[#list] > time.MOST_OF_MEDIAN * bench.ms_median
      and (" Above %d medians the line is cut off."):format(time.MOST_OF_MEDIAN) or "")),
    page.table({ { "of calls", words = true }, { "ms, at most" } }, rows))
end

local function bound_figure(bench, list)
  local rows = {}
  for i, each in ipairs(list) do
    rows[i] = { each.role, tostring(each.count), numbers.short(each.ms), numbers.short(each.bound),
      numbers.percent(each.bound / each.ms) }
  end
  return page.figure("Bound against measured", function(width) return time.bound_bars(list, width) end,
    escape(("The bound is the time that the best tiles and row operations would take, each by itself: %s in all, %s of "
      .. "the %s of a call. A short lower bar is a part that could be faster; above 100%% a part is faster "
      .. "in the model than by itself."):format(numbers.time(bench.bound_ms), numbers.percent(bench.bound_fraction),
      numbers.time(bench.ms_median))),
    page.table({ { "operation", words = true }, { "times" }, { "ms" }, { "bound, ms" }, { "bound / ms" } }, rows))
end

local function time_part(subject)
  local bench = subject.bench
  if not bench or not bench.profile or not subject.work then return nil end
  local sections = time.sections(subject)
  local parts = { bars_figure(bench, sections), strip_figure(time.longest(sections)) }
  if bench.ms_percentiles then parts[#parts + 1] = percentile_figure(bench) end
  if bench.profile.parts then parts[#parts + 1] = thread_figure(bench) end
  local list = time.against_bound(subject)
  if #list > 0 and type(bench.bound_ms) == "number" then parts[#parts + 1] = bound_figure(bench, list) end
  return table.concat(parts, "\n")
end

local function weights_caption(spec, bytes, parameters, plain, constants)
  local text = ("%s packed for %s parameters"):format(numbers.bytes(bytes), numbers.whole(parameters))
  if precision.is_plain(spec.precision) then
    text = text .. (", which alone are %s as float32"):format(numbers.bytes(plain))
  else
    text = text .. (", which alone are %s in the number types of %s (%s as float32)"):format(numbers.bytes(plain),
      precision.text(spec.precision), numbers.bytes(4 * parameters))
  end
  local padding = bytes - plain - constants
  if constants > 0 then text = text .. ("; %s more are constants"):format(numbers.bytes(constants)) end
  return text .. (padding > 0 and ("; %s are padding of panels."):format(numbers.bytes(padding))
    or "; nothing is padding.")
end

local function memory_part(subject)
  local map = memory.map(subject.state)
  local rows, left_out = memory.rows(map.items)
  local names = {}
  for i, item in ipairs(map.peak.list) do
    if i <= 6 then names[i] = ("%s (%s)"):format(item.name, numbers.bytes(item.bytes)) end
  end
  local text = ("The arena has %s. Most is live at step %s: %s, made of %s%s. "):format(numbers.bytes(map.bytes),
    numbers.whole(map.peak.step), numbers.bytes(map.peak.bytes), table.concat(names, ", "),
    #map.peak.list > 6 and (" and %d more"):format(#map.peak.list - 6) or "")
  if map.threads > 1 then text = text
    .. ("Each of %d workers has a part of its own; the first is drawn. "):format(map.threads) end
  local html = page.figure("Memory map", function(width) return memory.picture(map, width) end,
    escape(text .. "A tensor's rectangle lies where its bytes lie, as long as it is needed; what makes the peak has "
      .. "the fuller colour."),
    page.table(memory.columns, rows, left_out > 0 and ("the first %d by offset; %d more"):format(#rows, left_out)
      or nil))
  local first, last = memory.around_peak(map)
  if first then
    html = html .. page.figure("Memory around the peak", function(width)
      return memory.picture(map, width, first, last)
    end, escape(("The same map from step %s to %s. The peak of %s has %d tensors, which the table lists."):format(
      numbers.whole(first), numbers.whole(last), numbers.bytes(map.peak.bytes), #map.peak.list)),
      page.table(memory.columns, (memory.rows(map.peak.list))))
  end
  local weights, bytes, parameters, plain, constants = memory.weights(subject.state), 0, 0, 0, 0
  local list = {}
  for i, row in ipairs(weights) do
    bytes, parameters, plain = bytes + row.bytes, parameters + row.parameters, plain + row.plain_bytes
    constants = constants + row.constant_bytes
    list[i] = { row.name, numbers.whole(row.bytes), numbers.whole(row.parameters) }
  end
  if #weights == 0 then return html end
  return html .. page.figure("Weights by layer", function(width) return memory.weight_bars(weights, width) end,
    escape(weights_caption(subject.spec, bytes, parameters, plain, constants)),
    page.table({ { "layer", words = true }, { "packed bytes" }, { "parameters" } }, list))
end

-- The outputs of a number type against f32; of one for which that was not measured, why.
local function quality_figure(subject)
  if precision.is_plain(subject.spec.precision) then return "" end
  local given = precision.text(subject.spec.precision)
  if not subject.quality then
    return subject.is_main and ("<p>How far the outputs are from those in f32 is not known: the weights are random, of "
      .. "which no such number means anything. With <code>--weights</code> it is measured. The reference above rounds "
      .. "as %s does, so that its tolerances do not have what %s loses.</p>"):format(escape(given), escape(given)) or ""
  end
  local outputs = subject.quality.outputs
  local worst
  for _, row in ipairs(outputs) do
    if row.cosine and (not worst or row.cosine < worst.cosine) then worst = row end
  end
  local caption = "What the number type loses: the outputs beside those of the same model in f32, for the same inputs. "
  if worst then
    caption = caption .. ("%s has a cosine of %.6f%s%s. "):format(#outputs > 1 and "The least alike, " .. worst.name
      .. "," or "The output " .. worst.name, worst.cosine,
      worst.relative and " and a relative error of " .. numbers.short(worst.relative) or "", worst.top
      and ("; %.1f%% of its rows have their largest number at the same place"):format(100 * worst.top) or "")
  end
  return page.figure(given .. " against f32", function(width) return exactness.quality_picture(outputs, width) end,
    escape(caption .. "The reference above rounds as the model does, and has none of this."),
    page.table(exactness.quality_columns, exactness.quality_rows(outputs)))
end

local function exactness_part(subject)
  local check = subject.check
  if not check then return nil end
  local rows, others = exactness.rows(check)
  local listed, left_out = exactness.table(check)
  local exact, end_to_end = 0, nil
  for _, row in ipairs(rows) do if row.error == 0 then exact = exact + 1 end end
  for _, row in ipairs(others) do
    if row.name:find("end to end", 1, true) and (not end_to_end
      or row.share > end_to_end.share) then end_to_end = row end
  end
  local caption = ("%d tensors of the graph against a reference that computes in double, each from its own operands, "
    .. "and %d comparisons of whole calls, which are in the table. A dot is the error of the tensor's worst element "
    .. "as a share of its tolerance: at 1 it would fail. %d are exact. "):format(#rows, #others, exact)
  local largest = exactness.largest(rows)
  if largest then
    caption = caption .. ("By length, the tensor farthest from the reference is %s: %s of its own length. "):format(
      largest.name, numbers.short(largest.rel_l2, 2))
  end
  if end_to_end then
    caption = caption .. ("End to end, the outputs use at most %s of their "
      .. "tolerance."):format(numbers.short(end_to_end.share, 2))
  end
  return page.figure("Errors beside tolerances", function(width)
    return exactness.picture(rows, width)
  end, escape(caption) .. (" <span class=\"soft\">%s passed, %s failed.</span>"):format(value("passed", check.passed),
    value("failed", check.failed)), page.table(exactness.columns, listed, left_out > 0
    and ("those that use most of their tolerance; %d more"):format(left_out) or nil)) .. quality_figure(subject)
end

local function comparison_part(all)
  local html
  if #all == 1 then
    local _, _, same = comparison.several(all)
    html = page.facts(same)
  elseif #all == 2 then
    html = page.table(comparison.pair(all))
      .. '<p class="soft">Rows in bold differ. Better and worse: by more than two per cent.</p>'
  else
    local columns, rows, same = comparison.several(all)
    html = page.table(columns, rows) .. "<details><summary>What is the same of all</summary>" .. page.facts(same)
      .. "</details>"
  end
  if #comparison.operations(all) == 0 then return html end
  local operation_columns, operation_rows = comparison.operation_table(all)
  return html .. page.figure("Operations side by side", function(width) return comparison.bars(all, width) end,
    "Time of a call by operation, a bar each: medians of profiled calls.",
    page.table(operation_columns, operation_rows))
end

--- The row of a check that uses most of its tolerance.
function document.worst(check) return exactness.worst(check) end

local MOST_BYTES = 1900000 -- of a page: details of subjects are left out above that

-- The parts that each subject with details has for itself: id, title, html(subject).
local own_parts = {
  { "architecture", "Architecture", architecture_part }, { "time", "Time", time_part },
  { "memory", "Memory", memory_part }, { "exactness", "Exactness", exactness_part },
  { "attention", "Attention", attention.part },
}

-- Adds the parts of a subject to lists (id -> list of HTML); returns their bytes. Adds nothing, and returns nil, where
-- they have more than `most` bytes.
local function add_parts(lists, group, subject, several, most)
  local parts, sum = {}, 0
  for _, part in ipairs(own_parts) do
    local html = part[3](subject)
    if html then
      html = heading(subject, several) .. html
      -- Pictures of attention are of one entry, whichever is chosen.
      parts[part[1]] = part[1] == "attention" and html or chosen(group, subject, html)
      sum = sum + #html
    end
  end
  if sum > most then return nil end
  for id, html in pairs(parts) do
    lists[id] = lists[id] or {}
    table.insert(lists[id], html)
  end
  return sum
end

--- Returns the parts of groups of subjects by id, each a list of HTML, and the labels of those for which a page of so
--- many bytes has no capacity. The first subject is always there. Each group begins with its main subject.
function document.details(groups, bytes)
  local lists, left_out, turn, most = {}, {}, 1, 0
  local several = #groups > 1 or groups[1] and #groups[1] > 1
  for _, group in ipairs(groups) do most = math.max(most, #group) end
  while turn <= most do -- the main ones come before the others
    for g, group in ipairs(groups) do
      local subject = group[turn]
      local is_first = g == 1 and turn == 1
      local sum = subject and add_parts(lists, group, subject, several, is_first and math.huge or MOST_BYTES - bytes)
      if subject and not sum then left_out[#left_out + 1] = subject.label end
      bytes = bytes + (sum or 0)
    end
    turn = turn + 1
  end
  return lists, left_out
end

-- The control by which the reader chooses one of a group.
local function chooser(group, several)
  if #group == 1 then return nil end
  local options = {}
  for k, subject in ipairs(group) do options[k] = { choice = subject.choice, label = subject.label } end
  table.sort(options, function(a, b) return a.choice < b.choice end)
  return page.chooser(group.number, several and "Numbers and pictures of " or "Numbers and pictures of an entry: ",
    options, group[1].choice)
end

-- What stands above the parts: a verdict for each subject, and the choice among entries.
local function lead_of(all, groups, left_out)
  local lead = {}
  for _, group in ipairs(groups) do
    for _, subject in ipairs(group) do
      local bad = subject.check and subject.check.failed > 0
      local label = #all > 1 and "<b>" .. escape(subject.label) .. ":</b> " or ""
      local disturbed = document.disturbed(subject)
      lead[#lead + 1] = chosen(group, subject, ('<p class="verdict%s">%s%s.</p>'):format(bad and " bad" or "", label,
        escape(document.verdict(subject))) .. (disturbed and '<p class="soft">' .. label .. escape(disturbed) .. "</p>"
        or ""))
    end
    lead[#lead + 1] = chooser(group, #groups > 1)
  end
  if #left_out > 0 then
    lead[#lead + 1] = ('<p class="soft">A page of them all would be larger than 2 MB: pictures of %s are left out. A '
      .. "report of each by itself has them.</p>"):format(escape(table.concat(left_out, ", ")))
  end
  return table.concat(lead, "\n")
end

-- The subjects as groups, each a list that begins with its main subject: { number, subject .. }.
local function groups_of(all)
  local groups, by_number = {}, {}
  for _, subject in ipairs(all) do
    local group = subject.group and by_number[subject.group]
    if not group then
      group = { number = #groups + 1 }
      groups[#groups + 1] = group
      if subject.group then by_number[subject.group] = group end
    end
    table.insert(group, subject.is_main and 1 or #group + 1, subject)
  end
  return groups
end

--- The page of subjects. title: of the page; command: the words, quoted for a shell, that make it. Subjects with
--- is_main have details; others are compared only.
function document.html(all, title, command)
  local groups, with_info = groups_of(all), {}
  for _, group in ipairs(groups) do if group[1].info then with_info[#with_info + 1] = group end end
  local sections, bytes = {}, 0
  local function add(id, heading_text, html)
    if not html or html == "" then return end
    sections[#sections + 1] = { id = id, title = heading_text, html = html }
    bytes = bytes + #html
  end
  if #all > 1 then add("comparison", "Comparison", comparison_part(all)) end
  if #with_info == 0 and #all == 1 then add("comparison", "Numbers", comparison_part(all)) end
  add("summary", "Summary", summary(all, with_info, command))
  local roof = roofline_part(all) or ""
  local lists, left_out = document.details(with_info, bytes + #roof)
  for i, part in ipairs(own_parts) do
    add(part[1], part[2], lists[part[1]] and table.concat(lists[part[1]], "\n"))
    if i == 1 then add("roofline", "Roofline", roof) end
  end
  return page.document(title, lead_of(all, groups, left_out), sections,
    '<p class="soft">A page without network: all that it shows is in it.</p>')
end

return document
