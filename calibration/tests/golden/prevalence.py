"""Reference values of pass rates corrected for a judge's errors.

Rogan-Gladen's estimate is judgy's (which clips it and computes it from labels; here it is kept within 0..1). The interval of
Lang & Reiczigel 2014 has no Python package: it is written out from the paper (as R's asht::prevSeSp computes it). The bound of
J is Newcombe's method 10 on statsmodels' Wilson limits; the recovery of variances (MOVER) is written out on its beta limits. Prediction-powered means are ppi-python's: its estimate, its lambda and
its standard error, read off its interval at 90 %.
"""
import json
import pathlib
from importlib.metadata import version

import numpy as np
from judgy import estimate_success_rate
from ppi_py import ppi_mean_ci, ppi_mean_pointestimate
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

random = np.random.default_rng(1978)
out = {"versions": {p: version(p) for p in ["numpy", "scipy", "statsmodels", "judgy", "ppi-python"]}}


def lang_reiczigel(x, n, a, n_se, r, n_sp, level):
    z = stats.norm.ppf(0.5 + level / 2)
    se, sp, ap = (a + 1) / (n_se + 2), (r + 1) / (n_sp + 2), (x + z**2 / 2) / (n + z**2)
    p = (ap + sp - 1) / (se + sp - 1)
    v_se, v_sp, v_ap = se * (1 - se) / (n_se + 2), sp * (1 - sp) / (n_sp + 2), ap * (1 - ap) / (n + z**2)
    shift = 2 * z**2 * (p * v_se - (1 - p) * v_sp)
    half = z * np.sqrt(v_ap + p**2 * v_se + (1 - p) ** 2 * v_sp) / (se + sp - 1)
    return [float(np.clip(p + shift - half, 0, 1)), float(np.clip(p + shift + half, 0, 1))]


def mover(x, n, a, n_se, r, n_sp, level):
    """Zou & Donner 2008 on statsmodels' Clopper-Pearson limits."""
    rates = [x / n, a / n_se, r / n_sp]
    ends = [proportion_confint(k, m, 1 - level, "beta") for k, m in [(x, n), (a, n_se), (r, n_sp)]]
    rate = lambda p, se, sp: (p + sp - 1) / (se + sp - 1)
    down = up = 0.0
    for i in range(3):
        at = [rate(*(end if i == j else rates[j] for j in range(3))) for end in ends[i]]
        down += max(rate(*rates) - min(at), 0) ** 2
        up += max(max(at) - rate(*rates), 0) ** 2
    return [float(np.clip(rate(*rates) - down**0.5, 0, 1)), float(np.clip(rate(*rates) + up**0.5, 0, 1))]


out["rogan_gladen"] = []
for x, n, a, n_se, r, n_sp, level in [
    (600, 1000, 90, 100, 40, 50, 0.95), (30, 100, 45, 50, 40, 50, 0.90), (5, 40, 18, 20, 19, 20, 0.95), (250, 300, 70, 80, 55, 60, 0.99), (400, 2000, 30, 30, 35, 40, 0.95),
]:
    labels = [1] * n_se + [0] * n_sp
    judged = [1] * a + [0] * (n_se - a) + [0] * r + [1] * (n_sp - r)
    np.random.seed(1)
    estimate = estimate_success_rate(labels, judged, [1] * x + [0] * (n - x), bootstrap_iterations=10)[0]
    alpha = 1 - level
    below = np.hypot(a / n_se - proportion_confint(a, n_se, alpha, "wilson")[0], r / n_sp - proportion_confint(r, n_sp, alpha, "wilson")[0])
    out["rogan_gladen"].append(
        {"counts": [x, n, a, n_se, r, n_sp], "level": level, "estimate": float(estimate), "interval": lang_reiczigel(x, n, a, n_se, r, n_sp, level), "mover": mover(x, n, a, n_se, r, n_sp, level), "youden_low": float(a / n_se + r / n_sp - 1 - below)}
    )

out["ppi"] = []
for n, size, right, wrong in [(30, 200, 0.9, 0.1), (100, 1000, 0.8, 0.3), (60, 90, 0.55, 0.5), (400, 400, 0.95, 0.2)]:
    truth = (random.random(n + size) < 0.7).astype(float)
    # The judge's pass rate over four repeats.
    judged = random.binomial(4, np.where(truth > 0, right, wrong)) / 4
    y, f, g = truth[:n], judged[:n], judged[n:]
    w, v = random.random(n) + 0.5, random.random(size) + 0.5
    entry = {"truths": y.tolist(), "judged": f.tolist(), "unlabelled": g.tolist(), "weights": w.tolist(), "unlabelled_weights": v.tolist()}
    tuned = float(np.squeeze(ppi_mean_pointestimate(y, f, g)))
    # The estimate is linear in lambda, so lambda follows from it.
    entry["lambda"] = float((tuned - y.mean()) / (g.mean() - f.mean()))
    entry["estimate"] = tuned
    for lam in [0.0, 0.6, 1.0]:
        low, high = ppi_mean_ci(y, f, g, alpha=0.1, lam=lam)
        entry[f"fixed_{lam}"] = {
            "estimate": float(np.squeeze(ppi_mean_pointestimate(y, f, g, lam=lam))),
            "standard_error": float(np.squeeze(high - low) / 2 / stats.norm.ppf(0.95)),
            "weighted": float(np.squeeze(ppi_mean_pointestimate(y, f, g, lam=lam, w=w, w_unlabeled=v))),
        }
    out["ppi"].append(entry)
pathlib.Path(__file__).with_suffix(".json").write_text(json.dumps(out).replace("}, {", "},\n{") + "\n")
