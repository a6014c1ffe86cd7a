"""The plots of the tales: seventeen kinds of things that happen to somebody.

A plot casts people, things and places from words.py, and tells what happens in paragraphs of templates (grammar.py).
What a tale has said stays true in it: a name keeps its owner, what was lost is what is found, and what somebody was
like at the beginning is remembered at the end.
"""

import random

from grammar import Person, Tale, Thing
from matters import (ACCIDENTS, BREAKABLE, CAPTIVES, CHORES, CONTESTS, ERRANDS, FEARS, GHOSTS, MAPS, MARKS, NEEDS,
                     NOISES, PRESENTS, RIDDLES, SEEDS, SKILLS, SNARES, STORMS, THANKS, TREASURES, TROUBLES, VOICES,
                     WEAPONS, WISHES, WORKS)
from words import (ANIMALS, BURROWS, FOODS, GIFTS, HOMES, MEN, NAMES, PLACES, SEASONS, SMALL, THINGS, TIMES, TRADES,
                   TRAITS, WINGED)

GOING = '''[So {h} went {PLACE_to}.|{H} [walked|ran|set out and went] {PLACE_to}.|{H.he} went {PLACE_to} [at once|
    without a word|as fast as {h.he} could].] [{PLACE_see}|]'''
LOOKS = ["", "", "little", "young", "old", "small", "tall"]


# ---------------------------------------------------------------- the cast

def person(tale, key, animal=0.6, trade=0.15, named=True, without=()):
    """Casts somebody whose kind and name nobody else has. animal, trade: the shares of animals and of people with a
    trade; the others are children, if they have names, or old people."""
    taken = {entry.fields["kind"] for entry in tale.cast.values() if isinstance(entry, Person)}
    names = {entry.fields["name"] for entry in tale.cast.values() if isinstance(entry, Person)}
    sex = tale.pick(["she", "he"])
    look = tale.pick(LOOKS)
    if tale.chance(animal):
        kind = tale.pick([kind for kind in ANIMALS if kind not in taken and kind not in without])
        look = "" if look == "tall" else look
    elif tale.chance(trade / (1 - animal)):
        kind = tale.pick([kind for kind in TRADES if kind not in taken])
        sex = "he" if kind in MEN else sex
        look = "old" if look == "little" else look
    elif named:
        kind = "girl" if sex == "she" else "boy"
        look = "" if look == "old" else look
        if kind in taken:
            kind, sex = ("boy", "he") if kind == "girl" else ("girl", "she")
        if kind in taken:
            kind = tale.pick([kind for kind in ANIMALS if kind not in taken])
    else:
        kind, look = "old woman" if sex == "she" else "old man", ""
        if kind in taken:
            kind = "stranger"
    name = tale.pick([name for name in NAMES[sex] if name not in names]) if named else None
    tale.cast[key] = Person(kind, sex, name, look)
    return tale.cast[key]


def thing(tale, key="t"):
    noun = tale.pick(THINGS)
    looks, use, found = THINGS[noun]
    tale.cast[key] = Thing(noun, tale.pick(looks))
    tale.cast[key + "_use"], tale.cast[key + "_found"] = use, found


def place(tale, key, among=None):
    """Casts a place that the tale has not had: {p} is "in the forest", {p_to} "into the forest", {p_see} a sight there,
    {p_go} the walk to it."""
    had = {value for name, value in tale.cast.items() if isinstance(value, str)}
    name = tale.pick([name for name in among or PLACES if PLACES[name][0] not in had])
    tale.cast[key], tale.cast[key + "_to"], sights = PLACES[name]
    tale.cast[key + "_see"], tale.cast[key + "_go"] = tale.pick(sights), GOING.replace("PLACE", key)


def food(tale, key="food"):
    tale.cast[key] = Thing(tale.pick(FOODS))


def gift(tale, key="gift"):
    had = {entry.get("noun", tale) for entry in tale.cast.values() if isinstance(entry, Thing)}
    tale.cast[key] = Thing(tale.pick([noun for noun in GIFTS if noun not in had]))


# ---------------------------------------------------------------- parts that many plots share

def opening(tale, unlike=(), **wanted):
    """Introduces the hero: name, home and, in most tales, a trait, which is none of `unlike`. Returns it, or None."""
    hero = person(tale, "h", **wanted)
    kind = hero.fields["kind"]
    home = tale.pick(BURROWS) if kind in SMALL and tale.chance(0.6) else tale.pick(HOMES)
    trait = tale.pick([trait for trait in TRAITS if trait not in unlike]) if tale.chance(0.7) else None
    if trait and tale.chance(0.5):
        hero.fields["a"] = ("an " if trait[0] in "aeiou" else "a ") + f"{trait} {kind}"
    tale.cast["home"], tale.cast["habit"] = home, TRAITS[trait][0] if trait else ""
    tale.say('''
        [Once there was {h.a} [called|named] {h.name}, who lived {home}.|Once upon a time, {home}, there lived {h.a}
        called {h.name}.|{H.a} [called|named] {h.name} lived {home}.|{H.name} was {h.a} who lived {home}.|There was
        once {h.a} whose name was {h.name}. {H.he} lived {home}.] {habit}''')
    return trait


