"""Read a recording, find the ground and the contacts, cut it into clips, and see why each was kept or rejected.

    python examples/01_read_and_curate.py [RECORDING]

Without a recording (BVH, AMASS, Motion-X, ...) a synthetic person walks.
"""

import sys

import phuma

motion = phuma.read(sys.argv[1]) if len(sys.argv) > 1 else phuma.generate("walk", seconds=10.0).motion
print(motion)

curation = phuma.curate(motion)
print(f"the ground is at {curation.ground:.3f} m in the recording's own frame")
share = curation.contact.mask.any(axis=1).mean()
print(f"a sole is on the ground in {100 * share:.0f} % of {len(curation.motion)} frames")

for clip in curation.clips:
    verdict = "kept" if clip.verdict.kept else "rejected: " + "; ".join(clip.verdict.reasons)
    print(f"{clip.start:5.1f} to {clip.end:5.1f} s  {verdict}")
    for name, value in clip.verdict.metrics.items():
        print(f"    {name} {value:.3g}")
