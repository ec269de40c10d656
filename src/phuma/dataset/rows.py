"""SQL for the rows of the manifest that a question is about. A row is a clip on a robot; these count a clip once."""

CLIPS = """(SELECT DISTINCT ON (clip) * REPLACE (coalesce(mirrored, false) AS mirrored,
    coalesce(imported, false) AS imported) FROM manifest ORDER BY clip, kept DESC, robot)"""
"""Every clip once, on however many robots it is"""

JUDGED = f"(SELECT * FROM {CLIPS} WHERE NOT mirrored AND NOT imported)"
"""Clips that went through the filters: a mirror image is only made of what was kept, and would count it twice; imported
robot motions are judged by their contacts alone"""
