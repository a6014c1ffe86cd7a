#!/usr/bin/env bash
# Times attn2c against ONNX Runtime, OpenVINO, PyTorch and sentence-transformers: makes the virtual environment
# out/peers-venv once, with pinned packages from PyPI, then hands its arguments to race.py (run.sh --help lists them).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
venv=$root/out/peers-venv
torch=torch==2.15.0

wanted=$(cat "$here/requirements.txt" <(echo "$torch"))

if ! [ -x "$venv/bin/python" ] || [ "$wanted" != "$(cat "$venv/installed.txt" 2>/dev/null)" ]; then
  echo "installing the peers into out/peers-venv" >&2
  mkdir -p "$root/out"
  [ -x "$venv/bin/python" ] || python3 -m venv "$venv"
  pip=("$venv/bin/python" -m pip --disable-pip-version-check install --quiet)
  "${pip[@]}" -r "$here/requirements.txt"
  "${pip[@]}" "$torch"
  echo "$wanted" >"$venv/installed.txt"
fi
exec "$venv/bin/python" "$here/race.py" "$@"
