import type { Cluster, HostedControlPlane, OpenStackCluster } from "@causeway/api";
import { expect, test } from "vitest";
import {
  ABANDONED,
  fleetFinalizer,
  PENDING_LIMIT,
  plan,
  type Observed,
  type ObservedMember,
  type ObservedSweep,
} from "./plan.ts";

const now = 1_000;
const meta = { namespace: "team", name: "web" };
const DELETED = { ...meta, deletionTimestamp: "2026-01-01T00:00:00Z" };
const clusterOf = (metadata: Cluster["metadata"]) => ({ metadata, spec: {} }) as Cluster;
const controlPlaneOf = (metadata: HostedControlPlane["metadata"], controlPlaneInitialized = true) =>
  ({ metadata, spec: {}, status: { initialization: { controlPlaneInitialized } } }) as unknown as HostedControlPlane;
const infrastructure = { metadata: meta, spec: {} } as unknown as OpenStackCluster;
const running: ObservedMember = { isDisconnected: false, isOutdated: false, isReleasing: false, released: false };
const held = { ...meta, finalizers: [fleetFinalizer] };
const base: Observed = {
  cluster: clusterOf(meta),
  isConnected: true,
  controlPlane: undefined,
  infrastructure,
  hasIngresses: false,
  member: undefined,
};
const moving = (annotations: Record<string, string>): Cluster =>
  ({
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata: { ...meta, annotations },
    spec: {},
  }) as Cluster;
const leaving = moving({ "move.causeway.dev/target": "5d2c" });
const arriving = moving({ "move.causeway.dev/from": "5d2c" });
const saved = moving({ "move.causeway.dev/target": "directory /saved" });
const WAITS = "waits";
const sweep: ObservedSweep = { isRunning: false, since: now, again: now, isDone: false, isPending: false };
const gone: Partial<Observed> = {
  cluster: clusterOf(DELETED),
  controlPlane: controlPlaneOf({ ...DELETED, ...held }),
  isConnected: false,
  unreachedSince: now - ABANDONED,
};

test.each<[string, Partial<Observed>, readonly string[]]>([
  ["starts for a connected cluster", {}, ["start-member"]],
  ["does not start before the cluster is connected", { isConnected: false }, []],
  ["does not start before the control plane serves", { controlPlane: controlPlaneOf(meta, false) }, []],
  [
    "holds the control plane before it starts",
    { controlPlane: controlPlaneOf(meta) },
    ["hold-control-plane", "start-member"],
  ],
  ["starts again on a control plane that it holds", { controlPlane: controlPlaneOf(held) }, ["start-member"]],
  ["does not start on a deleted control plane that it released", { controlPlane: controlPlaneOf(DELETED) }, []],
  ["waits for the OpenStackCluster", { infrastructure: undefined }, [WAITS]],
  ["waits for the subnet of Ingresses' load balancers", { hasIngresses: true }, [WAITS]],
  ["does nothing while it works with what the cluster has", { member: running }, []],
  [
    "stops while its cluster moves to another management cluster",
    { cluster: leaving, member: running },
    ["stop-member"],
  ],
  ["does not start for a cluster that moves away", { cluster: leaving }, []],
  [
    "does not start for a cluster that has not arrived yet",
    { cluster: arriving, controlPlane: controlPlaneOf(meta) },
    [],
  ],
  ["continues while its cluster is saved in a folder", { cluster: saved, member: running }, []],
  ["stops when the cluster is gone", { cluster: undefined, member: running }, ["stop-member"]],
  [
    "stops when its connection is not the cluster's any longer",
    { member: { ...running, isDisconnected: true } },
    ["stop-member"],
  ],
  ["stops with credentials or settings of before", { member: { ...running, isOutdated: true } }, ["stop-member"]],
  [
    "stops with credentials of before although the control plane's status was lost",
    { member: { ...running, isOutdated: true }, controlPlane: controlPlaneOf(held, false) },
    ["stop-member"],
  ],
  [
    "deletes the load balancers of a deleted cluster",
    { cluster: clusterOf(DELETED), member: running },
    ["release-load-balancers", WAITS],
  ],
  [
    "waits until the load balancers are deleted",
    { cluster: clusterOf(DELETED), member: { ...running, isReleasing: true } },
    [WAITS],
  ],
  [
    "releases the control plane once no load balancer is left",
    {
      cluster: clusterOf(DELETED),
      controlPlane: controlPlaneOf({ ...DELETED, ...held }),
      member: { ...running, isReleasing: true, released: true },
    },
    ["release-control-plane"],
  ],
  [
    "does nothing for a deleted cluster whose control plane it released",
    {
      cluster: clusterOf(DELETED),
      controlPlane: controlPlaneOf(DELETED),
      member: { ...running, isReleasing: true, released: true },
    },
    [],
  ],
  ...(
    [
      ["waits for the API of a deleted one", { unreachedSince: now - ABANDONED + 1 }, []],
      ["is swept without an API", {}, ["sweep-load-balancers", WAITS]],
      ["is swept once at a time", { sweep: { ...sweep, isRunning: true } }, [WAITS]],
      ["is not swept again at once", { sweep: { ...sweep, again: now + 1 } }, [WAITS]],
      ["is swept again while something is left", { sweep }, ["sweep-load-balancers", WAITS]],
      ["is released when all is swept", { sweep: { ...sweep, isDone: true } }, ["release-control-plane"]],
      ["waits for what the cloud changes", { sweep: { ...sweep, isPending: true } }, ["sweep-load-balancers", WAITS]],
      [
        "is released although the cloud changes something all the time",
        { sweep: { ...sweep, isPending: true, since: now - PENDING_LIMIT } },
        ["release-control-plane"],
      ],
      ["is held while calls to the cloud fail", { sweep: { ...sweep, since: -1e9 } }, ["sweep-load-balancers", WAITS]],
      ["is released without its OpenStackCluster", { infrastructure: undefined }, ["release-control-plane"]],
      ["is left alone that nothing holds", { controlPlane: controlPlaneOf(DELETED) }, []],
      ["is left alone that is paused", { cluster: { ...clusterOf(DELETED), spec: { paused: true } } as Cluster }, []],
      ["is left alone that is not deleted", { cluster: clusterOf(meta) }, []],
      ["is served by its API when that is back", { isConnected: true }, ["start-member"]],
    ] as [string, Partial<Observed>, readonly string[]][]
  ).map(([title, change, expected]): [string, Partial<Observed>, readonly string[]] => [
    `whose API is gone ${title}`,
    { ...gone, ...change },
    expected,
  ]),
])("the cloud controller manager of a cluster %s", (_, change, expected) => {
  const { steps, wait } = plan({ ...base, ...change }, now);
  expect([...steps.map(({ type }) => type), ...(wait?.until === now + 2_000 ? [WAITS] : [])]).toEqual(expected);
});
