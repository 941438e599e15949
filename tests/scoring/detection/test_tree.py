import pytest

from app.detections import DetectionLog
from app.errors import UserError
from app.scoring.detection import DetectionTree, Strength
from app.scoring.detection.names import safe_name
from app.scoring.detection.tree import models_in, operators_in


@pytest.fixture
def tree(tmp_path, scene):
    def plant(operator, tags, images=("a", "b_1"), dataset="orig"):
        made = DetectionTree(tmp_path, operator, "net", dataset)
        for tag in tags:
            made.write(tag, DetectionLog.of(images, [[scene(([0, 0, 9, 9], 1))] * 2] * len(images)))
        return made

    return plant


def test_grids_are_found_on_disk_in_order_of_strength(tree):
    assert tree("mc_dropout", ["0.5", "0", "0.15", "0.1"]).tags == ("0.1", "0.15", "0.5")
    block = tree("mc_dropblock", ["0.1_9", "0_1", "0.1_3", "0.05_9"])
    assert block.tags == ("0.05_9", "0.1_3", "0.1_9")
    assert block.original_tag == "0_1"
    assert block.strength("0.1_3") == Strength("mc_dropblock", 0.1, 3)
    assert block.key("0.1_3") == "mc_dropblock_0.1_3"


def test_images_are_those_of_the_original_and_may_hold_underscores_and_digits(tree):
    made = tree("mc_dropout", ["0", "0.1"], images=("a", "1_2", "x.y_z"))
    assert made.images() == ("1_2", "a", "x.y_z")
    block = tree("mc_dropblock", ["0_1", "0.1_3"], images=("5_x", "7"))
    assert block.images() == ("5_x", "7")


def test_common_images_are_those_of_all_tags(tree):
    tree("mc_dropout", ["0", "0.1"], images=("a", "b", "c"))
    made = tree("mc_dropout", ["0.2"], images=("b", "c", "d"))
    assert made.common_images() == ("b", "c")
    assert made.common_images(["0.1"]) == ("a", "b", "c")


def test_read_gives_what_was_written(tree):
    log = tree("other_operator", ["0", "0.25"]).read("0.25", ["b_1", "a"])
    assert (log.images, log.repetitions.tolist(), len(log.labels)) == (("b_1", "a"), [2, 2], 4)


def test_the_data_set_is_a_choice(tree):
    made = tree("mc_dropout", ["0"], dataset="night")
    assert made.folder.parts[-2:] == ("dataset", "night")
    assert made.images() == ("a", "b_1")


@pytest.mark.parametrize("name", ["..", ".", "", "a/b", "../x", "/etc", "a\\b", "C:x", "a\0b", "\\\\host"])
def test_names_that_leave_their_folder_are_refused(tmp_path, tree, name):
    with pytest.raises(UserError, match="is no plain name"):
        safe_name(name, "image")
    for position in range(3):
        names = ["mc_dropout", "net", "orig"]
        names[position] = name
        with pytest.raises(UserError, match="is no plain name"):
            DetectionTree(tmp_path, *names)
    made = tree("mc_dropout", ["0"])
    for tag, image in ((name, "a"), ("0", name)):
        with pytest.raises(UserError, match="is no plain name"):
            made.read(tag, [image])


def test_names_with_dots_are_plain():
    assert safe_name("frame..1", "image") == "frame..1"
    assert safe_name("été 1", "image") == "été 1"


def test_what_is_missing_is_told(tmp_path, tree):
    with pytest.raises(UserError, match="no such folder of predictions"):
        DetectionTree(tmp_path, "mc_dropout", "net").images()
    made = tree("mc_dropout", ["0.1"])
    with pytest.raises(UserError, match="holds no original"):
        made.images()
    with pytest.raises(UserError, match=r"mc_dropout_0.1_z: no such folder of predictions"):
        made.read("0.1", ["z"])
    with pytest.raises(UserError, match="neither a rate nor rate_block"):
        made.strength("high")
    empty = tmp_path / "experiment_results_odd" / "net" / "dataset" / "orig"
    empty.mkdir(parents=True)
    with pytest.raises(UserError, match="holds no folder named odd_TAG_IMAGE"):
        DetectionTree(tmp_path, "odd", "net").images()


def test_operators_and_models_on_disk(tmp_path, tree):
    tree("mc_dropout", ["0"])
    tree("mc_dropblock", ["0_1"])
    (tmp_path / "experiment_results_mc_dropout" / "notes").mkdir()
    assert operators_in(tmp_path) == ("mc_dropblock", "mc_dropout")
    assert models_in(tmp_path, "mc_dropout") == ("net",)
    with pytest.raises(UserError, match="no such folder of results"):
        models_in(tmp_path, "odd")
    with pytest.raises(UserError, match="no such folder"):
        operators_in(tmp_path / "nowhere")
