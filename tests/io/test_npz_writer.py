"""What is written is what numpy and zipfile would write, to the last byte."""

import io
import zipfile

import numpy as np
import pytest
from numpy.lib import format as npy_format

from phuma.io import npz_writer
from phuma.io.npz_writer import npy_bytes, npz_bytes

RNG = np.random.default_rng(0)
ARRAYS = {
    "text": "walk ü",
    "empty_text": "",
    "number": np.float64(30.0),
    "count": np.int64(3),
    "flags": np.array([True, False]),
    "names": np.array(["pelvis", "left_hip"]),
    "nothing": np.zeros((0, 3), dtype=np.float32),
    "quat": RNG.normal(size=(24, 22, 4)).astype(np.float32),
    "big_endian": np.arange(5, dtype=">f8"),
    "fortran": np.asfortranarray(RNG.normal(size=(4, 5))),
    "compressible": RNG.integers(0, 4, size=20_000),
    "long": np.zeros(100_000),
}


def theirs(value):
    stream = io.BytesIO()
    npy_format.write_array(stream, np.asarray(value, order="C"), allow_pickle=False)
    return stream.getvalue()


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_is_what_numpy_writes(name):
    assert npy_bytes(ARRAYS[name]) == theirs(ARRAYS[name])


@pytest.mark.parametrize("names", [[], ["text"], list(ARRAYS), list(reversed(ARRAYS))])
def test_an_archive_is_what_zipfile_writes(names):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name in sorted(names):
            info = zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0))
            info.compress_type, info.create_system, info.external_attr = zipfile.ZIP_DEFLATED, 3, 0o644 << 16
            archive.writestr(info, theirs(ARRAYS[name]), compresslevel=6)
    chosen = {name: ARRAYS[name] for name in names}
    assert npz_bytes(chosen) == stream.getvalue()
    assert npz_bytes(chosen) == stream.getvalue()  # what is remembered is not different


def test_what_a_zip_cannot_tell_is_not_written(monkeypatch):
    monkeypatch.setattr(npz_writer, "LARGEST", 1000)
    with pytest.raises(ValueError, match="long has 800,128 bytes; a zip holds 1,000"):
        npz_bytes({"long": ARRAYS["long"]})
