"""Draws the pictures of the pages of measures: one SVG a measure, named by its id, and those of their neighbours.

    python3 docs/explanation/measures/images/make.py

Needs nothing but Python 3.9. Figures are those that the pages give, with their commands; worked ones are computed here.
Each picture is legible in light and dark, and holds its words as text.
"""

from html import escape
from math import comb
from pathlib import Path

WIDTH, LEFT, RIGHT = 640, 220, 560
STYLE = """
text{font:13px system-ui,sans-serif;fill:#1f2328}.h{font-weight:600}.m{fill:#59636e}.l{stroke:#d1d9e0;fill:none}
.e{text-anchor:end}.c{text-anchor:middle}.bg{fill:#fff}.a{fill:#0969da}.b{fill:#bc4c00}.n{fill:#8c959f}
.sa{stroke:#0969da;fill:none}.sb{stroke:#bc4c00;fill:none}.sn{stroke:#8c959f;fill:none}.w{fill:#fff;font-weight:600}
.d{stroke-dasharray:4 4}
@media (prefers-color-scheme:dark){text{fill:#f0f6fc}.m{fill:#9198a1}.l{stroke:#3d444d}.bg{fill:#0d1117}.a{fill:#4493f8}
.b{fill:#f0883e}.n{fill:#656c76}.sa{stroke:#4493f8}.sb{stroke:#f0883e}.sn{stroke:#656c76}.w{fill:#0d1117}}
"""


def number(value):
    """As the pages write numbers: .83, -.05, 1.5."""
    digits = f"{value:.3f}" if abs(value) < 1 else f"{value:.2f}"
    digits = digits.rstrip("0").rstrip(".") if "." in digits else digits
    return digits.replace("0.", ".", 1) if digits.lstrip("-").startswith("0.") else digits or "0"


