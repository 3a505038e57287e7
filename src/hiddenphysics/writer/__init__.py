"""The one writer: every file that this package leaves on a disk is whole or absent, and replaces nothing unasked."""

from hiddenphysics.writer.journal import Journal
from hiddenphysics.writer.netcdf_bytes import FOOTER, MARK, checksum, in_memory, sealed
from hiddenphysics.writer.whole_file import alone_with, check_target, refusal, synced, write_all, write_file

__all__ = [
    "FOOTER",
    "MARK",
    "Journal",
    "alone_with",
    "check_target",
    "checksum",
    "in_memory",
    "refusal",
    "sealed",
    "synced",
    "write_all",
    "write_file",
]
