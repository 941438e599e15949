"""The scan index of folders and of images in memory."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from PIL import Image

from app.errors import UserError
from app.integrity import Skipped, scan_folder, scan_images
from app.integrity.hashing import dhash


def test_a_folder_is_read_once_and_whole(folder, make_scene, encode):
    jpeg = encode(make_scene(1, 200, 150), "JPEG")
    root = folder({"cat/1.png": make_scene(0), "dog/2.jpg": jpeg, "dog/3.jpg": jpeg[:-900], "dog/4.png": b""})
    seen = []
    scan = scan_folder(root, workers=2, progress=lambda done, total: seen.append((done, total)))
    assert (scan.name, len(scan), scan.class_names) == ("data", 4, ("cat", "dog"))
    assert scan.readable.tolist() == [True, True, False, False]
    assert "truncated" in scan.reasons[2]
    assert scan.reasons[3] == "is empty"
    assert scan.digests[1].tobytes() == hashlib.sha256(jpeg).digest()
    assert scan.file_bytes.tolist()[1:] == [len(jpeg), len(jpeg) - 900, 0]
    assert scan.sides.tolist() == [[80, 70], [200, 150], [0, 0], [0, 0]]
    assert scan.modes == ("RGB", "RGB", "", "")
    assert int(scan.hashes[0]) == dhash(make_scene(0).convert("L"))
    assert np.isnan(scan.mean[2:]).all()
    assert scan.mean[0] == pytest.approx(np.asarray(make_scene(0).convert("L")).mean())
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert [scan.class_of(row) for row in range(4)] == ["cat", "dog", "dog", "dog"]


def test_threads_change_nothing(folder, make_scene):
    root = folder({f"{seed}.png": make_scene(seed) for seed in range(6)})
    one, many = scan_folder(root, workers=1), scan_folder(root, workers=4)
    assert one.columns() == many.columns()


def test_the_table_has_a_row_a_picture(folder, make_scene):
    table = scan_folder(folder({"a/1.png": make_scene(), "b.png": b"x"}), workers=1).columns()
    assert table["path"] == ["a/1.png", "b.png"]
    assert table["class"] == ["a", ""]
    assert table["status"][0] == "ok"
    assert str(table["status"][1]).startswith("is no picture")
    assert {len(column) for column in table.values()} == {2}
    assert int(str(table["hash"][0]), 16) == dhash(make_scene().convert("L"))


def test_images_in_memory_have_digests_of_their_pixels(scanned, make_scene):
    images = [make_scene(0), make_scene(0), make_scene(0).convert("L"), make_scene(0).resize((70, 80))]
    digests = scanned("train", images).digests.tolist()
    assert digests[0] == digests[1]
    assert digests[0] not in digests[2:]


def test_given_digests_are_kept(scanned, make_scene):
    given = np.arange(64, dtype=np.uint8).reshape(2, 32)
    assert scanned("train", [make_scene(0)] * 2, digests=given).digests.tolist() == given.tolist()


def test_an_image_that_cannot_be_loaded_is_unreadable(make_scene):
    def load(row: int) -> Image.Image:
        if row == 1:
            raise UserError("b.png is cut off")
        if row == 2:
            raise OSError("disk on fire\nand more")
        return make_scene(row)

    left_out = [Skipped("cat/x.png", "is empty"), Skipped("y.png", "is empty")]
    scan = scan_images(load, [0, 0, 1], ("cat", "dog"), name="test", unreadable=left_out, workers=1)
    assert scan.reasons == (
        "",
        "cannot be loaded (b.png is cut off)",
        "cannot be loaded (disk on fire)",
        "is empty",
        "is empty",
    )
    assert scan.paths == ("case-00000", "case-00001", "case-00002", "cat/x.png", "y.png")
    assert scan.labels.tolist() == [0, 0, 1, 0, -1]


def test_no_images_at_all(scanned):
    scan = scanned("nothing", [])
    assert len(scan) == 0
    assert scan.digests.shape == (0, 32)
    assert scan.sides.shape == (0, 2)
    assert scan.columns()["path"] == []


def test_fine_noise_on_a_large_picture_is_not_empty(folder):
    """Halving takes noise away: what is near-empty is decided on every pixel."""
    levels = np.where(np.random.default_rng(0).integers(0, 2, (800, 800)) == 1, 126, 130).astype(np.uint8)
    scan = scan_folder(folder({"noise.png": Image.fromarray(levels)}), workers=1)
    assert scan.std[0] == pytest.approx(levels.std())
    assert np.asarray(Image.fromarray(levels).reduce(8)).std() < 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"labels": [0, 2]},
        {"labels": [-2, 0]},
        {"labels": [0, 0], "paths": ["a"]},
        {"labels": [0, 0], "digests": np.zeros((2, 31))},
    ],
)
def test_what_does_not_fit_is_refused(make_scene, wrong):
    with pytest.raises(ValueError, match="labels"):
        scan_images(make_scene, class_names=("cat", "dog"), name="x", **wrong)
