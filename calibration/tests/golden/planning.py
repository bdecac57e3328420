"""Golden values of planning: sample sizes of McNemar's test, power of exact bounds, variance of shares of pairs.

Powers are sums over all outcomes: scipy's binomials, statsmodels' Clopper-Pearson bounds and McNemar p values (mid-p
written out). Run: python planning.py > planning.json
"""

import json
from math import sqrt

import numpy
import scipy
import statsmodels
from scipy import optimize, stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import proportion_confint


def connor(d, psi, level, power):
    z, b = stats.norm.ppf(0.5 + level / 2), stats.norm.ppf(power)
    return (z * sqrt(psi) + b * sqrt(psi - d * d)) ** 2 / d**2


def miettinen(d, psi, level, power):
    z, b = stats.norm.ppf(0.5 + level / 2), stats.norm.ppf(power)
    return (z * psi + b * sqrt(psi**2 - d**2 * (3 + psi) / 4)) ** 2 / (psi * d * d)


def p_value(x, y, kind):
    exact = mcnemar([[0, x], [y, 0]], exact=True).pvalue
    if kind == "exact":
        return exact
    n = x + y
    point = stats.binom.pmf(min(x, y), n, 0.5)
    return 1 - 0.5 * point if x == y else min(exact - point, 1)


def mcnemar_power(n, d, psi, level, kind):
    total = 0.0
    for m in range(n + 1):
        chance = stats.binom.pmf(m, n, psi)
        if chance < 1e-14:
            continue
        first = (psi + d) / (2 * psi)
        total += chance * sum(
            stats.binom.pmf(x, m, first) for x in range(m + 1) if p_value(x, m - x, kind) < 1 - level
        )
    return total


def rate_power(n, p, limit, level):
    """How often the upper bound is at most the limit (p below it), or the lower one above it."""
    x = numpy.arange(n + 1)
    low, high = proportion_confint(x, n, alpha=1 - level, method="beta")
    decided = numpy.nan_to_num(high, nan=1.0) <= limit if p < limit else numpy.nan_to_num(low, nan=0.0) > limit
    return float(stats.binom.pmf(x, n, p)[decided].sum())


def pair_variance(flip, share, k):
    """The variance of the share of differing pairs of k answers of an item, items' shares Beta."""
    s = flip / (2 * share * (1 - share) - flip)
    c = numpy.arange(k + 1)
    pmf = stats.betabinom.pmf(c, k, share * s, (1 - share) * s)
    u = 2 * c * (k - c) / (k * (k - 1))
    mean = (pmf * u).sum()
    assert abs(mean - flip) < 1e-12
    return float((pmf * (u - mean) ** 2).sum())


def best_repeats(cost_item, cost_call, within, between):
    """The k with the least variance of a mean for one unit of money."""
    found = optimize.minimize_scalar(
        lambda k: (between + within / k) * (cost_item + cost_call * k), bounds=(1, 1000), method="bounded",
        options={"xatol": 1e-10},
    )
    return float(found.x)


def share_with_event(p, icc, k, n):
    s = 1 / icc - 1
    return float(1 - stats.betabinom.pmf(0, k, p * s, (1 - p) * s) ** n)


differences = [(0.1, 0.2), (0.05, 0.1), (-0.08, 0.3), (0.02, 0.05), (0.15, 0.15)]
print(json.dumps({
    "versions": {"scipy": scipy.__version__, "statsmodels": statsmodels.__version__, "numpy": numpy.__version__},
    "sizes": [
        {"difference": d, "discordance": psi, "level": level, "power": power,
         "connor": connor(d, psi, level, power), "miettinen": miettinen(d, psi, level, power)}
        for d, psi in differences for level, power in [(0.95, 0.8), (0.9, 0.9)]
    ],
    "mcnemar_power": [
        {"n": n, "difference": d, "discordance": psi, "level": 0.95, "test": kind,
         "power": mcnemar_power(n, d, psi, 0.95, kind)}
        for n, d, psi in [(30, 0.2, 0.4), (100, 0.1, 0.2), (150, 0.1, 0.2)] for kind in ["mid-p", "exact"]
    ],
    "rate_power": [
        {"n": n, "p": p, "limit": limit, "level": level, "power": rate_power(n, p, limit, level)}
        for n, p, limit, level in [
            (100, 0.05, 0.1, 0.95), (300, 0.05, 0.1, 0.95), (50, 0.01, 0.1, 0.95), (200, 0.12, 0.05, 0.95),
            (400, 0.85, 0.9, 0.9), (72, 0.0, 0.05, 0.95), (71, 0.0, 0.05, 0.95),
        ]
    ],
    "pair_variance": [
        {"flip": flip, "share": share, "repeats": k, "variance": pair_variance(flip, share, k)}
        for flip, share in [(0.1, 0.5), (0.2, 0.3), (0.3, 0.6)] for k in [2, 3, 5, 8]
    ],
    "best_repeats": [
        {"cost_item": a, "cost_call": b, "within": w, "between": v, "repeats": best_repeats(a, b, w, v)}
        for a, b, w, v in [(10, 1, 0.3, 0.7), (100, 1, 0.5, 0.5), (5, 0.02, 1.2, 3.0)]
    ],
    "share_with_event": [
        {"p": p, "icc": icc, "repeats": k, "n_items": n, "share": share_with_event(p, icc, k, n)}
        for p, icc, k, n in [(0.05, 0.3, 5, 1), (0.05, 0.3, 5, 4), (0.4, 0.8, 8, 2)]
    ],
}, indent=1))