class Picture:
    def __init__(self, title):
        self.title, self.parts, self.y = title, [], 30
        self.text(20, self.y, title, "h")
        self.y += 14

    def text(self, x, y, words, kind=""):
        self.parts.append(f'<text x="{x:g}" y="{y:g}"{f" class={chr(34)}{kind}{chr(34)}" if kind else ""}>{escape(words)}</text>')

    def line(self, x1, y1, x2, y2, kind="l", width=1):
        self.parts.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}" stroke-width="{width}"/>'
        )

    def rect(self, x, y, width, height, kind, round_by=2):
        self.parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{round_by}" class="{kind}"/>'
        )

    def dot(self, x, y, kind="a", radius=5):
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" class="{kind}"/>')

    def note(self, words):
        self.y += 24
        self.text(20, self.y, words, "m")

    def legend(self, *entries):
        self.y += 22
        x = 20
        for kind, words in entries:
            self.rect(x, self.y - 10, 11, 11, kind)
            self.text(x + 17, self.y, words, "m")
            x += 34 + 7.2 * len(words)

    def write(self, name):
        height = self.y + 20
        svg = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" height="{height:g}" '
            f'role="img"><title>{escape(self.title)}</title><style>{STYLE.strip()}</style>'
            f'<rect width="{WIDTH}" height="{height:g}" rx="6" class="bg"/>\n' + "\n".join(self.parts) + "\n</svg>\n"
        )
        assert len(svg.encode()) < 10_000, name
        file = Path(__file__).parent / f"{name}.svg"
        file.parent.mkdir(exist_ok=True)
        file.write_text(svg, encoding="utf-8")

    # Charts.

    def scale(self, low, high):
        return lambda value: LEFT + (value - low) / (high - low) * (RIGHT - LEFT)

    def dots(self, rows, low=0.0, high=1.0, mark=None, mark_words=""):
        """Rows of (label, estimate, low, high, colour): a dot on its interval."""
        x = self.scale(low, high)
        top = self.y + 8
        bottom = top + 28 * len(rows)
        if mark is not None:
            self.line(x(mark), top, x(mark), bottom, "sn d")
        for index, (label, estimate, from_, to, kind) in enumerate(rows):
            y = top + 28 * index + 16
            self.text(LEFT - 14, y + 4, label, "e")
            self.line(LEFT, y, RIGHT, y)
            if from_ is not None:
                self.line(x(max(from_, low)), y, x(min(to, high)), y, f"s{kind}", 3)
            self.dot(x(estimate), y, kind)
            self.text(RIGHT + 12, y + 4, number(estimate))
        for at in (low, (low + high) / 2, high):
            self.text(x(at), bottom + 16, number(at), "m c")
        self.y = bottom + 18
        if mark_words:
            self.note(mark_words)

    def bars(self, rows, high=1.0, width=18):
        """Rows of (label, [(value, colour), …]): bars one under another, from 0."""
        x = self.scale(0, high)
        self.y += 8
        for label, values in rows:
            tall = width * len(values)
            self.text(LEFT - 14, self.y + tall / 2 + 4, label, "e")
            for index, (value, kind) in enumerate(values):
                y = self.y + width * index
                self.rect(LEFT, y, max(x(value) - LEFT, 1.5), width - 4, kind)
                self.text(x(value) + 8, y + 11, number(value))
            self.y += tall + 8
        self.line(LEFT, self.y - 4, RIGHT, self.y - 4)

    def stack(self, rows):
        """Rows of (label, [(share, colour, words), …]) that add up to 1."""
        self.y += 8
        for label, parts in rows:
            self.text(LEFT - 14, self.y + 16, label, "e")
            at = LEFT
            for share, kind, words in parts:
                width = share * (RIGHT + 50 - LEFT)
                self.rect(at, self.y, max(width - 2, 1), 22, kind)
                if words and width > 34:
                    self.text(at + width / 2, self.y + 16, words, "w c")
                at += width
            self.y += 32

    def curves(self, x_labels, series, low=0.0, high=1.0, x_title="", height=150, at=None):
        """Series of (label, values, colour) over the same labels; `at` places the labels, 0..1."""
        top, bottom, left, right = self.y + 14, self.y + 14 + height, 60, 500
        n = len(x_labels)
        at = at or [index / (n - 1) for index in range(n)]
        xs = [left + share * (right - left) for share in at]
        y = lambda value: bottom - (value - low) / (high - low) * height
        for value in (low, (low + high) / 2, high):
            self.line(left, y(value), right, y(value))
            self.text(left - 8, y(value) + 4, number(value), "m e")
        for x, label in zip(xs, x_labels):
            self.text(x, bottom + 18, label, "m c")
        ends = []
        for label, values, kind in sorted(series, key=lambda each: -each[1][-1]):
            # Labels at the right keep apart.
            ends.append(max(y(values[-1]) + 4, ends[-1] + 15 if ends else 0))
            points = " ".join(f"{x:.1f},{y(value):.1f}" for x, value in zip(xs, values))
            self.parts.append(f'<polyline points="{points}" class="s{kind}" stroke-width="2.5"/>')
            for x, value in zip(xs, values):
                self.dot(x, y(value), kind, 3.5)
            self.text(right + 12, ends[-1], label)
        self.y = bottom + 20
        if x_title:
            self.text((left + right) / 2, self.y + 16, x_title, "m c")
            self.y += 18

    def strip(self, rows, low, high):
        """Rows of (label, [(value, colour), …], words): draws on the scale, equal ones side by side."""
        x = self.scale(low, high)
        self.y += 8
        for label, values, words in rows:
            y = self.y + 12
            self.text(LEFT - 14, y + 4, label, "e")
            self.line(LEFT, y, RIGHT - 20, y)
            seen = {}
            for value, kind in values:
                self.dot(x(value) + 11 * seen.get(value, 0), y, kind)
                seen[value] = seen.get(value, 0) + 1
            self.text(RIGHT - 8, y + 4, words)
            self.y += 32
        for value in range(int(low), int(high) + 1):
            self.text(x(value), self.y + 6, str(value), "m c")
        self.y += 8

    def cells(self, head, rows):
        """Rows of (label, [(word, colour) or None, …], words): one box an answer."""
        self.y += 20
        for index, word in enumerate(head):
            self.text(LEFT + 44 * index + 18, self.y, word, "m c")
        self.y += 8
        for label, boxes, words in rows:
            self.text(LEFT - 14, self.y + 19, label, "e")
            for index, box in enumerate(boxes):
                if box:
                    self.rect(LEFT + 44 * index, self.y, 36, 28, box[1], 4)
                    self.text(LEFT + 44 * index + 18, self.y + 19, box[0], "w c")
            self.text(LEFT + 44 * len(boxes) + 12, self.y + 19, words)
            self.y += 36

    def scatter(self, points, low, high, x_title, y_title, line=None, ordered=False):
        left, top, size = 120, self.y + 12, 190
        place = lambda value: (value - low) / (high - low) * size
        bottom = top + size
        self.line(left, bottom, left + size, bottom)
        self.line(left, top, left, bottom)
        if line:
            (x1, y1), (x2, y2) = line
            self.line(left + place(x1), bottom - place(y1), left + place(x2), bottom - place(y2), "sn d", 2)
        if ordered:
            steps = " ".join(f"{left + place(x):.1f},{bottom - place(y):.1f}" for x, y, *_ in points)
            self.parts.append(f'<polyline points="{steps}" class="sa" stroke-width="2.5"/>')
        for x, y, words in points:
            self.dot(left + place(x), bottom - place(y), "a")
            self.text(left + place(x) + 9, bottom - place(y) - 6, words)
        for value in (low, high):
            self.text(left + place(value), bottom + 18, number(value), "m c")
            self.text(left - 8, bottom - place(value) + 4, number(value), "m e")
        self.text(left + size / 2, bottom + 18, x_title, "m c")
        self.text(left - 14, top + size / 2, y_title, "m e")
        self.y = bottom + 20
        return left + size + 40, top


