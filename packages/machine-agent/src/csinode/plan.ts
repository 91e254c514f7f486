import type { CSINode, Node } from "@causeway/kubernetes";
import type { Step } from "./steps.ts";

/** A CSI driver whose node plugin a simulated machine plays. */
interface PlayedDriver {
  readonly name: string;
  /** The label of the Node that has the zone. */
  readonly topologyKey: string;
  /** Volumes that a server can have. */
  readonly count: number;
}

/** Their nodes' IDs are the IDs of servers. */
const PLAYED: readonly PlayedDriver[] = [
  { name: "cinder.csi.openstack.org", topologyKey: "topology.cinder.csi.openstack.org/zone", count: 24 },
];
const ZONE = "topology.kubernetes.io/zone";

/** What the plan of a node's CSINode is made from. */
export interface Observed {
  /** The server's ID. */
  readonly machineId: string;
  readonly node: Node;
  readonly csiNode: CSINode | undefined;
  /** Names of the CSIDrivers of the cluster. */
  readonly installed: readonly string[];
}

/**
 * What a kubelet does when the node plugins of the installed drivers register: the Node gets their topology, then its
 * CSINode has them. A zone is known as soon as the cloud controller has labelled the Node; until then the driver is not
 * registered.
 */
export function plan(observed: Observed): { readonly steps: readonly Step[] } {
  const { machineId, node, csiNode, installed } = observed;
  const { name, uid = "", labels: own = {} } = node.metadata;
  const zone = own[ZONE];
  const played = zone === undefined ? [] : PLAYED.filter((driver) => installed.includes(driver.name));
  const wanted = played.map(({ name: driver, topologyKey, count }) => ({
    name: driver,
    nodeID: machineId,
    topologyKeys: [topologyKey],
    allocatable: { count },
  }));
  const labels = Object.fromEntries(
    played.flatMap(({ topologyKey }) => (own[topologyKey] === zone ? [] : [[topologyKey, zone ?? ""]])),
  );
  const steps: Step[] = Object.keys(labels).length === 0 ? [] : [{ type: "label-node", labels }];
  if (csiNode === undefined) {
    const ownerReferences = [{ apiVersion: "v1", kind: "Node", name, uid }];
    const metadata = { name, ownerReferences };
    const created = { apiVersion: "storage.k8s.io/v1", kind: "CSINode", metadata, spec: { drivers: wanted } };
    return { steps: [...steps, { type: "create", csiNode: created }] };
  }
  const before = csiNode.spec.drivers ?? [];
  const isKept = ({ name: driver }: { readonly name: string }) => !PLAYED.some((each) => each.name === driver);
  const drivers = [...before.filter(isKept), ...wanted];
  const names = (all: readonly { readonly name: string; readonly nodeID?: string }[]) =>
    all
      .map((each) => `${each.name} ${each.nodeID}`)
      .toSorted()
      .join(" ");
  // A zone that is not known any more takes no driver away: volumes may be attached.
  const isSame = zone === undefined || names(drivers) === names(before);
  return { steps: isSame ? steps : [...steps, { type: "change", drivers }] };
}
