"""Writes docs/configuration.md: every choice of conf/, every key with its default and what it is.

    python scripts/config_reference.py

What a key is stands in the comment above or beside it; where there is none, in the docstring of what the option makes.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml
from hydra.utils import get_object

ROOT = Path(__file__).resolve().parents[1]
CONF = ROOT / "conf"
PAGE = ROOT / "docs" / "configuration.md"
GROUPS = {
    "task": "What to do.",
    "model": "The model under test.",
    "dataset": "The data it is tested on.",
    "operators": "How mutants are made; several at once: `operators=[weight_noise,input_blur]`.",
    "scoring": "When a mutant is killed.",
    "estimators": "How labels are spent; several at once: `estimators=[srswor,adaptive]`.",
    "trainer": "What the model runs on.",
    "tracking": "Where runs are remembered.",
}
SEVERAL = {"operators", "estimators"}
HEAD = """# Configuration

Generated from `conf/` by `python scripts/config_reference.py`.

A command names choices and sets keys:

```
python -m app task=mutate model=fashion_cnn dataset=fashion operators=[input_blur] operators.input_blur.radii=[1] seed=1
```

- `+experiment=NAME` brings a named set of choices and keys, which can be changed in the same way.
- `???` must be given; `null` is nothing. `${target_width}` is what the key of the root says.
- A key that is not listed takes a plus, where the `_target_` has such an argument: `+model.factory.width=64`.
- `--config-dir DIR` adds a folder of your own choices, of the same layout as `conf/`; `-m` sweeps over `key=a,b`;
  `--cfg job` shows the composed configuration.
