-- checksum_spec: the checksum is that of the runtime, for every length of what is left behind whole blocks.
local helper = require("tests.spec.helper")
local checksum = require("common.checksum")

local scratch = "out/test/checksum"

local source = [[
#include "base/checksum.h"
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  static char text[1 << 12];
  size_t size = fread(text, 1, sizeof text, stdin);
  printf("%016llx\n", (unsigned long long)attn2c_checksum(strtoull(argv[argc - 1], NULL, 16), text, size));
  return 0;
}
]]

describe("the checksum of a text", function()
  it("is that of the runtime", function()
    helper.succeeds(("mkdir -p %s && rm -f %s/*"):format(scratch, scratch))
    local file <close> = assert(io.open(scratch .. "/sum.c", "w"))
    file:write(source)
    file:close()
    helper.succeeds(("cc -std=c11 -Wall -Wextra -Werror -iquote runtime -o %s/sum %s/sum.c runtime/base/checksum.c")
      :format(scratch, scratch))
    for size = 0, 70 do
      local text = {}
      for i = 1, size do text[i] = string.char((i * 151 + size * 7) % 256) end
      text = table.concat(text)
      local given <close> = assert(io.open(scratch .. "/text", "w"))
      given:write(text)
      given:close()
      local begin = size % 3 == 0 and 0 or checksum.of(0, "before")
      local said = helper.succeeds(("%s/sum %x <%s/text"):format(scratch, begin, scratch))
      assert.equal(("%016x\n"):format(checksum.of(begin, text)), said)
    end
  end)
end)
