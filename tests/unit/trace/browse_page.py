# SPDX-License-Identifier: BSL-1.0
"""Shows a report page to a headless Chromium: its script runs to the end, the console stays empty (the page's policy would
report fetches there), words fit on a telephone, and light and dark screenshots differ. Usage: browse_page.py PROGRAM [FOLDER],
a program that writes the page, and a folder for the pictures. Exits with 77 without a Chromium."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

LIMIT = 50  # seconds for each start


# The width of the narrowest cell with words.
MEASURE = """<script>document.documentElement.dataset.narrowest = Math.min(...[...document.querySelectorAll("td.words")]
.filter((cell) => cell.textContent !== "" && cell.offsetParent).map((cell) => cell.getBoundingClientRect().width));</script>"""


def browse(browser, folder, page, *options, width=1280):
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
               f"--window-size={width},2400", "--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr",
               f"--user-data-dir={folder}/profile", *options, f"file://{page}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=True)
    said = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    assert not said, said
    return done.stdout


def main():
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        print("skipped: no chromium here")
        return 77
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        page = os.path.join(folder, "run.html")
        subprocess.run([sys.argv[1]], env=os.environ | {"QUERN_REPORT": page, "QUERN_THREADS": "2"}, check=True, timeout=LIMIT,
                       stdout=subprocess.DEVNULL)
        text = browse(browser, folder, page, "--dump-dom")
        assert 'data-drawn="yes"' in text, "the page's script did not run to its end"
        narrow = os.path.join(folder, "narrow.html")
        with open(page, encoding="utf-8") as file, open(narrow, "w", encoding="utf-8") as copy:
            copy.write(file.read().replace("</body>", MEASURE + "</body>"))
        text = browse(browser, folder, narrow, "--dump-dom", width=390)
        narrowest = re.search('data-narrowest="([0-9.]+)"', text)
        assert narrowest and float(narrowest[1]) >= 100, "words have no room on a narrow screen"
        pictures = []
        for scheme in (1, 0):  # light, dark
            path = os.path.join(folder, f"{scheme}.png")
            browse(browser, folder, page, f"--screenshot={path}", f"--blink-settings=preferredColorScheme={scheme}")
            with open(path, "rb") as file:
                pictures.append(file.read())
            if len(sys.argv) > 2:
                shutil.copy(path, sys.argv[2])
        assert all(len(picture) > 20_000 for picture in pictures), [len(picture) for picture in pictures]
        assert pictures[0] != pictures[1], "dark is like light"
        print("sizes:", [len(picture) for picture in pictures])
    return 0


if __name__ == "__main__":
    sys.exit(main())