def when(tale, season=None):
    season = season or tale.pick(SEASONS)
    tale.cast["season"], tale.cast["weather"] = season, tale.pick(SEASONS[season])
    tale.cast["time"] = tale.pick(TIMES)


def closing(tale, trait, ending):
    """Ends the tale with the ending of its plot, or with the hero's trait, and sometimes with a last line."""
    tale.cast["ending"] = TRAITS[trait][1] if trait and tale.chance(0.3) else ending
    tale.say('''
        {ending} [|||||And that is the end of the tale.|That was long ago, but people still tell of it.|So it was
        told to me.|And if they have not moved away, they still live there.]''')


# ---------------------------------------------------------------- plots

def helping(tale):
    """Somebody is in trouble, and the hero borrows what may help."""
    trait = opening(tale)
    when(tale)
    trouble = tale.pick(TROUBLES)
    state, words, tools = TROUBLES[trouble]
    person(tale, "v", animal=0.0 if trouble in ("wheel", "coat", "letter", "garden", "stove") else 0.5, trade=0.5,
           named=False, without=WINGED if trouble in ("well", "river", "tree") else ())
    person(tale, "m", named=False, animal=0.3, trade=0.5)
    tool = tale.pick(tools)
    tale.cast["t"] = Thing(tool, tale.pick(["", "", "good", "old", "big"] if " " not in tool else [""]))
    tale.cast.update(state=state, words=words, help=tools[tool])
    place(tale, "q")
    gift(tale)
    tale.say('''
        [In {season}, when {weather}, {h} went for a walk.|{Time} in {season} {h} was on {h.his} way home.|It was
        {season}, and {weather}. {Time} {h} went out.] [{H.he} met {v.a} who {state}.|Beside the path {h.he} saw {v.a}
        who {state}.]''')
    tale.say('''
        "[What has happened?|What is the matter?|Can I help you?|Why are you so sad?]" asked {h}. {words} ["Wait
        here," said {h}. "I know who has {t.a}."|{H} thought about it. "You need {t.a}," {h.he} said, "and I know
        where to get one."]''')
    tale.say('''
        {q_go} [{M.a} [worked|sat|lived] there.|There {h.he} found {m.a}.] "[Would you lend me {t.a}|May I borrow
        {t.a}|Could I have {t.a} for an hour][|, please]?" asked {h}. "[It is for somebody in trouble|Somebody needs
        it badly]."''')
    if tale.chance(0.5):
        tale.say('''
            ["Of course," said {m}. "Take it, and [bring it back|come back safely]."|"Take it," said {m}. "It only
            [hangs on the wall|gathers dust] here."|{M} [nodded|smiled] and [fetched {t.the}|brought {t.the} from the
            shed].]''')
    else:
        tale.cast["work"], tale.cast["worked"] = tale.pick(CHORES)
        tale.say('''
            "[You may have it if you {work}|First {work}|{Work}, and it is yours for a day]," said {m}. {H} {worked},
            and {m} [gave {h.him} {t.the}|fetched {t.the}|put {t.the} into {h.his} hands].''')
    tale.say('''
        [Soon {h.he} was back.|{H.he} ran back as fast as {h.he} could.|] {help}''')
    tale.say('''
        "[Thank you|Thank you with all my heart|I will never forget this]," said {v}[, and gave {h.him} {gift.a}.|.
        "Take {gift.a}, it is all I have."|, and {v.he} meant it.]''')
    closing(tale, trait, '''
        [{H} brought back {t.the} and went home [happy|tired and happy|under the first stars].|In the evening the
        three of them sat together and [laughed about it|drank tea].|And whenever they met after that, they
        [waved|greeted each other like old friends].]''')


def lost(tale):
    """The hero loses something, asks for it, and finds it where it is least expected."""
    trait = opening(tale)
    when(tale)
    thing(tale)
    for key in ("a", "b"):
        person(tale, key, named=False, animal=0.6, trade=0.3)
    place(tale, "p")
    place(tale, "q")
    tale.say('''
        {H} had {t.a}. {H.he} {t_use}. [But {time} {t.the} was gone.|{Time} in {season}, when {weather}, {t.the} was
        gone.|Then, {time}, {h.he} looked for it, and it was not there.] [{H} looked under the bed and behind the
        stove.|{H} turned the whole house upside down.|{H.he} searched everywhere, but {h.he} did not find it.|]''')
    tale.say('''
        {H} asked {a.a} {p}. "Have you seen my {t.noun}?" "[No|I have not|I am sorry]," said {a}, "but [there is {b.a}
        {q}, who sees everything|{b.a} came by this morning and went {q_to}|you could ask the {b.kind} {q}]."''')
    tale.say('''
        {q_go} {B} [was there|sat there|was asleep]. ["{T.a}?" said {b}. "I thought [nobody wanted it|it had fallen
        from the sky]. [Look over there.|It is over there.]"|"I did hear something," said {b}. "Look [over
        there|behind you|a little farther on]."|"[Go ten steps and look down|Turn around]," said {b}[ and smiled|].]''')
    tale.say('''
        [{H} went and looked. There was {t.the}: {t_found}.|{H} looked, and there was {t.the}: {t_found}.|It was true:
        {t_found}.] [{H.he} was so glad that {h.he} [danced|laughed|hugged {b}].|"There you are!" cried {h}.|{H.he}
        picked it up and [held it tight|dried it with {h.his} sleeve].]''')
    gift(tale)
    closing(tale, trait, '''
        [The next day {h} brought {b} {gift.a}, to say thank you.|{H} never lost {t.the} again.|And on the way home
        {h.he} did not let go of it for a moment.|From then on {h} looked after {t.the} better than before.]''')


