"""`FILE#name[0, 1:9:2]` and `.T`: what NumPy would take, with an error that names the axis, and no more is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, basic_indices

from attncalc.common.errors import InputError
from attncalc.inputs.indexing import split
from attncalc.record.trace import Given

CUBE = np.arange(24.0).reshape(2, 3, 4)


def written(index: Any) -> str:
    """An index as one types it."""
    places = index if isinstance(index, tuple) else (index,)
    return f"[{', '.join(map(_place, places))}]"


def _place(place: Any) -> str:
    if isinstance(place, slice):
        parts = ["" if part is None else str(part) for part in (place.start, place.stop, place.step)]
        return ":".join(parts if parts[2] else parts[:2])
    return "..." if place is ... else str(place)


@given(st.data())
def test_an_index_means_what_it_means_to_numpy(data: st.DataObject) -> None:
    shape = data.draw(array_shapes(min_dims=1, max_dims=4, max_side=5))
    index = data.draw(basic_indices(shape, allow_newaxis=True))
    array = np.arange(float(np.prod(shape))).reshape(shape)
    assume(index != () and array[index].size)
    name, parts = split("a[b" + written(index), ())
    assert name == "a[b"
    labelled = Given(array, labels={axis: tuple(map(str, range(size))) for axis, size in enumerate(shape)})
    found = parts[0].of(labelled)
    assert np.array_equal(found.value, array[index])
    places = [place for place in (index if isinstance(index, tuple) else (index,)) if not isinstance(place, int)]
    told = [len(found.labels.get(axis, ("",))) for axis in range(np.ndim(array[index]))]
    assert len(found.labels) == np.ndim(array[index]) - places.count(None)
    assert told == [*np.shape(array[index])]


FAULTS = {
    "[2]": "x.npy has no [2]: axis 0 has 2 entries, 0 to 1",
    "[0, -4]": "x.npy has no [0, -4]: axis 1 has 3 entries, 0 to 2",
    "[..., 4]": "x.npy has no [..., 4]: axis 2 has 4 entries, 0 to 3",
    "[:, :, 4:]": "x.npy[:, :, 4:] is empty: axis 2 has 4 entries",
    "[0, 0, 0, 0]": "x.npy has no [0, 0, 0, 0]: it has 3 axes (2 × 3 × 4)",
    "[0][0].T": "x.npy[0][0] has no .T: it has 1 axis (4)",
    "[::0]": '"[::0]": [::0] has a step of 0, which never gets on',
    "[a]": '"[a]": "a" is no place in an array',
    "[0,,1]": '"[0,,1]": "" is no place in an array',
    "[]": '"[]": "" is no place in an array',
    "[..., ...]": '"[..., ...]": ... stands twice in [..., ...]',
    "[1e3]": '"[1e3]": "1e3" is no place in an array',
}


@pytest.mark.parametrize("part", FAULTS)
def test_an_index_that_does_not_fit(fault: Any, folder: Path, part: str) -> None:
    np.save(folder / "x.npy", CUBE)
    assert fault(word=f"x.npy#{part}")[0] == FAULTS[part]


PICKS: dict[str, Any] = {
    "w.npz#x[1, :, 0]": CUBE[1, :, 0],
    "w.npz#x[0].T": CUBE[0].T,
    "w.npz#x.T[0]": CUBE.swapaxes(-1, -2)[0],
    "w.npz#m[:2, ::-1]": [[2, 1], [4, 3]],
    "w.npz#m.T": [[1, 3, 5], [2, 4, 6]],
    "w.npz#m[0:1]": [[7]],  # a name of the file wins
    "w.npz#m[0:1][0]": [7],
    "w.npz#v.T": [[8]],
    "w.npz#v.T.T": [[8]],
    "m.npy#[1:, 0]": [3, 5],
    "m.npy#.T": [[1, 3, 5], [2, 4, 6]],
    "m.json#inputs/m[-1, :]": [5, 6],
    "m.json#m.T": [[1, 3, 5], [2, 4, 6]],
    "m.csv#b.T": [5, 6],  # a row's label
    "m.csv#[0:1]": [[3, 4]],
}


@pytest.mark.parametrize("word", PICKS)
def test_parts_of_every_kind_of_file(read: Any, folder: Path, word: str) -> None:
    m = np.array([[1.0, 2], [3, 4], [5, 6]])
    arrays: dict[str, Any] = {"x": CUBE, "m": m, "m[0:1]": np.array([[7.0]]), "v.T": np.array([[8.0]])}
    np.savez(folder / "w.npz", **arrays)
    np.save(folder / "m.npy", m)
    Path("m.json").write_text(json.dumps({"calculation": "norm", "inputs": {"m": m.tolist()}}))
    Path("m.csv").write_text("a,3,4\nb.T,5,6\n")
    assert read(word=word).value.tolist() == np.asarray(PICKS[word]).tolist()


def test_only_what_is_asked_for_is_read(read: Any, folder: Path) -> None:
    shape, size = [2 * 10**7, 50], 4 * 10**9
    header = json.dumps({"x": {"dtype": "F32", "shape": shape, "data_offsets": [0, size]}}).encode()
    with Path("huge.safetensors").open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        file.truncate(8 + len(header) + size)  # a hole, which takes no room
    assert read(word="huge.safetensors#x[-1, 0:3]", shape="n").value.tolist() == [0, 0, 0]
    assert read(word="huge.safetensors#x.T[:2, ::9999999]").value.shape == (2, 3)
    with pytest.raises(InputError, match="has 1,000,000,000 entries; at most 100,000,000 are read") as caught:
        read(word="huge.safetensors#x")
    assert caught.value.hint == "a part of it is huge.safetensors#x[0:9]"
