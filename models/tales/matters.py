"""What happens in the tales: troubles, contests, fears, wishes and other matters, for plots.py.

A text may have choices, [a|b|c], and names of the tale's cast, {h.his}; grammar.py replaces both.
"""

# Trouble: who is in it and how, what may help, and how it helps. {v}: the one in trouble, {t}: the tool.
TROUBLES = {
    "well": (
        "had fallen into [a dry well|a deep hole] and could not climb out",
        '"[I slipped on the wet leaves|I did not look where I was going], and the walls are too steep," said {v}.',
        {
            "rope": (
                "{H} tied one end of {t.the} to a tree and threw the other end down. {V} held on, {h} pulled, and"
                " [little by little|after a while] {v.he} came up."
            ),
            "ladder": (
                "{H} let {t.the} down into the hole. {V} climbed up, one step after the other, until {v.he} stood in"
                " the sun."
            ),
        },
    ),
    "river": (
        "stood at the water and could not get across, because the flood had taken the bridge",
        '"[My children|My old parents|My sheep] are on the other side," said {v}.',
        {
            "boat": "{H} rowed {t.the} across the brown water, and {v} sat in front and held on with both hands.",
            "raft": (
                "{H} pushed {t.the} into the water. It turned round twice, but it carried them both to the other"
                " side."
            ),
        },
    ),
    "cave": (
        "sat in front of a dark cave and did not dare to go in",
        '"My [ball|hat|purse] rolled in there," said {v}, "and I cannot see my own hand in the dark."',
        {
            "lantern": (
                "{H} lit {t.the} and went ahead. [Shadows jumped over the walls.|Bats flew over their heads.] In the"
                " last corner they found it."
            ),
            "torch": "{H} held up {t.the}, and the dark moved back. There it was, between two stones.",
        },
    ),
    "wheel": (
        "stood beside a cart with a broken wheel",
        '"I must be at the market before noon," said {v}, "and [nobody has come by|the horse is tired of waiting]."',
        {
            "hammer": (
                "{H} took {t.the} and beat the wheel together again, nail by nail. It was not pretty, but it turned."
            ),
            "spare wheel": (
                "They lifted the cart, and {h} pushed {t.the} onto the axle. It fitted as if it had been made for it."
            ),
        },
    ),
    "tree": (
        "looked up into a tall tree, where [a kitten|a kite|a hat] was stuck in the branches",
        '"I have called and I have shaken the tree," said {v}, "but it does not come down."',
        {
            "ladder": (
                "{H} leaned {t.the} against the tree and climbed up to the very top. Down they came together, {h} and"
                " what {h.he} had fetched."
            ),
            "long pole": (
                "{H} stretched out {t.the} and poked among the branches. Leaves fell, twigs fell, and in the end it"
                " fell right into the arms of {v}."
            ),
        },
    ),
    "roof": (
        "sat at a table with an umbrella, because the rain came through the roof",
        '"[My bed is wet and my bread is wet|There is more water in here than outside]," said {v}.',
        {
            "bundle of straw": (
                "{H} climbed onto the roof and pushed {t.the} into the hole. Drip, drip, drip, and then there was"
                " silence."
            ),
            "plank": "{H} nailed {t.the} over the hole. The rain drummed on it, but not a drop came through.",
        },
    ),
    "coat": (
        "stood in the cold with a coat that was torn from top to bottom",
        '"I caught it on the thorns," said {v}, "and the wind goes right through me."',
        {
            "needle": "{H} threaded {t.the} and sewed, stitch after stitch, until the coat was whole again.",
            "warm blanket": "{H} put {t.the} around {v.his} shoulders, and soon {v.he} stopped shivering.",
        },
    ),
    "garden": (
        "looked at a garden in which everything was brown and dry",
        '"If it does not get water today, I will have no beans this year," said {v}.',
        {
            "bucket": (
                "{H} filled {t.the} at the stream and carried it up, twenty times and more. In the evening the leaves"
                " stood up again."
            ),
            "watering can": (
                "{H} went along the rows with {t.the}, and every plant got its share. One could almost hear them"
                " drink."
            ),
        },
    ),
    "letter": (
        "turned a letter over and over and sighed",
        '"It is from my brother across the sea," said {v}, "but my eyes are too old to read it."',
        {
            "pair of glasses": (
                '{V} put on {t.the} and read the letter aloud, and then once more. "He is coming home," {v.he} said.'
            ),
            "magnifying glass": (
                '{H} held {t.the} over the paper, and the small letters became as big as beetles. "He is coming'
                ' home," read {v}.'
            ),
        },
    ),
    "fog": (
        "had lost the way in the fog",
        '"I have walked in circles since the morning," said {v}, "and this is the third time that I meet this tree."',
        {
            "bell": (
                "{H} walked ahead and rang {t.the} at every turn, and {v} followed the sound until they saw the"
                " lights of the village."
            ),
            "lantern": (
                "{H} held up {t.the}. It made a small golden room in the fog, and in that room they walked home."
            ),
        },
    ),
    "thorns": (
        "was caught in a hedge of thorns",
        '"The more I pull, the tighter it holds me," said {v}.',
        {
            "knife": "{H} cut the branches with {t.the}, one after the other, and was careful not to hurt {v}.",
            "pair of scissors": "Snip, snip, went {t.the}, and the thorns fell to the ground.",
        },
    ),
    "stove": (
        "sat in front of a cold stove and blew on {v.his} fingers",
        '"The wood is used up, and the winter is not," said {v}.',
        {
            "axe": (
                "{H} took {t.the} and split a fallen tree, until there was a pile as high as the door. Soon the fire"
                " crackled."
            ),
            "sack of coal": (
                "{H} emptied {t.the} into the box by the stove. Soon it was so warm that they opened the window."
            ),
        },
    ),
}

