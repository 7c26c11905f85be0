#!/bin/sh
# Makes the environment of the published importances once, and compares ours with them.
# Usage: published.sh [FOLDER OF THE ENVIRONMENT]; RULELENS_DATA names the data sets.
set -eu
cd "$(dirname "$0")/../.."
place="${1:-.venv-published}"
if [ ! -x "$place/bin/python" ]; then
  "${PYTHON:-python3.11}" -m venv "$place"
fi
"$place/bin/pip" install --quiet "scikit-learn==1.4.2" "numpy==2.0.2" "scipy<1.14" "shap==0.46.0" .
"$place/bin/python" experiments/feature_graphs/published.py