def chain(tale):
    """One wants something of another, who wants something of a third."""
    trait = opening(tale)
    when(tale)
    thing(tale)
    for key, where in (("a", "p"), ("b", "q"), ("d", "r")):
        person(tale, key, named=False, animal=0.4, trade=0.45)
        place(tale, where)
    gift(tale)
    gift(tale, "gift2")
    food(tale)
    tale.say('''
        {Time} {h} saw {a.a} {p}, who had {t.a}. [{H.he} had never seen anything so beautiful.|{H.he} wanted it more
        than anything.|It was just like the one that {h.his} [grandmother|grandfather] had owned.] "What do you want
        for it?" asked {h}.''')
    tale.say('''
        "[Bring me|I will give it to you for|You can have it for] {gift.a}," said {a}. {H} had [nothing of the
        kind|only a crumb of bread in {h.his} pocket]. {q_go} {B.a} there had [just what {h.he} needed|what {h.he}
        needed].''')
    tale.say('''
        "[You can have it|Gladly]," said {b}, "if you bring me {gift2.a}." {r_go} There {h.he} met {d.a}. "[I have
        that|That I can give you|I know where to find that]," said {d}, "but [I am hungry|I have not eaten since
        yesterday]. [Make|Bring] me {food.a}."''')
    tale.say('''
        So {h} went home and made {food.a}. {D} [ate it all|ate and licked the spoon|said that it was the best {d.he}
        had ever eaten] and gave {h.him} {gift2.the}. {B} took {gift2.the} and gave {h.him} {gift.the}. And {a} took
        {gift.the} and gave {h.him} {t.the}.''')
    closing(tale, trait, '''
        [{H} carried {t.the} home, and everyone had what they wanted.|"[That was a long way|All that for one
        {t.noun}]," thought {h}, [and laughed|but it had been worth it].|In the end all four were happy, and all it
        had taken was {food.a}.]''')


def birthday(tale):
    """The hero makes a present for a friend."""
    trait = opening(tale)
    when(tale)
    person(tale, "f", animal=0.7, trade=0.0)
    person(tale, "m", named=False, animal=0.3, trade=0.5)
    place(tale, "p")
    make = tale.pick(PRESENTS)
    parts = list(make[1])
    tale.cast["present"], tale.cast["made"], tale.cast["result"] = make[0], make[2], make[3]
    for key in ("x", "y", "z"):
        tale.cast[key] = tale.pick(parts)
        parts.remove(tale.cast[key])
    tale.say('''
        {H.his} best friend was {f.a} called {f.name}. [Tomorrow was {f.name}'s birthday|In three days it would be
        {f.name}'s birthday|{F.name}'s birthday came in {season}, when {weather}], and {h} had [no present|not even
        thought of a present]. "I will make {f.him} {present}," {h.he} [thought|said|decided].''')
    tale.say('''
        {H.he} needed {x}, {y} and {z}. [{X} and {y} were in the cupboard|{X} {h.he} found in a drawer, and {y} {h.he}
        borrowed from a neighbour], but {h.he} had to look for {z} elsewhere. {p_go} There {h.he} met {m.a}.''')
    tale.say('''
        "[I need|I am looking for] {z}," said {h}, "[for a birthday present|because {f.name} has a birthday]." "[Then
        you must have it|A birthday is a serious matter|I like birthdays]," said {m}, and gave {h.him} what {h.he}
        needed.''')
    tale.say('''
        [All evening {h} worked|{H} went home and set to work|Back home {h} began at once]. {made}. [In the end it was
        finished|When the sun came up it was ready].''')
    tale.say('''
        ["For me?" asked {f.name}.|{F.name} did not know what to say.|{F.name} clapped and jumped.] [It was {present},
        and it {result}.|{Present}! And it {result}.]''')
    closing(tale, trait, '''
        [[They celebrated|They sat together|They laughed and sang] until [the stars came out|the candles burned
        down].|"It is the best birthday I have ever had," said {f.name}.|And {m} was invited, too, and [told
        stories|ate the most].]''')


