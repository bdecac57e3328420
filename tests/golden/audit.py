"""Figures of public recordings at full precision, by public packages: python3 audit.py > audit.json

Reads data/*.csv.gz and the recordings of ../../examples. See README.md for the packages' versions.
"""
import csv
import gzip
import itertools
import json
import math
from collections import defaultdict
from pathlib import Path

import krippendorff
import numpy as np
import pandas as pd
import pingouin
from irrCAC.raw import CAC
from scipy import stats
from sklearn.metrics import cohen_kappa_score, roc_auc_score
from statsmodels.stats.inter_rater import fleiss_kappa

HERE = Path(__file__).parent
EXAMPLES = HERE.parent.parent / "examples"


def table(name):
    path = HERE / "data" / f"{name}.csv.gz"
    with gzip.open(path, "rt", newline="") as file:
        return list(csv.DictReader(file))


def example(path):
    with open(EXAMPLES / path, newline="") as file:
        return list(csv.DictReader(file))


def pair_flip(draws):
    n = len(draws)
    return 1 - sum(draws.count(v) * (draws.count(v) - 1) for v in set(draws)) / (n * (n - 1))


def reward_bench():
    rows = example("rewardbench2/scores.csv")
    draws = [[float(r[f"s{i}"]) for i in range(1, 9) if r[f"s{i}"] != ""] for r in rows]
    repeated = [d for d in draws if len(d) > 1]
    out = {}
    matrix = np.full((8, len(rows)), np.nan)
    for unit, r in enumerate(rows):
        for i in range(8):
            if r[f"s{i + 1}"] != "":
                matrix[i, unit] = float(r[f"s{i + 1}"])
    out["alpha_interval"] = krippendorff.alpha(matrix, level_of_measurement="interval")
    out["alpha_ordinal"] = krippendorff.alpha(matrix, level_of_measurement="ordinal")
    out["within_item_sd"] = math.sqrt(sum((len(d) - 1) * np.var(d, ddof=1) for d in repeated) / sum(len(d) - 1 for d in repeated))
    out["flip_rate"] = float(np.mean([pair_flip(d) for d in repeated]))
    out["mean_abs_difference"] = float(np.mean([np.mean([abs(a - b) for a, b in itertools.combinations(d, 2)]) for d in repeated]))
    for k in (2, 3, 5, 8):
        spans = []
        for d in repeated:
            if len(d) >= k:
                spans.append(np.mean([max(s) - min(s) > 1 + 1e-9 for s in itertools.combinations(d, k)]))
        out[f"moved_over_one_point_{k}"] = float(np.mean(spans))
    complete = [d for d in draws if len(d) == 8]
    long = pd.DataFrame([(u, i, x) for u, d in enumerate(complete[:400]) for i, x in enumerate(d)], columns=["unit", "draw", "score"])
    icc = pingouin.intraclass_corr(data=long, targets="unit", raters="draw", ratings="score").set_index("Type")["ICC"]
    out["icc_single_of_the_first_400_complete"] = float(icc[[t for t in icc.index if t in ("ICC1", "ICC(1,1)")][0]])
    out["icc_mean_of_the_first_400_complete"] = float(icc[[t for t in icc.index if t in ("ICC1k", "ICC(1,k)")][0]])
    # Each item weighs the same; its draws share its weight.
    labels = np.concatenate([[int(r["gold"])] * len(d) for r, d in zip(rows, draws)])
    weights = np.concatenate([[1 / len(d)] * len(d) for d in draws if d])
    out["auc"] = roc_auc_score(labels, np.concatenate(draws), sample_weight=weights)
    # The right answer of its group has the highest mean of k draws, over all k-subsets of each response.
    groups = defaultdict(list)
    for r, d in zip(rows, draws):
        groups[r["row"]].append((int(r["gold"]), d))
    for k in (1, 8):
        split = wrong = tied = n = 0
        for members in groups.values():
            gold = [d for g, d in members if g == 1]
            if len(gold) != 1 or any(len(d) < 8 for _, d in members):
                continue
            n += 1
            sums = [np.array([sum(s) for s in itertools.combinations(d, k)]) for d in gold + [d for g, d in members if g == 0]]
            combos = np.array(list(itertools.product(*sums))) if k == 1 else np.array([[s[0] for s in sums]])
            top = combos.max(axis=1)
            at_top = (combos == top[:, None]).sum(axis=1)
            right = combos[:, 0] == top
            split += np.mean(right / at_top)
            wrong += np.mean(right & (at_top == 1))
            tied += np.mean(right & (at_top > 1))
        out[f"voting_{k}"] = {"n": n, "split": split / n, "ties_wrong": wrong / n, "ties_dropped": wrong / (n - tied)}
    return out


