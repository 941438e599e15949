"""The command line as a user meets it: its help, and one clear line for whatever is wrong."""

from __future__ import annotations

import re
import subprocess
import sys
import time
import zipfile

import numpy as np
import pytest
import torch
from PIL import Image

GREY = "model.preprocess={resize:null,crop:null,mode:L,mean:[0],std:[1]}"
OWN_NET = ["model=state_dict", "model.factory._target_=users_code.Net", "model.weights=net.pt", GREY]
ARRAYS = [*OWN_NET, "dataset=arrays", "dataset.images=cases.npz"]
FOLDER = [*OWN_NET, "+model.factory.outputs=2", "model.weights=two.pt", "dataset=image_folder"]


@pytest.fixture(scope="module")
def place(assay, tmp_path_factory):
    """The folder of the commands, with files of many kinds in it."""
    folder = assay.folder
    sys.path.insert(0, str(folder))
    try:
        from users_code import Net
    finally:
        sys.path.remove(str(folder))
    torch.save(Net().state_dict(), folder / "net.pt")
    torch.save(Net(outputs=2).state_dict(), folder / "two.pt")
    torch.save(Net(), folder / "whole.pt")
    (folder / "empty.pt").write_bytes(b"")
    with zipfile.ZipFile(folder / "trap.pt2", "w") as archive:
        archive.writestr("net/archive_format", "pt2")
        archive.writestr("net/version", "3\n")
        archive.writestr("net/byteorder", "little")
        archive.writestr("net/models/model.json", "{}")
        archive.writestr("net/data/sample_inputs/model.pt", _saved_trap(folder))
    rng = np.random.default_rng(0)
    pictures = rng.integers(0, 200, (40, 28, 28), dtype=np.uint8)
    np.savez(folder / "cases.npz", images=pictures, labels=np.arange(40) % 10)
    np.savez(folder / "twelve.npz", images=pictures, labels=np.arange(40) % 12)
    np.savez(folder / "none.npz", images=pictures[:0], labels=np.arange(0))
    late = pictures.copy()
    late[33] = 255
    np.savez(folder / "late.npz", images=late, labels=np.arange(40) % 10)
    for name in ("cats", "dogs"):
        (folder / "photos" / name).mkdir(parents=True)
        (folder / "hollow" / name).mkdir(parents=True)
        for i, picture in enumerate(pictures[:6]):
            Image.fromarray(picture).save(folder / "photos" / name / f"{i}.jpg")
    Image.fromarray(pictures[0]).save(folder / "hollow" / "cats" / "0.png")
    cut = folder / "photos" / "cats" / "0.jpg"
    cut.write_bytes(cut.read_bytes()[:400])
    (folder / "lost.txt").write_text("0\n99999\n")
    own = folder / "conf" / "experiment"
    own.mkdir(parents=True)
    for name, difference in {
        "typo_in_group": "dataset: {max_sample: 3}",
        "typo_at_root": "sede: 3",
        "text_for_number": "seed: many",
        "broken": "seed: [",
    }.items():
        (own / f"{name}.yaml").write_text(
            "# @package _global_\n"
            "defaults:\n"
            "  - override /task: mutate\n"
            "  - override /model: fashion_cnn\n"
            "  - override /dataset: fashion\n"
            "  - override /operators: [weight_noise]\n"
            f"{difference}\n"
        )
    return folder


class _Trap:
    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return (open, (self.mark, "w"))


def _saved_trap(folder):
    path = folder / "trap.bin"
    torch.save((_Trap(str(folder / "sprung")),), path)
    return path.read_bytes()


def base(*changes: str) -> list[str]:
    """A small campaign of the embedded subject, or of what the changes choose."""
    chosen = ["task=mutate", "operators=[weight_noise]", "operators.weight_noise.count=2"]
    chosen += [] if any(each.startswith("model=") for each in changes) else ["model=fashion_cnn"]
    if not any(each.startswith("dataset=") for each in changes):
        chosen += ["dataset=fashion", "dataset.max_samples=20"]
    return [*chosen, *changes]


