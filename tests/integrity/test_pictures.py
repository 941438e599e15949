"""Decoding of good, large, strange and hostile files."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from app.images import Decoding, Unreadable
from app.integrity.hashing import dhash, distance
from app.integrity.pictures import decode, in_memory


@pytest.mark.parametrize("mode", ["RGB", "L", "RGBA", "P", "LA", "1", "CMYK", "I;16"])
def test_every_mode_becomes_grey(make_scene, encode, mode):
    scene = make_scene()
    stored = (
        Image.fromarray(np.asarray(scene.convert("L")).astype(np.uint16) * 256)
        if mode == "I;16"
        else (scene.convert("L").convert(mode) if mode == "LA" else scene.convert(mode))
    )
    picture = decode(encode(stored, "TIFF" if mode == "CMYK" else "PNG"))
    assert (picture.grey.mode, picture.mode, picture.width, picture.height) == ("L", mode, 80, 70)
    if mode not in {"1", "P"}:
        expected = np.asarray(scene.convert("L")).astype(int)
        assert np.abs(np.asarray(picture.grey) - expected).max() <= 2


@pytest.mark.parametrize(
    ("size", "reduction"),
    [((95, 400), 1), ((191, 191), 1), ((192, 300), 2), ((400, 384), 4), ((900, 800), 8)],
)
@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_large_pictures_are_halved_alike_by_every_decoder(make_scene, encode, size, reduction, kind):
    scene = make_scene(1, *size)
    picture = decode(encode(scene, kind))
    assert picture.reduction == reduction
    assert (picture.width, picture.height) == size
    assert picture.grey.size == tuple(-(-side // reduction) for side in size)
    whole = decode(encode(scene, kind), reduced=False)
    assert whole.grey.size == size
    assert distance(dhash(picture.grey), dhash(scene.convert("L"))) <= 2
    box = np.asarray(whole.grey.reduce(reduction)).astype(int)
    assert np.abs(np.asarray(picture.grey) - box).mean() < 2


def test_images_in_memory_are_treated_like_lossless_files(make_scene, encode):
    scene = make_scene(2, 230, 300)
    one, other = in_memory(scene), decode(encode(scene))
    assert one.grey.tobytes() == other.grey.tobytes()
    assert (one.width, one.height, one.mode, one.reduction) == (other.width, other.height, "RGB", 2)


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_exif_orientation_is_applied(make_scene, encode, kind):
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned a quarter clockwise
    scene = make_scene(0, 300, 200)
    picture = decode(encode(scene, kind, exif=exif))
    assert (picture.width, picture.height) == (200, 300)
    upright = scene.transpose(Image.Transpose.ROTATE_270).convert("L")
    assert distance(dhash(picture.grey), dhash(upright)) <= 2


def test_a_truncated_jpeg_is_found_also_when_it_decodes_smaller(make_scene, encode):
    for size in (80, 224, 800):
        whole = encode(make_scene(0, size, size), "JPEG")
        decode(whole)
        with pytest.raises(Unreadable, match=r"cannot be decoded \(.*truncated"):
            decode(whole[: len(whole) * 3 // 4])


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"", "is empty"), (b"not a picture", "is no picture of JPEG"), (b"%!PS-Adobe-3.0", "is no picture")],
    ids=["empty", "text", "PostScript"],
)
def test_hostile_files_are_refused(content, reason):
    with pytest.raises(Unreadable, match=reason):
        decode(content)


def test_exactly_the_limit_is_decoded(make_scene, encode):
    limit = Decoding(max_pixels=80 * 70)
    assert decode(encode(make_scene()), limit).width == 80
    with pytest.raises(Unreadable, match="has 81x70 pixels"):
        decode(encode(make_scene(0, 81, 70)), limit)
