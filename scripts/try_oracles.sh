#!/usr/bin/env bash
# Tests against other implementations, which live in an environment of their own over that of the project:
#   scripts/try_oracles.sh [pytest's options]
# PYTHON is the project's interpreter (.venv/bin/python), ORACLES the environment that is made (.venv-oracles).
set -euo pipefail
cd "$(dirname "$0")/.."
project=${PYTHON:-.venv/bin/python}
oracles=$(realpath -m "${ORACLES:-.venv-oracles}")
python=$oracles/bin/python

site_packages() { "$1" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'; }

if [ ! -f "$oracles/.installed" ]; then
    "$project" -m venv "$oracles"
    site_packages "$project" > "$(site_packages "$python")/project.pth"
    # confseq asks for a pybind11 that Python 3.11 cannot compile with, and for the headers of Boost.
    "$python" -m pip install --quiet boost-headers scikit-build 'pybind11<3' ninja 'cmake<4' 'setuptools<75' wheel
    PATH=$oracles/bin:$PATH BOOST_ROOT=$(site_packages "$python")/boost_headers/include \
        "$python" -m pip install --quiet --no-build-isolation confseq
    "$python" -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["oracles"], sep="\n")' |
        xargs -d '\n' "$python" -m pip install --quiet
    touch "$oracles/.installed"
fi

PYTHONPATH=src exec "$python" -m pytest -m oracles -rs tests/oracles "$@"
