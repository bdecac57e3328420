"""Reference values of isotonic regression and Platt's sigmoid.

Isotonic values at the scores fitted are scikit-learn's. Platt's parameters are scikit-learn's (_sigmoid_calibration; its optimiser
stops early) and the exact optimum of the same likelihood: scipy's root of the gradient, started there. scikit-learn counts its targets
without weights, so that weighted fits are compared with the root only.
"""
import json
import pathlib
from importlib.metadata import version

import numpy as np
from scipy import optimize
from scipy.special import expit
from sklearn.calibration import _sigmoid_calibration
from sklearn.isotonic import IsotonicRegression

random = np.random.default_rng(1999)
out = {"versions": {p: version(p) for p in ["numpy", "scipy", "scikit-learn"]}, "sets": []}


def platt(x, y, w):
    positive, negative = (w * y).sum(), (w * (1 - y)).sum()
    t = np.where(y > 0, (positive + 1) / (positive + 2), 1 / (negative + 2))
    m, s = x.mean(), x.std()
    z = (x - m) / s

    def gradient(v):
        r = w * (expit(v[0] * z + v[1]) - t) / w.sum()
        return [(r * z).sum(), r.sum()]

    def hessian(v):
        p = expit(v[0] * z + v[1])
        c = w * p * (1 - p) / w.sum()
        return [[(c * z * z).sum(), (c * z).sum()], [(c * z).sum(), c.sum()]]

    v = optimize.root(gradient, [0.5, np.log((positive + 1) / (negative + 1))], jac=hessian, tol=1e-15).x
    for _ in range(5):
        v = v - np.linalg.solve(hessian(v), gradient(v))
    return [float(v[0] / s), float(v[1] - v[0] * m / s)]


for n, kind in [(30, "continuous"), (300, "continuous"), (400, "levels"), (50, "far"), (40, "apart")]:
    x = random.normal(size=n)
    y = (random.random(n) < expit(2 * x - 0.5)).astype(float)
    if kind == "levels":
        x = np.round(2 * x)
    if kind == "far":
        x = 1000 + 5 * x
    if kind == "apart":
        y = (x > 0.3).astype(float)
    w = random.random(n) + 0.2
    iso = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    a, b = _sigmoid_calibration(x - (1000 if kind == "far" else 0), y)
    out["sets"].append(
        {
            "scores": x.tolist(), "outcomes": y.tolist(), "weights": w.tolist(), "shift": 1000 if kind == "far" else 0,
            "isotonic": iso.fit(x, y).predict(x).tolist(), "weighted_isotonic": iso.fit(x, y, sample_weight=w).predict(x).tolist(),
            "sklearn": [float(-a), float(-b)], "platt": platt(x, y, np.ones(n)), "weighted_platt": platt(x, y, w),
        }
    )
pathlib.Path(__file__).with_suffix(".json").write_text(json.dumps(out).replace("}, {", "},\n{") + "\n")
