"""The numbers that each kind of report has, by key, out of its plain JSON; what an older version lacks is None."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from app.comparison.body import Body, at, block, count, ends, number, rows
from app.measures import PARTS, Value, known
from app.measures import value as measured

RISKS = ("NONE", "INFO", "LOW", "REVIEW", "HIGH", "CRITICAL")
"""Risks of contamination, the worst last."""
_AUTOPSY = ("accuracy", "macro_f1", "weighted_f1", "autopsy_score", "ece")
"""What stands for an autopsy."""
_PARTIAL_SCORE = "Autopsy score, of the sub-scores that a mutation run knows"
"""It has neither training data nor pictures, so that its score is not that of an autopsy."""
_WAITING = "it still waits for labels and has no estimate"
"""Why labelling for real has no numbers yet."""


def _reading(
    key: str,
    value: Any,
    ci: Any = None,
    n: Any = None,
    *,
    headline: bool = False,
    reason: str = "",
    title: str = "",
) -> Value:
    return measured(
        key,
        number(value),
        ends(ci),
        count(n),
        headline=headline,
        reason=reason or "the report has no such number",
        title=title,
    )


def _sub_scores(body: Any, reasons: Any = None) -> Iterator[Value]:
    for name, value in block(body).items():
        yield _reading(f"sub_score/{name}", value, reason=str(at(reasons, name) or "not applicable"))


def _autopsy(body: Body) -> Iterator[Value]:
    summary, metrics = block(body, "summary"), block(body, "metrics")
    n = summary.get("n")
    for name in filter(known, dict.fromkeys((*_AUTOPSY, *metrics))):
        value, ci = at(metrics, name, "value"), at(metrics, name, "ci")
        if name not in metrics:
            value, ci = summary.get(name), summary.get(f"{name}_ci")
        yield _reading(name, value, ci, n, headline=name in _AUTOPSY)
    yield from _sub_scores(body.get("sub_scores"), body.get("not_applicable"))
    if isinstance(body.get("findings"), list):
        yield _reading("findings", len(body["findings"]))
    yield from _classes(rows(body, "per_class"), "recall", "precision", "f1")
    yield _reading("label_noise", at(body, "label_noise", "share"))
    if body.get("training"):
        yield _reading(
            "training_accuracy", at(body, "training", "accuracy"), at(body, "training", "accuracy_ci")
        )
    if body.get("leakage"):
        yield _reading("leaked_exact", at(body, "leakage", "exact"))
    yield _reading("test_cases", n)


def _classes(classes: Sequence[Body], *names: str) -> Iterator[Value]:
    for name in names:
        for each in classes:
            n = each.get("support", each.get("truth"))
            value, ci = each.get(name), each.get(f"{name}_ci")
            if isinstance(value, Mapping):
                value, ci = at(value, "value"), at(value, "ci")
            yield _reading(f"{name}/{each.get('name')}", value, ci, n, reason="not defined for this class")


def _mutate(body: Body) -> Iterator[Value]:
    summary, original = block(body, "summary"), block(body, "original")
    counted = ("killed", "killed_weak", "survived", "inconclusive")
    judged = sum(count(summary.get(name)) or 0 for name in counted)
    score, n = summary.get("mutation_score"), at(body, "subject", "n")
    yield _reading("mutation_score", score, summary.get("mutation_score_ci"), judged, headline=True)
    yield _reading("accuracy", original.get("accuracy"), original.get("accuracy_ci"), n, headline=True)
    yield _reading("autopsy_score", original.get("autopsy_score"), n=n, title=_PARTIAL_SCORE)
    yield _reading("ece", original.get("ece"), n=n)
    yield _reading("mutation_score_thresholds", at(body, "summary_thresholds", "mutation_score"))
    yield _reading("minimal_mutation_score", at(body, "kill_matrix", "minimal_mutation_score"))
    for name in ("mutants", "killed", "killed_weak", "survived"):
        yield _reading(name, summary.get(name))
    yield from _sub_scores(original.get("sub_scores"))
    for each in rows(body, "by_operator"):
        key, ci = f"mutation_score/{each.get('operator')}", each.get("mutation_score_ci")
        yield _reading(
            key, each.get("mutation_score"), ci, each.get("mutants"), reason="no mutant could be judged"
        )
    yield from _classes(rows(original, "per_class"), "recall", "precision")
    yield _reading("test_cases", n)


def _uamt(body: Body) -> Iterator[Value]:
    summary, images = block(body, "summary"), at(body, "counts", "images")
    for score in ("img_ms", "obj_ms"):
        for kind in ("mg", "miss", "ghost"):
            ci = at(summary, f"{score}_ci", kind)
            key = f"{score}_{kind}"
            yield _reading(key, at(summary, score, kind), ci, images, headline=kind == "mg")
    yield _reading("ms_iou", summary.get("ms_iou"), summary.get("ms_iou_ci"), images, headline=True)
    for kind in ("match", "miss", "ghost"):
        for name, value in block(summary, "ua", kind).items():
            if known(f"ua_{kind}_{name}"):
                yield _reading(f"ua_{kind}_{name}", value, reason="not defined")
    yield _reading("mutants", summary.get("mutants"))
    yield _reading("killed", at(summary, "killed", "mg"))
    operators = [each for each in rows(body, "by_operator") if each.get("rate") is each.get("block") is None]
    several = len({str(each.get("model")) for each in operators}) > 1
    for each in operators:
        name = f"{each.get('model')}/{each.get('operator')}" if several else f"{each.get('operator')}"
        yield _reading(f"img_ms_mg/{name}", at(each, "img_ms", "mg"), n=each.get("mutants"))
        yield _reading(f"obj_ms_mg/{name}", at(each, "obj_ms", "mg"), n=each.get("mutants"))
        yield _reading(f"ms_iou/{name}", each.get("ms_iou"), n=each.get("mutants"))
    yield _reading("images", images)


def _estimate(body: Body) -> Iterator[Value]:
    found, results = rows(body, "estimates"), rows(body, "results")
    populations = rows(body, "populations")
    several = len(populations) > 1
    name = body.get("example") or at(found, 0, "estimator")
    labelled = at(body, "settings", "use") == "labelling"
    for population in populations:
        subject = str(population.get("name"))
        ending = f"/{subject}" if several else ""
        mine = [each for each in found if each.get("subject") == subject and each.get("estimator") == name]
        last = max(mine, key=lambda each: number(each.get("budget")) or 0.0, default={})
        if not labelled:
            key, title = f"accuracy{ending}", f"True accuracy{f', {subject}' if several else ''}"
            truth = population.get("accuracy")
            yield _reading(key, truth, n=population.get("n"), headline=True, title=title)
        if labelled or last:
            yield _reading(
                f"estimated_accuracy{ending}",
                last.get("value"),
                last.get("interval") or last.get("always_valid"),
                last.get("cost"),
                headline=labelled or not several,
                reason=_WAITING if labelled else "",
                title="" if labelled else _one_run(results, subject if several else ""),
            )
        if labelled and not several:
            yield _reading("labels", last.get("cost"), reason=_WAITING)
            yield _reading("failures", last.get("failures"), reason=_WAITING)
    for each in results:
        key = _estimator_key(each, several)
        n = each.get("repetitions")
        yield _reading(f"rmse_ratio_srs/{key}", each.get("rmse_ratio_srs"), n=n)
        yield _reading(f"failures_mean/{key}", each.get("failures_mean"), n=n)
        yield _reading(
            f"coverage/{key}", each.get("coverage"), n=n, reason="the estimator has no honest interval"
        )
    for each in found:
        key = f"estimated_accuracy/{_estimator_key(each, several)}"
        yield _reading(key, each.get("value"), each.get("interval"), each.get("cost"))


def _one_run(results: Sequence[Body], subject: str) -> str:
    """What the estimate of an evaluation is called: of many repetitions the report has the first with its interval."""
    repetitions = max((count(each.get("repetitions")) or 1 for each in results), default=1)
    title = f"Estimated accuracy{f', {subject}' if subject else ''}"
    return f"{title}, first of {repetitions:,} runs" if repetitions > 1 else title


def _estimator_key(row: Body, several: bool) -> str:
    key = f"{row.get('estimator')}/{row.get('budget')}"
    return f"{row.get('subject')}/{key}" if several else key


def _contaminate(body: Body) -> Iterator[Value]:
    summary = block(body, "summary")
    risk = summary.get("overall_risk")
    yield _reading("risk", RISKS.index(risk) if risk in RISKS else None, headline=True)
    parts = [number(summary.get(name)) for name in ("exact_across", "confirmed_across")]
    copies = None if parts[0] is None or parts[1] is None else parts[0] + parts[1]
    yield _reading("copies_across", copies, headline=True)
    for name in ("exact_across", "confirmed_across", "drop"):
        yield _reading(name, summary.get(name), headline=True)
    for name in (
        "exact_within",
        "confirmed_within",
        "near_across",
        "near_within",
        "exact_labels_differ",
        "review",
        "clusters",
    ):
        yield _reading(name, summary.get(name))
    for each in rows(body, "exposure"):
        yield _reading(f"share_sure/{each.get('split')}", each.get("share_sure"), n=each.get("n"))
    for each in rows(body, "quality"):
        yield _reading(f"share_faulty/{each.get('split')}", each.get("share_faulty"), n=each.get("n"))
    yield _reading("pictures", at(body, "subject", "n"))


def _detect_eval(body: Body) -> Iterator[Value]:
    summary, images = block(body, "summary"), at(body, "summary", "images")
    for name, headline in {"mean_ap": True, "recall": True, "precision": True}.items():
        value, ci = at(summary, name, "value"), at(summary, name, "ci")
        yield _reading(name, value, ci, images, headline=headline)
    yield _reading("ece", summary.get("ece"), headline=True)
    yield _reading("f1", summary.get("f1"))
    for name, value in block(summary, "coco").items():
        key = "coco_" + name
        if known(key):
            yield _reading(key, value, n=images, headline=name in {"ap", "ap50"}, reason="not defined")
    yield from _classes(rows(body, "classes"), "ap", "coco_ap", "recall", "precision")
    for each in rows(body, "errors"):
        yield _reading(f"error/{each.get('kind')}", each.get("operating"))
    yield _reading("suspects", summary.get("suspects"))
    yield _reading("images", images)


def _checkup(body: Body) -> Iterator[Value]:
    for part in PARTS:
        if at(body, "parts", part) is None:
            continue
        for key, value in block(body, "parts", part, "summary").items():
            if not known(key):
                continue
            if (part, key) == ("mutate", "accuracy") and at(body, "parts", "autopsy", "summary", key):
                continue  # the same model on the same test cases
            shown = value if isinstance(value, Mapping) else {"value": value}
            if shown.get("value") is None or number(shown["value"]) is not None:
                yield _reading(
                    f"{part}/{key}", shown.get("value"), shown.get("ci"), shown.get("n"), headline=True
                )


READERS: Mapping[str, Callable[[Body], Iterator[Value]]] = {
    "assay.mutate": _mutate,
    "assay.uamt": _uamt,
    "assay.autopsy": _autopsy,
    "assay.estimate": _estimate,
    "assay.contaminate": _contaminate,
    "assay.detect_eval": _detect_eval,
    "assay.checkup": _checkup,
}
"""By artifact."""
