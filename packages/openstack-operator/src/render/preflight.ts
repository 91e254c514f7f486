import { PREFLIGHT } from "../catalogue/index.ts";
import type { Component } from "../model/component.ts";
import { isAddress } from "../programs/fabric.ts";
import type { Context, NodeGroup } from "./context.ts";
import type { Parts } from "./types.ts";

/** What the check of a node requires: all that the specification asks of the nodes of its group. */

const STATE = "/instances";

/** What the check of a group's nodes requires; empty for every other component. */
export function preflightEnvironment({ deployment }: Context, { name }: Component, group?: NodeGroup) {
  if (name !== PREFLIGHT || !group) return {};
  const { network = {}, storage = {} } = deployment.spec;
  const { bgp, evpn, mtu } = network;
  const ports = (group.physicalNetworks ?? []).flatMap((each) => each.interface ?? []);
  const neighbors = (bgp?.peers ?? []).filter((peer) => !isAddress(peer));
  const interfaces = [...new Set([...ports, ...neighbors, ...(evpn ? [evpn.interface] : [])])];
  const clients = ["cinder", "glance", "nova"].map((client) => `ceph.client.${client}.keyring`);
  return {
    INTERFACES: interfaces.join(" "),
    ...(mtu === undefined ? {} : { FABRIC_INTERFACES: [...ports, ...neighbors].join(" "), FABRIC_MTU: String(mtu) }),
    MODULES: [...(bgp ? ["vrf"] : []), ...(evpn ? ["vxlan"] : [])].join(" "),
    CEPH_FILES: storage.ceph ? ["ceph.conf", ...clients].join(" ") : "",
    SHARED_STATE: sharedState({ deployment }, group) === undefined ? "" : STATE,
  };
}

/** The claim that all compute nodes have at once. */
function sharedState({ deployment }: Pick<Context, "deployment">, group: NodeGroup): string | undefined {
  return group.roles.includes("Compute") ? deployment.spec.storage?.serverStateClaim : undefined;
}

/** What the check mounts to see that it can be mounted; nothing for every other component. */
export function preflightParts(context: Context, { name }: Component, group?: NodeGroup): Parts {
  const parts: Parts = { volumes: [], mounts: [] };
  if (name !== PREFLIGHT || !group) return parts;
  const claimName = sharedState(context, group);
  const { ceph } = context.deployment.spec.storage ?? {};
  if (claimName !== undefined) {
    parts.volumes.push({ name: "server-state", persistentVolumeClaim: { claimName } });
    parts.mounts.push({ name: "server-state", mountPath: STATE });
  }
  if (ceph) {
    parts.volumes.push({ name: "ceph", secret: { secretName: ceph.secret.name, defaultMode: 0o444 } });
    parts.mounts.push({ name: "ceph", mountPath: "/etc/ceph", readOnly: true });
  }
  return parts;
}