def seed(tale):
    """The hero plants something and waits."""
    trait = opening(tale)
    person(tale, "f", animal=0.7, trade=0.1)
    tale.cast["season"] = "spring"
    noun = tale.pick(SEEDS)
    grown, fruit, dish = SEEDS[noun]
    tale.cast["t"] = Thing(noun)
    tale.cast.update(grown=grown, fruit=fruit, dish=dish)
    person(tale, "m", named=False, animal=0.4, trade=0.4)
    tale.say('''
        [One day in spring|In spring, when the snow had melted,] {m.a} gave {h.him} {t.a}. "[Put it into the earth and
        be patient|It is small, but wait and see|Plant it and give it water]," said {m}. {H} [dug a hole|dug a hole
        with a spoon|found a sunny place] behind the house and planted it.''')
    tale.say('''
        [The first day nothing happened. The second day nothing happened.|{H} sat down beside it and waited. Nothing
        happened.|Every morning {h.he} ran out to look. There was only brown earth.] {H.his} neighbour, {f.a} called
        {f.name}, [laughed|shook {f.his} head]. "[Nothing will come of it|You are watering stones|You could buy
        {fruit} at the market]," {f.he} said.''')
    tale.say('''
        But {h} [carried water every evening|pulled out the weeds|sang to it every evening] [and did not give up|and
        waited]. [When it was hot, {h.he} gave it shade.|When the wind was strong, {h.he} tied it to a stick.|When the
        snails came, {h.he} carried them to the other side of the road.] [Then it rained for a whole night|Two weeks
        went by|Then came a warm morning], and [there was a small green tip|a small green leaf looked out of the
        earth].''')
    tale.say('''
        It grew and grew, and it became {grown}. ["I was wrong," said {f.name}.|{F.name} came and stared.|Now {f.name}
        did not laugh any more.] {H} made {dish} and [invited {f.name} to eat|put two plates on the table|shared it
        with {f.name}].''')
    closing(tale, trait, '''
        ["[May I have one seed|Will you show me how to plant one]?" asked {f.name}, and {h} [gave {f.him} two|said
        yes].|The next spring there were two gardens behind the two houses.|And {m} got the biggest piece.]''')


def fear(tale):
    """The hero is afraid of something and does it all the same, for a friend."""
    opening(tale, unlike=("brave",))
    when(tale)
    name = tale.pick(FEARS)
    habit, moment, truth = FEARS[name]
    tale.cast.update(fear=name, doing=habit, moment=moment, truth=truth)
    person(tale, "f", animal=0.7, trade=0.1)
    tale.cast["need"] = tale.pick(NEEDS)
    tale.say('''
        {H} was afraid of {fear}. {H.he} {doing}. [Everyone knew it, and some laughed.|Everyone laughed about it, but
        {h.his} friend {f.name}, {f.a}, never did.|{H.he} had never told anyone.|Only {h.his} friend {f.name}, {f.a},
        knew about it.]''')
    if tale.cast["f"].fields["name"] not in tale.paragraphs[-1]:
        tale.say('''
            {Time} in {season}, when {weather}, {h} heard that {f.a} called {f.name}, {h.his} best friend, {need}.''')
    else:
        tale.say('''
            {Time} in {season}, when {weather}, {h} heard that {f.name} {need}.''')
    tale.say('''
        [There was nobody else who could go.|The others were all away.|"Somebody must go," said the neighbours, and
        looked at their feet.] [And the way led where {h} did not want to go.|The way was not long, but it led where
        {h} never went.] [{H.his} heart beat like a drum.|{H.his} knees shook.|{H.he} took a deep breath.] "[I am
        afraid|I do not want to]," said {h}, "but I will go."''')
    tale.say('''
        {moment} [{H} counted to ten and went on.|{H} sang a song, first softly and then louder.|{H} thought of
        {f.name} and went on.|"One more step," {h.he} said, "and one more."] [Nothing bad happened.|And then it was
        over.|It was not half as bad as {h.he} had thought.]''')
    tale.say('''
        "You came!" said {f.name}. "[Were you not afraid|Are you not afraid of {fear}|And you were not afraid]?"
        "[Yes, I was|Very much|A little|Of course I was]," said {h}, "[but I came all the same|but you are my
        friend|but you needed me]."''')
    closing(tale, None, '''
        [On the way home {h} found that {truth}.|From then on {h} knew that {truth}.|And when {h.he} thought about it
        later, it seemed to {h.him} that {truth}.]''')


