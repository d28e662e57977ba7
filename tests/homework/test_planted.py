"""Every known mistake, planted where it differs visibly from what is right, is named."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from homework.problems import PROBLEMS
from homework.sheets import answered, finding, written
from numpy.typing import NDArray
from rows import rows

import attncalc as ac
from attncalc.calculations import TABLE
from attncalc.declare.mistake import Mistake, StepKey
from attncalc.homework.diagnosis.key import Key, known
from attncalc.homework.diagnosis.slips import SLIPS, listed
from attncalc.homework.marking.marker import Marker
from attncalc.homework.reading.sheets import spelled
from attncalc.record.verdicts import SOUND

Array = NDArray[Any]

APART = 5e-3
"""By so much an entry must differ for a mistake to be visible."""

# Algebra, whatever the operands are: the frequencies of a model of two heads are those of the exponent i/d; a slope for
# each of a loss's two ends has the same sign; what is not divided is the score itself.
ALIKE = [
    {"rope-theta-dmodel", "rope-exp-i"},
    {"mse-sign", "gd-sign"},
    {"jac-missing", "att-no-softmax"},
    {"datt-dv-p", "att-p-transposed"},
    {"ce-no-minus", "ce-grad-sign"},
    {"ce-no-minus", "ppl-inverse"},
    {"ce-sum", "ppl-exp-sum"},
    {"sm-temp-after", "sm-temp-ignored"},
    {"adam-betas-swapped", "adamw-l2"},
]


FINE = {"gelu-tanh": 1, "sampling-min-p-absolute": 1, "grpo-population": 2, "grpo-no-mean": 2, "grpo-kl-plain": 2}
"""So many decimals more are asked for: one number tells little, the two forms of GELU differ by less than 0.0005, and a
group's loss is near 0."""


class Planted(NamedTuple):
    """A mistake in one of the problems, and the step in which it is planted."""

    problem: int
    number: int
    step: StepKey


@cache
def markers(name: str) -> list[Marker]:
    return [Marker(Key(problem)) for problem in PROBLEMS[name]]


def is_endless(value: Array) -> bool:
    """Whether it has an entry that nobody could write down, as +∞ in a mask leaves, or a row that sees nothing."""
    return bool((np.isnan(value) | (value == np.inf)).any())


def visible(marker: Marker, number: int, step: StepKey) -> bool:
    """Whether a step is another one with a mistake, and can be written down."""
    wrong = marker.key.wrong[number]
    right = marker.key.value(step)
    if right is None or step not in wrong.steps:
        return False
    [value] = marker.key.values([wrong.steps[step]])
    if is_endless(value):
        return False
    if value.shape != right.shape:
        return True
    both = np.isfinite(value) & np.isfinite(right)
    apart = APART / 25 ** FINE.get(wrong.mistakes[0].id, 0)
    return bool((np.isfinite(value) != np.isfinite(right)).any() or (np.abs(value[both] - right[both]) > apart).any())


def places(name: str, mistake: Mistake) -> Iterator[Planted]:
    """Where a mistake can be planted: in the result, else in the first step that it spoils."""
    for i, marker in enumerate(markers(name)):
        for number, found in enumerate(marker.key.wrong):
            if found.mistakes[0] is mistake:
                steps = [marker.key.result, *marker.key.steps]
                yield from (Planted(i, number, step) for step in steps if visible(marker, number, step))


PRIMARY = [name for name in PROBLEMS if not name.endswith(("-block", "-only"))]
ALL = [(name, m) for name in PROBLEMS for m in known(name) if m.kind != "alternative"]
EVERY = [(name, m) for name, m in ALL if not m.alias_of]


WITHOUT = {
    "concentration": "what is drawn is the program's own",
    "scaling": "what is drawn is the program's own",
    "transformer": "hundreds of steps, whose layers have their mistakes in calculations of their own",
}


def test_every_calculation_with_mistakes_has_problems() -> None:
    assert [name for name in TABLE if known(name)] == sorted(PROBLEMS, key=list(TABLE).index)


def test_every_calculation_has_mistakes() -> None:
    assert {name for name in TABLE if all(m.kind == "alternative" for m in known(name))} == WITHOUT.keys()


