"""Reference intervals of a proportion: statsmodels' proportion_confint at several counts and levels."""
import json
import pathlib
from importlib.metadata import version

from statsmodels.stats.proportion import proportion_confint

METHODS = ["wilson", "beta", "jeffreys", "agresti_coull"]
COUNTS = [(17, 20), (0, 1), (0, 10), (0, 250), (1, 1), (10, 10), (250, 250), (1, 3), (50, 100), (3, 1000), (99_990, 100_000)]

out = {"versions": {p: version(p) for p in ["statsmodels", "scipy", "numpy"]}, "intervals": []}
for successes, trials in COUNTS:
    for level in [0.9, 0.95, 0.99]:
        entry = {"successes": successes, "trials": trials, "level": level}
        for method in METHODS:
            entry[method] = [float(end) for end in proportion_confint(successes, trials, alpha=1 - level, method=method)]
        out["intervals"].append(entry)
pathlib.Path(__file__).with_suffix(".json").write_text(json.dumps(out).replace("}, {", "},\n{") + "\n")
