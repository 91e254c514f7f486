"""The first request of a Job to a service. A node learns where a new pod is a moment after the pod is ready.

Mounted next to the programs that use it.
"""
import json
import os
import time
import urllib.error

ATTEMPTS = 30
PAUSE = float(os.environ.get("PAUSE_SECONDS", "2"))


def first(send, who):
    """What `send` returns; repeated for a minute while the service does not respond, or responds with its own failure."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return send()
        except (OSError, urllib.error.URLError) as error:
            is_refusal = isinstance(error, urllib.error.HTTPError) and error.code < 500
            if is_refusal or attempt == ATTEMPTS:
                raise
            if attempt == 2:
                print(json.dumps({"level": "WARNING", "message": f"{who} does not respond yet: {error}"}), flush=True)
            time.sleep(PAUSE)
