"""A dataset with two robots, rejections and hostile names, and a viewer that serves it."""

import pytest

from phuma.robots import load_robot
from tests.report_dataset import ROBOTS, built
from tests.viewer.serving import serving


@pytest.fixture(scope="session")
def root(tmp_path_factory):
    return built(tmp_path_factory.getbasetemp())


@pytest.fixture(scope="module")
def viewer(root):
    pytest.importorskip("viser")
    from phuma.pipelines.collections import DatasetCollection

    with serving(DatasetCollection(root, [load_robot(name) for name in ROBOTS])) as viewer:
        yield viewer
