"""The report on a model's dump as a page: a map of layers and steps, each of which opens what is told of it."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checkpoints import IDS, MODELS, computed
from conftest import Run

import attncalc as ac
from attncalc.common.errors import place_text
from attncalc.record.numbers import format_number
from attncalc.record.verdicts import SOUND

WORDS = ",".join(map(str, IDS))
FAULT = {"rope_layout": "interleaved", "eps": 1e-3}


class Map(HTMLParser):
    """The cells of the maps of a page, each as its class, its link and its words; and all ids."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.cells: dict[str, dict[str, str]] = {}
        self.ids: list[str] = []
        self.link: dict[str, str] | None = None
        self.shade = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {name: value or "" for name, value in attrs}
        self.ids += [said["id"]] if "id" in said else []
        self.shade = said.get("class", "") if tag == "td" else self.shade
        if tag == "a" and "title" in said:
            self.link = self.cells[said["href"].removeprefix("#")] = said | {"shade": self.shade, "words": ""}

    def handle_data(self, data: str) -> None:
        if self.link is not None:
            self.link["words"] += f" {data}"

    def handle_endtag(self, tag: str) -> None:
        self.link = None if tag == "a" else self.link


def dumped(folder: Path, **options: Any) -> Path:
    path = folder / "port.npz"
    t = computed("llama", dtype="float32", **options)
    np.savez(path, **{step.key: step.value for step in t.steps})
    return path


def report(run: Run, path: Path, *more: str) -> str:
    return run("model", MODELS / "llama", WORDS, "--check", path, *more).stdout


@pytest.mark.release
def test_what_is_no_number_is_infinitely_far_off(run: Run, tmp_path: Path) -> None:
    t = computed("llama")
    lost = t["hidden"][1].copy()
    lost[2, 3] = np.nan
    np.savez(tmp_path / "port.npz", **{"hidden_states.0": t["hidden"][0], "hidden_states.1": lost})
    assert re.search("layer 0 +1 unexplained +∞ +residual2", report(run, tmp_path / "port.npz"))
    found = json.loads(report(run, tmp_path / "port.npz", "--reveal", "-f", "json"))
    assert [step["max_error"] for step in found["steps"]] == [0.0, None]


@pytest.mark.thorough
def test_json_says_how_far_off_a_wrong_step_is_and_where(run: Run, tmp_path: Path) -> None:
    """And so do pages, but nothing that is right, and no calculation that may be somebody's homework, unless asked."""
    path = dumped(tmp_path, **FAULT)
    found = json.loads(report(run, path, "-f", "json"))["steps"]
    assert [step["name"] for step in found if "at" in step] == [s["name"] for s in found if s["verdict"] not in SOUND]
    t, page = computed("llama"), report(run, path)
    with np.load(path) as held:
        dump = dict(held)
    for step in found:
        assert ("max_error" in step) == ("at" in step)
        if "at" in step:
            with np.errstate(invalid="ignore"):
                off = np.nan_to_num(np.abs(dump[step["name"]] - t[step["name"]]))
            assert [step["max_error"], off.max()] == pytest.approx([off[tuple(step["at"])]] * 2, rel=1e-4)
    first = next(step for step in found if "at" in step)
    assert f"off most by {format_number(first['max_error'])} at {place_text(first['at'])}" in page
    np.save(tmp_path / "output.npy", np.array([[2.0]]))
    told = run("attention", "1", "1", "1", "--check", tmp_path / "output.npy", "-f", "json").stdout
    assert "max_error" not in told


@pytest.fixture
def page(run: Run, tmp_path: Path) -> str:
    return report(run, dumped(tmp_path, **FAULT), "-f", "html")


@pytest.mark.release
def test_every_step_of_the_map_opens_what_is_told_of_it(page: str) -> None:
    found = Map(page)
    assert len(found.cells) == len(computed("llama").steps)
    assert len(set(found.ids)) == len(found.ids)
    assert found.cells.keys() <= {*found.ids}


