-- generate_spec.lua: models that generate text: greedy tokens, texts and perplexities against transformers' (tests/
-- generate/greedy.py), prompts in words, files and arrays, how answers come, and what is refused.
local helper = require("tests.spec.helper")
local dkjson = require("dkjson")
local files = require("common.files")

local shell = helper.shell
local of = require("tests.spec.generating").new("generate", { "next", "llama" }, nil, { llama = true })
local folder = of.folder
local goldens = of.goldens
local line = of.line
local lines_of = of.lines_of
local places = of.places
local read_int64 = of.read_int64
local refusal = of.refusal
local root = of.root
local run = of.run
local sh = of.sh
local write_ids = of.write_ids

setup(of.build)

-- The text up to the first of some strings.
local function cut(text, stops)
  local last = #text
  for _, stop in ipairs(stops or {}) do
    local at = text:find(stop, 1, true)
    if at and at - 1 < last then last = at - 1 end
  end
  return text:sub(1, last)
end

local function option_words(options)
  local words = { "--greedy" }
  for _, stop in ipairs(options.stop or {}) do words[#words + 1] = "--stop " .. shell(stop) end
  if options.repetition_penalty then words[#words + 1] = "--repetition-penalty " .. options.repetition_penalty end
  return table.concat(words, " ")
end

describe("generate", function()
  it("gives transformers' greedy tokens and texts, one prompt or several side by side", function()
    local groups, order = {}, {}
    for _, golden in ipairs(goldens("greedy.jsonl")) do
      local key = golden.folder .. " " .. option_words(golden.options)
      if not groups[key] then
        groups[key] = {}
        order[#order + 1] = key
      end
      table.insert(groups[key], golden)
    end
    assert.equal(6, #order)
    for _, key in ipairs(order) do
      local group, prompts = groups[key], {}
      for i, golden in ipairs(group) do prompts[i] = golden.prompt .. "\n" end
      files.write_all(folder, { { name = "prompts.txt", text = table.concat(prompts) } })
      local first = group[1]
      local got = lines_of(sh(line(first.folder, "generate", ("--tokens %d --format jsonl --prompt-file prompts.txt %s")
        :format(first.tokens, option_words(first.options)))))
      assert.equal(#group, #got)
      for i, golden in ipairs(group) do
        local made = assert(dkjson.decode(got[i]))
        assert.equal(golden.prompt, made.prompt)
        assert.same(golden.ids, made.ids)
        assert.equal(cut(golden.text, golden.options.stop), made.text)
        local is_cut = cut(golden.text, golden.options.stop) ~= golden.text
        local last = golden.ids[#golden.ids]
        local is_stopped = golden.folder == "llama" and (last == 2 or last == 300)
        assert.equal(is_cut and "stop_string" or is_stopped and "stop_token" or "tokens", made["end"])
      end
      local one = sh(line(first.folder, "generate", ("--tokens %d --prompt %s %s"):format(first.tokens,
        shell(first.prompt), option_words(first.options))))
      assert.equal(cut(first.text, first.options.stop) .. "\n", one)
    end
  end)

  it("writes an array of the tokens, padded with -1", function()
    local list = {}
    for _, golden in ipairs(goldens("greedy.jsonl")) do
      if golden.folder == "llama" and golden.options.stop then list[#list + 1] = golden end
    end
    local words, want = {}, {}
    for i, golden in ipairs(list) do
      words[i] = "--prompt " .. shell(golden.prompt)
      for j = 1, 20 do want[#want + 1] = golden.ids[j] or j <= 16 and -1 or -2 end
    end
    local said = sh(line("llama", "generate", table.concat(words, " ") .. " --stop e --stop '\u{0bcd}' --tokens 20 "
      .. "--greedy --output generated=made.npy"))
    assert.equal("", said)
    local got, shape = read_int64("made.npy")
    assert.equal(#list .. ", 20", shape)
    for i, value in ipairs(want) do
      if value ~= -2 then assert.equal(value, got[i], "number " .. i) end
    end
    sh(line("llama", "generate", table.concat(words, " ") .. " --stop e --stop '\u{0bcd}' --tokens 20 --format npy "
      .. "--greedy >again.npy"))
    assert.equal(helper.read(folder .. "/made.npy"), helper.read(folder .. "/again.npy"))
  end)

  it("draws the same tokens for a prompt, whatever its neighbours are", function()
    local prompts = { "the dog", "a cat sat on", "x", "one two three", "the dog", "seven" }
    files.write_all(folder, { { name = "drawn.txt", text = table.concat(prompts, "\n") } })
    local drawn = "--temperature 1.2 --top-k 0 --top-p 1 --repetition-penalty 1.1 --tokens 12 "
    local together = lines_of(sh(line("llama", "generate", drawn .. "--seed 40 --prompt-file drawn.txt")))
    assert.equal(#prompts, #together)
    for i, prompt in ipairs(prompts) do
      local alone = lines_of(sh(line("llama", "generate", drawn
        .. ("--format jsonl --seed %d --prompt %s"):format(39 + i, shell(prompt)))))
      local text = assert(dkjson.decode(alone[1])).text
      assert.equal(together[i], (text:gsub("\\", "\\\\"):gsub("\n", "\\n"):gsub("\t", "\\t")))
    end
    assert.not_equal(together[1], together[5])
  end)

  it("draws with numbers of its own, and says them, if the folder states none", function()
    local prompts = "--tokens 12 --prompt 'the dog' --prompt x "
    local code, said, notes = run(line("llama", "generate", prompts))
    assert.equal(0, code)
    assert.equal("llama: the model states no defaults: tokens are drawn with --temperature 0.2 --top-p 0.9 "
      .. "--repetition-penalty 1.1; --greedy takes the most probable one\n", notes)
    local again, asked, quiet = select(2, run(line("llama", "generate", prompts))),
      select(2, run(line("llama", "generate", prompts .. "--temperature 0.2 --top-k 50 --top-p 0.9 --seed 0 "
        .. "--repetition-penalty 1.1")))
    assert.equal("", quiet)
    assert.same({ said, said }, { again, asked })
    local chat_code, _, chat_notes = run("echo the dog | " .. line("llama", "chat", "--tokens 3"))
    assert.equal(0, chat_code)
    assert.matches("^llama: the model states no defaults: [^\n]+\n$", chat_notes)
  end)

  it("answers the lines of standard input as they come", function()
    local said = sh(("{ echo 'the dog'; while [ ! -s came.txt ]; do sleep 0.05; done; echo x; } | %s >came.txt"):format(
      line("llama", "generate", "--tokens 4 -")) .. "; cat came.txt; rm came.txt")
    assert.equal(2, #lines_of(said))
  end)

  it("takes ids, of one prompt, of several, and of several lengths", function()
    write_ids("one.npy", "3,", { 5, 6, 7 })
    write_ids("rows.npy", "2, 3", { 5, 6, 7, 8, 9, 9 })
    write_ids("joined.npy", "5,", { 5, 6, 7, 8, 9 })
    write_ids("lengths.npy", "2,", { 3, 2 })
    local function ids(more)
      local list = {}
      for i, each in ipairs(lines_of(sh(line("next", "generate", "--tokens 5 --format jsonl " .. more)))) do
        list[i] = assert(dkjson.decode(each)).ids
      end
      return list
    end
    local one = ids("--input one.npy")
    local rows = ids("--input input_ids=rows.npy --input lengths=lengths.npy")
    assert.same(one[1], rows[1])
    assert.same(rows, ids("--input ids=joined.npy --input lengths=lengths.npy"))
    assert.equal(2, #ids("--input ids=rows.npy"))
  end)

  it("explains its options in one column, long ones on the next line", function()
    local column, names = "^" .. ("."):rep(23) .. " %g", 0
    local lines = lines_of(sh(line("llama", "generate", "--help")))
    for i, each in ipairs(lines) do
      if each:find("^  %-") then
        assert.matches(column, each:find("^  %-%-[%w-]+ ?%S*$") and lines[i + 1] or each)
        names = names + 1
      end
    end
    assert.is_true(names > 20)
  end)

  it("escapes what a terminal would obey, and only there", function()
    -- script(1) gives the program a terminal.
    local vocabulary = assert(dkjson.decode(helper.read(places.next .. "/tokenizer.json"))).model.vocab
    local id = vocabulary["\u{11B}"] -- GPT-2's letter of the byte 1B
    local command = line("next", "generate", ("--prompt x --tokens 2 --greedy --allow %d"):format(id))
    assert.equal("\27\27\n", sh(command))
    local shown = sh(("script -qec %s /dev/null"):format(shell(command)))
    assert.equal("\\u{1B}\\u{1B}\r\n", shown)
  end)

  it("ends at the end of the context", function()
    local full = {}
    for i = 1, 40 do full[i] = i end
    write_ids("full.npy", "40,", full)
    local made = assert(dkjson.decode(sh(line("next", "generate", "--input full.npy --format jsonl"))))
    assert.equal(1, #made.ids)
    assert.equal("context", made["end"])
  end)
end)

describe("generate refuses", function()
  local function refused(status, message, more, command)
    local code, said = refusal(line("next", command or "generate", more))
    assert.equal(message .. "\n", said)
    assert.equal(status, code)
  end

  it("options that are wrong or contradict each other, one line each", function()
    write_ids("one.npy", "3,", { 5, 6, 7 })
    files.write_all(folder, { { name = "prompts.txt", text = "the dog\n" } })
    refused(2, "--temperature: 0, but a number from 1.18e-38 to 3.4e+38 (greedy is an option of its own) is allowed",
      "--prompt x --temperature 0")
    refused(2, "--temperature: 'inf', but a number is allowed", "--prompt x --temperature inf")
    refused(2, "--temperature: inf, but a number from 1.18e-38 to 3.4e+38 (greedy is an option of its own) is allowed",
      "--prompt x --temperature 1e999")
    refused(2, "--seed: 'abc', but 0 to 18446744073709551615 is allowed", "--prompt x --seed abc")
    refused(2, "--greedy: does not go with --seed, which draws tokens",
      "--prompt x --greedy --seed 3")
    refused(2, "--top-p: 2, but 0 to 1 is allowed", "--prompt x --top-p 2")
    refused(2, "--typical-p: 2, but 0 to 1 is allowed", "--prompt x --typical-p 2")
    refused(2, "--sampler-order: 'top_k;x', but llama.cpp or names of penalties;dry;temperature;top_n_sigma;top_k;"
      .. "top_p;min_p;typ_p;xtc are allowed, each once", "--prompt x --sampler-order 'top_k;x'")
    refused(2, "--mirostat: 1, but 0 (none) or 2 is allowed", "--prompt x --mirostat 1")
    refused(2, "--xtc-threshold: goes with --xtc-probability", "--prompt x --xtc-threshold 0.1")
    refused(2, "--dry-breaker: goes with --dry-multiplier", "--prompt x --dry-breaker ,")
    refused(2, "--dry-breaker: an empty text, but one with bytes is allowed",
      "--prompt x --dry-multiplier 1 --dry-breaker ''")
    refused(2, "--greedy: does not go with --mirostat, which draws tokens", "--prompt x --greedy --mirostat 2")
    refused(2, "--allow: token 800, but 0 to 799 is allowed", "--prompt x --allow 3,800")
    refused(2, "--allow: '3,,4', but a list of ids such as 3,5,7 is allowed", "--prompt x --allow 3,,4")
    refused(2, "--allow: allows only tokens that --logit-bias forbids with -inf",
      "--prompt x --allow 3,5 --logit-bias 5=-inf --logit-bias 3=-inf")
    refused(2, "--logit-bias: '5', but an id and a number such as 50256=-1.5, or -inf is allowed",
      "--prompt x --logit-bias 5")
    refused(2, "--tokens: '0', but a number of tokens from 1 is allowed", "--prompt x --tokens 0")
    refused(2, "--stop: string 1 has 0 bytes, but 1 to 1024 are allowed", "--prompt x --stop ''")
    refused(2, "generate: --prompt TEXT, --prompt-file F, --prompt - or --input ids=X.npy is needed", "")
    refused(2, "--input: does not go with --prompt", "--prompt x --input one.npy")
    refused(2, "--output: no output 'logits'; allowed is generated", "--prompt x --output logits=x.npy")
    write_ids("single.npy", "1,", { 1 })
    refused(3, "single.npy: has 1 token, but 2 or more tokens are needed", "--input ids=single.npy", "perplexity")
    refused(2, "--stride: 40, but 1 to 39 is allowed: windows have the context's 40 tokens",
      "--text-file prompts.txt --stride 40", "perplexity")
    refused(2, "--temperature: 0, but a number from 1.18e-38 to 3.4e+38 (greedy is an option of its own) is allowed",
      "--temperature 0", "chat")
  end)

  it("prompts that the model cannot take, after the answers before them", function()
    local long, bad = {}, { 5, 800 }
    for i = 1, 41 do long[i] = i end
    write_ids("long.npy", "41,", long)
    write_ids("bad.npy", "2,", bad)
    refused(3, "long.npy: prompt 1: the prompt has 41 tokens, but 1 to 40 are allowed, the model's context",
      "--input long.npy")
    refused(3, "bad.npy: prompt 1: token 800, but 0 to 799 is allowed", "--input bad.npy")
    refused(4, "--prompt-file missing.txt: No such file or directory", "--prompt-file missing.txt")
    files.write_all(folder, { { name = "some.txt", text = "the dog\n" .. ("word "):rep(60) .. "\nx\n" } })
    local code, said, notes = run(line("next", "generate", "--tokens 3 --greedy --prompt-file some.txt"))
    assert.equal(3, code)
    assert.equal(1, #lines_of(said))
    assert.matches("^next: some%.txt: line 2: the prompt has %d+ tokens, but 1 to 40 are allowed, the model's "
      .. "context\n$", notes)
  end)

  it("full disks and closed pipes, in one line", function()
    local code, _, notes = run(line("next", "generate", "--prompt x --tokens 3 --greedy >/dev/full"))
    assert.equal("next: standard output: No space left on device\n", notes)
    assert.equal(4, code)
    code, _, notes = run("set -o pipefail; yes x | " .. line("next", "generate", "--tokens 30 --greedy -")
      .. " | head -n 1 >/dev/null")
    assert.equal("next: standard output: Broken pipe\n", notes)
    assert.is_true(code == 4 or code == 141, code)
  end)

  it("ends with the folder's max_length of prompt and answer, if nothing states the answer's own", function()
    sh(("rm -rf brief && cp -r %s brief && chmod u+w brief/*"):format(shell(places.llama)))
    files.write_all(folder .. "/brief", { { name = "generation_config.json", text =
      '{"eos_token_id":[2,300],"max_length":12}' } })
    sh(shell(root .. "/gen/attn2c") .. " build brief context=64 sequences=1 chunk=16 kernels=c -o brief >log 2>&1")
    local golden
    for _, each in ipairs(goldens("greedy.jsonl")) do
      if each.folder == "llama" and not next(each.options) then golden = golden or each end
    end
    local start = "brief/brief generate --greedy --weights brief --format jsonl --prompt " .. shell(golden.prompt)
    local function check(more, count, ending)
      local made = assert(dkjson.decode(sh(start .. more)))
      local want = table.move(golden.ids, 1, count or 12 - made.prompt_tokens, 1, {})
      assert.same({ want, ending }, { made.ids, made["end"] })
      return made
    end
    local made = check("", nil, "tokens")
    check(" --tokens 15", 15, "tokens")
    local code, said = refusal("brief/brief generate --weights brief --prompt " .. shell(("word "):rep(12)))
    assert.matches("but 1 to 11 are allowed, by the folder's max_length of prompt and answer; %-%-tokens N takes its",
      said)
    assert.equal(3, code)
    local python = [[import json, numpy, brief; model = brief.Model("brief"); prompt = json.loads(%q)
ids = model.encode(prompt).ids; numpy.testing.assert_equal(len(model.generate([ids], greedy=True)[0]), 12 - len(ids))
assert len(model.generate([ids], 15, greedy=True)[0]) == 15
assert model.generate_text([prompt], greedy=True) == [json.loads(%q)] ]]
    python = python:format(dkjson.encode(golden.prompt), dkjson.encode(made.text))
    assert.equal("", sh("PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=brief /usr/bin/python3 -W error -c " .. shell(python)))
  end)

  it("models whose description has no context", function()
    of.build_program(root .. "/models/small.lua", "plain", "layers=1")
    for _, command in ipairs { "generate", "chat", "perplexity" } do
      local code, said = refusal("plain/small " .. command)
      assert.equal(2, code)
      assert.equal(command .. ": this model does not continue sequences: its description has no key `context`\n", said)
    end
    local code, said = run("nm plain/small | grep -c 'attn2c_sampler\\|attn2c_answers\\|attn2c_stop_create'")
    assert.equal("0\n", said)
    assert.equal(1, code)
  end)
end)

-- Returns a shell condition that holds once the program of a process has a handler of SIGINT. The shells that start it
-- have one, too.
local function notes_signals(process)
  return ("! grep -qxE 'sh|bash' /proc/%s/comm && grep -q 'SigCgt:.*[2367abef]$' /proc/%s/status"):format(process,
    process)
end

-- Runs a command on a terminal. Waits for the text of each step, then types its keys; in the end waits for the end.
-- Keys come when the editor has the terminal and waits for them, but after a line's end while the answer is computed.
local typing = [==[
import json, os, pty, select, sys, termios, time
LONG = 600 # seconds, of a busy machine
pid, terminal = pty.fork()
if pid == 0:
    os.environ.update(TERM="xterm", LC_ALL="C.UTF-8")
    os.execvp("sh", ["sh", "-c", "exec " + sys.argv[1]])
seen = shown = b""
def read_until(text):
    global seen, shown
    end = time.time() + LONG
    while text is None or text not in seen:
        if time.time() > end: sys.exit("waited for %r, saw %r" % (text, shown))
        if not select.select([terminal], [], [], 0.1)[0]: continue
        try: data = os.read(terminal, 65536)
        except OSError: data = b""
        if not data: return
        seen, shown = seen + data, shown + data
    seen = seen.split(text, 1)[1]
def waits_for_keys():
    try: state = open("/proc/%d/stat" % pid).read().rsplit(")", 1)[1].split()[0]
    except OSError: return True # it has ended
    return state in "SZX" and not termios.tcgetattr(terminal)[3] & termios.ICANON
def wait_until_typed():
    end = time.time() + LONG
    while not waits_for_keys():
        if time.time() > end: sys.exit("the editor does not wait for keys; saw %r" % shown)
        time.sleep(0.01)
for line in open("steps.jsonl"):
    wanted, keys = json.loads(line)
    read_until(wanted.encode())
    if keys and wanted != "\n": wait_until_typed()
    os.write(terminal, keys.encode())
read_until(None)
sys.stdout.write(shown.decode(errors="replace").replace("\r", ""))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
]==]

-- Types keys at a chat on a terminal, and returns what it shows and its exit code. steps: { text to wait for, keys }.
local function typed(command, steps)
  local lines = {}
  for i, step in ipairs(steps) do lines[i] = dkjson.encode(step) end
  files.write_all(folder, { { name = "steps.jsonl", text = table.concat(lines, "\n") },
    { name = "typed.py", text = typing } })
  return run("python3 typed.py " .. shell(command))
end

describe("chat", function()
  it("gives transformers' answers, turn by turn", function()
    for _, golden in ipairs(goldens("chat.jsonl")) do
      local lines, answers = {}, {}
      for i, turn in ipairs(golden.turns) do lines[i], answers[i] = turn[1] .. "\n\n", turn[2] .. "\n" end
      files.write_all(folder, { { name = "lines.txt", text = table.concat(lines) } })
      local system = golden.system ~= dkjson.null and golden.system and "--system " .. shell(golden.system) or ""
      assert.equal(table.concat(answers), sh(line("llama", "chat", "--greedy --tokens 4 " .. system .. " <lines.txt")))
    end
  end)

  -- Returns a message as a line of JSON.
  local function message(role, content)
    return dkjson.encode({ role = role, content = content }, { keyorder = { "role", "content" } })
  end

  it("takes and gives messages as lines of JSON, one by one and whole chats", function()
    for _, golden in ipairs(goldens("chat.jsonl")) do
      local system = golden.system ~= dkjson.null and golden.system or nil
      local word = system and "--system " .. shell(system) or ""
      local turns, expected, list = {}, {}, { system and message("system", system) }
      local chats = {}
      for i, turn in ipairs(golden.turns) do
        turns[i], expected[i] = message("user", turn[1]) .. "\n", turn[2]
        list[#list + 1] = message("user", turn[1])
        chats[i] = ('{"messages": [%s]}\n'):format(table.concat(list, ", "))
        list[#list + 1] = message("assistant", turn[2])
      end
      local last = ('{"messages": [%s]}\n'):format(table.concat(list, ", ", system and 2 or 1, #list - 1))
      for _, case in ipairs { { table.concat(turns, "\n"), word }, { table.concat(chats), "" },
        { chats[#chats] .. chats[1], "" }, { last, word },
        { (system and message("system", system) .. "\n" or "") .. table.concat(turns), "" } } do
        files.write_all(folder, { { name = "lines.jsonl", text = case[1] } })
        local said = sh(line("llama", "chat", "--greedy --tokens 4 --format jsonl " .. case[2] .. " <lines.jsonl"))
        local texts = {}
        for i, each in ipairs(lines_of(said)) do
          local answer = dkjson.decode(each)
          texts[i] = answer.content
          assert.same({ role = "assistant", content = answer.content, ["end"] = "tokens" }, answer)
        end
        local wanted = case[1] == last and { expected[#expected] }
          or case[1]:find(chats[#chats] .. chats[1], 1, true) == 1 and { expected[#expected], expected[1] } or expected
        assert.same(wanted, texts)
      end
    end
    for _, role in ipairs { "assistant", "system", "developer" } do
      local code, said, notes = run(("printf '%%s\n' '%s' '%s' | %s"):format(message("user", "a"), message(role, "b"),
        line("llama", "chat", "--greedy --tokens 4 --format jsonl")))
      assert.same({ 3, 1 }, { code, #lines_of(said) })
      assert.equal("llama: standard input: line 2: the last message has no answer: only messages of the user and of "
        .. "tools are answered\n", notes)
    end
  end)

  it("refuses lines that are no messages, after the answers before them", function()
    local field = '"role": TEXT, "content": TEXT}; other fields and values are not supported'
    for given, fault in pairs { ["x"] = "in JSON is expected", ["[1"] = "in JSON is expected", ["{}"] = field,
      ["[]"] = field, ['{"role":"user"}'] = field, ['{"role":"user","content":null}'] = field,
      ['{"role":"user","content":[{"type":"text","text":"a"}]}'] = field,
      ['{"role":"user","content":"a","name":"b"}'] = field,
      ['{"role":"a","role":"b","content":"a"}'] = "in JSON is expected",
      ['{"messages":[]}'] = '"messages" is a list of messages',
      ['{"messages":{}}'] = '"messages" is a list of messages',
      ['{"messages":[3]}'] = field, ['{"messages":[{"role":"user","content":"a"}],"model":"m"}'] = field,
      ['{"role":"user","content":"\\u0000"}'] = "\\u0000 in a text is not supported" } do
      files.write_all(folder, { { name = "lines.jsonl",
        text = ("%s\n\n%s\n"):format(message("user", "the cat"), given) } })
      local code, said, notes = run(line("llama", "chat", "--greedy --tokens 4 --format jsonl <lines.jsonl"))
      assert.equal(3, code)
      assert.equal(1, #lines_of(said))
      assert.equal("llama: standard input: line 3: ", notes:sub(1, 31))
      assert.equal(fault .. "\n", notes:sub(-#fault - 1))
    end
    local code, said = refusal(line("llama", "chat", "--format npy"))
    assert.equal("--format: 'npy', but text or jsonl is allowed\n", said)
    assert.equal(2, code)
  end)

  it("is what generate --system answers with", function()
    for _, golden in ipairs(goldens("chat.jsonl")) do
      local system = golden.system ~= dkjson.null and golden.system or "in a few words"
      local answer = sh(("printf '%%s\n' %s | %s"):format(shell(golden.turns[1][1]),
        line("llama", "chat", "--tokens 4 --system " .. shell(system))))
      local words = "--tokens 4 --system " .. shell(system) .. " --prompt " .. shell(golden.turns[1][1])
      assert.equal(answer, sh(line("llama", "generate", words)))
      local list = lines_of(sh(line("llama", "generate", words .. " --prompt 'the cat' --format jsonl")))
      assert.equal(answer, dkjson.decode(list[1]).text .. "\n")
      assert.same({ golden.turns[1][1], "the cat" }, { dkjson.decode(list[1]).prompt, dkjson.decode(list[2]).prompt })
    end
    write_ids("one.npy", "1,", { 5 })
    local code, said = refusal(line("llama", "generate", "--system x --input one.npy"))
    assert.equal("--system: goes with --prompt, and not with --input\n", said)
    assert.equal(2, code)
  end)

  it("leaves the oldest turns out where the context is full", function()
    local code, said, notes = run("yes 'one two' | head -n 6 | " .. line("next", "chat", "--greedy --tokens 3"))
    assert.equal("next: chat: the context is full: the 1 oldest turns are left out\n", notes:match("^[^\n]*\n"))
    assert.equal(0, code)
    assert.equal(6, #lines_of(said))
  end)

  it("leaves out a turn that is longer than the context, and goes on with what was said before", function()
    local chat = line("next", "chat", "--greedy --tokens 3")
    local _, expected = run(("printf 'one\ntwo\n' | %s"):format(chat))
    local code, said, notes = run(("printf '%%s\n' one '%s' two | %s"):format(("word "):rep(40), chat))
    assert.equal(3, code)
    assert.equal(2, #lines_of(said))
    assert.equal(expected, said)
    assert.matches("^next: chat: the turn has %d+ tokens with its template, but the model's context has 40: it is left "
      .. "out\n", notes)
    assert.matches("\nnext: chat: 1 of 3 turns have no answer\n$", notes)
  end)

  it("has a line editor on a terminal, where Ctrl-C ends a line or an answer, and Ctrl-D the chat", function()
    local long = line("llama", "chat", "--greedy --tokens 20000 --logit-bias 2=-inf --logit-bias 300=-inf")
    local code, shown = typed(long, { { "> ", "abc" }, { "abc", "\3" }, { "> ", "x y\1z \n" }, { "z x y", "" },
      { "\n", "\3" }, { "> ", "\4" } })
    assert.equal(0, code, shown)
  end)

  it("ends at a signal where no line is edited, and without a template", function()
    -- From when it has a handler on; a signal that comes before it reads is forgotten.
    local code, _, notes = run(([[rm -f in; mkfifo in; set -m
%s <in &
exec 3>in
while kill -0 $! && ! { %s; }; do sleep 0.05; done
while kill -INT $! 2>said.txt; do sleep 0.1; done
wait $!]]):format(line("llama", "chat", "--greedy"), notes_signals("$!")))
    assert.equal("llama: interrupted\n", notes)
    assert.equal(130, code)
    of.build_program(places.next, "none", "kernels=c --chat-template=none")
    local refused_with, said = refusal("none/next chat --weights " .. shell(places.next))
    assert.equal("chat: this model was built without a chat template; build it with --chat-template FILE\n", said)
    assert.equal(2, refused_with)
    refused_with, said = refusal("none/next generate --system x --prompt y --weights " .. shell(places.next))
    assert.equal("--system: this model was built without a chat template; build it with --chat-template FILE\n", said)
    assert.equal(2, refused_with)
  end)
end)

describe("a signal", function()
  -- Sends a signal to a command once it has written (silent: once it has a handler). Returns its exit code, output
  -- and notes. feed: a command whose output it reads.
  local function interrupted(signal, feed, command, silent)
    local begun = silent and notes_signals("$(cat pid)") or "test -s out"
    local code, _, said = run(([[rm -f out pid; set -m
%s | sh -c 'echo $$ >pid; exec "$@"' sh %s >out 2>notes &
for i in $(seq 600); do { test -s pid && %s; } 2>said.txt && break; sleep 0.05; done
kill -%s $(cat pid); wait $!; code=$?; cat notes >&2; exit $code]]):format(feed, command, begun, signal))
    return code, helper.read(folder .. "/out"), said
  end

  local codes = { INT = 130, TERM = 143 }
  local long = "--greedy --logit-bias 2=-inf --logit-bias 300=-inf --tokens 15000 " -- no answer stops

  it("ends a line that was written in part", function()
    of.build_program(places.llama, "plain", "kernels=c context=20000 tokenizer=false")
    write_ids("ids.npy", "1, 2", { 5, 6 })
    files.write_all(folder, { { name = "prompts.txt", text = "a cat\nthe dog\n" } })
    for place, each in pairs {
      ["%-%-prompt"] = { "INT", line("llama", "generate", long .. "--prompt 'a cat'") },
      ["prompts%.txt: line 1"] = { "TERM", line("llama", "generate", long .. "--prompt-file prompts.txt") },
      ["ids%.npy: prompt 1"] = { "INT", "plain/llama generate --weights " .. shell(places.llama) .. " " .. long
        .. "--input ids=ids.npy" },
    } do
      local code, output, notes = interrupted(each[1], ":", each[2])
      assert.same({ codes[each[1]], "\n" }, { code, output:sub(-1) }, each[2] .. notes)
      assert.matches(("^llama: interrupted\nllama: %s[^\n]*: the answer is not whole\n$"):format(place), notes)
    end
  end)

  it("ends a chat after the line of an answer", function()
    local code, output, notes = interrupted("TERM", "yes hi", line("llama", "chat", long))
    assert.same({ 143, "llama: interrupted\n", "\n" }, { code, notes, output:sub(-1) })
    code, output, notes = interrupted("INT", "echo hi", line("llama", "chat", long)) -- ends the answer
    assert.same({ 0, "", "\n" }, { code, notes, output:sub(-1) })
  end)

  it("ends other streams between two lines", function()
    local ids = {}
    for i = 1, 2000 do ids[i] = 5 + i % 800 end
    write_ids("many.npy", "1, 2000", ids)
    sh("yes 'the quick brown fox' | head -n 100000 >long.txt")
    for _, each in ipairs {
      { "INT", "yes x", line("llama", "generate", "--greedy --prompt - --tokens 5 --format jsonl"), "llama", "}\n" },
      { "TERM", "yes the cat", line("next", "run", "--text -"), "next", "%d\n" },
      { "INT", "yes the cat", line("next", "run", "--text - --format jsonl"), "next", "}\n" },
      { "TERM", ":", line("llama", "run", "--input input_ids=many.npy --output logits=-"), "llama", "%d\n" },
      { "INT", ":", line("next", "perplexity", "--text-file long.txt"), "next", "^" },
    } do
      local code, output, notes = interrupted(each[1], each[2], each[3], each[5] == "^")
      assert.same({ codes[each[1]], each[4] .. ": interrupted\n" }, { code, notes }, each[3])
      assert.matches(each[5] .. "$", output:sub(-20))
    end
  end)
end)

describe("the library", function()
  it("samples from C and C++ what transformers generates", function()
    for i, compiler in ipairs { "cc -std=c99 -Wall -Wextra -Werror", "c++ -x c++ -std=c++11 -Wall -Wextra -Werror" } do
      sh(("%s -Illama -o host%d %s -x none llama/libllama.a -lutf8proc -lpcre2-8 -lpthread -lm"):format(compiler, i,
        shell(root .. "/tests/c/host_generate.c")))
    end
    local golden
    for _, each in ipairs(goldens("greedy.jsonl")) do
      if each.folder == "llama" and #each.options == 0 and not next(each.options) then golden = each end
    end
    local made = assert(dkjson.decode(sh(line("llama", "generate", "--greedy --tokens 16 --format jsonl --prompt "
      .. shell(golden.prompt)))))
    assert.same(golden.ids, made.ids)
    -- The logits are not wanted.
    local ids = sh("llama/llama run --weights " .. shell(places.llama) .. " --text-string " .. shell(golden.prompt)
      .. " --output input_ids=ids.npy && tail -c " .. 4 * made.prompt_tokens .. " ids.npy | od -An -v -t d4 -w4")
    local want = table.concat(golden.ids, " ") .. "\n"
    for i = 1, 2 do
      assert.equal(want, sh(("./host%d %s 16 %s"):format(i, shell(places.llama), (ids:gsub("%s+", " ")))))
    end
  end)

  it("generates, samples and keeps states in Python", function()
    assert.equal("", sh(("PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=llama:%s /usr/bin/python3 -W error %s %s %s"):format(
      shell(root .. "/tests/bindings"), shell(root .. "/tests/bindings/generate.py"), shell(places.llama),
      shell(root .. "/tests/generate/greedy.jsonl"))))
    assert.equal("", sh(("PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=llama:%s /usr/bin/python3 -W error %s llama %s"):format(
      shell(root .. "/tests/bindings"), shell(root .. "/tests/bindings/owners.py"), shell(places.llama))))
    assert.equal("", sh(("PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=llama /usr/bin/python3 %s llama %s 2>&1"):format(
      shell(root .. "/tests/bindings/left_open.py"), shell(places.llama))))
    if os.execute("command -v mypy >/dev/null") then
      assert.matches("^Success", sh(("mypy --strict --cache-dir %s llama/llama.py"):format(shell(helper.mypy_cache))))
    end
  end)
end)