@pytest.mark.thorough
@rows("id", sorted({m.id for name, m in ALL}))
def test_every_mistake_applies_somewhere(id: str) -> None:
    assert any(marker.key.solutions.by(m) is not None for name, m in ALL if m.id == id for marker in markers(name)), (
        "no problem brings it out"
    )


@pytest.mark.spread
@pytest.mark.parametrize("decimals", [3, pytest.param(4, marks=pytest.mark.thorough)])
@rows(("name", "mistake"), EVERY, ids=[f"{name} {m.id}" for name, m in EVERY], by=lambda name, mistake: name)
def test_is_named_where_it_is_planted(name: str, mistake: Mistake, decimals: int) -> None:
    decimals += FINE.get(mistake.id, 0)
    for place in places(name, mistake):
        marker = markers(name)[place.problem]
        [value] = marker.key.values([marker.key.wrong[place.number].steps[place.step]])
        found = finding(marker, place.step, written(value, decimals))
        if found.verdict == "right":
            continue  # a value that an alternative gives there too
        assert found.verdict == "mistake", f"{spelled(place.step)}: {found.hint}"
        named = {*found.mistakes, *found.also}
        assert mistake.id in named
        return
    if name in PRIMARY:
        wrong = [(marker, one) for marker in markers(name) for one in marker.key.wrong if one.mistakes[0] is mistake]
        left = [marker.key.values([*one.steps.values()]) for marker, one in wrong]
        assert all(any(map(is_endless, values)) for values in left), "nothing shows it"
        assert not [*places(name, mistake)], "what shows it is right by an alternative"


@pytest.mark.parametrize("problem", range(len(PROBLEMS["attention"])))
def test_a_mistake_that_leaves_no_number_somewhere_is_named(problem: int) -> None:
    marker = markers("attention")[problem]
    for wrong in marker.key.wrong:
        value = marker.key.value(marker.key.result, wrong)
        if value is not None and np.isnan(value).any() and not np.isnan(value).all():
            found = finding(marker, marker.key.result, written(value, 3))
            assert wrong.mistakes[0].id in (*found.mistakes, *found.also), found.hint


@pytest.mark.thorough
@pytest.mark.parametrize("answer", ["0.09,0.00,0.00", "0.08,0,0"])
def test_what_rounding_moves_far_is_not_right_where_a_mistake_may_be_behind_it(answer: str) -> None:
    """Without the shift, and to two decimals, the sum's share would be 0.00, which is what a mistake leaves out."""
    found = ac.softmax([1, 2, 3]).grad([1, 0, 0]).check(answer.split(","))
    assert (found.verdict, found.steps[0].verdict) == ("wrong", "unexplained")
    assert "too few digits" in str(found.steps[0].hint)


def finite(value: Array) -> bool:
    return not (np.isnan(value).any() or (value == np.inf).any())


