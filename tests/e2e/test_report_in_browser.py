"""The demo's report in a real browser, scripts off and from a file."""

import json
import shutil
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from rulelens.cli import main

pytestmark = pytest.mark.e2e

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next((path for name in BROWSERS if (path := shutil.which(name))), None)
OWN_HOSTS = ("google.com", "googleapis.com", "gvt1.com")
"""Hosts that the browser itself asks at times, whatever page it shows."""
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> Path:
    if CHROMIUM is None:
        pytest.skip("No Chromium here: install the package chromium to run the browser tests.")
    path = tmp_path_factory.mktemp("demo") / "demo.html"
    with pytest.raises(SystemExit) as info:
        main(["demo", "--simulate", "--out", str(path)])
    assert not info.value.code
    return path


def browse(report: Path, profile: Path, *args: str) -> str:
    """What Chromium prints for the report's page."""
    done = subprocess.run(
        [CHROMIUM, *FLAGS, f"--user-data-dir={profile}", *args, report.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout


def test_the_page_has_no_script_and_is_whole(report, tmp_path):
    dom = browse(report, tmp_path, "--dump-dom")
    assert "<script" not in dom
    for text in (
        "The rules that suit",
        "What the simulated user said",
        "Which features",
        "The row",
    ):
        assert text in dom
    assert dom.count("<circle") >= 2


def test_the_page_makes_no_request_but_for_itself(report, tmp_path):
    log = tmp_path / "net.json"
    browse(report, tmp_path / "profile", f"--log-net-log={log}", "--dump-dom")
    urls = {
        e["params"]["url"]
        for e in json.loads(log.read_text("utf-8"))["events"]
        if isinstance(e.get("params"), dict) and "url" in e["params"]
    }
    foreign = {u for u in urls if u.startswith(("http://", "https://", "ws:", "wss:"))}
    assert not {u for u in foreign if not urlsplit(u).netloc.endswith(OWN_HOSTS)}
    assert not any(host in report.read_text("utf-8") for host in OWN_HOSTS)


@pytest.mark.parametrize("width", [360, 1200])
def test_the_page_is_drawn_without_scripts_in_narrow_and_wide_windows(report, tmp_path, width):
    picture = tmp_path / "page.png"
    browse(report, tmp_path / "profile", f"--screenshot={picture}", f"--window-size={width},2000")
    assert picture.stat().st_size > 20_000
