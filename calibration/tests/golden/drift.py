"""Reference values of change over time, on made-up answers with items asked once or several times.

The trend is numpy's least squares, worked out again without each item; the odd window is statsmodels's regression on "in this window"
with a covariance clustered by item; the change of the same items with one answer each is statsmodels's McNemar test; the change point
is found by trying every moment.
"""
import json
import pathlib
from importlib.metadata import version

import numpy as np
import statsmodels.api as sm
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar

random = np.random.default_rng(1997)
day = 86_400_000
n_days, per_day = 8, 40
start = 20_000 * day
rows = []
for d in range(n_days):
    rate = 0.3 if d < 5 else 0.6
    for k in range(per_day):
        # The first fifteen of a day are always the same items.
        item = k if k < 15 else 100 + d * per_day + k
        rows.append((item, start + d * day + int(random.integers(day)), int(random.random() < rate)))
item, time, y = (np.array(column) for column in zip(*rows))
x = (time - time.min()) / (time.max() - time.min())
window = (time - start) // day
out = {"versions": {p: version(p) for p in ["numpy", "scipy", "statsmodels"]}, "item": item.tolist(), "time": time.tolist(), "accepts": y.tolist()}

# An item is a unit in a window once: one answer a day each here.
slope = lambda keep: np.polyfit(x[keep], y[keep], 1)[0]
items = np.unique(item)
left = np.array([slope(item != one) for one in items])
m = len(items)
se = np.sqrt((m - 1) / m * ((left - left.mean()) ** 2).sum())
trend = slope(np.full(len(y), True))
half = stats.t.ppf(0.975, m - 2) * se
out["trend"] = [float(trend), float(trend - half), float(trend + half), float(2 * stats.t.sf(abs(trend / se), m - 2))]

best = None
for w in range(n_days):
    design = sm.add_constant((window == w).astype(float))
    fit = sm.OLS(y, design).fit(cov_type="cluster", cov_kwds={"groups": item})
    n = len(y)
    se = fit.bse[1] * np.sqrt((n - 2) / (n - 1))
    p = min(1.0, 2 * stats.t.sf(abs(fit.params[1] / se), per_day - 1) * n_days)
    if best is None or p < best[0]:
        best = (float(p), w, float(fit.params[1]))
out["odd_window"] = list(best)

first = {i: v for i, v in reversed(list(zip(item, y))) if i < 15}
last = {i: v for i, v in zip(item, y) if i < 15}
out["same_items"] = float(np.mean([last[i] - first[i] for i in range(15)]))
# Two windows only: McNemar without correction.
two = [(int(a), int(b)) for a, b in zip(random.random(60) < 0.3, random.random(60) < 0.6)]
b, c = sum(a > b for a, b in two), sum(b > a for a, b in two)
out["two_windows"] = {"answers": two, "p": float(mcnemar([[0, b], [c, 0]], exact=False, correction=False).pvalue)}

order = np.argsort(time, kind="stable")
z = y[order]
gains = [(k * (len(z) - k) * (z[:k].mean() - z[k:].mean()) ** 2, k) for k in range(len(z) // 20, len(z) - len(z) // 20 + 1)]
k = max(gains)[1]
out["change_point"] = {"at_ms": float((time[order][k - 1] + time[order][k]) / 2), "before": float(z[:k].mean()), "after": float(z[k:].mean())}
pathlib.Path(__file__).with_suffix(".json").write_text(json.dumps(out) + "\n")
