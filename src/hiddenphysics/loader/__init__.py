"""The one loader: bytes that nobody vouches for are measured and checked before anything is made of them."""

from hiddenphysics.loader.archive import read_archive
from hiddenphysics.loader.limits import check_regular, check_unfolded, check_whole, cut, most_unfolded
from hiddenphysics.loader.schema import (
    Check,
    Mismatch,
    finite,
    integer,
    listing,
    mapping,
    number,
    one_of,
    optional,
    record,
    text,
)
from hiddenphysics.loader.sealed_file import Unsealed, plain_data, unseal
from hiddenphysics.loader.trial import Trial

__all__ = [
    "Check",
    "Mismatch",
    "Trial",
    "Unsealed",
    "check_regular",
    "check_unfolded",
    "check_whole",
    "cut",
    "finite",
    "integer",
    "listing",
    "mapping",
    "most_unfolded",
    "number",
    "one_of",
    "optional",
    "plain_data",
    "read_archive",
    "record",
    "text",
    "unseal",
]
