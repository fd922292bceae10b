"""The documentation site is complete and searchable, has no dead links, and loads nothing from other servers.

The generated pages about the course have only one assignment here, because all take minutes.
"""

from __future__ import annotations

import itertools
import json
import re
import shutil
import subprocess
import sys

import pytest

from autograder.authoring import known_mistakes
from autograder.testing.catalogue import read_catalogue
from tests.conftest import ROOT
from tests.helpers.accessible import VIEWS, violations_of
from tests.helpers.in_process import ASSIGNMENTS, judged_mistake
from tests.helpers.pyodide import served

pytestmark = pytest.mark.slow
PAGES = ("README.md", "CONTRIBUTING.md", "RELEASING.md", "CHANGELOG.md")
HEADS = ASSIGNMENTS[2]
# Together they have tables, and code in several languages.
SELECTED = (("index", "narrow"), ("existing-course", "wide"))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built from a copy. A dead link fails the build."""
    folder = tmp_path_factory.mktemp("pages")
    for name in ("docs", ".ci"):
        shutil.copytree(ROOT / name, folder / name)
    for name in ("mkdocs.yml", "tests/README.md", "cellcage/README.md", *PAGES):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    made = folder / "build" / "pages"
    made.mkdir(parents=True)
    some = read_catalogue(HEADS.mistakes).of("split_heads")
    heads = [(HEADS, mistake, judged_mistake(HEADS, mistake)) for mistake in some]
    (made / "known-mistakes.md").write_text(known_mistakes.page(heads))
    command = [sys.executable, "-m", "mkdocs", "build", "--site-dir", str(folder / "site")]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "site"


def test_every_page_is_built_and_linked(site):
    start = (site / "index.html").read_text()
    for page in (ROOT / "docs").glob("*.md"):
        assert (site / f"{page.stem}.html").is_file()
        assert f'href="{page.stem}.html"' in start, page.name
    for page in ("contributing", "cellcage", "releasing", "changelog", "known-mistakes"):
        assert f'href="{page}.html"' in start


def test_search_finds_words_of_every_page(site):
    found = json.loads((site / "search" / "search_index.json").read_text())["docs"]
    text = " ".join(entry["text"] for entry in found)
    for words in ("nbgrader collect", "heads-interleaved", "no network", "marks.json"):
        assert words in text


def test_pages_load_nothing_from_other_servers(site):
    """Only links may lead to other servers."""
    for page in site.glob("*.html"):
        fetched = re.findall(r"""<(?:link|script|img)[^>]*(?:href|src)="(https?:[^"]*)""", page.read_text())
        assert fetched == [], page.name


@pytest.fixture(name="served")
def served_site(site):
    """The address of a server for the site."""
    with served(site) as address:
        yield address


@pytest.mark.parametrize("selected", [SELECTED, pytest.param((), marks=pytest.mark.catalogue)], ids=["some", "all"])
def test_every_page_is_accessible(site, served, chromium, selected):
    """axe-core finds no violation of WCAG 2.1 A and AA, in both colour schemes, in a wide and a narrow window."""
    for page, view in selected or itertools.product([path.stem for path in site.glob("*.html")], VIEWS):
        assert violations_of(chromium, f"{served}/{page}.html", view) == [], (page, view)


def test_search_works_without_network(served, chromium):
    page, elsewhere = chromium.new_page(), []
    page.on("request", lambda request: request.url.startswith(served) or elsewhere.append(request.url))
    page.goto(f"{served}/index.html")
    page.locator("input.md-search__input").click()
    page.locator("input.md-search__input").press_sequentially("interleaved", delay=30)
    page.locator(".md-search-result__item", has_text="Known mistakes").first.wait_for(timeout=20_000)
    page.close()
    assert elsewhere == []
