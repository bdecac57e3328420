"""Reference values of calibration errors, the Brier score and log loss.

Curves, Brier score and log loss are scikit-learn's; squared calibration errors (plug-in and unbiased) are those of
uncertainty-calibration, from the same bins; the debiased expected error is the mean of its resampling scheme
(normal_debiased_ce with power 1, with n - 1 for n), by scipy's folded normal distribution; Murphy's parts and the null value (200,000 simulations, and
exactly, by adding up the distribution of the number of events in each bin) are written out in numpy.
"""
import json
import pathlib
from importlib.metadata import version

import numpy as np
from calibration import utils
from scipy import stats
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss, log_loss

random = np.random.default_rng(1973)
out = {"versions": {p: version(p) for p in ["numpy", "scipy", "scikit-learn", "uncertainty-calibration"]}}


def exact_null(p, members):
    """Expected |events - expected events| over bins, by the Poisson-binomial distribution."""
    total = 0.0
    for k in np.unique(members):
        inside = p[members == k]
        distribution = np.array([1.0])
        for q in inside:
            distribution = np.convolve(distribution, [1 - q, q])
        total += np.abs(np.arange(len(inside) + 1) - inside.sum()) @ distribution
    return total / len(p)


out["sets"] = []
for n, bins, kind in [(100, 10, "uniform"), (500, 10, "uniform"), (300, 15, "sure"), (200, 5, "levels")]:
    if kind == "uniform":
        p = random.random(n)
    elif kind == "sure":
        p = random.beta(8, 2, n)
    else:
        p = random.integers(1, 10, n) / 10
    y = (random.random(n) < p**1.5).astype(float)
    w = random.random(n) + 0.2
    entry = {"confidences": p.tolist(), "outcomes": y.tolist(), "weights": w.tolist(), "n_bins": bins}
    entry["brier"] = float(brier_score_loss(y, p))
    entry["weighted_brier"] = float(brier_score_loss(y, p, sample_weight=w))
    entry["log_loss"] = float(log_loss(y, p))
    entry["weighted_log_loss"] = float(log_loss(y, p, sample_weight=w))
    for strategy in ["uniform", "quantile"]:
        if kind == "levels" and strategy == "quantile":
            continue
        rates, means = calibration_curve(y, p, n_bins=bins, strategy=strategy)
        edges = np.linspace(0, 1, bins + 1) if strategy == "uniform" else np.percentile(p, np.linspace(0, 1, bins + 1) * 100)
        members = np.searchsorted(edges[1:-1], p)
        ids = np.unique(members)
        counts = np.array([(members == k).sum() for k in ids])
        share, gap = counts / n, np.abs(rates - means)
        part = {"rates": rates.tolist(), "means": means.tolist(), "counts": counts.tolist(), "ece": float(share @ gap), "null": float(exact_null(p, members))}
        binned = [list(zip(p[members == k], y[members == k])) for k in ids]
        part["squared"] = float(utils.plugin_ce(binned, power=2) ** 2)
        if counts.min() > 1:
            part["squared_debiased"] = float(utils.unbiased_square_ce(binned))
            sd = np.sqrt(rates * (1 - rates) / (counts - 1))
            folded = [stats.foldnorm.mean(g / s, scale=s) if s > 0 else g for g, s in zip(gap, sd)]
            part["ece_debiased"] = float(share @ (2 * gap - np.array(folded)))
        simulated = []
        for _ in range(20):
            z = (random.random((10000, n)) < p) - p
            simulated.append(np.abs(np.stack([z[:, members == k].sum(1) for k in ids])).sum(0) / n)
        simulated = np.concatenate(simulated)
        part["null_simulated"], part["null_upper"] = float(simulated.mean()), float(np.quantile(simulated, 0.95))
        within = sum(((p[members == k] - p[members == k].mean()) ** 2).sum() - 2 * ((p[members == k] - p[members == k].mean()) * (y[members == k] - y[members == k].mean())).sum() for k in ids) / n
        part["murphy"] = [float(share @ gap**2), float(share @ (rates - y.mean()) ** 2), float(y.mean() * (1 - y.mean())), float(within)]
        entry[strategy] = part
    out["sets"].append(entry)
pathlib.Path(__file__).with_suffix(".json").write_text(json.dumps(out).replace("}, {", "},\n{") + "\n")
