"""Reference values of the quadratic weighted kappa: scikit-learn on whole numbers, Lin's concordance written out on any.

    python calibration/tests/golden/concordance.py
"""
import json
import pathlib
from importlib.metadata import version

import numpy as np
from sklearn.metrics import cohen_kappa_score

random = np.random.default_rng(20260101)
out = {"versions": {p: version(p) for p in ["numpy", "scikit-learn"]}, "whole": [], "real": []}

for n, low, high, drop in [(40, 1, 5, None), (200, 1, 10, None), (60, 0, 4, 2), (30, 1, 3, None), (500, 1, 10, 7)]:
    label = random.integers(low, high + 1, n)
    score = np.clip(np.rint(label + random.normal(0.4, 1.2, n)), low, high).astype(int)
    if drop is not None:  # A level that nobody used.
        label[label == drop], score[score == drop] = drop + 1, drop + 1
    levels = list(range(low, high + 1))
    kappa = {w or "unweighted": cohen_kappa_score(score, label, labels=levels, weights=w) for w in [None, "linear", "quadratic"]}
    out["whole"].append({"score": score.tolist(), "label": label.tolist(), **kappa,
                         "by_position": cohen_kappa_score(score, label, weights="quadratic")})

for n, shift, stretch in [(50, 0.0, 1.0), (50, 0.7, 1.0), (80, -3.0, 0.4), (20, 1e6, 1.0)]:
    x = random.normal(5 + max(shift, 0) * (shift > 100), 1.3, n)
    y = (x - x.mean()) * stretch + x.mean() + (shift if shift < 100 else 0) + random.normal(0, 0.8, n)
    lin = 2 * np.cov(x, y, ddof=0)[0, 1] / (x.var() + y.var() + (x.mean() - y.mean()) ** 2)
    every = ((x[:, None] - y[None, :]) ** 2).mean()
    out["real"].append({"x": x.tolist(), "y": y.tolist(), "lin": lin, "pairs": 1 - ((x - y) ** 2).mean() / every})

path = pathlib.Path(__file__).with_suffix(".json")
path.write_text(json.dumps(out) + "\n")
