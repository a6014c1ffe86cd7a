"""Choices of options: some in which every pair of options occurs, or any that hold."""

import random

from options import MANDATORY, OPTIONS, all_pairs, holds, pairs_of


def complete(rng, chosen, gain):
    """A choice with all options open in `chosen` set, each to the level of the largest gain; None where it fails."""
    chosen = dict(chosen)
    order = [option for option in OPTIONS if option not in chosen]
    rng.shuffle(order)
    for option in order:
        levels = list(OPTIONS[option])
        rng.shuffle(levels)
        levels.sort(key=lambda level: -gain(chosen, option, level))
        for level in levels:
            chosen[option] = level
            if holds(chosen):
                break
        else:
            return None
    return chosen


def attempt(rng, start, gain, tries=40):
    """The first completion of a start that holds."""
    if not holds(start):
        return None
    for _ in range(tries):
        chosen = complete(rng, start, gain)
        if chosen:
            return chosen
    return None


def covering(seed, candidates=20):
    """(choices in which every pair that may stand together occurs, pairs that may not)."""
    rng = random.Random(seed)
    open_pairs, impossible, choices = dict.fromkeys(all_pairs()), [], []

    def gain(chosen, option, level):
        mine = (option, level)
        return sum((min(mine, other), max(mine, other)) in open_pairs for other in chosen.items())

    mandatory = list(MANDATORY)
    while open_pairs or mandatory:
        start = mandatory.pop() if mandatory else rng.choice(list(open_pairs))
        made = [attempt(rng, dict(start), gain) for _ in range(candidates)]
        made = [chosen for chosen in made if chosen]
        if not made:
            assert not isinstance(start, dict), start
            impossible.append(start)
            del open_pairs[start]
            continue
        best = max(made, key=lambda chosen: sum(pair in open_pairs for pair in pairs_of(chosen)))
        choices.append(best)
        for pair in pairs_of(best):
            open_pairs.pop(pair, None)
    return choices, impossible


def any_of(seed, number):
    """So many random choices that hold."""
    rng = random.Random(seed)
    made = []
    while len(made) < number:
        chosen = attempt(rng, {}, lambda *_: rng.random())
        if chosen:
            made.append(chosen)
    return made
