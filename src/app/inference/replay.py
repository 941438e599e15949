"""Running a model from the middle: module calls that a mutation cannot have touched return their recorded output.

A forward pass is a sequence of module calls. Until the mutated module begins, a mutant's pass is the original's;
so every outermost call that ended before that moment gives back what the original's call gave, and only what
follows is computed, by the model's own Python. Any control flow works as long as it is deterministic. A survey on
a small slice of the data finds out whether it is, which recorded outputs are really read (the others only need
their shape), and whether the replay gives the original's output to the bit; where it does not, passes are full.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from app.inference import copies
from app.inference.calls import CallTree, Uses, is_opaque, map_tensors, same, similar, state_of, tensors
from app.inference.copies import Growth

log = logging.getLogger(__name__)

Inner = Callable[..., Any]
OnCall = Callable[[str, Inner, tuple[Any, ...], dict[str, Any]], Any]

INPUT_CALL, OUTPUT_CALL = -1, -2
"""Stand for the model's own input and output among the numbers of calls."""


class ReplayError(RuntimeError):
    """A pass did not follow the recorded calls, or changed what was recorded."""


@dataclass(frozen=True)
class Start:
    """Where a mutant's own computing begins, and what it needs of the recording."""

    limit: int
    """Calls that ended before this call began are not run again; 0 means a full pass."""
    skip: frozenset[int] = frozenset()
    """Calls that run although they ended before: they hold a site, or change in place what is read later."""
    read: frozenset[int] = frozenset()
    """Calls whose recorded values are read by what runs."""


FULL = Start(0)


