"""Reference values of paired tests, corrections for many comparisons, and bootstrap intervals.

McNemar, TOST, Holm and Benjamini-Hochberg are statsmodels's; mid-p is computed from scipy's binomial as in Fagerland,
Lydersen & Laake 2013; the clustered mean is statsmodels's regression on a constant; bootstrap intervals are scipy's, of a
ratio of sums over clusters, with 200,000 resamples.
"""
import json
import pathlib
from importlib.metadata import version

import numpy as np
import statsmodels.api as sm
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.weightstats import ttost_paired

random = np.random.default_rng(1947)
out = {"versions": {p: version(p) for p in ["numpy", "scipy", "statsmodels"]}}

out["mcnemar"] = []
for b, c in [(5, 14), (0, 1), (0, 6), (3, 3), (10, 25), (120, 171), (1000, 1200)]:
    table = [[10, b], [c, 10]]
    n, k = b + c, min(b, c)
    point = stats.binom.pmf(k, n, 0.5)
    midp = 1 - 0.5 * point if b == c else 2 * stats.binom.cdf(k, n, 0.5) - point
    out["mcnemar"].append(
        {
            "b": b, "c": c,
            "exact": float(min(1.0, mcnemar(table, exact=True).pvalue)),
            "corrected": float(mcnemar(table, exact=False, correction=True).pvalue),
            "uncorrected": float(mcnemar(table, exact=False, correction=False).pvalue),
            "mid_p": float(midp),
        }
    )

out["paired_mean"] = []
for n, clusters in [(8, 8), (50, 12), (200, 40)]:
    first, second = random.normal(size=n), random.normal(size=n) + 0.2
    cluster = np.arange(n) if clusters == n else random.integers(0, clusters, n)
    d = second - first
    weights = random.random(n) + 0.1
    plain = stats.ttest_rel(second, first)
    interval = plain.confidence_interval(0.95)
    p, low, high = ttost_paired(second, first, -0.5, 0.6)
    fit = sm.WLS(d, np.ones(n), weights=weights).fit(cov_type="cluster", cov_kwds={"groups": cluster}, use_t=True)
    out["paired_mean"].append(
        {
            "differences": d.tolist(), "clusters": cluster.tolist(), "weights": weights.tolist(),
            "plain": [float(d.mean()), float(d.std(ddof=1) / np.sqrt(n)), float(interval.low), float(interval.high), float(plain.pvalue)],
            "tost": [float(low[1]), float(high[1]), float(p)],
            "clustered": [float(fit.params[0]), float(fit.bse[0]), *[float(v) for v in fit.conf_int()[0]], float(fit.pvalues[0])],
        }
    )

p = np.concatenate([random.random(12) ** 3, [0.01, 0.01, 1.0, 0.0]])
out["multiple"] = {"p": p.tolist(), "holm": multipletests(p, method="holm")[1].tolist(), "bh": multipletests(p, method="fdr_bh")[1].tolist()}

out["bootstrap"] = []
for n, shape in [(40, "small counts"), (25, "continuous"), (300, "rates")]:
    if shape == "continuous":
        y, x = random.gamma(2.0, size=n), random.gamma(5.0, size=n)
    elif shape == "rates":
        x = np.full(n, 5.0)
        y = random.binomial(5, np.where(random.random(n) < 0.2, 0.6, 0.02)).astype(float)
    else:
        x = random.integers(1, 4, n).astype(float)
        y = random.binomial(x.astype(int), 0.3).astype(float)
    entry = {"y": y.tolist(), "x": x.tolist(), "n_resamples": 200000}
    for method in ["percentile", "BCa"]:
        fit = stats.bootstrap((y, x), lambda y, x, axis: y.sum(axis) / x.sum(axis), paired=True, vectorized=True, n_resamples=200000, method=method, random_state=1, batch=1000)
        entry[method.lower()] = [float(fit.confidence_interval.low), float(fit.confidence_interval.high)]
        entry["standard_error"] = float(fit.standard_error)
    out["bootstrap"].append(entry)
pathlib.Path(__file__).with_suffix(".json").write_text(json.dumps(out).replace("}, {", "},\n{") + "\n")
