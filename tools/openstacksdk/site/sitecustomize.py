"""Python reads this at its start (PYTHONPATH). It amends two things, each when its module is loaded.

The tests of shares ask for Manila's 2.82 whatever the cloud has, and fail at once where it has less; here they ask for
2.73, the newest of the release that both clouds are. Tests of what is newer fail on both.

The tests mean not to keep connections open, and do; a hundred of them are all that Neutron serves. Here each is closed.
"""
import importlib.util
import sys

REQUESTED, NEWEST = '2.82', '2.73'


def serve_shares(module):
    get_one = module.OpenStackConfig.get_one

    def get_one_served(self, *args, **kwargs):
        if kwargs.get('shared_file_system_api_version') == REQUESTED:
            kwargs['shared_file_system_api_version'] = NEWEST
        return get_one(self, *args, **kwargs)

    module.OpenStackConfig.get_one = get_one_served


def close_connections(module):
    default_headers = module.default_headers

    def closing_headers():
        headers = default_headers()
        headers['Connection'] = 'close'
        return headers

    module.default_headers = closing_headers


AMENDED = {'openstack.config.loader': serve_shares, 'requests.sessions': close_connections}


class Finder:
    """Finds these modules as they are found without it, and amends each once it is loaded."""

    def find_spec(self, name, path, target=None):
        amend = AMENDED.pop(name, None)
        if amend is None:
            return None
        spec = importlib.util.find_spec(name)
        load = spec.loader.exec_module

        def exec_module(module):
            load(module)
            amend(module)

        spec.loader.exec_module = exec_module
        return spec


sys.meta_path.insert(0, Finder())
