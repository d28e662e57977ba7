"""What JSON holds of records, key by key: the document of a trace, and the reports on a sheet and on a class."""

from __future__ import annotations

from typing import NotRequired, TypeAlias, TypedDict

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
"""Numbers: nested lists of them; text where JSON has no number, `"-Infinity"`, `"√3/3"`; complex ones `re`, `im`."""


class CheckDocument(TypedDict):
    """Central differences beside a gradient."""

    agrees: bool
    max_error: Json
    numeric: Json


class StepDocument(TypedDict):
    """A step: its value, or of a large one a summary."""

    name: str
    group: NotRequired[str]
    gradient_of: NotRequired[str]
    formula: str
    latex: str
    axes: list[str]
    shape: list[int]
    labels: NotRequired[dict[str, list[str]]]
    summary: NotRequired[dict[str, Json]]  # the range, and the corner
    value: NotRequired[Json]
    exact: NotRequired[Json]
    exact_latex: NotRequired[Json]
    names: NotRequired[Json]  # what integer entries stand for
    why: str
    check: NotRequired[CheckDocument]
    drift: NotRequired[Json]
    about: NotRequired[list[str]]


class CellDocument(TypedDict):
    """The arithmetic of an entry."""

    step: str
    at: list[int]
    formula: str
    arithmetic: str
    value: str
    unrounded: NotRequired[float]  # in float32, before it was rounded to the narrow type of a run


class PitfallDocument(TypedDict):
    """A mistake that is warned of."""

    id: str
    says: str
    hint: str
    at: list[str]


class LessonDocument(TypedDict):
    """What is explained of the whole."""

    about: list[str]
    laws: list[str]
    mistakes: list[PitfallDocument]


class RemarkDocument(TypedDict):
    """How an operand was read, where that should be known."""

    kind: str
    operand: str
    text: str


class SettingsDocument(TypedDict):
    """How a problem was carried out, where not in the usual way."""

    round: NotRequired[int]
    dtype: NotRequired[str]
    accumulate: NotRequired[str]
    exact: NotRequired[bool]
    symbolic: NotRequired[bool]


class Document(TypedDict):
    """A trace: the problem, which can be read and computed again, and what has come of it."""

    attncalc: int  # the version of the document
    calculation: str
    inputs: dict[str, Json]
    labels: NotRequired[dict[str, dict[str, list[str]]]]
    options: dict[str, Json]
    settings: NotRequired[SettingsDocument]
    notes: NotRequired[list[RemarkDocument]]
    steps: list[StepDocument]
    cells: NotRequired[list[CellDocument]]
    outputs: dict[str, Json]
    exact: NotRequired[dict[str, Json]]
    result: Json
    lesson: NotRequired[LessonDocument]


class DrawnDocument(TypedDict):
    """How a problem was drawn: how easy its numbers are, and which operands stayed as they were."""

    level: NotRequired[str]
    kept: NotRequired[list[str]]


class VariantDocument(TypedDict):
    """A problem, whose it is, and the hash that their sheets carry."""

    student: str
    problem: str
    folder: NotRequired[str]
    name: NotRequired[str]  # of the problem, where a student has several
    title: NotRequired[str]
    points: NotRequired[float]
    drawn: NotRequired[DrawnDocument]
    attncalc: NotRequired[int]
    calculation: str
    inputs: dict[str, Json]
    labels: NotRequired[dict[str, dict[str, list[str]]]]
    options: NotRequired[dict[str, Json]]
    ask: NotRequired[list[str]]  # steps and entries that are to be filled in
    shown: NotRequired[list[str]]  # steps that are told


class KeysDocument(TypedDict):
    """The problems of a class, and those that were replaced."""

    attncalc: NotRequired[int]
    variants: list[VariantDocument]
    replaced: NotRequired[list[VariantDocument]]


class WrongDocument(TypedDict):
    """How many entries are wrong, and between which places they lie, where they are too many to be listed."""

    count: int
    within: list[list[int]]


