-- perplexity_spec: the perplexity of a text, against transformers' and against logits of a file, and that commands of
-- models that write do not write over what they read.
local helper = require("tests.spec.helper")
local dkjson = require("dkjson")
local files = require("common.files")

local shell = helper.shell
local of = require("tests.spec.generating").new("perplexity", { "next" })
local folder = of.folder
local goldens = of.goldens
local line = of.line
local places = of.places
local refusal = of.refusal
local sh = of.sh
local write_ids = of.write_ids

setup(of.build)

-- Writes a file of --logits with half of the logits of `path`. Returns the mean negative log-likelihoods of both, and
-- the standard error of their difference.
local function halve(path, half)
  local stream = helper.read(path)
  local head, rest = stream:sub(1, 44), stream:sub(45)
  local vocabulary = string.unpack("<i4", head, 41)
  local parts, sums, difference, square, count = { head }, { 0, 0 }, 0, 0, 0
  for at = 1, #rest, 4 + 4 * vocabulary do
    local nats = {}
    local logits = { string.unpack("<i4" .. ("f"):rep(vocabulary), rest, at) }
    local id = table.remove(logits, 1)
    logits[#logits] = nil -- the place after them
    for i, factor in ipairs { 1, 0.5 } do
      local sum = 0
      for _, x in ipairs(logits) do sum = sum + math.exp(factor * x) end
      nats[i] = math.log(sum) - factor * logits[id + 1]
      sums[i] = sums[i] + nats[i]
    end
    for i, x in ipairs(logits) do logits[i] = x / 2 end
    parts[#parts + 1] = string.pack("<i4" .. ("f"):rep(vocabulary), id, table.unpack(logits))
    local growth = nats[1] - nats[2]
    difference, square, count = difference + growth, square + growth ^ 2, count + 1
  end
  files.write(half, table.concat(parts))
  return sums[1] / count, sums[2] / count, math.sqrt((square - difference ^ 2 / count) / (count - 1) / count)
end

describe("perplexity", function()
  it("is that of transformers' logits, in windows of the context", function()
    for _, golden in ipairs(goldens("perplexity.jsonl")) do
      if golden.folder == "next" then
        files.write_all(folder, { { name = "text.txt", text = golden.text } })
        local made = assert(dkjson.decode(sh(line("next", "perplexity",
          ("--text-file text.txt --stride %d -o json"):format(golden.shared)))))
        assert.equal(golden.tokens, made.tokens)
        assert.equal(golden.tokens - 1, made.predicted)
        assert.is_true(math.abs(made.perplexity / golden.perplexity - 1) < 1e-5,
          made.perplexity .. " " .. golden.perplexity)
        local text = sh(line("next", "perplexity", "--text-file text.txt --stride " .. golden.shared))
        assert.matches("^perplexity [%d.]+: [%d.]+ nats a token, %d+ of %d+ tokens predicted\n$", text)
      end
    end
    sh(line("next", "perplexity", "--text-file text.txt --logits logits"))
    local made = assert(dkjson.decode(sh(line("next", "perplexity", "--text-file text.txt --compare logits -o json"))))
    assert.same({ 1, 0, 0, made.perplexity }, { made.compared.equal_greedy, made.compared.kl_mean,
      made.compared.relative_error, made.compared.perplexity })
    local nats, other_nats, error = halve(folder .. "/logits", folder .. "/half")
    made = assert(dkjson.decode(sh(line("next", "perplexity", "--text-file text.txt --compare half -o json"))))
    local function close(a, b) assert.is_true(math.abs(a - b) < 1e-9, a .. " " .. b) end
    close(nats, made.nats)
    close(other_nats, made.compared.nats)
    close(error, made.compared.nats_error)
    local shown = sh(line("next", "perplexity", "--text-file text.txt --compare half"))
    assert.matches("\ncompared with perplexity [%d.]+: [+-][%d.]+%%, standard error [%d.]+%%; KL divergence ", shown)
    local code, said = refusal(line("next", "perplexity", "--text-file text.txt --compare text.txt"))
    assert.same({ 3, "--compare: text.txt: is not a file of --logits\n" }, { code, said })
    sh("head -c 4000 logits >cut")
    code, said = refusal(line("next", "perplexity", "--text-file text.txt --compare cut"))
    assert.equal(3, code)
    assert.matches("^--compare: cut: ends after %d+ tokens\n$", said)
    assert.equal(2, (refusal(line("next", "perplexity", "--text-file text.txt --compare cut --logits cut"))))
    code, said = refusal(line("next", "perplexity", "--text-file text.txt --compare logits --stride 3"))
    assert.same({ 3, "--compare: logits: has logits of windows of 40 tokens with --stride 20, but of 40 with "
      .. "--stride 3 are expected\n" }, { code, said })
    sh("cp logits longer && printf x >>longer")
    code, said = refusal(line("next", "perplexity", "--text-file text.txt --compare longer"))
    assert.equal(3, code)
    assert.matches("^%-%-compare: longer: goes on after the last of %d+ tokens\n$", said)
    sh("sed '1s/2$/1/' logits >older")
    code, said = refusal(line("next", "perplexity", "--text-file text.txt --compare older"))
    assert.same({ 3, "--compare: older: is a file of --logits of another version: write it again\n" }, { code, said })
    code, said = refusal(line("next", "perplexity", "--input none.npy --text-file text.txt"))
    assert.equal(2, code)
    assert.equal("--input: does not go with --text-file\n", said)
  end)

  it("and generate do not write over the weights and what they read", function()
    local short = "the quick brown fox\n"
    write_ids("ids.npy", "2,", { 5, 6 })
    files.write_all(folder, { { name = "text.txt", text = short } })
    sh("rm -rf own && cp -r " .. shell(places.next) .. " own && cp ids.npy own/ids.npy && cp text.txt own/text.txt"
      .. " && mkdir own/linked && cp own/*.json own/linked && mv own/model.safetensors own/elsewhere"
      .. " && ln -s ../elsewhere own/linked/model.safetensors && ln -f own/elsewhere own/again"
      .. " && ln -s text.txt own/link.txt")
    local before = sh("cd own && sha256sum elsewhere ids.npy text.txt")
    local weights, is_read = "this file belongs to the weights", "this file is read, or would be next time"
    local function refuses(command, option, path, why)
      local code, said = refusal(("next/next %s --weights own/linked %s%s"):format(command, option, path))
      assert.same({ 2, ("%s %s: %s\n"):format((option:gsub(" $", "")), path, why) }, { code, said })
      assert.equal(before, sh("cd own && sha256sum elsewhere ids.npy text.txt"))
    end
    for _, path in ipairs { "own/linked/model.safetensors", "own/elsewhere", "own/again", "own/linked/config.json" } do
      refuses("perplexity --text-file own/text.txt", "--logits ", path, weights)
      refuses("generate --prompt x --tokens 1", "--output ", path, weights)
    end
    for _, path in ipairs { "own/text.txt", "own/../own/text.txt", "own/link.txt" } do
      refuses("perplexity --text-file own/text.txt", "--logits ", path, is_read)
      refuses("generate --prompt-file own/text.txt --tokens 1", "--output ", path, is_read)
    end
    refuses("perplexity --input ids=own/ids.npy", "--logits ", "own/ids.npy", is_read)
    refuses("generate --input ids=own/ids.npy --tokens 1", "--output ", "own/ids.npy", is_read)
    refuses("perplexity --text-file own/text.txt", "--logits ", "-", "a file is needed, or a pipe")
    refuses("perplexity --text-file own/text.txt", "--logits ", "/dev/stdout", "the result is printed on the standard "
      .. "output")
    refuses("generate --prompt x --tokens 1", "--output ", "-", "a file is needed; --format npy prints the array")
    sh("test ! -e ./-")
  end)
end)
