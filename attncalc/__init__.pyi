# Written by docs/generate.py from the declarations of the calculations.
from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Literal

from numpy.typing import DTypeLike

from attncalc import calculations as calculations
from attncalc.api.classes import grade as grade
from attncalc.api.models import Model as Model
from attncalc.api.models import load as load
from attncalc.api.quizzes import quiz as quiz
from attncalc.api.scoring import assert_close as assert_close
from attncalc.api.scoring import score as score
from attncalc.common.errors import AttncalcError as AttncalcError
from attncalc.common.errors import DomainError as DomainError
from attncalc.common.errors import ExpressionError as ExpressionError
from attncalc.common.errors import InputError as InputError
from attncalc.common.errors import NoGradient as NoGradient
from attncalc.common.errors import NotExact as NotExact
from attncalc.common.errors import OptionError as OptionError
from attncalc.common.errors import ShapeError as ShapeError
from attncalc.common.errors import TooLarge as TooLarge
from attncalc.common.numerals import Number, Numbers
from attncalc.homework.dumps import compare as compare
from attncalc.record.trace import Step as Step
from attncalc.record.trace import Trace as Trace
from attncalc.record.verdicts import Policy as Policy

__version__: str

def dot(
    a: Numbers,
    b: Numbers,
    *,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """Multiply two vectors entry by entry and add up the products."""

def outer(
    a: Numbers,
    b: Numbers,
    *,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """Multiply every entry of one vector by every entry of another."""

def norm(
    a: Numbers,
    *,
    p: Number | Literal["inf"] = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """The length of a vector."""

def cosine(
    a: Numbers,
    b: Numbers,
    *,
    distance: bool = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """How closely two vectors point in the same direction, whatever their lengths."""

def euclidean(
    a: Numbers,
    b: Numbers,
    *,
    squared: bool = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """The straight-line distance between two points."""

def manhattan(
    a: Numbers,
    b: Numbers,
    *,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """The distance between two points when every move is along an axis."""

def chebyshev(
    a: Numbers,
    b: Numbers,
    *,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """The largest difference between two points along any axis."""

def minkowski(
    a: Numbers,
    b: Numbers,
    *,
    p: Number = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """The family of distances that includes Manhattan (p = 1) and Euclidean (p = 2)."""

def pairwise(
    x: Numbers,
    y: Numbers | None = ...,
    *,
    metric: Literal[
        "cosine-similarity", "cosine", "euclidean", "sqeuclidean", "manhattan", "chebyshev", "minkowski", "dot"
    ] = ...,
    p: Number = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """The similarity or distance between every row of x and every row of y."""

def project(
    a: Numbers,
    onto: Numbers,
    *,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """The shadow of a vector on another vector or on a subspace."""

def mips(
    q: Numbers,
    keys: Numbers,
    *,
    top: int = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """Find the keys with the largest inner product with a query."""

def analogy(
    a: Numbers,
    b: Numbers,
    c: Numbers,
    vocabulary: Numbers,
    *,
    top: int = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """Solve an analogy: the vectors of a vocabulary that are nearest to a − b + c."""

def matmul(
    a: Numbers,
    b: Numbers,
    c: Numbers | None = ...,
    d: Numbers | None = ...,
    e: Numbers | None = ...,
    f: Numbers | None = ...,
    g: Numbers | None = ...,
    h: Numbers | None = ...,
    *,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """Multiply matrices: each row of the left one with each column of the right one."""

def eigen(
    a: Numbers,
    *,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """The directions that a matrix only stretches, and by how much."""

def svd(
    a: Numbers,
    *,
    rank: int | None = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """Any matrix as a rotation, a stretch along the axes, and another rotation."""

def softmax(
    x: Numbers,
    *,
    axis: int = ...,
    temperature: Number = ...,
    log: bool = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """Turn scores into probabilities: positive shares that sum to 1."""

def log_softmax(
    x: Numbers,
    *,
    axis: int = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """The logarithm of the softmax, computed so that nothing overflows or vanishes."""

def cross_entropy(
    logits: Numbers | None = ...,
    target: Numbers | None = ...,
    *,
    probabilities: Numbers | None = ...,
    class_weights: Numbers | None = ...,
    from_probabilities: bool = ...,
    base: int | Literal["e"] = ...,
    reduction: Literal["mean", "sum", "none"] = ...,
    label_smoothing: Number = ...,
    ignore_index: int | None = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """How surprised a model is by the right classes: −log of the probability that it gave them."""

def next_token_loss(
    logits: Numbers,
    targets: Numbers,
    *,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """How surprised a language model is by each next token: the mean of −ln p(token)."""

def perplexity(
    probabilities: Numbers,
    *,
    base: int | Literal["e"] = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """How many equally likely choices a model is left with, on average."""

def expectation(
    values: Numbers,
    probabilities: Numbers | None = ...,
    *,
    sample: bool = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """What a quantity is on average, and how far it strays from that."""

def entropy(
    p: Numbers,
    *,
    base: int | Literal["e"] = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """How uncertain a distribution is: the average surprise of its outcomes."""

def kl(
    p: Numbers,
    q: Numbers,
    *,
    base: int | Literal["e"] = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """How much is lost by using q when p is true: the Kullback–Leibler divergence D(p‖q)."""

def bayes(
    prior: Numbers,
    likelihood: Numbers,
    *,
    observed: int | None = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """How likely each hypothesis is once something has been observed."""

def likelihood(
    observations: Numbers,
    *,
    probabilities: Numbers | None = ...,
    distribution: Literal["bernoulli", "categorical", "normal", "poisson"] = ...,
    p: Number | None = ...,
    mean: Number | None = ...,
    std: Number | None = ...,
    rate: Number | None = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """How likely observations are under a distribution, and which parameters would make them most likely."""

def contrastive_loss(
    a: Numbers,
    b: Numbers,
    *,
    temperature: Number = ...,
    kind: Literal["clip", "infonce"] = ...,
    raw: bool = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """How well each row finds the one that it belongs to among all the others."""

def preference_loss(
    chosen: Numbers | None = ...,
    rejected: Numbers | None = ...,
    ref_chosen: Numbers | None = ...,
    ref_rejected: Numbers | None = ...,
    new: Numbers | None = ...,
    old: Numbers | None = ...,
    ref: Numbers | None = ...,
    advantages: Numbers | None = ...,
    rewards: Numbers | None = ...,
    *,
    kind: Literal["dpo", "ppo", "grpo"] = ...,
    beta: Number | None = ...,
    clip: Number = ...,
    eps: Number = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """What a language model learns from being preferred, or from being rewarded."""

def sampling(
    logits: Numbers,
    previous: Numbers | str | None = ...,
    *,
    temperature: Number = ...,
    top_k: int | None = ...,
    top_p: Number | None = ...,
    min_p: Number | None = ...,
    repetition_penalty: Number = ...,
    greedy: bool = ...,
    seed: int = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """Choose the next token: scores become shares, filters leave some of them, and a random number picks one."""

def speculative(
    target: Numbers,
    draft: Numbers,
    tokens: Numbers | str,
    *,
    from_probabilities: bool = ...,
    temperature: Number = ...,
    seed: int = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """Keep what a small model has drafted, or draw another token, so that the large one's shares stay true."""

def beam(
    transitions: Numbers,
    *,
    beam: int = ...,
    length: int = ...,
    end: int = ...,
    length_penalty: Number | None = ...,
    from_probabilities: bool = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """Search for a likely text: keep the best few beginnings, make each longer by every token, and so on."""

def qkv(
    x: Numbers,
    wq: Numbers | None = ...,
    wk: Numbers | None = ...,
    wv: Numbers | None = ...,
    bq: Numbers | None = ...,
    bk: Numbers | None = ...,
    bv: Numbers | None = ...,
    *,
    context: Numbers | None = ...,
    weights: Mapping[str, Numbers] | str | None = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """Project tokens to queries, keys and values."""

def attention(
    q: Numbers | None = ...,
    k: Numbers | None = ...,
    v: Numbers | None = ...,
    *,
    x: Numbers | None = ...,
    wq: Numbers | None = ...,
    wk: Numbers | None = ...,
    wv: Numbers | None = ...,
    context: Numbers | None = ...,
    mask: Numbers | None = ...,
    bias: Numbers | Literal["alibi"] | None = ...,
    rope_positions: Numbers | None = ...,
    rope_key_positions: Numbers | None = ...,
    causal: bool = ...,
    causal_align: Literal["start", "end"] = ...,
    mask_kind: Literal["keep", "drop", "additive"] | None = ...,
    padding: int | Iterable[int] | None = ...,
    window: int | None = ...,
    scale: Number | Literal["default", "none"] = ...,
    softcap: Number | None = ...,
    kv_heads: int | None = ...,
    mask_before_scale: bool = ...,
    rope: bool = ...,
    rope_base: Number = ...,
    rope_layout: Literal["interleaved", "half"] = ...,
    rope_dims: int | None = ...,
    rope_scaling: Literal["none", "base", "linear", "ntk", "dynamic", "yarn", "longrope", "llama3"] = ...,
    rope_factor: Number | None = ...,
    rope_original_length: int | None = ...,
    rope_length: int | None = ...,
    rope_low_freq_factor: Number | None = ...,
    rope_high_freq_factor: Number | None = ...,
    rope_beta_fast: Number | None = ...,
    rope_beta_slow: Number | None = ...,
    rope_attention_factor: Number | None = ...,
    rope_mscale: Number | None = ...,
    rope_mscale_all_dim: Number | None = ...,
    rope_no_truncate: bool = ...,
    rope_short_factor: Number | Iterable[Number] | None = ...,
    rope_long_factor: Number | Iterable[Number] | None = ...,
    weights: Mapping[str, Numbers] | str | None = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """Each query mixes the values, weighting each by how well its key fits the query."""

def multihead(
    x: Numbers,
    wq: Numbers | None = ...,
    wk: Numbers | None = ...,
    wv: Numbers | None = ...,
    wo: Numbers | None = ...,
    bq: Numbers | None = ...,
    bk: Numbers | None = ...,
    bv: Numbers | None = ...,
    bo: Numbers | None = ...,
    *,
    context: Numbers | None = ...,
    mask: Numbers | None = ...,
    bias: Numbers | Literal["alibi", "t5"] | None = ...,
    rope_positions: Numbers | None = ...,
    rope_key_positions: Numbers | None = ...,
    sinks: Numbers | None = ...,
    bias_table: Numbers | None = ...,
    q_gamma: Numbers | None = ...,
    k_gamma: Numbers | None = ...,
    heads: int = ...,
    causal: bool = ...,
    mask_kind: Literal["keep", "drop", "additive"] | None = ...,
    padding: int | Iterable[int] | None = ...,
    kv_heads: int | None = ...,
    causal_align: Literal["start", "end"] = ...,
    window: int | None = ...,
    scale: Number | Literal["default", "none"] = ...,
    softcap: Number | None = ...,
    mask_before_scale: bool = ...,
    max_distance: int = ...,
    qk_norm: bool = ...,
    qk_norm_over: Literal["head", "all"] = ...,
    rope: bool = ...,
    eps: Number = ...,
    rope_base: Number = ...,
    rope_layout: Literal["interleaved", "half"] = ...,
    rope_dims: int | None = ...,
    rope_scaling: Literal["none", "base", "linear", "ntk", "dynamic", "yarn", "longrope", "llama3"] = ...,
    rope_factor: Number | None = ...,
    rope_original_length: int | None = ...,
    rope_length: int | None = ...,
    rope_low_freq_factor: Number | None = ...,
    rope_high_freq_factor: Number | None = ...,
    rope_beta_fast: Number | None = ...,
    rope_beta_slow: Number | None = ...,
    rope_attention_factor: Number | None = ...,
    rope_mscale: Number | None = ...,
    rope_mscale_all_dim: Number | None = ...,
    rope_no_truncate: bool = ...,
    rope_short_factor: Number | Iterable[Number] | None = ...,
    rope_long_factor: Number | Iterable[Number] | None = ...,
    weights: Mapping[str, Numbers] | str | None = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """Several attention heads side by side, each on its own block of columns."""

def kv_cache(
    q: Numbers | None = ...,
    k: Numbers | None = ...,
    v: Numbers | None = ...,
    *,
    x: Numbers | None = ...,
    wq: Numbers | None = ...,
    wk: Numbers | None = ...,
    wv: Numbers | None = ...,
    scale: Number | Literal["default", "none"] = ...,
    bytes: int = ...,
    weights: Mapping[str, Numbers] | str | None = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """Causal attention one token at a time, keeping the keys and values of past tokens."""

def flash(
    q: Numbers | None = ...,
    k: Numbers | None = ...,
    v: Numbers | None = ...,
    *,
    x: Numbers | None = ...,
    wq: Numbers | None = ...,
    wk: Numbers | None = ...,
    wv: Numbers | None = ...,
    context: Numbers | None = ...,
    mask: Numbers | None = ...,
    block: int | None = ...,
    causal: bool = ...,
    causal_align: Literal["start", "end"] = ...,
    mask_kind: Literal["keep", "drop", "additive"] | None = ...,
    window: int | None = ...,
    scale: Number | Literal["default", "none"] = ...,
    weights: Mapping[str, Numbers] | str | None = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """Attention one block of keys at a time, without ever holding a whole row of scores."""

def concentration(
    *,
    n: int | Iterable[int] = ...,
    trials: int = ...,
    seed: int = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """Random vectors become orthogonal, and their distances alike, as dimensions are added."""

def scaling(
    *,
    dk: int | Iterable[int] = ...,
    sigma: Number = ...,
    trials: int = ...,
    seed: int = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """Why scores are divided by √d_k: what happens to softmax without it."""

def complexity(
    *,
    n: int = ...,
    d_model: int = ...,
    heads: int = ...,
    kv_heads: int | None = ...,
    layers: int = ...,
    d_ffn: int | None = ...,
    vocab: int | None = ...,
    bytes: int = ...,
    flops_per_second: Number = ...,
    bandwidth: Number = ...,
    model: Literal[
        "transformer-base",
        "transformer-big",
        "bert-base",
        "bart-base",
        "gpt2",
        "gpt2-xl",
        "pythia-6.9b",
        "llama-2-7b",
        "llama-2-70b",
        "llama-3-8b",
        "mistral-7b",
        "mixtral-8x7b",
        "qwen2-7b",
        "qwen3-8b",
        "gemma-2b",
        "gemma-2-2b",
        "deepseek-v2-lite",
        "deepseek-v3",
    ]
    | None = ...,
    batch: int = ...,
    training: bool = ...,
    d_k: int | None = ...,
    activation: Literal[
        "relu",
        "leaky-relu",
        "elu",
        "sigmoid",
        "tanh",
        "gelu",
        "gelu-tanh",
        "gelu-sigmoid",
        "silu",
        "softplus",
        "swiglu",
        "geglu",
        "geglu-tanh",
        "reglu",
        "glu",
        "swiglu-clamped",
    ] = ...,
    norm: Literal["layer", "rms"] = ...,
    norm_at: Literal["post", "pre", "both", "sandwich", "after"] | None = ...,
    qk_norm: bool = ...,
    rope: bool = ...,
    biases: Literal["none", "qkv", "output", "feed-forward", "head", "all"]
    | Iterable[Literal["none", "qkv", "output", "feed-forward", "head", "all"]] = ...,
    decoder_layers: int = ...,
    positions: int | None = ...,
    segments: int | None = ...,
    embedding_norm: bool = ...,
    final_norm: bool = ...,
    head: Literal["tied", "own", "pooler"] = ...,
    experts: int | None = ...,
    experts_top: int = ...,
    experts_d_ffn: int | None = ...,
    experts_shared: int | None = ...,
    experts_dense: int = ...,
    latent_width: int | None = ...,
    latent_queries: int | None = ...,
    latent_rope: int = ...,
    latent_d_v: int | None = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """What a transformer costs: operations, parameters, bytes, and whether arithmetic or memory is the bottleneck."""

def latent_attention(
    x: Numbers,
    wuq: Numbers | None = ...,
    wqr: Numbers | None = ...,
    wdkv: Numbers | None = ...,
    wuk: Numbers | None = ...,
    wuv: Numbers | None = ...,
    wkr: Numbers | None = ...,
    wo: Numbers | None = ...,
    *,
    wdq: Numbers | None = ...,
    q_gamma: Numbers | None = ...,
    kv_gamma: Numbers | None = ...,
    mask: Numbers | None = ...,
    rope_positions: Numbers | None = ...,
    heads: int = ...,
    causal: bool = ...,
    mask_kind: Literal["keep", "drop", "additive"] | None = ...,
    padding: int | Iterable[int] | None = ...,
    scale: Number | Literal["default", "none"] = ...,
    eps: Number = ...,
    rope_base: Number = ...,
    rope_layout: Literal["interleaved", "half"] = ...,
    rope_dims: int | None = ...,
    rope_scaling: Literal["none", "base", "linear", "ntk", "dynamic", "yarn", "longrope", "llama3"] = ...,
    rope_factor: Number | None = ...,
    rope_original_length: int | None = ...,
    rope_length: int | None = ...,
    rope_low_freq_factor: Number | None = ...,
    rope_high_freq_factor: Number | None = ...,
    rope_beta_fast: Number | None = ...,
    rope_beta_slow: Number | None = ...,
    rope_attention_factor: Number | None = ...,
    rope_mscale: Number | None = ...,
    rope_mscale_all_dim: Number | None = ...,
    rope_no_truncate: bool = ...,
    rope_short_factor: Number | Iterable[Number] | None = ...,
    rope_long_factor: Number | Iterable[Number] | None = ...,
    bytes: int = ...,
    weights: Mapping[str, Numbers] | str | None = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """Attention whose keys and values come from one narrow vector for each token, the only one that is cached."""

def linear_attention(
    q: Numbers | None = ...,
    k: Numbers | None = ...,
    v: Numbers | None = ...,
    *,
    x: Numbers | None = ...,
    wq: Numbers | None = ...,
    wk: Numbers | None = ...,
    wv: Numbers | None = ...,
    feature: Literal["elu", "none"] = ...,
    unnormalised: bool = ...,
    weights: Mapping[str, Numbers] | str | None = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """Causal attention whose weights are products of features, so that one state stands for all tokens so far."""

def ssm(
    x: Numbers,
    delta: Numbers,
    a: Numbers,
    b: Numbers,
    c: Numbers,
    *,
    skip: Numbers | None = ...,
    a_log: bool = ...,
    delta_softplus: bool = ...,
    discretization: Literal["euler", "zoh"] = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """A selective state space model, Mamba's scan: each token says how much of the state fades and what is written."""

def sinusoidal(
    *,
    n: int | None = ...,
    d: int | None = ...,
    base: Number = ...,
    start: int = ...,
    layout: Literal["interleaved", "concatenated"] = ...,
    properties: bool = ...,
    offset: int = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """Encode each position by sines and cosines of many wavelengths."""

def rope(
    x: Numbers,
    positions: Numbers | None = ...,
    *,
    base: Number = ...,
    layout: Literal["interleaved", "half"] = ...,
    dims: int | None = ...,
    scaling: Literal["none", "base", "linear", "ntk", "dynamic", "yarn", "longrope", "llama3"] = ...,
    factor: Number | None = ...,
    original_length: int | None = ...,
    length: int | None = ...,
    low_freq_factor: Number | None = ...,
    high_freq_factor: Number | None = ...,
    beta_fast: Number | None = ...,
    beta_slow: Number | None = ...,
    attention_factor: Number | None = ...,
    mscale: Number | None = ...,
    mscale_all_dim: Number | None = ...,
    no_truncate: bool = ...,
    truncate: bool = ...,
    short_factor: Number | Iterable[Number] | None = ...,
    long_factor: Number | Iterable[Number] | None = ...,
    inverse: bool = ...,
    properties: bool = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """Rotate pairs of a vector's entries by angles that grow with its position."""

def alibi(
    *,
    heads: int = ...,
    n: int | None = ...,
    m: int | None = ...,
    causal: bool = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """Lower each score in proportion to the distance between its query and key."""

def t5_bias(
    table: Numbers | None = ...,
    *,
    n: int | None = ...,
    m: int | None = ...,
    buckets: int | None = ...,
    max_distance: int = ...,
    causal: bool = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """Sort relative positions into buckets, and look up each head's bias for them."""

def layernorm(
    x: Numbers,
    gamma: Numbers | None = ...,
    beta: Numbers | None = ...,
    *,
    eps: Number = ...,
    norm_offset: Number = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """Give every token mean 0 and variance 1 over its features, then a learned gain and shift."""

def rmsnorm(
    x: Numbers,
    gamma: Numbers | None = ...,
    *,
    eps: Number = ...,
    norm_offset: Number = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """Give every token a root mean square of 1 over its features, then a learned gain."""

def batchnorm(
    x: Numbers,
    gamma: Numbers | None = ...,
    beta: Numbers | None = ...,
    *,
    eps: Number = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """Give every feature mean 0 and variance 1 over the samples of a batch, then a learned gain and shift."""

def groupnorm(
    x: Numbers,
    gamma: Numbers | None = ...,
    beta: Numbers | None = ...,
    *,
    groups: int = ...,
    eps: Number = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """Give every group of channels mean 0 and variance 1 over all its places, then a learned gain and shift."""

def activation(
    x: Numbers,
    *,
    kind: Literal[
        "relu", "leaky-relu", "elu", "sigmoid", "tanh", "gelu", "gelu-tanh", "gelu-sigmoid", "silu", "softplus"
    ] = ...,
    alpha: Number | None = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """Apply a nonlinear function to each number: without one, two layers would be a single matrix."""

def ffn(
    x: Numbers,
    w1: Numbers | None = ...,
    b1: Numbers | None = ...,
    w2: Numbers | None = ...,
    b2: Numbers | None = ...,
    w3: Numbers | None = ...,
    b3: Numbers | None = ...,
    *,
    activation: Literal[
        "relu",
        "leaky-relu",
        "elu",
        "sigmoid",
        "tanh",
        "gelu",
        "gelu-tanh",
        "gelu-sigmoid",
        "silu",
        "softplus",
        "swiglu",
        "geglu",
        "geglu-tanh",
        "reglu",
        "glu",
        "swiglu-clamped",
    ] = ...,
    weights: Mapping[str, Numbers] | str | None = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """Process every token by itself: up to a wider space, a nonlinear function, and back."""

def residual(
    x: Numbers,
    f: Numbers,
    *,
    alpha: Number = ...,
    norm: Literal["none", "post"] = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """Add a sublayer's output to its input."""

def embed(
    tokens: Numbers | str,
    table: Numbers,
    *,
    positions: Numbers | Literal["sinusoidal", "sinusoidal-concatenated", "none"] | None = ...,
    types: Numbers | str | None = ...,
    type_table: Numbers | None = ...,
    scale: bool = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """Look up a vector for every token, and add one for its position."""

def encoder_block(
    x: Numbers,
    *,
    wq: Numbers | None = ...,
    bq: Numbers | None = ...,
    wk: Numbers | None = ...,
    bk: Numbers | None = ...,
    wv: Numbers | None = ...,
    bv: Numbers | None = ...,
    wo: Numbers | None = ...,
    bo: Numbers | None = ...,
    w1: Numbers | None = ...,
    b1: Numbers | None = ...,
    w2: Numbers | None = ...,
    b2: Numbers | None = ...,
    w3: Numbers | None = ...,
    b3: Numbers | None = ...,
    gamma1: Numbers | None = ...,
    beta1: Numbers | None = ...,
    gamma2: Numbers | None = ...,
    beta2: Numbers | None = ...,
    post_gamma1: Numbers | None = ...,
    post_beta1: Numbers | None = ...,
    post_gamma2: Numbers | None = ...,
    post_beta2: Numbers | None = ...,
    q_gamma: Numbers | None = ...,
    q_beta: Numbers | None = ...,
    k_gamma: Numbers | None = ...,
    k_beta: Numbers | None = ...,
    sinks: Numbers | None = ...,
    bias_table: Numbers | None = ...,
    mask: Numbers | None = ...,
    bias: Numbers | Literal["alibi", "t5"] | None = ...,
    rope_positions: Numbers | None = ...,
    rope_key_positions: Numbers | None = ...,
    heads: int = ...,
    norm: Literal["post", "pre", "both", "sandwich", "after", "layer", "rms"] = ...,
    activation: Literal[
        "relu",
        "leaky-relu",
        "elu",
        "sigmoid",
        "tanh",
        "gelu",
        "gelu-tanh",
        "gelu-sigmoid",
        "silu",
        "softplus",
        "swiglu",
        "geglu",
        "geglu-tanh",
        "reglu",
        "glu",
        "swiglu-clamped",
    ] = ...,
    eps: Number = ...,
    causal: bool = ...,
    mask_kind: Literal["keep", "drop", "additive"] | None = ...,
    padding: int | Iterable[int] | None = ...,
    kv_heads: int | None = ...,
    causal_align: Literal["start", "end"] = ...,
    window: int | None = ...,
    scale: Number | Literal["default", "none"] = ...,
    softcap: Number | None = ...,
    mask_before_scale: bool = ...,
    max_distance: int = ...,
    qk_norm: bool = ...,
    qk_norm_over: Literal["head", "all"] = ...,
    rope: bool = ...,
    rope_base: Number = ...,
    rope_layout: Literal["interleaved", "half"] = ...,
    rope_dims: int | None = ...,
    rope_scaling: Literal["none", "base", "linear", "ntk", "dynamic", "yarn", "longrope", "llama3"] = ...,
    rope_factor: Number | None = ...,
    rope_original_length: int | None = ...,
    rope_length: int | None = ...,
    rope_low_freq_factor: Number | None = ...,
    rope_high_freq_factor: Number | None = ...,
    rope_beta_fast: Number | None = ...,
    rope_beta_slow: Number | None = ...,
    rope_attention_factor: Number | None = ...,
    rope_mscale: Number | None = ...,
    rope_mscale_all_dim: Number | None = ...,
    rope_no_truncate: bool = ...,
    rope_short_factor: Number | Iterable[Number] | None = ...,
    rope_long_factor: Number | Iterable[Number] | None = ...,
    norm_at: Literal["post", "pre", "both", "sandwich", "after"] | None = ...,
    norm_offset: Number = ...,
    parallel: bool = ...,
    residual_scale: Number = ...,
    weights: Mapping[str, Numbers] | str | None = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """One layer of an encoder: each token attends to all, then is processed by itself."""

def decoder_block(
    x: Numbers,
    memory: Numbers,
    *,
    wq: Numbers | None = ...,
    bq: Numbers | None = ...,
    wk: Numbers | None = ...,
    bk: Numbers | None = ...,
    wv: Numbers | None = ...,
    bv: Numbers | None = ...,
    wo: Numbers | None = ...,
    bo: Numbers | None = ...,
    cross_wq: Numbers = ...,
    cross_bq: Numbers | None = ...,
    cross_wk: Numbers = ...,
    cross_bk: Numbers | None = ...,
    cross_wv: Numbers = ...,
    cross_bv: Numbers | None = ...,
    cross_wo: Numbers = ...,
    cross_bo: Numbers | None = ...,
    w1: Numbers | None = ...,
    b1: Numbers | None = ...,
    w2: Numbers | None = ...,
    b2: Numbers | None = ...,
    w3: Numbers | None = ...,
    b3: Numbers | None = ...,
    gamma1: Numbers | None = ...,
    beta1: Numbers | None = ...,
    gamma2: Numbers | None = ...,
    beta2: Numbers | None = ...,
    gamma3: Numbers | None = ...,
    beta3: Numbers | None = ...,
    post_gamma1: Numbers | None = ...,
    post_beta1: Numbers | None = ...,
    post_gamma2: Numbers | None = ...,
    post_beta2: Numbers | None = ...,
    post_gamma3: Numbers | None = ...,
    post_beta3: Numbers | None = ...,
    q_gamma: Numbers | None = ...,
    q_beta: Numbers | None = ...,
    k_gamma: Numbers | None = ...,
    k_beta: Numbers | None = ...,
    sinks: Numbers | None = ...,
    bias_table: Numbers | None = ...,
    mask: Numbers | None = ...,
    bias: Numbers | Literal["alibi", "t5"] | None = ...,
    rope_positions: Numbers | None = ...,
    rope_key_positions: Numbers | None = ...,
    memory_mask: Numbers | None = ...,
    heads: int = ...,
    norm: Literal["post", "pre", "both", "sandwich", "after", "layer", "rms"] = ...,
    activation: Literal[
        "relu",
        "leaky-relu",
        "elu",
        "sigmoid",
        "tanh",
        "gelu",
        "gelu-tanh",
        "gelu-sigmoid",
        "silu",
        "softplus",
        "swiglu",
        "geglu",
        "geglu-tanh",
        "reglu",
        "glu",
        "swiglu-clamped",
    ] = ...,
    eps: Number = ...,
    no_causal: bool = ...,
    causal: bool = ...,
    mask_kind: Literal["keep", "drop", "additive"] | None = ...,
    padding: int | Iterable[int] | None = ...,
    memory_mask_kind: Literal["keep", "drop", "additive"] | None = ...,
    memory_padding: int | Iterable[int] | None = ...,
    kv_heads: int | None = ...,
    causal_align: Literal["start", "end"] = ...,
    window: int | None = ...,
    scale: Number | Literal["default", "none"] = ...,
    softcap: Number | None = ...,
    mask_before_scale: bool = ...,
    max_distance: int = ...,
    qk_norm: bool = ...,
    qk_norm_over: Literal["head", "all"] = ...,
    rope: bool = ...,
    rope_base: Number = ...,
    rope_layout: Literal["interleaved", "half"] = ...,
    rope_dims: int | None = ...,
    rope_scaling: Literal["none", "base", "linear", "ntk", "dynamic", "yarn", "longrope", "llama3"] = ...,
    rope_factor: Number | None = ...,
    rope_original_length: int | None = ...,
    rope_length: int | None = ...,
    rope_low_freq_factor: Number | None = ...,
    rope_high_freq_factor: Number | None = ...,
    rope_beta_fast: Number | None = ...,
    rope_beta_slow: Number | None = ...,
    rope_attention_factor: Number | None = ...,
    rope_mscale: Number | None = ...,
    rope_mscale_all_dim: Number | None = ...,
    rope_no_truncate: bool = ...,
    rope_short_factor: Number | Iterable[Number] | None = ...,
    rope_long_factor: Number | Iterable[Number] | None = ...,
    norm_at: Literal["post", "pre", "both", "sandwich", "after"] | None = ...,
    norm_offset: Number = ...,
    parallel: bool = ...,
    residual_scale: Number = ...,
    weights: Mapping[str, Numbers] | str | None = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """One layer of a decoder: attend to the tokens so far, then to the encoder's output, then process each token."""

def decoder_only(
    x: Numbers,
    *,
    wq: Numbers | None = ...,
    bq: Numbers | None = ...,
    wk: Numbers | None = ...,
    bk: Numbers | None = ...,
    wv: Numbers | None = ...,
    bv: Numbers | None = ...,
    wo: Numbers | None = ...,
    bo: Numbers | None = ...,
    w1: Numbers | None = ...,
    b1: Numbers | None = ...,
    w2: Numbers | None = ...,
    b2: Numbers | None = ...,
    w3: Numbers | None = ...,
    b3: Numbers | None = ...,
    gamma1: Numbers | None = ...,
    beta1: Numbers | None = ...,
    gamma2: Numbers | None = ...,
    beta2: Numbers | None = ...,
    post_gamma1: Numbers | None = ...,
    post_beta1: Numbers | None = ...,
    post_gamma2: Numbers | None = ...,
    post_beta2: Numbers | None = ...,
    q_gamma: Numbers | None = ...,
    q_beta: Numbers | None = ...,
    k_gamma: Numbers | None = ...,
    k_beta: Numbers | None = ...,
    sinks: Numbers | None = ...,
    bias_table: Numbers | None = ...,
    mask: Numbers | None = ...,
    bias: Numbers | Literal["alibi", "t5"] | None = ...,
    rope_positions: Numbers | None = ...,
    rope_key_positions: Numbers | None = ...,
    heads: int = ...,
    norm: Literal["post", "pre", "both", "sandwich", "after", "layer", "rms"] = ...,
    activation: Literal[
        "relu",
        "leaky-relu",
        "elu",
        "sigmoid",
        "tanh",
        "gelu",
        "gelu-tanh",
        "gelu-sigmoid",
        "silu",
        "softplus",
        "swiglu",
        "geglu",
        "geglu-tanh",
        "reglu",
        "glu",
        "swiglu-clamped",
    ] = ...,
    eps: Number = ...,
    no_causal: bool = ...,
    causal: bool = ...,
    mask_kind: Literal["keep", "drop", "additive"] | None = ...,
    padding: int | Iterable[int] | None = ...,
    kv_heads: int | None = ...,
    causal_align: Literal["start", "end"] = ...,
    window: int | None = ...,
    scale: Number | Literal["default", "none"] = ...,
    softcap: Number | None = ...,
    mask_before_scale: bool = ...,
    max_distance: int = ...,
    qk_norm: bool = ...,
    qk_norm_over: Literal["head", "all"] = ...,
    rope: bool = ...,
    rope_base: Number = ...,
    rope_layout: Literal["interleaved", "half"] = ...,
    rope_dims: int | None = ...,
    rope_scaling: Literal["none", "base", "linear", "ntk", "dynamic", "yarn", "longrope", "llama3"] = ...,
    rope_factor: Number | None = ...,
    rope_original_length: int | None = ...,
    rope_length: int | None = ...,
    rope_low_freq_factor: Number | None = ...,
    rope_high_freq_factor: Number | None = ...,
    rope_beta_fast: Number | None = ...,
    rope_beta_slow: Number | None = ...,
    rope_attention_factor: Number | None = ...,
    rope_mscale: Number | None = ...,
    rope_mscale_all_dim: Number | None = ...,
    rope_no_truncate: bool = ...,
    rope_short_factor: Number | Iterable[Number] | None = ...,
    rope_long_factor: Number | Iterable[Number] | None = ...,
    norm_at: Literal["post", "pre", "both", "sandwich", "after"] | None = ...,
    norm_offset: Number = ...,
    parallel: bool = ...,
    residual_scale: Number = ...,
    weights: Mapping[str, Numbers] | str | None = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """One layer of a language model of today: attend to the tokens so far, then process each token."""

def transformer(
    source: Numbers | str,
    model: Mapping[str, object] | None = ...,
    target: Numbers | str | None = ...,
    *,
    embedding: Numbers | None = ...,
    positions: Numbers | Literal["sinusoidal", "none"] | None = ...,
    output: Numbers | None = ...,
    output_bias: Numbers | None = ...,
    encoder_norm_gamma: Numbers | None = ...,
    encoder_norm_beta: Numbers | None = ...,
    decoder_norm_gamma: Numbers | None = ...,
    decoder_norm_beta: Numbers | None = ...,
    heads: int = ...,
    norm: Literal["post", "pre", "both", "sandwich", "after", "layer", "rms"] = ...,
    activation: Literal[
        "relu",
        "leaky-relu",
        "elu",
        "sigmoid",
        "tanh",
        "gelu",
        "gelu-tanh",
        "gelu-sigmoid",
        "silu",
        "softplus",
        "swiglu",
        "geglu",
        "geglu-tanh",
        "reglu",
        "glu",
        "swiglu-clamped",
    ] = ...,
    eps: Number = ...,
    kv_heads: int | None = ...,
    causal_align: Literal["start", "end"] = ...,
    window: int | None = ...,
    scale: Number | Literal["default", "none"] = ...,
    softcap: Number | None = ...,
    mask_before_scale: bool = ...,
    max_distance: int = ...,
    qk_norm: bool = ...,
    qk_norm_over: Literal["head", "all"] = ...,
    rope: bool = ...,
    rope_base: Number = ...,
    rope_layout: Literal["interleaved", "half"] = ...,
    rope_dims: int | None = ...,
    rope_scaling: Literal["none", "base", "linear", "ntk", "dynamic", "yarn", "longrope", "llama3"] = ...,
    rope_factor: Number | None = ...,
    rope_original_length: int | None = ...,
    rope_length: int | None = ...,
    rope_low_freq_factor: Number | None = ...,
    rope_high_freq_factor: Number | None = ...,
    rope_beta_fast: Number | None = ...,
    rope_beta_slow: Number | None = ...,
    rope_attention_factor: Number | None = ...,
    rope_mscale: Number | None = ...,
    rope_mscale_all_dim: Number | None = ...,
    rope_no_truncate: bool = ...,
    rope_short_factor: Number | Iterable[Number] | None = ...,
    rope_long_factor: Number | Iterable[Number] | None = ...,
    norm_at: Literal["post", "pre", "both", "sandwich", "after"] | None = ...,
    norm_offset: Number = ...,
    parallel: bool = ...,
    residual_scale: Number = ...,
    bias: Literal["alibi", "t5"] | None = ...,
    scale_embedding: bool = ...,
    generate: int | None = ...,
    start: int | str | None = ...,
    end: int | str | None = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """Read a sentence with a stack of encoder layers, and write another, token by token, with decoder layers."""

def conv(
    x: Numbers,
    kernel: Numbers,
    *,
    stride: int | Iterable[int] = ...,
    padding: int | Iterable[int] = ...,
    dilation: int | Iterable[int] = ...,
    depthwise: bool = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """Slide a small kernel over an input and measure, at every position, how well the two match."""

def rnn(
    x: Numbers,
    wx: Numbers | None = ...,
    wh: Numbers | None = ...,
    b: Numbers | None = ...,
    h0: Numbers | None = ...,
    c0: Numbers | None = ...,
    *,
    kind: Literal["tanh", "gru", "lstm"] = ...,
    weights: Mapping[str, Numbers] | str | None = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """Read a sequence one step at a time, with a state that remembers."""

def patch_embed(
    x: Numbers,
    w: Numbers,
    b: Numbers | None = ...,
    cls: Numbers | None = ...,
    positions: Numbers | None = ...,
    *,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """Cut an image into patches, and make each of them a token."""

def unembed(
    h: Numbers,
    table: Numbers,
    *,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """Turn vectors back into words: how well each fits every row of the embedding table."""

def lora(
    x: Numbers,
    w: Numbers,
    a: Numbers,
    b: Numbers,
    *,
    alpha: Number | None = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """A layer whose weights are frozen, with a trained change of low rank beside it."""

def experts(
    x: Numbers,
    router: Numbers,
    w1: Numbers | None = ...,
    w2: Numbers | None = ...,
    *,
    b1: Numbers | None = ...,
    b2: Numbers | None = ...,
    w3: Numbers | None = ...,
    b3: Numbers | None = ...,
    router_bias: Numbers | None = ...,
    shared_w1: Numbers | None = ...,
    shared_w2: Numbers | None = ...,
    shared_w3: Numbers | None = ...,
    correction: Numbers | None = ...,
    top: int = ...,
    scoring: Literal["softmax", "sigmoid"] = ...,
    no_renormalise: bool = ...,
    renormalise: bool = ...,
    routed_scale: Number = ...,
    groups: int | None = ...,
    top_groups: int = ...,
    group_by: Literal["best", "best-two"] = ...,
    capacity: int | None = ...,
    activation: Literal[
        "relu",
        "leaky-relu",
        "elu",
        "sigmoid",
        "tanh",
        "gelu",
        "gelu-tanh",
        "gelu-sigmoid",
        "silu",
        "softplus",
        "swiglu",
        "geglu",
        "geglu-tanh",
        "reglu",
        "glu",
        "swiglu-clamped",
    ] = ...,
    weights: Mapping[str, Numbers] | str | None = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """Send each token to the few experts that suit it, and mix what they make of it."""

def quantize(
    x: Numbers,
    w: Numbers | None = ...,
    *,
    kind: Literal["int8", "int4", "float8_e4m3fn", "float8_e5m2", "mxfp4"] = ...,
    per: Literal["tensor", "row", "block"] | None = ...,
    block: int = ...,
    zero_point: bool = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """Store numbers in few bits: codes and the scale that they are multiplied by, and what is lost."""

def bpe(
    *,
    corpus: str = ...,
    merges: int = ...,
    encode: str = ...,
    end_of_word: bool = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """Byte-pair encoding: letters that often stand side by side become tokens, the commonest pair first."""

def derivative(
    expression: str,
    *,
    at: Mapping[str, Number] | str | Number | None = ...,
    h: Number | Iterable[Number] = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """How fast a function rises at a point: the limit of the slopes of ever shorter chords."""

def gradient(
    expression: str,
    *,
    at: Mapping[str, Number] | str | Number | None = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """The slope of a function in each of its variables; together they point where it rises fastest."""

def descend(
    expression: str,
    *,
    start: Mapping[str, Number] | str | Number | None = ...,
    lr: Number = ...,
    steps: int = ...,
    optimizer: Literal["gd", "momentum", "nesterov", "adagrad", "rmsprop", "adam", "adamw", "lion"] = ...,
    momentum: Number = ...,
    beta1: Number = ...,
    beta2: Number = ...,
    eps: Number = ...,
    weight_decay: Number = ...,
    flow: bool = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """Walk downhill from a point, step by step, against the gradient."""

def optimizer(
    gradients: Numbers,
    start: Numbers,
    *,
    kind: Literal["gd", "momentum", "nesterov", "adagrad", "rmsprop", "adam", "adamw", "lion", "muon"] = ...,
    lr: Number = ...,
    momentum: Number = ...,
    beta1: Number = ...,
    beta2: Number = ...,
    eps: Number = ...,
    weight_decay: Number = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """Follow given gradients from a point: the moments, corrections and update of every step."""

def schedule(
    *,
    kind: Literal["noam", "cosine", "linear", "constant", "wsd"] = ...,
    d_model: int = ...,
    warmup: int | None = ...,
    lr: Number = ...,
    steps: int | None = ...,
    decay: int | None = ...,
    decay_kind: Literal["cosine", "linear", "1-sqrt"] = ...,
    at: int | Iterable[int] | None = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """The learning rate at every step: first a warm-up, then a decay."""

def linear_regression(
    x: Numbers,
    y: Numbers,
    w: Numbers,
    b: Numbers | None = ...,
    *,
    lr: Number = ...,
    steps: int = ...,
    loss: Literal["mse", "half-mse"] = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """Fit a straight line: predict, measure the error, and move the weights against their gradients."""

def mlp(
    x: Numbers,
    y: Numbers,
    w1: Numbers | None = ...,
    b1: Numbers | None = ...,
    w2: Numbers | None = ...,
    b2: Numbers | None = ...,
    w3: Numbers | None = ...,
    b3: Numbers | None = ...,
    w4: Numbers | None = ...,
    b4: Numbers | None = ...,
    w5: Numbers | None = ...,
    b5: Numbers | None = ...,
    *,
    activation: Literal[
        "relu", "leaky-relu", "elu", "sigmoid", "tanh", "gelu", "gelu-tanh", "gelu-sigmoid", "silu", "softplus"
    ] = ...,
    loss: Literal["mse", "half-mse", "cross-entropy"] = ...,
    lr: Number = ...,
    steps: int = ...,
    weights: Mapping[str, Numbers] | str | None = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """Train a network: forward to the loss, backward to every weight's gradient, then a step against it."""

def model(
    checkpoint: str | PathLike[str],
    tokens: Numbers | str | None = ...,
    targets: Numbers | str | None = ...,
    *,
    decoder_tokens: Numbers | str | None = ...,
    token_types: Numbers | str | None = ...,
    image: Numbers | None = ...,
    kind: Literal["decoder-only", "encoder-decoder", "vision"] = ...,
    heads: int = ...,
    norm: Literal["post", "pre", "both", "sandwich", "after", "layer", "rms"] = ...,
    activation: Literal[
        "relu",
        "leaky-relu",
        "elu",
        "sigmoid",
        "tanh",
        "gelu",
        "gelu-tanh",
        "gelu-sigmoid",
        "silu",
        "softplus",
        "swiglu",
        "geglu",
        "geglu-tanh",
        "reglu",
        "glu",
        "swiglu-clamped",
    ] = ...,
    eps: Number = ...,
    no_causal: bool = ...,
    causal: bool = ...,
    kv_heads: int | None = ...,
    causal_align: Literal["start", "end"] = ...,
    window: int | None = ...,
    scale: Number | Literal["default", "none"] = ...,
    softcap: Number | None = ...,
    mask_before_scale: bool = ...,
    max_distance: int = ...,
    qk_norm: bool = ...,
    qk_norm_over: Literal["head", "all"] = ...,
    rope: bool = ...,
    rope_base: Number = ...,
    rope_layout: Literal["interleaved", "half"] = ...,
    rope_dims: int | None = ...,
    rope_scaling: Literal["none", "base", "linear", "ntk", "dynamic", "yarn", "longrope", "llama3"] = ...,
    rope_factor: Number | None = ...,
    rope_original_length: int | None = ...,
    rope_length: int | None = ...,
    rope_low_freq_factor: Number | None = ...,
    rope_high_freq_factor: Number | None = ...,
    rope_beta_fast: Number | None = ...,
    rope_beta_slow: Number | None = ...,
    rope_attention_factor: Number | None = ...,
    rope_mscale: Number | None = ...,
    rope_mscale_all_dim: Number | None = ...,
    rope_no_truncate: bool = ...,
    rope_short_factor: Number | Iterable[Number] | None = ...,
    rope_long_factor: Number | Iterable[Number] | None = ...,
    norm_at: Literal["post", "pre", "both", "sandwich", "after"] | None = ...,
    norm_offset: Number = ...,
    parallel: bool = ...,
    residual_scale: Number = ...,
    experts_top: int = ...,
    experts_scoring: Literal["softmax", "sigmoid"] = ...,
    experts_no_renormalise: bool = ...,
    experts_routed_scale: Number = ...,
    experts_groups: int | None = ...,
    experts_top_groups: int = ...,
    experts_group_by: Literal["best", "best-two"] = ...,
    bias: Literal["alibi", "t5"] | None = ...,
    positions: Literal["sinusoidal", "sinusoidal-concatenated"] | None = ...,
    scale_embedding: bool = ...,
    scale_logits: bool = ...,
    no_first_norm: bool = ...,
    first_norm: bool = ...,
    window_layers: int | Iterable[int] | None = ...,
    local_rope_base: Number | None = ...,
    final_softcap: Number | None = ...,
    top: int = ...,
    no_head: bool = ...,
    head: bool = ...,
    head_activation: Literal[
        "relu", "leaky-relu", "elu", "sigmoid", "tanh", "gelu", "gelu-tanh", "gelu-sigmoid", "silu", "softplus"
    ]
    | None = ...,
    pad_token: int | None = ...,
    start: int | None = ...,
    generate: int | None = ...,
    dtype: DTypeLike = ...,
    accumulate: Literal["float32", "same"] = ...,
    round_to: int | None = ...,
) -> Trace:
    """Compute a model as it is stored: the logits of every position, the loss, and the likeliest next tokens."""
