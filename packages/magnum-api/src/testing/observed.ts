import type { HostedControlPlane, MagnumCluster, MagnumNodeGroup } from "@causeway/api";
import { desiredManifests, nothingStands } from "../cluster/desired.ts";
import type { Observed } from "../cluster/gather.ts";
import { finalizer, magnumLabels } from "../cluster/names.ts";

export const NOW = Date.parse("2026-11-01T12:00:00Z");
/** So many minutes from now. */
export const at = (minutes: number): string => new Date(NOW + minutes * 60_000).toISOString();
export const keystone = { authUrl: "http://keystone" };
const ready = [{ type: "NodeReady", status: "True" }];
const available = [{ type: "Available", status: "True" }];

export const group: MagnumNodeGroup = {
  uuid: "6e8ae3a5-0b4c-4f0e-9d26-0000000000b2",
  name: "default-worker",
  role: "worker",
  isDefault: true,
  imageID: "cirros",
  nodeCount: 1,
  minNodeCount: 0,
  version: "v1.34.0",
  createdAt: at(-10),
};

export interface Given {
  readonly metadata?: object;
  readonly spec?: object;
  readonly status?: object;
}

export function clusterOf({ metadata, spec, status }: Given): MagnumCluster {
  return {
    apiVersion: "magnum.causeway.dev/v1alpha1",
    kind: "MagnumCluster",
    metadata: {
      name: "web",
      namespace: "magnum-p",
      uid: "u",
      generation: 2,
      creationTimestamp: at(-10),
      finalizers: [finalizer],
      ...metadata,
    },
    spec: {
      uuid: "6e8ae3a5-0b4c-4f0e-9d26-000000000001",
      name: "web",
      projectID: "p",
      userID: "u",
      template: { coe: "kubernetes", imageID: "cirros" },
      version: "v1.34.0",
      createTimeout: 60,
      labels: {},
      addons: "Own",
      nodeGroups: [group],
      ...spec,
    },
    ...(status ? { status } : {}),
  } as unknown as MagnumCluster;
}

/** A cluster of which everything is as it is to be. */
export function settled(given: Given = {}, masters: object = {}): Observed {
  const object = clusterOf(given);
  const controlPlane = { spec: {}, status: masters } as HostedControlPlane;
  const desired = desiredManifests(object, keystone, { ...nothingStands, controlPlane });
  const status = { replicas: 1, readyReplicas: 1, upToDateReplicas: 1, observedGeneration: 1, conditions: available };
  const standing = desired.map(({ object: one }) => ({
    ...one,
    metadata: { ...one.metadata, generation: 1 },
    ...(one.kind === "MachineDeployment" ? { status } : {}),
    ...(one.kind === "HostedControlPlane"
      ? {
          status: {
            version: object.spec.version,
            conditions: available,
            initialization: { controlPlaneInitialized: true },
            ...masters,
          },
        }
      : {}),
    ...(one.kind === "Cluster"
      ? { status: { initialization: { infrastructureProvisioned: true, controlPlaneInitialized: true } } }
      : {}),
  }));
  const of = <T>(kind: string) => standing.filter((one) => one.kind === kind) as unknown as T[];
  const machines = object.spec.nodeGroups.map((one, index) => ({
    kind: "Machine",
    metadata: { name: `m${index}`, labels: { [magnumLabels.nodeGroup]: one.uuid } },
    spec: { version: one.version, infrastructureRef: { name: `m${index}` } },
    status: { conditions: ready, nodeRef: { name: `n${index}` } },
  }));
  return {
    object,
    installation: keystone,
    standing,
    cluster: of<Observed["cluster"]>("Cluster")[0],
    controlPlane: of<Observed["controlPlane"]>("HostedControlPlane")[0],
    infrastructure: of<Observed["infrastructure"]>("OpenStackCluster")[0],
    deployments: of<Observed["deployments"][number]>("MachineDeployment"),
    machines: machines as unknown as Observed["machines"],
    servers: [],
    addonSet: of<Observed["addonSet"]>("AddonSet")[0],
    hasCredentials: true,
  };
}
