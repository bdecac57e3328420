"""Pictures of the pages about right and wrong."""

from chart import Picture, number, picture


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
def pairwise_accuracy():
    scores, labels = (6.1, 6.3, 7.5, 7.0), (3, 3, 4, 1)

    def right(i, j, epsilon):
        score, label = scores[i] - scores[j], labels[i] - labels[j]
        return abs(score) <= epsilon + 1e-9 if label == 0 else abs(score) > epsilon + 1e-9 and score * label > 0

    pairs = [(i, j) for j in range(4) for i in range(j)]
    shares = [(epsilon, sum(right(i, j, epsilon) for i, j in pairs) / 6) for epsilon in (0, 0.2, 0.5, 0.7, 0.9, 1.2, 1.4)]
    p = Picture("Four items, six pairs: how close are scores that count as equal?")
    p.bars(
        [
            (f"at most {number(epsilon)} apart", [(share, "a" if epsilon == 0.2 else "n")])
            for epsilon, share in shares
        ]
    )
    p.note("Pairs that are right, at each tolerance. At .2 the two items labelled 3 are equal;")
    p.note("beyond it right orders are lost.")
    return p


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
def weighted_kappa():
    labels, scores = [1, 2, 4, 5], [2, 4, 4, 8]
    observed = sum((x - y) ** 2 for x, y in zip(scores, labels)) / 4
    chance = sum((x - y) ** 2 for x in scores for y in labels) / 16
    return four(
        "Four items: how far from the line where score and label are equal?",
        [
            "Dashed: score = label.",
            f"Mean squared difference: {number(observed)};",
            f"of any score and any label: {number(chance)}.",
            f"1 − {number(observed)}/{number(chance)} = {number(1 - observed / chance)}.",
        ],
        ((0, 0), (9, 9)),
    )


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
