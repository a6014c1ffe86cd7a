#!/usr/bin/env python3
"""Makes the files of tests/hf/torch: files of torch.save(), and what they mean.

    types.bin           a state_dict with every type, views, tensors that share a storage, and parameters
    types.safetensors   the same tensors
    wide.bin            types.bin as a zip of 4 GB or more has it: sizes and places in fields of 8 bytes
    adapter.bin         adapter_model.bin of PEFT
    adapter_llama.bin   the same for a query of 32 rows, whose row r of B is r, r + 0.5
    turned.bin, ...     what is refused: elements that are not row by row, or repeated; values that are negatives of
                        those in the file; a module; a dictionary in a dictionary; compressed members; a member that
                        occurs twice; big-endian numbers

Run with Python 3.11, torch 2.15.0, safetensors 0.8.0.
"""

import zipfile
from pathlib import Path

import torch
from safetensors.torch import save_file

PLACE = Path(__file__).resolve().parent / "torch"


def rewritten(name, source, change=lambda member, data: data, **options):
    """Writes the members of a file again, in the same order."""
    with zipfile.ZipFile(PLACE / source) as old, zipfile.ZipFile(PLACE / name, "w", **options) as new:
        for member in old.namelist():
            new.writestr(zipfile.ZipInfo(member), change(member, old.read(member)), **(
                {"compress_type": options["compression"]} if options else {}))


def main():
    PLACE.mkdir(exist_ok=True)
    generator = torch.Generator().manual_seed(1)
    whole = torch.randn(4, 3, generator=generator)
    state = torch.nn.Linear(3, 2).state_dict()
    with torch.no_grad():
        state["weight"].copy_(whole[:2]), state["bias"].copy_(whole[3, :2])
    state["tied"] = state["weight"]
    state["view"] = whole[1:3]
    state["end"] = whole[3]
    state["column"] = whole[:, :1][2:3]
    state["scalar"] = torch.tensor(2.5)
    state["empty"] = torch.zeros(0, 3)
    state["parameter"] = torch.nn.Parameter(torch.arange(300.0))
    for name in "float64", "float16", "bfloat16":
        state[name] = torch.randn(5, generator=generator).to(getattr(torch, name))
    for name in "int64", "int32", "int16", "int8", "uint8", "bool":
        state[name] = torch.tensor([0, 1, 3]).to(getattr(torch, name))
    torch.save(state, PLACE / "types.bin")
    save_file({name: tensor.detach().clone().contiguous() for name, tensor in state.items()},
              PLACE / "types.safetensors")
    limit, zipfile.ZIP64_LIMIT = zipfile.ZIP64_LIMIT, 16
    rewritten("wide.bin", "types.bin")
    zipfile.ZIP64_LIMIT = limit
    few = {"weight": whole}
    torch.save(few, PLACE / "few.bin")
    torch.save({f"base_model.model.encoder.layer.0.attention.self.query.lora_{part}.weight":
                torch.randn(shape, generator=generator) for part, shape in (("A", (4, 8)), ("B", (8, 4)))},
               PLACE / "adapter.bin")
    query = "base_model.model.model.layers.0.self_attn.q_proj.lora_"
    torch.save({query + "A.weight": torch.ones(2, 32), query + "B.weight": torch.arange(64).reshape(32, 2) / 2},
               PLACE / "adapter_llama.bin")
    torch.save({"weight": whole.T}, PLACE / "turned.bin")
    torch.save({"weight": whole[:1].expand(4, 3)}, PLACE / "expanded.bin")
    torch.save({"weight": torch._neg_view(whole)}, PLACE / "negative.bin")
    torch.save(torch.nn.Linear(2, 1), PLACE / "module.bin")
    torch.save({"state_dict": few, "epoch": 3, "rate": 0.5, "more": [1, None, True]}, PLACE / "nested.bin")
    rewritten("compressed.bin", "few.bin", compression=zipfile.ZIP_DEFLATED)
    rewritten("twice.bin", "few.bin")
    with zipfile.ZipFile(PLACE / "twice.bin", "a") as twice:
        twice.writestr(zipfile.ZipInfo("few/data.pkl"), b"")
    rewritten("big.bin", "few.bin", lambda member, data: b"big" if member.endswith("byteorder") else data)


if __name__ == "__main__":
    main()
