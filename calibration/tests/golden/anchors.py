"""Items crossed with sets of anchors: mean squares and F test of statsmodels, intervals from scipy's quantiles.

Wide tables (items x sets) of shares, complete. `interval` is the mean -/+ sqrt(t^2 MS_items/N + t'^2 max(0, MS_sets - MS_rest)/N);
`proportion` is Korn and Graubard's interval at the variance that stands for the same.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import scipy
import statsmodels
from scipy import stats
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

rng = np.random.default_rng(20261201)


def of(table, level=0.95):
    m, s = table.shape
    n = m * s
    frame = pd.DataFrame({"item": np.repeat(np.arange(m), s), "set": np.tile(np.arange(s), m), "value": table.ravel()})
    anova = anova_lm(ols("value ~ C(item) + C(set)", frame).fit())
    mean_squares = anova["mean_sq"]
    items, sets, rest = mean_squares["C(item)"] / n, mean_squares["C(set)"] / n, mean_squares["Residual"] / n
    between = sets if s == 2 else max(0.0, sets - rest)
    upper = 0.5 + level / 2
    t_items, t_sets, t_n = stats.t.ppf(upper, m - 1), stats.t.ppf(upper, s - 1), stats.t.ppf(upper, n - 1)
    mean = table.mean()
    half = np.sqrt(t_items**2 * items + t_sets**2 * between)
    variance = items + between * (t_sets / t_items) ** 2
    n_eff = min(n, mean * (1 - mean) / variance * (t_n / t_items) ** 2)
    with_event, without = (table.max(axis=1) > 0).sum(), (table.min(axis=1) < 1).sum()
    if with_event < 10 or without < 10:
        n_eff = min(n_eff, m)
    successes = mean * n_eff
    return {
        "values": table.tolist(),
        "estimate": mean,
        "of_clusters": items,
        "of_sets": sets,
        "residual": rest,
        "p_sets": anova["PR(>F)"]["C(set)"],
        "interval": [mean - half, mean + half],
        "proportion": [
            stats.beta.ppf(1 - upper, successes, n_eff - successes + 1),
            stats.beta.ppf(upper, successes + 1, n_eff - successes),
        ],
    }


def made(m, s, between):
    items = rng.normal(0.9, 0.7, (m, 1))
    sets = rng.normal(0, between, (1, s))
    return (rng.random((m, s)) < 1 / (1 + np.exp(-(items + sets)))).astype(float)


tables = [of(made(40, 5, 0.8)), of(made(60, 3, 0.0)), of(made(25, 2, 1.0)), of(made(30, 10, 0.5))]
found = {
    "versions": {"statsmodels": statsmodels.__version__, "scipy": scipy.__version__, "numpy": np.__version__},
    "tables": tables,
}
Path(__file__).with_suffix(".json").write_text(json.dumps(found) + "\n")
