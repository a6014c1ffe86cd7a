-- languages.lua: names of the languages that Whisper knows. A folder may have one in place of the code of a token.
local LANGUAGES = [[
  af:afrikaans am:amharic ar:arabic as:assamese az:azerbaijani ba:bashkir be:belarusian bg:bulgarian bn:bengali
  bo:tibetan br:breton bs:bosnian ca:catalan,valencian cs:czech cy:welsh da:danish de:german el:greek en:english
  es:spanish,castilian et:estonian eu:basque fa:persian fi:finnish fo:faroese fr:french gl:galician gu:gujarati
  ha:hausa haw:hawaiian he:hebrew hi:hindi hr:croatian ht:haitian_creole,haitian hu:hungarian hy:armenian
  id:indonesian is:icelandic it:italian ja:japanese jw:javanese ka:georgian kk:kazakh km:khmer kn:kannada
  ko:korean la:latin lb:luxembourgish,letzeburgesch ln:lingala lo:lao lt:lithuanian lv:latvian mg:malagasy
  mi:maori mk:macedonian ml:malayalam mn:mongolian mr:marathi ms:malay mt:maltese my:myanmar,burmese ne:nepali
  nl:dutch,flemish nn:nynorsk no:norwegian oc:occitan pa:punjabi,panjabi pl:polish ps:pashto,pushto
  pt:portuguese ro:romanian,moldavian,moldovan ru:russian sa:sanskrit sd:sindhi si:sinhala,sinhalese sk:slovak
  sl:slovenian sn:shona so:somali sq:albanian sr:serbian su:sundanese sv:swedish sw:swahili ta:tamil te:telugu
  tg:tajik th:thai tk:turkmen tl:tagalog tr:turkish tt:tatar uk:ukrainian ur:urdu uz:uzbek vi:vietnamese
  yi:yiddish yo:yoruba yue:cantonese zh:chinese,mandarin]]

local codes = {}
for code, names in LANGUAGES:gmatch("(%a+):(%S+)") do
  for name in names:gmatch("[^,]+") do codes[name:gsub("_", " ")] = code end
end

local languages = {}

--- Returns the code of a language that is given by its name, its code or its token, in any letters.
function languages.code(given)
  local word = given:lower():gsub("^<|(.*)|>$", "%1")
  return codes[word] or word
end

return languages
