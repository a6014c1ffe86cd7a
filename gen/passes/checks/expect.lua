-- expect.lua: stops a checker with an error if a condition does not hold.
-- A finding is a defect of the compiler, never of a description, so it is an error and not a fault.

--- Stops unless the condition holds. pass: the pass whose result is wrong. A format and its values follow.
return function(condition, pass, format, ...)
  if not condition then error(("the checker after %s: " .. format):format(pass, ...), 0) end
end
