"""Saved fits from somebody else: what does not fit together is refused, and nothing outside of them is read."""

import json
import os

import numpy as np
import pytest
from conftest import normal

import rehmc


@pytest.fixture
def saved(tmp_path):
    rng = np.random.default_rng(1)
    draws = rng.normal(size=(2, 40, 3))
    rehmc.sharpen(draws, -draws).save(tmp_path / "fit")
    return tmp_path / "fit"


def change(folder, **fields):
    meta = json.loads((folder / "fit.json").read_text())
    (folder / "fit.json").write_text(json.dumps({**meta, **fields}))


def refused(folder, error=rehmc.DataError):
    with pytest.raises(error, match=str(folder)):
        rehmc.load(folder)


def test_a_whole_fit_is_read(saved):
    assert rehmc.load(saved).size == 40


@pytest.mark.parametrize(
    "fields",
    [
        {"variables": 3},
        {"variables": ["x"]},
        {"variables": [["x", [2], []]]},
        {"variables": [["x", [-3], []]]},
        {"variables": [["x", [2**62, 4], []], ["y", [3], []]]},
        {"variables": [["x", ["3"], []]]},
        {"variables": [[3, [3], []]]},
        {"variables": [["x", [3], [4]]]},
        {"settings": []},
        {"coords": []},
        {"coords": {"a": 3}},
        {"width": "wide"},
        {"width": -1},
        {"width": 2**70},
        {"name": None},
    ],
)
def test_a_description_that_does_not_fit_is_refused(saved, fields):
    change(saved, **fields)
    refused(saved)


def test_a_saved_fit_is_continued_with_its_own_model_only(tmp_path):
    def other(x):
        return -x @ x, -2 * x

    fit = rehmc.sample(rehmc.function(normal, 3, version="1"), draws=20, warmup=60, seed=1, progress=False)
    fit.save(tmp_path / "fit")
    assert rehmc.resume(tmp_path / "fit", rehmc.function(normal, 3, version="1"), progress=False).extend(5, progress=False).size == 25
    for model in (rehmc.function(other, 3, version="2"), rehmc.function(normal, 2, version="1"), rehmc.built_in("eight-schools")):
        with pytest.raises(rehmc.DataError, match="not the one that was sampled"):
            rehmc.resume(tmp_path / "fit", model, progress=False)
    change(tmp_path / "fit", identity=None)
    with pytest.raises(rehmc.DataError, match="cannot be extended with this model"):
        rehmc.resume(tmp_path / "fit", rehmc.function(normal, 2), progress=False).extend(5, progress=False)


def test_variables_must_be_those_of_the_columns(tmp_path):
    fit = rehmc.sample(rehmc.built_in("eight-schools"), draws=20, warmup=60, seed=1, progress=False)
    fit.save(tmp_path / "fit")
    variables = json.loads((tmp_path / "fit" / "fit.json").read_text())["variables"]
    assert rehmc.load(tmp_path / "fit").size == 20
    for name, shape in (("other", [8]), ("theta", [4, 2]), ("theta", [8, 1])):
        change(tmp_path / "fit", variables=[[name, shape, []] if v[0] == "theta" else v for v in variables])
        refused(tmp_path / "fit")


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"3", b"\xff\xfe", b"[" * 200_000, b'{"a":' * 200_000])
def test_a_description_that_cannot_be_read_is_refused(saved, text):
    (saved / "fit.json").write_bytes(text)
    refused(saved)


@pytest.mark.parametrize("content", [b"", b"rehmc fit 1\n", b"rehmc fit 1\n" + b"0" * 100, b"\x00" * 1000])
def test_states_that_cannot_be_read_are_refused(saved, content):
    (saved / "states.bin").write_bytes(content)
    refused(saved)


@pytest.mark.parametrize("name", ["fit.json", "states.bin"])
def test_links_and_devices_are_not_opened(saved, tmp_path, name):
    content = (saved / name).read_bytes()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(content)
    for make in (lambda path: path.symlink_to(elsewhere), lambda path: path.symlink_to("/dev/zero"), os.mkfifo, os.mkdir):
        path = saved / name
        os.rmdir(path) if path.is_dir() else path.unlink()
        make(path)
        refused(saved)


def test_a_missing_file_is_named(saved):
    (saved / "states.bin").unlink()
    refused(saved, rehmc.FileError)


def test_a_copy_of_a_run_takes_no_files_from_elsewhere(tmp_path):
    fit = rehmc.sample(rehmc.built_in("eight-schools"), draws=20, warmup=60, seed=1, output=tmp_path / "run", progress=False)
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "run" / "notes").symlink_to(tmp_path / "secret")
    fit.save(tmp_path / "copy")
    assert (tmp_path / "copy" / "notes").is_symlink()
    assert rehmc.load(tmp_path / "copy").size == 20
