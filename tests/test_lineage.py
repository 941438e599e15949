import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app import __version__, lineage


def test_names_keep_what_mlflow_allows_and_stay_different():
    assert lineage.spelled(["accuracy", "layer1/conv 2.x-y_z:w"]) == {
        "accuracy": "accuracy",
        "layer1/conv 2.x-y_z:w": "layer1/conv 2.x-y_z:w",
    }
    assert lineage.spelled(["p(x)", "p[x]", "p_x_"]) == {"p(x)": "p_x_", "p[x]": "p_x__2", "p_x_": "p_x__3"}
    assert lineage.spelled(["/a//../b/", "", "..", "%"]) == {
        "/a//../b/": "a/b",
        "": "_",
        "..": "__2",
        "%": "__3",
    }
    assert lineage.spelled([]) == {}
    long = lineage.spelled(["x" * 400 + "a", "x" * 400 + "b"])
    assert len(set(long.values())) == 2
    assert max(map(len, long.values())) <= 250


def test_a_long_value_is_cut_with_a_note_and_a_short_one_is_not():
    cut = lineage.params({"cases": "x" * 9000})["cases"]
    assert len(cut) == 6000
    assert cut.endswith("x... [cut from 9000 characters]")
    assert lineage.params({"cases": "x" * 6000, "layers": [1, 2]}) == {
        "cases": "x" * 6000,
        "layers": "[1, 2]",
    }
    assert len(lineage.tags({"note": "y" * 9000})["assay.note"]) == 8000


def test_tags_without_a_dot_are_below_assay():
    given = {"subject": "lenet@digits", "mlflow.note.content": "mine"}
    assert lineage.tags(given) == {"assay.subject": "lenet@digits", "mlflow.note.content": "mine"}
    assert lineage.tags({"assay.task": "score", "task": "mutate"}) == {"assay.task": "mutate"}


def test_a_process_is_gone_once_it_ended_even_if_its_number_lives_on():
    own = lineage.tags(lineage.process())
    assert own["assay.pid"] == str(os.getpid())
    assert not lineage.is_gone(own)
    assert lineage.is_gone({**own, "assay.process_start": "1"})
    assert not lineage.is_gone({**own, "assay.host": "elsewhere", "assay.process_start": "1"})
    assert not lineage.is_gone({})
    assert not lineage.is_gone({**own, "assay.pid": "unreadable"})


def test_a_process_that_nobody_waited_for_is_gone():
    script = "import sys; from app import lineage; print(lineage.process()['assay.process_start'], flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout
        start = child.stdout.readline().strip()
        owned = lineage.tags({**lineage.process(), "assay.pid": child.pid, "assay.process_start": start})
        assert not lineage.is_gone(owned)
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and stays a zombie
        assert lineage.is_gone(owned)
    assert lineage.is_gone(owned)


def test_the_code_version_begins_with_the_package_version():
    assert lineage.code_version().partition("+")[0] == __version__


def test_messages_are_one_line_without_passwords():
    assert lineage.one_line("postgresql://me:secret@host/db") == "postgresql://***@host/db"
    assert lineage.one_line("\nfirst\nsecond") == "first"
    assert lineage.one_line("http://host:5000/a@b") == "http://host:5000/a@b"


def test_one_process_at_a_time_holds_a_folder(tmp_path):
    script = """
import sys
from pathlib import Path
from app import lineage
with lineage.one_process(Path(sys.argv[1])):
    print("in", flush=True)
"""
    folder = tmp_path / "new"
    with lineage.one_process(folder):
        other = subprocess.Popen(
            [sys.executable, "-c", script, str(folder)], stdout=subprocess.PIPE, text=True
        )
        with pytest.raises(subprocess.TimeoutExpired):
            other.communicate(timeout=1)
    assert other.communicate(timeout=60)[0] == "in\n"


def test_only_files_of_this_machine_have_a_folder():
    assert lineage.local_folder("file:///a%20b/c") == Path("/a b/c")
    assert lineage.local_folder("/a b/c") == Path("/a b/c")
    assert lineage.local_folder("mlflow-artifacts:/1/2") is None
    assert lineage.local_folder("s3://bucket/1") is None


def test_times_are_milliseconds_since_1970():
    assert lineage.milliseconds(datetime(1970, 1, 2, tzinfo=UTC)) == 86_400_000