@pytest.mark.spread
@pytest.mark.parametrize("count", [1, pytest.param(4, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("name", [name for name in PRIMARY if name != "multihead"])
def test_is_named_where_it_begins_and_carried_on_from_there(name: str, count: int) -> None:
    """Every step of a sheet along a mistake, on the first few problems: the first that is wrong tells which."""
    for marker in markers(name)[:count]:
        for number, wrong in enumerate(marker.key.wrong):
            [mistake] = wrong.mistakes
            if wrong.alternatives or not any(visible(marker, number, step) for step in marker.key.steps):
                continue
            there = [step for step in marker.key.steps if step in wrong.steps]
            values = zip(there, marker.key.values([wrong.steps[step] for step in there]), strict=True)
            decimals = 3 + FINE.get(mistake.id, 0)
            marked = answered(marker, {step: written(value, decimals) for step, value in values if finite(value)})
            first = next((s.finding for s in marked.steps if s.finding.verdict not in SOUND), None)
            if first is not None or marked.steps[-1].name == spelled(marker.key.result):
                assert first, mistake.id
                assert mistake.id in (*first.mistakes, *first.also), first


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "alias"), [(n, m) for n, m in ALL if m.alias_of], ids=[m.id for _, m in ALL if m.alias_of]
)
def test_an_alias_gives_what_its_mistake_gives(name: str, alias: Mistake) -> None:
    target = next(m for m in known(name) if m.id == alias.alias_of)
    for marker in markers(name):
        wrong = [marker.key.solutions.by(m) for m in (alias, target)]
        values = [None if one is None else marker.key.values([one.steps[marker.key.result]])[0] for one in wrong]
        assert (values[0] is None) == (values[1] is None)
        if values[0] is not None and values[1] is not None:
            np.testing.assert_allclose(values[0], values[1], rtol=1e-12)


@pytest.mark.spread
@pytest.mark.thorough
@pytest.mark.parametrize("name", [name for name in PRIMARY if any(m.kind == "alternative" for m in known(name))])
def test_one_mistake_on_another_route_is_not_two_on_the_usual_one(name: str) -> None:
    """A mask after the softmax, by who masks before the scaling, leaves no scaling out."""
    for key in (marker.key for marker in markers(name)):
        usual = [wrong for wrong in key.wrong if not wrong.alternatives]
        single = [key.value(key.result, wrong) for wrong in usual]
        for other in (wrong for wrong in key.wrong if wrong.alternatives):
            [mistake], value = other.mistakes, key.value(key.result, other)
            if value is None or not finite(value) or mistake.id == "ppl-no-exp" or is_among(value, single):
                continue  # the mean of log₂ p is one mistake of who works with bits
            both = (key.solutions.by(mistake, *wrong.mistakes) for wrong in usual if wrong.mistakes[0] is not mistake)
            assert not is_among(value, [key.value(key.result, two) for two in both if two]), [r.id for r in other.rules]


def is_among(value: Array, others: list[Array | None]) -> bool:
    return any(x is not None and x.shape == value.shape and np.allclose(x, value) for x in others)


@pytest.mark.release
@rows("name", PRIMARY)
def test_no_two_mistakes_are_the_same_on_all_problems(name: str) -> None:
    """Two that no step of any problem tells apart are aliases, and are to be declared so."""
    together: dict[tuple[str, str], bool] = {}
    for marker in markers(name):
        wrong = marker.key.wrong
        for i, first in enumerate(wrong):
            for second in wrong[:i]:
                a, b = (solution.mistakes[0].id for solution in (first, second))
                if a != b:
                    pair = (min(a, b), max(a, b))
                    together[pair] = together.get(pair, True) and first.steps == second.steps
    same = [{*pair} for pair, alike in together.items() if alike]
    assert [pair for pair in same if pair not in ALIKE] == []


def test_a_network_has_the_mistakes_of_its_own_loss() -> None:
    for marker in markers("mlp"):
        families = {m.id.partition("-")[0] for solution in marker.key.wrong for m in solution.mistakes}
        by_entropy = marker.key.problem.options.get("loss") == "cross-entropy"
        assert ("ce" in families, "mse" in families) == (by_entropy, not by_entropy)


def test_ids_are_spelled_in_letters_digits_and_dashes() -> None:
    for row in listed():
        assert row["id"].replace("-", "").isalnum(), row["id"]
        assert row["hint"], row["id"]
        assert row["says"], row["id"]
        assert row["kind"] in ("misconception", "convention", "slip")


CATALOGUE = """
    att-no-scale att-scale-dk att-scale-dmodel att-scale-dv att-scale-n att-scale-multiplied att-scale-after
    att-softmax-cols att-softmax-all att-linear-norm att-exp-unnormalised att-no-softmax att-softmax-twice
    att-exp-zero-is-0 att-k-not-transposed att-qk-swapped att-q-for-k att-scores-negated att-p-transposed att-k-for-v
    att-kv-swapped

    mask-missing mask-after-softmax mask-fill-zero mask-additive-01 mask-plus-inf mask-strict mask-transposed
    mask-inverted mask-offset mask-query-rows mask-causal-align mask-added mask-minus-one

    mh-split-reshape mh-split-strided mh-merge-reshape mh-concat-reversed mh-concat-interleaved mh-mean mh-sum
    mh-scale-dmodel mh-no-wo mh-wo-transposed mh-shared-projection mh-softmax-over-heads mh-merge-weights mh-params-3d2

    pe-exp-double pe-odd-own-index pe-exp-half pe-base-1000 pe-concat pe-timescales-minus-1 pe-div-half pe-precedence
    pe-pow-inverted pe-int-division pe-pos-from-1 pe-swap pe-degrees pe-sines-alone
    pe-concat-to-embedding emb-scale-missing
    emb-scale-divided emb-types-missing emb-types-all-first

    rope-half-split rope-mixed-layout rope-theta-dmodel rope-exp-i rope-positive-exp rope-theta-from-1 rope-inverse
    rope-pos-from-1 rope-wrong-base rope-q-only rope-k-only rope-on-v rope-added rope-degrees
    rope-same-theta

    alibi-slope-h0 alibi-nonpow2 alibi-2-pow-minus-h alibi-plus alibi-scaled-too alibi-no-slope alibi-signed-bidir
    alibi-after-softmax position-bias-missing t5-scaled t5-sign t5-bidir t5-log-bucket

    ln-axis0 ln-global ln-ddof1 ln-eps-outside ln-sqrt-std ln-div-variance ln-squared ln-no-affine ln-no-beta
    ln-gamma-beta-swapped ln-affine-first ln-no-center ln-wrong-eps ln-mean-size rms-var rms-l2 rms-eps-outside
    rms-sqrt-rms
    rms-multiplied rms-wrong-eps dln-statistics-fixed dln-mean-fixed dln-divisor-fixed dln-mean-of-rows dln-no-gamma
    dln-gamma-of-x

    block-pre-for-post block-pre-for-after qk-norm-of-each-head block-residual-from-normed block-no-residual

    gelu-tanh gelu-cdf-only gelu-no-sqrt2 gelu-pdf gelu-no-half gelu-tanh-no-cubic gelu-sigmoid gelu-silu gelu-relu
    silu-relu tanh-sigmoid tanh-relu sigmoid-relu

    sm-temp-multiply sm-temp-after sm-temp-twice sm-temp-ignored sm-no-exp sm-base2 sm-base10 sm-neg sm-sigmoid
    sm-argmax sm-max-numerator-only sm-exp-zero-is-0

    ce-softmax-twice ce-no-minus ce-sum ce-mean-all ce-log2 ce-log10 ce-swapped ce-logit ce-binary-all ce-log-of-mean
    ce-axis0 ce-mean-classes ce-from-1 ce-all-classes ce-no-log
    ppl-2pow-nats ppl-exp-bits ppl-exp-sum ppl-mean-of-exp ppl-no-exp ppl-inverse ppl-T-minus-1

    jac-diag-only jac-missing jac-p-only jac-plus jac-columns ce-grad-sign ce-grad-again ce-grad-no-target
    ce-grad-no-softmax
    datt-dv-p datt-no-scale
    datt-scale-dk datt-dk-untransposed datt-dq-transposed datt-swapped datt-wrong-partner

    mse-no-2 mse-no-mean mse-mean-all mse-sign mse-x-untransposed bp-updated-w2 bp-deriv-at-activation bp-z-one-minus-z
    bp-another-slope bp-no-deriv bp-deriv-only
    bp-output-deriv-missing bp-output-deriv-extra bp-w2-untransposed bp-dw2-uses-z
    bp-bias-mean bp-bias-missing gd-sign gd-f-for-fprime gd-no-2 gd-off-by-one gd-frozen gd-no-lr

    adam-no-bias adam-bias-no-power adam-t-from-0 adam-t-plus-1 adam-eps-inside adam-eps-hat adam-no-sqrt adam-v-abs
    lion-l2 lion-no-sign lion-new-momentum lion-betas-swapped
    muon-no-nesterov muon-not-normalised muon-cubic muon-no-scale
    adam-betas-swapped adam-m-no-1mb adamw-l2 adamw-decay-no-lr noam-step0 noam-max noam-w05 noam-dplus noam-no-d
    schedule-from-0 schedule-warmup-longer schedule-down-from-0 wsd-share-of-all wsd-stays

    cos-distance cos-no-sqrt cos-double-root cos-same-norm cos-sum-norms cos-one-norm cos-l1 cos-abs cos-angle
    cos-dot-normalised euc-squared euc-manhattan euc-sum-first euc-norm-diff euc-plus euc-mean euc-max dot-not-summed
    outer-for-inner matmul-elementwise matmul-order-ba norm-no-root norm-not-squared norm-sum-first norm-max
    norm-mean norm-euclidean norm-square-root norm-no-abs man-no-abs man-sum-first man-squared man-euclidean
    man-norm-diff man-plus man-mean man-max cheb-euclidean cheb-manhattan cheb-no-abs cheb-norm-diff cheb-plus
    mink-euclidean mink-manhattan mink-max mink-mean mink-no-abs mink-no-root mink-plus mink-square-root

    diff-chain-no-inner diff-chain-nested diff-product-each diff-quotient-each diff-quotient-order
    diff-quotient-no-square diff-power-not-lowered diff-power-no-factor diff-exp-as-power diff-sine-sign
    diff-constant-kept diff-f-for-fprime diff-chord diff-not-divided diff-h-outside diff-downhill

    outer-swapped outer-elementwise inner-for-outer proj-length-once proj-not-divided proj-other-square proj-swapped
    proj-scalar proj-residual proj-no-gram proj-columns-apart mips-nearest ana-inputs-kept ana-reversed ana-exchanged
    ana-distance rank-smallest-first rank-from-1 svd-not-rooted svd-v-not-transposed svd-u-v-swapped
    svd-error-not-rooted svd-error-spectral eigen-trace-sign eigen-determinant-plus eigen-diagonal eigen-not-halved

    lsm-no-log lsm-not-shifted-back lsm-log-each lik-no-log lik-sum lik-log-of-sum lik-mean lik-negative
    lik-zeros-missing lik-std-as-variance lik-no-height lik-no-half lik-no-factorial

    window-off-by-one window-missing window-not-causal softcap-missing softcap-after-mask cache-stale
    cache-positions-reset rope-q-offset gqa-tiled heads-permuted layout-bnhd fused-qkv-order conv1d-transposed

    rope-missing qk-norm-missing sink-missing norm-plus-one-missing norm-layer-for-rms bias-missing gate-up-swapped
    experts-not-renormalised experts-softmax-before-topk experts-softmax-after-topk experts-all experts-no-gates
    experts-shared-missing experts-scale-missing experts-capacity-ignored
    mla-scale-dk mla-no-position mla-latent-norm-missing mla-bytes-all-heads mla-bytes-latent-alone
    linear-attention-not-divided linear-attention-own-key linear-attention-all-keys linear-attention-sum-without-query
    linear-attention-no-state linear-attention-no-feature linear-attention-elu-alone
    ssm-zoh-for-euler ssm-euler-for-zoh ssm-a-log-positive ssm-a-ignored ssm-a-not-loaded ssm-a-log-twice ssm-a-log-as-a
    ssm-no-softplus ssm-input-late
    ssm-read-before ssm-no-state ssm-no-decay ssm-decay-linear ssm-added-without-delta ssm-no-skip
    gate-missing gate-plus-one-missing gate-not-clamped gelu-exact-for-tanh block-not-parallel residual-scale-missing

    qkv-exchanged qkv-context-ignored qkv-context-queries kv-cache-unused kv-keys-prepended kv-bytes-keys-alone
    kv-bytes-numbers kv-bytes-one-token flash-block-offset flash-no-rescale flash-rescale-inverted flash-not-carried
    flash-block-softmax flash-block-maximum

    linear-bias-missing linear-weights-transposed ffn-no-activation pe-missing unembed-not-transposed unembed-scaled
    unembed-no-softmax conv-flipped conv-no-padding conv-padding-added conv-stride-ignored conv-dilation-ignored
    conv-kernel-transposed conv-channels-apart rnn-no-state rnn-no-tanh rnn-sigmoid-for-tanh rnn-tanh-of-input
    rnn-sigmoid-for-content rnn-gate-order lstm-gates-swapped gru-update-swapped gru-reset-before

    var-ddof var-is-std var-mean-abs var-no-center var-sum var-sign bayes-inverted bayes-no-evidence bayes-ignore-prior
    bayes-spec-for-fpr bayes-comp bayes-evidence-no-complement

    sampling-temperature-multiplied sampling-temperature-ignored sampling-not-renormalised sampling-top-p-too-early
    sampling-min-p-absolute
    sampling-penalty-divided
    speculative-no-residual speculative-residual-turned speculative-residual-absolute speculative-not-renormalised
    speculative-ratio-inverted speculative-kept-by-target speculative-not-cut speculative-draft-uncooled
    speculative-kept-behind speculative-first-alone speculative-one-row-on
    quantize-not-scaled-back quantize-scale-multiplied quantize-truncated quantize-half-away quantize-one-code-more
    quantize-signed-range quantize-mx-divided-first quantize-mx-divided-and-up quantize-mx-rounded-up
    quantize-mx-ceiling quantize-mx-code-forgotten quantize-mx-no-power quantize-range-without-0
    quantize-zero-point-kept quantize-zero-point-sign quantize-per-tensor quantize-scale-of-x-alone
    lora-no-scale lora-alpha-alone lora-root lora-no-base lora-merged-twice
    clip-one-way clip-not-normalised clip-temperature-multiplied clip-no-temperature clip-sum
    dpo-no-reference dpo-no-beta dpo-swapped dpo-sum ppo-no-clip ppo-clip-only ppo-max ppo-log-ratio
    grpo-no-deviation grpo-population grpo-no-mean grpo-kl-plain preference-sign

    cost-cache-all-heads cost-gate-missing cost-tied-head-twice cost-one-product cost-backward-once

    beam-no-log beam-past-end beam-no-penalty beam-penalty-multiplied beam-end-not-counted
    bpe-leftmost-first bpe-counted-once bpe-words-once

    conv-depthwise-summed gn-one-group patch-columns patch-no-bias patch-class-last patch-no-positions
    patch-kernel-transposed rms-no-gain

    slip-one-entry slip-transposed-answer slip-rows-permuted slip-sign slip-decimal-point slip-percent
    slip-one-row-only slip-copied-input slip-complement slip-final-rounding
    slip-columns-permuted slip-entries-swapped slip-row-copied slip-part-only half-overflow norm-no-upcast
"""
"""The ids, which stand in reports and in other people's scripts, and are not to change."""


def test_the_ids_are_those_of_the_catalogue() -> None:
    assert sorted({row["id"] for row in listed()}) == sorted(CATALOGUE.split())


def test_slips_are_listed_once_for_every_calculation() -> None:
    assert [row["id"] for row in listed() if row["kind"] == "slip"] == [slip.id for slip in SLIPS]


def test_a_mistake_on_the_usual_route_is_not_looked_for_on_others() -> None:
    """Queries scaled first and a division after the softmax would give these numbers too, by two things at once."""
    of = ac.attention([[1, 0, 1], [0, 1, 1]], [[1, 1, 0], [1, 0, 1]], [[2, 0, 1], [1, 1, 0]])
    step = of.check([[1.269, 0.731, 0.269], [1.5, 0.5, 0.5]])["output"]
    assert (step.mistake, step.finding.also) == ("att-no-scale", ())


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        pytest.param([4, 10, 18], "dot-not-summed", id="the products"),
        pytest.param([[4, 5, 6], [8, 10, 12], [12, 15, 18]], "outer-for-inner", id="the outer product"),
        pytest.param([4, 10, 19], None, id="numbers from nowhere"),
    ],
)
def test_whole_numbers_of_another_shape_tell_a_mistake(answer: list[Any], mistake: str | None) -> None:
    assert ac.dot([1, 2, 3], [4, 5, 6]).check(answer)["dot"].mistake == mistake


