"""What the pictures of measures are drawn with: one SVG, legible in light and dark, its words as text."""

from html import escape

WIDTH, LEFT, RIGHT = 640, 220, 560
STYLE = """
text{font:13px system-ui,sans-serif;fill:#1f2328}.h{font-weight:600}.m{fill:#59636e}.l{stroke:#d1d9e0;fill:none}
.e{text-anchor:end}.c{text-anchor:middle}.bg{fill:#fff}.a{fill:#0969da}.b{fill:#bc4c00}.n{fill:#8c959f}
.sa{stroke:#0969da;fill:none}.sb{stroke:#bc4c00;fill:none}.sn{stroke:#8c959f;fill:none}.w{fill:#fff;font-weight:600}
.d{stroke-dasharray:4 4}
@media (prefers-color-scheme:dark){text{fill:#f0f6fc}.m{fill:#9198a1}.l{stroke:#3d444d}.bg{fill:#0d1117}.a{fill:#4493f8}
.b{fill:#f0883e}.n{fill:#656c76}.sa{stroke:#4493f8}.sb{stroke:#f0883e}.sn{stroke:#656c76}.w{fill:#0d1117}}
"""


# Functions that return a picture, by the name of its file.
PICTURES = {}


def picture(function):
    PICTURES[function.__name__] = function
    return function


def number(value):
    """As the pages write numbers: .83, -.05, 1.5."""
    digits = f"{value:.3f}" if abs(value) < 1 else f"{value:.2f}"
    digits = digits.rstrip("0").rstrip(".") if "." in digits else digits
    digits = digits.replace("0.", ".", 1) if digits.lstrip("-").startswith("0.") else digits
    return digits.replace("-", "−")


class Picture:
    def __init__(self, title):
        self.title, self.parts, self.y = title, [], 30
        self.text(20, self.y, title, "h")
        self.y += 14

    def text(self, x, y, words, kind=""):
        self.parts.append(
            f'<text x="{x:g}" y="{y:g}"{f" class={chr(34)}{kind}{chr(34)}" if kind else ""}>{escape(words)}</text>'
        )

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

    def write(self, file):
        height = self.y + 20
        svg = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" height="{height:g}" '
            f'role="img"><title>{escape(self.title)}</title><style>{STYLE.strip()}</style>'
            f'<rect width="{WIDTH}" height="{height:g}" rx="6" class="bg"/>\n' + "\n".join(self.parts) + "\n</svg>\n"
        )
        assert len(svg.encode()) < 10_000, file
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
        bottom, left, right = self.y + 14 + height, 60, 500
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
            self.text(left + place(x) + 9, bottom - place(y) + (14 if ordered else -6), words)
        for value in (low, high):
            self.text(left + place(value), bottom + 18, number(value), "m c")
            self.text(left - 8, bottom - place(value) + 4, number(value), "m e")
        self.text(left + size / 2, bottom + 18, x_title, "m c")
        self.text(left - 14, top + size / 2, y_title, "m e")
        self.y = bottom + 20
        return left + size + 40, top
