"""Reconnects servers to the network when ovs-vswitchd was restarted.

OVS 3.1.0 can end at an assertion of its connection tracking, and is started again by its
monitor. It then makes a new device for each server, in the host's namespace: the old one,
in the server's namespace, leads nowhere. Such a device is put in the old one's place,
with its name, addresses and routes; what runs in the server notices nothing but a pause.
"""
import json
import os
import subprocess
import time


def run(*cmd):
    return subprocess.run(cmd, check=True, capture_output=True, text=True, timeout=30).stdout


def external_id(dev, key):
    return run('ovs-vsctl', '--timeout=10', '--if-exists', 'get', 'interface', dev,
               'external_ids:' + key).strip().strip('"')


def rewire(dev):
    uuid, mac = external_id(dev, 'vm-uuid'), external_id(dev, 'attached-mac')
    if not uuid or not os.path.exists('/run/netns/vm-' + uuid):
        return
    ip = ('ip', '-n', 'vm-' + uuid)
    old = [link for link in json.loads(run(*ip, '-j', 'addr')) if link.get('address') == mac]
    if not old:
        return                      # it is just being made
    name = old[0]['ifname']
    routes = [(family, route) for family in ('-4', '-6')
              for route in json.loads(run(*ip, family, '-j', 'route', 'show', 'dev', name) or '[]')
              if 'gateway' in route]
    run(*ip, 'link', 'del', name)
    run('ip', 'link', 'set', dev, 'netns', 'vm-' + uuid)
    run(*ip, 'link', 'set', dev, 'name', name)
    run(*ip, 'link', 'set', name, 'address', mac, 'mtu', str(old[0]['mtu']), 'up')
    for address in old[0]['addr_info']:
        if address['scope'] == 'global':
            run(*ip, 'addr', 'replace', '%s/%s' % (address['local'], address['prefixlen']), 'dev', name,
                *(['nodad'] if address['family'] == 'inet6' else []))
    for family, route in routes:
        run(*ip, family, 'route', 'replace', route['dst'], 'via', route['gateway'], 'dev', name)
    print('server', uuid, 'has its', name, 'again', flush=True)


while True:
    for device in os.listdir('/sys/class/net'):
        if device.startswith('vt'):
            try:
                rewire(device)
            except (subprocess.SubprocessError, OSError, ValueError) as error:
                print(device, 'is tried again:', error, getattr(error, 'stderr', ''), flush=True)
    time.sleep(1)
