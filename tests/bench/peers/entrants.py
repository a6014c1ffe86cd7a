"""Who races in each number type, in which variants, and what their outputs must be like, so
that nobody wins by being wrong."""
from dataclasses import replace

# The groups of each engine's variants. Variants of one group are tried in one process. A second model in the same
# process made OpenVINO slower. The peers of a number type, in the order of the report:
PEERS = {
    "f32": {
        "openvino": ["onnx", "sdpa"],
        "onnxruntime": ["plain,attention,multihead,optimizer"],
        "torch": ["encoder,sdpa,onednn"],
        "compile": ["sdpa,onednn"],
    },
    "bf16": {
        "openvino": ["onnx", "sdpa"],
        "torch": ["encoder,sdpa,onednn"],
        "compile": ["sdpa,onednn"],
    },
    # A variant of OpenVINO says what is not int8 in it: f32 or bf16.
    "int8": {
        "openvino": ["onnx f32", "onnx bf16", "sdpa f32", "sdpa bf16"],
        "weights": ["onnx f32", "onnx bf16", "sdpa f32", "sdpa bf16"],
        "onnxruntime": ["plain,attention,multihead,optimizer"],
    },
}

# The peers of a sweep of lengths: those whose graphs take any length without being compiled anew.
LENGTH_PEERS = {precision: [name for name in peers if name not in ("torch", "compile")]
                for precision, peers in PEERS.items()}

# The peers of the race of sentences, with their variants.
MIXED_PEERS = {
    "f32": {"openvino": ["onnx", "sdpa"], "onnxruntime": ["plain", "attention", "multihead"],
            "sentence_transformers": ["sdpa"]},
    "bf16": {},
    "int8": {},
}

TITLES = {"attn2c": "attn2c", "attn2c_f32": "attn2c f32", "openvino": "OpenVINO", "onnxruntime": "ONNX Runtime",
          "torch": "PyTorch eager", "sentence_transformers": "sentence-transformers",
          "compile": "torch.compile", "weights": "OpenVINO, weights"}

# The module that opens an engine, if that is not engine_NAME.
MODULES = {"attn2c_f32": "attn2c", "compile": "torch", "weights": "openvino"}

# The limits of f32 are the largest difference of any element from a result in doubles; the others' limits are the
# least cosine with it. Rounding an operand to bf16 changes it by 2^-9 at the most, 0.0011 as a standard deviation; both
# operands of the 48 products along 12 layers then give a relative error of 0.011 if each adds its own in full, a
# cosine of 0.99994; 0.999 is four times that error. Rounding a row of 768 normal numbers to int8 by its largest, of
# 3.2 standard deviations: 3.2 / 127 / sqrt(12) = 0.0073, 0.07 along 12 layers, a cosine of 0.9975; 0.99 is twice that
# error. Trained models have bars of their own, in accuracy (`attn2c quality`).
LARGEST_DIFFERENCE = 1e-3
LEAST_COSINE = {"bf16": 0.999, "int8": 0.99}


def own(precision):
    """attn2c's engines in a race: the one that is compared, and beside a narrower type its f32."""
    return ["attn2c"] if precision == "f32" else ["attn2c", "attn2c_f32"]


def entry_of(model, engine):
    """The model as that engine is given it."""
    return replace(model, precision="f32") if engine == "attn2c_f32" else model


def variants(precision, engine):
    """The groups of an engine's variants."""
    return PEERS[precision].get(engine, ["attn2c"])


def bar(precision):
    """What is asked of every output, in words."""
    least = LEAST_COSINE.get(precision)
    return f"cosine at least {least:g}" if least else f"difference at most {LARGEST_DIFFERENCE:g}"


def complaint(precision, error):
    """What is wrong with an output, or None; error: {"difference", "cosine"} (worker.py)."""
    least = LEAST_COSINE.get(precision)
    if least is None:
        is_right, text = error["difference"] <= LARGEST_DIFFERENCE, f"differs by {error['difference']:.3g}"
    else:
        is_right, text = error["cosine"] >= least, f"differs: cosine {error['cosine']:.6f}"
    return None if is_right else f"{text}, asked is a {bar(precision)}"
