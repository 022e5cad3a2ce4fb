"""Sets an alarm for itself and goes on from its handler: a usual trick against one's own time limit."""
# proctor: {"input": "", "output": "best so far\n"}
import signal


class Enough(Exception):
    pass


def ring(number, frame):
    raise Enough


signal.signal(signal.SIGALRM, ring)
signal.setitimer(signal.ITIMER_REAL, 0.05)
try:
    while True:
        pass
except Enough:
    print("best so far")
