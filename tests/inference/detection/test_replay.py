"""Running a detector from the middle."""

import torch

from app.inference.detection.replay import DetectorReplay, alike_detections
from app.inference.replay import FULL
from tests.inference.detection.conftest import Blobs, Pictures, to_images

IMAGES = to_images([Pictures(6, ((40, 32),)).load(index) for index in range(3)])


def result(*boxes, label=1, score=0.5):
    count = len(boxes)
    return {
        "boxes": torch.tensor(boxes).reshape(-1, 4).float(),
        "labels": torch.full((count,), label),
        "scores": torch.full((count,), score),
    }


def test_a_few_other_detections_are_alike_and_others_are_not():
    many = [(i, i, i + 5, i + 5) for i in range(20)]
    assert alike_detections([result(*many)], [result(*many[::-1])])
    assert alike_detections([result(*many)], [result(*many[:-1])])
    assert not alike_detections([result(*many)], [result(*many[:10])])
    assert not alike_detections([result(*many)], [result(*many, label=2)])
    assert not alike_detections([result(*many)], [result(*many, score=0.6)])
    assert not alike_detections([result()], [result(), result()])
    assert alike_detections([result()], [result()])
    assert not alike_detections(None, [])


def test_a_start_in_the_box_head_runs_little_again_and_any_number_of_copies(roi):
    replay = DetectorReplay(roi)
    with replay.installed(), torch.no_grad():
        replay.survey(IMAGES[:1])
        assert replay.reason is None
        late = replay.start(["roi_heads.box_head.fc7"])
        early = replay.start(["backbone.body.1"])
        replay.rest()
        assert replay.can_tile(late)
        assert replay.can_tile(early)
        assert 0 < replay.share(late) < 0.2 < replay.share(early) <= 1
        assert replay.largest(early) >= replay.largest(late) > 0
        assert FULL not in (late, early)
        original = replay.record(list(IMAGES), [late, early])
        for start in (late, early):
            for found, wanted in zip(replay.run(start), original, strict=True):
                assert torch.equal(found["boxes"], wanted["boxes"])
                assert torch.equal(found["scores"], wanted["scores"])
            assert alike_detections(replay.run(start, 3), original * 3)
    assert not any("forward" in vars(each) for each in roi.modules())


def test_images_taken_one_by_one_cannot_be_copied_but_replayed():
    replay = DetectorReplay(Blobs())
    with replay.installed(), torch.no_grad():
        replay.survey(IMAGES[:1])
        start = replay.start(["conv"], output=True)
        assert not replay.can_tile(start)
        original = replay.record(IMAGES[:1], [start])
        assert torch.equal(replay.run(start)[0]["scores"], original[0]["scores"])
