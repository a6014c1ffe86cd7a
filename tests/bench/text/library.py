"""Times Hugging Face's tokenizers on one thread, by the processor's time: library.py TOKENIZER.json LINES"""

import os
import sys
import time

os.environ["RAYON_NUM_THREADS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

from tokenizers import Tokenizer

tokenizer = Tokenizer.from_file(sys.argv[1])
lines = open(sys.argv[2], encoding="utf-8").read().split("\n")
for name, run in (("encode", lambda: [tokenizer.encode(line) for line in lines]),
                  ("encode_batch", lambda: tokenizer.encode_batch(lines))):
    best = 1e9
    for _ in range(5):
        began = time.process_time()
        run()
        best = min(best, time.process_time() - began)
    print("%s: %.1f thousand lines/s" % (name, 1e-3 * len(lines) / best))