MISTAKES = {
    "option that is not there": (["model=nope"], "unknown model 'nope'. Allowed: .*fashion_cnn, file"),
    "operator that is not there": (["operators=[nope]"], "unknown operator 'nope'. Allowed: .*mc_drop"),
    "option of a group, null": (["dataset=null"], "dataset=null is no choice; allowed: .*image_folder"),
    "option of a group, number": (["trainer=3"], "trainer=3 is no choice; allowed: cpu, ddp"),
    "option, empty": (["scoring="], "unknown scoring ''. Allowed: default"),
    "two options": (["model=file,timm"], r"model=file,timm are several values: .*model=\[file,timm\].*-m"),
    "unknown key": (
        ["dataset.max_sample=3"],
        "dataset.max_sample is unknown: did you mean max_samples\\? allowed: split, max_samples",
    ),
    "unknown key of an operator": (["operators.weight_noise.sigma=1"], "operators.weight_noise.sigma is unk"),
    "unknown key of the root": (["sede=3"], "sede is unknown: did you mean seed\\? allowed: .*resume"),
    "unknown key with a plus": (["+scoring.alpha=1"], "scoring.alpha is unknown: allowed: q, delta"),
    "new key without a plus": (["task.suites.a=[0]"], r"task.suites.a is not there yet: .*\+task.suites.a="),
    "key of Lightning's": (["trainer.max_time=1"], r"trainer.max_time is unknown.* takes a plus, \+trainer"),
    "plus without effect": (["+operators=[input_blur]"], r".* has no effect: leave out the plus, operators="),
    "key that the task does not read": (["+before=abc"], "task=mutate does not read 'before': leave it out"),
    "wrong type": (["task.batch_size=abc"], "task.batch_size must be a whole number or null, not 'abc'"),
    "wrong type at the root": (["seed=abc"], "seed must be a whole number, not 'abc'"),
    "wrong flag": (["allow_unsafe_load=maybe"], "allow_unsafe_load must be true or false, not 'maybe'"),
    "null at the root": (["output=null"], "output must be text, not null"),
    "none of the words": (["engine=fast"], "engine must be one of bank, naive, not 'fast'"),
    "out of range": (["scoring.q=2"], "scoring.q must lie between 0 and 1, not 2"),
    "out of range in a list": (["operators.weight_noise.sigmas=[-1]"], "operators.weight_noise.sigmas holds"),
    "batch of nothing": (["task.batch_size=0"], "task.batch_size must be 1 or more, not 0"),
    "negative seed": (["seed=-1"], "seed must be 0 or more, not -1"),
    "negative seed of the sample": (["dataset.seed=-1"], "dataset.seed must be 0 or more, not -1"),
    "no device": (["trainer.devices=0"], "trainer.devices must be how many .*, -1 or auto for all, .* not 0"),
    "no such target": (
        ["operators.weight_noise._target_=users_code.Nope"],
        "operators.weight_noise._target_=users_code.Nope cannot be imported: ",
    ),
    "target that makes no operator": (
        ["~operators.weight_noise", "+operators.net._target_=users_code.Net"],
        r"operators.net must have a _target_ that makes an operator, not Net",
    ),
    "operator, null": (["operators.weight_noise=null"], "operators.weight_noise must have a _target_"),
    "unreadable value": (["output=a b!"], "'output=a b!' cannot be read: give key=value"),
    "no value": (["loud"], "unknown task 'loud'. Tasks are autopsy, .*; anything else is key=value"),
    "pattern that matches nothing": (
        ["operators.weight_noise.layers=conv9*"],
        r"operators.weight_noise: no weighted layer matches 'conv9\*'; the model has conv1, conv2",
    ),
    "missing mandatory value": (["dataset=image_folder", "model=file"], r"(model.path|dataset.root) must be given"),
    "missing file of weights": ([*OWN_NET, "model.weights=gone.pt"], "model.weights=gone.pt does not exist; give"),
    "missing images": ([*ARRAYS, "dataset.images=gone.npz"], "dataset.images=gone.npz does not exist; give a file"),
    "missing folder": ([*FOLDER, "dataset.root=gone"], "dataset.root=gone does not exist; give a folder"),
    "empty file": (["model=file", "model.path=empty.pt"], "model.path=empty.pt is empty"),
    "whole pickle": (["model=file", "model.path=whole.pt"], "whole.pt needs .*allow_unsafe_load=true"),
    "weights for a module": (["model=file", "model.path=net.pt"], "net.pt holds a state_dict.*model=state_dict"),
    "hidden code": (["model=file", "model.path=trap.pt2"], "trap.pt2 holds what can run code.*io.open"),
    "weights of another shape": ([*OWN_NET, "+model.factory.outputs=3"], "net.pt does not fit Net: head.weight"),
    "classes unlike outputs": ([*ARRAYS, "dataset.images=twelve.npz"], "model Net has 10 outputs, but .* 12 classes"),
    "labels outside the classes": ([*ARRAYS, "dataset.class_names=[a,b]"], r"labels must be in 0\.\.1 .*case 2 has 2"),
    "classes that the model lacks": ([*FOLDER, "dataset.root=photos", "model.class_names=[x,y]"], "data set photos"),
    "empty class folder": ([*FOLDER, "dataset.root=hollow"], "dataset.root=hollow has the class folder dogs, which"),
    "no data": ([*ARRAYS, "dataset.images=none.npz"], "images hold no picture"),
    "infinite outputs": (
        [*ARRAYS, "model.factory._target_=users_code.NeverFinite"],
        "the original model gives NaN or infinity already on the first test cases",
    ),
    "NaN in the middle of the pass": (
        [*ARRAYS, "dataset.images=late.npz", "model.factory._target_=users_code.BlindToWhite"],
        "the original model gives NaN or infinity for test case 33",
    ),
    "images that the model refuses": (
        [*OWN_NET, "model.preprocess=null"],
        "the model's first layer conv takes 1 channel",
    ),
    "suite that is not there": (
        ["+task.suites={smoke: gone.txt}"],
        "task.suites.smoke=gone.txt does not exist; give a file",
    ),
    "suite with a lost case": (["+task.suites={smoke: lost.txt}"], "suites.smoke: lost.txt lists index 99999"),
    "suite that is a number": (
        ["+task.suites={smoke: 3}"],
        "task.suites.smoke must be the path of a file or a list of .*, not 3",
    ),
    "run that is not there": (["resume=" + 32 * "0"], "run 0{32} cannot be read from sqlite:.*not found"),
    "run that is no run": (["resume=mine"], "resume=mine must be the id of a run, or the beginning of one"),
    "store of no kind": (["tracking.uri=ftp://somewhere"], "tracking.uri=ftp://somewhere cannot hold runs; allowed"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line_and_leaves_no_run(mistake, assay, place):
    changes, sentence = MISTAKES[mistake]
    before = assay.statuses()
    ended = assay(*base(*changes))
    assert ended.code == 2
    assert re.fullmatch(f"error: {sentence}.*\n", ended.err), ended.err
    assert ended.out == ""
    assert assay.statuses() == before
    assert not (place / "sprung").exists()
    assert not (ended.folder / "report.json").exists()


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ([], r"no task was chosen: give \+experiment=NAME, one of .*mutate_fashion.*; or task=NAME, one of .*mutate"),
        (["experiment=demo"], r"experiment takes a plus: give \+experiment=NAME, one of .*demo"),
        (["+experiment=nope"], "unknown experiment 'nope'. Allowed: .*mutate_fashion"),
        (["task=mutate"], "task=mutate needs a dataset: give dataset=NAME, of arrays"),
        (["task=mutate", "dataset=fashion"], "task=mutate needs a model: give model=NAME, of .*fashion_cnn"),
        (["task=mutate", "dataset=fashion", "model=fashion_cnn"], r"task=mutate needs operators: give operators=\[N"),
        (["--config-dir", "conf", "+experiment=typo_in_group"], "dataset.max_sample is unknown: did you mean max_sam"),
        (["--config-dir", "conf", "+experiment=typo_at_root"], "experiment/typo_at_root: sede is unknown: did you m"),
        (["--config-dir", "conf", "+experiment=text_for_number"], "experiment/text_for_number: seed must be a whole"),
        (["--config-dir", "conf", "+experiment=broken"], ".*broken.yaml.*line"),
        (["--config-dir", "gone", "+experiment=demo"], "Additional config directory .*gone' not found"),
    ],
    ids=lambda each: " ".join(each) or "nothing" if isinstance(each, list) else "",
)  # fmt: skip
def test_what_was_chosen_is_checked(given, sentence, assay, place):
    ended = assay(*given)
    assert ended.code == 2
    assert re.fullmatch(f"error: {sentence}.*\n", ended.err), ended.err


