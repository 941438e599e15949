"""Integrity of image data: one scan index, the quality of its pictures, near duplicates, contamination of splits.

`scan_folder` and `scan_images` look at every picture once; `quality`, `near_duplicates` and `contaminate` only read
what they found.
"""

from app.integrity.contamination import contaminate
from app.integrity.duplicates import NearDuplicates, near_duplicates
from app.integrity.findings import DISCLAIMER, Contamination
from app.integrity.hashing import HashSpec
from app.integrity.listing import Skipped
from app.integrity.quality import Quality, QualityLimits, quality
from app.integrity.scan import Scan, scan_folder, scan_images

__all__ = [
    "DISCLAIMER",
    "Contamination",
    "HashSpec",
    "NearDuplicates",
    "Quality",
    "QualityLimits",
    "Scan",
    "Skipped",
    "contaminate",
    "near_duplicates",
    "quality",
    "scan_folder",
    "scan_images",
]