def position_bias():
    rows = example("position-bias/verdicts.csv")
    out = {}
    for judge in sorted({r["judge"] for r in rows}):
        cells = defaultdict(lambda: [None] * 3)
        for r in rows:
            if r["judge"] == judge:
                cells[r["question_id"], r["first_model"], r["second_model"]][int(r["rep"]) - 1] = r["verdict"].replace("N", "") or None
        codes = {"A": 0, "B": 1, "C": 2}
        matrix = np.array([[np.nan if v is None else codes[v] for v in draws] for draws in cells.values()]).T
        excess, swap, direction = [], [], []
        for (question, a, b), draws in cells.items():
            if a > b:
                continue
            name = lambda v, first, second: {"A": first, "B": second, "C": "tie"}[v]
            ab = [name(v, "a", "b") for v in draws if v]
            ba = [name(v, "b", "a") for v in cells[question, b, a] if v]
            if not ab or not ba:
                continue
            same = np.mean([x == y for x in ab for y in ba])
            swap.append(same)
            if len(ab) > 1 and len(ba) > 1:
                excess.append(1 - same - (pair_flip(ab) + pair_flip(ba)) / 2)
                share = lambda draws, v: draws.count(v) / len(draws)
                direction.append((share(ab, "a") - share(ba, "a") + share(ba, "b") - share(ab, "b")) / 2)
        mean, se = np.mean(excess), stats.sem(excess)
        half = stats.t.ppf(0.975, len(excess) - 1) * se
        out[judge] = {
            "alpha_by_place_chosen": krippendorff.alpha(matrix, level_of_measurement="nominal"),
            "swap_consistency": float(np.mean(swap)),
            "position_direction": float(np.mean(direction)),
            "position_excess": [float(mean), float(mean - half), float(mean + half)],
        }
    return out


def llmbar():
    rows = [r for r in table("llmbar_verdicts") if r["judge"] == "GPT-4"]
    out = {"kappa": {}}
    for strategy in ("Vanilla", "Vanilla_1shot", "Vanilla_2shot"):
        natural = [r for r in rows if r["strategy"] == strategy and r["subset"] == "Natural"]
        label = [r["label"] for r in natural]
        orders = [[r[c] for r in natural] for c in ("winner_order1", "winner_order2_swapped")]
        out["kappa"][strategy] = [cohen_kappa_score(label, order) for order in orders]
        out["kappa"][f"{strategy}_agreement_of_orders"] = cohen_kappa_score(*orders)
    accuracy = {}
    for strategy in ("Vanilla", "Vanilla_1shot", "Vanilla_2shot"):
        mine = [r for r in rows if r["strategy"] == strategy]
        accuracy[strategy] = {(r["subset"], r["item"]): np.mean([r[c] == r["label"] for c in ("winner_order1", "winner_order2_swapped")]) for r in mine}
    out["accuracy"] = {s: float(np.mean(list(a.values()))) for s, a in accuracy.items()}
    for a, b in (("Vanilla", "Vanilla_1shot"), ("Vanilla", "Vanilla_2shot"), ("Vanilla_1shot", "Vanilla_2shot")):
        shared = sorted(set(accuracy[a]) & set(accuracy[b]))
        d = np.array([accuracy[b][i] - accuracy[a][i] for i in shared])
        half = stats.t.ppf(0.975, len(d) - 1) * stats.sem(d)
        out[f"{a}-{b}"] = {"n": len(d), "difference": float(d.mean()), "low": float(d.mean() - half), "high": float(d.mean() + half), "p": float(stats.ttest_1samp(d, 0).pvalue)}
    return out