# Skills: what one learns, how it goes wrong, and what it is good for in the end.
SKILLS = {
    "swim": (
        [
            "{H.he} sank like a stone and swallowed a lot of water.",
            "{H.he} splashed so much that the fish moved away.",
            "{H.he} held on to a root and did not let go.",
        ],
        "One warm evening {h.he} let go of the root, and the water carried {h.him}.",
        "crossed the whole lake and came back",
    ),
    "whistle": (
        ["Only air came out.", "It sounded like a kettle.", "The dog ran away and the cat laughed."],
        "Then one night, without thinking of it, {h} whistled, clear and high.",
        "whistled so well that the birds answered",
    ),
    "bake bread": (
        [
            "The bread was as hard as a brick.",
            "The dough ran off the table.",
            "{H.he} forgot the salt, and then {h.he} forgot the bread.",
        ],
        "At last a loaf came out of the oven, brown and round and light.",
        "baked the bread for the whole village feast",
    ),
    "read": (
        [
            "The letters looked like ants that ran away.",
            "{H.he} held the book upside down.",
            "{H.he} mixed up the b and the d.",
        ],
        'Then, one evening, the letters stood still and became a word, and the word was "moon".',
        "read a story to everyone on the long winter evenings",
    ),
    "skate": (
        [
            "{H.he} fell on {h.his} nose.",
            "{H.his} feet went left and right at the same time.",
            "{H.he} slid backwards into a snowdrift.",
        ],
        "Then {h.his} feet understood, and {h.he} flew over the ice like a swallow.",
        "drew a great star into the ice",
    ),
    "knit": (
        [
            "The sock was as long as a snake.",
            "The wool wound itself around {h.his} legs.",
            "It had three holes, and none of them was for a head.",
        ],
        "In the end there lay a scarf, a little crooked, but warm.",
        "knitted mittens for everyone in the village",
    ),
    "fish": (
        ["{H.he} caught an old boot.", "{H.he} caught {h.his} own hat.", "The fish ate the bait and said nothing."],
        "{H.he} sat still, as still as a stone, and then the line moved.",
        "came home with enough fish for all the neighbours",
    ),
    "dance": (
        [
            "{H.he} stepped on everyone's toes.",
            "{H.he} turned left when all the others turned right.",
            "{H.he} fell over the drum.",
        ],
        "Then {h.he} closed {h.his} eyes and listened, and {h.his} feet knew the way.",
        "danced at the feast until the moon went down",
    ),
    "paint": (
        [
            "The horse looked like a table.",
            "There was more paint on {h.him} than on the paper.",
            "{H.he} painted the sky green by mistake.",
        ],
        "Then {h.he} painted the old bridge, and people said they could hear the water.",
        "painted a sign for every shop in the street",
    ),
    "ride": (
        [
            "The pony went where it wanted.",
            "{H.he} sat on it the wrong way round.",
            "{H.he} slid off like butter from a warm knife.",
        ],
        "Then {h.he} stopped pulling and started to talk to the pony, and the pony listened.",
        "rode over the hills and was back before supper",
    ),
}

