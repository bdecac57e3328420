"""Least squares with clustered errors: statsmodels for one row a cluster, the definitions written out for clusters.

CR2 and its degrees of freedom: Pustejovsky & Tipton 2018, with all matrices in full (rows by rows), the working model being
equal independent errors. `stata` are figures that Stata prints for cos, sin and tan of small numbers (HC2, `vce(hc2)`).
"""

import json
import sys

import numpy as np
import scipy
import statsmodels
import statsmodels.api as sm


def root(matrix):
    """The pseudo-inverse square root of a symmetric matrix."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    inverse = np.where(values > 1e-10, 1 / np.sqrt(np.maximum(values, 1e-300)), 0.0)
    return vectors @ np.diag(inverse) @ vectors.T


def by_definition(columns, outcomes, weights, clusters):
    x = np.column_stack([np.ones(len(outcomes)), *columns])
    n = len(outcomes)
    w = np.diag(weights)
    bread = np.linalg.inv(x.T @ w @ x)
    beta = bread @ x.T @ w @ outcomes
    left = np.eye(n) - x @ bread @ x.T @ w
    errors = outcomes - x @ beta
    meat2, meat3, parts = 0, 0, []
    for cluster in np.unique(clusters):
        own = clusters == cluster
        a = root((left @ left.T)[np.ix_(own, own)])
        score = x[own].T @ w[np.ix_(own, own)] @ a @ errors[own]
        meat2 = meat2 + np.outer(score, score)
        score = x[own].T @ w[np.ix_(own, own)] @ np.linalg.solve(left[np.ix_(own, own)], errors[own])
        meat3 = meat3 + np.outer(score, score)
        parts.append(left[own].T @ a @ w[np.ix_(own, own)] @ x[own] @ bread)
    degrees = []
    for k in range(x.shape[1]):
        p = np.array([part[:, k] for part in parts])
        products = p @ p.T
        degrees.append(np.trace(products) ** 2 / (products**2).sum())
    return {
        "estimates": beta.tolist(),
        "cr2": np.sqrt(np.diag(bread @ meat2 @ bread)).tolist(),
        "cr3": np.sqrt(np.diag(bread @ meat3 @ bread)).tolist(),
        "degrees": degrees,
    }


def case(name, columns, outcomes, weights, clusters):
    weights_or_ones = np.ones(len(outcomes)) if weights is None else weights
    return {
        "name": name,
        "columns": [column.tolist() for column in columns],
        "outcomes": outcomes.tolist(),
        "weights": None if weights is None else weights.tolist(),
        "clusters": clusters.tolist(),
        **by_definition(columns, outcomes, weights_or_ones, clusters),
    }


rng = np.random.default_rng(20240601)
n = 40
length = np.log2(rng.uniform(20, 800, n))
label = (rng.uniform(size=n) < 0.6).astype(float)
clusters = np.repeat(np.arange(11), [1, 2, 7, 3, 1, 5, 6, 4, 2, 8, 1])
effects = rng.normal(size=11)[clusters]
scores = np.round(4 + 0.3 * length + 1.5 * label + effects + rng.normal(size=n), 1)
weights = rng.choice([0.5, 1.0, 2.0, 4.0], n)
single = np.arange(n)
cases = [
    case("single rows", [length, label], scores, None, single),
    case("clusters", [length, label], scores, None, clusters),
    case("clusters, out of order", [length[::-3], label[::-3]], scores[::-3], None, clusters[::-3]),
    case("weights, single rows", [length, label], scores, weights, single),
    case("weights and clusters", [length, label], scores, weights, clusters),
    case("weights equal within clusters", [length, label], scores, weights[clusters], clusters),
    case("intercept alone, clusters", [], scores, None, clusters),
    case("few clusters carry it", [(clusters < 3).astype(float), length], scores, None, clusters),
]
fit = sm.OLS(scores, sm.add_constant(np.column_stack([length, label])))
hc = {kind: fit.fit(cov_type=kind).bse.tolist() for kind in ["HC2", "HC3"]}
sizes = np.bincount(clusters)
means = np.array([scores[clusters == c].mean() for c in range(11)])
N = len(scores)
published = {
    "se": np.sqrt((sizes**2 * (means - scores.mean()) ** 2 / (1 - sizes / N)).sum()) / N,
    "degrees": N**2
    / (
        N**2 * (sizes**2 / (N - sizes) ** 2).sum()
        - 2 * N * (sizes**3 / (N - sizes) ** 2).sum()
        + (sizes**2 / (N - sizes)).sum() ** 2
    ),
}
t = np.arange(1.0, 11.0)
stata = {
    "column": np.concatenate([np.sin(t), np.sin(t + 1)]).tolist(),
    "outcomes": np.concatenate([np.cos(t - 1), np.tan(t)]).tolist(),
    "estimates": [-0.4456202905, 0.3241183110],
    "hc2": [0.4227339762, 0.4421048122],
}
json.dump(
    {
        "versions": {
            "python": sys.version.split()[0],
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "statsmodels": statsmodels.__version__,
        },
        "cases": cases,
        "statsmodels": hc,
        "mean_of_clusters": published,
        "stata": stata,
    },
    open(__file__.replace(".py", ".json"), "w"),
    indent=1,
)
