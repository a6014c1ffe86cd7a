-- chat.lua: the part of list.lua that concerns chat templates: gen/text/chat and runtime/chat. of and spec: as in
-- list.lua.
return function(of, spec)
  local goldens = spec .. "whole/chat_spec.lua"

  of("gen/text/chat/lexer.lua", spec .. "text/chat/lexer_spec.lua") {
    { name = "chat_trim", old = 'P("%}") * P("\\n") ^ -1', new = 'P("%}")', wrong = "the newline after a block stays" },
    { name = "chat_strip", old = 'if mark == "+" or kind == "variable"', new = 'if mark == "+"',
      wrong = "the spaces before a value go" },
    { name = "chat_last", old = ':gsub("\\n$", "")', new = "", wrong = "the template's last newline stays" },
  }

  of("gen/text/chat/lexer.lua", spec .. "text/chat/template_spec.lua") {
    { name = "chat_lines", old = "or math.huge", new = "or place", filter = "lines of tokens",
      wrong = "the end of the last line is searched for every token" },
  }

  of("gen/text/chat/scopes.lua", spec .. "text/chat/compile_spec.lua") {
    { name = "chat_branches", old = "if count < #readers then", new = "if count < 0 then",
      wrong = "a variable that one branch sets forgets the caller's value" },
    { name = "chat_before", old = "setmetatable({}, { __index = set })", new = "{}",
      wrong = "a branch forgets the variables before it" },
    { name = "chat_outside", old = 'self:define(name, "copied", outer)\n  else', new =
      'self:define(name, "undefined")\n  else', wrong = "a variable that a loop sets begins undefined" },
  }

  of("gen/text/chat/expressions.lua", spec .. "text/chat/parser_spec.lua") {
    { name = "chat_tilde", old = "local line, items = self:look().line, { self:product() }",
      new = "local line, items = self:look().line, { self:power() }", wrong = "~ binds closer than *" },
  }

  of("gen/text/chat/compile.lua", spec .. "text/chat/template_spec.lua") {
    { name = "chat_reached", old = "if self.branches == 0 then self.fail", new = "if false then self.fail",
      wrong = "a template whose fault is always reached is compiled" },
    { name = "chat_branch", new = "c:expression(branch.test)",
      old = "if i == 1 then c:expression(branch.test) else c:perhaps(c.expression, branch.test) end",
      wrong = "a template is refused for an elif that is perhaps not reached" },
    { name = "chat_loop_end", old = "  c.branches = c.branches - 1\nend", new = "end",
      wrong = "what follows a loop counts as perhaps not reached" },
  }

  of("runtime/chat/chat_filters.c", goldens) {
    { name = "chat_none", old = 'chat_is_true(values) ? values[0] : chat_undefined("", 0)', new = "values[0]",
      filter = "every filter", wrong = "none | select is refused" },
  }

  of("runtime/chat/chat_operators.c", goldens) {
    { name = "chat_floor", old = "(a % b != 0 && (a % b < 0) != (b < 0))", new = "0", filter = "every part",
      wrong = "integers are divided towards zero" },
    { name = "chat_backwards", old = "step < 0 ? count - 1 : count", new = "count", filter = "every part",
      wrong = "a slice backwards reads past the end" },
  }

  of("runtime/chat/chat_show.c", goldens) {
    { name = "chat_quote", old = "has_single && !has_double", new = "has_single && has_double", filter = "every part",
      wrong = "a text with both quotes is written only in double ones" },
    { name = "chat_digits", old = "exponent < -4 || exponent >= 16", new = "exponent < -4 || exponent >= 17",
      filter = "every part", wrong = "1e16 is written without an exponent" },
  }

  of("runtime/chat/chat_input.c", goldens) {
    { name = "chat_reasoning", old = 'status = chat_dict_set_word(work, made, "reasoning_content", reasoning);',
      new = 'status = chat_dict_set_word(work, made, "thinking", reasoning);', filter = "families",
      wrong = "a message's reasoning has one name" },
  }

  of("runtime/base/attn2c.c", goldens) {
    { name = "chat_slots", old = "if (need <= *capacity && *list)", new = "if (need <= *capacity)",
      filter = "every part", wrong = "a template without variables adds to a null pointer" },
  }

  of("runtime/chat/chat_run.c", goldens) {
    { name = "chat_stack", old = "if (status == ATTN2C_OK) status = push(work, chat_none());", new = "",
      filter = "every part", wrong = "a template that begins with [] takes from a null pointer" },
  }

  of("runtime/chat/chat_run.c", "c:chat") {
    { name = "chat_depth", old = "work->frame_count == LENGTH(work->frames) ||", new = "", filter = "chat/what_grows*",
      wrong = "macros call themselves without end" },
    { name = "chat_shown", old = "else if (!attn2c_is_seen(point))", new = "else if (0)", filter = "chat/a_refusal*",
      wrong = "a terminal obeys what a template refuses with" },
  }
end
