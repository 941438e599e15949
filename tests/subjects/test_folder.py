"""Folders of pictures, good and bad."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from PIL import Image

from app.errors import Fault, UserError
from app.images import Decoding
from app.subjects.dataset import Excluded
from app.subjects.fashion import fashion
from app.subjects.folder import image_folder


def test_each_subfolder_is_a_class(animals):
    data = image_folder(animals)
    assert (data.name, data.class_names) == ("animals", ("cat", "dog"))
    assert data.paths == ("cat/0.png", "cat/1.png", "cat/2.png", "dog/0.png", "dog/1.png")
    assert data.labels.tolist() == [0, 0, 0, 1, 1]
    assert data.excluded == ()
    np.testing.assert_array_equal(np.array(data.load(4)), np.array(Image.open(animals / "dog" / "1.png")))


def test_agrees_with_torchvision(animals):
    from torchvision.datasets import ImageFolder

    (animals / "cat" / "deeper").mkdir()
    shutil.copy(animals / "cat" / "0.png", animals / "cat" / "deeper" / "0.PNG")
    theirs, ours = ImageFolder(str(animals)), image_folder(animals)
    assert ours.class_names == tuple(theirs.classes)
    assert {(str(animals / path), label) for path, label in zip(ours.paths, ours.labels, strict=True)} == set(
        theirs.samples
    )


def test_given_names_order_the_labels(animals):
    data = image_folder(animals, class_names=["dog", "cat"], name="pets")
    assert (data.name, data.class_names, data.labels.tolist()) == ("pets", ("dog", "cat"), [0, 0, 1, 1, 1])


def test_the_digest_is_of_content_not_place(animals, tmp_path):
    copied = tmp_path / "elsewhere"
    shutil.copytree(animals, copied)
    (copied / "cat" / "0.png").rename(copied / "cat" / "00.png")
    assert image_folder(copied).digest == image_folder(animals).digest
    shutil.copy(copied / "cat" / "1.png", copied / "cat" / "2.png")
    assert image_folder(copied).digest != image_folder(animals).digest


def test_unreadable_files_are_left_out_and_listed(animals, picture):
    picture(64, 64).save(animals / "dog" / "cut.jpg")
    whole = (animals / "dog" / "cut.jpg").read_bytes()
    (animals / "dog" / "cut.jpg").write_bytes(whole[: len(whole) // 2])
    (animals / "cat" / "empty.png").touch()
    (animals / "cat" / "notes.txt").write_text("x")
    (animals / "cat" / ".hidden.png").write_text("x")
    data = image_folder(animals)
    assert len(data) == 5
    assert [each.path for each in data.excluded] == ["cat/empty.png", "cat/notes.txt", "dog/cut.jpg"]
    assert data.excluded[0] == Excluded("cat/empty.png", "is empty")
    assert "has no ending of a picture" in data.excluded[1].reason
    assert "truncated" in data.excluded[2].reason


def test_links_must_stay_inside(animals, tmp_path, picture):
    outside = tmp_path / "outside"
    outside.mkdir()
    picture().save(outside / "secret.png")
    (animals / "cat" / "out.png").symlink_to(outside / "secret.png")
    (animals / "cat" / "in.png").symlink_to(animals / "dog" / "0.png")
    (animals / "cat" / "all").symlink_to(outside)
    data = image_folder(animals)
    assert "cat/in.png" in data.paths
    assert data.excluded == (
        Excluded("cat/all", "is a link to a folder"),
        Excluded("cat/out.png", "is a link out of the data set's folder"),
    )
    (animals / "zebra").symlink_to(outside)
    with pytest.raises(UserError, match=r"class folder .*zebra is a link out of"):
        image_folder(animals)


def test_names_of_any_script_and_markup(tmp_path, picture):
    folder, file = "<b>größe & 猫</b>".replace("/", "∕"), "\"quoted\" <img src=x onerror=1> 'é'.png"
    (tmp_path / folder).mkdir()
    picture().save(tmp_path / folder / file)
    data = image_folder(tmp_path)
    assert (data.class_names, data.paths) == ((folder,), (f"{folder}/{file}",))
    assert data.load(0).size == (12, 10)


def test_a_name_that_is_no_text_is_shown_all_the_same(animals, picture):
    picture().save(animals / "cat" / "x.png")
    (animals / "cat" / "x.png").rename(animals / "cat" / b"\xff.png".decode(errors="surrogateescape"))
    data = image_folder(animals)
    assert data.paths[-3].startswith("cat/")
    data.paths[-3].encode()  # can be written into a report
    assert len(data.digest) == 64


def test_a_sample_is_drawn_before_decoding(animals):
    told: list[tuple[int, int]] = []
    data = image_folder(animals, max_samples=2, seed=1, workers=1, progress=lambda *done: told.append(done))
    assert data.labels.tolist() == [0, 1]
    assert told == [(1, 2), (2, 2)]


def test_the_number_of_threads_changes_nothing(animals):
    assert image_folder(animals, workers=1).digest == image_folder(animals, workers=4).digest


def test_a_file_that_changes_later_is_named(animals):
    data = image_folder(animals)
    (animals / "cat" / "1.png").write_bytes(b"gone")
    with pytest.raises(Fault, match=r"cat/1.png is no picture of JPEG.*changed since the run began"):
        data.load(1)


def test_what_is_wrong_is_said(animals, tmp_path):
    with pytest.raises(UserError, match=r"none does not exist"):
        image_folder(tmp_path / "none")
    with pytest.raises(UserError, match=r"0.png is no folder"):
        image_folder(animals / "cat" / "0.png")
    with pytest.raises(UserError, match=r"has no subfolders"):
        image_folder(animals / "cat")
    with pytest.raises(UserError, match=r"class_names lacks dog, of which there are folders"):
        image_folder(animals, class_names=["cat"])
    with pytest.raises(UserError, match=r"class_names has emu, of which there is no folder"):
        image_folder(animals, class_names=["cat", "dog", "emu"])
    (animals / "emu").mkdir()
    with pytest.raises(UserError, match=r"class folder .*emu holds no picture"):
        image_folder(animals)
    (animals / "emu" / "bad.png").write_text("bad")
    with pytest.raises(UserError, match=r"emu holds no readable picture \(emu/bad.png is no picture of JPEG"):
        image_folder(animals)


WHITE = {"float.tif": 1, "twelve.png": 4095, "thirty-two.tif": 255}


@pytest.mark.parametrize(
    "kind",
    [
        "grey.png",
        "grey.tif",
        "grey.gif",
        "grey.bmp",
        "grey.pgm",
        "sixteen.png",
        "sixteen.tif",
        "colour.webp",
        "alpha.png",
        "palette.png",
        "ink.tif",
        "line.png",
        *WHITE,
    ],
)
def test_the_embedded_images_are_the_same_in_every_format(tmp_path, kind):
    data = fashion(max_samples=20)
    how, suffix = kind.split(".")
    for case, label in enumerate(data.labels):
        image, levels = data.load(case), np.asarray(data.load(case))
        dark = Image.new("L", image.size)
        stored = {
            "sixteen": lambda levels=levels: Image.fromarray(levels.astype(np.uint16) * 257),
            "twelve": lambda levels=levels: Image.fromarray((levels / 255 * 4095).round().astype(np.uint16)),
            "float": lambda levels=levels: Image.fromarray((levels / 255).astype(np.float32)),
            "thirty-two": lambda levels=levels: Image.fromarray(levels.astype(np.int32)),
            "colour": lambda image=image: image.convert("RGB"),
            "alpha": lambda image=image: image.convert("RGBA"),
            "palette": lambda image=image: image.convert("P"),
            "ink": lambda image=image: image.convert("RGB").convert("CMYK"),
            "line": lambda image=image, dark=dark: Image.merge(
                "RGBA", [dark] * 3 + [image.point(lambda level: 255 - level)]
            ),
        }.get(how, lambda image=image: image)()
        folder = tmp_path / "data" / str(label)
        folder.mkdir(parents=True, exist_ok=True)
        stored.save(folder / f"{case:02d}.{suffix}", **({"lossless": True} if suffix == "webp" else {}))
    white = WHITE.get(kind)
    if white is not None:
        found = image_folder(tmp_path / "data", decoding=Decoding(white_level=white))
    else:
        found = image_folder(tmp_path / "data")
    expected = {f"{label}/{case:02d}.{suffix}": data.load(case) for case, label in enumerate(data.labels)}
    assert set(found.paths) == set(expected)
    for case, path in enumerate(found.paths):
        np.testing.assert_array_equal(np.asarray(found.load(case).convert("L")), np.asarray(expected[path]))


def test_other_pixels_are_other_data_and_ordinary_files_are_not_touched(animals):
    white = Decoding(white_level=4095, background="black")
    assert image_folder(animals, decoding=white).digest == image_folder(animals).digest
    Image.fromarray(np.full((8, 8), 4000, np.uint16)).save(animals / "cat" / "deep.png")
    usual, other = image_folder(animals), image_folder(animals, decoding=white)
    assert usual.digest != other.digest
    assert (usual.case_digests == other.case_digests).all(axis=1).tolist() == [
        True,
        True,
        True,
        False,
        True,
        True,
    ]
    assert "give decoding.white_level (4095 for 12 bits)" in usual.notes[-1]
    assert other.notes == ("1 image has 16 bits a sample: 4,095 is white (such as cat/deep.png)",)


def test_images_of_formats_that_are_not_read_are_named(animals):
    (animals / "cat" / "scan.JP2").write_bytes(b"\0\0\0\x0cjP  ")
    found = image_folder(animals).excluded
    reason = "is an image of a format that is not read (JPEG 2000): convert it to PNG, JPEG or TIFF"
    assert found == (Excluded("cat/scan.JP2", reason),)
    (animals / "bird").mkdir()
    (animals / "bird" / "a.heic").write_bytes(b"x")
    with pytest.raises(UserError, match=r"bird holds no picture \(bird/a.heic is an image .* \(HEIF\)"):
        image_folder(animals)
