"""Reference figures of agreement resampled by cluster: run with scikit-learn 1.9.1, krippendorff 0.9.0, numpy 2.4.6.

Clusters are drawn one by one, with replacement, and each replicate is computed by the package. What is compared is the distribution:
its standard deviation and quantiles, over 20,000 replicates.
"""

import json
import pathlib

import krippendorff
import numpy as np
from sklearn.metrics import cohen_kappa_score

N_RESAMPLES = 20_000
QUANTILES = [0.025, 0.25, 0.5, 0.75, 0.975]


def summary(values):
    return {"standard_error": np.std(values, ddof=1), "quantiles": np.quantile(values, QUANTILES).tolist()}


def resampled(n_units, clusters, statistic, rng):
    members = [np.flatnonzero(clusters == cluster) for cluster in np.unique(clusters)]
    replicates = []
    for _ in range(N_RESAMPLES):
        drawn = rng.integers(0, len(members), len(members))
        replicates.append(statistic(np.concatenate([members[cluster] for cluster in drawn])))
    return summary(replicates)


def main():
    rng = np.random.default_rng(7)
    # 120 pairs of grades 0 to 3 in 40 clusters of uneven size.
    clusters = np.sort(rng.integers(0, 40, 120))
    level = rng.integers(0, 4, 40)[clusters]
    first, second = (np.clip(level + rng.integers(-1, 2, 120), 0, 3) for _ in range(2))
    kappas = []
    for weights in [None, "linear", "quadratic"]:

        def kappa(idx, weights=weights):
            return cohen_kappa_score(first[idx], second[idx], weights=weights, labels=[0, 1, 2, 3])

        everything = np.arange(120)
        kappas.append(
            {
                "weights": weights or "none",
                "estimate": kappa(everything),
                "alone": resampled(120, everything, kappa, rng),
                "clustered": resampled(120, clusters, kappa, rng),
            }
        )
    # 60 units by 4 raters, values 1 to 4, a fifth missing; 25 clusters.
    unit_clusters = np.sort(rng.integers(0, 25, 60))
    level = rng.integers(1, 5, 25)[unit_clusters]
    ratings = np.clip(level + rng.integers(-1, 2, (4, 60)), 1, 4).astype(float)
    ratings[rng.random((4, 60)) < 0.2] = np.nan
    counts = [[int((column == value).sum()) for value in (1, 2, 3, 4)] for column in ratings.T]
    alphas = []
    for metric in ["nominal", "ordinal", "interval", "ratio"]:

        def alpha(idx, metric=metric):
            return krippendorff.alpha(ratings[:, idx], level_of_measurement=metric, value_domain=[1, 2, 3, 4])

        alphas.append(
            {
                "metric": metric,
                "estimate": alpha(np.arange(60)),
                "alone": resampled(60, np.arange(60), alpha, rng),
                "clustered": resampled(60, unit_clusters, alpha, rng),
            }
        )
    golden = {
        "pairs": np.column_stack([first, second]).tolist(),
        "clusters": clusters.tolist(),
        "kappas": kappas,
        "counts": counts,
        "unit_clusters": unit_clusters.tolist(),
        "alphas": alphas,
    }
    path = pathlib.Path(__file__).with_suffix(".json")
    path.write_text(json.dumps(golden, indent=1) + "\n")


main()