ROWS: dict[str, Any] = {"q": [[1, 0], [0, 1], [1, 1]], "k": [[1, 2], [0, 1], [1, 0]], "v": [[1, 2], [3, 4], [5, 6]]}
COUNTS: dict[str, Any] = {"observations": [1, 3, 2], "distribution": "poisson", "rate": 2}
KEYS: dict[str, Any] = {"q": [1, 2, -1], "keys": [[2, 1, 0], [3, 9, 8], [1, 1, -2], [6, 0, 1], [2, 3, 0]]}
STATES: dict[str, Any] = {"x": [[1, -0.5], [0.4, 0.8]], "wx": [[0.5, -1], [0.3, 0.8]], "wh": [[0.2, 1], [-0.7, 0.4]]}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "given", "answer", "mistake"),
    [
        pytest.param("project", {"a": [1, 2], "onto": [3, 1]}, ["4.743", "1.581"], "proj-length-once", id="5/√10·b"),
        pytest.param("project", {"a": [1, 2], "onto": [3, 1]}, "0.5000", "proj-scalar", id="5/10 alone"),
        pytest.param("svd", {"a": [[3, 1], [1, 2]]}, ["13.090", "1.910"], "svd-not-rooted", id="of AᵀA"),
        pytest.param("likelihood", {"observations": [1, 0, 1], "p": 0.7}, "0.1470", "lik-no-log", id="0.7·0.3·0.7"),
        pytest.param("kv-cache", ROWS, [["1.000", "2.000"]] * 3, "mask-causal-align", id="the first value each time"),
        pytest.param(
            "kv-cache",
            ROWS,
            [["1.000", "2.000"], ["3.000", "4.000"], ["5.000", "6.000"]],
            "kv-cache-unused",
            id="the own value",
        ),
        pytest.param(
            "conv",
            {"x": [1, 2, 3.5, 4, 5, 7], "kernel": [1, 0, -1.5]},
            ["2.00", "1.00", "-0.25", "1.00"],
            "conv-flipped",
            id="turned round",
        ),
        pytest.param("likelihood", COUNTS, "-1.8411", "lik-no-factorial", id="ln 64 − 6"),
        pytest.param("likelihood", COUNTS | {"observations": [0, 1, 3]}, "-5.5000", None, id="counts from nowhere"),
        pytest.param("mips", KEYS | {"top": 2}, ["2", "5"], "rank-from-1", id="two places counted from 1"),
        pytest.param("mips", KEYS | {"top": 2}, ["2", "4"], None, id="two other places"),
        pytest.param("mips", KEYS | {"top": 1}, ["2"], None, id="one place, which says too little"),
        pytest.param("rnn", STATES, ["0.4136", "0.2355"], "rnn-no-state", id="tanh(0.44), tanh(0.24)"),
    ],
)
def test_what_is_worked_out_by_hand_along_a_mistake_is_told(
    name: str, given: dict[str, Any], answer: Any, mistake: str | None
) -> None:
    solved = getattr(ac, name.replace("-", "_"))(**given)
    assert solved.check(answer).steps[-1].mistake == mistake