# Fears: the habit that comes with one, the moment when there is no way round it, and the truth.
FEARS = {
    "the dark": (
        "slept with a candle at the bed",
        "It was so dark that {h.he} could not see {h.his} own feet.",
        "the dark was only the day with its eyes closed",
    ),
    "thunder": (
        "hid under the bed whenever a storm came",
        "The thunder rolled over the roofs like a heavy cart.",
        "thunder was only a loud noise that came to visit",
    ),
    "deep water": (
        "never went farther in than the ankles",
        "The water was black, and it had no bottom.",
        "the water carried those who did not fight it",
    ),
    "high places": (
        "got dizzy on a chair",
        "Below {h.him} the houses were as small as boxes.",
        "it was best to look at the next step and not at the ground",
    ),
    "the big dog": (
        "took the long way round so as not to pass its gate",
        "The big dog stood up and looked at {h.him}.",
        "the dog was lonely and had only wanted to play",
    ),
    "strangers": (
        "hid in the cupboard when somebody knocked",
        "There were strangers everywhere, tall ones and loud ones.",
        "a stranger was a friend whose name one did not know yet",
    ),
    "the old mill": (
        "ran when {h.he} had to pass it",
        "The door was open, and something moved inside.",
        "it was only the wind that lived there",
    ),
}

# A seed: what it grows into, its fruit, and a dish.
SEEDS = {
    "bean": ("a bean plant that climbed over the roof", "beans", "a pot of bean soup"),
    "pumpkin seed": ("a pumpkin as big as a cart", "pumpkin", "a pot of pumpkin soup"),
    "apple seed": ("a little tree, and years later it bore red apples", "apples", "an apple pie"),
    "sunflower seed": ("a sunflower that looked over the wall", "seeds", "a loaf of seed bread"),
    "cherry stone": ("a tree that was white in spring and red in summer", "cherries", "a cherry cake"),
    "carrot seed": ("a carrot so long that it took three of them to pull it out", "carrot", "a carrot stew"),
    "pear seed": ("a small tree with sweet yellow pears", "pears", "a pear cake"),
}

# A noise at night: how it sounds, and where it comes from.
NOISES = {
    "a knocking": ("Knock, knock, knock.", "a branch that the wind beat against the window"),
    "a scratching": ("Scratch, scratch.", "a lost kitten that wanted to come in"),
    "a soft crying": ("It cried like a child.", "a young owl that had fallen out of its nest"),
    "a rumbling": ("It rumbled and then it was still.", "a badger that snored under the floor"),
    "a humming": ("It hummed one note, over and over.", "a swarm of bees that had moved into the chimney"),
    "a tapping": ("Tap, tap, tap.", "the rain that dripped into an old pot"),
    "a song": ("It was a sad song without words.", "the wind in an empty bottle"),
    "a clatter": (
        "It sounded like a hundred spoons.",
        "a hedgehog that had put its head into a tin and could not get it out",
    ),
}

