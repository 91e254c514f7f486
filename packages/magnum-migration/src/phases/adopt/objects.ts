import {
  annotations as names,
  labels,
  Machine as ClusterMachine,
  MachineDeployment,
  MachineSet,
  manifest,
  OpenStackCluster,
  OpenStackMachine,
  OpenStackMachineTemplate,
  type MagnumCluster,
  type Manifest,
} from "@causeway/api";
import { desiredManifests, isUuid, nothingStands, poolNameOf, type KeystoneAddress } from "@causeway/magnum-api";
import type { Machine, NodeGroup } from "../../inventory/model.ts";
import type { MigrationRecord } from "../../record/record.ts";
import { secretManifest } from "../import/objects.ts";

/** Marks objects that represent machines that Heat made. */
export const adoptedLabel = "migration.causeway.dev/adopted";
const MOST_NAME = 63;
/**
 * The contract's: a machine's controller adds it only before it makes a server. Without it, roll would leave Heat's
 * servers running.
 */
const MACHINE_FINALIZER = "openstackmachine.infrastructure.cluster.x-k8s.io";

/** Server names may have capitals and dots that names of objects may not have. */
export function objectNameOfServer(server: string): string {
  const safe = server
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, "-")
    .replaceAll(/^-+|-+$/g, "");
  return safe.slice(0, MOST_NAME) || "machine";
}

/** What a cluster is made of, as the Magnum API will keep it; pools remain as they are until the phase roll. */
export function poolManifests(cluster: MagnumCluster, keystone: KeystoneAddress): readonly Manifest[] {
  return desiredManifests(cluster, keystone, nothingStands)
    .filter(({ object }) => object.kind !== "HostedControlPlane")
    .map((one) => (one.object.kind === OpenStackCluster.kind ? withGroups(one) : one))
    .map(({ type, object }) =>
      object.kind === MachineDeployment.kind
        ? {
            type,
            object: {
              ...object,
              spec: { ...(object as unknown as MachineDeployment).spec, paused: true },
            } as typeof object,
          }
        : { type, object },
    );
}

/**
 * A migration that was rolled back after `roll` leaves servers with the security groups of its OpenStackCluster, whose
 * name is the same every time: they are the new one's.
 */
function withGroups({ type, object }: Manifest): Manifest {
  const annotations = { ...object.metadata.annotations, [names.adoptResources]: "true" };
  return { type, object: { ...object, metadata: { ...object.metadata, annotations } } };
}

/** A MachineSet of a node group's machines, and a Machine for each; nothing of it makes or changes a server. */
export function adoptedManifests(record: MigrationRecord, group: NodeGroup): readonly Manifest[] {
  const { namespace, name, inventory } = record;
  const pool = poolNameOf(name, group);
  const set = `${pool}-heat`;
  const marks = { [labels.clusterName]: name, [labels.deploymentName]: pool, [adoptedLabel]: group.uuid };
  const bootstrap = { dataSecretName: `${name}-heat-bootstrap` };
  const infrastructure = (of: string, kind: string) => ({
    apiGroup: "infrastructure.cluster.x-k8s.io",
    kind,
    name: of,
  });
  const [first] = group.machines;
  const machineSpec = (machine: Machine | undefined) => ({
    flavor: { id: machine?.flavorId || group.flavorId || "unknown" },
    image: isUuid(group.imageId) ? { id: group.imageId } : { filter: { name: group.imageId } },
  });
  const own = { namespace, labels: marks };
  const of = (machine: Machine): Manifest[] => {
    const object = objectNameOfServer(machine.name);
    const providerID = `openstack:///${machine.serverId}`;
    return [
      manifest(OpenStackMachine, {
        apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
        kind: "OpenStackMachine",
        metadata: { ...own, name: object, finalizers: [MACHINE_FINALIZER] },
        spec: { ...machineSpec(machine), providerID },
      }),
      manifest(ClusterMachine, {
        apiVersion: "cluster.x-k8s.io/v1beta2",
        kind: "Machine",
        metadata: { ...own, name: object },
        spec: {
          clusterName: name,
          version: inventory.version,
          providerID,
          bootstrap,
          infrastructureRef: infrastructure(object, "OpenStackMachine"),
        },
      }),
    ];
  };
  return [
    secretManifest(record, "heat-bootstrap", { value: "# made by Heat" }),
    manifest(OpenStackMachineTemplate, {
      apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
      kind: "OpenStackMachineTemplate",
      metadata: { ...own, name: set },
      spec: { template: { spec: machineSpec(first) } },
    }),
    ...group.machines.flatMap(of),
    manifest(MachineSet, {
      apiVersion: "cluster.x-k8s.io/v1beta2",
      kind: "MachineSet",
      metadata: { ...own, name: set, annotations: { "cluster.x-k8s.io/disable-machine-create": "true" } },
      spec: {
        clusterName: name,
        replicas: group.machines.length,
        selector: { matchLabels: { [labels.clusterName]: name, [adoptedLabel]: group.uuid } },
        template: {
          metadata: { labels: marks },
          spec: {
            clusterName: name,
            version: inventory.version,
            bootstrap,
            infrastructureRef: infrastructure(set, "OpenStackMachineTemplate"),
          },
        },
      },
    }),
  ];
}
