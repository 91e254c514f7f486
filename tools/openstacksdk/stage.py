"""Makes and clears away what openstacksdk's functional tests need: three accounts with projects of their own, since
some tests delete all that a project has, one network that servers of the first are put on, and the share type and the
image that the tests of shares and of cluster templates name, where they are not there yet.

stage.py make CLOUD FILE: as the administrator's entry CLOUD of clouds.yaml; writes FILE, a clouds.yaml with the entries
devstack, devstack-alt and devstack-admin. stage.py clear CLOUD FILE: deletes all of that.
"""
import os
import secrets
import sys

import openstack
import yaml

ROLES = {
    'devstack': ('member', 'reader', 'load-balancer_member', 'creator'),
    'devstack-alt': ('member', 'reader', 'load-balancer_member', 'creator'),
    'devstack-admin': ('admin', 'load-balancer_admin', 'creator'),
}


def account(cloud, run, entry):
    """A user with a project; what clouds.yaml says of it."""
    identity, name, password = cloud.identity, f'{run}-{entry}', secrets.token_hex(16)
    project = identity.create_project(name=name, domain_id='default')
    user = identity.create_user(name=name, password=password, domain_id='default')
    known = {role.name: role for role in identity.roles()}
    for role in ROLES[entry]:
        if role in known:
            identity.assign_project_role_to_user(project, user, known[role])
    return {
        'auth': {
            'auth_url': cloud.config.auth['auth_url'],
            'username': name,
            'password': password,
            'project_name': name,
            'user_domain_name': 'Default',
            'project_domain_name': 'Default',
        },
        'region_name': cloud.config.region_name,
        'interface': 'public',
        'identity_api_version': 3,
    }


def connect(entry):
    return openstack.connect(load_yaml_config=False, load_envvars=False, **entry)


def shares(cloud):
    """Manila, at the newest version of the release that both clouds are."""
    manila = cloud.shared_file_system
    manila.default_microversion = '2.73'
    return manila


def share_type(manila):
    """Makes the type that tests name; its id, or None when it is there already."""
    if any(known['name'] == 'dhss_false' for known in manila.get('/types').json()['share_types']):
        return None
    specs = {
        'driver_handles_share_servers': 'False',
        'snapshot_support': 'True',
        'create_share_from_snapshot_support': 'True',
    }
    answer = manila.post('/types', json={'share_type': {'name': 'dhss_false', 'extra_specs': specs}})
    return answer.json()['share_type']['id']


def cluster_image(cloud):
    """Makes the image that the test of cluster templates names; its id, or None without Magnum, or when it is there."""
    name = 'fedora-atomic-f23-dib'
    if not cloud.has_service('container-infrastructure-management') or cloud.image.find_image(name):
        return None
    return cloud.image.create_image(
        name=name, disk_format='raw', container_format='bare', visibility='public', data=b'no more is read of it',
        allow_duplicates=True, properties={'os_distro': 'fedora-coreos'}).id


def make(cloud, file):
    run = f'sdk-{secrets.token_hex(4)}'
    clouds = {entry: account(cloud, run, entry) for entry in ROLES}
    wanted = {'flavor_name': 'm1.tiny', 'image_name': 'cirros'}
    made = {'share_type': share_type(shares(cloud)), 'image': cluster_image(cloud)}
    with open(os.open(file, os.O_WRONLY | os.O_CREAT, 0o600), 'w') as out:
        yaml.safe_dump({'clouds': clouds, 'functional': wanted, 'made': made}, out)
    network = connect(clouds['devstack']).network
    private = network.create_network(name='private')
    subnet = network.create_subnet(
        name='private-subnet', network_id=private.id, cidr='10.77.0.0/24', ip_version=4)
    public = network.find_network('public')
    router = network.create_router(name='router', external_gateway_info={'network_id': public.id})
    network.add_interface_to_router(router, subnet_id=subnet.id)


def remove_type(manila, made):
    """Deletes the shares that tests left behind, which nothing else clears away, and the share type that they are of."""
    known = manila.get(f'/shares/detail?all_tenants=1&share_type_id={made}').json()['shares']
    for share in known:
        manila.delete(f"/shares/{share['id']}")
    manila.delete(f'/types/{made}')


def clear(cloud, file):
    with open(file) as text:
        staged = yaml.safe_load(text)
    entries = {entry['auth']['username']: entry for entry in staged['clouds'].values()}
    for name, entry in entries.items():
        try:
            connect(entry).project_cleanup(dry_run=False, wait_timeout=120)
        except openstack.exceptions.SDKException as problem:
            print(f'{name} could not be emptied: {problem}')
    if staged['made']['share_type']:
        remove_type(shares(cloud), staged['made']['share_type'])
    if staged['made']['image']:
        cloud.image.delete_image(staged['made']['image'])
    for name in entries:
        project, user = cloud.identity.find_project(name), cloud.identity.find_user(name)
        for group in cloud.network.security_groups(project_id=project.id) if project else ():
            cloud.network.delete_security_group(group)
        if user:
            cloud.identity.delete_user(user)
        if project:
            cloud.identity.delete_project(project)


{'make': make, 'clear': clear}[sys.argv[1]](openstack.connect(cloud=sys.argv[2]), sys.argv[3])
