"""Reference values of models of raters.

Dawid & Skene, the one-coin model, MACE, GLAD and (weighted) majorities are crowd-kit's, each run for a stated number of
iterations (crowd-kit's own criterion counts the class prior once a rating and may stop early; so its tolerance is
switched off here). MACE's and GLAD's are run until nothing moves. Log-likelihoods are computed here from crowd-kit's parameters,
since its own are scaled or have 1e-8 added. The correlations of errors are numpy's.

Data: the anaesthetists of Dawid & Skene 1979, table 1; six judges of LLMBar (Zeng et al. 2024, MIT licence, figures only) on the
first 40 items of the subset Adversarial/Neighbor; drawn from the seed. A rating is item, rater, category.

Usage: raters.py LLMBAR_VERDICTS.csv
"""
import json
import pathlib
import sys
import warnings
from importlib.metadata import version

import numpy as np
import pandas as pd
from crowdkit.aggregation import GLAD, MACE, DawidSkene, MajorityVote, OneCoinDawidSkene
from scipy.special import expit

warnings.filterwarnings("ignore")
random = np.random.default_rng(1979)
out = {"versions": {p: version(p) for p in ["numpy", "scipy", "pandas", "crowd-kit"]}}

# Observer 1 rated thrice.
ANAESTHETISTS = (
    "1111111 3334334 1122122 2223121 2223222 2223322 1222111 3333433 2222223 2322223 4444444 2223343 1111111 2223212 "
    "1211111 1112111 1111111 1111111 2222221 2221322 2222222 2222221 2223222 2212222 1111111 1111111 2322222 1111111 "
    "1111111 1121121 1111111 3333233 1111111 2222222 2223232 4334343 2212232 2323233 3333432 1111111 1111111 1212111 "
    "2322222 1211111 2222222"
).split()


def frame(triples):
    return pd.DataFrame(triples, columns=["task", "worker", "label"])


def table(fit, items, categories):
    return fit.reindex(index=items, columns=categories).to_numpy().astype(float)


def log_sum(logs):
    top = logs.max(1, keepdims=True)
    return float((top[:, 0] + np.log(np.exp(logs - top).sum(1))).sum())


def log_likelihood(data, per_rating, log_prior, n_items):
    """`per_rating` is ratings x categories: the probability of the rating if the category is true."""
    logs = np.zeros((n_items, per_rating.shape[1])) + log_prior
    np.add.at(logs, data.task.to_numpy(), np.log(per_rating))
    return log_sum(logs)


def dawid_skene(data, n_items, n_raters, k, n_iter):
    fit = DawidSkene(n_iter, tol=-np.inf).fit(data)
    errors = fit.errors_.reindex(columns=range(k))
    confusion = np.zeros((n_raters, k, k))
    for (rater, given), row in errors.iterrows():
        confusion[rater, :, given] = row
    prior = fit.priors_.reindex(range(k)).to_numpy()
    per_rating = confusion[data.worker, :, data.label]
    return {
        "n_iterations": n_iter,
        "posterior": table(fit.probas_, range(n_items), range(k)).ravel().tolist(),
        "prior": prior.tolist(),
        "confusion": confusion.reshape(n_raters, -1).tolist(),
        # Of the parameters after the last iteration: what the next one starts from.
        "log_likelihood": log_likelihood(data, per_rating, np.log(np.maximum(prior, 1e-10)), n_items),
    }


def one_coin(data, n_items, n_raters, k, n_iter):
    fit = OneCoinDawidSkene(n_iter, tol=-np.inf).fit(data)
    return {
        "n_iterations": n_iter,
        "posterior": table(fit.probas_, range(n_items), range(k)).ravel().tolist(),
        "accuracy": fit.skills_.reindex(range(n_raters)).tolist(),
    }


