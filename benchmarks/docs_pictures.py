"""Take the pictures of the tutorial, the home page and the README: reports and maps as a browser shows them.

make pictures                                      release and sweep Adult, then take every picture
python benchmarks/docs_pictures.py --made FOLDER   only take the pictures, of report.html and map.html in a folder

Needs chromium (make browser), or another browser named in $LEAFCOVER_BROWSER.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import leafcover as lc

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
WIDTH = 1000
FIRST_SCREEN = 1000  # pixels of the report's top
PART = 800  # pixels of the section about attacks, which is long
EDGE = 20  # pixels around it
COMMANDS = (
    "release {adult} -o released.csv --target income --report report.html --force --quiet",
    "sweep {adult} --target income --recipes cover,framework --rows 6000 --seed 1 --max-risk 0.05 --report map.html "
    "--force --quiet",
)
ATTACKS = "section[aria-labelledby=risks]"
MAP = "section[aria-labelledby=map] figure >> nth=0"


def make(folder: Path) -> None:
    """Run the tutorial's release and sweep in a folder."""
    for command in COMMANDS:
        words = command.format(adult=lc.sample("adult")).split()
        subprocess.run([sys.executable, "-m", "leafcover", *words], cwd=folder, check=True)


def take(folder: Path) -> None:
    """Every picture, from report.html and map.html."""
    from playwright.sync_api import sync_playwright

    path = os.environ.get("LEAFCOVER_BROWSER") or shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": FIRST_SCREEN})
        page.goto((folder / "report.html").resolve().as_uri())
        page.screenshot(path=IMAGES / "report.png")
        box = page.locator(ATTACKS).bounding_box()
        left, top = max(box["x"] - EDGE, 0), box["y"] - EDGE
        clip = {"x": left, "y": top, "width": WIDTH - 2 * left, "height": min(box["height"], PART)}
        page.screenshot(path=IMAGES / "report-attacks.png", full_page=True, clip=clip)
        page.goto((folder / "map.html").resolve().as_uri())
        page.locator(MAP).screenshot(path=IMAGES / "sweep-tutorial.png")
        browser.close()


def main() -> None:
    """Make the reports, unless a folder has them, and take the pictures."""
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("--made", type=Path, help="a folder with report.html and map.html")
    made = given.parse_args().made
    with tempfile.TemporaryDirectory() as folder:
        if made is None:
            make(Path(folder))
        take(made or Path(folder))
    print(f"Written: report.png, report-attacks.png and sweep-tutorial.png in {IMAGES}.")


if __name__ == "__main__":
    main()