class MarkedStepDocument(TypedDict):
    """A step of a sheet, marked; with the answer only where it may be revealed."""

    name: str
    verdict: str
    kind: str | None
    mistake: str | None
    mistakes: list[str] | None  # null where the mistake is not told
    also: list[str] | None
    hint: str | None
    separate: dict[str, Json] | None
    cells: list[list[int]]
    wrong: NotRequired[WrongDocument]
    given: Json
    expected: NotRequired[Json]
    max_error: NotRequired[float | None]  # null where no number stands where one should
    at: NotRequired[list[int]]  # where it is that far off, of a model's wrong step
    score: float
    out_of: float
    asked: NotRequired[bool]  # false of a step that stands on the sheet and is not asked for
    close: NotRequired[bool]  # true where the judgement might have been another
    share: NotRequired[float]  # of the entries, how many are right, where that is neither all nor none
    answered: NotRequired[float]  # of the entries, how many are not left blank, where that is neither all nor none


class PolicyDocument(TypedDict):
    """What answers earn."""

    marks: str
    cells: str
    follow: str
    points: NotRequired[dict[str, float]]
    rtol: NotRequired[float]
    atol: NotRequired[float]


class MarkedDocument(TypedDict):
    """A sheet, marked."""

    verdict: str
    first_wrong: str | None
    score: float
    out_of: float
    stopped: str | None
    steps: list[MarkedStepDocument]
    notes: NotRequired[list[RemarkDocument]]
    policy: NotRequired[PolicyDocument]


class CarriedDocument(TypedDict):
    """Whose problem a sheet is of, where that is not its student's own, and what it would earn by it."""

    student: str
    marks: str
    replaced: bool


class StudentDocument(TypedDict):
    """A student's sheet in the report on a class, marked or, with an error, unreadable."""

    student: str
    source: str
    carried: NotRequired[CarriedDocument]
    variants: NotRequired[dict[str, str]]  # by problems, the hash of what the sheet was marked by
    points: NotRequired[dict[str, float]]  # by problems, what all steps of each earn together
    verdict: str
    score: float | None
    out_of: float | None
    first_wrong: NotRequired[str | None]
    stopped: NotRequired[str | None]
    steps: NotRequired[list[MarkedStepDocument]]
    error: NotRequired[str]
    hint: NotRequired[str | None]


class ItemDocument(TypedDict):
    """A step, over a class."""

    step: str
    sheets: int
    right: int
    followed: int
    left_out: int
    facility: float | None
    with_rest: float | None


class WholeDocument(TypedDict):
    """One of several problems, or a variant of one that several students had: all its steps, over a class."""

    problem: str
    variant: str  # its hash; "" for all variants of the problem
    sheets: int
    steps: int  # on all sheets together
    right: int
    followed: int
    left_out: int
    facility: float | None


class CostDocument(TypedDict):
    """What a mistake, or a verdict that names none, cost a class."""

    name: str
    sheets: int
    lost: float
    share: float
    otherwise: dict[str, float]  # by each other policy


class CloseDocument(TypedDict):
    """A judgement that might have been another, on which marks hang."""

    student: str
    step: str
    verdict: str
    marks: float
    otherwise: float
    why: str


class ReachedDocument(TypedDict):
    """What a class reached by a policy."""

    policy: str
    reached: float
    changed: int


class AuditDocument(TypedDict):
    """What mistakes cost, and which judgements were close."""

    costs: list[CostDocument]
    policies: list[ReachedDocument]
    close: list[CloseDocument]


ChangeDocument = TypedDict(
    "ChangeDocument", {"student": str, "step": str, "from": float | None, "to": float, "why": str}
)
"""A step's marks that were changed by hand."""


class ClassDocument(TypedDict):
    """The report on a class."""

    students: list[StudentDocument]
    mistakes: dict[str, int]
    first_wrong: dict[str, int]
    policy: PolicyDocument
    items: list[ItemDocument]
    variants: NotRequired[list[WholeDocument]]
    made_by: dict[str, list[str]]
    absent: NotRequired[list[str]]  # the students of the roster without a sheet
    log: NotRequired[list[ChangeDocument]]
    audit: NotRequired[AuditDocument]
