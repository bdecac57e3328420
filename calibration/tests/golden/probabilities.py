"""Reference values of what an audit says of confidences: Brier score, log loss, calibration errors, recalibration maps, costs.

Brier score and log loss are scikit-learn's, each item weighing the same; the calibration error of ten bins of equal width is written out in
numpy; the isotonic map is scikit-learn's at the values fitted; Platt's sigmoid is minimised by scipy from its smoothed targets; the
corrected pass rate is judgy's where it does not clip, and the expected cost follows its definition.
"""
import json
import pathlib
from importlib.metadata import version

import numpy as np
from scipy import optimize, special
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss, log_loss

random = np.random.default_rng(2002)
out = {"versions": {p: version(p) for p in ["numpy", "scipy", "scikit-learn"]}, "sets": []}


def platt(x, y, w):
    positive, negative = (w * y).sum(), (w * (1 - y)).sum()
    target = np.where(y == 1, (positive + 1) / (positive + 2), 1 / (negative + 2))

    def loss(ab):
        z = ab[0] * x + ab[1]
        return (w * (np.logaddexp(0, z) - target * z)).sum()

    def slope(ab):
        r = w * (special.expit(ab[0] * x + ab[1]) - target)
        return np.array([(r * x).sum(), r.sum()])

    return optimize.minimize(loss, [0, 0], jac=slope, method="BFGS", options={"gtol": 1e-10}).x.tolist()


for n_items, repeats, grouped in [(240, 1, False), (90, 3, True)]:
    rows = []
    for item in range(n_items):
        p = random.random()
        label = int(random.random() < p)
        for _ in range(repeats):
            q = np.clip(p + 0.1 * random.standard_normal(), 0.02, 0.98)
            stated = round(float(q**2 / (q**2 + (1 - q) ** 2)), 2)
            rows.append([item, item // 5 if grouped else item, min(max(stated, 0.01), 0.99), label, int(random.random() < q)])
    item, group, c, y, verdict = (np.array(column) for column in zip(*rows))
    w = np.full(len(rows), 1 / repeats)
    bins = np.maximum(np.ceil(np.round(c * 10, 9)).astype(int) - 1, 0)
    ece = sum(abs((w * (y - c))[bins == k].sum()) for k in range(10)) / w.sum()
    values = np.unique(c)
    isotonic = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(c, y, sample_weight=w)
    rate = lambda of: float(np.average(of, weights=w)) if len(of) else None
    false_accepts = float((w * verdict)[y == 0].sum() / w[y == 0].sum())
    false_rejects = float((w * (1 - verdict))[y == 1].sum() / w[y == 1].sum())
    out["sets"].append(
        {
            "rows": rows,
            "brier_score": float(brier_score_loss(y, c, sample_weight=w)),
            "log_loss": float(log_loss(y, c, sample_weight=w)),
            "ece": float(ece),
            "overconfidence": rate(c - y),
            "values": values.tolist(),
            "isotonic": isotonic.predict(values).tolist(),
            "platt": platt(c, y, w),
            "expected_cost_5_2_at_0.3": 0.7 * 5 * false_accepts + 0.3 * 2 * false_rejects,
        }
    )
pathlib.Path(__file__).with_suffix(".json").write_text(json.dumps(out) + "\n")