def quarrel(tale):
    """Two friends quarrel about a thing and make it up."""
    trait = opening(tale)
    when(tale)
    thing(tale)
    person(tale, "f", animal=0.7, trade=0.0)
    person(tale, "m", named=False, animal=0.3, trade=0.3)
    place(tale, "p")
    place(tale, "q")
    food(tale)
    tale.say('''
        {H} and {h.his} friend {f.name}, {f.a}, did everything together. But {time} they found {t.a} {p}. "I saw it
        first," said {h}. "[But I picked it up|No, I saw it first|It was I who said we should come here]," said
        {f.name}.''')
    tale.say('''
        [They pulled at it from both sides.|They shouted until the birds flew away.|Each of them held on to it and
        would not let go.] ["Then keep it!" cried {f.name}, and ran away.|{F.name} let go and walked off without a
        word.|"You are not my friend any more," said {f.name}, and went home.] Now {h} had {t.the}, [but nobody to
        share it with|but {h.he} did not enjoy it|and {h.he} was alone].''')
    tale.say('''
        [The day was long.|It began to rain.|Supper tasted of nothing.] {H} went {q_to} and [kicked a stone|sat
        down|looked at the ground]. "[Why do you look so gloomy|Where is your friend today|Alone today]?" asked {m.a}.
        {H} told the whole story. "[Things do not laugh at your jokes|You can own a thing or share it|The first one to
        say sorry is the stronger one]," said {m}.''')
    tale.say('''
        So {h} [went to {f.name}'s house|ran all the way to {f.name}'s house] and knocked. "[I am sorry|I was
        wrong|Please forgive me]," {h.he} said. "[You can have it|Let us share it|It is yours]." "[I am sorry, too|And
        I should not have shouted|I was just coming to see you]," said {f.name}.''')
    closing(tale, trait, '''
        [From then on {t.the} belonged to {h} [on even days and to {f.name} on odd days|one week and to {f.name} the
        next].|They sat down and ate {food.a}, and {t.the} lay between them.|And neither of them could remember who
        had seen it first.]''')


def contest(tale):
    """A contest that the one who is sure to win does not win."""
    trait = opening(tale, animal=0.8)
    when(tale)
    person(tale, "f", animal=0.9, trade=0.0)
    race = tale.pick(CONTESTS)
    place(tale, "p", ["lake", "beach", "harbour"] if race[0] == "a boat race" else
          ["hill", "bridge", "meadow", "mill", "square", "market"])
    tale.cast.update(race=race[0], title=race[1], start=race[2], mistake=tale.pick(race[3]), win=race[4])
    gift(tale)
    tale.say('''
        Every [spring|summer|autumn] there was {race} {p}. {F.a} called {f.name} had won it [three times|five
        times|every year] and told everyone that {f.he} was {title} in the land. "[Nobody can beat me|Why do the
        others even come]," said {f.name}. "[Least of all you|You may carry my bag], {h.name}."''')
    tale.say('''
        {H} [did not answer|only smiled|thought about it all night]. [Every day {h.he} practised behind the
        barn.|{H.he} had no great hopes, but {h.he} wanted to try.|"We will see," {h.he} said.]''')
    tale.say('''
        The day came, and [the whole village was there|all the animals had come to watch|there were flags everywhere].
        {start} [But then {f.he} {mistake}.|But {f.he} was so sure of it all that {f.he} {mistake}.] {H} [went on, not
        fast, but without a rest|did not look left or right|took a deep breath], and {h.he} {win}.''')
    tale.say('''
        [There was a great cheer.|Hats flew into the air.|First it was quiet, and then everyone clapped.] The prize
        was {gift.a}.''')
    closing(tale, trait, '''
        [{F.name} [was silent for a whole day|came and shook {h.his} hand]. "[Well done|You were better]," {f.he}
        said.|{H} shared the prize with {f.name}, and [that was the best of it|next year they trained together].|And
        {f.name} [never boasted again|boasted less after that].]''')


def guest(tale):
    """A stranger knocks in bad weather, and is not what one thinks."""
    trait = opening(tale)
    tale.cast["storm"] = tale.pick(STORMS)
    person(tale, "v", named=False, animal=0.4, trade=0.4)
    food(tale)
    tale.cast["thanks"] = tale.pick(THANKS)
    tale.say('''
        {storm} [{H} sat by the stove and was glad to be inside.|{H} was about to go to bed.|{H} had just put {food.a}
        on the table.] There was a knock at the door. [Outside stood {v.a}, wet to the bones.|It was {v.a}, with
        [snow|leaves|rain] on {v.his} shoulders.]''')
    tale.say('''
        "[May I come in and get warm|Is there a corner where I can sleep|I have lost my way. May I stay until
        morning]?" asked {v}. [{H} had only one bed and little to eat|The house was small|{H} had never seen {v.him}
        before], but {h.he} [opened the door wide|did not think twice|took {v.his} coat and hung it by the fire].''')
    tale.say('''
        They shared {food.a}[, half and half|, and it was enough for two|]. [{V} told of lands where [the sun never
        set|it snowed in summer|the houses stood on water].|They talked until the fire was low.|{V} said little, but
        {v.he} looked at everything with bright eyes.] {H} gave {v.him} the [bed|warm place by the stove] and slept
        [on the floor|on the bench|in the chair].''')
    tale.say('''
        In the morning {v} was gone. [But {thanks}.|{H} opened the door and could not believe it: {thanks}.]''')
    closing(tale, trait, '''
        [{H} never found out who it had been.|Since then there has always been a light in {h.name}'s window at
        night.|And {h} never turned away [anyone|a stranger] as long as {h.he} lived.]''')


