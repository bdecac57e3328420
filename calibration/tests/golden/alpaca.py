"""Golden values of agreement with people, bias and variance: writes alpaca.json beside this file.

alpaca-eval 0.6.6's Analyzer with the zero-one rule, on preferences drawn here. Its ties are broken by chance, ours in parts: votes of
three and of odd numbers have none.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
from alpaca_eval.analyze import Analyzer


def frame(table):
    return pd.DataFrame(
        {
            "instruction": str(item),
            "output_1": f"a{item}",
            "output_2": f"b{item}",
            "preference": float(value),
            "annotator": "x",
            "index": k,
            "annotator_index": k,
            "n_annotated": len(row),
        }
        for item, row in enumerate(table)
        for k, value in enumerate(row)
    )


def main():
    rng = np.random.default_rng(5)
    truth = rng.integers(1, 3, 60)
    drawn = lambda rights: np.array([[t if rng.random() < a else 3 - t for a in rights] for t in truth])
    people, judge = drawn([0.8, 0.75, 0.7, 0.85]), drawn([0.72] * 4)
    analyzer = Analyzer(frame(people), gold_annotations=None, n_annotators=4, scoring_rule="zero_one")
    three = Analyzer(frame(people[:, :3]), gold_annotations=None, n_annotators=3, scoring_rule="zero_one")
    gold = "gold_crossannotations"
    out = {
        "people": people.tolist(),
        "judge": judge.tolist(),
        "people_agreement": analyzer.agreement_of_annotations(gold, annotations_2=None, n_majority_vote_1=1)["score"],
        "agreement_with_people": analyzer.agreement_of_annotations(
            frame(judge), annotations_2=gold, n_majority_vote_1=1, n_majority_vote_2=3
        )["score"],
        "variance_of_draws": analyzer.estimate_variance(frame(judge)),
        "bias_of_three_from_three": three.estimate_bias(frame(judge[:, :3])),
    }
    Path(__file__).with_suffix(".json").write_text(json.dumps(out) + "\n")


if __name__ == "__main__":
    main()
