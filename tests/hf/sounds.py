"""Writes tests/hf/sounds: what transformers computes from samples, for models whose features are made by attn2c.
NAME.cases has for each sound int32 samples, rows; then the samples, the features, and for a folder the model's logits
(float32, rows by rows). The folder "layer" has adapters of two languages, and its logits are those of "fra". Run as: python sounds.py (needs torch and transformers)."""
import json
import shutil
from pathlib import Path

import numpy as np
import torch
import transformers as hf
from safetensors.torch import save_file

ROOT = Path(__file__).parent / "sounds"
RATE = 16000


def sound(count, seed):
    """A voice-like sound: harmonics that come and go, and some noise."""
    random, t = np.random.default_rng(seed), np.arange(count) / RATE
    loudness = np.abs(np.sin(2 * np.pi * 3.1 * t + seed)) ** 2
    waves = sum(np.sin(2 * np.pi * 130 * k * t + k * k) / k for k in range(1, 25))
    return (0.2 * loudness * waves + 0.002 * random.standard_normal(count)).astype(np.float32)


def write(name, cases):
    with open(ROOT / f"{name}.cases", "wb") as file:
        for samples, features, *logits in cases:
            file.write(np.array([len(samples), len(features)], np.int32).tobytes())
            for array in (samples, features, *logits):
                file.write(np.ascontiguousarray(array, np.float32).tobytes())


LANGUAGES = {"eng": "ABC", "fra": "AB\u00c9\u00c7\u0152"}  # capitals of each
SPECIAL = ["<pad>", "<s>", "</s>", "<unk>", "|"]


def write_languages(model, path):
    """Adapters as MMS has them, with outputs of different widths, and the tokens of each language. The weights' own
    language is the first."""
    vocabulary = {code: {text: i for i, text in enumerate([*SPECIAL, *letters])} for code, letters in LANGUAGES.items()}
    (path / "vocab.json").write_text(json.dumps(vocabulary))
    (path / "tokenizer_config.json").write_text(json.dumps({
        "tokenizer_class": "Wav2Vec2CTCTokenizer", "target_lang": "eng", "do_lower_case": True}))
    names = [name for name in model.state_dict() if ".adapter_layer." in name or name.startswith("lm_head.")]
    for code, tokens in vocabulary.items():
        tensors = {name: model.state_dict()[name] for name in names}
        if code != "eng":
            tensors = {name: 0.5 * torch.randn(len(tokens) if "lm_head" in name else tensor.shape[0], *tensor.shape[1:])
                       for name, tensor in tensors.items()}
        save_file(tensors, path / f"adapter.{code}.safetensors")