PICTURES = {}


def picture(function):
    PICTURES[function.__name__] = function
    return function


ACCEPT, REJECT, NOTHING = ("yes", "a"), ("no", "b"), ("?", "n")
A, B, TIE = ("A", "a"), ("B", "b"), ("tie", "n")


@picture
def unparsed_rate(name):
    p = Picture("One judge, 55 questions asked 100 times: a fifth of replies says nothing usable")
    p.dots([("temperature 1", .194, .1209, .2864, "a"), ("temperature .75", .1911, .1139, .2908, "a"), ("temperature .5", .1989, .1162, .3062, "a"),
            ("temperature .25", .2053, .1136, .3263, "a"), ("temperature 0", .2, .1017, .3346, "a")], 0, .4, .05, "Dashed: the built-in limit, .05.")
    p.write(name)


@picture
def flip_rate(name):
    p = Picture("Flip rate: of all pairs of answers to one question, how many differ?")
    p.cells(["1st", "2nd", "3rd", "4th"], [("item 1", [ACCEPT] * 4, "0 of 6 pairs differ"), ("item 2", [ACCEPT] * 3 + [REJECT], "3 of 6 pairs differ")])
    p.note("Mean of 0 and .5: the flip rate is .25.")
    p.write(name)


DRAWS = [("item 1", [5, 5, 7]), ("item 2", [3, 4, 3]), ("item 3", [8, 8, 8])]


def draws(p, words):
    p.strip([(label, [(value, "a") for value in values], word) for (label, values), word in zip(DRAWS, words)], 1, 10)


@picture
def mean_abs_difference(name):
    p = Picture("Three items, three scores each: how far apart are two of them?")
    draws(p, ["1.33", "0.67", "0"])
    p.note("Mean |difference| of all pairs of an item at the right; mean over items .667 points.")
    p.write(name)


@picture
def moved_over_one_point(name):
    p = Picture("The same judge: the share that moved grows with the number of repeats")
    p.curves(["2", "3", "5", "8"], [("RewardBench 2", [.0199, .0363, .0628, .0929], "a")], 0, .1, "repeats k", at=[0, 1 / 6, .5, 1])
    p.write(name)


@picture
def repeat_consistency(name):
    coin = lambda k: sum(comb(k, heads) * max(heads, k - heads) for heads in range(k + 1)) / (k * 2**k)
    ks = [2, 3, 5, 8]
    p = Picture("Share of the commonest of k answers: it falls as k grows, even for a coin")
    p.curves([str(k) for k in ks], [("RewardBench 2", [.8687, .8655, .8423, .828], "a"), ("a fair coin", [coin(k) for k in ks], "b")], .5, 1, "repeats k", at=[0, 1 / 6, .5, 1])
    p.write(name)


