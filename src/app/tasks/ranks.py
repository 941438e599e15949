"""What the processes of one job must agree on, beside the rows that they share."""

from __future__ import annotations

import sys
from typing import TypeVar

Value = TypeVar("Value")


def told(value: Value) -> Value:
    """The first process's value, in every process.

    Before the trainer has started further processes, and in a job of one, everybody keeps the own value. In a larger
    job the processes that its first part started are there for the next ones, and all must call this.
    """
    distributed = sys.modules.get("torch.distributed")
    if distributed is None or not (distributed.is_available() and distributed.is_initialized()):
        return value
    values = [value]
    distributed.broadcast_object_list(values)
    return values[0]
