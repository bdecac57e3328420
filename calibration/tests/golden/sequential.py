"""Reference values of confidence sequences.

confseq 0.0.11 needs Boost to build; here its Python modules (betting, betting_strategies, predmix, misc; commit 70b1ef3) are imported
alone, from the folder given as the first argument, with matplotlib and multiprocess left out. The hedged sequence is its hedged_cs. The
empirical Bernstein sequence is its predmix_lower_cs with the paper's centre (0.5 + sum)/(t + 1); its predmix_empbern_lower_cs takes the
plain mean, and 0 before the first value. The normal mixture is compiled in confseq: its formula (uniform_boundaries.h) is written out.
"""
import json
import math
import pathlib
import sys
import types

import numpy as np

np.float_ = np.float64  # as numpy 1 called it
for absent in ["matplotlib", "matplotlib.pyplot", "multiprocess"]:
    sys.modules[absent] = types.ModuleType(absent)
sys.path.insert(0, sys.argv[1])
from confseq.betting import hedged_cs  # noqa: E402
from confseq.betting_strategies import lambda_predmix_eb  # noqa: E402
from confseq.predmix import predmix_lower_cs  # noqa: E402

random = np.random.default_rng(2024)
out = {"versions": {"numpy": np.__version__, "confseq": "0.0.11 (commit 70b1ef3)"}, "sets": []}


def bernstein_lower(x, alpha):
    t = np.arange(1, len(x) + 1)
    before = np.append(0.5, ((0.5 + np.cumsum(x)) / (t + 1))[:-1])
    return predmix_lower_cs(x, v=(x - before) ** 2, lambdas_fn=lambda y: lambda_predmix_eb(y, truncation=0.5, alpha=alpha), psi_fn=lambda l: -np.log(1 - l) - l, alpha=alpha, running_intersection=True)


def mixture(x, alpha, planned):
    v_opt, t = planned / 4, np.arange(1, len(x) + 1)
    rho = v_opt / (2 * math.log(1 / alpha) + math.log(1 + 2 * math.log(1 / alpha)))
    v = t / 4
    bound = np.sqrt((v + rho) * (np.log(1 + v / rho) + 2 * math.log(1 / alpha)))
    mean = np.cumsum(x) / t
    return np.maximum.accumulate(np.maximum(mean - bound / t, 0)), np.minimum.accumulate(np.minimum(mean + bound / t, 1))


for n, kind, alpha, grid in [(200, "rates", 0.05, 200), (300, "beta", 0.05, 250), (150, "rare", 0.1, 500), (60, "all", 0.05, 100)]:
    if kind == "rates":
        x = random.binomial(4, 0.7, n) / 4
    elif kind == "beta":
        x = random.beta(10, 30, n)
    elif kind == "rare":
        x = (random.random(n) < 0.03).astype(float)
    else:
        x = np.ones(n)
    low, high = hedged_cs(x, alpha=alpha, breaks=grid, running_intersection=True)
    mix = mixture(x, alpha, 100)
    out["sets"].append(
        {
            "values": x.tolist(), "level": 1 - alpha, "n_grid": grid, "planned": 100,
            "betting": [low.tolist(), high.tolist()],
            "bernstein": [bernstein_lower(x, alpha / 2).tolist(), (1 - bernstein_lower(1 - x, alpha / 2)).tolist()],
            "mixture": [mix[0].tolist(), mix[1].tolist()],
        }
    )
pathlib.Path(__file__).with_suffix(".json").write_text(json.dumps(out).replace("}, {", "},\n{") + "\n")
