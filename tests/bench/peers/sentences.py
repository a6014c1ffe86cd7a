"""The race of sentences: 1,000 sentences of the Debian installation guide, and a checkpoint folder of
6 x 384 as sentence-transformers reads them, with random weights and a tokenizer made from the guide.
Kept in out/peers/sentences/. The guide (GPL 2) comes from Debian's package, which is not installed."""
import html
import io
import json
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

import numpy as np

from models import OUT

HOME = OUT / "sentences"
PACKAGE = "installation-guide-amd64"
COUNT, WIDTH, LAYERS, HEADS, HIDDEN, WORDS, LONGEST = 1000, 384, 6, 12, 1536, 30522, 512
EPSILON = 1e-5


def guide():
    """The paragraphs of the English guide, in the order of its files."""
    with tempfile.TemporaryDirectory(dir=OUT) as folder:
        # apt's own user must be able to write there
        os.chmod(folder, 0o755)
        subprocess.run(["apt-get", "download", "-qq", PACKAGE], cwd=folder, check=True, stderr=subprocess.DEVNULL)
        data = subprocess.run(["dpkg-deb", "--fsys-tarfile", next(Path(folder).glob("*.deb"))], check=True,
                              capture_output=True).stdout
    pages = {}
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for member in archive:
            if re.fullmatch(rf"\./usr/share/doc/{PACKAGE}/en/[^/]+\.html", member.name):
                pages[member.name] = archive.extractfile(member).read().decode()
    for name in sorted(pages):
        for paragraph in re.findall(r"<p>(.*?)</p>", pages[name], re.DOTALL):
            yield " ".join(html.unescape(re.sub(r"<[^<>]*>", "", paragraph)).split())


def sentences(paragraphs):
    """The sentences of paragraphs, each once, in order."""
    found = {}
    for paragraph in paragraphs:
        for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z])", paragraph):
            if len(sentence.split()) > 1:
                found[sentence] = None
    return list(found)


def make_tokenizer(text, folder):
    """WordPiece as BERT has it, of at most WORDS words."""
    import transformers
    from tokenizers import BertWordPieceTokenizer
    tokenizer = BertWordPieceTokenizer()
    tokenizer.train_from_iterator(text, vocab_size=WORDS, min_frequency=1, show_progress=False)
    tokenizer.save_model(str(folder))
    made = transformers.BertTokenizerFast(vocab_file=str(folder / "vocab.txt"), model_max_length=LONGEST)
    made.save_pretrained(folder)
    return made


def make_folder(text, folder):
    """A checkpoint of sentence-transformers: an encoder with random weights, and the mean of its rows."""
    import torch
    import transformers
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    torch.manual_seed(1)
    config = transformers.BertConfig(vocab_size=WORDS, hidden_size=WIDTH, num_hidden_layers=LAYERS,
                                     num_attention_heads=HEADS, intermediate_size=HIDDEN, layer_norm_eps=EPSILON,
                                     max_position_embeddings=LONGEST)
    bare = folder / "bare"
    transformers.BertModel(config).save_pretrained(bare)
    make_tokenizer(text, bare)
    modules = [Transformer(str(bare), max_seq_length=LONGEST), Pooling(WIDTH, "mean")]
    SentenceTransformer(modules=modules, device="cpu").save(str(folder))
    shutil.rmtree(bare)


def expected(folder, tokens):
    """The results in double precision, computed by sentence-transformers without padding."""
    import torch
    from sentence_transformers import SentenceTransformer
    model = SentenceTransformer(str(folder), device="cpu").double()
    result = np.zeros((len(tokens), WIDTH))
    by_length = {}
    for i, ids in enumerate(tokens):
        by_length.setdefault(len(ids), []).append(i)
    with torch.inference_mode():
        for some in by_length.values():
            ids = torch.tensor([tokens[i] for i in some])
            result[some] = model({"input_ids": ids, "attention_mask": torch.ones_like(ids)})["sentence_embedding"]
    return result


def prepare():
    """Makes what is missing. Returns (the checkpoint folder, the sentences' token ids, the expected results)."""
    OUT.mkdir(parents=True, exist_ok=True)
    if not (HOME / "expected.npy").exists():
        from transformers import AutoTokenizer
        begun = Path(tempfile.mkdtemp(dir=OUT))
        text = sentences(guide())
        make_folder(text, begun / "folder")
        some = [text[i * len(text) // COUNT] for i in range(COUNT)]     # evenly from the guide, in its order
        tokens = AutoTokenizer.from_pretrained(begun / "folder")(some, truncation=True)["input_ids"]
        (begun / "tokens.json").write_text(json.dumps(tokens))
        np.save(begun / "expected.npy", expected(begun / "folder", tokens))
        shutil.rmtree(HOME, ignore_errors=True)
        os.replace(begun, HOME)     # at once: a folder that is there is whole
    return HOME / "folder", json.loads((HOME / "tokens.json").read_text()), np.load(HOME / "expected.npy")
