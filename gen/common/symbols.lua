-- symbols.lua: lists the symbols that an operand's place may depend on, in the order in which an address adds them.
-- `s` is the first sequence of a micro-batch, `b` a sequence within it; loops over open sizes set the others
-- (data/loops.lua), and `panel` is that of a panel loop (passes/common/panel_loops.lua).
return { "s", "b", "row", "whole_row", "slice", "first", "keys", "sequence", "skip", "position", "query", "from", "key",
  "slot", "fresh", "past", "page", "into", "added", "forgotten", "answer",
  "whole_answer", "group", "share", "head", "kv_head", "panel" }
