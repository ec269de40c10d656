"""Put the same clip on a robot by several methods and compare them by the same measures.

python examples/03_compare_methods.py
"""

import phuma

METHODS = ("ik", "gmr", "sink", "physink", "physink+dynamics")
METRICS = ("fidelity", "feasibility", "non_floating", "non_penetration", "non_skating", "torque_over")

clip = phuma.curate(phuma.generate("kick").motion).clips[0]
print(" " * 18 + "".join(f"{name:>16}" for name in METRICS) + f"{'CPU s':>8}")
for method in METHODS:
    phuma.retarget(clip, "g1", method)  # the first call of a method loads and compiles what it needs
    motion = phuma.retarget(clip, "g1", method)
    scores = motion.report["metrics"]
    print(f"{method:18}" + "".join(f"{scores[name]:16.1f}" for name in METRICS) + f"{motion.solve_seconds:8.2f}")
