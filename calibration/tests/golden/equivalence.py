"""Reference values of the equivalence of two proportions.

Independent ones are statsmodels's (Agresti-Caffo). Paired ones have no Python package: Tango's score is computed from its definition,
with the likelihood at each margin maximised by scipy, not by the closed form of the paper.
"""
import json
import pathlib
from importlib.metadata import version

import numpy as np
from scipy import optimize, stats
from statsmodels.stats.proportion import tost_proportions_2indep

out = {"versions": {p: version(p) for p in ["numpy", "scipy", "statsmodels"]}, "paired": [], "independent": []}


def score(b, c, n, d):
    # P(only the second) = p, P(only the first) = p + d.
    def slope(p):
        return b / (p + d) + c / p - 2 * (n - b - c) / (1 - 2 * p - d)

    low, high = max(0.0, -d), (1 - d) / 2
    p = optimize.brentq(slope, low + 1e-15, high - 1e-15, xtol=1e-16, rtol=1e-15)
    return (b - c - n * d) / np.sqrt(n * (2 * p + d - d * d))


for b, c, n, low, high in [(12, 9, 44, -0.1, 0.1), (5, 14, 200, -0.1, 0.1), (3, 3, 100, -0.05, 0.08), (40, 35, 300, -0.2, 0.05), (2, 1, 60, -0.1, 0.15)]:
    p = [float(stats.norm.sf(score(b, c, n, low))), float(stats.norm.cdf(score(b, c, n, high)))]
    out["paired"].append({"counts": [b, c, n], "margins": [low, high], "p": p})
for x, n, y, m, low, high in [(90, 100, 85, 100, -0.1, 0.1), (30, 40, 70, 90, -0.2, 0.15), (0, 50, 1, 60, -0.1, 0.1), (450, 500, 455, 500, -0.05, 0.05)]:
    tost = tost_proportions_2indep(x, n, y, m, low, high, method="agresti-caffo")
    out["independent"].append({"counts": [x, n, y, m], "margins": [low, high], "p": [float(tost.results_larger.pvalue), float(tost.results_smaller.pvalue), float(tost.pvalue)]})
pathlib.Path(__file__).with_suffix(".json").write_text(json.dumps(out).replace("}, {", "},\n{") + "\n")
