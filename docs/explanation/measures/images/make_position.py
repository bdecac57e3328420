"""Pictures of the pages about position."""

from chart import Picture, picture


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
