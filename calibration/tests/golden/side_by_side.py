"""Reference values of two judges compared item by item, on real pairs.

LLMBar: GPT-4 with 0, 1 and 2 worked examples, 326 items in both orders (examples/llmbar). RewardBench 2: one judge at temperature 0.0
and 0.7, the first 100 prompts of four responses (tests/golden/data, examples/rewardbench2). Paired t and equivalence are
statsmodels's; clustered means its regression on a constant; McNemar's mid-p is scipy's binomial as in Fagerland, Lydersen & Laake 2013;
Tango's interval is found by scipy, by a numerical maximum of the likelihood at each difference; kappa and areas are scikit-learn's,
each worked out again without one cluster at a time.
"""
import csv
import gzip
import json
import pathlib
from importlib.metadata import version

import numpy as np
import statsmodels.api as sm
from scipy import optimize, stats
from sklearn.metrics import cohen_kappa_score, roc_auc_score
from statsmodels.stats.weightstats import DescrStatsW, ttost_paired

here = pathlib.Path(__file__).parent
root = here.parents[2]
out = {"versions": {p: version(p) for p in ["numpy", "scipy", "statsmodels", "scikit-learn"]}}

arms = {}
labels = {}
for row in csv.DictReader(open(root / "examples/llmbar/verdicts.csv")):
    item = f"{row['subset']}/{row['item']}"
    labels[item] = int(row["label"])
    arms.setdefault(row["strategy"], {})[item] = (int(row["winner_order1"]), int(row["winner_order2_swapped"]))
items = sorted(labels)
names = ["Vanilla", "Vanilla_1shot", "Vanilla_2shot"]
answers = {name: np.array([arms[name][item] for item in items]) for name in names}
label = np.array([labels[item] for item in items])
out["llmbar"] = {"labels": label.tolist(), "answers": {name: answers[name].tolist() for name in names}, "pairs": []}


def tango(b, c, n, level=0.95):
    """The score interval of (b - c)/n, the nuisance parameter maximised numerically."""

    def score(delta):
        low, high = max(0.0, -delta), (1.0 - delta) / 2.0

        def minus_log_likelihood(q):
            p = q + delta
            parts = [(b, p), (c, q), (n - b - c, 1 - p - q)]
            return -sum(k * np.log(max(x, 1e-300)) for k, x in parts if k)

        q = optimize.minimize_scalar(minus_log_likelihood, bounds=(low, high), method="bounded", options={"xatol": 1e-14}).x
        return (b - c - n * delta) / np.sqrt(n * (2 * q + delta * (1 - delta)))

    z = stats.norm.ppf(0.5 + level / 2)
    estimate = (b - c) / n
    return [
        optimize.brentq(lambda d: score(d) - z, -0.999, estimate - 1e-12, xtol=1e-13),
        optimize.brentq(lambda d: score(d) + z, estimate + 1e-12, 0.999, xtol=1e-13),
    ]


def jackknife(of, clusters):
    left = np.array([of(clusters != cluster) for cluster in np.unique(clusters)])
    m = len(left)
    estimate, se = of(np.full(len(clusters), True)), np.sqrt((m - 1) / m * ((left - left.mean()) ** 2).sum())
    half = stats.t.ppf(0.975, m - 1) * se
    return [float(estimate), float(estimate - half), float(estimate + half)]


for name in names[1:]:
    right = [(answers[arm] == label[:, None]) for arm in ["Vanilla", name]]
    a, b = [r.mean(axis=1) for r in right]
    test = DescrStatsW(b - a)
    p_tost, above, below = ttost_paired(b, a, -0.02, 0.02)
    only_b = int((right[1][:, 0] & ~right[0][:, 0]).sum())
    only_a = int((right[0][:, 0] & ~right[1][:, 0]).sum())
    k, n = min(only_a, only_b), only_a + only_b
    first = [answers[arm][:, 0] for arm in ["Vanilla", name]]
    out["llmbar"]["pairs"].append(
        {
            "b": name,
            "accuracy": [float(a.mean()), float(b.mean()), float((b - a).mean()), *[float(v) for v in test.tconfint_mean()]],
            "p": float(test.ttest_mean()[1]),
            "p_equivalence": float(p_tost),
            "p_worse": float(above[1]),
            "first_order": {
                "only_a": only_a, "only_b": only_b,
                "mid_p": float(2 * stats.binom.cdf(k, n, 0.5) - stats.binom.pmf(k, n, 0.5)) if only_a != only_b else float(1 - 0.5 * stats.binom.pmf(k, n, 0.5)),
                "tango": [float(v) for v in tango(only_b, only_a, len(items))],
                "kappa": jackknife(lambda keep: cohen_kappa_score(label[keep], first[1][keep]) - cohen_kappa_score(label[keep], first[0][keep]), np.arange(len(items))),
            },
        }
    )

out["tango"] = [{"only_first": b, "only_second": c, "n": n, "interval": [float(v) for v in tango(b, c, n)]} for b, c, n in [(12, 3, 44), (0, 6, 20), (3, 3, 50), (120, 171, 1000), (1, 0, 8)]]


def scores(text):
    found = {}
    for row in csv.DictReader(text):
        if int(row["row"]) < 100:
            found[(int(row["row"]), int(row["response_index"]))] = (int(row["gold"]), [float(row[f"s{k}"]) if row[f"s{k}"] else np.nan for k in range(1, 9)])
    return found


cold = scores(gzip.open(root / "tests/golden/data/rb2_scores_base_full_k8_t0.0.csv.gz", "rt"))
warm = scores(open(root / "examples/rewardbench2/scores.csv"))
shared = [key for key in sorted(cold) if key in warm and not np.isnan(cold[key][1] + warm[key][1]).any()]
x, y = (np.array([found[key][1] for key in shared]) for found in (cold, warm))
gold, group = np.array([cold[key][0] for key in shared]), np.array([key[0] for key in shared])
d = y.mean(axis=1) - x.mean(axis=1)
fit = sm.OLS(d, np.ones(len(d))).fit(cov_type="cluster", cov_kwds={"groups": group}, use_t=True)
distances = lambda scores: np.array([np.abs(row[:, None] - row[None, :]).sum() / 56 for row in scores])
moved = distances(y) - distances(x)
fit_moved = sm.OLS(moved, np.ones(len(moved))).fit(cov_type="cluster", cov_kwds={"groups": group}, use_t=True)
out["rewardbench"] = {
    "groups": group.tolist(), "gold": gold.tolist(), "cold": x.astype(int).tolist(), "warm": y.astype(int).tolist(),
    "mean_score": [float(fit.params[0]), *[float(v) for v in fit.conf_int()[0]], float(fit.pvalues[0])],
    "mean_abs_difference": [float(fit_moved.params[0]), *[float(v) for v in fit_moved.conf_int()[0]], float(fit_moved.pvalues[0])],
    "auc": jackknife(lambda keep: roc_auc_score(np.repeat(gold[keep], 8), y[keep].ravel()) - roc_auc_score(np.repeat(gold[keep], 8), x[keep].ravel()), group),
}
pathlib.Path(__file__).with_suffix(".json").write_text(json.dumps(out).replace("}, {", "},\n{") + "\n")
