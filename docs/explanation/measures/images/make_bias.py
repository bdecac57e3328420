"""Pictures of the pages about length and self-preference."""

from chart import Picture, picture


@picture
def length_effect():
    p = Picture("Score and length: wrong texts gain 1 point a doubling, right ones 0")
    p.strip(
        [
            ("wrong, length 100", [(4, "b")], "4"),
            ("wrong, length 200", [(5, "b")], "5"),
            ("right, length 400", [(7, "a")], "7"),
            ("right, length 800", [(7, "a")], "7"),
        ],
        1,
        10,
    )
    p.note("Mean of 1 and 0: half a point a doubling, labels being equal.")
    return p


@picture
def length_effect_share():
    p = Picture("LLMBar: how much more often is a candidate twice as long chosen?")
    p.dots(
        [
            ("ChatGPT, adversarial", 0.084, 0.042, 0.126, "b"),
            ("GPT-4, adversarial", 0.018, -0.019, 0.055, "a"),
            ("ChatGPT, natural", 0.046, -0.004, 0.095, "a"),
        ],
        -0.15,
        0.15,
        0,
    )
    return p


@picture
def self_preference():
    p = Picture("One judge and another on the same items: who likes whose?")
    p.strip(
        [
            ("own item 1", [(8, "a"), (6, "n")], "+2"),
            ("own item 2", [(7, "a"), (6, "n")], "+1"),
            ("other item 3", [(5, "a"), (5, "n")], "0"),
            ("other item 4", [(4, "a"), (5, "n")], "−1"),
        ],
        1,
        10,
    )
    p.legend(("a", "the judge"), ("n", "another judge"))
    p.note("1.5 more on its own, .5 less on others: 2 points.")
    return p


@picture
def self_preference_share():
    p = Picture("GPT-4 on XSTest: its own model's answers against others'")
    p.dots(
        [("by itself", -0.1016, -0.1297, -0.0735, "b"), ("beside another judge", -0.0189, -0.0543, 0.0165, "a")],
        -0.2,
        0.2,
        0,
    )
    return p


@picture
def own_false_accepts():
    p = Picture("GPT-4 on XSTest: false accepts of its own model's less of others'")
    p.dots(
        [("by itself", -0.2015, -0.2542, -0.1488, "b"), ("beside another judge", -0.0576, -0.1159, 0.0007, "a")],
        -0.3,
        0.3,
        0,
    )
    return p
