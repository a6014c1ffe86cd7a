"""A worker's process: started with a program of this folder, asked a line at a time, answers a
line of JSON each. Raises RuntimeError with the worker's own words when it fails."""
import atexit
import json
import subprocess
import sys
from pathlib import Path


class Process:
    """Starts PROGRAM with words as its arguments; `opened` is the first answer, which comes without being asked."""

    def __init__(self, program, *words):
        command = [sys.executable, str(Path(__file__).with_name(program)), *map(str, words)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        atexit.register(self.process.kill)     # of one that has ended already: nothing
        try:
            self.opened = self.answer()
        except RuntimeError:
            self.close()
            raise

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"ended with status {self.process.wait()}")
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer

    def ask(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()
        return self.answer()

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
