-- languages.lua: has what the classes of models that translate do with languages: the codes of a folder, the place of a
-- language's token in the source, and how the model is told the language to write.
local faults = require("common.faults")
local json = require("common.json")
local numbers = require("text.numbers")
local words = require("common.words")

local languages = {}

local TARGET, TEMPLATE = numbers.TARGET, numbers.TEMPLATE

local first_25 = [[ar_AR cs_CZ de_DE en_XX es_XX et_EE fi_FI fr_XX gu_IN hi_IN it_IT ja_XX kk_KZ ko_KR lt_LT lv_LV
  my_MM ne_NP nl_XX ro_RO ru_RU si_LK tr_TR vi_VN zh_CN ]]

--- The languages of mBART, in the order of their numbers, for folders without tokenizer.json.
languages.mbart = words.list(first_25)
languages.mbart_50 = words.list(first_25 .. [[af_ZA az_AZ bn_IN fa_IR he_IL hr_HR id_ID ka_GE km_KH mk_MK ml_IN mn_MN
  mr_IN pl_PL ps_AF pt_XX sv_SE sw_KE ta_IN te_IN th_TH tl_XX uk_UA ur_PK xh_ZA gl_ES sl_SI]])

--- The tokens of M2M-100's languages, by the name of their list. Their numbers follow the vocabulary's.
languages.m2m_100 = { wmt21 = words.list("en ha is ja cs ru zh de"), m2m100 = words.list([[
  af am ar ast az ba be bg bn br bs ca ceb cs cy da de el en es et fa ff fi fr fy ga gd gl gu ha he hi hr ht hu hy id
  ig ilo is it ja jv ka kk km kn ko lb lg ln lo lt lv mg mk ml mn mr ms my ne nl no ns oc or pa pl ps pt ro ru sd si
  sk sl so sq sr ss su sv sw ta th tl tn tr uk ur uz vi wo xh yi yo zh zu]]) }
for _, list in pairs(languages.m2m_100) do
  for i, code in ipairs(list) do list[i] = ("__%s__"):format(code) end
end

-- Classes: `code`: the pattern of a language's token, and its code in it; `around`: the tokens of a source; `default`:
-- the code of the source; `target`: how the model is told the language to write.
local classes = {
  MBartTokenizer = { code = "^(%l%l_%u%u)$", around = "A end language", default = "en_XX", target = TARGET.start },
  MBart50Tokenizer = { code = "^(%l%l_%u%u)$", around = "language A end", default = "en_XX", target = TARGET.first },
  NllbTokenizer = { code = "^(%l%l%l_%u%l%l%l)$", around = "language A end", older = "A end language",
    default = "eng_Latn", target = TARGET.first },
  M2M100Tokenizer = { code = "^__(%l+)__$", around = "language A end", default = "en", target = TARGET.first },
  MarianTokenizer = { code = "^>>(.+)<<$", around = "language A end", target = TARGET.source },
}

-- Returns the languages of the vocabulary by ascending ids: { code, id }, and the ids by code.
local function find(pattern, model)
  local list, ids = {}, {}
  for id = 0, model.largest do
    local code = model.tokens[id] and model.tokens[id]:match(pattern)
    if code and not ids[code] then list[#list + 1], ids[code] = { code = code, id = id }, id end
  end
  return list, ids
end

-- Returns the pieces of templates for a text and a pair, which stand side by side.
local function templates_of(around, language, last)
  local list = {}
  for pair = 0, 1 do
    for word in around:gmatch("%a+") do
      if word == "A" then
        list[#list + 1] = { kind = TEMPLATE.first, id = 0, type = 0, pair = pair }
        if pair == 1 then list[#list + 1] = { kind = TEMPLATE.second, id = 0, type = 0, pair = pair } end
      else
        local is_language = word == "language"
        list[#list + 1] = { kind = is_language and TEMPLATE.language or TEMPLATE.token,
          id = is_language and language or last, type = 0, pair = pair }
      end
    end
  end
  return list
end

--- Returns { list = { { code, id } }, source: the source's code if a caller names none, or nil, target: a TARGET }, and
--- the templates, or nil if the class knows no languages. config: tokenizer_config.json, or nil; file: its name in
--- messages; model: the tokenizer's model, with its added tokens. Faults: format.
function languages.read(class, config, file, model)
  local rules = classes[class]
  if not rules then return nil end
  config = json.kind(config) == "object" and config or {}
  local list, ids = find(rules.code, model)
  local function refuse(key, ...) faults.raise("format", "%s: %s: %s", file, key, faults.line(...)) end
  local source = rules.default and json.given(config, "src_lang", rules.default)
  local id = source and ids[source] or numbers.NONE
  if rules.default and #list == 0 then refuse("tokenizer_class", class .. ", but the vocabulary has no language") end
  if source and id == numbers.NONE then
    if config.src_lang ~= source then source = nil end
    if source then
      refuse("src_lang", "%s is no language of the vocabulary; languages: %s", json.shown(source),
        languages.shown(list))
    end
    source, id = list[1].code, list[1].id
  end
  local older = config.legacy_behaviour
  if rules.older and older ~= nil and type(older) ~= "boolean" then
    refuse("legacy_behaviour", "true or false is allowed")
  end
  local last = json.kind(config.eos_token) == "object" and config.eos_token.content or config.eos_token or "</s>"
  local last_id = model.added_ids[last] or model.ids[last]
  if not last_id then refuse("eos_token", "%s is not in the vocabulary", json.shown(last)) end
  return { list = list, source = source or nil, target = #list > 0 and rules.target or TARGET.none },
    templates_of(older and rules.older or rules.around, id, last_id)
end

--- Returns the codes of a list, joined by commas.
function languages.shown(list)
  local codes = words.map(list, function(each) return each.code end)
  return table.concat(codes, ", ")
end

return languages
