"""Times Python packages and this library on the same data, in one run, and checks that they say the same.

    pip install -r benches/against_references/requirements.txt
    python benches/against_references/run.py [--rounds N] [--confseq FOLDER] [TASK ...]

Writes seeded data to a temporary folder; both sides read the same files before any clock starts. A round runs each task once by
the package, once by the library on one thread and once on two, one after the other, so that a machine that is slow at times slows
them alike. What takes less than a millisecond is repeated within a round and divided. See README.md.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import types
import warnings
from importlib.metadata import PackageNotFoundError, version

import numpy as np
import pandas as pd

warnings.filterwarnings("ignore")
ROOT = pathlib.Path(__file__).resolve().parents[2]


def write_data(folder):
    """Writes one CSV a task, without headings."""
    rng = np.random.default_rng(20260101)

    def save(name, table, fmt="%d"):
        np.savetxt(folder / f"{name}.csv", table, delimiter=",", fmt=fmt)

    # 2,000 items by 5 raters, scores with a level of each rater.
    scores = rng.normal(5, 1.5, (2000, 1)) + rng.normal(0, 0.4, (1, 5)) + rng.normal(0, 1, (2000, 5))
    save("icc", scores.round(3), "%.3f")

    # 2,000 items by 10 raters by 3 categories; raters are right between .45 and .9 of the time, less so on hard items.
    truth = rng.integers(0, 3, 2000)
    skill, easiness = rng.normal(1.2, 0.8, 10), np.exp(rng.normal(0.2, 0.6, 2000))
    is_right = rng.random((2000, 10)) < 1 / (1 + np.exp(-skill * easiness[:, None]))
    wrong = (truth[:, None] + rng.integers(1, 3, (2000, 10))) % 3
    answers = np.where(is_right, truth[:, None], wrong)
    items, raters = np.indices((2000, 10)).reshape(2, -1)
    save("ratings", np.column_stack([items, raters, answers.ravel()]))

    # 9,000 pairs of grades 0 to 4.
    first = rng.binomial(4, 0.6, 9000)
    second = np.clip(first + rng.integers(-1, 2, 9000) * (rng.random(9000) < 0.5), 0, 4)
    save("kappa", np.column_stack([first, second]))

    # 10,000 units by 5 raters, values 1 to 5, a twentieth missing (0).
    base = rng.binomial(4, 0.55, (10_000, 1)) + 1
    values = np.clip(base + rng.integers(-1, 2, (10_000, 5)) * (rng.random((10_000, 5)) < 0.4), 1, 5)
    save("alpha", np.where(rng.random((10_000, 5)) < 0.05, 0, values))

    # 1,000 clusters of 8 verdicts.
    save("clusters", (rng.random((1000, 8)) < rng.beta(4, 2, (1000, 1))).astype(int))

    # 400 labelled verdicts, then 2,000 without label (-1).
    label = (rng.random(400) < 0.6).astype(int)
    verdict = np.where(rng.random(400) < 0.88, label, 1 - label)
    stream = np.column_stack([np.full(2000, -1), (rng.random(2000) < 0.63).astype(int)])
    save("judgy", np.vstack([np.column_stack([label, verdict]), stream]))

    save("bca", rng.lognormal(0, 0.8, (500, 1)).round(6), "%.6f")

    good = (rng.random(100_000) < 0.5).astype(int)
    save("auc", np.column_stack([(good + rng.normal(0, 1.2, 100_000)).round(2), good]), ["%.2f", "%d"])

    # 1,000 labels and 100,000 without (-1); a judge's pass rates over four repeats.
    truth = (rng.random(101_000) < 0.6).astype(int)
    judged = rng.binomial(4, np.where(truth == 1, 0.85, 0.2)) / 4
    save("ppi", np.column_stack([np.where(np.arange(101_000) < 1_000, truth, -1), judged]), ["%d", "%.2f"])

    # 1,000 pass rates of items over four repeats, one after the other.
    save("betting", rng.binomial(4, 0.7, (1000, 1)) / 4, "%.2f")


def close(tolerance):
    """Returns a check that all figures of the two sides differ by no more."""

    def check(package, library):
        package, library = np.asarray(package, float), np.asarray(library, float)
        assert package.shape == library.shape, (package.shape, library.shape)
        worst = float(np.max(np.abs(package - library)))
        return worst <= tolerance, f"differ by {worst:.1e}, allowed {tolerance:.0e}"

    return check


def same_labels(share):
    """Returns a check that labels agree in this share of the items at least."""

    def check(package, library):
        agreement = float(np.mean(np.asarray(package) == np.asarray(library)))
        return agreement >= share, f"{agreement:.2%} of labels agree, asked {share:.2%}"

    return check


def glad_objective(model, ratings):
    """Returns the log-likelihood plus the log-density of the priors at crowd-kit's parameters, but for a constant."""
    ability, log_easiness = model.alphas_.to_numpy(), model.betas_.sort_index().to_numpy()
    ability_of = model.alphas_.reindex(ratings.worker).to_numpy()
    easiness_of = np.exp(model.betas_.reindex(ratings.task).to_numpy())
    right = 1 / (1 + np.exp(-ability_of * easiness_of))
    by_truth = np.where(ratings.label.to_numpy()[:, None] == np.arange(3), right[:, None], (1 - right[:, None]) / 2)
    logs = np.zeros((len(log_easiness), 3)) - np.log(3)
    np.add.at(logs, ratings.task.to_numpy(), np.log(by_truth))
    likelihood = np.log(np.exp(logs - logs.max(1, keepdims=True)).sum(1)).sum() + logs.max(1).sum()
    return likelihood - 0.5 * (((ability - 1) ** 2).sum() + ((log_easiness - 1) ** 2).sum())


