"""Pictures of the pages about what answers are worth in use: costs, pass rates, confidences."""

from math import log

from chart import Picture, picture


@picture
def expected_cost():
    p = Picture("RewardBench 2, accepting from 8 on: what errors cost")
    p.bars([("costs 1 to 1", [(0.1778, "a"), (0.25, "n")]), ("costs 5 to 1", [(0.3442, "a"), (0.25, "n")])], 0.4)
    p.legend(("a", "the judge"), ("n", "accepting nothing"))
    return p


def passed(title, *rows):
    p = Picture(title)
    p.dots(list(rows), 0.2, 0.8, 0.456, "Dashed: what the labels that were held back say, .456.")
    return p


AS_JUDGED = ("as judged", 0.602, 0.556, 0.646, "b")
CORRECTED = ("corrected", 0.467, 0.352, 0.565, "a")


@picture
def pass_rate():
    return passed("XSTest: the share that passes is not the share that is right", AS_JUDGED, CORRECTED)


@picture
def corrected_pass_rate():
    return passed("XSTest: the pass rate corrected by errors on 90 prompts", CORRECTED, AS_JUDGED)


@picture
def corrected_pass_rate_ppi():
    p = Picture("XSTest: share right, from a random sample of 90 prompts")
    p.dots([("from a random sample", 0.463, 0.398, 0.53, "a"), CORRECTED], 0.2, 0.8)
    p.note("The first is of all items, the second of those without labels.")
    return p


@picture
def overconfidence():
    p = Picture("Grades of 3,220 programs, read as if they were probabilities")
    p.bars([("said", [(0.9392, "b")]), ("came true", [(0.4168, "a")])])
    p.note("The difference is the overconfidence: .522.")
    return p


@picture
def brier_score():
    p = Picture("The same grades: mean squared distance from what came")
    p.bars([("grades", [(0.4995, "b")]), ("always .417", [(0.2431, "n")])])
    return p


@picture
def log_loss():
    p = Picture("What a probability costs that was given to what came")
    at = [0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.99]
    p.curves([f"{each:g}".lstrip("0") for each in at], [("−ln p", [-log(each) for each in at], "a")], 0, 3, "p", at=at)
    return p


@picture
def ece():
    p = Picture("The same grades: how far off is a confidence, typically?")
    p.bars([("grades", [(0.523, "b")]), ("a perfect judge", [(0.0076, "n")])])
    p.note("A perfect judge, too, is above 0 by chance.")
    return p


@picture
def ece_excess():
    p = Picture("Five answers: the calibration error, and what chance alone would show")
    p.bars([("the judge", [(0.04, "a")]), ("a perfect judge, mean", [(0.132, "n")]), ("its 95th percentile", [(0.24, "n")])], 0.4)
    p.note(".04 less .132: −.092. Nothing is shown.")
    return p
