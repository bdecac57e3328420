"""Pictures of the pages about replies that could not be read and about stability."""

from math import comb

from chart import Picture, number, picture

ACCEPT, REJECT = ("yes", "a"), ("no", "b")


@picture
def unparsed_rate():
    p = Picture("One judge, 55 questions asked 100 times: a fifth of replies says nothing usable")
    p.dots(
        [
            ("temperature 1", 0.194, 0.1209, 0.2864, "a"),
            ("temperature .75", 0.1911, 0.1139, 0.2908, "a"),
            ("temperature .5", 0.1989, 0.1162, 0.3062, "a"),
            ("temperature .25", 0.2053, 0.1136, 0.3263, "a"),
            ("temperature 0", 0.2, 0.1017, 0.3346, "a"),
        ],
        0,
        0.4,
        0.05,
        "Dashed: the built-in limit, .05.",
    )
    return p


@picture
def flip_rate():
    p = Picture("Flip rate: of all pairs of answers to one question, how many differ?")
    p.cells(
        ["1st", "2nd", "3rd", "4th"],
        [("item 1", [ACCEPT] * 4, "0 of 6 pairs differ"), ("item 2", [ACCEPT] * 3 + [REJECT], "3 of 6 pairs differ")],
    )
    p.note("Mean of 0 and .5: the flip rate is .25.")
    return p


DRAWS = [("item 1", [5, 5, 7]), ("item 2", [3, 4, 3]), ("item 3", [8, 8, 8])]


def draws(p, words):
    p.strip([(label, [(value, "a") for value in values], word) for (label, values), word in zip(DRAWS, words)], 1, 10)


@picture
def mean_abs_difference():
    p = Picture("Three items, three scores each: how far apart are two of them?")
    draws(p, ["1.33", "0.67", "0"])
    p.note("Mean |difference| of all pairs of an item at the right; mean over items .667 points.")
    return p


@picture
def moved_over_one_point():
    p = Picture("The same judge: the share that moved grows with the number of repeats")
    p.curves(
        ["2", "3", "5", "8"],
        [("RewardBench 2", [0.0199, 0.0363, 0.0628, 0.0929], "a")],
        0,
        0.1,
        "repeats k",
        at=[0, 1 / 6, 0.5, 1],
    )
    return p


@picture
def repeat_consistency():
    coin = lambda k: sum(comb(k, heads) * max(heads, k - heads) for heads in range(k + 1)) / (k * 2**k)
    ks = [2, 3, 5, 8]
    p = Picture("Share of the commonest of k answers: it falls as k grows, even for a coin")
    p.curves(
        [str(k) for k in ks],
        [("RewardBench 2", [0.8687, 0.8655, 0.8423, 0.828], "a"), ("a fair coin", [coin(k) for k in ks], "b")],
        0.5,
        1,
        "repeats k",
        at=[0, 1 / 6, 0.5, 1],
    )
    return p


@picture
def any_flip_rate():
    p = Picture("The same judge: more repeats, more items with a second answer")
    p.curves(
        ["2", "3", "5", "8"],
        [("any flip", [0.2626, 0.3843, 0.5091, 0.5989], "a"), ("flip rate", [0.2626] * 4, "b")],
        0,
        0.6,
        "repeats k",
        at=[0, 1 / 6, 0.5, 1],
    )
    return p


@picture
def within_item_sd():
    p = Picture("RewardBench 2: variances are pooled; the mean of the SDs says less noise")
    p.bars([("temperature .7", [(0.4483, "a"), (0.3107, "n")]), ("temperature 0", [(0.2139, "a"), (0.0927, "n")])], 0.5)
    p.legend(("a", "within_item_sd, points"), ("n", "mean of the items’ SDs"))
    return p


@picture
def within_item_range_max():
    p = Picture("One judge, more items: the largest range only grows")
    p.bars([("40 items", [(2, "a")]), ("400 items", [(7, "a")]), ("6,936 items", [(8, "a")])], 9)
    p.note("Points, scale 1 to 10, eight scores an item. The flip rate is .290, .282, .263.")
    return p


@picture
def icc_single():
    p = Picture("The same noise, other items: the ICC follows how different items are")
    p.dots(
        [
            ("all responses", 0.9672, 0.9646, 0.9696, "a"),
            ("wrong ones only", 0.954, 0.9496, 0.958, "a"),
            ("right ones only", 0.9442, 0.9372, 0.9505, "a"),
        ],
        0.9,
        1,
    )
    p.note("Two scores of one response differ by .29, .29 and .30 points on average.")
    return p


@picture
def icc_mean():
    ks = list(range(1, 11))
    p = Picture("What the mean of k scores gains: kρ / (1 + (k − 1)ρ)")
    p.curves(
        [str(k) for k in ks],
        [
            (f"ρ = {number(r)}", [k * r / (1 + (k - 1) * r) for k in ks], kind)
            for r, kind in ((0.9, "a"), (0.6, "b"), (0.3, "n"))
        ],
        0,
        1,
        "scores in the mean, k",
    )
    return p


@picture
def repeat_alpha():
    p = Picture("A judge that nearly always picks the second shown: which alpha?")
    p.dots(
        [("answer = candidate", 0.6119, 0.4692, 0.7234, "a"), ("answer = place", -0.0603, None, None, "b")], -0.2, 1, 0
    )
    p.note("claude-3-haiku on DevBench; two of its answers to one question differ .194 of the time.")
    return p
