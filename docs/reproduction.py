"""Put the report of a run into its page: `python docs/reproduction.py FOLDER`, the folder of `hiddenphysics reproduce`.

The words before "In short" are written by hand; all that follows is the report, word for word.
"""

import shutil
import sys
from pathlib import Path

HERE = Path(__file__).parent
HEADING = "## In short\n\n"
PICTURES = "images/reproduction"


def renew(page: Path, folder: Path) -> None:
    """Replace the report in a page, and the pictures beside it, by those of a folder."""
    words, _, _ = page.read_text(encoding="utf-8").partition(HEADING)
    _title, _, report = (folder / "report.md").read_text(encoding="utf-8").partition("\n\n")
    page.write_text(words + HEADING + report.replace("](figures/", f"]({PICTURES}/"), encoding="utf-8")
    for picture in sorted((folder / "figures").glob("*.png")):
        shutil.copyfile(picture, page.parent / PICTURES / picture.name)


if __name__ == "__main__":
    renew(HERE / "reproduction.md", Path(sys.argv[1]))
