"""Reference values of intraclass correlations.

Estimates are pingouin's; intervals are computed here at full precision from the formulas of Shrout & Fleiss 1979 in terms
of F ratios (pingouin prints two decimals, stored too). Data: the table of Shrout & Fleiss 1979; the wines of
real-statistics.com in pingouin's test data; drawn from the seed. The unbalanced one-way model and the interval of
Thomas & Hultquist 1978 are computed from raw scores with numpy.
"""
import json
import pathlib
from importlib.metadata import version

import numpy as np
import pandas as pd
import pingouin
from scipy.stats import f as F

random = np.random.default_rng(7)
out = {"versions": {p: version(p) for p in ["numpy", "scipy", "pingouin"]}}
shrout_fleiss = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
wine = [[1, 2, 0, 1], [1, 3, 3, 2], [3, 8, 1, 4], [6, 4, 3, 3], [6, 5, 5, 6], [7, 5, 6, 2], [8, 7, 7, 9], [9, 9, 9, 8]]
drawn = (random.normal(size=(40, 1)) * 2 + random.normal(size=(1, 3)) + random.normal(size=(40, 3))).tolist()
noise = random.normal(size=(12, 5)).tolist()


def intervals(x, level=0.95):
    x = np.array(x, dtype=float)
    n, k = x.shape
    g = x.mean()
    msb = k * ((x.mean(1) - g) ** 2).sum() / (n - 1)
    msw = ((x - x.mean(1, keepdims=True)) ** 2).sum() / (n * (k - 1))
    msc = n * ((x.mean(0) - g) ** 2).sum() / (k - 1)
    mse = ((x - x.mean(1, keepdims=True) - x.mean(0, keepdims=True) + g) ** 2).sum() / ((n - 1) * (k - 1))
    u = (1 + level) / 2
    f1 = msb / msw
    fl, fu = f1 / F.ppf(u, n - 1, n * (k - 1)), f1 * F.ppf(u, n * (k - 1), n - 1)
    f3 = msb / mse
    gl, gu = f3 / F.ppf(u, n - 1, (n - 1) * (k - 1)), f3 * F.ppf(u, (n - 1) * (k - 1), n - 1)
    r = (msb - mse) / (msb + (k - 1) * mse + k * (msc - mse) / n)
    fj = msc / mse
    v = (k - 1) * (n - 1) * (k * r * fj + n * (1 + (k - 1) * r) - k * r) ** 2
    v /= (n - 1) * k**2 * r**2 * fj**2 + (n * (1 + (k - 1) * r) - k * r) ** 2
    hl, hu = F.ppf(u, n - 1, v), F.ppf(u, v, n - 1)
    l2 = n * (msb - hl * mse) / (hl * (k * msc + (k * n - k - n) * mse) + n * msb)
    u2 = n * (hu * msb - mse) / (k * msc + (k * n - k - n) * mse + n * hu * msb)
    return [
        [(fl - 1) / (fl + k - 1), (fu - 1) / (fu + k - 1)],
        [l2, u2],
        [(gl - 1) / (gl + k - 1), (gu - 1) / (gu + k - 1)],
        [1 - 1 / fl, 1 - 1 / fu],
        [l2 * k / (1 + l2 * (k - 1)), u2 * k / (1 + u2 * (k - 1))],
        [1 - 1 / gl, 1 - 1 / gu],
    ]


out["complete"] = []
for x in [shrout_fleiss, wine, drawn, noise]:
    frame = pd.DataFrame(x).stack().reset_index()
    frame.columns = ["item", "rater", "score"]
    table = pingouin.intraclass_corr(frame, targets="item", raters="rater", ratings="score")
    ci = [c for c in table.columns if c.startswith("CI")][0]
    out["complete"].append(
        {
            "scores": x,
            "estimates": [float(v) for v in table["ICC"]],
            "f": [float(v) for v in table["F"]],
            "p_value": [float(v) for v in table[[c for c in table.columns if c.startswith("p")][0]]],
            "intervals": [[float(b) for b in row] for row in intervals(x)],
            "pingouin_intervals": [[float(b) for b in row] for row in table[ci]],
        }
    )

out["unbalanced"] = []
for m, largest, spread in [(6, 5, 2.0), (25, 3, 0.0), (80, 9, 1.0)]:
    items = [(random.normal() * spread + random.normal(size=random.integers(1, largest + 1))).tolist() for _ in range(m)]
    sizes = np.array([len(i) for i in items])
    n = sizes.sum()
    means = np.array([np.mean(i) for i in items])
    grand = np.concatenate(items).mean()
    msb = (sizes * (means - grand) ** 2).sum() / (m - 1)
    msw = sum(((np.array(i) - np.mean(i)) ** 2).sum() for i in items) / (n - m)
    n0 = (n - (sizes**2).sum() / n) / (m - 1)
    harmonic = m / (1 / sizes).sum()
    ratio = harmonic * means.var(ddof=1) / msw
    bounds = []
    for p in (0.975, 0.025):
        s = (ratio / F.ppf(p, m - 1, n - m) - 1) / harmonic
        bounds.append(float(s / (1 + s)))
    out["unbalanced"].append(
        {"items": items, "between": float(msb), "within": float(msw), "n0": float(n0), "rho": float((msb - msw) / (msb + (n0 - 1) * msw)), "thomas_hultquist": bounds}
    )
pathlib.Path(__file__).with_suffix(".json").write_text(json.dumps(out) + "\n")
print(out["complete"][0])