@picture
def any_flip_rate(name):
    p = Picture("The same judge: more repeats, more items with a second answer")
    p.curves(["2", "3", "5", "8"], [("any flip", [.2626, .3843, .5091, .5989], "a"), ("flip rate", [.2626] * 4, "b")], 0, .6, "repeats k", at=[0, 1 / 6, .5, 1])
    p.write(name)


@picture
def within_item_sd(name):
    p = Picture("RewardBench 2: variances are pooled; the mean of the SDs says less noise")
    p.bars([("temperature .7", [(.4483, "a"), (.3107, "n")]), ("temperature 0", [(.2139, "a"), (.0927, "n")])], .5)
    p.legend(("a", "within_item_sd, points"), ("n", "mean of the items’ SDs"))
    p.write(name)


@picture
def within_item_range_max(name):
    p = Picture("One judge, more items: the largest range only grows")
    p.bars([("40 items", [(2, "a")]), ("400 items", [(7, "a")]), ("6,936 items", [(8, "a")])], 9)
    p.note("Points, scale 1 to 10, eight scores an item. The flip rate is .290, .282, .263.")
    p.write(name)


@picture
def icc_single(name):
    p = Picture("The same noise, other items: the ICC follows how different items are")
    p.dots([("all responses", .9672, .9646, .9696, "a"), ("wrong ones only", .954, .9496, .958, "a"), ("right ones only", .9442, .9372, .9505, "a")], .9, 1)
    p.note("Two scores of one response differ by .29, .29 and .30 points on average.")
    p.write(name)


@picture
def icc_mean(name):
    ks = list(range(1, 11))
    p = Picture("What the mean of k scores gains: kρ / (1 + (k − 1)ρ)")
    p.curves([str(k) for k in ks], [(f"ρ = {number(r)}", [k * r / (1 + (k - 1) * r) for k in ks], kind) for r, kind in ((.9, "a"), (.6, "b"), (.3, "n"))], 0, 1, "scores in the mean, k")
    p.write(name)


@picture
def repeat_alpha(name):
    p = Picture("A judge that nearly always picks the second shown: which alpha?")
    p.dots([("answer = candidate", .6119, .4692, .7234, "a"), ("answer = place", -.0603, None, None, "b")], -.2, 1, 0)
    p.note("claude-3-haiku on DevBench; two of its answers to one question differ .194 of the time.")
    p.write(name)


@picture
def swap_consistency(name):
    p = Picture("Swap the candidates: how often does the same one win?")
    p.dots([("haiku, DevBench", .1759, .1299, .2301, "b"), ("haiku, MT-bench", .6586, .582, .7295, "a"), ("gpt-4-1106, MT-bench", .8079, .7225, .8763, "a"),
            ("gpt-4-0613, MT-bench", .8715, .8069, .9207, "a"), ("GPT-4, LLMBar", .9417, .9104, .9646, "a")], 0, 1, .75, "Dashed: the built-in limit, .75.")
    p.write(name)


@picture
def position_excess(name):
    p = Picture("Disagreement when asked again, and when swapped as well")
    p.bars([("haiku, DevBench", [(.1944, "n"), (.8241, "a")]), ("haiku, MT-bench", [(.2083, "n"), (.3414, "a")]), ("gpt-4-0125, MT-bench", [(.1128, "n"), (.1343, "a")])])
    p.legend(("n", "asked again"), ("a", "swapped"))
    p.note("What swapping adds is the excess: .630, .133 and .021.")
    p.write(name)


@picture
def position_direction(name):
    p = Picture("To which side? Left of 0: the candidate shown second is favoured")
    p.dots([("haiku, DevBench", -.7963, -.8648, -.7278, "b"), ("gpt-4-0125, DevBench", -.3889, -.5245, -.2533, "a"), ("haiku, MT-bench", -.1892, -.2986, -.0799, "a"),
            ("gpt-4-0613, MT-bench", .026, -.0296, .0816, "a")], -1, 1, 0)
    p.write(name)


@picture
def first_position_preference(name):
    p = Picture("Of the decided answers, how many choose the candidate shown first?")
    p.dots([("haiku, DevBench", .1019, .0701, .1417, "b"), ("haiku, MT-bench", .4007, .3441, .4594, "a"), ("GPT-4, LLMBar", .5077, .4686, .5467, "a"),
            ("haiku, JudgeBench", .6311, .5821, .6782, "a")], 0, 1, .5, "Dashed: even.")
    p.write(name)


