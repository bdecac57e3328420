"""Reference values of correlations and of the area under the curve.

Correlations are scipy's, areas scikit-learn's. DeLong's variance and Obuchowski's clustered variance are written out
here from the published formulas, with every pair compared (no ranks), on data drawn from the seed.
"""
import json
import pathlib
from importlib.metadata import version

import numpy as np
from scipy import stats
from sklearn.metrics import roc_auc_score, roc_curve

random = np.random.default_rng(1988)
out = {"versions": {p: version(p) for p in ["numpy", "scipy", "scikit-learn"]}}

out["correlation"] = []
for n, levels in [(5, None), (40, None), (60, 5), (200, 3), (300, 10)]:
    x = random.normal(size=n)
    y = 0.6 * x + random.normal(size=n)
    if levels:
        x, y = np.round(x * levels / 3), np.round(y * levels / 3)
    out["correlation"].append(
        {
            "x": x.tolist(),
            "y": y.tolist(),
            "pearson": float(stats.pearsonr(x, y).statistic),
            "spearman": float(stats.spearmanr(x, y).statistic),
            "kendall": float(stats.kendalltau(x, y).statistic),
        }
    )
# Whole weights are repeated observations.
x, y = random.integers(0, 6, 30).astype(float), random.integers(0, 6, 30).astype(float)
w = random.integers(1, 5, 30)
rx, ry = np.repeat(x, w), np.repeat(y, w)
out["weighted"] = {
    "x": x.tolist(), "y": y.tolist(), "weights": w.astype(float).tolist(),
    "pearson": float(stats.pearsonr(rx, ry).statistic), "spearman": float(stats.spearmanr(rx, ry).statistic), "kendall": float(stats.kendalltau(rx, ry).statistic),
}


def kernel(a, b):
    return (a > b) + 0.5 * (a == b)


def delong(scores, positive):
    p, q = scores[positive], scores[~positive]
    psi = kernel(p[:, None], q[None, :])
    v10, v01 = psi.mean(1), psi.mean(0)
    return v10.var(ddof=1) / len(p) + v01.var(ddof=1) / len(q)


def obuchowski(scores, positive, cluster):
    p, q = scores[positive], scores[~positive]
    psi = kernel(p[:, None], q[None, :])
    theta = psi.mean()
    v10, v01 = psi.mean(1), psi.mean(0)
    cp, cq = cluster[positive], cluster[~positive]
    ids = np.unique(cluster)
    m, n = len(p), len(q)
    m_i = np.array([(cp == c).sum() for c in ids])
    n_i = np.array([(cq == c).sum() for c in ids])
    a = np.array([v10[cp == c].sum() for c in ids]) - m_i * theta
    b = np.array([v01[cq == c].sum() for c in ids]) - n_i * theta
    i10, i01, i = (m_i > 0).sum(), (n_i > 0).sum(), len(ids)
    s10 = i10 / ((i10 - 1) * m) * (a**2).sum()
    s01 = i01 / ((i01 - 1) * n) * (b**2).sum()
    s11 = i / (i - 1) * (a * b).sum()
    return s10 / m + s01 / n + 2 * s11 / (m * n)


out["auc"] = []
for n, levels, clusters in [(12, None, 5), (80, None, 30), (150, 4, 40), (400, 10, 400), (100, 10, 12)]:
    positive = random.random(n) < 0.4
    cluster = random.integers(0, clusters, n)
    scores = random.normal(size=n) + positive + 0.7 * random.normal(size=clusters)[cluster]
    if levels:
        scores = np.round(scores * levels / 4)
    weights = random.random(n) + 0.2
    fpr, tpr, thresholds = roc_curve(positive, scores, drop_intermediate=False)
    out["auc"].append(
        {
            "scores": scores.tolist(), "positive": positive.tolist(), "clusters": cluster.tolist(), "weights": weights.tolist(),
            "auc": float(roc_auc_score(positive, scores)),
            "weighted_auc": float(roc_auc_score(positive, scores, sample_weight=weights)),
            "delong": float(np.sqrt(delong(scores, positive))),
            "obuchowski": float(np.sqrt(obuchowski(scores, positive, cluster))),
            "false_positive_rate": fpr.tolist(), "true_positive_rate": tpr.tolist(),
        }
    )
pathlib.Path(__file__).with_suffix(".json").write_text(json.dumps(out).replace("}, {", "},\n{") + "\n")
