"""What evaluation packages say of the same data: clustered errors of inspect-ai, corrected pass rates of cigate.

    pip install inspect-ai==0.3.285 cigate==0.2.0
    python calibration/tests/golden/packages.py

inspect-ai: `stderr(cluster=...)`, `ci(cluster=...)` and `ci_wilson(cluster=...)` of `inspect_ai.scorer` (scorer/_metrics/std.py).
cigate: `stats.rogan_gladen` and `stats.analytic_ci`.
"""
import json
import pathlib
from importlib.metadata import version

import numpy as np
from cigate.stats import JudgeTooWeak, analytic_ci, rogan_gladen
from inspect_ai.scorer import SampleScore, Score, stderr
from inspect_ai.scorer._metrics.std import ci, ci_wilson

random = np.random.default_rng(20251201)
out = {"versions": {p: version(p) for p in ["numpy", "inspect-ai", "cigate"]}, "clustered": [], "corrected": []}

for m, sizes, p, spread in [(12, (1, 6), 0.7, 0.3), (40, (5, 6), 0.9, 0.1), (60, (1, 2), 0.5, 0.0), (8, (2, 9), 0.15, 0.2), (25, (4, 5), 1.0, 0.0)]:
    values, clusters = [], []
    for cluster in range(m):
        rate = float(np.clip(random.normal(p, spread), 0, 1))
        for _ in range(int(random.integers(*sizes))):
            values.append(int(random.random() < rate))
            clusters.append(cluster)
    scores = [SampleScore(score=Score(value=v), sample_metadata={"c": str(c)}) for v, c in zip(values, clusters)]
    interval, wilson = ci(cluster="c")(scores), ci_wilson(cluster="c")(scores)
    out["clustered"].append({
        "values": values, "clusters": clusters, "mean": float(np.mean(values)),
        "stderr": float(stderr(cluster="c")(scores)), "stderr_plain": float(stderr()(scores)),
        "t": [float(interval["lower"]), float(interval["upper"])],
        "wilson": [float(wilson["lower"]), float(wilson["upper"])],
    })

# Passed of the stream, accepted of right, rejected of wrong.
for counts in [(130, 200, 45, 50, 40, 50), (620, 1000, 90, 100, 70, 100), (15, 40, 18, 20, 19, 20), (300, 300, 60, 60, 55, 60), (2, 100, 90, 100, 80, 100)]:
    x, n, a, m1, r, m0 = counts
    entry = {"counts": counts, "estimate": rogan_gladen(x / n, a / m1, r / m0)}
    try:
        entry["interval"] = list(map(float, analytic_ci(x / n, r / m0, a / m1, n, m0, m1)))
    except JudgeTooWeak:
        entry["interval"] = None
    out["corrected"].append(entry)

pathlib.Path(__file__).with_suffix(".json").write_text(json.dumps(out) + "\n")
