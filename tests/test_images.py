"""Decoding of good, strange and hostile image files."""

from __future__ import annotations

import io
import os
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from app import images
from app.images import Decoding, Unreadable, decode, opened, read


def picture(width: int = 16, height: int = 12, mode: str = "RGB") -> Image.Image:
    """Seeded noise, which no lossy step could leave unchanged."""
    bands = 3 if mode == "RGB" else 1
    pixels = np.random.default_rng(0).integers(0, 256, (height, width, bands), dtype=np.uint8)
    return Image.fromarray(pixels if bands == 3 else pixels[..., 0])


def encoded(image: Image.Image, kind: str = "PNG", **options) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def png_of_size(width: int, height: int) -> bytes:
    """A PNG whose header promises a size that its data does not hold."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        checksum = struct.pack(">I", zlib.crc32(kind + content))
        return struct.pack(">I", len(content)) + kind + content + checksum

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(b"\0"))
        + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize("mode", ["RGB", "L"])
def test_lossless_files_come_back(mode):
    image = picture(mode=mode)
    decoded = decode(encoded(image))
    assert decoded.mode == mode
    np.testing.assert_array_equal(np.array(decoded), np.array(image))


@pytest.mark.parametrize(
    ("stored", "mode"), [("RGBA", "RGB"), ("P", "RGB"), ("1", "L"), ("LA", "L"), ("CMYK", "RGB")]
)
def test_other_modes_become_grey_or_colour(stored, mode):
    kind = "TIFF" if stored == "CMYK" else "PNG"
    assert decode(encoded(picture().convert(stored), kind)).mode == mode


def test_palette_with_transparency_lies_on_white():
    image = Image.new("P", (2, 1))
    image.putpalette([255, 0, 0, 0, 0, 255])
    image.putpixel((1, 0), 1)
    decoded = decode(encoded(image, transparency=bytes([0, 255])))
    assert [decoded.getpixel((x, 0)) for x in (0, 1)] == [(255, 255, 255), (0, 0, 255)]


def test_sixteen_bits_are_divided_by_what_is_white_in_sixteen():
    pixels = np.array([[0, 256, 65535]], dtype=np.uint16)
    decoded = decode(encoded(Image.fromarray(pixels)))
    assert decoded.mode == "L"
    assert np.array(decoded).tolist() == [[0, 1, 255]]


def test_exif_orientation_is_applied():
    image = picture(12, 10)
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned a quarter clockwise
    decoded = decode(encoded(image, "PNG", exif=exif))
    np.testing.assert_array_equal(np.array(decoded), np.rot90(np.array(image), -1))


def test_a_truncated_jpeg_is_found():
    whole = encoded(picture(64, 64), "JPEG")
    decode(whole)
    with pytest.raises(Unreadable, match=r"cannot be decoded \(.*truncated"):
        decode(whole[: len(whole) * 2 // 3])


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b"not a picture", "is no picture of JPEG"),
        (png_of_size(8000, 5001), "has 8000x5001 pixels, more than 40 million"),
        (png_of_size(60000, 60000), "more than 40 million"),
        (png_of_size(30, 30), "cannot be decoded"),
        (encoded(Image.new("L", (4, 4)))[:40], "its beginning is damaged"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "is no picture of JPEG"),
    ],
    ids=["empty", "text", "large", "bomb", "lying header", "cut header", "PostScript"],
)
def test_hostile_files_are_refused(content, reason):
    with pytest.raises(Unreadable, match=reason):
        decode(content)


def test_reading_has_a_limit(tmp_path, monkeypatch):
    file = tmp_path / "large.png"
    file.write_bytes(bytes(2 * 2**20))
    assert len(read(file)) == 2 * 2**20
    monkeypatch.setattr(images, "MAX_BYTES", 2**20)
    with pytest.raises(Unreadable, match=r"is larger than 1 MiB \(2 MiB\)"):
        read(file)


def test_exactly_the_limit_is_decoded():
    limit = Decoding(max_pixels=16 * 12)
    assert decode(encoded(picture()), limit).size == (16, 12)
    with pytest.raises(Unreadable, match=r"has 17x12 pixels, more than 192 \(decoding.max_pixels\)"):
        decode(encoded(picture(17)), limit)


def test_what_goes_wrong_while_a_file_is_open_is_the_files_fault():
    def failing():
        with opened(encoded(picture())) as (image, _):
            assert image.size == (16, 12)
            raise SyntaxError("broken chunk\nand more")

    with pytest.raises(Unreadable, match=r"^cannot be decoded \(broken chunk\)$"):
        failing()


def test_reading_what_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe.png")
    for path in (tmp_path, tmp_path / "pipe.png"):
        with pytest.raises(Unreadable, match="is no regular file"):
            read(path)
    with pytest.raises(Unreadable, match="cannot be read"):
        read(tmp_path / "missing.png")
