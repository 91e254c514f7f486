"""Neutron's own program that writes Neutron's networks into OVN's northbound database. It ends with 0 also where it could not begin: here
with 1, unless it has gone through all networks. Its arguments are this one's."""
import sys

from neutron.cmd.ovn import neutron_ovn_db_sync_util as program
from neutron.plugins.ml2.drivers.ovn.mech_driver.ovsdb import ovn_db_sync

synchronizer = ovn_db_sync.OvnNbSynchronizer
_do_sync = synchronizer.do_sync
ended = []


def do_sync(self):
    _do_sync(self)
    ended.append(True)


synchronizer.do_sync = do_sync
program.main()
sys.exit(0 if ended else 1)
