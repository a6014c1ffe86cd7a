"""OpenVINO GenAI in the race of a GGUF file, in a process of its own. Asked by genai.py, a line each; answers a line of
JSON each.

    genai_worker.py MODEL.gguf PRECISION THREADS BEGIN TOKENS

    prefill COUNT     {"ms"} to the first token after a prompt
    decode ...        {"ms"} of a token: the mean of TOKENS after a prompt of BEGIN
"""
import json
import sys

import numpy as np

VOCABULARY = 49000      # ids are below it in every model


class GenAI:
    def __init__(self, path, precision, threads):
        import openvino
        import openvino_genai
        self.tensor, self.api, self.calls = openvino.Tensor, openvino_genai, 0
        self.pipeline = openvino_genai.LLMPipeline(path, "CPU", INFERENCE_NUM_THREADS=threads,
                                                   INFERENCE_PRECISION_HINT=precision)

    def generate(self, prompt, tokens):
        """The measurements of some tokens after a prompt. All prompts differ, because what begins like the last one is
        not read again."""
        settings = self.api.GenerationConfig(max_new_tokens=tokens, ignore_eos=True, do_sample=False)
        self.calls += 1
        ids = (np.arange(self.calls, self.calls + prompt, dtype=np.int64) * 7919 % VOCABULARY)[None]
        inputs = self.api.TokenizedInputs(self.tensor(ids), self.tensor(np.ones_like(ids)))
        return self.pipeline.generate(inputs, settings).perf_metrics


def main():
    path, precision, threads, begin, tokens = sys.argv[1:]
    try:
        engine = GenAI(path, precision, int(threads))
        print(json.dumps({}), flush=True)
        for line in sys.stdin:
            word, count, *_ = line.split()
            if word == "prefill":
                ms = engine.generate(int(count), 1).get_ttft().mean
            else:
                ms = engine.generate(int(begin), int(tokens)).get_tpot().mean
            print(json.dumps({"ms": ms}), flush=True)
    except RuntimeError as error:
        print(json.dumps({"error": str(error)}), flush=True)


if __name__ == "__main__":
    main()
