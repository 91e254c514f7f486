"""Shares that are folders of one folder: for a backend without servers, disks or privileges. No program serves them."""
import ipaddress
import os
import shutil

from oslo_config import cfg

from manila import exception
from manila.share import driver

GIB = 1024 ** 3


class FileDriver(driver.ShareDriver):

    VERSION = '1.0.0'

    def __init__(self, *args, **kwargs):
        super().__init__(False, *args, **kwargs)

    def path_of(self, thing):
        return os.path.join(cfg.CONF.state_path, 'shares', thing['name'])

    def do_setup(self, context):
        os.makedirs(self.path_of({'name': ''}), mode=0o700, exist_ok=True)

    def check_for_setup_error(self):
        os.stat(self.path_of({'name': ''}))

    def create_share(self, context, share, share_server=None):
        path = self.path_of(share)
        os.makedirs(path, exist_ok=True)
        return [{'path': f"{cfg.CONF.my_ip}:{path}", 'is_admin_only': False, 'metadata': {}}]

    def delete_share(self, context, share, share_server=None):
        shutil.rmtree(self.path_of(share), ignore_errors=True)

    def create_snapshot(self, context, snapshot, share_server=None):
        shutil.copytree(self.path_of({'name': snapshot['share_name']}), self.path_of(snapshot), dirs_exist_ok=True)

    delete_snapshot = delete_share

    def create_share_from_snapshot(self, context, share, snapshot, share_server=None, parent_share=None):
        shutil.copytree(self.path_of(snapshot), self.path_of(share), dirs_exist_ok=True)
        return self.create_share(context, share)

    def ensure_share(self, context, share, share_server=None):
        pass

    def extend_share(self, share, new_size, share_server=None):
        pass

    shrink_share = extend_share

    def update_access(self, context, share, access_rules, add_rules, delete_rules, share_server=None):
        for rule in access_rules:
            if rule['access_type'] != 'ip':
                raise exception.InvalidShareAccess(reason='access is by address')
            ipaddress.ip_network(rule['access_to'], strict=False)

    def _update_share_stats(self):
        space = os.statvfs(self.path_of({'name': ''}))
        super()._update_share_stats({
            'share_backend_name': self.configuration.safe_get('share_backend_name') or 'files',
            'vendor_name': 'none', 'driver_version': self.VERSION, 'storage_protocol': 'NFS',
            'total_capacity_gb': space.f_blocks * space.f_frsize // GIB,
            'free_capacity_gb': space.f_bavail * space.f_frsize // GIB,
            'reserved_percentage': 0, 'snapshot_support': True, 'create_share_from_snapshot_support': True,
        })
