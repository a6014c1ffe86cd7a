"""The words of the tales: who lives in them, where and when, what they are like, what they own, eat and give.

A text may have choices, [a|b|c], and names of the tale's cast, {h.his}; grammar.py replaces both.
"""

NAMES = {
    "she": (
        "Anna Bella Clara Dora Ella Emma Fanny Greta Hilda Ida Ivy Julia Lena Lily Lucy Mara Mia Mina Nora Olga "
        "Poppy Rosa Ruby Sophie Tilda Tina Vera Wilma".split()
    ),
    "he": (
        "Adam Albert Anton Ben Bruno Carl Emil Felix Finn Fred George Hugo Ivan Jack Jacob Jonathan Leo Martin Max "
        "Milo Oliver Oscar Otto Paul Peter Robin Simon Tom".split()
    ),
}

# Animals; WINGED can fly.
ANIMALS = (
    "badger bear beaver cat crow dog donkey duck fox frog goat goose hare hedgehog hen lamb mole mouse otter owl "
    "rabbit sparrow squirrel turtle"
).split()
WINGED = {"crow", "duck", "goose", "owl", "sparrow"}
SMALL = {"crow", "frog", "hedgehog", "mole", "mouse", "sparrow", "squirrel"}
TRADES = (
    "baker beekeeper blacksmith carpenter clockmaker farmer ferryman fisherman gardener miller potter sailor "
    "shepherd shoemaker tailor teacher weaver"
).split()
MEN = {"ferryman", "fisherman"}

# A trait: what its owner did, and what the end of the tale may say of it.
TRAITS = {
    "curious": (
        "{H.he} looked [under every stone|behind every door|into every basket] and asked a hundred questions a day.",
        "{H} [was still curious|still asked a hundred questions a day], and nobody minded.",
    ),
    "shy": (
        "When strangers came by, {h.he} hid behind [a tree|the door|a bush] until they were gone.",
        "{H} was [no longer so shy|not so shy any more], and {h.he} said [hello|good morning] to everyone.",
    ),
    "brave": (
        "{H.he} was not afraid of [thunder|the dark|wolves|deep water], or at least {h.he} said so.",
        "{H} was [still brave|as brave as before], [but|and also] a little wiser.",
    ),
    "lazy": (
        (
            "{H.he} liked to [sleep until noon|lie in the sun|watch the clouds] and [did not like work|put off all"
            " work until tomorrow]."
        ),
        "From that day on {h} [got up early|was not so lazy any more], [at least on Mondays|or so people say].",
    ),
    "forgetful": (
        (
            "{H.he} forgot [where {h.he} had put {h.his} hat|what day it was|the way to the market] at least once a"
            " week."
        ),
        "{H} forgot many things later on, but {h.he} never forgot that day.",
    ),
    "patient": (
        (
            "{H.he} could [wait all day for a fish|watch a snail cross the path|listen to a story twice] without a"
            " word of complaint."
        ),
        "{H} had always known that good things need time.",
    ),
    "proud": (
        "{H.he} thought that nobody [ran faster|sang better|was more clever] than {h.he} did.",
        (
            "{H} was [a little less proud|not quite so proud] after that, and [much happier|had more friends than"
            " before]."
        ),
    ),
    "kind": (
        (
            "{H.he} [shared {h.his} bread with the birds|carried water for the old people|never passed anyone who"
            " needed help]."
        ),
        "And {h} was kind to [everyone|every stranger] for the rest of {h.his} life.",
    ),
    "greedy": (
        (
            "{H.he} always took the biggest piece of [cake|pie|cheese] and [hid another one for later|asked for a"
            " second one]."
        ),
        (
            "And when there was cake, {h} [gave the biggest piece to somebody else|took only one piece], [most of the"
            " time|which surprised everyone]."
        ),
    ),
    "clever": (
        "{H.he} could [count to a thousand|open any lock with a hairpin|read the weather from the clouds].",
        "When people had a problem after that, they [came to|asked] {h} first.",
    ),
    "quiet": (
        (
            "{H.he} spoke so [seldom|softly] that people [leaned close to hear {h.him}|often forgot that {h.he} was"
            " there]."
        ),
        "{H} did not say much about it, but {h.his} eyes were bright.",
    ),
    "merry": (
        (
            "{H.he} sang [from morning to night|while {h.he} worked|in the rain] and [laughed at everything|danced on"
            " Sundays]."
        ),
        "And {h} [sang about it|laughed about it] for [many years|the whole winter].",
    ),
}

