#!/usr/bin/env bash
# Times attn2c against ONNX Runtime, OpenVINO, PyTorch and sentence-transformers: makes the virtual environment
# out/peers-venv once, with pinned packages from PyPI, then hands its arguments to race.py (run.sh --help lists them).
# With --generate first, the same for llama.cpp in out/generate-venv and generate.py; llama.cpp is compiled for this
# machine, which takes some 15 minutes on two cores. With --genai FILE.gguf, OpenVINO GenAI on that file, in
# out/genai-venv (genai.py). With --translate first, CTranslate2 in out/translate-venv (translate.py). With --families
# first, whole models of transformers (families.py).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
cd "$root"

# install VENV REQUIREMENTS [PACKAGE]
install() {
  local venv=$1 wanted
  wanted=$(cat "$2" && echo "${3:-}")
  [ "$wanted" = "$(cat "$venv/installed.txt" 2>/dev/null)" ] && [ -x "$venv/bin/python" ] && return
  echo "installing the peers into ${venv#"$root"/}" >&2
  mkdir -p "$root/out"
  [ -x "$venv/bin/python" ] || python3 -m venv "$venv"
  local pip=("$venv/bin/python" -m pip --disable-pip-version-check install --quiet)
  "${pip[@]}" -r "$2"
  [ -z "${3:-}" ] || "${pip[@]}" "$3"
  echo "$wanted" >"$venv/installed.txt"
}

if [ "${1:-}" = --generate ]; then
  shift
  export CMAKE_ARGS="-DGGML_NATIVE=on"
  install "$root/out/generate-venv" "$here/requirements_generate.txt"
  exec "$root/out/generate-venv/bin/python" "$here/generate.py" "$@"
fi
if [ "${1:-}" = --genai ]; then
  shift
  install "$root/out/genai-venv" "$here/requirements_genai.txt"
  exec "$root/out/genai-venv/bin/python" "$here/genai.py" "$@"
fi
if [ "${1:-}" = --translate ]; then
  shift
  install "$root/out/translate-venv" "$here/requirements_translate.txt"
  exec "$root/out/translate-venv/bin/python" "$here/translate.py" "$@"
fi
install "$root/out/peers-venv" "$here/requirements.txt" torch==2.15.0
program=race.py
if [ "${1:-}" = --families ]; then
  shift
  program=families.py
fi
exec "$root/out/peers-venv/bin/python" "$here/$program" "$@"
