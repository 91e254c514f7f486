"""Python reads this at its start (PYTHONPATH): tempest's pause of ten seconds before it deletes a subnet, a third of an
hour in all for the network tests, is a tenth of a second."""
import sys
import time

wait = time.sleep


def sleep(seconds):
    short = seconds == 10 and sys._getframe(1).f_code.co_filename.endswith("/subnets_client.py")
    wait(0.1 if short else seconds)


time.sleep = sleep