def leanings(name, title):
    p = Picture(title)
    p.stack([("GPT-4, LLMBar", [(.0368, "b", ""), (.9417, "n", ".94"), (.0215, "a", "")]), ("haiku, JudgeBench", [(.3463, "b", ".35"), (.5253, "n", ".53"), (.1284, "a", ".13")]),
             ("haiku, MT-bench", [(.0799, "b", ""), (.6586, "n", ".66"), (.2616, "a", ".26")]), ("haiku, DevBench", [(.0139, "b", ""), (.1759, "n", ".18"), (.8102, "a", ".81")])])
    p.legend(("b", "leans to the first"), ("n", "same candidate"), ("a", "leans to the second"))
    p.write(name)


@picture
def primacy_rate(name):
    leanings(name, "Swapped pairs of answers: at the left those that lean to the first")


@picture
def recency_rate(name):
    leanings(name, "Swapped pairs of answers: at the right those that lean to the second")


@picture
def order_shift(name):
    p = Picture("Three items scored in two orders: how much higher is order ab?")
    p.strip([("item 1", [(8, "a"), (6, "b")], "+2"), ("item 2", [(5, "a"), (5, "b")], "0"), ("item 3", [(7, "a"), (6, "b")], "+1")], 1, 10)
    p.legend(("a", "order ab"), ("b", "order ba"))
    p.note("Mean difference: 1 point.")
    p.write(name)


@picture
def place_slope(name):
    p = Picture("The same item shown later: its score falls by .75 a place")
    p.curves(["1st", "2nd", "3rd"], [("item 1", [8, 7, 6], "a"), ("item 2", [5, 4.5, 4], "b")], 1, 10, "place shown")
    p.note("Item 2 was shown at places 1 and 3 only; the point between lies on its line.")
    p.write(name)


@picture
def accuracy(name):
    p = Picture("RewardBench 2: right .82 of the time, where rejecting everything is right .75")
    p.bars([("always rejects", [(.75, "n")]), ("the judge", [(.8222, "a")]), ("its false rejects", [(.545, "b")]), ("its false accepts", [(.0554, "b")])])
    p.write(name)


def by_order(name, title):
    p = Picture(title)
    p.dots([("no example, ab", .8497, .8061, .8867, "a"), ("no example, ba", .8712, .8298, .9056, "b"), ("one, ab", .8773, .8366, .9109, "a"), ("one, ba", .8528, .8095, .8895, "b"),
            ("two, ab", .8405, .7961, .8786, "a"), ("two, ba", .8405, .7961, .8786, "b")], .75, .95)
    p.write(name)


@picture
def accuracy_ab(name):
    by_order(name, "GPT-4 on LLMBar: accuracy by order shown, under three prompts")


@picture
def accuracy_ba(name):
    by_order(name, "GPT-4 on LLMBar: accuracy by order shown, under three prompts")


@picture
def accuracy_both_orders(name):
    p = Picture("Right in one order, and right in both")
    p.bars([("GPT-4, LLMBar", [(.8604, "n"), (.8313, "a")]), ("Claude, Vicuna 80", [(.6351, "n"), (.453, "a")]), ("GPT-3.5, Vicuna 80", [(.6485, "n"), (.5276, "a")]), ("haiku, JudgeBench", [(.3204, "n"), (.1479, "a")])])
    p.legend(("n", "accuracy"), ("a", "right in both orders"))
    p.write(name)


@picture
def false_accept_rate(name):
    p = Picture("XSTest: refusals that a judge takes for an answer")
    p.dots([("GPT-4", .2684, .2264, .3137, "b"), ("a search for words", .1553, .1299, .1836, "a")], 0, .4, .1, "Dashed: the built-in limit, .1.")
    p.write(name)


SWEEP = [(1, 1, 0), (2, .8777, .0006), (3, .649, .0244), (4, .4847, .0617), (5, .3078, .1292), (6, .2335, .1775), (7, .1336, .3215), (8, .0554, .545), (9, .0212, .7998), (10, .0054, .959)]


