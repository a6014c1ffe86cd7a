-- document.lua: writes a report as one page, from subjects: a model, length, precision or file of bench each.
-- It leaves out the parts for which a subject has no numbers.
--
-- A subject has a label and optionally:
--
--   name, spec, state            of the model; state is an entry's, after all passes
--   work                         the result of work.of
--   info, entry_info             the program's info, and the entry's part of it
--   bench, check, worst          a row of bench -o json, an object of check --json, and its worst row
--   notes, commands              lines; commands as lists of words
--   files, versions              { { name, bytes } }; { { name, version } }
--   emitted_bytes, program_bytes
--   maps                         attention weights (attention.lua)
--   quality                      the result of quality.measure: outputs against f32
--   group, choice                subjects of one group are entries of one model; the reader chooses one by `choice`
--   is_main                      true for the entry of a group that is chosen at first
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
local scale_blocks = require("data.scale_blocks")
local ranks = require("report.ranks")
local roofline = require("report.roofline")
local svg = require("report.svg")
local time = require("report.time")
local words = require("common.words")
local work = require("report.work")

local document = {}

local escape = svg.escape

local MOST_DISTURBED = 1.25 -- ratio of the median to the least time
local MOST_P95 = 2          -- ratio of p95 to the median
local MOST_UNEQUAL = 1.5    -- ratio of the times of equal layers

-- Returns the ratio of the largest to the least time of equal layers, or nil if there are fewer than two.
local function unequal_layers(subject)
  if not subject.work or not subject.bench.profile or not subject.bench.profile.results then return nil end
  local least, most = {}, {}
  for _, section in ipairs(time.sections(subject)) do
    if work.layer(section.name) then
      local key = table.concat(words.map(section.list, function(each) return each.work.op.op end), " ")
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