class Replay:
    """Records the original's module calls for one batch, and replays them for mutants.

    All passes must run without gradients but outside `torch.inference_mode`, whose tensors keep no version.

    Args:
        module: the model, in eval mode. While `installed`, its submodules carry an instance attribute `forward`
            (hooks would switch off the fast paths of torch's attention modules and move last bits).
        alike: whether the outputs of two copies of a batch are those of the batch twice, within rounding.
    """

    def __init__(self, module: nn.Module, alike: Callable[[Any, Any], bool] = similar) -> None:
        self.module = module
        self._alike = alike
        self.reason: str | None = None
        """Why nothing can be replayed (every pass is a full one then); None if it can."""
        self._tree = CallTree()
        self.surveyed = False
        """Whether `survey` has run."""
        self._starts: dict[tuple[int, frozenset[int]], Start] = {}
        self._tiles: dict[Start, bool] = {}
        self._changed: set[int] = set()  # calls whose output is changed in place later
        # the slice of the survey: its recording and the model's output
        self._slice: Any = None
        self._slice_kept: dict[int, Any] = {}
        self._reference: Any = None
        # what the current pass and batch hold
        self._on_call: OnCall | None = None
        self._batch: Any = None
        self._kept: dict[int, Any] = {}
        self._versions: dict[int, list[tuple[Tensor, int]]] = {}
        self._diverged = False

    @contextmanager
    def installed(self) -> Iterator[Replay]:
        """While active every submodule's `forward` goes through this object; afterwards the model is as it was."""
        wrapped: list[nn.Module] = []
        try:
            for name, child in self.module.named_modules():
                if name and not isinstance(child, torch.jit.ScriptModule) and "forward" not in vars(child):
                    wrapped.append(child)
                    vars(child)["forward"] = self._wrapper(name, child.forward)
            yield self
        finally:
            for child in wrapped:
                vars(child).pop("forward", None)
            self.release()

    def release(self) -> None:
        """Let go of the recorded batch."""
        self._batch, self._kept, self._versions = None, {}, {}

    def _wrapper(self, name: str, inner: Inner) -> Inner:
        def forward(*args: Any, **kwargs: Any) -> Any:
            if self._on_call is None:
                return inner(*args, **kwargs)
            return self._on_call(name, inner, args, kwargs)

        return forward

    def _pass(self, on_call: OnCall | None, batch: Any) -> Any:
        self._on_call = on_call
        try:
            return self.module(batch)
        finally:
            self._on_call = None

    def survey(self, batch: Any) -> None:
        """Learn the model's calls on a small slice of the data; two images do, for a detector one.

        Sets `reason` where the model keeps state between calls or does not give the same output twice.

        Args:
            batch: input of the model, (B, ...) or a list with one tensor an image; it is not changed.
        """
        self._starts, self._tiles, self._changed = {}, {}, set()
        self.reason, self._slice, self.surveyed = None, batch, True
        if isinstance(self.module, torch.jit.ScriptModule):
            self.reason = "TorchScript hides the calls of its modules"
            return
        try:
            self._learn(batch)
        except RuntimeError as error:
            if "nference tensor" not in str(error):
                raise
            self.reason = "the model computes under torch.inference_mode, whose tensors cannot be watched"
        self.release()

    def _learn(self, batch: Any) -> None:
        for _ in range(2):  # some modules settle in their first pass, as torchvision's RoI pooling
            before = state_of(self.module)
            self._tree, output = self._trace(_clone(batch), None, None)
            if state_of(self.module) == before:
                break
        else:
            self.reason = "the model keeps state between its calls"
            return
        self._changed = self._moved()
        self._reference = map_tensors(torch.clone, output)
        again, second = self._trace(_clone(batch), None, None)
        if again.names != self._tree.names or not same(second, self._reference):
            self.reason = "the model does not give the same output twice"
        self._slice_kept = self._kept
        self._look_again()

    def _look_again(self) -> None:
        """What else the survey should learn while its recording is held."""

    def start(self, sites: Sequence[str], *, output: bool = False) -> Start:
        """Where a mutant of some modules begins.

        Args:
            sites: dotted names of all modules that the mutant touches; none for a full pass.
            output: the mutant only changes what the modules give back, so that they need not run themselves.
        """
        if self.reason is not None or not sites:
            return FULL
        limit = min(self._limit(site, output=output) for site in sites)
        # a module whose last call is the site's ends when the site does, and must still be run to reach it
        calls = [call for call in map(self._tree.first, sites) if output and call is not None]
        opened = frozenset(outer for call in calls for outer in range(call) if self._tree.after[outer] > call)
        opened = frozenset(outer for outer in opened if self._tree.after[outer] <= limit)
        if (limit, opened) not in self._starts:
            self._starts[limit, opened] = self._surveyed(limit, opened)
        return self._starts[limit, opened]

    def can_tile(self, start: Start) -> bool:
        """Whether several copies of a batch may go through the rest side by side: tried on the slice.

        False for models that mix the rows of a batch or keep it along another dimension than the first.
        """
        if start not in self._tiles:
            try:
                expected = copies.spread(self._reference, self._growth(OUTPUT_CALL), 2, copies.tile)
                self._tiles[start] = self._slice is not None and self._alike(
                    self._on_slice(start, tiles=2), expected
                )
            except Exception as error:
                log.debug("two copies of the batch failed: %s", error)
                self._tiles[start] = False
        return self._tiles[start]

    def _growth(self, call: int) -> Growth | None:  # noqa: ARG002 - the same for all
        """How the output of a call grows with the copies of a batch; None where by its rows."""
        return None

    def _limit(self, site: str, *, output: bool) -> int:
        """The first call that a mutant of the site can touch. A site never called itself is read by its parent."""
        call = self._tree.first(site)
        if call is not None:
            return self._tree.after[call] if output else call
        while "." in site:
            site = site.rpartition(".")[0]
            call = self._tree.first(site)
            if call is not None:
                return call
        return 0

    def _surveyed(self, limit: int, opened: frozenset[int]) -> Start:
        """Replay without any mutation on the slice until a way is found that gives the original's bits."""
        inplace = self._inplace_calls(limit) if limit else frozenset()
        for skip in dict.fromkeys((opened, opened | inplace)):
            calls = frozenset(self._tree.outermost(limit, skip=skip))
            if not calls:
                continue
            uses = Uses()
            everything = Start(limit, skip, calls | {INPUT_CALL})
            try:
                with uses:
                    self._on_slice(everything, watch=uses.watch)
                for read in (frozenset(uses.used), everything.read):
                    # what is thought unread is NaN here, so that a hidden use shows
                    start = Start(limit, skip, read)
                    if same(self._on_slice(start, blank=float("nan")), self._reference):
                        return start
            except Exception as error:
                log.debug("replay from call %d failed: %s", limit, error)
        if limit:
            log.info(
                "mutants from %s on run whole: a replay there differs from the full pass", self._name(limit)
            )
        return FULL

    def _name(self, call: int) -> str:
        return self._tree.names[call] if 0 <= call < len(self._tree.names) else "the output"

    def _inplace_calls(self, limit: int) -> frozenset[int]:
        """Calls before the limit that change a tensor they are given, judged on the slice."""
        found: set[int] = set()
        count = 0

        def on_call(_: str, inner: Inner, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            nonlocal count
            call, count = count, count + 1
            before = [(tensor, tensor._version) for tensor in tensors((args, kwargs))]
            output = inner(*args, **kwargs)
            if call < limit and any(tensor._version != version for tensor, version in before):
                found.add(call)
            return output

        self._pass(on_call, _clone(self._slice))
        return frozenset(found)

    def _on_slice(
        self,
        start: Start,
        tiles: int = 1,
        blank: float = 0.0,
        watch: Callable[[int, Any], None] | None = None,
    ) -> Any:
        if self._slice is None:
            raise ReplayError("survey a slice of the data first")
        if not self._slice_kept:
            self._trace(_clone(self._slice), None, None)
            self._slice_kept = self._kept
        self._batch, self._kept = self._slice, self._slice_kept
        try:
            if start.limit == 0:
                return self._pass(None, self._tiled(self._slice, tiles))
            return self._replay(start, tiles, blank=blank, watch=watch)
        finally:
            self.release()

    def _tiled(self, batch: Any, tiles: int) -> Any:
        return copies.spread(batch, self._growth(INPUT_CALL), tiles, copies.tile)

    def record(self, batch: Any, starts: Sequence[Start]) -> Any:
        """Run the original on a batch and hold what the given starts read.

        Args:
            batch: input of the model, (B, ...) or a list with one tensor an image; it is not changed.
            starts: from `start`, of all mutants that will run on this batch.

        Returns:
            The model's output.
        """
        self.release()
        self._batch, self._diverged = batch, False
        if self.reason is not None:
            return self._pass(None, _clone(batch))
        keep = frozenset(
            call for start in starts for call in self._tree.outermost(start.limit, skip=start.skip)
        )
        read = frozenset(call for start in starts for call in start.read)
        while True:
            tree, output = self._trace(_clone(batch), keep, read)
            if tree.names != self._tree.names:
                log.info(
                    "a batch takes another way through the model than the first one: its mutants run whole"
                )
                self._diverged, self._kept, self._versions = True, {}, {}
                return output
            moved = self._moved()
            if not moved:
                return output
            self._changed |= moved

    def run(self, start: Start, tiles: int = 1) -> Any:
        """Run the module as it is now, a mutant's overlay being active, on the recorded batch.

        Args:
            start: where its own computing begins.
            tiles: how many copies of the batch go through side by side; rows are copy-major.

        Returns:
            The model's output for tiles · B rows.

        Raises:
            ReplayError: the pass left the recorded way or changed the recording: record again, or run `FULL`.
        """
        if self._batch is None:
            raise ReplayError("record a batch first")
        if start.limit == 0 or self._diverged or self.reason is not None:
            return self._pass(None, self._tiled(self._batch, tiles) if tiles > 1 else _clone(self._batch))
        output = self._replay(start, tiles)
        moved = self._moved()
        if moved:
            self._changed |= moved
            raise ReplayError("a mutant changed recorded values in place")
        return output

    def _trace(
        self, batch: Any, keep: frozenset[int] | None, read: frozenset[int] | None
    ) -> tuple[CallTree, Any]:
        """One pass of the original that holds the outputs of some calls (None: of all, and looks for opaque ones)."""
        tree, modules = CallTree(), dict(self.module.named_modules()) if keep is None else {}
        self._kept, self._versions = {}, {}

        def on_call(name: str, inner: Inner, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            call = len(tree.names)
            tree.names.append(name)
            tree.after.append(0)
            output = inner(*args, **kwargs)
            tree.after[call] = len(tree.names)
            if keep is None:
                tree.look(call, modules[name], output)
            if keep is None and is_opaque(output):
                tree.opaque.add(call)
            elif keep is None or call in keep:
                self._keep(call, output, values=read is None or call in read)
            return output

        return tree, self._pass(on_call, batch)

    def _keep(self, call: int, output: Any, *, values: bool) -> None:
        if not values:
            self._kept[call] = copies.spread(output, None, 1, copies.blank(0.0))
        elif call in self._changed:
            self._kept[call] = map_tensors(torch.clone, output)
        else:
            self._kept[call] = output
            self._versions[call] = [(tensor, tensor._version) for tensor in tensors(output)]

    def _moved(self) -> set[int]:
        """Calls whose held outputs were changed in place since they were taken."""
        return {
            call for call, held in self._versions.items() if any(t._version != version for t, version in held)
        }

    def _replay(
        self, start: Start, tiles: int, *, blank: float = 0.0, watch: Callable[[int, Any], None] | None = None
    ) -> Any:
        tree, position = self._tree, 0

        def hand_out(call: int, value: Any) -> Any:
            if call not in start.read or tiles > 1:
                growth = self._growth(call) if tiles > 1 else None
                each = copies.tile if call in start.read else copies.blank(blank)
                value = copies.spread(value, growth, tiles, each)
            elif call in self._changed or call == INPUT_CALL:
                value = map_tensors(torch.clone, value)
            else:
                value = map_tensors(lambda t: t, value)
            if watch is not None:
                watch(call, value)
            return value

        def on_call(name: str, inner: Inner, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            nonlocal position
            call = position
            if call >= start.limit:
                return inner(*args, **kwargs)
            if tree.names[call] != name:
                raise ReplayError(f"expected a call of {tree.names[call]}, got {name}")
            if tree.after[call] <= start.limit and call not in start.skip and call not in tree.opaque:
                position = tree.after[call]
                return hand_out(call, self._kept[call])
            position += 1
            return inner(*args, **kwargs)

        return self._pass(on_call, hand_out(INPUT_CALL, self._batch))


def _clone(value: Any) -> Any:
    return map_tensors(torch.clone, value)
