"""What is stored becomes 8 bits by what its format says: every kind of sample, hand-made where Pillow writes none."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from app.errors import UserError
from app.images import Decoding, Unreadable, decode, decoded
from app.integrity.pictures import decode as grey_of
from app.samples import told

GREY = np.array([[0, 95, 128, 255], [7, 8, 9, 10]], dtype=np.uint8)
LINES = Image.new("RGBA", (3, 1), (0, 0, 0, 0))  # line art: black lines on nothing
LINES.putpixel((1, 0), (0, 0, 0, 255))
LINES.putpixel((2, 0), (100, 0, 0, 128))


def encoded(image: Image.Image, kind: str = "PNG", **options) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def tiff(samples: np.ndarray, *, white_is_zero: bool = False, sample_format: int | None = None) -> bytes:
    """An uncompressed TIFF of one channel; signed, unsigned or real by its type unless it is said to be otherwise."""
    order = (
        "<" if samples.dtype.newbyteorder("=") == samples.dtype and samples.dtype.byteorder != ">" else ">"
    )
    data, (height, width) = samples.tobytes(), samples.shape
    kind = sample_format or {"u": 1, "i": 2, "f": 3}[samples.dtype.kind]
    tags = [
        (256, width),
        (257, height),
        (258, 8 * samples.itemsize),
        (259, 1),
        (262, 0 if white_is_zero else 1),
    ]
    tags += [(273, 8), (277, 1), (278, height), (279, len(data)), (339, kind)]
    entries = b"".join(
        struct.pack(f"{order}HHI", tag, 4 if tag in {273, 279} else 3, 1)
        + (struct.pack(f"{order}I", value) if tag in {273, 279} else struct.pack(f"{order}HH", value, 0))
        for tag, value in tags
    )
    head = (b"II" if order == "<" else b"MM") + struct.pack(f"{order}HI", 42, 8 + len(data))
    return head + data + struct.pack(f"{order}H", len(tags)) + entries + bytes(4)


def png(width: int, depth: int, colour: int, rows: bytes, extra: bytes = b"") -> bytes:
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, 1, depth, colour, 0, 0, 0))
    return (
        b"\x89PNG\r\n\x1a\n"
        + header
        + extra
        + chunk(b"IDAT", zlib.compress(b"\0" + rows))
        + chunk(b"IEND", b"")
    )


def chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


@pytest.mark.parametrize(
    "content",
    [
        encoded(Image.fromarray(GREY)),
        encoded(Image.fromarray(GREY), "TIFF", compression="tiff_lzw"),
        encoded(Image.fromarray(GREY.astype(np.uint16) * 257)),
        encoded(Image.fromarray(GREY.astype(np.uint16) * 257), "TIFF"),
        encoded(Image.fromarray(GREY.astype(np.uint16) * 257), "TIFF", compression="tiff_lzw"),
        tiff((GREY * np.uint16(257)).astype("<u2")),
        tiff((GREY * np.uint16(257)).astype(">u2")),
        tiff(((255 - GREY) * np.uint16(257)).astype("<u2"), white_is_zero=True),
        b"P5 4 2 255\n" + GREY.tobytes(),
        b"P5 4 2 65535\n" + (GREY * np.uint16(257)).astype(">u2").tobytes(),
        b"P5 4 2 1020\n" + (GREY * np.uint16(4)).astype(">u2").tobytes(),
    ],
    ids=range(11),
)
def test_grey_of_any_depth_is_read_by_its_format_whatever_its_own_maximum(content):
    image = decode(content)
    assert image.mode == "L"
    np.testing.assert_array_equal(np.asarray(image), GREY)
    assert grey_of(content, reduced=False).grey.tobytes() == image.tobytes()  # integrity sees the same


def test_a_dark_file_of_16_bits_stays_dark():
    for highest in (255, 256, 4095):
        content = encoded(Image.fromarray(np.array([[0, highest]], dtype=np.uint16)))
        assert np.asarray(decode(content)).tolist() == [[0, round(highest / 257)]]


def test_twelve_bits_in_sixteen_need_their_white_level():
    stored = np.array([[0, 2048, 4095]], dtype=np.uint16)
    for content in (encoded(Image.fromarray(stored)), tiff(stored)):
        assert np.asarray(decode(content, Decoding(white_level=4095))).tolist() == [[0, 128, 255]]
        found = decoded(content)
        note = told([("a.png", found.remarks, found.highest)])[-1]
        assert "no sample of the images of 16 bits is above 4,095" in note
        assert "decoding.white_level (4095 for 12 bits)" in note
        with pytest.raises(Unreadable, match="holds 4,095, more than 1,023, which is white by decoding"):
            decode(content, Decoding(white_level=1023))
    assert np.asarray(decode(b"P5 1 1 4095\n\x0f\xff", Decoding(white_level=65535))).tolist() == [
        [255]
    ]  # it says so


@pytest.mark.parametrize(
    ("samples", "white", "kind"),
    [
        ((GREY / 255).astype("<f4"), 1, "real numbers of 32 bits"),
        ((GREY * 100.0).astype(">f4"), 25500, "real numbers of 32 bits"),
        (GREY.astype("<u4"), 255, "whole numbers of 32 bits"),
        (GREY.astype("<i4"), 255, "signed whole numbers of 32 bits"),
        (GREY.astype("<i2"), 255, "signed whole numbers of 16 bits"),
    ],
)
def test_samples_without_a_white_are_listed_until_it_is_given(samples, white, kind):
    content = tiff(samples)
    with pytest.raises(
        Unreadable, match=f"holds {kind}, and its format does not say which is white: give decoding"
    ):
        decode(content)
    with pytest.raises(Unreadable, match="does not say which is white"):
        grey_of(content)
    np.testing.assert_array_equal(np.asarray(decode(content, Decoding(white_level=white))), GREY)


@pytest.mark.parametrize(
    ("values", "reason"), [([0, -0.5], "holds -0.5, and samples begin"), ([0, 1.5], "holds 1.5, more than 1")]
)
def test_samples_outside_black_and_white_are_not_cut(values, reason):
    with pytest.raises(Unreadable, match=reason):
        decode(tiff(np.array([values], dtype="<f4")), Decoding(white_level=1))


def test_what_pillow_would_misread_is_listed():
    nan = tiff(np.array([[0, np.nan]], dtype="<f4"))
    with pytest.raises(Unreadable, match="NaN"):
        decode(nan, Decoding(white_level=1))
    with pytest.raises(Unreadable, match="signed whole numbers of 8 bits"):
        decode(tiff(GREY.astype("i1")))
    with pytest.raises(Unreadable, match="a TIFF of a kind that is not read"):
        decode(tiff((GREY / 255).astype("<f8")))
    with pytest.raises(Unreadable, match="one transparent colour"):
        decode(png(1, 16, 2, bytes(6), chunk(b"tRNS", bytes(6))))


def test_colour_of_16_bits_is_read_to_8():
    content = png(2, 16, 2, struct.pack(">6H", 257 * 9, 0, 65535, 257 * 200, 257, 0))
    found = decoded(content)
    assert [found.image.getpixel((x, 0)) for x in (0, 1)] == [(9, 0, 255), (200, 1, 0)]
    assert found.remarks == ("16 bits a channel: the upper 8 are read",)
    with pytest.raises(Unreadable, match="white_level cannot be applied"):
        decode(content, Decoding(white_level=4095))
    grey = decode(png(2, 16, 4, struct.pack(">4H", 257 * 9, 65535, 0, 0)))
    assert (grey.mode, np.asarray(grey).tolist()) == ("L", [[9, 255]])


@pytest.mark.parametrize(
    ("background", "colours"),
    [
        ("white", [(255, 255, 255), (0, 0, 0), (177, 127, 127)]),
        ([0, 0, 0], [(0, 0, 0), (0, 0, 0), (50, 0, 0)]),
        ("#00ff00", [(0, 255, 0), (0, 0, 0), (50, 127, 0)]),
        (None, [(0, 0, 0), (0, 0, 0), (100, 0, 0)]),
    ],
)
@pytest.mark.parametrize("kind", ["PNG", "TIFF", "WEBP", "palette"])
def test_line_art_on_transparency_lies_on_the_background(background, colours, kind):
    stored = LINES.quantize(4) if kind == "palette" else LINES
    options = {"lossless": True, "exact": True} if kind == "WEBP" else {}
    content = encoded(stored, "PNG" if kind == "palette" else kind, **options)
    found = decoded(content, Decoding(background=background))
    assert [found.image.getpixel((x, 0)) for x in range(3)] == colours
    words = "the colours beneath are shown" if background is None else "laid on "
    assert [each.partition(words)[:2] for each in found.remarks] == [("transparent pixels: ", words)]


def test_transparent_grey_stays_grey():
    for content in (
        encoded(LINES.convert("LA")),
        encoded(Image.fromarray(np.array([[7, 0, 142]], dtype=np.uint8)), transparency=7),
        encoded(Image.fromarray(np.array([[7, 0, 142 * 257]], dtype=np.uint16)), transparency=7),
    ):
        image = decode(content)
        assert (image.mode, np.asarray(image).tolist()) == ("L", [[255, 0, 142]])
    four = png(4, 2, 0, bytes([0b00011011]), chunk(b"tRNS", struct.pack(">H", 2)))
    assert np.asarray(decode(four)).tolist() == [[0, 85, 255, 255]]  # the third of four greys is transparent


def test_an_alpha_channel_that_hides_nothing_changes_nothing():
    opaque = Image.merge("RGBA", [*LINES.split()[:3], Image.new("L", LINES.size, 255)])
    found = decoded(encoded(opaque))
    assert (found.image.tobytes(), found.remarks) == (LINES.convert("RGB").tobytes(), ())


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG", "TIFF"])
def test_the_first_of_several_frames_is_read_and_it_is_said(kind):
    first, second = Image.new("RGB", (8, 8), (200, 30, 40)), Image.new("RGB", (8, 8), (0, 250, 0))
    options = {"lossless": True} if kind == "WEBP" else {}
    found = decoded(encoded(first, kind, save_all=True, append_images=[second], **options))
    assert found.image.getpixel((3, 3)) == (200, 30, 40)
    assert found.remarks == ("several frames or pages: the first is read",)
    assert not decoded(encoded(first, kind, **options)).remarks


@pytest.mark.parametrize(
    ("mode", "stored"), [("CMYK", "TIFF"), ("CMYK", "JPEG"), ("YCbCr", "TIFF"), ("LAB", "TIFF")]
)
def test_other_colours_become_red_green_and_blue(mode, stored):
    colour = (200, 100, 50)
    pixel = {"CMYK": (55, 155, 205, 0), "YCbCr": (124, 86, 182), "LAB": (138, 166, 174)}[mode]
    content = encoded(
        Image.new(mode, (16, 16), pixel), stored, **({"quality": 95} if stored == "JPEG" else {})
    )
    assert np.abs(np.subtract(decode(content).getpixel((8, 8)), colour)).max() <= 4
    assert grey_of(content).grey.getpixel((8, 8)) == pytest.approx(124, abs=4)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_tiff_is_turned_once(orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    content = encoded(Image.fromarray(GREY), "TIFF", exif=exif)
    size = (2, 4) if orientation > 4 else (4, 2)
    found = grey_of(content)
    assert decode(content).size == size == (found.width, found.height)


def test_damaged_exif_data_say_nothing_about_pixels():
    content = encoded(Image.fromarray(GREY), "JPEG", exif=b"Exif\0\0garbage\xff\xff\xff")
    assert decode(content).size == (4, 2)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "BMP", "GIF", "TIFF", "WEBP", "PPM"])
def test_a_file_that_was_cut_off_is_found(kind):
    noise = np.random.default_rng(0).integers(0, 256, (48, 64, 3), dtype=np.uint8)
    whole = encoded(Image.fromarray(noise), kind)
    decode(whole)
    for kept in (0, 1, 10, len(whole) // 4, len(whole) // 2, len(whole) - 40):
        with pytest.raises(Unreadable):
            decode(whole[:kept])


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"white_level": 0}, "decoding.white_level must be a number above 0"),
        ({"white_level": float("nan")}, "decoding.white_level"),
        ({"white_level": "12"}, "decoding.white_level"),
        ({"background": "whitish"}, "decoding.background must be a colour"),
        ({"background": [255, 255]}, "decoding.background"),
        ({"background": [255, 255, 256]}, "decoding.background"),
        ({"max_pixels": 0}, r"decoding.max_pixels must be in 1..89478485"),
        ({"max_pixels": 10**9}, "decoding.max_pixels"),
    ],
)
def test_impossible_settings_are_refused(settings, words):
    with pytest.raises(UserError, match=words):
        Decoding(**settings)


def test_notes_count_and_name_the_first():
    read = [
        ("a.gif", ("several frames",), None),
        ("b.png", ("several frames", "16 bits"), 65535),
        ("c.png", (), 7),
    ]
    assert told(read) == (
        "2 images have several frames (such as a.gif)",
        "1 image has 16 bits (such as b.png)",
    )
