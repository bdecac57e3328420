"""Pictures of the pages beside the measures."""

from math import comb

from chart import Picture, picture


DUCK = [
    0.6356,
    0.6852,
    0.7131,
    0.7308,
    0.7427,
    0.7508,
    0.7564,
    0.7602,
    0.7627,
    0.7642,
    0.7648,
    0.7648,
    0.7643,
    0.7635,
    0.7624,
    0.7611,
    0.7598,
    0.7583,
    0.7569,
    0.7593,
]


@picture
def votes():
    ks = list(range(1, 40, 2))
    p = DUCK[0]
    apart = [sum(comb(k, n) * p**n * (1 - p) ** (k - n) for n in range(k // 2 + 1, k + 1)) for k in ks]
    q = Picture("A crowd and its ducks: votes of k help less than independent errors would let them")
    q.curves(
        [str(k) if k in (1, 5, 9, 19, 29, 39) else "" for k in ks],
        [("if independent", apart, "n"), ("the crowd", DUCK, "a")],
        0.5,
        1,
        "votes k",
    )
    return q


@picture
def anchors():
    p = Picture("GPT-4 on LLMBar, worked examples in the prompt: change in accuracy")
    p.dots(
        [
            ("none → one", 0.0046, -0.017, 0.0262, "a"),
            ("none → two", -0.0199, -0.0449, 0.0051, "a"),
            ("one → two", -0.0245, -0.0403, -0.0088, "b"),
        ],
        -0.06,
        0.06,
        0,
    )
    return p


@picture
def intervals():
    p = Picture("0 of 10 texts, and 17 of 20: four intervals")
    p.dots(
        [
            ("0/10 Clopper–Pearson", 0, 0, 0.3085, "a"),
            ("0/10 Wilson", 0, 0, 0.2775, "n"),
            ("0/10 Jeffreys", 0, 0, 0.2172, "n"),
            ("0/10 Agresti–Coull", 0, 0, 0.3209, "n"),
            ("17/20 Clopper–Pearson", 0.85, 0.6211, 0.9679, "a"),
            ("17/20 Wilson", 0.85, 0.6396, 0.9476, "n"),
            ("17/20 Jeffreys", 0.85, 0.6514, 0.9559, "n"),
            ("17/20 Agresti–Coull", 0.85, 0.6312, 0.9561, "n"),
        ]
    )
    return p