def treasure(tale):
    """A letter in a bottle or a map in a box leads to something that is not gold."""
    trait = opening(tale)
    when(tale)
    person(tale, "f", animal=0.7, trade=0.0)
    tale.cast["found"] = tale.pick(MAPS)
    place(tale, "p", ["forest", "meadow", "hill", "lake", "orchard", "beach", "mountain", "marsh", "river"])
    tale.cast["treasure"], tale.cast["then"] = tale.pick(TREASURES)
    tale.cast["steps"] = tale.pick(["twenty", "thirty", "forty", "fifty", "a hundred"])
    tale.cast["mark"] = tale.pick(MARKS)
    tale.say('''
        {Time} in {season} {h} found {found}. [On it somebody had written|The writing was old and brown. It said|There
        were only a few words]: "Go {p_to}, and take {steps} steps from {mark}." "[A treasure|Gold, I am sure|This is
        a secret]!" cried {h}, and ran to {h.his} friend {f.name}, {f.a}.''')
    tale.say('''
        [They took a spade and a bag of bread.|They packed a lantern and some apples.|They set out before breakfast.]
        They went {p_to}. [It was a long way.|The sun was high.|{p_see}] [Before them stood|Soon they found] {mark},
        just as the words had said. {F.name} counted the steps: "One, two, three ..." [At the end they had to push the
        branches aside.|The last step led around a rock.|They had to count twice, because {f.name} had shorter
        legs.]''')
    tale.say('''
        [There was no gold.|It was not gold.|There was no chest and no gold.] There was {treasure}. [At first they
        were disappointed.|They stood still.|"Oh," said {f.name}.] And {then}.''')
    closing(tale, trait, '''
        [{H} put the words back where {h.he} had found them, for the next one.|"It was a good treasure," said {h} on
        the way home, and {f.name} [nodded|agreed].|They never told anyone where it was, but sometimes they went
        back.]''')


def learning(tale):
    """The hero wants to learn something and fails three times."""
    skill = tale.pick(SKILLS)
    can_already = {"swim": {"duck", "goose", "frog", "otter", "beaver", "turtle"},
                   "whistle": {"sparrow", "crow", "owl"}}
    trait = opening(tale, without=can_already.get(skill, ()))
    when(tale, {"swim": "summer", "skate": "winter"}.get(skill))
    fails, turn, use = SKILLS[skill]
    fails = list(fails)
    person(tale, "m", named=False, animal=0.4, trade=0.4)
    first = tale.pick(fails)
    fails.remove(first)
    tale.cast.update(skill=skill, fail=first, fail2=tale.pick(fails), turn=turn, use=use)
    tale.say('''
        There was one thing that {h} wanted more than anything: {h.he} wanted to {skill}. [All the others could do
        it|{H.his} brothers and sisters had learned it long ago|{H.he} dreamed of it at night]. So {time} {h.he} went
        to {m.a} and said, "[Please teach me to {skill}|I want to learn to {skill}]."''')
    tale.say('''
        "[It is not hard|It takes time|Everyone can learn it]," said {m}. "[Watch me|Do as I do|Begin slowly]." {H}
        tried. {fail} [The next day {h.he} tried again.|"Once more," said {m}.] {fail2}''')
    tale.say('''
        "I will never learn it," said {h}[, and sat down|, and was close to tears|]. ["Do you know how often I tried?"
        asked {m}.|"I needed a whole year," said {m}.|"I was worse than you," said {m}.] "[Again|Try once more|Sleep
        first, and come back tomorrow]." [So it went on for [a week|two weeks|a month].|{H} came back every day.]''')
    tale.say('''
        {turn} "[There|Did I not tell you|Now you can do it]," said {m}[ and smiled|].''')
    closing(tale, trait, '''
        [By the end of {season}, {h} {use}.|A year later {h} {use}.|And when a little [mouse|duck|lamb] came and
        wanted to learn it, too, {h} said, "It takes time. Watch me."]''')


def honest(tale):
    """The hero breaks something and tells the truth, not at once."""
    trait = opening(tale, animal=0.6, trade=0.0)
    when(tale)
    person(tale, "m", named=False, animal=0.2, trade=0.5)
    broken = tale.pick(BREAKABLE)
    tale.cast["broken"] = broken
    tale.cast["how"] = tale.pick(ACCIDENTS)
    tale.cast["crash"] = "The window was broken." if broken == "a window" else (
        "{Broken} lay on the floor[ in a hundred pieces|, broken in two|].")
    tale.say('''
        {Time} {h} {how}. [There was a crash.|Crash!] {crash} Nobody had seen it. {H} [ran away|hid in the barn|went
        home and closed the door].''')
    tale.say('''
        [At supper {h.he} could not eat.|That night {h.he} could not sleep.|The whole next day {h.he} did not want to
        play.] [It was as if {h.he} had swallowed a stone.|Whenever somebody said {h.his} name, {h.he} jumped.|Even
        the moon seemed to look at {h.him}.] {M} asked everyone in the village, and [everyone shook their heads|nobody
        knew anything|in the end {m.he} blamed the cat].''')
    tale.say('''
        In the morning {h} [took all {h.his} courage|put on {h.his} best clothes|could not bear it any longer] and
        went to {m}. "It was I," {h.he} said. "[I broke it, and I am sorry|I did not mean to|I was afraid to tell
        you]." {M} [looked at {h.him} for a long time|was silent|put down {m.his} cup]. "[I am glad that you told
        me|That was harder than breaking it|Things can be mended]," {m.he} said.''')
    tale.say('''
        [Together they glued the pieces.|They swept up the pieces together.|Every afternoon for a week {h} helped {m}
        with {m.his} work.] [One can still see it, if one looks closely.|And then they had tea.|And {h} slept well
        again.]''')
    closing(tale, trait, '''
        [After that {h} and {m} were friends.|"The truth weighs less," said {h} later, "when one has said it."|And if
        something broke in the village after that, {h} was the first to say what had happened.]''')