def mace(data, n_items, n_raters, k, method):
    # crowd-kit numbers raters and labels as they first come in one place, and sorted in another; so they come sorted.
    data = data.sort_values(["worker", "label"], kind="stable").reset_index(drop=True)
    assert list(pd.unique(data.label)) == list(range(k))
    best = None
    # Variational Bayes ends in one place; EM in several.
    for seed in range(1 if method == "vb" else 2):
        fit = MACE(n_restarts=1, n_iter=400 if method == "vb" else 120, method=method, random_state=seed)
        fit.fit(data)
        workers, worker_names = pd.factorize(data["worker"])
        labels, label_names = pd.factorize(data["label"])
        tasks, task_names = pd.factorize(data["task"])
        _, _, strategy, knowing = fit._e_step(data.copy(), task_names, worker_names, label_names, tasks, workers, labels)
        by_rater = knowing.reindex(range(n_raters)).to_numpy()
        counts = strategy.reindex(index=range(n_raters), columns=range(k)).fillna(0.0).to_numpy()
        a, b = (0.5, 10.0) if method == "vb" else (0.01 / k, 0.01 / k)
        knows = (by_rater[:, 1] + a) / (by_rater.sum(1) + 2 * a)
        habits = (counts + b) / (counts + b).sum(1, keepdims=True)
        w, l = data.worker.to_numpy(), data.label.to_numpy()
        per_rating = ((1 - knows[w]) * habits[w, l])[:, None] + knows[w][:, None] * (l[:, None] == np.arange(k))
        found = {
            "method": method,
            "posterior": table(fit.probas_, range(n_items), range(k)).ravel().tolist(),
            "competence": knows.tolist(),
            "strategy": habits.ravel().tolist(),
            "log_likelihood": log_likelihood(data, per_rating, -np.log(k), n_items),
        }
        if best is None or found["log_likelihood"] > best["log_likelihood"]:
            best = found
    return best


def glad(data, n_items, n_raters, k):
    fit = GLAD(n_iter=40, tol=-np.inf, m_step_max_iter=12, m_step_tol=1e-9).fit(data)
    ability = fit.alphas_.reindex(range(n_raters)).to_numpy()
    log_easiness = fit.betas_.reindex(range(n_items)).to_numpy()
    right = expit(ability[data.worker] * np.exp(log_easiness[data.task]))[:, None]
    per_rating = np.where(data.label.to_numpy()[:, None] == np.arange(k), right, (1 - right) / (k - 1))
    found = log_likelihood(data, per_rating, -np.log(k), n_items)
    penalty = -0.5 * (((ability - 1) ** 2).sum() + ((log_easiness - 1) ** 2).sum())
    return {
        "posterior": table(fit.probas_, range(n_items), range(k)).ravel().tolist(),
        "ability": ability.tolist(),
        "log_easiness": log_easiness.tolist(),
        "log_likelihood": found,
        "objective": found + float(penalty),
    }


def effective(data, truth, n_raters):
    """Everything from the table of errors: items x raters, missing as NaN."""
    known = data[[truth[t] is not None for t in data.task]]
    wrong = pd.Series([float(truth[t] != l) for t, l in zip(known.task, known.label)], index=known.index)
    errors = known.assign(wrong=wrong).pivot_table(index="task", columns="worker", values="wrong", aggfunc="mean").to_numpy()

    def mean_correlation(e):
        products = squares = 0.0
        own = []
        for i in range(e.shape[1]):
            for j in range(i):
                both = ~np.isnan(e[:, i]) & ~np.isnan(e[:, j])
                if both.sum() < 2:
                    continue
                c = np.cov(e[both, i], e[both, j]) * (both.sum() - 1)
                products += c[0, 1]
                squares += (c[0, 0] + c[1, 1]) / 2
                if c[0, 0] > 1e-12 and c[1, 1] > 1e-12:
                    own.append(np.corrcoef(e[both, i], e[both, j])[0, 1])
        return products / squares, np.mean(own)

    n = errors.shape[1]
    rho, pairs = mean_correlation(errors)
    log_f = lambda r: np.log((1 + (n - 1) * r) / (1 - r))
    rows = np.flatnonzero((~np.isnan(errors)).sum(1) > 1)
    left = np.array([log_f(mean_correlation(np.delete(errors, row, 0))[0]) for row in rows])
    m = len(rows)
    return {
        "correlation": float(rho),
        "mean_of_pairs": float(pairs),
        "n_effective": float(n / (1 + (n - 1) * rho)),
        "standard_error_of_log_f": float(np.sqrt((m - 1) / m * ((left - left.mean()) ** 2).sum())),
    }


