"""Draws the pictures of the pages of measures: one SVG a measure, named by its id, and those of their neighbours.

    python3 docs/explanation/measures/images/make.py

Needs nothing but Python 3.9. Figures are those that the pages give, with their commands; worked ones are computed here.
Each picture is legible in light and dark, and holds its words as text.
"""

from math import comb
from pathlib import Path

from chart import Picture, number

# Functions that return a picture, by the name of its file; those of the pages beside the measures stand in their folder.
PICTURES = {}
BESIDE = ("anchors", "intervals", "votes")


def picture(function):
    PICTURES[function.__name__] = function
    return function


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


@picture
def swap_consistency():
    p = Picture("Swap the candidates: how often does the same one win?")
    p.dots(
        [
            ("haiku, DevBench", 0.1759, 0.1299, 0.2301, "b"),
            ("haiku, MT-bench", 0.6586, 0.582, 0.7295, "a"),
            ("gpt-4-1106, MT-bench", 0.8079, 0.7225, 0.8763, "a"),
            ("gpt-4-0613, MT-bench", 0.8715, 0.8069, 0.9207, "a"),
            ("GPT-4, LLMBar", 0.9417, 0.9104, 0.9646, "a"),
        ],
        0,
        1,
        0.75,
        "Dashed: the built-in limit, .75.",
    )
    return p


@picture
def position_excess():
    p = Picture("Disagreement when asked again, and when swapped as well")
    p.bars(
        [
            ("haiku, DevBench", [(0.1944, "n"), (0.8241, "a")]),
            ("haiku, MT-bench", [(0.2083, "n"), (0.3414, "a")]),
            ("gpt-4-0125, MT-bench", [(0.1128, "n"), (0.1343, "a")]),
        ]
    )
    p.legend(("n", "asked again"), ("a", "swapped"))
    p.note("What swapping adds is the excess: .630, .133 and .021.")
    return p


@picture
def position_direction():
    p = Picture("To which side? Left of 0: the candidate shown second is favoured")
    p.dots(
        [
            ("haiku, DevBench", -0.7963, -0.8648, -0.7278, "b"),
            ("gpt-4-0125, DevBench", -0.3889, -0.5245, -0.2533, "a"),
            ("haiku, MT-bench", -0.1892, -0.2986, -0.0799, "a"),
            ("gpt-4-0613, MT-bench", 0.026, -0.0296, 0.0816, "a"),
        ],
        -1,
        1,
        0,
    )
    return p


@picture
def first_position_preference():
    p = Picture("Of the decided answers, how many choose the candidate shown first?")
    p.dots(
        [
            ("haiku, DevBench", 0.1019, 0.0701, 0.1417, "b"),
            ("haiku, MT-bench", 0.4007, 0.3441, 0.4594, "a"),
            ("GPT-4, LLMBar", 0.5077, 0.4686, 0.5467, "a"),
            ("haiku, JudgeBench", 0.6311, 0.5821, 0.6782, "a"),
        ],
        0,
        1,
        0.5,
        "Dashed: even.",
    )
    return p


def leanings(title):
    p = Picture(title)
    p.stack(
        [
            ("GPT-4, LLMBar", [(0.0368, "b", ""), (0.9417, "n", ".94"), (0.0215, "a", "")]),
            ("haiku, JudgeBench", [(0.3463, "b", ".35"), (0.5253, "n", ".53"), (0.1284, "a", ".13")]),
            ("haiku, MT-bench", [(0.0799, "b", ""), (0.6586, "n", ".66"), (0.2616, "a", ".26")]),
            ("haiku, DevBench", [(0.0139, "b", ""), (0.1759, "n", ".18"), (0.8102, "a", ".81")]),
        ]
    )
    p.legend(("b", "leans to the first"), ("n", "same candidate"), ("a", "leans to the second"))
    return p


@picture
def primacy_rate():
    return leanings("Swapped pairs of answers: at the left those that lean to the first")


@picture
def recency_rate():
    return leanings("Swapped pairs of answers: at the right those that lean to the second")


@picture
def order_shift():
    p = Picture("Three items scored in two orders: how much higher is order ab?")
    p.strip(
        [
            ("item 1", [(8, "a"), (6, "b")], "+2"),
            ("item 2", [(5, "a"), (5, "b")], "0"),
            ("item 3", [(7, "a"), (6, "b")], "+1"),
        ],
        1,
        10,
    )
    p.legend(("a", "order ab"), ("b", "order ba"))
    p.note("Mean difference: 1 point.")
    return p


