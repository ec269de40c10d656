"""Names that come from files lead nowhere but below their folder."""

import pytest

from phuma.errors import ReadError
from phuma.io.inside import inside, links_in


@pytest.fixture
def folder(tmp_path):
    """A folder with one below it, beside another one."""
    (tmp_path / "here" / "sub").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    return tmp_path / "here"


@pytest.mark.parametrize("name", ["a", "sub/a.npz", "new/deep/a", "a..b", "...", "-", "a\nb", "*", "it's", "é", "./a"])
def test_a_name_below_the_folder_is_the_path_of_it(folder, name):
    assert inside(folder, name) == folder / name


@pytest.mark.parametrize("name", ["", ".", "..", "../a", "sub/../a", "sub/../../a", "/etc/passwd", "a\0b"])
def test_every_other_name_is_refused(folder, name):
    with pytest.raises(ReadError, match="names a file outside of itself"):
        inside(folder, name)


def test_a_link_may_not_lead_out_of_the_folder(folder):
    (folder / "out").symlink_to(folder.parent / "elsewhere")
    (folder / "within").symlink_to(folder / "sub")
    (folder / "dangling").symlink_to("../nowhere")
    (folder / "loop").symlink_to(folder / "loop")
    assert inside(folder, "within/a") == folder / "within" / "a"
    for name in ("out", "out/a", "dangling", "loop", "loop/a"):
        with pytest.raises(ReadError):
            inside(folder, name)
    assert sorted(path.name for path in links_in(folder)) == ["dangling", "loop", "out", "within"]


def test_the_folder_itself_may_be_a_link(folder, tmp_path):
    (tmp_path / "linked").symlink_to(folder)
    assert inside(tmp_path / "linked", "sub/a") == tmp_path / "linked" / "sub" / "a"
