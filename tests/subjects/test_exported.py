"""Exported programs: what loads, and what must not run."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest
import torch
from torch import nn

from app.errors import UserError
from app.inference.batches import limits_of
from app.subjects.exported import load_exported
from app.subjects.model import digest_of, from_file

BATCH = torch.linspace(-1, 1, 2 * 36).reshape(2, 1, 6, 6)


def export(net: nn.Module, path: Path, size: int | None = None) -> None:
    shapes = ({0: torch.export.Dim("batch")},) if size is None else None
    torch.export.save(torch.export.export(net, (BATCH[: size or 2],), dynamic_shapes=shapes), path)


def graph_of(path) -> dict:
    with zipfile.ZipFile(path) as archive:
        return json.loads(archive.read("net/models/model.json"))


def test_it_loads_as_a_tree_whose_hooks_fire(exported, net, tmp_path):
    renamed = tmp_path / "model.bin"
    renamed.write_bytes(exported.read_bytes())
    model = from_file(renamed)
    assert not model.module.training
    torch.testing.assert_close(model.module(BATCH), net.eval()(BATCH), rtol=0, atol=0)
    assert model.module(torch.cat([BATCH] * 3)).shape == (6, 3)
    assert model.digest == digest_of(net)
    seen = []
    model.module.get_submodule("relu").register_forward_hook(lambda *call: seen.append(call[2].shape))
    model.module(BATCH)
    assert seen == [(2, 4, 6, 6)]


def assert_refused(path, trap, sentence: str) -> None:
    with pytest.raises(UserError, match=rf"holds what can run code when it is loaded \(.*{sentence}"):
        load_exported(path)
    assert not trap.victim.exists()


def test_a_trap_in_the_sample_inputs(exported, repack, trap, saved_trap):
    evil = repack(exported, {"data/sample_inputs/model.pt": saved_trap})
    assert_refused(evil, trap, r"data/sample_inputs/model.pt needs builtins.getattr; .* needs pathlib.Path")
    load_exported(evil, allow_unsafe_load=True)  # the file really is hostile
    assert trap.victim.exists()


@pytest.mark.parametrize(
    "record", ["data/weights/model.pt", "data/constants/model.pt", "data/weights/../../extra/x"]
)
def test_a_trap_in_any_other_record(exported, repack, trap, saved_trap, record):
    assert_refused(repack(exported, {record: saved_trap}), trap, "needs pathlib")


def test_a_trap_in_a_weight_that_the_index_calls_a_pickle(exported, repack, trap, saved_trap):
    with zipfile.ZipFile(exported) as archive:
        index = json.loads(archive.read("net/data/weights/model_weights_config.json"))
    first = next(iter(index["config"].values()))
    first["use_pickle"] = True
    records = {
        "data/weights/model_weights_config.json": json.dumps(index).encode(),
        f"data/weights/{first['path_name']}": saved_trap,
    }
    assert_refused(repack(exported, records), trap, "needs pathlib")
    # The reader ignores case, so a second spelling of a name must not hide the pickle.
    second = list(index["config"].values())[1]
    second |= {"path_name": first["path_name"].upper(), "use_pickle": False}
    records["data/weights/model_weights_config.json"] = json.dumps(index).encode()
    assert_refused(repack(exported, records), trap, "needs pathlib")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_records_of_one_name(exported, repack, trap, saved_trap):
    evil = repack(exported, {"data/sample_inputs/Model.pt": saved_trap}, append=True)
    assert_refused(evil, trap, "two records of one name")


@pytest.mark.parametrize(
    "content", [b"\x80\x04cos\nsystem\n.", b"cos\nsystem\n(S'true'\ntR.", b"\x7fELF", b"PK\x03\x04"]
)
def test_records_that_are_no_tensors(exported, repack, trap, content):
    evil = repack(exported, {"data/aotinductor/model/x.so": content})
    assert_refused(evil, trap, "x.so is not a readable pickle of tensors")


@pytest.mark.parametrize(
    "target",
    [
        "torch.os.system",
        "torch.ops.load_library",
        "torch.ops.a.__class__",
        "_operator.methodcaller",
        "#x",
        "os.system",
    ],
)
def test_a_graph_that_calls_more_than_operators(exported, repack, trap, target):
    graph = graph_of(exported)
    graph["graph_module"]["graph"]["nodes"][0]["target"] = target
    assert_refused(
        repack(exported, {"models/model.json": json.dumps(graph).encode()}),
        trap,
        f"the graph calls '{target}'",
    )


@pytest.mark.parametrize(
    "expression",
    ["__import__('os').system('true')", "exec('x')", "s0.func", "(exit)()", "Symbol('a b')", "open", "s0[0]"],
)
def test_a_graph_that_evaluates_more_than_sizes(exported, repack, trap, expression):
    graph = graph_of(exported)
    graph["graph_module"]["graph"]["tensor_values"]["x"] = {"sizes": [{"as_expr": {"expr_str": expression}}]}
    assert_refused(
        repack(exported, {"models/model.json": json.dumps(graph).encode()}), trap, "the graph evaluates"
    )


def test_a_graph_whose_names_are_python(exported, repack, trap):
    graph = graph_of(exported)
    text = json.dumps(graph).replace('"name": "input"', '"name": "input=open"')
    assert text != json.dumps(graph)
    assert_refused(repack(exported, {"models/model.json": text.encode()}), trap, "the graph has the name")
    graph["graph_module"]["graph"]["tensor_values"]["a b"] = {}
    assert_refused(
        repack(exported, {"models/model.json": json.dumps(graph).encode()}), trap, "the name 'a b'"
    )


def test_a_trap_among_the_sizes(exported, repack, trap):
    graph = graph_of(exported)
    size = graph["graph_module"]["graph"]["tensor_values"]["relu"]["sizes"][0]["as_expr"]
    size["expr_str"] = f"__import__('pathlib').Path({str(trap.victim)!r}).touch() or {size['expr_str']}"
    evil = repack(exported, {"models/model.json": json.dumps(graph).encode()})
    assert_refused(evil, trap, "the graph evaluates")
    load_exported(evil, allow_unsafe_load=True)
    assert trap.victim.exists()


def test_a_graph_that_imports(exported, repack, trap):
    graph = graph_of(exported)
    graph["graph_module"]["module_call_graph"][0]["signature"]["in_spec"] = (
        '[1, {"default_factory_module": "os"}]'
    )
    assert_refused(
        repack(exported, {"models/model.json": json.dumps(graph).encode()}),
        trap,
        "the graph takes or gives more than plain containers",
    )


def test_arithmetic_of_sizes_is_fine(tmp_path):
    class Views(nn.Module):
        def forward(self, x):
            b, c, h, w = x.shape
            return x.reshape(b, c, h // 2, 2, w).reshape(b, -1)[:, : (h * w) // 2]

    shapes = ({0: torch.export.Dim("batch"), 2: 2 * torch.export.Dim("half", min=2, max=9)},)
    program = torch.export.export(Views(), (torch.ones(3, 1, 6, 6),), dynamic_shapes=shapes)
    torch.export.save(program, tmp_path / "views.pt2")
    module, notes = load_exported(tmp_path / "views.pt2")
    assert (module(torch.ones(5, 1, 8, 6)).shape, notes) == ((5, 24), ())


def test_training_mode_is_refused(make_net, tmp_path):
    export(make_net().train(), tmp_path / "train.pt2")
    with pytest.raises(
        UserError, match=r"train.pt2 was exported in training mode \(.*call model.eval\(\) before"
    ):
        load_exported(tmp_path / "train.pt2")


def test_fixed_batches(net, tmp_path):
    export(net.eval(), tmp_path / "two.pt2", size=2)
    with pytest.raises(UserError, match=r"two.pt2 was exported for batches of exactly 2: .*dynamic_shapes"):
        load_exported(tmp_path / "two.pt2")
    export(net.eval(), tmp_path / "one.pt2", size=1)
    module, notes = load_exported(tmp_path / "one.pt2")
    assert module(BATCH[:1]).shape == (1, 3)
    assert notes == ("the program was exported for one image at a time: it runs so, which is slow",)
    assert limits_of(module) == (1, 1)


def test_limits_of_the_batch(make_net, tmp_path):
    shapes = ({0: torch.export.Dim("batch", min=2, max=64)},)
    program = torch.export.export(make_net().eval(), (torch.ones(4, 1, 6, 6),), dynamic_shapes=shapes)
    torch.export.save(program, tmp_path / "some.pt2")
    module, notes = load_exported(tmp_path / "some.pt2")
    assert limits_of(module) == (2, 64)
    assert notes == (
        "the program was exported for at least 2 and at most 64 images at a time: batches are made to fit",
    )


def test_inputs_that_are_no_pictures(tmp_path):
    program = torch.export.export(
        nn.Linear(3, 2), (torch.ones(2, 3),), dynamic_shapes=({0: torch.export.Dim("b")},)
    )
    torch.export.save(program, tmp_path / "flat.pt2")
    with pytest.raises(UserError, match=r"flat.pt2 must take one batch of pictures \(B, C, H, W\)"):
        load_exported(tmp_path / "flat.pt2")


def test_damaged_archives(exported, repack, tmp_path):
    (tmp_path / "cut.pt2").write_bytes(exported.read_bytes()[:-30])
    with pytest.raises(UserError, match=r"cut.pt2 .*is cut off or damaged"):
        from_file(tmp_path / "cut.pt2")
    empty = io.BytesIO()
    torch.save((), empty)
    graph = graph_of(exported)
    del graph["graph_module"]["graph"]["nodes"]
    with pytest.raises(UserError, match=r"net.pt2 is an exported program that torch cannot load"):
        load_exported(repack(exported, {"models/model.json": json.dumps(graph).encode()}))
