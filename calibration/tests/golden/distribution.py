"""Reference values of the distribution functions, from mpmath at 40 digits.

Beta quantiles are scipy's, polished by Newton steps at 40 digits; the other quantiles are scipy's.
"""
import json
import pathlib
import sys

import mpmath as mp
import numpy as np
import scipy.stats as st

mp.mp.dps = 40


def quad_beta(x, a, b):
    """Both tails of the beta distribution, by the continued fraction in 40-digit arithmetic."""
    x, a, b = mp.mpf(x), mp.mpf(a), mp.mpf(b)
    y = 1 - x

    def fraction(x, a, b):
        tiny = mp.mpf(10) ** -200
        c = mp.mpf(1)
        d = 1 - (a + b) * x / (a + 1)
        d = 1 / (d if d else tiny)
        h = d
        m = 0
        while True:
            m += 1
            e = m * (b - m) * x / ((a - 1 + 2 * m) * (a + 2 * m))
            d = 1 / (1 + e * d)
            c = 1 + e / c
            h *= d * c
            o = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 1 + 2 * m))
            d = 1 / (1 + o * d)
            c = 1 + o / c
            f = d * c
            h *= f
            if abs(f - 1) < mp.mpf(10) ** -30:
                return h

    power = mp.exp(a * mp.log(x) + b * mp.log(y) - mp.loggamma(a) - mp.loggamma(b) + mp.loggamma(a + b))
    if x < (a + 1) / (a + b + 2):
        low = power / a * fraction(x, a, b)
        return low, 1 - low
    up = power / b * fraction(y, b, a)
    return 1 - up, up


def f(v):
    return float(v)


out = {"versions": {"mpmath": mp.__version__, "scipy": sys.modules["scipy"].__version__, "numpy": np.__version__}}
params = [1e-3, 0.05, 0.5, 1.0, 2.5, 17.0, 300.5, 1e4, 1e7]
beta = []
for a in params:
    for b in params:
        mean = a / (a + b)
        sd = (a * b / ((a + b) ** 2 * (a + b + 1))) ** 0.5
        xs = {1e-12, 0.1, 0.5, 0.9, 1 - 1e-9, mean, mean - sd, mean + sd, mean + 6 * sd, mean - 6 * sd, mean - 20 * sd, mean + 20 * sd}
        for x in sorted(x for x in xs if 0 < x < 1):
            low, up = quad_beta(x, a, b)
            if low > 1e-300:
                beta.append([x, a, b, f(low), f(up)])
out["beta"] = beta

t = []
for df in [0.3, 1.0, 2.0, 3.7, 9.0, 49.5, 1000.0, 1e6]:
    for v in [-1e6, -50.0, -8.0, -2.0, -0.3, -1e-5, 0.0, 1e-5, 0.7, 1.96, 5.0, 40.0]:
        x = mp.mpf(df) / (mp.mpf(df) + mp.mpf(v) ** 2)
        half = quad_beta(x, mp.mpf(df) / 2, mp.mpf(1) / 2)[0] / 2 if v != 0 else mp.mpf(1) / 2
        low = half if v <= 0 else 1 - half
        if low > 1e-300:
            t.append([v, df, f(low)])
out["t"] = t

fs = []
for d1 in [0.5, 1.0, 4.0, 33.3, 1e3, 1e6]:
    for d2 in [0.5, 2.0, 19.0, 250.0, 1e6]:
        for v in [1e-6, 0.1, 0.9, 1.0, 1.1, 3.0, 40.0, 1e5]:
            x = mp.mpf(d1) * v / (mp.mpf(d1) * v + d2)
            low, up = quad_beta(x, mp.mpf(d1) / 2, mp.mpf(d2) / 2)
            if low > 1e-300 and up > 1e-300:
                fs.append([v, d1, d2, f(low), f(up)])
out["f"] = fs

chi = []
for df in [1e-3, 0.5, 1.0, 2.0, 7.3, 100.0, 1e4, 1e6]:
    sd = (2 * df) ** 0.5
    for v in sorted({1e-8, 0.1, 1.0, 3.841, 50.0, df, df + sd, df - sd, df + 8 * sd, df - 8 * sd, df + 20 * sd}):
        if v <= 0:
            continue
        a, x = mp.mpf(df) / 2, mp.mpf(v) / 2
        # The series converges for every x; 60 further digits cover its cancellation in the upper tail.
        with mp.workdps(400):
            term = mp.mpf(1)
            total = mp.mpf(1)
            k = 0
            while term > total * mp.mpf(10) ** -380:
                k += 1
                term *= x / (a + k)
                total += term
            low = mp.exp(a * mp.log(x) - x - mp.loggamma(a + 1)) * total
            up = 1 - low
        if low > 1e-300 and up > 1e-300:
            chi.append([v, df, f(low), f(up)])
out["chi_squared"] = chi

normal = []
for v in [-37.0, -30.0, -12.0, -6.0, -3.0, -1.96, -1.0, -0.1, -1e-9, 0.0, 0.5, 1.6448536269514722, 4.0, 8.0]:
    normal.append([v, f(mp.ncdf(mp.mpf(v)))])
out["normal"] = normal

ps = [1e-300, 1e-50, 1e-12, 1e-4, 0.025, 0.3, 0.5, 0.8, 0.95, 0.975, 1 - 1e-4, 1 - 1e-10]
out["normal_quantile"] = [[p, f(st.norm.ppf(p))] for p in ps if p != 0.5]
quantiles = []
for a in [0.05, 0.5, 1.0, 2.5, 17.0, 300.5, 1e4, 1e7]:
    for b in [0.05, 0.5, 1.0, 2.5, 17.0, 300.5, 1e4, 1e7]:
        for p in [1e-50, 1e-12, 1e-4, 0.025, 0.5, 0.975, 1 - 1e-10]:
            x = float(st.beta.ppf(p, a, b))
            if not 1e-290 < x < 1 - 1e-6:
                continue
            x_better = mp.mpf(x)
            for _ in range(60):
                low, up = quad_beta(x_better, a, b)
                density = mp.exp((a - 1) * mp.log(x_better) + (b - 1) * mp.log(1 - x_better) - mp.loggamma(a) - mp.loggamma(b) + mp.loggamma(mp.mpf(a) + b))
                step = (low - mp.mpf(p)) / density
                if abs(step) > x_better / 2:
                    x_better = None
                    break
                x_better -= step
                if abs(step) < mp.mpf(10) ** -22 * x_better:
                    break
            if x_better is not None:
                quantiles.append([p, a, b, f(x_better)])
out["beta_quantile"] = quantiles
out["t_quantile"] = [[p, df, f(st.t.ppf(p, df))] for df in [1.0, 2.0, 3.7, 9.0, 49.5, 1000.0] for p in [1e-12, 1e-4, 0.025, 0.3, 0.8, 0.975, 1 - 1e-10]]
out["f_quantile"] = [[p, d1, d2, f(st.f.ppf(p, d1, d2))] for d1 in [1.0, 4.0, 33.3, 1e3] for d2 in [2.0, 19.0, 250.0] for p in [1e-6, 0.025, 0.5, 0.975, 0.9999]]
out["chi_squared_quantile"] = [[p, df, f(st.chi2.ppf(p, df))] for df in [0.5, 1.0, 2.0, 7.3, 100.0, 1e4, 1e6] for p in [1e-12, 1e-4, 0.025, 0.5, 0.975, 1 - 1e-10]]
pathlib.Path(__file__).with_suffix(".json").write_text(json.dumps(out, indent=None).replace("], [", "],\n["))
print({k: len(v) for k, v in out.items()})
