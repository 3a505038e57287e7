"""Put the report of a run into its page: `python docs/reproduction.py FOLDER`, the folder of `hiddenphysics reproduce`.

The words before "In short" are written by hand; all that follows is the report, word for word, its prose wrapped.
"""

import re
import shutil
import sys
import textwrap
from pathlib import Path

HERE = Path(__file__).parent
HEADING = "## In short\n\n"
PICTURES = "images/reproduction"
WIDTH = 100
AS_THEY_ARE = re.compile(r"[|#!<]|`[^`]*`$")
"""Lines of tables, headings, pictures and markup, and those that are nothing but code."""


def renew(page: Path, folder: Path) -> None:
    """Replace the report in a page, and the pictures beside it, by those of a folder."""
    words, _, _ = page.read_text(encoding="utf-8").partition(HEADING)
    _title, _, report = (folder / "report.md").read_text(encoding="utf-8").partition("\n\n")
    report = wrapped(report.replace("](figures/", f"]({PICTURES}/"))
    page.write_text(words + HEADING + report, encoding="utf-8")
    for picture in sorted((folder / "figures").glob("*.png")):
        shutil.copyfile(picture, page.parent / PICTURES / picture.name)


def wrapped(text: str) -> str:
    """Wrap prose and list items; a piece of code stays whole, and so does everything that is no prose.

    >>> print(wrapped("- " + "word " * 30 + "`some code`"))
    - word word word word word word word word word word word word word word word word word word word
      word word word word word word word word word word word `some code`
    """
    return "\n".join(_filled(line) for line in text.split("\n"))


def _filled(line: str) -> str:
    if len(line) <= WIDTH or AS_THEY_ARE.match(line):
        return line
    # Spaces inside code are no place to break: they are hidden from the wrapping, and come back.
    hidden = re.sub(r"`[^`]*`", lambda code: code.group().replace(" ", "\0"), line)
    indent = "  " if line.startswith("- ") else ""
    filled = textwrap.fill(
        hidden, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return filled.replace("\0", " ")


if __name__ == "__main__":
    renew(HERE / "reproduction.md", Path(sys.argv[1]))
