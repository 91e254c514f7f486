/** The services of OpenStack, and what they share, that an OpenStackDeployment runs. */
export const OPENSTACK_SERVICES = [
  "keystone",
  "glance",
  "placement",
  "neutron",
  "nova",
  "cinder",
  "barbican",
  "heat",
  "octavia",
  "designate",
  "manila",
  "horizon",
  "ovn",
  "libvirt",
  "mariadb",
  "rabbitmq",
  "memcached",
] as const;

/** A service that the operator knows, such as "nova". */
export type OpenStackService = (typeof OPENSTACK_SERVICES)[number];
