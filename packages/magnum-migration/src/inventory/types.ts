/**
 * What the driver's environments put in place of its own resource types; a feature that is off has OS::Heat::None,
 * whose id no service has.
 */
const kinds: Readonly<Record<string, string>> = {
  FloatingIP: "OS::Neutron::FloatingIP",
  Net: "OS::Neutron::Net",
  Subnet: "OS::Neutron::Subnet",
  Router: "OS::Neutron::Router",
  RouterInterface: "OS::Neutron::RouterInterface",
  Volume: "OS::Cinder::Volume",
  VolumeAttachment: "OS::Cinder::VolumeAttachment",
};

/**
 * The type of a resource as its service has it: Heat reports the driver's own, such as
 * Magnum::Optional::Neutron::LBaaS::LoadBalancer.
 */
export function cloudTypeOf(type: string): string {
  const kind = type.split("::").at(-1) ?? "";
  const isBalancing = /^(Magnum::Optional|OS)::Neutron::LBaaS::/.test(type) && kind !== "FloatingIP";
  if (isBalancing) return `OS::Octavia::${kind}`;
  return type.startsWith("Magnum::Optional::") ? (kinds[kind] ?? type) : type;
}