@picture
def false_reject_rate(name):
    p = Picture("RewardBench 2: a higher threshold trades false accepts for false rejects")
    p.curves([str(t) for t, *_ in SWEEP], [("false rejects", [frr for *_, frr in SWEEP], "b"), ("false accepts", [far for _, far, _ in SWEEP], "n")], 0, 1, "accepts from this score on")
    p.write(name)


def at_base_rates(name, title, own, shape):
    rates = [.05, .25, .5, .75, .9]
    p = Picture(title)
    p.curves([number(rate) for rate in rates], [(own, [shape(rate) for rate in rates], "a")], 0, 1, "share of right items, π", at=[(rate - .05) / .85 for rate in rates])
    p.note("False accepts .055, false rejects .545: RewardBench 2, accepting from 8 on.")
    p.write(name)


FAR, FRR = .05545, .54501


@picture
def precision(name):
    at_base_rates(name, "One judge, other mixes: what its acceptance is worth", "precision", lambda pi: (1 - FRR) * pi / ((1 - FRR) * pi + FAR * (1 - pi)))


@picture
def negative_predictive_value(name):
    at_base_rates(name, "One judge, other mixes: what its rejection is worth", "NPV", lambda pi: (1 - FAR) * (1 - pi) / ((1 - FAR) * (1 - pi) + FRR * pi))


@picture
def kappa(name):
    def value(pi):
        hit, false = .9, .1
        observed = pi * hit + (1 - pi) * (1 - false)
        said = pi * hit + (1 - pi) * false
        chance = pi * said + (1 - pi) * (1 - said)
        return (observed - chance) / (1 - chance)

    rates = [.5, .2, .1, .05, .02]
    p = Picture("A judge right .9 of the time on either kind: kappa falls as right items grow rare")
    p.curves([number(rate) for rate in rates], [("kappa", [value(rate) for rate in rates], "a"), ("accuracy", [.9] * 5, "n")], 0, 1, "share of right items")
    p.write(name)


@picture
def ac1(name):
    p = Picture("The same answers and labels, four coefficients")
    p.dots([("observed agreement", .8222, None, None, "n"), ("AC1", .7372, .7261, .748, "a"), ("kappa", .4573, .4343, .4796, "b"), ("alpha", .4498, .426, .4729, "b")])
    p.note("RewardBench 2 from 8 on: it accepts .155 of items, .25 are right, and it finds .455 of these.")
    p.write(name)


@picture
def alpha_with_labels(name):
    p = Picture("A stricter threshold: alpha sees what AC1 does not")
    p.curves(["6", "7", "8", "9"], [("AC1", [.6137, .7066, .7372, .7058], "n"), ("alpha", [.4918, .5307, .4498, .1886], "a")], 0, 1, "accepts from this score on (RewardBench 2)")
    p.write(name)


@picture
def auc(name):
    p = Picture("RewardBench 2: every threshold is a point; the area under them is .861")
    points = [(0, 0, "")] + [(far, 1 - frr, str(t) if 4 < t < 10 else "") for t, far, frr in reversed(SWEEP)]
    x, y = p.scatter(points, 0, 1, "false accepts", "right accepted", ((0, 0), (1, 1)), ordered=True)
    for index, words in enumerate(["The numbers are thresholds.", "Dashed: a judge that guesses, .5.", "7 lets .134 of wrong items pass,", "8 turns .545 of right ones away:", "no point keeps .1 and .2."]):
        p.text(x, y + 40 + 22 * index, words)
    p.write(name)


PAIRS = [(1, 2, "1"), (2, 4, "2"), (4, 4, "3"), (5, 8, "4")]


def four(name, title, words, line=None):
    p = Picture(title)
    x, y = p.scatter(PAIRS, 0, 9, "label", "score", line)
    for index, word in enumerate(words):
        p.text(x, y + 40 + 22 * index, word)
    p.write(name)


@picture
def spearman(name):
    four(name, "Four items: do scores rank them as the labels do?", ["Ranks of labels: 1, 2, 3, 4.", "Ranks of scores: 1, 2½, 2½, 4.", "Correlation of the ranks: .949."])


@picture
def kendall(name):
    four(name, "Four items, six pairs: which of two is better?", ["5 pairs in the same order,", "0 in the other,", "1 tied in score (2 and 3).", "5 / √(5 · 6) = .913."])