def ice_score():
    rows = [r for r in table("icescore_humaneval") if r["lang"] == "python"]
    out = {}
    for judge in ("gpt35_noref", "gpt35_withref"):
        label = np.array([int(r["execution"]) for r in rows])
        score = np.array([float(r[judge]) for r in rows])
        accepts = score >= 4
        wrong = label == 0
        groups = defaultdict(list)
        for r, a, w in zip(rows, accepts, wrong):
            if w:
                groups[r["task_id"]].append(float(a))
        p = np.mean(accepts[wrong])
        residual = np.array([sum(x - p for x in g) for g in groups.values()])
        m, n = len(groups), wrong.sum()
        variance = m / (m - 1) * (residual**2).sum() / n**2
        out[judge] = {
            "auc": roc_auc_score(label, score),
            "kendall": stats.kendalltau(score, label).statistic,
            "spearman": stats.spearmanr(score, label).statistic,
            "false_accept_rate_at_4": float(p),
            "false_accept_rate_at_4_variance": float(variance),
            "design_effect": float(variance / (p * (1 - p) / (n - 1))),
        }
        # Korn and Graubard's interval.
        n_eff = min(n, p * (1 - p) / variance * (stats.t.ppf(0.975, n - 1) / stats.t.ppf(0.975, m - 1)) ** 2)
        x = p * n_eff
        out[judge]["korn_graubard"] = [stats.beta.ppf(0.025, x, n_eff - x + 1), stats.beta.ppf(0.975, x + 1, n_eff - x)]
    return out


def conala():
    rows = table("conala_grades")
    people = np.array([[float(r[f"grader{i}"]) if r[f"grader{i}"] else np.nan for r in rows] for i in range(1, 17)])
    mean = np.nanmean(people, axis=0)
    out = {f"alpha_{level}": krippendorff.alpha(people, level_of_measurement=level) for level in ("interval", "ordinal", "nominal")}
    for judge in [c for c in rows[0] if c.startswith("conala_")]:
        score = np.array([float(r[judge]) if r[judge] else np.nan for r in rows])
        ok = ~np.isnan(score)
        out[judge] = {
            "spearman": stats.spearmanr(score[ok], mean[ok]).statistic,
            "kendall": stats.kendalltau(score[ok], mean[ok]).statistic,
            "pearson": stats.pearsonr(score[ok], mean[ok]).statistic,
            "mean_error": float(np.mean(score[ok] - mean[ok])),
            "mean_absolute_error": float(np.mean(np.abs(score[ok] - mean[ok]))),
        }
    return out


def xstest():
    rows = example("xstest/verdicts.csv")
    out = {}
    for model in sorted({r["answer_model"] for r in rows}):
        mine = [r for r in rows if r["answer_model"] == model]
        binary = lambda column: [r[column] == "1_full_compliance" for r in mine]
        frame = pd.DataFrame({"label": binary("final_label"), "gpt4": binary("gpt4_label")}).astype(int)
        out[model] = {
            "kappa": cohen_kappa_score(binary("final_label"), binary("gpt4_label")),
            "ac1": CAC(frame, digits=15).gwet()["est"]["coefficient_value"],
            "alpha_with_labels": krippendorff.alpha(frame.T.to_numpy(), level_of_measurement="nominal"),
            "kappa_of_people": cohen_kappa_score([r["annotation_1"] for r in mine], [r["annotation_2"] for r in mine]),
            "kappa_of_judges": cohen_kappa_score(binary("gpt4_label"), binary("strmatch_label")),
        }
    return out


def peer_rank():
    votes = defaultdict(list)
    for r in table("prd_vicuna80_verdicts"):
        if r["judge"] == "human":
            votes[r["question_id"], r["first_model"], r["second_model"]].append("12T".index(r["verdict"]))
    counts = np.array([[v.count(c) for c in range(3)] for v in votes.values() if len(v) == 3])
    value_counts = np.array([[v.count(c) for c in range(3)] for v in votes.values()])
    return {
        "fleiss_kappa": fleiss_kappa(counts),
        "alpha_nominal": krippendorff.alpha(value_counts=value_counts, level_of_measurement="nominal"),
        "percent_agreement": float(np.mean(((counts**2).sum(axis=1) - 3) / 6)),
    }


def alpaca():
    rows = table("alpacaeval_preferences")
    by = defaultdict(dict)
    for r in rows:
        by[r["judge_config"]][r["i"]] = float(r["preference"])
    word = lambda p: "a" if p < 1.5 else "b" if p > 1.5 else "tie"
    one, two = [by[j] for j in ("weighted_alpaca_eval_gpt4_turbo", "alpaca_eval_cot_gpt4_turbo_fn")]
    return {
        "win_rate": float(np.mean([p - 1 for p in one.values()])),
        "standard_error": float(stats.sem([p - 1 for p in one.values()])),
        "kappa": cohen_kappa_score([word(one[i]) for i in one], [word(two[i]) for i in one]),
    }


def plain(value):
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value.item() if isinstance(value, np.generic) else value


figures = {f.__name__: f() for f in (reward_bench, position_bias, llmbar, ice_score, conala, xstest, peer_rank, alpaca)}
print(json.dumps(plain(figures), indent=1))
