"""Mistakes of counting what a transformer costs: matrices forgotten or counted twice, heads that are shared."""

from __future__ import annotations

from collections.abc import Callable

from attncalc.calculations.complexity import EMBEDDING, PARTS
from attncalc.calculations.layers import GATED
from attncalc.declare.mistake import Mistake, NotThere, Scope, chosen, parts, wrong
from attncalc.language.graph import Node, as_node, named_size, rewrite
from attncalc.language.ops import listed, total


def _in(part: str, change: Callable[[Scope, Node], Node]) -> Callable[[Scope], Node]:
    """Another count in one of the parts."""

    def written(s: Scope) -> Node:
        counts = dict(zip(PARTS, parts(s.this, "listed"), strict=False))
        if part not in counts:
            raise NotThere(part)
        return listed([*(counts | {part: change(s, counts[part])}).values()], s.this.names[-1])

    return written


def _without_output_projection(s: Scope, count: Node) -> Node:
    told = s.options
    width = told["heads"] * (told["latent_d_v"] or told["d_k"] or told["d_model"] // told["heads"])
    return count - as_node((told["layers"] + 2 * told["decoder_layers"]) * width * told["d_model"])


def _head_too(s: Scope, count: Node) -> Node:
    if s.options["head"] != "tied":
        raise NotThere("a tied head")
    return count + named_size("V", s.options["vocab"]) * named_size("d_model", s.options["d_model"])


def _all_heads(s: Scope) -> Node:
    heads = named_size("h", s.options["heads"])
    [cached] = rewrite([s.this], lambda n: heads if n.op == "size" and n.args["axis"].name == "g" else None)
    return cached


MISTAKES: dict[str, tuple[Mistake, ...]] = {
    "complexity": (
        wrong(
            "mh-params-3d2",
            "parameters",
            _in("projections", _without_output_projection),
            says="3·d_model² for the projections: W_O forgotten",
            hint="Have you counted every matrix in the picture?",
        ),
        # LLM-Viewer's issue 12, torchtune's issue 38, vllm's pull request 29736
        wrong(
            "cost-cache-all-heads",
            "kv_cache_bytes",
            _all_heads,
            says="the keys and values of every query head",
            hint="How many heads have keys of their own?",
        ),
        # vllm-fit's issue 8, Megatron-DeepSpeed's pull request 283
        wrong(
            "cost-gate-missing",
            options=chosen(activation=GATED),
            says="two matrices in a gated network",
            hint="Which matrix makes the gate?",
        ),
        # Megatron-DeepSpeed's issue 99
        wrong(
            "cost-tied-head-twice",
            "parameters",
            _in(EMBEDDING, _head_too),
            says="a table that serves input and output counted twice",
            hint="How often is a matrix stored that is used at both ends?",
        ),
        # torchtitan's pull request 4366
        wrong(
            "cost-one-product",
            "flops",
            _in("mixing", lambda s, count: as_node(0)),
            says="the product with the values forgotten",
            hint="What are the weights multiplied with, once they are known?",
        ),
        # DeepBench's issue 48, and nns' issue 9, which asks why it is not so
        wrong(
            "cost-backward-once",
            "backward_flops",
            lambda s: total(s.flops),
            says="Σ flops",
            hint="With respect to what does a product have gradients?",
        ),
    ),
}
"""Calculation → its mistakes."""
