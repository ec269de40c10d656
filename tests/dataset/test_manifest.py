"""The manifest of a dataset as a table."""

from phuma.dataset.manifest import LATER, ask, connect, open_manifest, write_manifest


def test_a_manifest_from_before_a_column_was_there_opens_and_has_it_empty(tmp_path):
    new, old = tmp_path / "new.parquet", tmp_path / "old.parquet"
    write_manifest(new, [{"clip": "a", "kept": True, "helping_force": 0.5, "shake_limit": 3.0}])
    with connect() as database:
        database.execute(f"COPY (SELECT * EXCLUDE ({', '.join(sorted(LATER))}) FROM '{new}') TO '{old}'")
    asked = "SELECT clip, helping_force, shake_limit FROM manifest"
    with open_manifest(new) as database:
        assert ask(database, asked)[1] == [("a", 0.5, 3.0)]
    with open_manifest(old) as database:
        assert ask(database, asked)[1] == [("a", None, None)]
