"""A made-up campaign with the shape of a real one: simulated mutants, and the report's numbers from them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np

from app.report.document import Document
from app.report.lineage import Excluded, Run, Subject
from app.report.pages.mutate import ARTIFACT, VERSION, Report
from app.report.schema import Schema
from app.scoring import mutant_results, results
from app.scoring.results import SignalCoverage
from app.scoring.survivors import Survivor


class m:  # noqa: N801 - what a report is made of, under one short name
    Interval, Kind, MutantResult = mutant_results.Interval, mutant_results.Kind, mutant_results.MutantResult
    Signal, Signals, NewCauses = mutant_results.Signal, mutant_results.Signals, mutant_results.NewCauses
    Difficulty, Verdict, ClassRecall = (
        mutant_results.Difficulty,
        mutant_results.Verdict,
        mutant_results.ClassRecall,
    )
    SecondarySignals = mutant_results.SecondarySignals
    SignalCoverage, Survivor, Report = SignalCoverage, Survivor, Report
    OperatorScore, LayerScore, TopCase = results.OperatorScore, results.LayerScore, results.TopCase
    ClassScore, Suite, SuiteDifference = results.ClassScore, results.Suite, results.SuiteDifference
    Settings, Original, Cause, Summary = results.Settings, results.Original, results.Cause, results.Summary
    ThresholdSummary, KillMatrix = results.ThresholdSummary, results.KillMatrix
    Run, Subject, Excluded = Run, Subject, Excluded


OPERATORS: dict[str, tuple[m.Kind, tuple[str, ...], float]] = {
    "weight_noise": ("weight", ("sigma",), 0.10),
    "weight_zeroing": ("weight", ("ratio", "strategy"), 0.05),
    "neuron_ablation": ("weight", (), 0.03),
    "layer_freezing": ("weight", (), 0.5),
    "quantization": ("weight", ("mode",), 0.002),
    "activation_replacement": ("module", ("function",), 0.3),
    "mc_dropout": ("stochastic", ("rate",), 0.2),
    "mc_dropblock": ("stochastic", ("rate", "block"), 0.25),
    "input_brightness": ("input", ("factor",), 0.08),
    "input_blur": ("input", ("radius",), 0.25),
    "input_noise": ("input", ("sigma",), 0.15),
    "input_rotation": ("input", ("degrees",), 0.3),
}
GRIDS: dict[str, tuple[Any, ...]] = {
    "sigma": (0.001, 0.005, 0.01, 0.05),
    "ratio": (0.001, 0.01, 0.05, 0.1),
    "strategy": ("random", "largest_magnitude", "smallest_magnitude"),
    "mode": ("fp16", "int8"),
    "function": ("identity", "tanh", "sigmoid"),
    "rate": (0.1, 0.2, 0.3, 0.4, 0.5),
    "block": (1, 5),
    "factor": (0.4, 0.6, 1.6, 2.0),
    "radius": (1, 2, 4, 6),
    "degrees": (5, 10, 20, 30),
}
CLASSES = ("T-shirt", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Boot")
JUDGED = ("killed", "killed_weak", "survived")
THRESHOLDS = {
    "accuracy_drop": 0.02,
    "recall_drop": 0.1,
    "ece_rise": 0.05,
    "autopsy_score_drop": 5.0,
    "new_causes": 1.0,
}


def interval(value: float | None, n: int) -> m.Interval:
    """Some interval around a fraction."""
    if value is None:
        return None
    half = 1.96 * float(np.sqrt(max(value * (1 - value), 0.01) / max(n, 1)))
    return max(0.0, value - half), min(1.0, value + half)


def share(part: int, whole: int) -> float | None:
    """part / whole, None for nothing."""
    return part / whole if whole else None


def mutant(
    name: str, index: int, layers: tuple[str, ...], n: int, rng: np.random.Generator
) -> m.MutantResult:
    """One simulated mutant."""
    kind, names, strength = OPERATORS[name]
    places = [int(rng.integers(len(GRIDS[p]))) for p in names]
    if kind == "stochastic":
        places = [index % len(GRIDS["rate"]), *([index % len(GRIDS["block"])] if len(names) > 1 else [])]
    params = {p: GRIDS[p][i] for p, i in zip(names, places, strict=True)}
    size = (places[0] + 1) / len(GRIDS[names[0]]) if names else float(rng.random())
    target = "(input)" if kind == "input" else layers[int(rng.integers(len(layers)))]
    target = layers[-1] if kind == "stochastic" else target
    effect = float(np.clip(strength * size**2 * rng.lognormal(0, 0.7) - 0.002, -0.004, 0.8))
    invalid = name == "layer_freezing" and rng.random() < 0.08
    kills = 0 if invalid else max(0, round(n * (effect + 0.006)))
    ratio = max(effect, 0.0) / 0.02
    p = float(10 ** -min(ratio * 4, 40))
    fired, equivalent = ratio >= 1, effect < -0.0015 and kind == "weight"
    verdict: m.Verdict = "survived"
    if invalid:
        verdict = "invalid"
    elif equivalent:
        verdict, kills = "equivalent", 0
    elif kind == "stochastic" and index >= len(GRIDS["rate"]) * len(GRIDS["block"]):
        verdict = "duplicate"
    elif p <= 0.03:
        verdict = "killed" if effect >= 0.01 else "killed_weak"
    values = (effect, effect * 2.5 + 0.01, effect * 0.4, effect * 60)
    signal = [m.Signal(v, t, v >= t) for v, t in zip(values, list(THRESHOLDS.values())[:4], strict=True)]
    new = ("class_overlap",) if effect > 0.15 else ()
    distance = max(ratio, values[1] / 0.1)
    return m.MutantResult(
        key=f"{name}-{'-'.join(f'{k}{v}' for k, v in params.items())}-{target}-s{index:04x}".replace(
            "--", "-"
        ),
        operator=name,
        kind=kind,
        params=params,
        target=target,
        seed=int(rng.integers(2**31)),
        repetitions=10 if kind == "stochastic" else 1,
        verdict=verdict,
        decided_by={"invalid": "reason", "equivalent": "shift", "duplicate": "outputs"}.get(
            verdict, "mcnemar"
        ),
        verdict_thresholds="invalid" if invalid else "killed" if fired or values[1] >= 0.1 else "survived",
        trivial=verdict == "killed" and effect > 0.6,
        p_value=None if invalid else p,
        p_adjusted=None if invalid else min(1.0, 1.4 * p),
        effect=None if invalid else effect,
        effect_ci=None if invalid else (effect - 0.009, effect + 0.009 + effect / 20),
        cohens_h=None if invalid else 2.2 * effect,
        accuracy=None if invalid else 0.89 - effect,
        signals=None if invalid else m.Signals(*signal, m.NewCauses(len(new), 1, bool(new), new)),
        difficulty=None
        if invalid
        else m.Difficulty(distance, "easy" if distance >= 1.5 else "medium" if distance >= 0.5 else "hard"),
        kills=kills,
        unchanged=equivalent,
        reason="output holds NaN on 12 test cases"
        if invalid
        else "no output moved"
        if verdict == "equivalent"
        else "same outputs as an earlier mutant"
        if verdict == "duplicate"
        else None,
    )


def count(mutants: list[m.MutantResult], verdict: str) -> int:
    """How many mutants have the verdict."""
    return sum(x.verdict == verdict for x in mutants)


def operator_score(name: str, mutants: list[m.MutantResult], n: int) -> m.OperatorScore:
    """The row of one operator."""
    counts = {
        v: count(mutants, v)
        for v in ("killed", "killed_weak", "survived", "equivalent", "duplicate", "invalid")
    }
    score = share(counts["killed"], counts["killed"] + counts["killed_weak"] + counts["survived"])
    by_thresholds = [x.verdict_thresholds for x in mutants if x.verdict_thresholds != "invalid"]
    return m.OperatorScore(
        operator=name,
        kind=OPERATORS[name][0],
        mutants=len(mutants),
        mutation_score=score,
        mutation_score_ci=interval(score, n // 10),
        mutation_score_thresholds=share(by_thresholds.count("killed"), len(by_thresholds)),
        weak=score is not None and score < 0.5,
        **counts,
    )


def layer_scores(mutants: list[m.MutantResult], layers: tuple[str, ...]) -> tuple[m.LayerScore, ...]:
    """The cells of the heat map."""
    cells = []
    for layer in ("(input)", *layers):
        for name in OPERATORS:
            here = [x for x in mutants if x.target == layer and x.operator == name]
            judged = [x for x in here if x.verdict in JUDGED]
            if here:
                killed = count(here, "killed")
                cells.append(m.LayerScore(layer, name, len(here), killed, share(killed, len(judged))))
    return tuple(cells)


def survivors(mutants: list[m.MutantResult]) -> tuple[m.Survivor, ...]:
    """The survivors, hardest first."""
    rows = []
    for x in mutants:
        if x.verdict == "survived" and x.difficulty is not None:
            d = cast(float, x.difficulty.score)
            near = "near miss" if d >= 0.8 else "far" if d < 0.25 else "middle"
            needed = f"accuracy would have to fall {max(0.02 * (1 - d), 0.001) * 100:.1f} points more"
            rows.append(m.Survivor(x.key, d, cast(Any, near), "recall_drop", needed))
    return tuple(sorted(rows, key=lambda row: cast(float, row.distance)))


def campaign(
    *,
    per_operator: int = 20,
    layers: int = 12,
    n: int = 2000,
    seed: int = 0,
    classes: tuple[str, ...] = CLASSES,
    path: str = "test/{label}/{case:05d}.png",
) -> Report:
    """A whole report; equal arguments give equal reports."""
    rng = np.random.default_rng(seed)
    blocks = [f"features.{i // 3}.{('conv', 'expand', 'project')[i % 3]}" for i in range(max(layers - 1, 0))]
    names = (*blocks, "classifier") if layers else ()
    chosen = [o for o in OPERATORS if layers or OPERATORS[o][0] == "input"] if per_operator else []
    mutants = [mutant(o, i, names, n, rng) for o in chosen for i in range(per_operator)]
    killed, judged = (
        count(mutants, "killed"),
        len(mutants) - count(mutants, "invalid") - count(mutants, "equivalent"),
    )
    score = share(killed, judged)
    killed_t = sum(x.verdict_thresholds == "killed" for x in mutants)
    invalid_t = count(mutants, "invalid")
    score_t = share(killed_t, len(mutants) - invalid_t)
    dead = [x for x in mutants if x.verdict == "killed"]
    top = []
    for i in range(12 if dead else 0):
        case, label = int(rng.integers(n)), classes[int(rng.integers(len(classes)))]
        spot = path.format(label=label, case=case)
        top.append(m.TopCase(case, spot, label, max(1, len(dead) - 7 * i - 30), 4.2 / (i + 1)))
    kinds = sorted({(x.target, x.kind) for x in mutants})
    coverage = tuple(
        m.SignalCoverage(t, k, s, *(int(v) for v in rng.integers(0, 9, 2)), 0, int(rng.integers(0, 2)))
        for t, k in kinds
        for s in THRESHOLDS
    )
    per_class = tuple(
        m.ClassScore(c, n // len(classes), float(rng.uniform(0.62, 0.98)), float(rng.uniform(0.7, 0.98)))
        for c in classes
    )
    suites = tuple(
        m.Suite(name, size, s, interval(s, size // 10), killed - 9 * i)
        for i, (name, size, s) in enumerate(
            [("all", n, score), ("smoke", 200, (score or 0.3) - 0.21), ("corner", 340, 0.6)]
        )
    )
    return Document(
        schema=Schema(ARTIFACT, VERSION),
        run=m.Run(
            id="0f3c9a7be2d1450c8a55d3b1c0f6e9a2",
            parent=None,
            started="2031-05-04T09:12:44+02:00",
            finished="2031-05-04T09:16:02+02:00",
            seconds=198.4,
            command="python -m app +experiment=mutate_fashion seed=0 'operators=[weight_noise,mc_dropout]'",
            store="sqlite:///mlruns/mlflow.db",
            versions={"python": "3.11.7", "torch": "2.14.1", "numpy": "2.4.0"},
        ),
        subject=m.Subject(
            name="lenet@fashion-mnist",
            model="lenet",
            dataset="fashion-mnist",
            model_digest="sha256:9f2b7c41d0e8a6539f2b7c41d0e8a6539f2b7c41d0e8a6539f2b7c41d0e8a653",
            data_digest="sha256:17ac5be0937d42f817ac5be0937d42f817ac5be0937d42f817ac5be0937d42f8",
            n=n,
            classes=classes,
            excluded=(m.Excluded(path.format(label=classes[0], case=17), "truncated after 1,204 bytes"),),
            notes=("Preprocessing was not given: ImageNet's mean and deviation were used.",),
        ),
        settings=m.Settings(
            seed=seed,
            engine="replay",
            q=0.05,
            delta=0.01,
            p0=0.01,
            repetitions=10,
            thresholds=THRESHOLDS,
            config_digest="sha256:51d0",
        ),
        result=results.MutationResult(
            original=m.Original(
                accuracy=0.8905,
                accuracy_ci=(0.8761, 0.9034),
                ece=0.0312,
                autopsy_score=87.4,
                sub_scores={
                    "class_balance": 100.0,
                    "generalization": None,
                    "confusion": 81.2,
                    "confidence_quality": 89.6,
                    "representation": 71.3,
                    "dataset_quality": 99.9,
                    "performance": 89.0,
                },
                causes=(m.Cause("class_overlap", 0.52, {"mean_rate": 0.23}, classes[:2]),),
                per_class=per_class,
            ),
            summary=m.Summary(
                mutants=len(mutants),
                killed=killed,
                killed_weak=count(mutants, "killed_weak"),
                survived=count(mutants, "survived"),
                inconclusive=0,
                equivalent=count(mutants, "equivalent"),
                duplicate=count(mutants, "duplicate"),
                invalid=invalid_t,
                trivial=sum(x.trivial for x in mutants),
                mutation_score=score,
                mutation_score_ci=interval(score, n // 4),
                mutation_score_ci_mutants=interval(score, judged),
            ),
            summary_thresholds=m.ThresholdSummary(
                killed_t, len(mutants) - killed_t - invalid_t, invalid_t, score_t
            ),
            by_operator=tuple(operator_score(o, [x for x in mutants if x.operator == o], n) for o in chosen),
            by_layer=layer_scores(mutants, names),
            mutants=tuple(mutants),
            survivors=survivors(mutants),
            signal_coverage=coverage,
            kill_matrix=m.KillMatrix(
                distinct_kill_sets=int(len(dead) * 0.88),
                dominators=tuple(x.key for x in dead[-9:]),
                minimal_mutation_score=share(7, 9) if dead else None,
                smallest_suite=tuple(int(c) for c in rng.choice(n, 9, replace=False)) if dead else (),
                top_cases=tuple(top),
                never_killed=tuple(x.key for x in mutants if x.kills == 0 and x.verdict != "invalid"),
            ),
            suites=suites if dead else (),
            suite_differences=(m.SuiteDifference("all", "smoke", 0.21, (0.16, 0.27), 0.001),) if dead else (),
        ),
    )


def changed(report: Report, **fields: Any) -> Report:
    """The report with other fields, of the document or of its result."""
    own = {name: fields.pop(name) for name in ("run", "subject", "settings") if name in fields}
    return replace(report, **own, result=replace(report.result, **fields))