def as_high(package, library):
    """Returns whether the library's GLAD, labels and then the objective, climbed as high as crowd-kit's and says the same."""
    model, ratings = package
    *labels, objective = library
    agrees, note = same_labels(0.995)(model.labels_.sort_index().to_list(), labels)
    ahead = objective - glad_objective(model, ratings)
    # A nat in 20,000 ratings is what the last iterations still gain.
    return agrees and ahead > -1, f"{note}; objective {ahead:+.2f} nats"


class Tasks:
    """Each task's data, read once, and how the package does it."""

    def __init__(self, folder):
        def load(name):
            return np.loadtxt(folder / f"{name}.csv", delimiter=",")

        self.icc_long = (
            pd.DataFrame(load("icc"))
            .rename_axis("item")
            .reset_index()
            .melt(id_vars="item", var_name="rater", value_name="score")
        )
        self.ratings = pd.DataFrame(load("ratings").astype(int), columns=["task", "worker", "label"])
        # As numbers that first come in sorted order; crowd-kit's MACE mixes up others.
        self.kappa_pairs = load("kappa").astype(int)
        values = load("alpha")
        self.units = np.where(values == 0, np.nan, values)
        self.clusters = load("clusters")
        rows = load("judgy").astype(int)
        self.labelled, self.stream = rows[rows[:, 0] >= 0], rows[rows[:, 0] < 0, 1]
        self.skewed = load("bca")
        self.auc_rows = load("auc")
        self.ppi_rows, self.betting_values = load("ppi"), load("betting")
        self.units_frame = pd.DataFrame(self.units)
        items, repeats = np.indices(self.clusters.shape).reshape(2, -1)
        self.verdicts_long = pd.DataFrame({"item_id": items, "verdict": self.clusters.ravel()})

    def icc(self):
        import pingouin

        table = pingouin.intraclass_corr(self.icc_long, targets="item", raters="rater", ratings="score")
        return table["ICC"].to_list()

    def mace(self):
        from crowdkit.aggregation import MACE

        # 50 iterations in each of 10 restarts. (crowd-kit starts them all from the same numbers.)
        labels = MACE(n_restarts=10, n_iter=50, random_state=0).fit_predict(self.ratings)
        return labels.sort_index().to_list()

    def glad(self):
        from crowdkit.aggregation import GLAD

        return GLAD(n_iter=100, tol=1e-5).fit(self.ratings), self.ratings

    def dawid_skene(self):
        from crowdkit.aggregation import DawidSkene

        return DawidSkene(n_iter=20, tol=-np.inf).fit_predict_proba(self.ratings).sort_index().to_numpy().ravel().tolist()

    def kappa(self):
        from sklearn.metrics import cohen_kappa_score

        first, second = self.kappa_pairs.T
        rng = np.random.default_rng(1)
        replicates = []
        for _ in range(200):
            idx = rng.integers(0, len(first), len(first))
            replicates.append(cohen_kappa_score(first[idx], second[idx], weights="quadratic"))
        return [cohen_kappa_score(first, second, weights="quadratic"), np.std(replicates, ddof=1)]

    def alpha(self):
        import krippendorff

        rng = np.random.default_rng(1)
        data = self.units.T

        def of(units):
            return krippendorff.alpha(units, level_of_measurement="ordinal", value_domain=[1, 2, 3, 4, 5])

        replicates = [of(data[:, rng.integers(0, data.shape[1], data.shape[1])]) for _ in range(50)]
        return [of(data), np.std(replicates, ddof=1)]

    def clusters_mean(self):
        rng = np.random.default_rng(1)
        m = len(self.clusters)
        replicates = [self.clusters[rng.integers(0, m, m)].mean() for _ in range(2000)]
        return [self.clusters.mean(), *np.quantile(replicates, [0.025, 0.975])]

    def judgecal(self):
        from judgecal.stats import cluster_bootstrap_ci

        found = cluster_bootstrap_ci(self.verdicts_long, lambda frame: frame["verdict"].mean(), "item_id", n_boot=2000)
        return [found.estimate, found.ci_low, found.ci_high]

    def irr(self):
        from irrCAC.raw import CAC

        found = []
        for weights, methods in [("identity", ["fleiss", "gwet"]), ("quadratic", ["gwet"])]:
            cac = CAC(self.units_frame, weights=weights, digits=15)
            for method in methods:
                est = getattr(cac, method)()["est"]
                found += [est["coefficient_value"], est["se"]]
        return found

    def ppi(self):
        from ppi_py import ppi_mean_ci

        rows = self.ppi_rows
        known, open_ = rows[rows[:, 0] >= 0], rows[rows[:, 0] < 0]
        low, high = (float(np.squeeze(end)) for end in ppi_mean_ci(known[:, 0], known[:, 1], open_[:, 1], alpha=0.05))
        return [(low + high) / 2, (high - low) / 2 / 1.959963984540054]

    def betting(self):
        from confseq.betting import hedged_cs

        low, high = hedged_cs(self.betting_values, alpha=0.05, breaks=1000, running_intersection=True)
        return [low[99], high[99], low[-1], high[-1]]

    def judgy(self):
        from judgy import estimate_success_rate

        np.random.seed(1)
        return list(estimate_success_rate(self.labelled[:, 0], self.labelled[:, 1], self.stream, 20_000))

    def bca(self):
        from scipy.stats import bootstrap

        found = bootstrap((self.skewed,), np.mean, n_resamples=9999, method="BCa", rng=np.random.default_rng(1))
        return [found.confidence_interval.low, found.confidence_interval.high]

    def auc(self):
        from scipy.stats import rankdata
        from sklearn.metrics import roc_auc_score

        scores, is_good = self.auc_rows[:, 0], self.auc_rows[:, 1] == 1
        # DeLong's variance by midranks (Sun & Xu 2014), since scikit-learn has none.
        good, bad = scores[is_good], scores[~is_good]
        ranks = rankdata(np.concatenate([good, bad]))
        of_good = (ranks[: len(good)] - rankdata(good)) / len(bad)
        of_bad = 1 - (ranks[len(good) :] - rankdata(bad)) / len(good)
        variance = of_good.var(ddof=1) / len(good) + of_bad.var(ddof=1) / len(bad)
        return [roc_auc_score(is_good, scores), variance**0.5]


