"""Golden values of judges beside people, of scale use and of correlated errors: writes people.json beside this file.

Alternative-annotator test: written from the paper (Calderon, Reichart & Dror 2025, arXiv 2501.10970, section 3) with scipy's t-test and
statsmodels' Benjamini-Yekutieli; with clusters, statsmodels' cluster-robust variance of a mean. The scores of people and judge in
"conala" are figures of ICE-Score (Zhuo 2024, https://github.com/terryyz/ice-score, MIT); their path is the first argument.

Cronbach's alpha: pingouin. Correlations, eigenvalues, entropy: numpy.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pingouin
import statsmodels.api as sm
from scipy import stats
from statsmodels.stats.multitest import multipletests


def accuracy(value, others):
    return np.mean([value == other for other in others])


def negative_rmse(value, others):
    return -np.sqrt(np.mean([(value - other) ** 2 for other in others]))


def alternative(people, judge, alignment, epsilon, groups=None, q=0.05):
    """people: items x people, NaN missing; judge: items."""
    rows = []
    for person in range(people.shape[1]):
        d, w, c = [], [], []
        for item in range(people.shape[0]):
            own = people[item, person]
            others = [x for k, x in enumerate(people[item]) if k != person and not np.isnan(x)]
            if np.isnan(own) or not others or np.isnan(judge[item]):
                continue
            of_judge, of_person = alignment(judge[item], others), alignment(own, others)
            w.append(float(of_judge >= of_person))
            d.append(float(of_person >= of_judge) - w[-1])
            c.append(item if groups is None else groups[item])
        if len(d) < 30:
            continue
        if groups is None:
            p = stats.ttest_1samp(d, epsilon, alternative="less").pvalue
        else:
            fit = sm.OLS(np.array(d) - epsilon, np.ones(len(d))).fit(
                cov_type="cluster", cov_kwds={"groups": np.array(c)}, use_t=True
            )
            p = stats.t.cdf(fit.tvalues[0], len(set(c)) - 1)
        rows.append({"person": person, "n": len(d), "judge": np.mean(w), "person_wins": np.mean(w) + np.mean(d), "p": float(p)})
    reject, adjusted, _, _ = multipletests([row["p"] for row in rows], alpha=q, method="fdr_by")
    for row, p in zip(rows, adjusted):
        row["p_adjusted"] = float(p)
    return {
        "people": rows,
        "winning_rate": float(np.mean(reject)),
        "advantage": float(np.mean([row["judge"] for row in rows])),
    }


def effective(errors, level=0.95):
    """The effective number, its interval with one more item on which the first two raters err."""
    n, items = errors.shape[1], errors.shape[0]

    def log_f(e):
        products = squares = 0.0
        for b in range(n):
            for a in range(b):
                both = ~np.isnan(e[:, a]) & ~np.isnan(e[:, b])
                c = np.cov(e[both, a], e[both, b]) * (both.sum() - 1)
                products += c[0, 1]
                squares += (c[0, 0] + c[1, 1]) / 2
        r = products / squares
        return np.log((1 + (n - 1) * r) / (1 - r))

    t = stats.t.ppf((1 + level) / 2, items - 1)

    def ends(e):
        left = np.array([log_f(np.delete(e, row, 0)) for row in range(len(e))])
        m = len(e)
        half = t * np.sqrt((m - 1) / m * ((left - left.mean()) ** 2).sum())
        return log_f(e) - half, log_f(e) + half

    more = np.full((1, n), np.nan)
    more[0, :2] = 1.0
    low, high = ends(errors)
    high = max(high, ends(np.vstack([errors, more]))[1])
    back = lambda x: (np.exp(x) - 1) / (np.exp(x) + n - 1)
    worth = lambda r: float(n / (1 + (n - 1) * r))
    return {"n_effective": worth(back(log_f(errors))), "low": worth(back(high)), "high": worth(back(low))}


def listed(table):
    return [[None if np.isnan(x) else float(x) for x in row] for row in table]


def case(people, judge, kind, epsilon, groups=None):
    alignment = accuracy if kind == "accuracy" else negative_rmse
    return {
        "kind": kind,
        "epsilon": epsilon,
        "people": listed(people),
        "judge": [float(x) for x in judge],
        "groups": None if groups is None else [int(x) for x in groups],
        "expected": alternative(people, judge, alignment, epsilon, groups),
    }


def main():
    rng = np.random.default_rng(20251)
    out = {}
    n, m = 90, 5
    truth = rng.integers(0, 3, n)
    right = [0.9, 0.8, 0.7, 0.75, 0.6]
    people = np.array(
        [[t if rng.random() < a else rng.integers(0, 3) for a in right] for t in truth], dtype=float
    )
    people[rng.random(people.shape) < 0.25] = np.nan
    judge = np.array([t if rng.random() < 0.8 else rng.integers(0, 3) for t in truth], dtype=float)
    out["categories"] = case(people, judge, "accuracy", 0.2)
    groups = np.repeat(np.arange(30), 3)
    out["groups"] = case(people, judge, "accuracy", 0.1, groups)
    quality = rng.normal(3, 1, n)
    scores = np.clip(np.round(quality[:, None] + rng.normal(0, [0.6, 0.8, 0.9, 1.2], (n, 4))), 1, 5)
    judged = np.clip(np.round(quality + rng.normal(0.2, 0.7, n)), 1, 5)
    out["scores"] = case(scores, judged, "rmse", 0.15)
    conala = pd.read_csv(Path(sys.argv[1]) / "conala_grades.csv").head(250)
    graders = conala[[f"grader{i}" for i in range(1, 17)]].to_numpy(float)
    out["conala"] = case(graders, conala["conala_with_step_with_ref_gpt35"].to_numpy(float), "rmse", 0.2)

    table = np.clip(np.round(rng.normal(0, 1, (40, 1)) + rng.normal(6, 1.2, (40, 4))), 1, 10)
    columns = pd.DataFrame(table)
    matrix = np.corrcoef(table.T)
    upper = matrix[np.triu_indices(4, 1)]
    noise = rng.normal(0, 1, (40, 4))
    against = np.column_stack([table[:, 0], -table[:, 0] + rng.normal(0, 0.5, 40)])
    out["consistency"] = [
        {
            "scores": listed(scores),
            "cronbach_alpha": float(pingouin.cronbach_alpha(pd.DataFrame(scores))[0]),
            "mean_correlation": float(np.mean(np.corrcoef(scores.T)[np.triu_indices(scores.shape[1], 1)])),
            "one_factor_share": float(np.linalg.eigvalsh(np.corrcoef(scores.T))[-1] / scores.shape[1]),
        }
        for scores in (table, noise, against)
    ]
    del columns, matrix, upper

    # Errors of three raters: two of them fail on the same items.
    hard = rng.random(120) < 0.3
    label = rng.integers(0, 2, 120)
    wrong = np.column_stack(
        [rng.random(120) < np.where(hard, 0.7, 0.1), rng.random(120) < np.where(hard, 0.8, 0.15), rng.random(120) < 0.25]
    )
    said = np.where(wrong, 1 - label[:, None], label[:, None])
    pairs = []
    for b in range(3):
        for a in range(b):
            x, y = wrong[:, a].astype(float), wrong[:, b].astype(float)
            own = [x - pd.Series(x).groupby(label).transform("mean"), y - pd.Series(y).groupby(label).transform("mean")]
            pairs.append(
                {
                    "a": a,
                    "b": b,
                    "correlation": float(np.corrcoef(x, y)[0, 1]),
                    "within_label": float(np.corrcoef(*own)[0, 1]),
                    "both_wrong": float(np.mean(x * y)),
                    "expected": float(x.mean() * y.mean()),
                }
            )
    out["errors"] = {
        "labels": label.tolist(),
        "said": said.tolist(),
        "pairs": pairs,
        "effective": effective(wrong.astype(float)),
    }
    p = [0.001, 0.008, 0.039, 0.041, 0.042, 0.06, 0.074, 0.205, 0.212, 0.216]
    out["benjamini_yekutieli"] = {"p": p, "adjusted": multipletests(p, method="fdr_by")[1].tolist()}
    counts = [3, 10, 25, 40, 22]
    out["effective_levels"] = {"counts": counts, "value": float(np.exp(stats.entropy(counts)))}
    Path(__file__).with_suffix(".json").write_text(json.dumps(out, indent=1) + "\n")


if __name__ == "__main__":
    main()
