"""Models and data: whatever a user has on disk becomes a `Subject`.

The embedded data is `app.subjects.fashion.fashion`: as a name of this package it would hide its module.
"""

from app.subjects.dataset import Excluded, ImageDataset
from app.subjects.fashion import fashion_cnn
from app.subjects.folder import image_folder
from app.subjects.model import Model, from_file, from_state_dict
from app.subjects.pixels import arrays
from app.subjects.preprocess import Preprocess
from app.subjects.subject import Subject
from app.subjects.suites import read_suite, read_suites
from app.subjects.zoo import timm_model, torchvision_model

__all__ = [
    "Excluded",
    "ImageDataset",
    "Model",
    "Preprocess",
    "Subject",
    "arrays",
    "fashion_cnn",
    "from_file",
    "from_state_dict",
    "image_folder",
    "read_suite",
    "read_suites",
    "timm_model",
    "torchvision_model",
]