# Riddles and their answers.
RIDDLES = [
    ("What has a bed and never sleeps?", "the river"),
    ("What runs all day and never gets tired?", "the wind"),
    ("What has teeth and never bites?", "a comb"),
    ("What has a neck and no head?", "a bottle"),
    ("What gets wetter the more it dries?", "a towel"),
    ("What has one eye and cannot see?", "a needle"),
    ("What goes up and never comes down?", "your age"),
    ("What is yours, but others use it more than you?", "my name"),
    ("What has hands and cannot hold a spoon?", "a clock"),
    ("What can be broken without being touched?", "a promise"),
    ("What is full of holes and still holds water?", "a sponge"),
    ("What has a ring and no finger?", "a bell"),
    ("What follows you all day and leaves you at night?", "my shadow"),
    ("What has leaves and is not a tree?", "a book"),
]

# Something that is asked in return, and that it was done.
CHORES = [
    ("sweep my floor", "swept {m.his} floor"),
    ("carry in the wood", "carried in the wood"),
    ("feed my hens", "fed the hens"),
    ("pick up the apples", "picked up the apples"),
    ("fetch two buckets of water", "fetched two buckets of water"),
    ("tell me a story", "told {m.him} a story"),
]

# A present: what is needed for it, how it is made, and how good it was.
PRESENTS = [
    (
        "a cake",
        ["flour", "three eggs", "a cup of honey", "a handful of nuts", "butter"],
        "{H.he} stirred and baked, and the whole house smelled of it",
        "tasted of summer",
    ),
    (
        "a kite",
        ["paper", "two thin sticks", "a long string", "red paint", "a tail of ribbons"],
        "{H.he} cut and glued until late at night",
        "flew higher than the church tower",
    ),
    (
        "a scarf",
        ["wool", "two needles", "a button", "blue thread"],
        "{H.he} knitted row after row by the light of a candle",
        "was as soft as a cloud",
    ),
    (
        "a little boat",
        ["a piece of wood", "a knife", "a white cloth", "some string"],
        "{H.he} carved and sanded for three evenings",
        "sailed across the pond without turning over",
    ),
    (
        "a lantern",
        ["coloured paper", "glue", "a candle", "some wire"],
        "{H.he} folded and glued, and burned a finger only once",
        "glowed like a small moon",
    ),
    (
        "a soup",
        ["carrots", "onions", "a bunch of parsley", "beans", "a pinch of salt"],
        "{H.he} chopped and stirred and tasted",
        "made everyone ask for more",
    ),
    (
        "a hat",
        ["felt", "a long feather", "a needle", "green ribbon"],
        "{H.he} cut and sewed, and began again twice",
        "fitted as if it had grown there",
    ),
]

# Reasons why a friend {f} needs help.
NEEDS = [
    "was ill and needed medicine",
    "had not come home",
    "had hurt {f.his} foot and could not walk",
    "was waiting alone in the cold",
    "had forgotten {f.his} key and stood outside",
]