def noise(tale):
    """A strange noise at night turns out to be something small."""
    trait = opening(tale)
    name = tale.pick(NOISES)
    sound, cause = NOISES[name]
    person(tale, "f", animal=0.7, trade=0.1)
    tale.cast.update(noise=name, sound=sound, cause=cause)
    tale.cast["guess"] = Thing(tale.pick(GHOSTS))
    tale.cast["arm"] = Thing(tale.pick(WEAPONS))
    food(tale)
    tale.say('''
        One night {h} woke up. {H.he} had heard {noise}. {sound} [{H} pulled the blanket over {h.his} head.|{H} sat up
        and listened.|The moon shone through the window, and nothing moved.] There it was again.''')
    tale.say('''
        {H} ran next door to {h.his} friend {f.name}, {f.a}. ["It is {guess.a}," whispered {h}.|"I think it is
        {guess.a}," said {h}.|"What if it is {guess.a}?" asked {h}.] {F.name} [rubbed {f.his} eyes|yawned|turned
        pale], took {arm.a} and [came along|opened the door|went ahead].''')
    tale.say('''
        They crept [around the house|up the stairs|through the garden] on tiptoe. {sound} ["You first," whispered
        {f.name}. "No, you," whispered {h}.|They held hands.|{F.name} lifted {arm.the}.] Then they saw it: it was
        {cause}.''')
    tale.say('''
        [They laughed until their bellies hurt.|"So much for {guess.the}," said {f.name}.|{H} had to sit down, {h.he}
        laughed so much.] And because they were awake anyway, they [ate|made|warmed up] {food.a}.''')
    closing(tale, trait, '''
        [When {h} heard the noise again, {h.he} turned over and slept on.|"Wake me when it really is {guess.a}," said
        {f.name} and went to bed.|They told the story for years, and {guess.the} got bigger every time.]''')


def moon(tale):
    """The hero speaks with the moon, the wind or the river, and gets an answer."""
    trait = opening(tale, animal=0.6, trade=0.1)
    who = tale.pick(VOICES)
    when(tale, "winter" if who[0] == "snow" else None)
    tale.cast["v"] = Person(who[0], who[1])
    tale.cast.update(went=who[2], question=who[3], answer=tale.pick(who[4]), sign=who[5])
    food(tale)
    tale.say('''
        {H} often [talked to|thought about] the {v.kind}, but the {v.kind} had never answered. {Time} in {season},
        when {weather}, {h} {went} and asked, {question}''')
    tale.say('''
        [For a long time there was no sound.|Nothing happened. {H} was about to go.|{H} waited and did not move.] Then
        a voice [as deep as a well|as soft as feathers|that seemed to come from everywhere] said, "[Nobody has ever
        asked me that|You are the first to ask|That is a good question]. {answer}."''')
    tale.say('''
        "[Are you lonely|Do you like it|Do you need anything]?" asked {h}. "[Not when somebody asks|Only that somebody
        looks at me now and then|Tell me what it is like to be small]," said the {v.kind}. So {h} told of {food.a} and
        of [warm feet|a good bed|the smell of hay|the first day of school], and the {v.kind} listened.''')
    tale.say('''
        [{H} told nobody, because nobody would have believed it.|The others laughed when {h} told them.] But something
        had changed. {sign}.''')
    closing(tale, trait, '''
        [And {h} always said good night to the {v.kind}.|When {h} was old, {h.he} still knew every word.|Some say that
        one only has to ask.]''')


