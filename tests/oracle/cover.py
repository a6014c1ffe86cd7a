"""Chooses options: choices in which every pair of options occurs, or random valid choices."""

import random

from options import MANDATORY, OPTIONS, all_pairs, holds, pairs_of


def complete(rng, chosen, gain):
    """Returns a choice in which each open option of `chosen` has the level of the largest gain; None if that fails."""
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
    """Returns the first valid completion of a start."""
    if not holds(start):
        return None
    for _ in range(tries):
        chosen = complete(rng, start, gain)
        if chosen:
            return chosen
    return None


def covering(seed, candidates=20):
    """Returns (choices in which every pair that may occur together does, pairs that may not)."""
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
    """Returns `number` random valid choices."""
    rng = random.Random(seed)
    made = []
    while len(made) < number:
        chosen = attempt(rng, {}, lambda *_: rng.random())
        if chosen:
            made.append(chosen)
    return made