# A contest: the winner's title, how the favourite {f} began, what went wrong then, and how the hero won.
CONTESTS = [
    (
        "a race",
        "the fastest",
        "{F} was far ahead after the first bend.",
        [
            "stopped to [eat berries|look at {f.his} reflection in a puddle|wave to the crowd]",
            "lay down in the shade and fell asleep",
            "took a short cut and got stuck in the mud",
        ],
        "crossed the line",
    ),
    (
        "a cooking contest",
        "the best cook",
        "{F} had nine pots on the fire at once.",
        [
            "forgot the salt",
            "[talked so much that the soup burned|mixed up salt and sugar]",
            "put in so much pepper that the judges sneezed",
        ],
        "put a simple soup on the table, and the judges emptied the bowl",
    ),
    (
        "a singing contest",
        "the finest singer",
        "{F} began with a song of forty verses.",
        [
            "sang so high that {f.his} voice broke",
            "sang so long that the judges fell asleep",
            "forgot the words in the middle",
        ],
        "sang the song that {h.his} mother had sung, and everyone was silent",
    ),
    (
        "a boat race",
        "the best sailor",
        "{F} had a new boat with a silk sail.",
        [
            "looked back so often that {f.he} ran onto a sandbank",
            "forgot to untie the rope",
            "sailed after a duck by mistake",
        ],
        "came to the other shore in an old tub",
    ),
    (
        "a snail race",
        "the best trainer of snails",
        "{F}'s snail wore a golden ribbon.",
        ["polished {f.his} snail so long that it fell asleep", "cheered so loudly that the snail hid in its house"],
        "whispered to {h.his} snail, which reached the leaf",
    ),
]

# Weather in which nobody should be outside.
STORMS = [
    "In the middle of winter a snowstorm came over the hills.",
    "One night in autumn the rain beat against the windows.",
    "One evening the wind howled around the house.",
    "It was the coldest night of the year.",
    "Thunder rolled, and the road was a river.",
]

# Things that a guest leaves in the house.
THANKS = [
    "a whole winter's wood was stacked beside the door",
    "the broken fence was mended",
    "there stood a young tree in front of the house, and it bore silver leaves",
    "a small bell hung over the door, and it rang whenever luck was near",
    "the old clock, which had stood still for years, was ticking",
    "the cupboard was full of bread, and it never got empty again",
    "on the table lay a map, drawn with great care",
]

# Clues to a treasure, treasures, and the marks from which the steps are counted.
MAPS = [
    "a bottle with a letter in it",
    "a tin box under a loose board",
    "a map between the pages of an old book",
    "a note in the pocket of an old coat",
    "a box that was tied with a red ribbon",
]

TREASURES = [
    ("an old bench, from which one could see the whole land", "they sat there until the sun went down"),
    ("a spring of clear, cold water", "it was the best water they had ever drunk"),
    ("a tree full of ripe pears that nobody had picked", "they ate until they could not eat any more"),
    (
        "a box of seeds, each in a paper with a name on it",
        "they planted them all, and the next summer the village was full of flowers",
    ),
    ("a little boat with two oars", "it was still good after all those years"),
    ("a nest with five blue eggs", "they went away on tiptoe and told nobody"),
    ('a letter that said: "The treasure is the one who came with you"', "they looked at each other and laughed"),
    ("a swing under a great tree", "they swung so high that their feet touched the leaves"),
]

MARKS = [
    "the crooked pine",
    "the white stone",
    "the broken wheel",
    "the three birches",
    "the old gate",
    "the stone with a hole",
]

# Things that break, and how it came about.
BREAKABLE = [
    "a blue jug",
    "a window",
    "a clay pot",
    "a mirror",
    "a music box",
    "a white plate",
    "a glass bowl",
    "the lid of a teapot",
]

ACCIDENTS = [
    "played ball near the house of {m.a}",
    "ran through the kitchen of {m.a}",
    "chased a butterfly past the door of {m.a}",
    "danced in the shop of {m.a}",
    "reached for a cookie on the shelf of {m.a}",
]

# Guesses at the cause of a noise, and things that one takes along against it.
GHOSTS = ["ghost", "thief", "giant", "wolf", "dragon with a cold"]

WEAPONS = ["broom", "soup ladle", "umbrella", "candle", "rolling pin", "wooden sword"]

