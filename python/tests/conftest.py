import os
from pathlib import Path

import pytest

import treesample as ts


@pytest.fixture(scope="session")
def models():
    """The folder of the bundled models."""
    return Path(os.environ["TREESAMPLE_MODELS"])


@pytest.fixture(scope="session")
def program():
    return os.environ["TREESAMPLE_PROGRAM"]


@pytest.fixture
def sprinkler():
    model = ts.Model()
    rain = model.variable("rain", ["no", "yes"])
    sprinkler = model.variable("sprinkler", ["off", "on"])
    grass = model.variable("grass", ["dry", "damp", "wet"])
    model.table([rain], [0.8, 0.2])
    model.table([rain, sprinkler], [[0.6, 0.4], [0.99, 0.01]])
    model.table([sprinkler, rain, grass], [[[0.9, 0.1, 0.0], [0.1, 0.3, 0.6]], [[0.05, 0.15, 0.8], [0.0, 0.01, 0.99]]])
    return model