@picture
def pearson(name):
    four(name, "Four items: do scores rise in a line with the labels?", ["Dashed: the line that fits best,", "score = .9 + 1.2 · label.", "r = 12 / √(19 · 10) = .871."], ((0, .9), (6.5, 8.7)))


CONALA = [("plain", .6408, .5886, .6931, .9123), ("with reference", .4075, .3545, .4605, .8279), ("with steps", -.0056, -.0555, .0443, .7337), ("with both", -.0384, -.0868, .01, .7425)]


@picture
def mean_error(name):
    p = Picture("Four prompts of one judge of code, in points on a scale of 0 to 4")
    p.dots([(f"{label}", *figures, "a") for label, *figures, _ in CONALA], -1, 1, 0, "Right of 0: it scores higher than people do.")
    p.write(name)


@picture
def mean_absolute_error(name):
    p = Picture("No inflation on average, and still .73 points off")
    p.bars([(label, [(abs(error), "n"), (off, "a")]) for label, error, _, _, off in CONALA], 1)
    p.legend(("n", "|mean error|"), ("a", "mean absolute error"))
    p.write(name)


@picture
def top_of_group_accuracy(name):
    p = Picture("Best of four by the mean of k scores: the rule for ties decides whether votes help")
    p.curves([str(k) for k in range(1, 9)], [("ties left out", [.869, .858, .853, .851, .851, .851, .851, .85], "n"), ("shared", [.796, .814, .822, .826, .829, .832, .833, .835], "a"),
             ("wrong", [.722, .766, .785, .796, .803, .808, .812, .815], "b")], .7, .9, "scores in the mean, k")
    p.write(name)


@picture
def win_rate(name):
    p = Picture("JudgeBench: answers and labels have a like mix, and agree no more than coins")
    p.bars([("A", [(.4866, "a"), (.5463, "n")]), ("B", [(.5134, "a"), (.4537, "n")])])
    p.legend(("a", "the judge"), ("n", "the labels"))
    p.note("Of its 335 decided answers 169 are right: .504. Kappa of all answers is .006.")
    p.write(name)


DUCK = [.6356, .6852, .7131, .7308, .7427, .7508, .7564, .7602, .7627, .7642, .7648, .7648, .7643, .7635, .7624, .7611, .7598, .7583, .7569, .7593]


@picture
def votes(name):
    ks = list(range(1, 40, 2))
    p = DUCK[0]
    apart = [sum(comb(k, n) * p**n * (1 - p) ** (k - n) for n in range(k // 2 + 1, k + 1)) for k in ks]
    q = Picture("A crowd and its ducks: votes of k help less than independent errors would let them")
    q.curves([str(k) if k in (1, 5, 9, 19, 29, 39) else "" for k in ks], [("if independent", apart, "n"), ("the crowd", DUCK, "a")], .5, 1, "votes k")
    q.write("../../images/votes")


@picture
def anchors(name):
    p = Picture("Worked examples in the prompt, GPT-4 on LLMBar: change in accuracy, item by item")
    p.dots([("none → one", .0046, -.017, .0262, "a"), ("none → two", -.0199, -.0449, .0051, "a"), ("one → two", -.0245, -.0403, -.0088, "b")], -.06, .06, 0)
    p.write("../../images/anchors")


@picture
def intervals(name):
    p = Picture("0 of 10 texts, and 17 of 20: four intervals")
    p.dots([("0/10 Clopper–Pearson", 0, 0, .3085, "a"), ("0/10 Wilson", 0, 0, .2775, "n"), ("0/10 Jeffreys", 0, 0, .2172, "n"), ("0/10 Agresti–Coull", 0, 0, .3209, "n"),
            ("17/20 Clopper–Pearson", .85, .6211, .9679, "a"), ("17/20 Wilson", .85, .6396, .9476, "n"), ("17/20 Jeffreys", .85, .6514, .9559, "n"), ("17/20 Agresti–Coull", .85, .6312, .9561, "n")])
    p.write("../../images/intervals")


if __name__ == "__main__":
    for name, draw in PICTURES.items():
        draw(name)
    print(f"{len(PICTURES)} pictures")
