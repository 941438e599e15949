"""Model files of strangers: what could leave a trace is refused before anything of it runs."""

from __future__ import annotations

import json
import os
import pickle
import sys
import zipfile
from contextlib import suppress

import pytest
import torch
import torchvision.io  # noqa: F401 - brings operators that write files
from torch import nn

from app.errors import UserError
from app.subjects import script_check
from app.subjects.model import from_file, from_state_dict
from app.subjects.operators import is_pure

BATCH = torch.ones(1, 1, 4, 4)


@pytest.fixture
def trace(tmp_path):
    """A file that no test may leave behind."""
    return tmp_path / "trace"


class Saves(nn.Module):
    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = path
        self.linear = nn.Linear(16, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        torch.save(x, self.path)
        return self.linear(x.flatten(1))


class SavesWhenLoaded(nn.Module):
    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = path

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.flatten(1)[:, :2]

    @torch.jit.export
    def __getstate__(self):
        return (self.path, self.training)

    @torch.jit.export
    def __setstate__(self, state: tuple[str, bool]) -> None:
        self.path = state[0]
        self.training = state[1]
        torch.save(torch.ones(1), self.path)


class Maps(nn.Module):
    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = path

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        mapped = torch.from_file(self.path, shared=True, size=4)
        mapped.fill_(1)
        return x.flatten(1)[:, :2] + mapped.sum()


class Plain(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(16, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x.flatten(1)))


def scripted(net: nn.Module, path):
    torch.jit.script(net).save(str(path))
    return path


def edited(source, target, old: str, new: str):
    """A TorchScript archive whose sources say something else."""
    changed = False
    with zipfile.ZipFile(source) as before, zipfile.ZipFile(target, "w") as after:
        for item in before.infolist():
            content = before.read(item)
            if item.filename.endswith(".py") and old.encode() in content:
                content, changed = content.replace(old.encode(), new.encode()), True
            after.writestr(item.filename, content)
    assert changed, f"no source says {old}"
    return target


def refused(path, trace, said: str, **options) -> None:
    with pytest.raises(UserError, match=said) as caught:
        from_file(path, **options).module(BATCH)
    assert "\n" not in str(caught.value)
    assert not trace.exists()


@pytest.mark.parametrize(
    ("net", "said"),
    [
        (Saves, "more than compute .*torch.save"),
        (SavesWhenLoaded, "more than compute .*torch.save"),
        (Maps, "more than compute .*torch.from_file"),
    ],
)
def test_scripts_that_touch_files(net, said, trace, tmp_path):
    path = scripted(net(str(trace)), tmp_path / "net.pt")
    trace.unlink(missing_ok=True)
    refused(path, trace, said + ".*allow_unsafe_load=true")
    if net is Saves:  # the flag is the way in, and the file really is hostile
        from_file(path, allow_unsafe_load=True).module(BATCH)
        assert trace.exists()


@pytest.mark.parametrize(
    ("new", "said"),
    [
        ('getattr(torch, "save")(x, "TRACE")', "getattr of torch"),
        ('getattr(getattr(ops, "image"), "write_file")("TRACE", torch.to(x, 0))', "getattr of ops"),
        ('getattr(ops.image, "write_file")("TRACE", torch.to(x, 0))', "getattr of ops.image"),
        (
            'torch.relu(x)\n  o = ops.image\n  _9 = o.write_file("TRACE", torch.to(x, 0))',
            "another name for ops.image",
        ),
        ("torch.relu(x)\n  o = ops\n  _9 = o.image.write_file(x, x)", "another name for ops"),
        (
            "torch.relu(x)\n  t = __torch__.torch\n  _9 = t.classes.dist_c10d.Store(x)",
            "another name for __torch__.torch",
        ),
        ('(x).save("TRACE", )', "a call of save"),
        ('getattr(x, "save")("TRACE", )', "a call of save"),
        ('ops.aten.save(x, "TRACE")', "a call of aten::save"),
        ('ops.c10d.barrier(x, "TRACE")', "a call of c10d::barrier"),
        ("ops.prim.rpc_sync(x)", "a call of prim::rpc_sync"),
        ('torch.relu(x) # """\n  _9 = torch.save(x, "TRACE") # """', "a comment"),
        ('torch.relu(x)\r  _9 = torch.save(x, "TRACE")', "control characters"),
        ('torch.relu("a\\\n"", torch.save(x, "TRACE"))', "cannot be read|unusual form"),
        ("torch.relu(x, \u202e)", "no ASCII"),
        ("__torch__.torch.classes.dist_c10d.Store(x)", "the class __torch__.torch.classes.dist_c10d"),
        ("fork(x)", "a call of fork"),
    ],
)
def test_sources_that_hide_a_call(new, said, trace, tmp_path):
    plain = scripted(Plain(), tmp_path / "plain.pt")
    old = "torch.relu((linear).forward(torch.flatten(x, 1), ))"
    with zipfile.ZipFile(plain) as archive:
        source = next(
            archive.read(each).decode() for each in archive.namelist() if b"torch.relu" in archive.read(each)
        )
    if old not in source:
        old = next(line.strip() for line in source.splitlines() if "torch.relu" in line).partition("return ")[
            2
        ]
    hostile = edited(plain, tmp_path / "hostile.pt", old, new.replace("TRACE", str(trace)))
    refused(hostile, trace, said)


DEFAULTS = [
    'torch.from_file("TRACE", True, 4)',
    'getattr(torch, "from" "_file")("TRACE", True, 4)',
    'torch . from_file("TRACE", True, 4)',
    'torch. \\\n from_file("TRACE", True, 4)',
    'torch. # it\n from_file("TRACE", True, 4)',
    'torch.\f from_file("TRACE", True, 4)',
    'ops.\n aten.\n from_file("TRACE", True, 4)',
    'getattr(getattr(ops, "image"), "write_file")("TRACE", torch.to(torch.ones([3]), 0))',
]
"""Default values of an argument, which torch works out when it loads a file."""


@pytest.mark.parametrize("value", DEFAULTS)
def test_sources_that_do_harm_while_they_are_loaded(value, trace, tmp_path):
    plain = scripted(Plain(), tmp_path / "plain.pt")
    argument = f"x: Tensor, y: Tensor={value.replace('TRACE', str(trace))}) -> Tensor:"
    hostile = edited(plain, tmp_path / "hostile.pt", "x: Tensor) -> Tensor:", argument)
    torch.jit.load(str(hostile))
    assert trace.exists()  # it really does
    trace.unlink()
    refused(hostile, trace, "more than compute")


def test_graphs_are_looked_at_whatever_the_sources_seem_to_say(trace, tmp_path, monkeypatch):
    path = scripted(Saves(str(trace)), tmp_path / "net.pt")
    monkeypatch.setattr(script_check, "offences", lambda _: iter(()))
    refused(path, trace, "Saves.forward calls aten::save")


def test_objects_of_classes_written_in_cpp(trace, tmp_path):
    plain, evil = scripted(Plain(), tmp_path / "plain.pt"), tmp_path / "evil.pt"
    with zipfile.ZipFile(plain) as before, zipfile.ZipFile(evil, "w") as after:
        for item in before.infolist():
            pickled = b"\x80\x02c__torch__.torch\nclasses.dist_c10d.Store\n)\x81."
            content = pickled if item.filename.endswith("constants.pkl") else before.read(item)
            after.writestr(item.filename, content)
    refused(evil, trace, r"constants.pkl holds an object of a class written in C\+\+")


def test_a_method_of_the_files_own_does_not_excuse_a_built_in_one(trace, tmp_path):
    class Own(nn.Module):
        def save(self, x: torch.Tensor, where: str) -> torch.Tensor:
            return x + len(where)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.save(x, "name").flatten(1)[:, :2]

    refused(scripted(Own(), tmp_path / "own.pt"), trace, "a call of save, whatever the file means by it")


def test_plain_scripts_load_and_compute(tmp_path):
    for made in (torch.jit.script(Plain()), torch.jit.trace(Plain().eval(), BATCH)):
        made.save(str(tmp_path / "plain.pt"))
        assert from_file(tmp_path / "plain.pt").module(BATCH).shape == (1, 2)


@pytest.mark.parametrize(
    "target",
    [
        "aten.from_file.default",
        "aten.set_.source_Tensor",
        "aten.add.out",
        "c10d.barrier.default",
        "prims.conj.default",
    ],
)
def test_programs_that_call_more_than_compute(target, trace, tmp_path):
    program = torch.export.export(Plain().eval(), (BATCH,))
    torch.export.save(program, tmp_path / "plain.pt2")
    with (
        zipfile.ZipFile(tmp_path / "plain.pt2") as before,
        zipfile.ZipFile(tmp_path / "evil.pt2", "w") as after,
    ):
        for item in before.infolist():
            content = before.read(item)
            after.writestr(
                item.filename.replace("plain/", "evil/"),
                content.replace(b"torch.ops.aten.relu.default", f"torch.ops.{target}".encode()),
            )
    refused(tmp_path / "evil.pt2", trace, rf"the graph calls {target.split('.')[0]}::{target.split('.')[1]}")


def described(target, change):
    """A program whose description was changed."""
    program = torch.export.export(Plain().eval(), (BATCH,))
    torch.export.save(program, target)
    content = {}
    with zipfile.ZipFile(target) as before:
        for item in before.infolist():
            content[item.filename] = before.read(item)
    [name] = [each for each in content if each.endswith("models/model.json")]
    whole = json.loads(content[name])
    content[name] = change(whole) or json.dumps(whole).encode()
    with zipfile.ZipFile(target, "w") as after:
        for each, record in content.items():
            after.writestr(each, record)
    return target


def test_operators_that_are_handed_to_others(trace, tmp_path):
    def change(whole):
        graph = whole["graph_module"]["graph"]
        values = [{"as_string": "cpu"}, {"as_none": True}, {"as_bool": False}, {"as_none": True}]
        values += [{"as_operator": "torch.ops.aten.from_file.default"}]
        values += [{"as_string": str(trace)}, {"as_bool": True}, {"as_int": 4}]
        given = [{"name": "", "arg": value, "kind": 1} for value in values]
        own = [{"name": name, "arg": {"as_tensor": {"name": "evil"}}, "kind": 1} for name in ("self", "src")]
        calls = [("higher_order.wrap_with_autocast", given, "evil"), ("aten.copy_.default", own, "evil_1")]
        for place, (target, inputs, name) in enumerate(calls):
            graph["tensor_values"][name] = graph["tensor_values"]["relu"]
            node = {
                "target": f"torch.ops.{target}",
                "inputs": inputs,
                "outputs": [{"as_tensor": {"name": name}}],
            }
            metadata = {"nn_module_stack": "L__self__,,torch.nn.Module"}
            graph["nodes"].insert(place, {**node, "metadata": metadata})

    path = described(tmp_path / "evil.pt2", change)
    with suppress(RuntimeError):  # two numbers are no image; but the file is there
        from_file(path, allow_unsafe_load=True).module(BATCH)
    assert trace.exists()  # it really does harm
    trace.unlink()
    refused(path, trace, "the graph calls aten::from_file")


def test_a_description_that_imports_under_another_spelling(trace, tmp_path):
    def change(whole):
        context = {"default_factory_module": "this", "default_factory_name": "s", "dict_context": []}
        spec = [1, {"type": "collections.defaultdict", "context": context, "children_spec": []}]
        hidden = json.dumps(spec).replace("default_factory_module", "default_factory_m\\u006fdule")
        whole["graph_module"]["module_call_graph"][0]["signature"]["out_spec"] = hidden

    sys.modules.pop("this", None)
    refused(described(tmp_path / "evil.pt2", change), trace, "more than plain containers")
    assert "this" not in sys.modules


@pytest.mark.parametrize("power", ["9**9**9**9", "Pow(9, Pow(9, 9999))", "Pow(Integer(9), Symbol('s0'))"])
def test_towers_of_powers(power, trace, tmp_path):
    def change(whole):
        whole["graph_module"]["graph"]["tensor_values"]["relu"]["sizes"] = [{"as_expr": {"expr_str": power}}]

    refused(described(tmp_path / "evil.pt2", change), trace, "the graph evaluates")


@pytest.mark.parametrize("content", [b'{"a":' + b"[" * 100_000, b"[]", b"\xff"])
def test_descriptions_that_are_none(content, trace, tmp_path):
    refused(
        described(tmp_path / "evil.pt2", lambda _: content), trace, "is not JSON|is not as torch writes it"
    )


class Trap:
    def __init__(self, path) -> None:
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def test_pickles_that_run_code(trace, tmp_path):
    torch.save({"state_dict": {"weight": torch.ones(2)}, "more": Trap(trace)}, tmp_path / "zip.pt")
    (tmp_path / "bare.pt").write_bytes(pickle.dumps(Trap(trace)))
    for name in ("zip.pt", "bare.pt"):
        refused(tmp_path / name, trace, "allow_unsafe_load=true")
        with pytest.raises(UserError, match="allow_unsafe_load=true"):
            from_state_dict(Plain, tmp_path / name)
        assert not trace.exists()


def test_a_file_that_inflates_is_not_read(tmp_path):
    torch.save(Plain().state_dict(), tmp_path / "plain.pt")
    with (
        zipfile.ZipFile(tmp_path / "plain.pt") as before,
        zipfile.ZipFile(tmp_path / "bomb.pt", "w", zipfile.ZIP_DEFLATED) as after,
    ):
        for item in before.infolist():
            after.writestr(item.filename, before.read(item))
        after.writestr("plain/data/9", bytes(20_000_000))
    assert (tmp_path / "bomb.pt").stat().st_size < 100_000
    with pytest.raises(UserError, match=r"holds 0\.0 GB .*allowed are 0\.01 GB \(model.max_gigabytes\)"):
        from_state_dict(Plain, tmp_path / "bomb.pt", max_gigabytes=0.01)
    # a file may always hold what it is on the disk
    assert from_state_dict(Plain, tmp_path / "plain.pt", max_gigabytes=1e-9).name == "Plain"


def test_one_number_repeated_without_end(trace, tmp_path):
    net = Plain()
    net.register_buffer("far", torch.zeros(1).expand(10**12))
    refused(scripted(net, tmp_path / "net.pt"), trace, r"holds 4,000\.0 GB once it is unpacked")
    torch.export.save(torch.export.export(net.eval(), (BATCH,)), tmp_path / "net.pt2")
    refused(tmp_path / "net.pt2", trace, r"holds 4,000\.0 GB once it is unpacked")


@pytest.mark.parametrize(
    ("space", "name", "overload", "pure"),
    [
        ("aten", "relu_", "", True),
        ("aten", "conv2d", "default", True),
        ("aten", "__and__", "Tensor", True),
        ("aten", "from_file", "default", False),
        ("aten", "save", "", False),
        ("aten", "add", "out", False),
        ("aten", "fbgemm_linear_fp16_weight", "", False),
        ("torchvision", "nms", "default", True),
        ("image", "write_file", "default", False),
        ("quantized", "linear", "default", True),
        ("quantized", "linear_unpack", "legacy", False),
        ("higher_order", "cond", "", True),
        ("higher_order", "call_torchbind", "", False),
    ],
)
def test_what_is_pure(space, name, overload, pure):
    assert is_pure(space, name, overload) is pure