# Task: what it is, the package, the check, the least factor aimed at.
TASKS = {
    "icc": ("ICC, six forms, 2,000 × 5", "pingouin", close(1e-9), 100),
    "mace": ("MACE, 2,000 × 10 × 3, 10 restarts of 50 iterations", "crowd-kit", same_labels(0.995), 100),
    "glad": ("GLAD, 2,000 × 10 × 3, to convergence", "crowd-kit", as_high, 100),
    "dawid_skene": ("Dawid–Skene, 2,000 × 10 × 3, 20 iterations", "crowd-kit", close(1e-6), None),
    "kappa": ("quadratic kappa, n = 9,000, 200 resamples", "scikit-learn", close(2e-3), 100),
    "alpha": ("ordinal alpha, 10,000 × 5, 50 resamples", "krippendorff", close(2e-3), 100),
    "clusters_mean": ("cluster bootstrap of a rate, 1,000 × 8, 2,000 resamples", "numpy", close(2e-3), None),
    "judgecal": ("the same by a package made for judges", "judgecal", close(2e-3), None),
    "irr": ("Fleiss, AC1 and AC2 with errors, 10,000 × 5", "irrCAC", close(1e-9), None),
    "ppi": ("prediction-powered mean with error, 1,000 labels, 100,000 without", "ppi-python", close(1e-3), None),
    "betting": ("betting confidence sequence, 1,000 looks, 1,000 points", "confseq", close(1e-9), None),
    "judgy": ("corrected pass rate, 20,000 resamples", "judgy", close(4e-3), None),
    "bca": ("BCa interval of a mean, n = 500, 9,999 resamples", "scipy", close(1e-2), None),
    "auc": ("AUC with DeLong's error, n = 100,000", "scikit-learn", close(1e-9), None),
}