@pytest.mark.release
def test_what_is_wrong_is_told_in_words_and_by_its_shade(page: str) -> None:
    cells = Map(page).cells
    firsts = [name for name, cell in cells.items() if "first wrong" in cell["words"]]
    assert firsts == ["layer_0/norm1/root_mean_square"]
    for name, cell in cells.items():
        wrong = bool(re.search("follows|wrong|mistake", cell["words"]))
        assert wrong == cell["shade"].startswith("m"), name
    assert not re.search("[a-z]{2}", cells["layer_0/norm1/squares"]["words"])
    assert "rope-half-split" in cells["layer_0/attention/q_rotated"]["title"]


@pytest.mark.release
def test_a_step_opens_to_its_heads_and_to_an_entrys_arithmetic(page: str) -> None:
    right, wrong = computed("llama"), computed("llama", dtype="float32", **FAULT)
    name = "layer 0/attention/scores"
    off = np.abs(right[name] - wrong[name])
    told = page[page.index(f'id="{name.replace(" ", "_")}"') :].partition("</section>")[0]
    h, i, j = np.unravel_index(off.argmax(), off.shape)
    assert f"head 0 by {off[0].max():.4f}, 1 by {off[1].max():.4f}" in told
    line = re.search(rf"{re.escape(name)}\[{h},{i},{j}\] = (.*) = (\S+)</li>", re.sub("</?span[^>]*>", "", told))
    assert line
    assert float(line[2]) == pytest.approx(right[name][h, i, j], abs=1e-4)
    assert f"the dump has {wrong[name][h, i, j]:.4f}" in told


@pytest.mark.release
@pytest.mark.spread(4)
@pytest.mark.parametrize("format", ["table", "plain", "markdown", "latex"])
def test_where_nothing_opens_there_is_a_line_a_layer(run: Run, tmp_path: Path, format: str) -> None:
    text = report(run, dumped(tmp_path, **FAULT), "-f", format)
    assert "Step by step" not in text
    assert "how far each step" not in text
    assert "28 follows" in text


@pytest.mark.thorough
def test_a_right_dump_has_no_stripe(run: Run, tmp_path: Path) -> None:
    page = report(run, dumped(tmp_path), "-f", "html")
    shades = {cell["shade"][:1] for cell in Map(page).cells.values()}
    assert shades <= {"h", ""}
    assert "first wrong" not in page


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["past_key_values", "cache"])
def test_what_a_model_returns_is_an_answer_as_it_is(name: str) -> None:
    t = computed("llama")
    states = tuple(state[None] for state in t["hidden"])
    assert t.check({"logits": t["logits"][None], name: object(), "hidden_states": states})


@pytest.mark.parametrize("front", ["", "module.", "_orig_mod.", "base_model.model.", "module.base_model.model."])
def test_what_wrappers_put_in_front_of_a_module_is_left_out(front: str) -> None:
    trace = ac.load(MODELS / "llama")([1, 2, 3])
    dump = {f"{front}model.layers.1.mlp": trace["layer 1/feed-forward/output"]}
    assert [step.name for step in trace.check(dump).steps] == ["layer 1/feed-forward/output"]
    assert ac.compare(dump, {"layers.1.mlp": dump[f"{front}model.layers.1.mlp"], "x": 1}).arrays[0].verdict == "equal"


@pytest.mark.thorough
def test_a_folder_of_npy_files_is_a_dump(run: Run, tmp_path: Path) -> None:
    t, folder = computed("llama"), tmp_path / "dump"
    folder.mkdir()
    for name, value in {"logits": t["logits"], "model.layers.0.mlp": t["layer 0/feed-forward/output"]}.items():
        np.save(folder / f"{name}.npy", value)
    assert "right: 2 arrays of 2" in report(run, folder)
    (tmp_path / "empty").mkdir()
    done = run("model", MODELS / "llama", WORDS, "--check", tmp_path / "empty")
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.release
def test_an_array_of_another_shape_is_off_by_no_number(run: Run, tmp_path: Path) -> None:
    np.savez(tmp_path / "port.npz", **{"logits": np.ones((2, 3)), "layer 1/attention/weights": np.ones((2, 3))})
    told = report(run, tmp_path / "port.npz")
    assert re.findall(r"^  (?:layer 1|logits) +1 unexplained +(\S+)", told, re.MULTILINE) == ["–"] * 2
