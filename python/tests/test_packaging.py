"""The build backend, as far as nothing has to be compiled; tests/install/run_package_test.sh does the rest."""
import sys
import tarfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "python"))  # behind the module that is tested
import wheel_backend  # noqa: E402


def test_an_sdist_has_all_that_a_build_needs(tmp_path):
    name = wheel_backend.build_sdist(tmp_path)
    with tarfile.open(tmp_path / name) as archive:
        names = archive.getnames()
        folder = name.removesuffix(".tar.gz")
        metadata = archive.extractfile(f"{folder}/PKG-INFO").read().decode()
    assert {f"{folder}/{file}" for file in ("CMakeLists.txt", "pyproject.toml", "python/wheel_backend.py", "LICENSE",
                                            "include/treesample/treesample.hpp")} <= set(names)
    assert not [file for file in names if "/build" in file.removeprefix(folder)[:7]]
    assert f"Version: {wheel_backend._version()}\n" in metadata


def test_metadata_says_what_pyproject_says():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = wheel_backend._metadata(["numpy"]).splitlines()
    assert f"Name: {project['name']}" in lines
    assert f"Requires-Python: {project['requires-python']}" in lines
    assert f"Summary: {project['description']}" in lines
    assert "Requires-Dist: numpy" in lines