def timed(function):
    """Returns what a function gives and its milliseconds; what is fast is repeated for five milliseconds."""
    start = time.perf_counter()
    values = function()
    once = time.perf_counter() - start
    n = int(0.005 / once)
    if n < 1:
        return values, 1e3 * once
    start = time.perf_counter()
    for _ in range(n):
        function()
    return values, 1e3 * (time.perf_counter() - start) / n


class Library:
    """The library's side: a program that takes `task threads` and answers with milliseconds and values."""

    def __init__(self, folder):
        command = ["cargo", "bench", "-q", "-p", "assize-calibration", "--bench", "against_references", "--", str(folder)]
        self.process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ask("ready 1")

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit("the library's program has ended")
        return json.loads(answer)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def use_confseq(folder):
    """Imports confseq's Python modules alone: to be built it needs Boost, and they need none of what is built."""
    np.float_ = np.float64  # as numpy 1 called it
    for absent in ["matplotlib", "matplotlib.pyplot", "multiprocess"]:
        sys.modules[absent] = types.ModuleType(absent)
    sys.path.insert(0, folder)


def version_of(package):
    try:
        return version(package)
    except PackageNotFoundError:
        return "(from its repository)"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--confseq", help="the folder `src` of confseq's repository; without it `betting` is left out")
    parser.add_argument("tasks", nargs="*")
    arguments = parser.parse_args()
    names = arguments.tasks or [name for name in TASKS if name != "betting" or arguments.confseq]
    if arguments.confseq:
        use_confseq(arguments.confseq)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        write_data(folder)
        tasks, library = Tasks(folder), Library(folder)
        for name in names:
            # Imports, and what is compiled or cached at the first call.
            getattr(tasks, name)()
        times = {name: ([], [], []) for name in names}
        notes = {}
        for round_idx in range(arguments.rounds):
            for name in names:
                package, ms = timed(getattr(tasks, name))
                answers = [library.ask(f"{name} {n_threads}") for n_threads in (1, 2)]
                for kept, value in zip(times[name], [ms, *(answer["ms"] for answer in answers)], strict=True):
                    kept.append(value)
                assert answers[0]["values"] == answers[1]["values"], f"{name}: threads change the result"
                notes[name] = TASKS[name][2](package, answers[0]["values"])
            print(f"round {round_idx + 1} of {arguments.rounds}", file=sys.stderr)
        library.close()
    print(f"{os.cpu_count()} cores, {arguments.rounds} rounds; milliseconds as median (least)\n")
    print("| task | package | package | 1 thread | 2 threads | ratio, 1 thread | ratio, 2 threads | results |")
    print("|---|---|---:|---:|---:|---:|---:|---|")
    failed = False
    for name in names:
        task, package, _, least = TASKS[name]
        middle = [statistics.median(kept) for kept in times[name]]
        shown = [f"{m:.3g} ({min(kept):.3g})" if m < 1000 else f"{m:,.0f} ({min(kept):,.0f})" for m, kept in zip(middle, times[name], strict=True)]
        ratios = [statistics.median(p / l for p, l in zip(times[name][0], kept, strict=True)) for kept in times[name][1:]]
        agrees, note = notes[name]
        is_fast = least is None or max(ratios) >= least
        failed |= not agrees or not is_fast
        marks = ("" if agrees else " **DIFFERENT**") + ("" if is_fast else f" **below {least}×**")
        print(f"| {task} | {package} {version_of(package)} | {' | '.join(shown)} | {ratios[0]:,.0f}× | {ratios[1]:,.0f}× | {note}{marks} |")
    sys.exit(failed)


if __name__ == "__main__":
    main()