@picture
def place_slope():
    p = Picture("The same item shown later: its score falls by .75 a place")
    p.curves(["1st", "2nd", "3rd"], [("item 1", [8, 7, 6], "a"), ("item 2", [5, 4.5, 4], "b")], 1, 10, "place shown")
    p.note("Item 2 was shown at places 1 and 3 only; the point between lies on its line.")
    return p


@picture
def accuracy():
    p = Picture("RewardBench 2: right .82 of the time, where rejecting everything is right .75")
    p.bars(
        [
            ("always rejects", [(0.75, "n")]),
            ("the judge", [(0.8222, "a")]),
            ("its false rejects", [(0.545, "b")]),
            ("its false accepts", [(0.0554, "b")]),
        ]
    )
    return p


def by_order(title):
    p = Picture(title)
    p.dots(
        [
            ("no example, ab", 0.8497, 0.8061, 0.8867, "a"),
            ("no example, ba", 0.8712, 0.8298, 0.9056, "b"),
            ("one, ab", 0.8773, 0.8366, 0.9109, "a"),
            ("one, ba", 0.8528, 0.8095, 0.8895, "b"),
            ("two, ab", 0.8405, 0.7961, 0.8786, "a"),
            ("two, ba", 0.8405, 0.7961, 0.8786, "b"),
        ],
        0.75,
        0.95,
    )
    return p


@picture
def accuracy_ab():
    return by_order("GPT-4 on LLMBar: accuracy by order shown, under three prompts")


@picture
def accuracy_ba():
    return by_order("GPT-4 on LLMBar: accuracy by order shown, under three prompts")


@picture
def accuracy_both_orders():
    p = Picture("Right in one order, and right in both")
    p.bars(
        [
            ("GPT-4, LLMBar", [(0.8604, "n"), (0.8313, "a")]),
            ("Claude, Vicuna 80", [(0.6351, "n"), (0.453, "a")]),
            ("GPT-3.5, Vicuna 80", [(0.6485, "n"), (0.5276, "a")]),
            ("haiku, JudgeBench", [(0.3204, "n"), (0.1479, "a")]),
        ]
    )
    p.legend(("n", "accuracy"), ("a", "right in both orders"))
    return p


@picture
def false_accept_rate():
    p = Picture("XSTest: refusals that a judge takes for an answer")
    p.dots(
        [("GPT-4", 0.2684, 0.2264, 0.3137, "b"), ("a search for words", 0.1553, 0.1299, 0.1836, "a")],
        0,
        0.4,
        0.1,
        "Dashed: the built-in limit, .1.",
    )
    return p


SWEEP = [
    (1, 1, 0),
    (2, 0.8777, 0.0006),
    (3, 0.649, 0.0244),
    (4, 0.4847, 0.0617),
    (5, 0.3078, 0.1292),
    (6, 0.2335, 0.1775),
    (7, 0.1336, 0.3215),
    (8, 0.0554, 0.545),
    (9, 0.0212, 0.7998),
    (10, 0.0054, 0.959),
]


@picture
def false_reject_rate():
    p = Picture("RewardBench 2: a higher threshold trades false accepts for false rejects")
    p.curves(
        [str(t) for t, *_ in SWEEP],
        [("false rejects", [frr for *_, frr in SWEEP], "b"), ("false accepts", [far for _, far, _ in SWEEP], "n")],
        0,
        1,
        "accepts from this score on",
    )
    return p


def at_base_rates(title, own, shape):
    rates = [0.05, 0.25, 0.5, 0.75, 0.9]
    p = Picture(title)
    p.curves(
        [number(rate) for rate in rates],
        [(own, [shape(rate) for rate in rates], "a")],
        0,
        1,
        "share of right items, π",
        at=[(rate - 0.05) / 0.85 for rate in rates],
    )
    p.note("False accepts .055, false rejects .545: RewardBench 2, accepting from 8 on.")
    return p


FAR, FRR = 0.05545, 0.54501