# One who never speaks: where the hero went and asked, the answers, and the sign that came later.
VOICES = [
    (
        "moon",
        "she",
        "climbed the highest hill",
        '"Why are you sometimes thin and sometimes round?"',
        [
            "I give away my light, a little every night, and then it comes back to me",
            "I breathe in and out, but slowly",
        ],
        "Every evening the moon looked into the window",
    ),
    (
        "wind",
        "he",
        "climbed onto the roof",
        '"Where do you go when it is still?"',
        ["I lie in the grass and listen", "I sit in the bottles on the shelf and rest"],
        "Every morning a breeze came to the door and brought the smell of the sea",
    ),
    (
        "river",
        "she",
        "sat down on a stone by the water",
        '"Are you never tired of running?"',
        ["I run here and I sleep in the sea", "I am here and there and everywhere at once, so I need not hurry"],
        "Every spring the river left a smooth stone before the door",
    ),
    (
        "snow",
        "she",
        "stood in the middle of the white field",
        '"Why do you make everything so quiet?"',
        ["The earth is tired, and I am its blanket", "I want to hear the footsteps of the hares"],
        "And in the first snow of every winter there was a star drawn before the door",
    ),
    (
        "old oak",
        "he",
        "leaned against its trunk",
        '"What do you do all day?"',
        ["I hold up the sky, as far as I can reach", "I count the birds and the years"],
        "Every autumn a perfect acorn lay on the step",
    ),
    (
        "sea",
        "she",
        "went to the end of the pier",
        '"What is on your other side?"',
        ["Somebody who sits on a pier and asks the same", "Another beach, and on it are footprints like yours"],
        "And sometimes, after a storm, there was a shell before the door",
    ),
]

# Reasons for setting out.
ERRANDS = [
    "to visit {h.his} grandmother",
    "to see the sea",
    "to bring {h.his} sister some medicine",
    "to find work",
    "to buy a horse",
]

# Captives, snares, and wishes: the words of the wish, and how it comes true.
CAPTIVES = ["fish", "beetle", "snail", "butterfly", "toad", "moth"]

SNARES = [
    "was caught in a net",
    "was caught in a spider's web",
    "lay on its back and could not turn over",
    "had got stuck under a stone",
    "was shut up in a jar",
]

WISHES = [
    (
        "that my grandmother can walk without a stick",
        "the stick stood in the corner, and grandmother was dancing in the kitchen",
    ),
    ("for rain, because the fields are dry", "a cloud came over the hill, and then another, and it rained all night"),
    ("for a friend", 'somebody knocked at the door and asked, "Do you want to play?"'),
    (
        "for one more hour of this day",
        "the sun stood still over the trees, and the bells did not ring until everyone had finished playing",
    ),
    ("that nobody in the village is cold this winter", "there was a pile of dry wood behind every house"),
    ("for nothing, because I have all I need", "everything was just as before, and that was good"),
    ("to understand the birds", 'a sparrow sat down on the fence and said, "At last!"'),
    ("for a tree that bears fruit in winter", "there it stood behind the house, with red apples in the snow"),
]

# Needs of a village: the plan, two things that it takes, and how it turns out.
WORKS = [
    (
        "the bridge had fallen into the river",
        "build a new bridge",
        "boards",
        "nails",
        "The bridge was not straight, but it held even when the bear walked over it.",
    ),
    (
        "the bell in the tower had cracked",
        "cast a new bell",
        "old kettles",
        "spoons",
        "When it rang for the first time, one could hear it across three valleys.",
    ),
    (
        "the village had no school",
        "build a school",
        "stones",
        "windows",
        "It had one room and one stove, and the door was always open.",
    ),
    (
        "the well had run dry",
        "dig a new well",
        "spades",
        "buckets",
        "On the fifth day there was water, clear and cold.",
    ),
    (
        "the roof of the barn had blown away",
        "make a new roof",
        "straw",
        "beams",
        "When the next storm came, not one straw moved.",
    ),
    (
        "there was nothing left to eat",
        "cook one big soup",
        "carrots",
        "onions",
        "There was enough for all, and some was left for the birds.",
    ),
]
