#!/usr/bin/env bash
# Times attn2c against ONNX Runtime, OpenVINO and PyTorch: makes the virtual environment out/peers-venv once, with
# pinned packages from PyPI, then hands its arguments to race.py (run.sh --help lists them).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
venv=$root/out/peers-venv
torch=torch==2.15.0

if ! { [ -x "$venv/bin/python" ] && cat "$here/requirements.txt" <(echo "$torch") | cmp -s - "$venv/installed.txt"; }; then
  echo "installing the peers into out/peers-venv" >&2
  mkdir -p "$root/out"
  [ -x "$venv/bin/python" ] || python3 -m venv "$venv"
  pip=("$venv/bin/pip" --disable-pip-version-check install --quiet)
  "${pip[@]}" -r "$here/requirements.txt"
  "${pip[@]}" "$torch"
  cat "$here/requirements.txt" <(echo "$torch") >"$venv/installed.txt"
fi
exec "$venv/bin/python" "$here/race.py" "$@"
