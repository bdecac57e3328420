"""Reference values of agreement coefficients, from scikit-learn, statsmodels, irrCAC and krippendorff.

Textbook tables: the 2 x 2 of Cohen's kappa entry in Wikipedia; the 3 x 3 of the SAS FREQ documentation; the reliability
data of Krippendorff (2011), section C, and of Wikipedia's entry on Krippendorff's alpha; the 14 raters of Fleiss's kappa
in Wikipedia. The rest is drawn from the seed below.
"""
import json
import pathlib
from importlib.metadata import version

import krippendorff
import numpy as np
import pandas as pd
from irrCAC.raw import CAC as Raw
from irrCAC.table import CAC as Table
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa, fleiss_kappa

random = np.random.default_rng(20240611)
nan = np.nan
out = {"versions": {p: version(p) for p in ["numpy", "scikit-learn", "statsmodels", "irrCAC", "krippendorff"]}}
SCHEMES = {"unweighted": ("identity", None, None), "linear": ("linear", "linear", "linear"), "quadratic": ("quadratic", "quadratic", "fc")}


def two_raters(table):
    table = np.array(table)
    a, b = [], []
    for i, row in enumerate(table):
        for j, count in enumerate(row):
            a += [i] * count
            b += [j] * count
    entry = {"table": table.tolist()}
    for name, (irr, sk, sm) in SCHEMES.items():
        fit = cohens_kappa(table, wt=sm)
        e = {"cohen": cohen_kappa_score(a, b, weights=sk, labels=list(range(len(table))))}
        e["statsmodels"] = float(fit.kappa)
        e["ase"] = float(np.sqrt(fit.var_kappa))
        e["null"] = float(np.sqrt(fit.var_kappa0))
        frame = pd.DataFrame(table)
        for key, method in [("gwet", "gwet"), ("scott", "scott"), ("brennan_prediger", "bp"), ("cohen_irr", "cohen")]:
            cac = Table(frame, weights=irr, digits=15)
            got = getattr(cac, method)()["est"]
            e[key] = float(got["coefficient_value"])
            e[key + "_se"] = float(got["se"])
        entry[name] = e
    return entry


tables = [[[20, 5], [10, 15]], [[0, 4, 1], [0, 8, 0], [0, 1, 5]], [[13, 0, 0], [0, 20, 7], [0, 4, 56]]]
tables += [random.integers(0, 30, size=(q, q)).tolist() for q in (2, 3, 4, 5, 7)]
out["two_raters"] = [two_raters(t) for t in tables]


def many_raters(ratings):
    """ratings: units x raters, nan is missing."""
    ratings = np.array(ratings, dtype=float)
    values = np.unique(ratings[~np.isnan(ratings)])
    entry = {"ratings": [[None if np.isnan(v) else float(v) for v in row] for row in ratings], "values": values.tolist()}
    for name, (irr, _, _) in SCHEMES.items():
        e = {}
        for key in ["gwet", "fleiss", "conger", "bp"]:
            got = getattr(Raw(pd.DataFrame(ratings), weights=irr, digits=15), key)()["est"]
            e[key] = {k: float(got[g]) for k, g in [("value", "coefficient_value"), ("se", "se"), ("pa", "pa"), ("pe", "pe")]}
        entry[name] = e
    entry["alpha"] = {m: float(krippendorff.alpha(ratings.T, level_of_measurement=m)) for m in ["nominal", "ordinal", "interval", "ratio"]}
    return entry


krippendorff_2011 = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, nan, nan, nan],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, nan, 3],
    [nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, nan],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, nan],
]
wikipedia = [
    [nan, nan, nan, nan, nan, 3, 4, 1, 2, 1, 1, 3, 3, nan, 3],
    [1, nan, 2, 1, 3, 3, 4, 3, nan, nan, nan, nan, nan, nan, nan],
    [nan, nan, 2, 1, 3, 4, 4, nan, 2, 1, 1, 3, 3, nan, 4],
]
sets = [np.array(krippendorff_2011).T, np.array(wikipedia).T]
for n, r, q, missing in [(30, 5, 4, 0.0), (60, 3, 6, 0.2), (25, 8, 2, 0.5), (200, 4, 11, 0.1)]:
    truth = random.integers(0, q, size=(n, 1))
    noise = random.integers(0, q, size=(n, r))
    ratings = np.where(random.random((n, r)) < 0.6, truth, noise).astype(float)
    ratings[random.random((n, r)) < missing] = nan
    sets.append(ratings)
out["many_raters"] = [many_raters(s) for s in sets]

fleiss_14 = [
    [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
]
out["fleiss_14"] = {
    "counts": fleiss_14,
    "fleiss_kappa": float(fleiss_kappa(np.array(fleiss_14), method="fleiss")),
    "randolph": float(fleiss_kappa(np.array(fleiss_14), method="randolph")),
    "alpha_nominal": float(krippendorff.alpha(value_counts=np.array(fleiss_14), level_of_measurement="nominal")),
}
path = pathlib.Path(__file__).with_suffix(".json")
path.write_text(json.dumps(out).replace("}, {", "},\n{") + "\n")