HOMES = [
    "in a small house [at the edge of the forest|by the river|on a green hill|near the old bridge|behind the mill]",
    (
        "in a [stone|wooden|crooked|yellow] cottage [at the end of the village|by the lake|beside the road|under the"
        " tall trees]"
    ),
    "in a village [by the sea|between two mountains|at the foot of a hill|where three roads met]",
    "in a [quiet|deep|green] valley [far from the town|where it often rained|full of apple trees]",
    "on a [little|big|windy] farm [by the river|near the forest|at the foot of the mountain]",
]
BURROWS = [
    "under the roots of an old [oak|pine|willow]",
    "in a hollow [oak|tree] [by the stream|in the forest|near the mill]",
    "in [a corner of the barn|the attic of the mill|the garden of the old school|the hedge behind the church]",
]

# Places: how one is there, how one goes there, and what is to be seen on the way or there.
PLACES = {
    "forest": (
        "in the forest",
        "into the forest",
        [
            "The leaves whispered in the wind.",
            "A woodpecker knocked on a tree.",
            "Mushrooms grew along the path.",
            "It smelled of pine and wet moss.",
            "The path was soft and dark.",
        ],
    ),
    "meadow": (
        "in the meadow",
        "to the meadow",
        [
            "The grass was as high as {h.his} chin.",
            "Bees hummed over the clover.",
            "Yellow flowers nodded in the wind.",
            "A lark sang high in the air.",
        ],
    ),
    "river": (
        "by the river",
        "down to the river",
        [
            "The water ran fast and clear.",
            "A fish jumped and was gone.",
            "Reeds bent in the wind.",
            "The stones were smooth and round.",
        ],
    ),
    "lake": (
        "by the lake",
        "to the lake",
        [
            "The water was as flat as a mirror.",
            "Two swans swam by without a sound.",
            "Small waves licked the stones.",
            "An old boat lay on the shore.",
        ],
    ),
    "hill": (
        "on the hill",
        "up the hill",
        [
            "From there one could see the whole valley.",
            "The wind pulled at {h.his} ears.",
            "Sheep stood about like small clouds.",
            "The path was steep and full of stones.",
        ],
    ),
    "mill": (
        "at the mill",
        "to the mill",
        [
            "The big wheel turned and turned.",
            "White dust lay on everything.",
            "The water rushed over the wheel.",
            "Sacks of flour stood by the door.",
        ],
    ),
    "market": (
        "at the market",
        "to the market",
        [
            "People shouted and laughed and counted their coins.",
            "There were baskets of apples and tall towers of cheese.",
            "A man sold bells and another sold brooms.",
            "It smelled of bread and fish and flowers.",
        ],
    ),
    "harbour": (
        "at the harbour",
        "down to the harbour",
        [
            "The ships rocked gently on the waves.",
            "Gulls cried over the masts.",
            "It smelled of salt and tar.",
            "Nets hung in the sun to dry.",
        ],
    ),
    "orchard": (
        "in the orchard",
        "to the orchard",
        [
            "The branches were heavy.",
            "Wasps hummed around the fallen fruit.",
            "A ladder leaned against the oldest tree.",
            "The trees stood in long rows like soldiers.",
        ],
    ),
    "garden": (
        "in the garden",
        "into the garden",
        [
            "Beans climbed up their poles.",
            "A snail sat on a cabbage and did not hurry.",
            "The roses had just opened.",
            "Everything was green and wet.",
        ],
    ),
    "beach": (
        "on the beach",
        "down to the beach",
        [
            "The waves came and went.",
            "Shells lay everywhere in the sand.",
            "A crab walked sideways into its hole.",
            "The wind tasted of salt.",
        ],
    ),
    "mountain": (
        "on the mountain",
        "up the mountain",
        [
            "Snow lay between the rocks.",
            "An eagle turned its circles far above.",
            "The air was thin and cold.",
            "The path went round and round.",
        ],
    ),
    "barn": (
        "in the barn",
        "to the barn",
        [
            "It was warm and smelled of hay.",
            "Dust danced in the light.",
            "The old cow turned her head.",
            "A swallow flew in and out.",
        ],
    ),
    "marsh": (
        "in the marsh",
        "into the marsh",
        [
            "The ground was soft, and every step made a noise.",
            "Mist hung over the black water.",
            "Frogs fell silent one after the other.",
            "A heron stood on one leg.",
        ],
    ),
    "bridge": (
        "at the bridge",
        "to the bridge",
        [
            "The boards creaked.",
            "The water below was brown and loud.",
            "Somebody had carved two names into the rail.",
            "Swallows lived under the arch.",
        ],
    ),
    "square": (
        "in the village square",
        "to the village square",
        [
            "Children played around the fountain.",
            "The clock on the tower struck [three|four|ten].",
            "Old men sat on the bench and talked.",
            "Doves walked about and nodded.",
        ],
    ),
}

