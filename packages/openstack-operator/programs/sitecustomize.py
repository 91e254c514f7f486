"""Python reads this at its start. Open vSwitch's library for Python before 3.3 takes every name for one with an address of IPv6; here each
connection resolves the name again, for whatever address it has."""
import socket

import ovs.socket_util as util

_parse = util.inet_parse_active


def inet_parse_active(target, default_port):
    host, port = _parse(target, default_port)
    if util.is_valid_ipv4_address(host) or ":" in host:
        return host, port
    try:
        # By position: eventlet's own has other names.
        return socket.getaddrinfo(host, port, 0, socket.SOCK_STREAM)[0][4][0], port
    except OSError:
        # Its connection fails then, and is tried again.
        return host, port


util.inet_parse_active = inet_parse_active
