"""Reference values of pairwise accuracy with tie calibration, written out from the definition with every pair compared and every
difference tried, and of its delete-one-cluster jackknife at the epsilon found."""
import itertools
import json
import pathlib
from importlib.metadata import version

import numpy as np

random = np.random.default_rng(2305)


def accuracy(scores, labels, weights, pairs, epsilon):
    right = total = 0.0
    for i, j in pairs:
        d, e = scores[i] - scores[j], labels[i] - labels[j]
        predicted = 0 if abs(d) <= epsilon + 1e-9 else np.sign(d)
        right += weights[i] * weights[j] * (predicted == np.sign(e))
        total += weights[i] * weights[j]
    return right / total


def calibrate(scores, labels, weights, pairs):
    tried = sorted({0.0} | {round(float(abs(scores[i] - scores[j])), 10) for i, j in pairs})
    values = [accuracy(scores, labels, weights, pairs, epsilon) for epsilon in tried]
    best = max(values)
    return next((e, v) for e, v in zip(tried, values) if v > best - 1e-12)


out = {"versions": {"numpy": version("numpy")}, "sets": []}
for n, levels, n_clusters, weighted, coarse in [
    (4, None, 4, False, 1), (30, 0.5, 30, False, 1.5), (40, 1.0, 12, True, 0.7), (40, 0.1, 9, True, 0.7), (50, None, 20, False, 0.6)
]:
    truth = random.normal(size=n)
    labels = np.round(truth * coarse)
    scores = truth + 0.4 * random.normal(size=n)
    if n == 4:
        scores, labels = np.array([2.0, 4.0, 4.0, 8.0]), np.array([1.0, 2.0, 4.0, 5.0])
    elif levels:
        scores = np.round(scores / levels) * levels
    weights = random.integers(1, 4, n) / 2 if weighted else np.ones(n)
    clusters = np.arange(n) * n_clusters // n
    # Half of the items twice, where weighted.
    items = np.arange(n) // 2 if weighted else np.arange(n)
    pairs = [(i, j) for i, j in itertools.combinations(range(n), 2) if items[i] != items[j]]
    epsilon, value = calibrate(scores, labels, weights, pairs)
    without = []
    for c in np.unique(clusters):
        left = [(i, j) for i, j in pairs if clusters[i] != c and clusters[j] != c]
        without.append(accuracy(scores, labels, weights, left, epsilon))
    m = len(without)
    halves = [[(i, j) for i, j in pairs if clusters[i] % 2 == h and clusters[j] % 2 == h] for h in (0, 1)]
    size = [sum(weights[i] * weights[j] for i, j in half) for half in halves]
    crossed = [accuracy(scores, labels, weights, halves[h], calibrate(scores, labels, weights, halves[1 - h])[0]) for h in (0, 1)]
    out["sets"].append(
        {
            "scores": scores.tolist(), "labels": labels.tolist(), "weights": weights.tolist(), "items": items.tolist(), "clusters": clusters.tolist(),
            "epsilon": epsilon, "accuracy": value, "at_zero": accuracy(scores, labels, weights, pairs, 0.0),
            "all_tied": accuracy(scores, labels, weights, pairs, 1e9), "n_pairs": len(pairs),
            "standard_error": float(np.sqrt((m - 1) / m * ((np.array(without) - np.mean(without)) ** 2).sum())),
            "cross_fitted": float(np.average(crossed, weights=size)),
        }
    )
pathlib.Path(__file__).with_suffix(".json").write_text(json.dumps(out).replace("}, {", "},\n{") + "\n")
