-- expect.lua: how a checker stops: what it finds is a defect of the compiler, never of a
-- description, so it is an error, not a fault.

--- Stops unless a condition holds. pass: whose result is wrong; then a format and its values.
return function(condition, pass, format, ...)
  if not condition then error(("the checker after %s: " .. format):format(pass, ...), 0) end
end
