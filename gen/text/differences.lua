-- differences.lua: lists the code points in which the library's properties differ from PCRE2 10.42 (Unicode 14).
-- A property of the library's regular expressions has more code points (more), or lacks some (less). Properties that
-- do not differ, and those that regex.lua derives from others, are left out. outer_word: only outside of brackets.
-- This file is written by tests/text/differences.py.

-- Returns the ranges { first, last } that a text lists in hexadecimal.
local function ranges(text)
  local list = {}
  for first, last in text:gmatch("(%x+)%-?(%x*)") do
    list[#list + 1] = { tonumber(first, 16), tonumber(last == "" and first or last, 16) }
  end
  return list
end

return {
  Lu = { more = ranges [[1c89 a7cb-a7cc a7da a7dc 10d50-10d65]] },
  Ll = { more = ranges [[1c8a a7cd a7db 10d70-10d85 1df25-1df2a]] },
  Lm = { more = ranges [[10d4e 10d6f 16d40-16d42 16d6b-16d6c 1e030-1e06d 1e4eb]] },
  Lo = { more = ranges [[105c0-105f3 10d4a-10d4d 10d4f 10ec2-10ec4 1123f-11240 11380-11389 1138b 1138e 11390-113b5
    113b7 113d1 113d3 11bc0-11be0 11f02 11f04-11f10 11f12-11f33 1342f 13441-13446 13460-143fa 16100-1611d 16d43-16d6a
    18cff 1b132 1b155 1e4d0-1e4ea 1e5d0-1e5ed 1e5f0 2b739 2ebf0-2ee5d 31350-323af]] },
  M = { more = ranges [[897 cf3 ece 10d69-10d6d 10efc-10eff 11241 113b8-113c0 113c2 113c5 113c7-113ca 113cc-113d0 113d2
    113e1-113e2 11f00-11f01 11f03 11f34-11f3a 11f3e-11f42 11f5a 13440 13447-13455 1611e-1612f 1e08f 1e4ec-1e4ef
    1e5ee-1e5ef]] },
  Mn = { more = ranges [[897 ece 10d69-10d6d 10efc-10eff 11241 113bb-113c0 113ce 113d0 113d2 113e1-113e2 11f00-11f01
    11f36-11f3a 11f40 11f42 11f5a 13440 13447-13455 1611e-16129 1612d-1612f 1e08f 1e4ec-1e4ef 1e5ee-1e5ef]], less =
    ranges [[1171e]] },
  Mc = { more = ranges [[cf3 113b8-113ba 113c2 113c5 113c7-113ca 113cc-113cd 113cf 1171e 11f03 11f34-11f35 11f3e-11f3f
    11f41 1612a-1612c]] },
  Nd = { more = ranges [[10d40-10d49 116d0-116e3 11bf0-11bf9 11f50-11f59 16130-16139 16d70-16d79 1ccf0-1ccf9
    1e4f0-1e4f9 1e5f1-1e5fa]] },
  No = { more = ranges [[1d2c0-1d2d3]] },
  Pd = { more = ranges [[10d6e]] },
  Po = { more = ranges [[1b4e-1b4f 1b7f 113d4-113d5 113d7-113d8 11b00-11b09 11be1 11f43-11f4f 16d6d-16d6f 1e5ff]] },
  Sm = { more = ranges [[10d8e-10d8f]] },
  So = { more = ranges [[2427-2429 2ffc-2fff 31e4-31e5 31ef 1cc00-1ccef 1cd00-1ceb3 1f6dc 1f774-1f776 1f77b-1f77f 1f7d9
    1f8b2-1f8bb 1f8c0-1f8c1 1fa75-1fa77 1fa87-1fa89 1fa8f 1faad-1faaf 1fabb-1fabf 1fac6 1face-1facf 1fada-1fadc 1fadf
    1fae8-1fae9 1faf7-1faf8 1fbcb-1fbef]] },
  Alphabetic = { more = ranges [[363-36f 897 c04 cf3 f82-f83 1c89-1c8a 1dd3-1de6 a7cb-a7cd a7da-a7dc 105c0-105f3
    10d4a-10d65 10d69 10d6f-10d85 10ec2-10ec4 10efc 11080-11081 1123f-11241 11380-11389 1138b 1138e 11390-113b5
    113b7-113c0 113c2 113c5 113c7-113ca 113cc-113cd 113d1 113d3 11bc0-11be0 11f00-11f10 11f12-11f3a 11f3e-11f40 1342f
    13441-13446 13460-143fa 16100-1612e 16d40-16d6c 18cff 1b132 1b155 1df25-1df2a 1e030-1e06d 1e08f 1e4d0-1e4eb
    1e5d0-1e5ed 1e5f0 2b739 2ebf0-2ee5d 31350-323af]] },
  Han = { more = ranges [[2b739 2ebf0-2ee5d 31350-323af]] },
  Hiragana = { more = ranges [[1b132]] },
  Katakana = { more = ranges [[1b155]] },
  Latin = { more = ranges [[a7cb-a7cd a7da-a7dc 1df25-1df2a]] },
  Cyrillic = { more = ranges [[1c89-1c8a 1e030-1e06d 1e08f]] },
  Arabic = { more = ranges [[897 10ec2-10ec4 10efc-10eff]] },
  Devanagari = { more = ranges [[11b00-11b09]] },
  rust_word = { more = ranges [[897 cf3 ece 1c89-1c8a a7cb-a7cd a7da-a7dc 105c0-105f3 10d40-10d65 10d69-10d6d
    10d6f-10d85 10ec2-10ec4 10efc-10eff 1123f-11241 11380-11389 1138b 1138e 11390-113b5 113b7-113c0 113c2 113c5
    113c7-113ca 113cc-113d3 113e1-113e2 116d0-116e3 11bc0-11be0 11bf0-11bf9 11f00-11f10 11f12-11f3a 11f3e-11f42
    11f50-11f5a 1342f 13440-13455 13460-143fa 16100-16139 16d40-16d6c 16d70-16d79 18cff 1b132 1b155 1ccf0-1ccf9
    1df25-1df2a 1e030-1e06d 1e08f 1e4d0-1e4f9 1e5d0-1e5fa 2b739 2ebf0-2ee5d 31350-323af]] },
  outer_word = { more = ranges [[b2-b3 b9 bc-be]] },
}