@picture
def precision():
    return at_base_rates(
        "One judge, other mixes: what its acceptance is worth",
        "precision",
        lambda pi: (1 - FRR) * pi / ((1 - FRR) * pi + FAR * (1 - pi)),
    )


@picture
def negative_predictive_value():
    return at_base_rates(
        "One judge, other mixes: what its rejection is worth",
        "NPV",
        lambda pi: (1 - FAR) * (1 - pi) / ((1 - FAR) * (1 - pi) + FRR * pi),
    )


@picture
def kappa():
    def value(pi):
        hit, false = 0.9, 0.1
        observed = pi * hit + (1 - pi) * (1 - false)
        said = pi * hit + (1 - pi) * false
        chance = pi * said + (1 - pi) * (1 - said)
        return (observed - chance) / (1 - chance)

    rates = [0.5, 0.2, 0.1, 0.05, 0.02]
    p = Picture("A judge right .9 of the time on either kind: kappa falls as right items grow rare")
    p.curves(
        [number(rate) for rate in rates],
        [("kappa", [value(rate) for rate in rates], "a"), ("accuracy", [0.9] * 5, "n")],
        0,
        1,
        "share of right items",
    )
    return p


@picture
def ac1():
    p = Picture("The same answers and labels, four coefficients")
    p.dots(
        [
            ("observed agreement", 0.8222, None, None, "n"),
            ("AC1", 0.7372, 0.7261, 0.748, "a"),
            ("kappa", 0.4573, 0.4343, 0.4796, "b"),
            ("alpha", 0.4498, 0.426, 0.4729, "b"),
        ]
    )
    p.note("RewardBench 2 from 8 on: it accepts .155 of items, .25 are right, and it finds .455 of these.")
    return p


@picture
def alpha_with_labels():
    p = Picture("A stricter threshold: alpha sees what AC1 does not")
    p.curves(
        ["6", "7", "8", "9"],
        [("AC1", [0.6137, 0.7066, 0.7372, 0.7058], "n"), ("alpha", [0.4918, 0.5307, 0.4498, 0.1886], "a")],
        0,
        1,
        "accepts from this score on (RewardBench 2)",
    )
    return p


@picture
def auc():
    p = Picture("RewardBench 2: every threshold is a point; the area under them is .861")
    points = [(0, 0, "")] + [(far, 1 - frr, str(t) if 4 < t < 10 else "") for t, far, frr in reversed(SWEEP)]
    x, y = p.scatter(points, 0, 1, "false accepts", "right accepted", ((0, 0), (1, 1)), ordered=True)
    for index, words in enumerate(
        [
            "The numbers are thresholds.",
            "Dashed: a judge that guesses, .5.",
            "7 lets .134 of wrong items pass,",
            "8 turns .545 of right ones away:",
            "no point keeps .1 and .2.",
        ]
    ):
        p.text(x, y + 40 + 22 * index, words)
    return p


PAIRS = [(1, 2, "1"), (2, 4, "2"), (4, 4, "3"), (5, 8, "4")]


def four(title, words, line=None):
    p = Picture(title)
    x, y = p.scatter(PAIRS, 0, 9, "label", "score", line)
    for index, word in enumerate(words):
        p.text(x, y + 40 + 22 * index, word)
    return p


@picture
def spearman():
    return four(
        "Four items: do scores rank them as the labels do?",
        ["Ranks of labels: 1, 2, 3, 4.", "Ranks of scores: 1, 2½, 2½, 4.", "Correlation of the ranks: .949."],
    )


@picture
def kendall():
    return four(
        "Four items, six pairs: which of two is better?",
        ["5 pairs in the same order,", "0 in the other,", "1 tied in score (2 and 3).", "5 / √(5 · 6) = .913."],
    )


@picture
def pearson():
    return four(
        "Four items: do scores rise in a line with the labels?",
        ["Dashed: the line that fits best,", "score = .9 + 1.2 · label.", "r = 12 / √(19 · 10) = .871."],
        ((0, 0.9), (6.5, 8.7)),
    )


CONALA = [
    ("plain", 0.6408, 0.5886, 0.6931, 0.9123),
    ("with reference", 0.4075, 0.3545, 0.4605, 0.8279),
    ("with steps", -0.0056, -0.0555, 0.0443, 0.7337),
    ("with both", -0.0384, -0.0868, 0.01, 0.7425),
]


