"""Play the newcomer: clone the project, and run every command of README and tutorial in order, with an empty home.

    python website/newcomer.py [--keep DIR] [--without-tests]

What is committed is cloned into a new folder. The environment has a PATH, a HOME that is empty, and how pip reaches its
index (PIP_...) where that is set. Commands are those of the pages' `sh` blocks, as they stand there; those that serve a
page in the browser are asked for it and ended. Reports how long each took, and seconds, CPU seconds and megabytes until
`make demo` has shown the first result.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "docs/tutorial.md")
FIRST, TESTS = "make demo", "make test"
FENCE = re.compile(r"^```sh\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SERVED = r"""
served() {
  "$@" --no-browser --port 0 > served.log 2>&1 &
  local server=$! page=""
  while [ -z "$page" ]; do
    kill -0 $server || { cat served.log; return 1; }
    sleep 0.5
    page=$(grep -o 'http://[^ ]*' served.log | head -n 1 || true)
  done
  python -c "import sys, urllib.request as u; assert b'<' in u.urlopen(sys.argv[1]).read()" "$page"
  kill $server
  wait $server || true
}
"""


def lines_of(page: Path) -> list[str]:
    """The commands of a page's shell blocks, without what is said beside them."""
    lines = "".join(FENCE.findall(page.read_text(encoding="utf-8"))).splitlines()
    return [line for line in (re.sub(r"\s+# .*$", "", line).strip() for line in lines) if line and line[0] != "#"]


def serves(command: str) -> bool:
    """Whether a command shows a page in the browser until it is ended."""
    words = command.split()
    return words[:2] == ["phuma", "view"] or (
        (words[:2] == ["phuma", "play"] and "--render" not in words) or command.startswith("phuma demo --policy")
    )


def script(commands: list[str]) -> str:
    """The commands for one shell, which stops at the first that fails and notes the time of each."""
    steps = []
    for command in commands:
        did = f"served {command}" if serves(command) else command
        said = shlex.quote(command)
        steps.append(
            f"echo; echo '$' {said}\nbegan=$(date +%s)\n{did}\necho $(($(date +%s) - began)) {said} >> times.log"
        )
    return "\n".join(["set -eo pipefail", SERVED, *steps]) + "\n"


def clean_environment(home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    return {**kept, "PATH": os.environ["PATH"], "HOME": str(home)}


def megabytes(*folders: Path) -> float:
    done = subprocess.run(["du", "-smc", *folders], capture_output=True, text=True, check=True)
    return float(done.stdout.splitlines()[-1].split()[0])


def play(folder: Path, left_out: str | None = None) -> None:
    """Clone into `folder` and run everything but one command; raises SystemExit where a command fails."""
    home, clone = folder / "home", folder / "phuma"
    home.mkdir()
    began = time.monotonic()
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", ROOT, clone], check=True)
    commands = [line for page in PAGES for line in lines_of(clone / page) if line != left_out]
    first = commands.index(FIRST) + 1
    for part in (commands[:first], commands):
        program = script(part if part is not commands else ["source .venv/bin/activate", *commands[first:]])
        done = subprocess.run(["bash", "-c", program], cwd=clone, env=clean_environment(home))
        if done.returncode:
            raise SystemExit(
                f"a command failed with {done.returncode}: it is the last one above. Look around in {folder}"
            )
        if part is not commands:
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            cost = (
                f"{time.monotonic() - began:.0f} s, of which {used.ru_utime + used.ru_stime:.0f} s are the processors'"
            )
            print(f"\nFirst result: {cost}, {megabytes(clone, home):.0f} MB", flush=True)
    print(f"\n{len(commands)} commands in {time.monotonic() - began:.0f} s:\n{(clone / 'times.log').read_text()}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, metavar="DIR", help="a new folder to work in, which stays")
    parser.add_argument("--without-tests", action="store_true", help=f"leave out `{TESTS}`, half of the time")
    args = parser.parse_args()
    left_out = TESTS if args.without_tests else None
    if args.keep:
        args.keep.mkdir(parents=True)
        play(args.keep.resolve(), left_out)
    else:
        with tempfile.TemporaryDirectory() as name:
            play(Path(name), left_out)
    sys.stdout.flush()


if __name__ == "__main__":
    main()
