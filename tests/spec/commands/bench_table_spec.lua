-- bench_table_spec: the benches of several variants as one table of each form.
require("tests.spec.helper")
local bench_table = require("commands.bench_table")

local function results(...)
  local list = {}
  for i, text in ipairs { ... } do
    list[i] = { text = text, varied = { { key = "seq", value = tostring(8 * i) }, { key = "threads", value = "1" } } }
  end
  return list
end

describe("a table of benches", function()
  it("has one header of Markdown, and what varies where the program does not say it", function()
    assert.equal("| seq | model | threads | ms |\n|--:|:--|--:|--:|\n| 8 | m | 1 | 2 |\n| 16 | m | 1 | 3 |\n",
      bench_table.join("md", results("| model | threads | ms |\n|:--|--:|--:|\n| m | 1 | 2 |\n",
        "| model | threads | ms |\n|:--|--:|--:|\n| m | 1 | 3 |\n")))
  end)

  it("keeps what stands below a table, under what varies", function()
    local text = bench_table.join("md", results("| a |\n|--|\n| 1 |\n\nmore\n", "| a |\n|--|\n| 2 |\n"))
    assert.equal("| seq | threads | a |\n|--:|--:|--|\n| 8 | 1 | 1 |\n| 16 | 1 | 2 |\n\nseq=8 threads=1\n\nmore\n",
      text)
  end)

  it("joins each table of csv", function()
    assert.equal("seq,model,threads\n8,m,1\n16,m,1\n\nseq,threads,op,ms\n8,1,x,2\n8,1,y,3\n16,1,x,4\n",
      bench_table.join("csv", results("model,threads\nm,1\n\nop,ms\nx,2\ny,3\n", "model,threads\nm,1\n\nop,ms\nx,4\n")))
    local list = results("a\n1\n")
    list[1].varied = { { key = "mask", value = '{"causal",window={1,2}}' } }
    assert.equal('mask,a\n"{""causal"",window={1,2}}",1\n', bench_table.join("csv", list))
  end)

  it("is an array of JSON", function()
    assert.equal('[\n{"seq": 8, "threads": 2, "ms": 1.5},\n{"seq": 16, "threads": 2, "ms": 1}\n]\n',
      bench_table.join("json", results('{"threads": 2, "ms": 1.5}\n', '{"threads": 2, "ms": 1}\n')))
    local list = results('{"ms": 1}\n')
    list[1].varied = { { key = "mask", value = '"causal"\\' } }
    assert.equal('[\n{"mask": "\\u0022causal\\u0022\\u005c", "ms": 1}\n]\n', bench_table.join("json", list))
  end)
end)
