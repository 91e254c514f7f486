import type { OpenStackMachine, OpenStackServer } from "@causeway/api";

/** A server in the form of a machine: both become ports, volumes and a server of Nova in the same way. */
export function asMachine({ apiVersion, kind, metadata, spec, status }: OpenStackServer): OpenStackMachine {
  const { flavor, flavorID, availabilityZone: _zone, userDataRef: _data, sshKeyName, ...shared } = spec;
  const { ready: _ready, ...observed } = status ?? {};
  return {
    apiVersion,
    kind,
    metadata,
    spec: {
      ...shared,
      flavor: flavorID === undefined ? { filter: { name: flavor ?? "" } } : { id: flavorID },
      ...(sshKeyName ? { sshKeyName } : {}),
    },
    status: observed,
  };
}

/** Upstream's provider makes one for each machine; the machine's own controller has the resources then. */
export function isOfMachine({ metadata }: Pick<OpenStackServer, "metadata">): boolean {
  return metadata.ownerReferences?.some((reference) => reference.kind === "OpenStackMachine") === true;
}