SEASONS = {
    "spring": [
        "the first flowers came out",
        "the snow had melted",
        "the birds came back",
        "the cherry trees were in bloom",
        "warm rain fell at night",
    ],
    "summer": [
        "the days were long and hot",
        "the hay smelled sweet",
        "the cherries were ripe",
        "it had not rained for weeks",
        "the nights were short and warm",
    ],
    "autumn": [
        "the leaves turned red and gold",
        "fog lay over the fields",
        "the apples were ripe",
        "the wind shook the trees",
        "the swallows flew south",
    ],
    "winter": [
        "snow lay on all the roofs",
        "the lake was frozen",
        "it was dark by four o'clock",
        "icicles hung from the roof",
        "everyone stayed near the stove",
    ],
}
TIMES = [
    "one morning",
    "one evening",
    "one day",
    "one afternoon",
    "early one morning",
    "late one evening",
    "one Sunday",
    "one Monday morning",
    "one rainy day",
    "one windy day",
]

# Things that somebody loves: adjectives, how it was used, and what it does when it is found.
THINGS = {
    "ball": (
        ["red", "blue", "yellow", "old leather"],
        "played with it in the yard every day",
        "it rolled right in front of {h.his} feet",
    ),
    "whistle": (
        ["silver", "wooden", "little tin"],
        "blew it every morning to wake the birds",
        "it shone in the grass",
    ),
    "scarf": (
        ["blue", "warm", "long striped", "red woollen"],
        "wore it in all weathers",
        "it hung on a thorn and waved in the wind",
    ),
    "hat": (
        ["green", "straw", "tall black", "red"],
        "never left the house without it",
        "it lay upside down, and a bird was sitting in it",
    ),
    "bell": (["little", "golden", "brass"], "rang it when supper was ready", "it rang softly in the wind"),
    "kettle": (
        ["copper", "round", "old black"],
        "made tea in it for every guest",
        "it stood between two stones, full of rain",
    ),
    "key": (
        ["brass", "rusty", "small golden"],
        "wore it on a string around {h.his} neck",
        "it glittered between two stones",
    ),
    "kite": (
        ["paper", "red", "big yellow"],
        "flew it whenever the wind was good",
        "its tail hung down from a branch",
    ),
    "drum": (["little", "red", "tin"], "beat it when {h.he} was happy", "the rain was drumming on it"),
    "flute": (
        ["wooden", "silver", "small"],
        "played on it in the evening",
        "the wind blew over it and made a soft sound",
    ),
    "umbrella": (
        ["black", "yellow", "big green"],
        "used it in rain and in sunshine",
        "it stood open in the reeds like a strange flower",
    ),
    "book": (["thick", "blue", "old"], "read a page of it every night", "its pages fluttered in the wind"),
    "ring": (["thin gold", "silver", "plain"], "polished it on Sundays", "it sparkled in the sun"),
    "lantern": (
        ["old", "little brass", "round paper"],
        "hung it at the door every evening",
        "its glass caught the light",
    ),
    "spoon": (
        ["wooden", "silver", "long"],
        "stirred every soup with it",
        "it was stuck in the mud like a little tree",
    ),
    "basket": (["big", "round", "willow"], "took it along to the market", "it floated among the reeds like a boat"),
    "button": (
        ["golden", "shiny", "blue glass"],
        "kept it in a box lined with moss",
        "it winked at {h.him} like a small eye",
    ),
    "blanket": (
        ["soft", "grey woollen", "patchwork"],
        "slept under it every night",
        "it lay over a bush like a sleeping sheep",
    ),
}

FOODS = [
    "apple pie",
    "plum cake",
    "pot of pumpkin soup",
    "loaf of honey bread",
    "nut cake",
    "bowl of porridge",
    "plate of pancakes",
    "jar of berry jam",
    "carrot stew",
    "cheese cake",
    "pear cake",
    "pot of bean soup",
]
GIFTS = [
    "jar of honey",
    "sack of nuts",
    "big cheese",
    "basket of eggs",
    "warm blanket",
    "pair of mittens",
    "bag of apples",
    "loaf of fresh bread",
    "string of onions",
    "bunch of flowers",
    "wooden spoon",
    "little bell",
]
