"""Measure what the viewer sends for each frame of a clip: messages, bytes, and the CPU, by the number of robots.

    python benchmarks/viewer_traffic.py

A client of the stage's own protocol, in this process, counts what arrives for each of 20 frames of a generated walk on
up to four robots, one after another; nothing is drawn. Writes docs/tables/viewer_traffic.md.
"""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec
import viser
import zstandard
from tests.viewer.serving import Page, serving
from websockets.sync.client import connect

from phuma.pipelines.collections import FileCollection
from phuma.robots import load_robot
from phuma.sources import ReadCfg, bvh
from phuma.synth import generate
from tables import markdown, save

FRAMES = range(10, 31)
CHOICES = ("g1:physink+dynamics", "h1_2:physink+dynamics", "g1:physink", "h1_2:physink")


def messages_in(data: bytes) -> int:
    """The number of viser's messages in one of its batches."""
    size, packed = (int.from_bytes(data[at : at + 8], "little") for at in (0, 8))
    plain = zstandard.ZstdDecompressor().decompress(data[16 : 16 + packed], max_output_size=size)
    return len(msgspec.msgpack.decode(plain)["messages"])


def measure(page: Page, chosen: tuple[str, ...]) -> list[float]:
    """Batches, messages, bytes and CPU milliseconds a frame."""
    page.say("compare", performers=list(chosen))
    page.until("clip")
    page.say("pause")
    address = page.viewer.url.replace("http", "ws").rstrip("/") + page.stage
    with connect(address, max_size=None, subprotocols=[f"viser-v{viser.__version__}"]) as stage:
        page.seek(FRAMES[0])
        arrived(stage, 3.0)  # the scene itself
        data, began = [], time.process_time()
        for frame in FRAMES[1:]:
            page.seek(frame)
            data += arrived(stage, 0.5)
        seconds = time.process_time() - began
    frames = len(FRAMES) - 1
    messages = sum(messages_in(one) for one in data)
    return [len(data) / frames, messages / frames, sum(map(len, data)) / frames, 1000 * seconds / frames]


def arrived(stage: Any, quiet: float) -> list[bytes]:
    """All that comes until nothing has come for `quiet` seconds."""
    data: list[bytes] = []
    while True:
        try:
            data.append(stage.recv(quiet))
        except TimeoutError:
            return data


def main() -> None:
    """Measure with one to four robots, and write the table."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        bvh.write(Path(folder) / "walk.bvh", generate("walk", 4.0).motion)
        robots = [load_robot(name) for name in ("g1", "h1_2")]
        with serving(FileCollection([Path(folder) / "walk.bvh"], robots, ReadCfg())) as viewer, Page(viewer) as page:
            page.open("0", None)
            for count in range(1, len(CHOICES) + 1):
                rows.append((count, measure(page, CHOICES[:count])))
                print(json.dumps(rows[-1]), flush=True)
    head = ("robots", "batches", "messages", "bytes", "CPU ms", "messages a second at 30 Hz", "kB a second at 30 Hz")
    save(
        "viewer_traffic",
        "What the viewer sends for a frame",
        f"Means over {len(FRAMES) - 1} frames of a generated walk, with the person that the robots follow inside them; "
        "one client, which draws nothing; CPU of server and client together. A clip of 30 Hz sends 30 such frames a "
        "second, whatever the browser draws.",
        markdown(
            head,
            [
                (n, f"{a:.1f}", round(b), f"{c:,.0f}", f"{d:.1f}", f"{30 * b:,.0f}", round(0.03 * c))
                for n, (a, b, c, d) in rows
            ],
        ),
    )


if __name__ == "__main__":
    main()