def test_a_truncated_picture_is_left_out_and_listed(assay, place):
    ended = assay(*base(*FOLDER, "dataset.root=photos"))
    assert (ended.code, ended.err) == (0, "")
    subject = ended.report()["subject"]
    assert subject["n"] == 11
    [excluded] = subject["excluded"]
    assert excluded["path"] == "cats/0.jpg"
    assert "truncated" in excluded["reason"]


def test_code_and_files_of_the_users(assay, place):
    own = ["operators=[]", "~operators.weight_noise.count", "+operators.mine._target_=users_code.OwnZeroing"]
    chosen = [each for each in base(*OWN_NET) if "operators" not in each]
    ended = assay(*chosen, own[2], "+operators.mine.ratios=[0.5]", "+operators.mine.count=2")
    assert (ended.code, ended.err) == (0, "")
    report = ended.report()
    assert report["subject"]["model"] == "Net"
    assert {each["operator"] for each in report["mutants"]} == {"own_zeroing"}
    assert report["summary"]["mutants"] == 2


def test_classes_are_matched_by_name(assay, place):
    def accuracy(*changes: str) -> float:
        ended = assay(*base(*FOLDER, "dataset.root=photos", *changes))
        assert ended.code == 0, ended.err
        return ended.report()["original"]["accuracy"]

    straight, crossed = accuracy("model.class_names=[cats,dogs]"), accuracy("model.class_names=[dogs,cats]")
    assert straight + crossed == pytest.approx(
        1.0
    )  # two classes: what is right one way is wrong the other way


def test_help_is_quick_and_starts_nothing_heavy():
    code = (
        "import sys, runpy\n"
        "sys.argv = ['app', '--help']\n"
        "try:\n"
        "    runpy.run_module('app', run_name='__main__')\n"
        "except SystemExit as end:\n"
        "    heavy = {'torch', 'mlflow', 'pytorch_lightning', 'pandas', 'scipy', 'numpy'} & set(sys.modules)\n"
        "    print('heavy:', *heavy); print('code:', end.code)\n"
    )
    before = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    seconds = time.perf_counter() - before
    page = done.stdout
    assert page.endswith("heavy:\ncode: 0\n")
    assert "python -m app +experiment=NAME" in page
    assert all(f"\n  {name} " in page for name in ("mutate", "fashion_cnn", "mc_dropblock", "ddp_cpu"))
    assert done.stderr == ""
    assert seconds < 2 or (seconds < 10 and _cpu_seconds(code) < 2)  # a busy machine stretches the wall


def _cpu_seconds(code: str) -> float:
    import resource

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
