"""Writes docs/configuration.md: every choice of conf/, every key with its default and what it is.

    python scripts/config_reference.py

What a key is stands in the comment above or beside it; where there is none, in the docstring of what the option makes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from app.config.described import read, rows, shown

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
