"""Pictures of the pages about the scale and about people."""

from chart import Picture, picture

ACCEPT, REJECT = ("yes", "a"), ("no", "b")
ASKED = ("plain", "with reference", "with steps", "with both")


def asked(title, figures, low, high, mark=None, words=""):
    p = Picture(title)
    p.dots([(way, *each, "a") for way, each in zip(ASKED, figures)], low, high, mark, words)
    return p


@picture
def ceiling_share():
    figures = [(0.1912, 0.1706, 0.2132), (0.1639, 0.1454, 0.1837), (0.2201, 0.2008, 0.2404), (0.2329, 0.213, 0.2538)]
    return asked("One judge of code, asked four ways: share at the highest grade", figures, 0, 0.5)


@picture
def floor_share():
    figures = [(0.1064, 0.0927, 0.1213), (0.1382, 0.1219, 0.1558), (0.4134, 0.3898, 0.4373), (0.4402, 0.4171, 0.4634)]
    return asked("One judge of code, asked four ways: share at the lowest grade", figures, 0, 0.5)


@picture
def effective_levels():
    p = Picture("Levels in use, of those there are")
    p.bars([("RewardBench 2", [(8.8672, "a"), (10, "n")])], 11)
    p.bars([(way, [(used, "a"), (5, "n")]) for way, used in zip(ASKED, (4.5599, 4.5412, 4.1444, 3.9159))], 11)
    p.legend(("a", "in use"), ("n", "on the scale"))
    return p


@picture
def halo_excess():
    p = Picture("Two criteria of four items: how alike are they?")
    p.bars([("the judge", [(1, "b")]), ("the labels", [(0.6, "n")])])
    p.note("Correlation of clearness and truth; the excess is .4.")
    return p


@picture
def people_agreement():
    p = Picture("XSTest: agreement with the others, one person left out")
    p.dots(
        [
            ("people", 0.9756, 0.9654, 0.9834, "n"),
            ("GPT-4", 0.8507, 0.8245, 0.8745, "a"),
            ("a search for words", 0.887, 0.868, 0.9042, "a"),
        ],
        0.7,
        1,
    )
    return p


@picture
def agreement_with_people():
    p = Picture("XSTest: how often do judges say what people say?")
    p.dots(
        [("GPT-4", 0.8507, 0.8245, 0.8745, "a"), ("a search for words", 0.887, 0.868, 0.9042, "a")],
        0.7,
        1,
        0.9756,
        "Dashed: people among themselves, .976.",
    )
    return p


@picture
def agreement_gap():
    p = Picture("XSTest: agreement of the judge less that of a person")
    p.dots(
        [("GPT-4", -0.1248, -0.1496, -0.1, "a"), ("a search for words", -0.0885, -0.1067, -0.0703, "a")], -0.2, 0.2, 0
    )
    return p


@picture
def people_distance():
    p = Picture("Three people and a judge score three items")
    rows = [([4, 5, 6], 5, "1"), ([2, 2, 5], 4, "2"), ([7, 8, 9], 6, "1")]
    p.strip(
        [
            (f"item {at}", [(each, "n") for each in people] + [(judge, "a")], far)
            for at, (people, judge, far) in enumerate(rows, 1)
        ],
        1,
        10,
    )
    p.legend(("n", "people"), ("a", "the judge"))
    p.note("At the right: a person’s mean distance from the others. Mean 1.333 points.")
    return p


@picture
def distance_to_people():
    figures = [(0.9212, 0.8846, 0.9641), (0.8381, 0.8049, 0.8782), (0.7406, 0.7086, 0.779), (0.7493, 0.7173, 0.7871)]
    return asked("CoNaLa: points from the mean of people", figures, 0.5, 1, 0.66, "Dashed: people themselves, .66.")


@picture
def distance_gap():
    figures = [(0.2616, 0.2208, 0.3025), (0.1778, 0.14, 0.2156), (0.0808, 0.0504, 0.1112), (0.0901, 0.0605, 0.1196)]
    return asked("CoNaLa: distance of the judge less that of a person, points", figures, -0.4, 0.4, 0)


def votes_of_three(title, rows, note):
    p = Picture(title)
    p.cells(["1st", "2nd", "3rd"], rows)
    p.note(note)
    return p


@picture
def bias_from_people():
    return votes_of_three(
        "The judge’s commonest answer, and people’s",
        [
            ("item 1", [ACCEPT] * 3, "people: yes, yes, no"),
            ("item 2", [REJECT, REJECT, ACCEPT], "people: no, no, no"),
            ("item 3", [REJECT] * 3, "people: yes, yes, yes"),
        ],
        "They meet on items 1 and 2, not on 3: .333.",
    )


@picture
def variance_of_draws():
    return votes_of_three(
        "Each draw against the judge’s other draws",
        [
            ("item 1", [ACCEPT] * 3, "0"),
            ("item 2", [REJECT, REJECT, ACCEPT], "½, ½ and 1 lost: 2/3"),
            ("item 3", [REJECT] * 3, "0"),
        ],
        "Mean of 0, 2/3 and 0: .222.",
    )


@picture
def advantage_probability():
    figures = [(0.59, 0.5618, 0.6176), (0.6133, 0.5856, 0.6403), (0.7496, 0.7248, 0.7729), (0.7339, 0.7078, 0.7585)]
    return asked("CoNaLa: how often as near to the others as a person, or nearer?", figures, 0.5, 1)


@picture
def winning_rate():
    p = Picture("CoNaLa: against what share of 16 people does the judge win?")
    p.bars([(way, [(share, "a")]) for way, share in zip(ASKED, (0.1875, 0.3125, 0.8125, 0.6875))])
    p.note("Passed from .5 on, with ε = .2.")
    return p
