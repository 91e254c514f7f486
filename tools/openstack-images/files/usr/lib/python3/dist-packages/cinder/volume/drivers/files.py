"""Volumes that are files with holes in one folder: for a backend without disks, privileges or a kernel module."""
import os
import subprocess

from oslo_config import cfg

from cinder.volume import driver

GIB = 1024 ** 3


def path_of(thing):
    folder = os.path.join(cfg.CONF.state_path, 'volumes')
    os.makedirs(folder, mode=0o700, exist_ok=True)
    return os.path.join(folder, thing['name'])


def grow(path, gib):
    with open(path, 'ab') as file:
        if os.path.getsize(path) < gib * GIB:
            file.truncate(gib * GIB)


def copy(source, target):
    subprocess.run(['cp', '--sparse=always', source, target], check=True)


class FileDriver(driver.VolumeDriver):

    VERSION = '1.0.0'

    def do_setup(self, context):
        self.root = path_of({'name': ''})

    def check_for_setup_error(self):
        os.stat(self.root)

    def create_volume(self, volume):
        grow(path_of(volume), volume['size'])

    def delete_volume(self, volume):
        if os.path.exists(path_of(volume)):
            os.unlink(path_of(volume))

    delete_snapshot = delete_volume

    def create_snapshot(self, snapshot):
        copy(path_of(snapshot['volume']), path_of(snapshot))

    def create_volume_from_snapshot(self, volume, snapshot):
        copy(path_of(snapshot), path_of(volume))
        grow(path_of(volume), volume['size'])

    def create_cloned_volume(self, volume, src_vref):
        copy(path_of(src_vref), path_of(volume))
        grow(path_of(volume), volume['size'])

    def extend_volume(self, volume, new_size):
        grow(path_of(volume), new_size)

    def ensure_export(self, context, volume):
        pass

    def create_export(self, context, volume, connector):
        pass

    def remove_export(self, context, volume):
        pass

    def initialize_connection(self, volume, connector):
        return {'driver_volume_type': 'local', 'data': {'device_path': path_of(volume)}}

    def terminate_connection(self, volume, connector, **kwargs):
        pass

    def _update_volume_stats(self):
        space = os.statvfs(self.root)
        self._stats = {
            'volume_backend_name': self.configuration.safe_get('volume_backend_name') or 'files',
            'vendor_name': 'none', 'driver_version': self.VERSION, 'storage_protocol': 'file',
            'total_capacity_gb': space.f_blocks * space.f_frsize // GIB,
            'free_capacity_gb': space.f_bavail * space.f_frsize // GIB,
            'reserved_percentage': 0, 'thin_provisioning_support': True, 'max_over_subscription_ratio': 20.0,
        }