def riddle(tale):
    """Somebody lets the hero pass, or gives what is asked for, if a riddle is solved."""
    trait = opening(tale)
    when(tale)
    person(tale, "m", named=False, animal=0.5, trade=0.3)
    place(tale, "p", ["forest", "bridge", "mountain", "marsh", "river", "hill"])
    thing(tale)
    question, answer = tale.pick(RIDDLES)
    wrong = tale.pick([other for _, other in RIDDLES if other != answer])
    tale.cast.update(question=question, answer=answer, wrong=wrong)
    tale.cast["errand"] = tale.pick(ERRANDS)
    tale.say('''
        {Time} in {season}, when {weather}, {h} set out {errand}. The way led {p_to}. {p_see} There sat {m.a} in the
        middle of the path. "[Nobody passes here|I let nobody through] who cannot solve my riddle," said {m}.''')
    tale.say('''
        "[Ask|Let me hear it|I like riddles]," said {h}. "{question}" asked {m}. [{H} sat down on a stone and
        thought.|{H} scratched {h.his} head.|{H} walked three times around a tree.]''')
    tale.say('''
        "Is it {wrong}?" asked {h}. "No," said {m}. "[Try again|You have one more try|Think, there is time]." [A leaf
        fell.|The sun moved on.|Somewhere a bird laughed.|It got late.] Then {h} [smiled|jumped up|clapped]. "It is
        {answer}!"''')
    tale.say('''
        "[It is|So it is|Right]," said {m}[ and stepped aside| and sighed|]. "[You are the first this year|Most people
        turn back|I must find a harder one]. [Take {t.a} with you, I do not need it|Here is {t.a}, for the way]."''')
    closing(tale, trait, '''
        [And on the way back {h} asked {m} a riddle, and {m} is still thinking about it.|{H} thanked {m.him} and went
        on {h.his} way, and thought up a riddle at every step.|"What was it?" asked the others later. But {h} only
        said, "{question}"]''')


def wish(tale):
    """Whoever was set free grants a wish, and the hero wishes for something small."""
    trait = opening(tale)
    when(tale)
    tale.cast["v"] = Thing(tale.pick(CAPTIVES), tale.pick(["golden", "silver", "blue", "tiny", "strange"]))
    tale.cast["stuck"] = tale.pick(SNARES)
    place(tale, "p")
    tale.cast["asked"], tale.cast["came"] = tale.pick(WISHES)
    tale.say('''
        {Time} in {season} {h} was {p}. {p_see} There {h.he} found {v.a} that {stuck}. ["Poor thing," said {h}, and
        set it free.|{H} bent down and helped it.|{H} did not think long and set it free.]''')
    tale.say('''
        "[Thank you|You are kind]," said {v.the}, and {h} [nearly fell over|rubbed {h.his} ears|looked around, but
        there was nobody else]. "[Now you have a wish|For that you may wish for something|I can grant you one
        wish]."''')
    tale.say('''
        {H} thought of [gold|a crown|a castle with a hundred rooms], [but what would {h.he} do with it?|but that was
        too heavy to carry.|and then {h.he} forgot it again.] "I wish {asked}," said {h} in the end. "[A strange
        wish|That is all|Nobody has ever wished for that]," said {v.the}, "[but so be it|but you shall have it]." And
        it was gone.''')
    tale.say('''
        [When {h} came home|The next day|In the evening], {came}. [{H} laughed out loud.|{H} could hardly believe
        it.|{H} looked up at the sky and said thank you.]''')
    closing(tale, trait, '''
        [{H} never saw {v.the} again, but {h.he} [always looked under the leaves|greeted every {v.noun}].|When
        somebody asked why {h.he} had not wished for gold, {h.he} only smiled.|It was a small wish, but it lasted a
        long time.]''')


def village(tale):
    """A whole village needs something, and everyone brings what they can."""
    trait = opening(tale, animal=0.5)
    when(tale)
    work = tale.pick(WORKS)
    tale.cast.update(need=work[0], plan=work[1], x=work[2], y=work[3], done=work[4])
    for key in ("a", "b", "d"):
        person(tale, key, named=False, animal=0.5, trade=0.4)
    gift(tale)
    tale.say('''
        [One {season}, when {weather}, {need}.|It was {season}, and {weather}. But {need}.] [Everyone complained, and
        nobody did anything.|"Somebody should do something," people said.|People stood about and shook their heads.]
        "Let us {plan}," said {h}. "[I have two hands|I will begin|It cannot be so hard]."''')
    tale.say('''
        "[You are too small for that|That is too much work|That takes a hundred men]," said {a.a}. But {h} began all
        the same, [alone|early in the morning|in the rain]. [The first day {h.he} did not get far.|In the evening
        {h.his} arms hurt.]''')
    tale.say('''
        The second day {b.a} came by and watched. "[I have some {x} at home|I could spare some {x}]," said {b}. The
        third day {d.a} brought {y}. [And then came the others, one after the other.|Soon there was singing and
        hammering everywhere.|The children carried water, and the old ones told them how it had been done before.]
        Even {a} came, [with a red face|last of all|and said nothing], and worked [harder than all the others|until it
        was dark].''')
    tale.say('''
        {done} [There was a feast with music.|They danced until the morning.|{A} held a speech, and it was short.]''')
    closing(tale, trait, '''
        [And if one asked who had done it, everyone said, "We did."|{H} [got|was given] {gift.a} for it, and [gave it
        to the children|shared it with {b}].|"It was not so hard," said {h}.]''')


PLOTS = [helping, lost, chain, birthday, seed, fear, quarrel, contest, guest, treasure, learning, honest, noise, moon,
         riddle, wish, village]


def tell(number, seed_text="tales"):
    """Returns the tale of a number, always the same one: its text, and the bits of the choices that made it."""
    tale = Tale(random.Random(f"{seed_text} {number}"))
    tale.pick(PLOTS)(tale)
    return tale.text(), tale.bits
