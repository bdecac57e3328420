"""Boundaries of group-sequential plans: scipy 1.17.1, numpy 2.4.6.

Each tail is the p value below which a look is significant. Found by integrating the density of the paths that go on, on a grid of 601 points; all of them
together are held against `scipy.stats.multivariate_normal`, which integrates the joint distribution of all looks by another method.
"""

import json
import math
from pathlib import Path

import numpy as np
from scipy.optimize import brentq
from scipy.stats import multivariate_normal, norm

POINTS = 601


def tails(fractions, alpha, spent):
    found, before, at, mass = [], 0.0, np.array([0.0]), np.array([1.0])
    for now in fractions:
        spend = spent(now, alpha) - (spent(before, alpha) if before else 0.0)
        step = math.sqrt(now - before)
        bound = brentq(lambda b: float(mass @ norm.sf((b - at) / step)) - spend, -5, 15, xtol=1e-13)
        found.append(float(norm.sf(bound / math.sqrt(now))))
        points = np.linspace(-9 * math.sqrt(now), bound, POINTS)
        width = points[1] - points[0]
        weights = np.ones(POINTS)
        weights[1:-1:2], weights[2:-1:2] = 4, 2
        density = norm.pdf((points[:, None] - at[None, :]) / step) @ mass / step
        before, at, mass = now, points, weights * width / 3 * density
    return found


SPENDING = {
    "power_1.5": lambda t, alpha: alpha * t**1.5,
    "obrien_fleming": lambda t, alpha: 2 * norm.sf(norm.isf(alpha / 2) / math.sqrt(t)),
    "pocock": lambda t, alpha: alpha * math.log(1 + (math.e - 1) * t),
}

cases = []
for name, spent in SPENDING.items():
    for alpha in (0.025, 0.025 / 7):
        for fractions in ([0.2, 0.4, 0.6, 0.8, 1.0], [0.05, 0.125, 0.5, 0.53, 0.9, 1.0]):
            found = tails(fractions, alpha, spent)
            covariance = [[math.sqrt(min(a, b) / max(a, b)) for b in fractions] for a in fractions]
            joint = multivariate_normal(cov=covariance, maxpts=50_000, abseps=1e-5, releps=1e-5)
            crossed = 1 - joint.cdf(norm.isf(found))
            assert abs(crossed - spent(1.0, alpha)) < 1e-4, (name, crossed)
            cases.append({"spending": name, "alpha": alpha, "fractions": fractions, "tails": found})

Path(__file__).with_suffix(".json").write_text(json.dumps(cases, indent=1) + "\n")
