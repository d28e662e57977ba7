"""The NamedTuple that starts fast is typing's in all that we ask of it."""

import copy
import inspect
import pickle
import typing
from typing import Any

import pytest

from attncalc.common import system


class Theirs(typing.NamedTuple):
    place: int
    name: str = "a"
    further: tuple[int, ...] = ()

    def told(self) -> str:
        return f"{self.name} at {self.place}"


class Ours(system.NamedTuple):
    place: int
    name: str = "a"
    further: tuple[int, ...] = ()

    def told(self) -> str:
        return f"{self.name} at {self.place}"


ASKED: dict[str, Any] = {
    "by place": lambda made: made(1, "b", (2,)),
    "by name": lambda made: made(further=(3,), place=1),
    "a tuple": lambda made: (*made(1),),
    "equal": lambda made: (made(1) == made(1, "a"), made(1) == made(2), made(1) == (1, "a", ()), hash(made(1))),
    "fields": lambda made: (made._fields, made._field_defaults, made(1)._asdict(), made.__match_args__),
    "replaced": lambda made: made(1)._replace(name="c"),
    "its method": lambda made: made(1).told(),
    "shown": lambda made: repr(made(1)).partition("(")[2],
    "how it is called": lambda made: str(inspect.signature(made)),
    "copied": lambda made: copy.deepcopy(made(1, further=(2, 3))),
    "sent to a process": lambda made: pickle.loads(pickle.dumps(made(1))),  # noqa: S301 — it was written one call before
}


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_it_answers_as_typing_does(asked: Any) -> None:
    assert asked(Ours) == asked(Theirs)


@pytest.mark.parametrize("values", [(), (1, "a", (), 4), (1, {"place": 2}), (1, {"other": 2}), ({"name": "a"},)])
def test_it_refuses_what_typing_refuses(values: tuple[Any, ...]) -> None:
    places, names = (
        [v for v in values if not isinstance(v, dict)],
        {k: w for v in values if isinstance(v, dict) for k, w in v.items()},
    )
    for made in (Theirs, Ours):
        with pytest.raises(TypeError):
            made(*places, **names)


@pytest.mark.parametrize("name", ["place", "other"])
def test_nothing_of_it_is_changed(name: str) -> None:
    for made in (Theirs, Ours):
        with pytest.raises(AttributeError):
            setattr(made(1), name, 2)
