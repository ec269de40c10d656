"""Finish the built site: the search works from the file system, and nothing is loaded from elsewhere.

python website/finish.py [build/site]
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
SHIM = '<script src="https://unpkg.com/iframe-worker/shim" type="text/javascript"></script>'
"""What the generator would have pages load so that the search works without a server."""
REMOTE = re.compile(r"""<(?:script|link|img|iframe|video|source)\b[^>]*?\b(?:src|href)=["']?(?:https?:)?//[^>]*>""")
SHEET = re.compile(r"""(?:@import|url\()\s*["']?(?:https?:)?//[^)"';]*""")


def remote(text: str, suffix: str) -> list[str]:
    """What a page or style sheet would load from elsewhere."""
    return (REMOTE if suffix == ".html" else SHEET).findall(text)


def finish(site: Path) -> list[str]:
    """Mend all pages and return what they still load from elsewhere."""
    shutil.copy(Path(__file__).parent / "worker.js", site)
    found = []
    for page in sorted([*site.rglob("*.html"), *site.rglob("*.css")]):
        text = page.read_text(encoding="utf-8")
        if SHIM in text:
            up = "../" * (len(page.relative_to(site).parts) - 1)
            text = text.replace(SHIM, f'<script src="{up}worker.js"></script>')
            page.write_text(text, encoding="utf-8")
        found += [f"{page.relative_to(site)}: {what}" for what in remote(text, page.suffix)]
    return found


def main() -> None:
    site = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "site"
    if found := finish(site):
        raise SystemExit("loaded from elsewhere:\n" + "\n".join(found))
    print(f"{sum(1 for _ in site.rglob('*.html'))} pages in {site}: open index.html")


if __name__ == "__main__":
    main()
