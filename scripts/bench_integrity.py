"""How long hashes take to compare and pictures to scan, in CPU seconds, with the results checked.

Distances are checked row by row against the plain way, which is timed too. The pictures are made from smooth seeded
noise with a little grain, so that a JPEG of 224 pixels has about the size of a photo's. Run it alone:

    python scripts/bench_integrity.py --hashes 50000 --pictures 2000
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from app.integrity import Scan, contaminate, scan_folder, scan_images
from app.integrity.distances import comparisons, histogram, pairs
from app.integrity.hashing import Hashes

T = TypeVar("T")
RADIUS = 14


def some_hashes(rng: np.random.Generator, n: int) -> Hashes:
    """Random hashes, a hundredth of which have look-alikes with a few flipped bits."""
    hashes = rng.integers(0, 2**64, n, dtype=np.uint64)
    for row in range(n // 100):
        flips = rng.choice(64, rng.integers(0, RADIUS + 3), replace=False)
        hashes[n - 1 - row] = hashes[row] ^ np.bitwise_or.reduce(
            np.uint64(1) << flips.astype(np.uint64), initial=0
        )
    return rng.permutation(hashes)


def row_by_row(hashes: Hashes) -> tuple[NDArray[np.int64], set[tuple[int, int]]]:
    """Histogram and close pairs, one hash against all later ones."""
    counts, close = np.zeros(65, dtype=np.int64), set()
    for row in range(len(hashes) - 1):
        distances = np.bitwise_count(hashes[row] ^ hashes[row + 1 :])
        counts += np.bincount(distances, minlength=65)
        close |= {(row, row + 1 + int(other)) for other in np.flatnonzero(distances <= RADIUS)}
    return counts, close


def look_alikes(rng: np.random.Generator, n: int) -> list[Scan]:
    """Two halves of a set with so little variety that millions of pairs are near or weak."""
    pattern = rng.integers(0, 256, (8, 9), dtype=np.int16)
    images = np.clip(pattern + rng.normal(0, 60, (n, 8, 9)), 0, 255).astype(np.uint8)

    def scan(name: str, part: NDArray[np.uint8]) -> Scan:
        return scan_images(
            lambda row: Image.fromarray(part[row]), np.full(len(part), -1), name=name, workers=1
        )

    return [scan("train", images[: n // 2]), scan("test", images[n // 2 :])]


def make_pictures(rng: np.random.Generator, folder: Path, n: int, side: int = 224) -> float:
    """Writes JPEGs; gives their mean size in bytes."""
    for row in range(n):
        rough = Image.fromarray(rng.integers(0, 256, (14, 14, 3), dtype=np.uint8))
        smooth = np.asarray(rough.resize((side, side), Image.Resampling.BICUBIC), dtype=np.int16)
        grainy = smooth + rng.integers(-12, 13, smooth.shape, dtype=np.int16)
        image = Image.fromarray(np.clip(grainy, 0, 255).astype(np.uint8))
        image.save(folder / f"{row:05d}.jpg", quality=85)
    return float(np.mean([path.stat().st_size for path in folder.iterdir()]))


def timed(call: Callable[[], T], repeats: int = 1) -> tuple[float, T]:
    """CPU seconds of all threads, the least of some repeats, and the result."""
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        result = call()
        seconds.append(time.process_time() - start)
    return min(seconds), result


def report(what: str, seconds: float, target: float | None, note: str) -> None:
    goal = "" if target is None else f" (target {target:g}: {'kept' if seconds <= target else 'MISSED'})"
    print(f"{what}: {seconds:.2f} CPU seconds{goal}; {note}")


def peak_memory() -> float:
    """Largest resident size of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0] if __doc__ else None)
    parser.add_argument("--hashes", type=int, default=50_000)
    parser.add_argument("--alike", type=int, default=10_000, help="pictures of the set with little variety")
    parser.add_argument("--pictures", type=int, default=2_000)
    parser.add_argument("--workers", type=int, default=1, help="threads")
    parser.add_argument("--repeats", type=int, default=3, help="the least of so many counts")
    parser.add_argument("--unchecked", action="store_true", help="leave out the plain way")
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    hashes = some_hashes(rng, options.hashes)
    n = options.hashes

    seconds, counts = timed(lambda: histogram(hashes, workers=options.workers), options.repeats)
    report(f"histogram of {n} hashes", seconds, 2.5, f"{counts.sum()} of {comparisons(n)} pairs counted")
    seconds, tiles = timed(
        lambda: list(pairs(hashes, radius=RADIUS, workers=options.workers)), options.repeats
    )
    found = {pair for tile in tiles for pair in zip(tile.first.tolist(), tile.second.tolist(), strict=True)}
    report(f"pairs of {n} hashes at d <= {RADIUS}", seconds, 3.0, f"{len(found)} pairs")
    if not options.unchecked:
        seconds, (plain_counts, plain_found) = timed(lambda: row_by_row(hashes))
        recall = len(found & plain_found) / len(plain_found) if plain_found else 1.0
        equal = "equal" if (plain_counts == counts).all() else "DIFFERENT"
        extra = len(found - plain_found)
        report(
            "both row by row", seconds, None, f"histograms {equal}, recall {recall:g}, {extra} wrong pairs"
        )

    scans = look_alikes(rng, options.alike)
    before = peak_memory()
    seconds, contamination = timed(lambda: contaminate(scans, workers=options.workers))
    note = f"{contamination.n_pairs} near and weak pairs, {peak_memory() - before:.0f} MB more at the peak"
    report(f"contamination of {options.alike} look-alikes", seconds, None, note)

    with tempfile.TemporaryDirectory() as folder:
        size = make_pictures(rng, Path(folder), options.pictures)
        seconds, scan = timed(lambda: scan_folder(folder, workers=options.workers), options.repeats)
        note = f"{int(scan.readable.sum())} readable, {size / 1e3:.1f} kB each"
        report(f"scan of {options.pictures} JPEGs of 224 pixels", seconds, 2.0, note)


if __name__ == "__main__":
    main()