"""
_KEY = re.compile(r"( *)([\w-]+):(?: +(.*?))?(?: +# (.*))?")
_GROUP = re.compile(r"  - /(\w+)@(\w+): null")
_REFERENCE = re.compile(r"\$\{(?:with_model:)?(\w+)\}")


@dataclass(frozen=True)
class Key:
    """One key of a file."""

    path: tuple[str, ...]
    """From the root of the file."""
    comment: str
    """What the file says about it."""
    open: bool
    """Whether its value stands in the lines below it."""


@dataclass(frozen=True)
class File:
    """One file of the configuration."""

    title: tuple[str, ...]
    """The comment at its top: description, then how to call it."""
    keys: tuple[Key, ...]
    """In order; the defaults list is left out."""
    groups: tuple[tuple[str, str], ...]
    """Further groups that can be chosen below it, such as dataset@task.train, with their comment."""
    content: dict[str, Any]
    """As YAML reads it."""

    @property
    def bases(self) -> list[str]:
        """Options that it differs from."""
        return [
            each for each in self.content.get("defaults", []) if isinstance(each, str) and each != "_self_"
        ]

    @property
    def bare(self) -> dict[str, str]:
        """Keys that hold nothing but a key of the root, and which one."""
        found = {name: _REFERENCE.fullmatch(str(value)) for name, value in self.content.items()}
        return {name: match[1] for name, match in found.items() if match}


def read(path: Path) -> File:
    """A file with its comments; what it does not say about a key, the option it differs from does."""
    lines = path.read_text(encoding="utf-8").splitlines()
    top = next((i for i, line in enumerate(lines) if not line.startswith("#")), len(lines))
    title = tuple(line[2:] for line in lines[:top] if "@package" not in line)
    keys: list[Key] = []
    groups: list[tuple[str, str]] = []
    above: list[str] = []
    parents: list[tuple[int, str]] = []
    for line in lines[top:]:
        if line.strip().startswith("#"):
            above.append(line.strip().removeprefix("# "))
            continue
        found, group = _KEY.fullmatch(line), _GROUP.fullmatch(line)
        if group:
            groups.append((f"{group[1]}@task.{group[2]}", " ".join(above)))
        elif found:
            depth = len(found[1])
            parents = [*(each for each in parents if each[0] < depth), (depth, found[2])]
            names = tuple(name for _, name in parents)
            if names[0] != "defaults":
                keys.append(Key(names, " ".join(above) or found[4] or "", not found[3]))
        above = []
    file = File(title, tuple(keys), tuple(groups), yaml.safe_load("\n".join(lines)) or {})
    said = {key.path: key.comment for base in _near(path, file) for key in read(base).keys}
    return replace(
        file, keys=tuple(replace(key, comment=key.comment or said.get(key.path, "")) for key in keys)
    )


def _near(path: Path, file: File) -> list[Path]:
    return [path.with_stem(base) for base in file.bases if path.with_stem(base).exists()]


def documented(target: str) -> dict[str, str]:
    """What the docstrings of a class or function of ours say about each argument, in the words of the command line."""
    if not target.startswith("app."):
        return {}
    made = get_object(target)
    found: list[tuple[str, str]] = []
    for each in (made, made.__init__) if inspect.isclass(made) else (made,):
        section = re.search(
            r"^Args:\n((?:(?:    .*)?\n)+)", (inspect.getdoc(each) or "") + "\n", re.MULTILINE
        )
        found += re.findall(r"^    (\w+): (.*(?:\n     .*)*)", section[1] if section else "", re.MULTILINE)
    if inspect.isclass(made):
        found += re.findall(
            r'^    (\w+): [^\n]*\n    """(.*?)"""', inspect.getsource(made), re.MULTILINE | re.DOTALL
        )
    return {name: re.sub(r"\bNone\b", "null", text[0].upper() + text[1:]) for name, text in reversed(found)}


def value_at(content: Any, path: tuple[str, ...]) -> Any:
    """What stands at a path."""
    for name in path:
        content = content[name]
    return content


def shown(value: Any) -> str:
    """A value as one types it."""
    if isinstance(value, bool) or value is None:
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, list):
        return f"[{', '.join(map(shown, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {shown(each)}" for key, each in value.items()) + "}"
    return str(value) or '""'


def rows(group: str, file: File) -> Iterator[tuple[str, str, str]]:
    """Key, default and meaning of everything that can be set in an option."""
    for name, comment in file.groups:
        yield name, "null", comment
    parts: list[tuple[str, ...]] = []
    for key in file.keys:
        value, name = value_at(file.content, key.path), ".".join((group, *key.path))
        if key.path[0] in file.bare or any(key.path[: len(part)] == part for part in parts):
            continue
        if isinstance(value, dict) and value.get("_partial_"):
            parts.append(key.path)
            yield name, "", f"The keys of `task={key.path[-1]}`; null leaves this part out."
        elif not (value and isinstance(value, dict) and key.open) and not (
            name.endswith("._target_") and value != "???"
        ):
            yield name, shown(value), meaning(file, key)


def meaning(file: File, key: Key) -> str:
    """What a key is: by its comment, the docstring of the nearest `_target_`, or the comment of what it stands in."""
    if key.comment:
        return key.comment
    for depth in range(len(key.path) - 1, -1, -1):
        node = value_at(file.content, key.path[:depth])
        target = node.get("_target_", "???")
        if target != "???":
            said = documented(target).get(key.path[depth], "")
            if said and depth == len(key.path) - 1:
                return said
            break
    return next((each.comment for each in file.keys if len(key.path) > 1 and each.path == key.path[:-1]), "")


def cell(text: str) -> str:
    """Text inside a table."""
    return re.sub(r"\s+", " ", text).replace("|", "\\|")


def option(group: str, path: Path) -> Iterator[str]:
    """The section of one option."""
    file = read(path)
    named = f"[{path.stem}]" if group in SEVERAL else path.stem
    yield f"\n### `{group}={named}`\n"
    yield " ".join(line.strip() for line in file.title if not line.startswith("  "))
    examples = [line.strip() for line in file.title if line.startswith("  ")]
    if examples:
        calls = "\n".join(f"python -m app {line}" if line.startswith("task=") else line for line in examples)
        yield f"\n```\n{calls}\n```"
    if file.bases:
        yield f"\nAs `{group}={file.bases[0]}`, but:"
    if file.bare:
        yield f"\nReads {', '.join(f'`{name}`' for name in sorted(set(file.bare.values())))}."
    table = list(rows(group, file))
    if table:
        yield "\n| key | default | |\n| --- | --- | --- |"
        for name, default, comment in table:
            yield f"| `{name}` | {f'`{cell(default)}`' if default else ''} | {cell(comment)} |"


def root_keys() -> Iterator[str]:
    """The table of the root's keys."""
    file = read(CONF / "config.yaml")
    yield "\n## Keys of the root\n\n| key | default | |\n| --- | --- | --- |"
    for key in file.keys:
        if len(key.path) == 1 and key.path[0] != "hydra":
            yield f"| `{key.path[0]}` | `{cell(shown(file.content[key.path[0]]))}` | {cell(key.comment)} |"


def page() -> str:
    """The whole page."""
    lines = [
        HEAD,
        *root_keys(),
        "\n## Experiments\n\nNamed compositions, chosen with a plus: `+experiment=NAME`.\n\n| | |\n| --- | --- |",
    ]
    experiments = sorted((CONF / "experiment").glob("*.yaml"))
    lines += [f"| `{path.stem}` | {cell(' '.join(read(path).title))} |" for path in experiments]
    for group, about in GROUPS.items():
        lines.append(f"\n## {group}\n\n{about}")
        for path in sorted((CONF / group).glob("*.yaml")):
            lines.extend(option(group, path))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE} written")
