import json
import pickle
from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest

from app.errors import UserError
from app.scoring.detection import read_image_list
from app.scoring.detection.image_lists import stem_of


class Trap:
    def __reduce__(self):
        return print, ("ran",)


def test_text_and_json_lists(tmp_path):
    text, listed = tmp_path / "list.txt", tmp_path / "list.json"
    text.write_bytes("\ufeff# common\nfolder/a.jpg\n\n  b_1.PNG \nc.d\n".encode())
    listed.write_text(json.dumps(["folder/a.jpg", "b_1.PNG", "c.d"]))
    assert read_image_list(text) == read_image_list(listed) == ("a", "b_1", "c.d")


def test_stems_of_any_system():
    assert stem_of("C:\\data\\x y.jpeg") == "x y"
    assert stem_of("/data/scene.v2/frame_0.15") == "frame_0.15"


def test_a_pickle_of_paths_needs_the_unsafe_flag(tmp_path):
    path = tmp_path / "common_images_net_filtered.pkl"
    path.write_bytes(
        pickle.dumps([Path("x/a.jpg"), PurePosixPath("b.png"), PureWindowsPath("y\\c.bmp"), "d"])
    )
    with pytest.raises(UserError, match="a pickle can run code"):
        read_image_list(path)
    assert read_image_list(path, allow_unsafe_load=True) == ("a", "b", "c", "d")


@pytest.mark.parametrize("content", [Trap(), [Trap()], [Path], [print], {"a": 1}, "a", [1]])
def test_a_pickle_of_anything_else_is_refused_and_not_run(tmp_path, capsys, content):
    path = tmp_path / "list.pkl"
    path.write_bytes(pickle.dumps(content))
    with pytest.raises(UserError, match="list"):
        read_image_list(path, allow_unsafe_load=True)
    assert "ran" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.json", b"[", "is not JSON"),
        ("a.json", b"[" * 100_000, "nested too deeply"),
        ("a.json", b'{"a": 1}', "one list of"),
        ("a.json", b"[1]", "one list of"),
        ("a.json", b"[]", "lists no image"),
        ("a.txt", b"\n# nothing\n", "lists no image"),
        ("a.txt", b"x/a.jpg\ny/a.png\n", "lists image 'a' twice"),
        ("a.txt", b"\xff\xfe\xff", "is not UTF-16-LE text"),
        ("a.pkl", b"garbage", "only a pickled list of paths"),
        ("a.pkl", b"", "only a pickled list of paths"),
    ],
)
def test_lists_out_of_form_are_told(tmp_path, name, content, sentence):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=sentence):
        read_image_list(tmp_path / name, allow_unsafe_load=True)


def test_a_missing_list_is_told(tmp_path):
    with pytest.raises(UserError, match="does not exist"):
        read_image_list(tmp_path / "none.txt")