def folder(name, counts, language=None, **config):
    torch.manual_seed(3)
    model = hf.Wav2Vec2ForCTC(hf.Wav2Vec2Config(
        vocab_size=8 if language else 9, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=24,
        num_conv_pos_embeddings=4, num_conv_pos_embedding_groups=2, **config)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    shutil.rmtree(ROOT / name, ignore_errors=True)
    model.save_pretrained(ROOT / name)
    extractor = hf.Wav2Vec2FeatureExtractor(do_normalize=config["feat_extract_norm"] == "layer")
    extractor.save_pretrained(ROOT / name)
    if language:
        write_languages(model, ROOT / name)
        model = hf.Wav2Vec2ForCTC.from_pretrained(ROOT / name, target_lang=language, ignore_mismatched_sizes=True).eval()
    cases = []
    for seed, count in enumerate(counts):
        samples = sound(count, seed)
        values = extractor(samples, sampling_rate=RATE, return_tensors="pt").input_values
        with torch.no_grad():
            features = model.wav2vec2.feature_extractor(values)[0].T
            cases.append((samples, features.numpy(), model(values).logits[0].numpy()))
    write(name, cases)


def extracted(name, extractor, key, counts):
    cases = []
    for seed, count in enumerate(counts):
        samples = sound(count, seed)
        features = extractor(samples, sampling_rate=RATE, return_tensors="np")[key][0]
        cases.append((samples, features.T if key == "input_features" else features))
    write(name, cases)


def grouped():
    """A norm of groups of channels over the whole sound, after an activation (GroupNorm)."""
    torch.manual_seed(3)
    first = torch.nn.Conv1d(1, 12, 70, 9)
    norm = torch.nn.GroupNorm(3, 12)
    last = torch.nn.Conv1d(12, 10, 3, 2, bias=False)
    with torch.no_grad():
        for parameter in [*norm.parameters(), first.bias]:
            parameter.add_(0.3 * torch.randn_like(parameter))
    (ROOT / "grouped").mkdir(exist_ok=True)
    save_file({"sound.0.weight": first.weight, "sound.0.bias": first.bias, "sound.0.norm.weight": norm.weight,
               "sound.0.norm.bias": norm.bias, "sound.1.weight": last.weight}, ROOT / "grouped/model.safetensors")
    cases = []
    for seed, count in enumerate([88, 97, 700, 4000]):
        samples = sound(count, seed) + 0.1
        with torch.no_grad():
            features = torch.nn.functional.gelu(last(norm(torch.tanh(first(torch.tensor(samples)[None, None])))))
        cases.append((samples, features[0].T.numpy()))
    write("grouped", cases)


def kaldi(samples, mels, low=20.0):
    """Kaldi's filter banks as WeSpeaker takes them: of samples of 16 bits, frames of 25 ms every 10 ms without their mean,
    with preemphasis and a Hamming window; the logarithm of triangles that are straight on the mel scale; each filter
    without its mean over the sound."""
    count, size, hop, fft = len(samples), 400, 160, 512
    rows = 1 + (count - size) // hop
    frames = np.stack([samples[i * hop:i * hop + size] for i in range(rows)]).astype(np.float64) * 32768
    frames -= frames.mean(1, keepdims=True)
    frames -= 0.97 * np.concatenate([frames[:, :1], frames[:, :-1]], 1)
    frames *= 0.54 - 0.46 * np.cos(2 * np.pi * np.arange(size) / (size - 1))
    power = np.abs(np.fft.rfft(frames, fft)) ** 2

    def mel(hertz):
        return 1127 * np.log(1 + hertz / 700)

    step = (mel(RATE / 2) - mel(low)) / (mels + 1)
    left = mel(low) + step * np.arange(mels)[:, None]
    bins = mel(np.arange(fft // 2) * RATE / fft)[None]
    weights = np.maximum(0, np.minimum((bins - left) / step, (left + 2 * step - bins) / step))
    banks = np.log(np.maximum(power[:, :fft // 2] @ weights.T, np.finfo(np.float32).eps))
    return banks - banks.mean(0)


if __name__ == "__main__":
    # rows of a chunk: 32 of convolutions, at most 256 of filters
    SHAPE = {"conv_dim": [12, 10, 12], "conv_kernel": [10, 3, 2], "conv_stride": [5, 2, 2]}
    folder("group", [30, 49, 1000, 1001, 669, 670], feat_extract_norm="group", **SHAPE)
    folder("layer", [30, 31, 1001, 669, 670], feat_extract_norm="layer", conv_bias=True, do_stable_layer_norm=True,
           language="fra", adapter_attn_dim=6, **SHAPE)
    # of the second convolution, a chunk has 65 rows, which are made in pairs
    folder("pairs", [40, 59, 1001, 1340], feat_extract_norm="group", conv_dim=[64, 64, 12], conv_kernel=[10, 3, 3],
           conv_stride=[5, 2, 2])
    grouped()
    extracted("whisper", hf.WhisperFeatureExtractor(feature_size=10, chunk_length=1), "input_features",
              [1, 399, 5000, 16000, 17000])
    extracted("ast", hf.ASTFeatureExtractor(num_mel_bins=12, max_length=40), "input_values", [400, 1359, 6640, 9000])
    write("kaldi", [(samples, kaldi(samples, 12)) for samples in (sound(count, seed) for seed, count in enumerate(
        [400, 720, 1359, 6640, 48000]))])