NUMERATOR = {
    "scaled": ["0.750", "0.250", "0.750"],
    "shifted": ["0.000", "-0.500", "0.000"],
    "exponentials": ["1.000", "0.607", "1.000"],
    "sum": "5.518",  # of e^scaled, which would be right beside exponentials of e^scaled
    "softmax": ["0.181", "0.110", "0.181"],
}
FULL = ["scaled right", "shifted right", "exponentials right", "sum sm-max-numerator-only", "softmax follows"]


@pytest.mark.parametrize(
    ("steps", "told"),
    [
        pytest.param("scaled shifted exponentials sum softmax", FULL, id="every step"),
        pytest.param("scaled shifted exponentials sum", FULL[:4], id="up to the sum"),
        pytest.param("exponentials sum", FULL[2:4], id="the sum of the exponentials beside it"),
        pytest.param("sum softmax", ["sum right", "softmax sm-max-numerator-only"], id="nothing before the sum"),
        pytest.param("sum", ["sum right"], id="the sum alone"),
    ],
)
def test_a_step_that_only_another_route_makes_right_is_wrong_where_nobody_has_gone_it(
    steps: str, told: list[str]
) -> None:
    marked = ac.softmax([1.5, 0.5, 1.5], temperature=2).check({name: NUMERATOR[name] for name in steps.split()})
    assert [f"{step.name} {step.mistake or step.verdict}" for step in marked.steps] == told
