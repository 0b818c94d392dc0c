"""Take the pictures of the tutorial, the home page and the README: reports and maps as a browser shows them.

make pictures                                      release and sweep Adult, then take every picture
python benchmarks/docs_pictures.py --made FOLDER   only take the pictures, of report.html and map.html in a folder
python benchmarks/docs_pictures.py --sweep FILE    take only sweep.png, of the page that docs/how-to/sweep.md shows

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
HEIGHT = 1000
EDGE = 12  # pixels around a part
COMMANDS = (
    "release {adult} -o released.csv --target income --report report.html --force --quiet",
    "sweep {adult} --target income --recipes cover,framework --rows 6000 --seed 1 --max-risk 0.1 --report map.html "
    "--force --quiet",
)
OPENING = "section[aria-labelledby=summary] .block >> nth=1"  # the picture ends with it, at no half line
ATTACKS = "section[aria-labelledby=risks] .sheet:has(caption:text-is('Attacks'))"
LEGEND = "section[aria-labelledby=map] .key"
MAP = "section[aria-labelledby=map] figure >> nth=0"


def make(folder: Path) -> None:
    """Run the tutorial's release and sweep in a folder."""
    for command in COMMANDS:
        words = command.format(adult=lc.sample("adult")).split()
        subprocess.run([sys.executable, "-m", "leafcover", *words], cwd=folder, check=True)


def take(pages: dict[str, Path]) -> None:
    """Pictures by their names, each from its page."""
    from playwright.sync_api import sync_playwright

    parts = {"report.png": (None, OPENING), "report-attacks.png": (ATTACKS, ATTACKS)}

    path = os.environ.get("LEAFCOVER_BROWSER") or shutil.which("chromium-headless-shell") or shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        for name, path_of_page in pages.items():
            page.goto(path_of_page.resolve().as_uri())
            first, last = parts.get(name, (LEGEND, MAP))
            top = page.locator(first).bounding_box()["y"] - EDGE if first else 0
            end = page.locator(last).bounding_box()
            clip = {"x": 0, "y": top, "width": WIDTH, "height": end["y"] + end["height"] + EDGE - top}
            page.screenshot(path=IMAGES / name, full_page=True, clip=clip)
        browser.close()
    print(f"Written: {', '.join(pages)} in {IMAGES}.")


def main() -> None:
    """Make the reports, unless a folder has them, and take the pictures."""
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("--made", type=Path, help="a folder with report.html and map.html")
    given.add_argument("--sweep", type=Path, help="a page that a sweep has written")
    asked = given.parse_args()
    if asked.sweep is not None:
        take({"sweep.png": asked.sweep})
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.made or Path(temporary)
        if asked.made is None:
            make(folder)
        report, tutorial_map = folder / "report.html", folder / "map.html"
        take({"report.png": report, "report-attacks.png": report, "sweep-tutorial.png": tutorial_map})


if __name__ == "__main__":
    main()
