"""How much of some cores' time goes to other processes, or to other machines on the same
host: with threads, one busy neighbour multiplies the time of whoever waits at barriers."""
import os
import time

TICK = os.sysconf("SC_CLK_TCK")
IDLE, IO_WAIT = 3, 4    # columns of /proc/stat; guest time, from column 8 on, is in the first two already


def busy_seconds(cores):
    """Time that the cores were not idle, the hypervisor's share included."""
    total = 0
    with open("/proc/stat") as lines:
        for line in lines:
            name, *ticks = line.split()
            if name[:3] == "cpu" and name[3:].isdigit() and int(name[3:]) in cores:
                total += sum(int(t) for i, t in enumerate(ticks[:8]) if i not in (IDLE, IO_WAIT))
    return total / TICK


def process_seconds(processes):
    """Processor time that these have taken, all their threads together."""
    total = 0
    for process in processes:
        with open(f"/proc/{process}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        total += int(fields[11]) + int(fields[12])
    return total / TICK


class Watch:
    """Begins to count when made; own: the numbers of the processes that are no neighbours."""

    def __init__(self, own):
        self.own, self.cores = [os.getpid(), *own], os.sched_getaffinity(0)
        self.start = self.now()

    def now(self):
        return time.monotonic(), busy_seconds(self.cores), process_seconds(self.own)

    def share(self):
        """Of the cores' time since then, 0 to 1, what neighbours took."""
        elapsed, busy, own = (after - before for before, after in zip(self.start, self.now()))
        return min(1.0, max(0.0, (busy - own) / (elapsed * len(self.cores))))