def entry(name, triples, n_items, n_raters, k, truth=None, models=True):
    data = frame(triples)
    weights = random.random(n_raters) + 0.5
    found = {"name": name, "n_items": n_items, "n_raters": n_raters, "n_categories": k, "ratings": np.array(triples).ravel().tolist()}
    found["majority"] = table(MajorityVote().fit_predict_proba(data), range(n_items), range(k)).ravel().tolist()
    weighted = MajorityVote().fit_predict_proba(data, pd.Series(weights))
    found["weights"] = weights.tolist()
    found["weighted_majority"] = table(weighted, range(n_items), range(k)).ravel().tolist()
    found["dawid_skene"] = [dawid_skene(data, n_items, n_raters, k, n) for n in (1, 7, 40)]
    found["default_iterations"] = len(DawidSkene(100).fit(data).loss_history_)
    found["one_coin"] = [one_coin(data, n_items, n_raters, k, n) for n in (1, 15)]
    if models:
        found["mace"] = [mace(data, n_items, n_raters, k, method) for method in ("vb", "em")]
        found["glad"] = glad(data, n_items, n_raters, k)
    if truth is not None:
        found["truth"] = truth
        found["effective"] = effective(data, truth, n_raters)
    return found


def drawn(n_items, n_raters, k, share, accuracy):
    truth = random.integers(0, k, n_items)
    triples = []
    for item in range(n_items):
        for rater in range(n_raters):
            if random.random() < share:
                wrong = (truth[item] + random.integers(1, k)) % k
                triples.append((item, rater, int(truth[item] if random.random() < accuracy[rater] else wrong)))
    return triples, [int(t) for t in truth]


def llmbar(path, subset, n_raters):
    rows = pd.read_csv(path)
    rows = rows[rows.subset == subset]
    rows = rows.assign(judge=rows.judge + " " + rows.strategy)
    names = sorted(rows.judge.unique())[:: max(1, rows.judge.nunique() // n_raters)][:n_raters]
    rows = rows[rows.judge.isin(names)]
    items = sorted(rows.item.unique())[:40]
    rows = rows[rows.item.isin(items)]
    triples = []
    for row in rows.itertuples():
        for verdict in (row.winner_order1, row.winner_order2_swapped):
            if str(verdict) in ("1", "2", "1.0", "2.0"):
                triples.append((items.index(row.item), names.index(row.judge), int(float(verdict)) - 1))
    label = rows.drop_duplicates("item").set_index("item").label
    return triples, [int(label[i]) - 1 for i in items], names


observers = [0, 0, 0, 1, 2, 3, 4]
triples = [(i, r, int(c) - 1) for i, row in enumerate(ANAESTHETISTS) for r, c in zip(observers, row)]
sets = [entry("anaesthetists", triples, 45, 5, 4, models=False)]
triples, truth = drawn(50, 7, 3, 0.7, [0.9, 0.85, 0.8, 0.7, 0.6, 0.45, 0.34])
sets.append(entry("drawn, three categories", triples, 50, 7, 3, truth))
triples, truth = drawn(50, 5, 2, 1.0, [0.9, 0.8, 0.8, 0.7, 0.6])
sets.append(entry("drawn, two categories", triples, 50, 5, 2, [t if i % 9 else None for i, t in enumerate(truth)]))
triples, truth, names = llmbar(sys.argv[1], "Adversarial/Neighbor", 6)
sets.append(entry("LLMBar Adversarial/Neighbor: " + ", ".join(names), triples, len(truth), len(names), 2, truth))
out["sets"] = sets
pathlib.Path(__file__).with_suffix(".json").write_text(json.dumps(out).replace("}, {", "},\n{") + "\n")
for found in sets:
    print(found["name"], len(found["ratings"]) // 3, found["default_iterations"], found.get("effective"))
    print([round(m["log_likelihood"], 4) for m in found["dawid_skene"] + found.get("mace", [])], found.get("glad", {}).get("objective"))