--- Returns a warning if other work on the machine has disturbed the times, else nil.
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
    signs[#signs + 1] = ("one layer took %s times as long as an equal one"):format(numbers.short(ratio, 2))
  end
  if #signs == 0 then return nil end
  return ("Other work disturbed the timing: %s. On a quiet machine times are lower."):format(table.concat(signs, "; "))
end

--- Returns one sentence: the result of the check, and the model's speed.
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
        numbers.percent(bench.roof_fraction), document.disturbed(subject) and ", disturbed by other work" or "") or "")
  else
    parts[#parts + 1] = "not timed"
  end
  return table.concat(parts, "; ")
end

local function shape_text(list)
  return table.concat(words.map(list, function(each)
    return ("%s %s [%s]"):format(each.name, each.type, table.concat(each.shape, " × "))
  end), ", ")
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
      .. value("arena_bytes", entry.arena_bytes, numbers.bytes(entry.arena_bytes)) .. " per context" } },
  }
  if bench then
    local texts = {}
    for i, key in ipairs { "ms_median", "ms_min", "ms_p95", "ms_p99", "gflops", "roof_fraction" } do
      local format = key == "roof_fraction" and numbers.percent or numbers.short
      texts[i] = bench[key] and value(key, ("%.17g"):format(bench[key]), format(bench[key])) or "–"
    end
    local times = ("median %s ms, least %s, p95 %s, p99 %s; %s GFLOP/s, %s of this machine's peak"):format(
      table.unpack(texts))
    rows[#rows + 1] = { "time of a call", { html = times } }
    rows[#rows + 1] = { "opening", ("%s; the first call %s"):format(numbers.time(bench.open_ms),
      numbers.time(bench.first_ms)) }
  end
  local texts = words.map(subject.versions or {}, function(each) return each.name .. " " .. each.version end)
  rows[#rows + 1] = { "versions", table.concat(texts, ", ") }
  return rows
end

-- Returns the HTML of a subject, which is visible if the reader has chosen the subject.
local function chosen(group, subject, html)
  if #group == 1 then return html end
  return page.choice(group.number, subject.choice, subject.is_main, html)
end

-- Returns lines of commands, each a list of words. An option's name is kept together: a line would otherwise end after
-- the dashes of --weights.
local function commands(list)
  local lines = words.map(list, function(line)
    local parts = {}
    for j, word in ipairs(line) do
      local option, text = word:match("^('?%-%-%w+=?)(.*)$")
      parts[j] = option and ('<span class="option">%s</span>%s'):format(escape(option), escape(text)) or escape(word)
    end
    return table.concat(parts, " ")
  end)
  return "<pre>" .. table.concat(lines, "\n") .. "</pre>"
end

-- Adds the texts that all entries of a model share: its files, notes, and the commands that print its numbers.
local function add_files(parts, subject)
  local files = words.map(subject.files, function(each) return { each.name, numbers.whole(each.bytes) } end)
  if #files > 0 then
    parts[#parts + 1] = "<details><summary>Files, with their sizes</summary>"
      .. page.table({ { "file", words = true }, { "bytes" } }, files) .. "</details>"
  end
  for _, note in ipairs(subject.notes or {}) do parts[#parts + 1] = '<p class="soft">' .. escape(note) .. "</p>" end
  if subject.folder then
    parts[#parts + 1] = "<p>The page was made from files in <code>" .. escape(subject.folder)
      .. "</code>: info.json, check.json, bench.json.</p>"
  end
  parts[#parts + 1] = "<p>These commands print its numbers again:</p>" .. commands(subject.commands)
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
  if command then parts[#parts + 1] = "<p>This command makes the page again:</p>" .. commands { command } end
  return table.concat(parts, "\n")
end

local function heading(subject, several) return several and "<h3>" .. escape(subject.label) .. "</h3>" or "" end

local function architecture_part(subject)
  local list, all_masks = subject.work, masks.of(subject.state)
  local repeats = words.sum(architecture.groups(list), function(group) return group.first and group.repeats or 0 end)
  local fused = #words.filter(list, function(each) return each.fused end)
  local html = page.figure("The graph: " .. subject.label, function(width)
    return architecture.picture(subject.state, list, width)
  end, escape(("The graph has %d operations. Equal layers are drawn once (%d in all). %d operations are done on the "
    .. "tile of another and need no pass over memory of their own. Point at a box, or tap it, for its shape, bytes and "
    .. "flops."):format(#list, repeats, fused)),
    page.table(architecture.columns, architecture.rows(list)))
  local shown = masks.with_something_to_see(all_masks)
  if #shown == 0 then
    return html .. (#all_masks > 0 and "<p>Every query of an attention sees every key, except those that a call's own "
      .. "masks hide.</p>" or "")
  end
  local all, emitted, seen, at_run_time = 0, 0, 0, ""
  for _, one in ipairs(shown) do
    if #one.at_run_time > 0 then at_run_time = " A call's own masks are not drawn: they differ from call to call." end
    seen = seen + one.visible * one.layers
    all, emitted = all + one.queries * one.keys * one.layers, emitted + one.emitted * one.layers
  end
  return html .. page.figure("Which query sees which key", function(width) return masks.picture(shown, width) end,
    escape("Queries go down, keys across. " .. (emitted == all and seen == all and "Every query sees every key."
      or ("%s of all scores are in emitted blocks, %s are seen. Blocks that are not emitted cost nothing. Pale scores "
        .. "are computed, then masked element by element."):format(numbers.percent(emitted / all),
          numbers.percent(seen / all))) .. at_run_time), page.table(masks.columns, masks.rows(shown)))
end

-- Returns a sentence about the level lines of the roofline, and the number types whose roof no line shows.
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
  return ("The level line%s this machine's peak, the best rate of kernels (%s%s)"):format(#parts > 1 and "s are"
    or " is", table.concat(parts, "; "), #missing > 0
    and ("; the peak of %s was not measured"):format(table.concat(missing, " and of ")) or "")
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
    escape(("Each point is an operation, all layers together; its area is its share of the time. %s. The slope is the "
      .. "rate that memory allows; a point above it has its operands in a cache. %s%s takes most of the time, %s%s. "
      .. "Row operations are counted by their additions, multiplications and polynomials.%s"):format(roof_text(timed),
      #timed > 1 and "In " .. first.label .. ", " or "", largest.name, numbers.percent(largest.share),
      fraction and (", at %s of its peak"):format(numbers.percent(fraction)) or "",
      #drawn < #timed and (" %d of %d are drawn; the table has all."):format(#drawn, #timed) or "")),
    page.table(columns, roofline.rows(timed)))
end

local function group_rows(list, total)
  return words.map(list, function(each)
    return { op_words.of(each.name), numbers.short(each.ms), numbers.percent(each.ms / total) }
  end)
end

local function thread_figure(bench)
  local list, phases = time.threads(bench.profile, bench.threads)
  local lanes, working = {}, 0
  for i, each in ipairs(list) do
    if each.busy > 0 then working = working + 1 end
    lanes[i] = { each.thread == 0 and "caller" or "thread " .. each.thread, tostring(#each.parts),
      numbers.short(each.busy), numbers.short(each.waiting), numbers.percent(each.waiting / bench.profile.call_us) }
  end
  local caption = ("The fastest profiled call takes %s in %d phase%s with a barrier after each. A dashed lane is a "
    .. "thread that waits for the others, or has nothing to do."):format(numbers.time(bench.profile.call_us / 1000),
    phases, phases == 1 and "" or "s")
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
  local caption = ("A call spends %s. Times are medians of profiled calls, which take %s in all; without the clock a "
    .. "call takes %s."):format(table.concat(most, ", "), numbers.time(total), numbers.time(bench.ms_median))
  if bench.threads > 1 then
    caption = caption .. " They are the calling thread's: an operation's time includes the wait for other threads "
      .. "after it."
  end
  return page.figure("Time by layer", function(width) return time.bars(sections, width) end, escape(caption),
    page.table({ { "section", words = true }, { "ms" }, { "share" } }, group_rows(sections, total))
      .. page.table({ { "operation", words = true }, { "ms" }, { "share" } }, group_rows(bench.profile.ops, total)))
end

local function strip_figure(section)
  local rows = words.map(section.list, function(each)
    return { each.work.name, op_words.of(each.work.op.op), numbers.short(each.ms),
      each.work.fused and each.work.fused.result.name or "" }
  end)
  return page.figure("One layer in order of execution", function(width) return time.strip(section, width) end,
    escape(("The operations of %s from the first to the last; a piece is as wide as its time. Operations on another's "
      .. "tile are in its piece."):format(section.name)),
    page.table({ { "tensor", words = true }, { "operation", words = true }, { "ms" },
      { "in the piece of", words = true } }, rows))
end

local function percentile_figure(bench)
  local list, rows = bench.ms_percentiles, {}
  for i, ms in ipairs(list) do rows[i] = { ("%d%%"):format((i - 1) * 100 // (#list - 1)), numbers.short(ms, 4) } end
  return page.figure("Percentiles of calls", function(width) return time.percentiles(bench, width) end,
    escape(("%d samples: half take at most %s, 95 of 100 at most %s, the longest %s. A flat line means that calls take "
      .. "equal times; a steep end means that other work disturbed some.%s"):format(bench.reps,
      numbers.time(bench.ms_median), numbers.time(bench.ms_p95), numbers.time(list[#list]),
      list[#list] > time.MOST_OF_MEDIAN * bench.ms_median
      and (" Above %d medians the line is cut off."):format(time.MOST_OF_MEDIAN) or "")),
    page.table({ { "of calls", words = true }, { "ms, at most" } }, rows))
end

local function bound_figure(bench, list)
  local rows = words.map(list, function(each)
    return { each.role, tostring(each.count), numbers.short(each.ms), numbers.short(each.bound),
      numbers.percent(each.bound / each.ms) }
  end)
  return page.figure("Bound against measured", function(width) return time.bound_bars(list, width) end,
    escape(("The bound is the time that the best tiles and row operations take when each runs by itself: %s, %s of "
      .. "the %s of a call. A part with a short lower bar could be faster. A part above 100%% is faster in the model "
      .. "than by itself."):format(numbers.time(bench.bound_ms), numbers.percent(bench.bound_fraction),
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
  if precision.is_plain(spec.precision) and not spec.weights then
    text = text .. (", which are %s as float32"):format(numbers.bytes(plain))
  else
    text = text .. (", which are %s in the number types of %s (%s as float32)"):format(numbers.bytes(plain),
      scale_blocks.text_of(spec.precision, spec.weights), numbers.bytes(4 * parameters))
  end
  local padding = bytes - plain - constants
  if constants > 0 then text = text .. ("; constants take %s more"):format(numbers.bytes(constants)) end
  return text .. (padding > 0 and ("; padding of panels takes %s."):format(numbers.bytes(padding))
    or "; there is no padding.")
end

local function memory_part(subject)
  local map = memory.map(subject.state)
  local rows, left_out = memory.rows(map.items)
  local names = {}
  for i, item in ipairs(map.peak.list) do
    if i <= 6 then names[i] = ("%s (%s)"):format(item.name, numbers.bytes(item.bytes)) end
  end
  local text = ("The arena has %s. The peak is at step %s: %s, made of %s%s. "):format(numbers.bytes(map.bytes),
    numbers.whole(map.peak.step), numbers.bytes(map.peak.bytes), table.concat(names, ", "),
    #map.peak.list > 6 and (" and %d more"):format(#map.peak.list - 6) or "")
  if map.threads > 1 then text = text
    .. ("Each of %d workers has its own part; the first worker's is drawn. "):format(map.threads) end
  local html = page.figure("Memory map", function(width) return memory.picture(map, width) end,
    escape(text .. "A rectangle shows the offsets of a tensor's bytes, and the steps during which it is needed. The "
      .. "tensors of the peak have a stronger colour."),
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
  local list = words.map(weights, function(row)
    bytes, parameters, plain = bytes + row.bytes, parameters + row.parameters, plain + row.plain_bytes
    constants = constants + row.constant_bytes
    return { row.name, numbers.whole(row.bytes), numbers.whole(row.parameters) }
  end)
  if #weights == 0 then return html end
  return html .. page.figure("Weights by layer", function(width) return memory.weight_bars(weights, width) end,
    escape(weights_caption(subject.spec, bytes, parameters, plain, constants)),
    page.table({ { "layer", words = true }, { "packed bytes" }, { "parameters" } }, list))
end

-- Returns a figure of the outputs of a number type against f32, or the reason why that was not measured.
local function quality_figure(subject)
  local spec = subject.spec
  if precision.is_plain(spec.precision) and not spec.weights then return "" end
  local given = scale_blocks.text_of(spec.precision, spec.weights)
  if not subject.quality then
    return subject.is_main and ("<p>The outputs' distance from those in f32 is not measured, because the weights are "
      .. "random and it would mean nothing. Use <code>--weights</code> to measure it. The reference above rounds as %s "
      .. "does, so that its errors do not include the loss of %s.</p>"):format(escape(given), escape(given)) or ""
  end
  local outputs = subject.quality.outputs
  local worst
  for _, row in ipairs(outputs) do
    if row.cosine and (not worst or row.cosine < worst.cosine) then worst = row end
  end
  local caption = "The loss of the number type: the outputs against the outputs in f32, for the same inputs. "
  if worst then
    caption = caption .. ("%s has a cosine of %.6f%s%s. "):format(#outputs > 1 and "The least similar output, "
      .. worst.name .. "," or "The output " .. worst.name, worst.cosine,
      worst.relative and " and a relative error of " .. numbers.short(worst.relative) or "", worst.top
      and ("; %.1f%% of its rows have their largest number in the same place"):format(100 * worst.top) or "")
  end
  return page.figure(given .. " against f32", function(width) return exactness.quality_picture(outputs, width) end,
    escape(caption .. "The reference above rounds as the model does, so that its errors do not include this loss."),
    page.table(exactness.quality_columns, exactness.quality_rows(outputs)))
end

local function exactness_part(subject)
  local check = subject.check
  if not check then return nil end
  local rows, others = exactness.rows(check)
  local listed, left_out = exactness.table(check)
  local exact, end_to_end = #words.filter(rows, function(row) return row.error == 0 end), nil
  for _, row in ipairs(others) do
    if row.name:find("end to end", 1, true) and (not end_to_end
      or row.share > end_to_end.share) then end_to_end = row end
  end
  local caption = ("%d tensors of the graph are compared with a reference that computes in double, each from its own "
    .. "operands. The table also has %d comparisons of whole calls. A dot is the error of the tensor's worst element "
    .. "as a share of its tolerance; above 1 the check fails. %d are exact. "):format(#rows, #others, exact)
  local largest = exactness.largest(rows)
  if largest then
    caption = caption .. ("The largest relative error in L2 norm is that of %s: %s. "):format(
      largest.name, numbers.short(largest.rel_l2, 2))
  end
  if end_to_end then
    caption = caption .. ("End to end, the outputs use at most %s of their "
      .. "tolerance."):format(numbers.short(end_to_end.share, 2))
  end
  return page.figure("Errors and tolerances", function(width)
    return exactness.picture(rows, width)
  end, escape(caption) .. (" <span class=\"soft\">%s passed, %s failed.</span>"):format(value("passed", check.passed),
    value("failed", check.failed)), page.table(exactness.columns, listed, left_out > 0
    and ("the rows that use most of their tolerance; %d more"):format(left_out) or nil)) .. quality_figure(subject)
end

local function comparison_part(all)
  local html
  if #all == 1 then
    local _, _, same = comparison.several(all)
    html = page.facts(same)
  elseif #all == 2 then
    html = page.table(comparison.pair(all))
      .. '<p class="soft">Rows in bold differ. Better and worse mean by more than 2%.</p>'
  else
    local columns, rows, same = comparison.several(all)
    html = page.table(columns, rows) .. "<details><summary>Numbers that are the same for all</summary>"
      .. page.facts(same) .. "</details>"
  end
  if #comparison.operations(all) == 0 then return html end
  local operation_columns, operation_rows = comparison.operation_table(all)
  return html .. page.figure("Operations side by side", function(width) return comparison.bars(all, width) end,
    "Time of a call by operation, one bar per subject: medians of profiled calls.",
    page.table(operation_columns, operation_rows))
end

--- Returns the row of a check that uses most of its tolerance.
function document.worst(check) return exactness.worst(check) end

local MOST_BYTES = 1900000 -- bytes of a page, above which details of subjects are left out

-- The sections that each subject with details has for itself: id, title, html(subject).
local own_parts = {
  { "architecture", "Architecture", architecture_part }, { "time", "Time", time_part },
  { "memory", "Memory", memory_part }, { "exactness", "Exactness", exactness_part },
  { "attention", "Attention", attention.part },
}

-- Adds the sections of a subject to lists (id -> list of HTML). Returns their bytes. If they have more than `most`
-- bytes, it adds nothing and returns nil.
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
  for id, html in pairs(parts) do words.add(lists, id, html) end
  return sum
end

--- Returns the sections of groups of subjects by id, each a list of HTML, and the labels of subjects that do not fit
--- into `bytes`. The first subject is never left out. Each group begins with its main subject.
function document.details(groups, bytes)
  local lists, left_out = {}, {}
  local several = #groups > 1 or groups[1] and #groups[1] > 1
  for turn = 1, words.most(groups, function(group) return #group end) do -- the main ones come before the others
    for g, group in ipairs(groups) do
      local subject = group[turn]
      local is_first = g == 1 and turn == 1
      local sum = subject and add_parts(lists, group, subject, several, is_first and math.huge or MOST_BYTES - bytes)
      if subject and not sum then left_out[#left_out + 1] = subject.label end
      bytes = bytes + (sum or 0)
    end
  end
  return lists, left_out
end

-- Returns the control by which the reader chooses one subject of a group.
local function chooser(group, several)
  if #group == 1 then return nil end
  local options = words.map(group, function(subject) return { choice = subject.choice, label = subject.label } end)
  table.sort(options, function(a, b) return a.choice < b.choice end)
  return page.chooser(group.number, several and "Numbers and pictures of " or "Numbers and pictures of an entry: ",
    options, group[1].choice)
end

-- Returns the HTML above the sections: a verdict for each subject, and the choice among entries.
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
    lead[#lead + 1] = ('<p class="soft">Pictures of %s are left out, because the page would be larger than 2 MB. A '
      .. "separate report of each has them.</p>"):format(escape(table.concat(left_out, ", ")))
  end
  return table.concat(lead, "\n")
end

-- Returns the subjects as groups, each a list that begins with its main subject: { number, subject .. }.
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

-- Returns the section of predictions for numbers of ranks (ranks.read).
local function ranks_part(of)
  local calls, draw = ranks.pictures(of)
  local columns, rows = ranks.table(of)
  local network = of.latency_us and of.gigabytes and (" with a latency of %s us and %s GB/s"):format(
    numbers.short(of.latency_us), numbers.short(of.gigabytes)) or ""
  local list = {}
  for i, call in ipairs(calls) do
    list[i] = page.figure(call, function(width) return draw(call, width) end,
      escape(("Predicted, not measured: %s on ranks of one core each and a network%s. Parts were timed one by one; the "
        .. "time of meetings follows from their bytes."):format(of.model, network)),
      i == 1 and page.table(columns, rows) or nil)
  end
  return table.concat(list, "\n")
end

--- Returns the page of subjects. title: the page's title; command: the words that make it, quoted for a shell. Groups
--- whose main subject has `info` have details; other subjects are only compared. predictions: for numbers of ranks
--- (ranks.read), or nil.
function document.html(all, title, command, predictions)
  local groups = groups_of(all)
  local with_info = words.filter(groups, function(group) return group[1].info end)
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
  if predictions then add("ranks", "Ranks, predicted", ranks_part(predictions)) end
  return page.document(title, lead_of(all, groups, left_out), sections,
    '<p class="soft">This page loads nothing from the network.</p>')
end

return document