@picture
def mean_error():
    p = Picture("Four prompts of one judge of code, in points on a scale of 0 to 4")
    p.dots(
        [(f"{label}", *figures, "a") for label, *figures, _ in CONALA],
        -1,
        1,
        0,
        "Right of 0: it scores higher than people do.",
    )
    return p


@picture
def mean_absolute_error():
    p = Picture("No inflation on average, and still .73 points off")
    p.bars([(label, [(abs(error), "n"), (off, "a")]) for label, error, _, _, off in CONALA], 1)
    p.legend(("n", "|mean error|"), ("a", "mean absolute error"))
    return p


@picture
def top_of_group_accuracy():
    p = Picture("Best of four by the mean of k scores: the rule for ties decides whether votes help")
    p.curves(
        [str(k) for k in range(1, 9)],
        [
            ("ties left out", [0.869, 0.858, 0.853, 0.851, 0.851, 0.851, 0.851, 0.85], "n"),
            ("shared", [0.796, 0.814, 0.822, 0.826, 0.829, 0.832, 0.833, 0.835], "a"),
            ("wrong", [0.722, 0.766, 0.785, 0.796, 0.803, 0.808, 0.812, 0.815], "b"),
        ],
        0.7,
        0.9,
        "scores in the mean, k",
    )
    return p


@picture
def win_rate():
    p = Picture("JudgeBench: answers and labels have a like mix, and agree no more than coins")
    p.bars([("A", [(0.4866, "a"), (0.5463, "n")]), ("B", [(0.5134, "a"), (0.4537, "n")])])
    p.legend(("a", "the judge"), ("n", "the labels"))
    p.note("Of its 335 decided answers 169 are right: .504. Kappa of all answers is .006.")
    return p


DUCK = [
    0.6356,
    0.6852,
    0.7131,
    0.7308,
    0.7427,
    0.7508,
    0.7564,
    0.7602,
    0.7627,
    0.7642,
    0.7648,
    0.7648,
    0.7643,
    0.7635,
    0.7624,
    0.7611,
    0.7598,
    0.7583,
    0.7569,
    0.7593,
]


@picture
def votes():
    ks = list(range(1, 40, 2))
    p = DUCK[0]
    apart = [sum(comb(k, n) * p**n * (1 - p) ** (k - n) for n in range(k // 2 + 1, k + 1)) for k in ks]
    q = Picture("A crowd and its ducks: votes of k help less than independent errors would let them")
    q.curves(
        [str(k) if k in (1, 5, 9, 19, 29, 39) else "" for k in ks],
        [("if independent", apart, "n"), ("the crowd", DUCK, "a")],
        0.5,
        1,
        "votes k",
    )
    return q


@picture
def anchors():
    p = Picture("GPT-4 on LLMBar, worked examples in the prompt: change in accuracy")
    p.dots(
        [
            ("none → one", 0.0046, -0.017, 0.0262, "a"),
            ("none → two", -0.0199, -0.0449, 0.0051, "a"),
            ("one → two", -0.0245, -0.0403, -0.0088, "b"),
        ],
        -0.06,
        0.06,
        0,
    )
    return p


@picture
def intervals():
    p = Picture("0 of 10 texts, and 17 of 20: four intervals")
    p.dots(
        [
            ("0/10 Clopper–Pearson", 0, 0, 0.3085, "a"),
            ("0/10 Wilson", 0, 0, 0.2775, "n"),
            ("0/10 Jeffreys", 0, 0, 0.2172, "n"),
            ("0/10 Agresti–Coull", 0, 0, 0.3209, "n"),
            ("17/20 Clopper–Pearson", 0.85, 0.6211, 0.9679, "a"),
            ("17/20 Wilson", 0.85, 0.6396, 0.9476, "n"),
            ("17/20 Jeffreys", 0.85, 0.6514, 0.9559, "n"),
            ("17/20 Agresti–Coull", 0.85, 0.6312, 0.9561, "n"),
        ]
    )
    return p


if __name__ == "__main__":
    here = Path(__file__).parent
    for name, draw in PICTURES.items():
        folder = here.parents[1] / "images" if name in BESIDE else here
        folder.mkdir(exist_ok=True)
        draw().write(folder / f"{name}.svg")
    print(f"{len(PICTURES)} pictures")
