"""The configuration: where it is, its root, its words, and the check that values fit before any work begins."""

from app.config.check import check, drop_unchosen, take_words
from app.config.claims import claim, own_folder, release
from app.config.devices import refused
from app.config.place import make_folder
from app.config.schema import DEFAULTS, GROUPS, Root, choices, conf_dir, digest, plain, register
from app.config.usage import mistyped, task_usage, unknown, usage

__all__ = [
    "DEFAULTS",
    "GROUPS",
    "Root",
    "check",
    "choices",
    "claim",
    "conf_dir",
    "digest",
    "drop_unchosen",
    "make_folder",
    "mistyped",
    "own_folder",
    "plain",
    "refused",
    "register",
    "release",
    "take_words",
    "task_usage",
    "unknown",
    "usage",
]
