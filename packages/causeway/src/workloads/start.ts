import { messageOf } from "@causeway/foundation";
import type { ControlledCluster, StartClusterControllers } from "@causeway/apiserver";
import { createEventRecorder, createInformers, isAlreadyExists, type KubernetesClient } from "@causeway/kubernetes";
import { createWorkloadControllers } from "@causeway/workload-controllers";

/**
 * The controllers of a cluster start when it has an object of one of these resources: an empty cluster costs nothing.
 */
const WORKLOADS: readonly string[] = [
  "/nodes",
  "/persistentvolumeclaims",
  "/persistentvolumes",
  "/pods",
  "/replicationcontrollers",
  "apps/daemonsets",
  "apps/deployments",
  "apps/replicasets",
  "apps/statefulsets",
  "batch/cronjobs",
  "batch/jobs",
  "policy/poddisruptionbudgets",
  "storage.k8s.io/volumeattributesclasses",
];

/** Who the controllers are, as admission and managedFields see it. */
const USER = { name: "system:kube-controller-manager", groups: [] };

/** Runs the scheduler and the workload controllers of a cluster in the process that serves it. */
export const startWorkloads: StartClusterControllers = (cluster) => {
  const stopping = new AbortController();
  const running = run(cluster, stopping.signal).catch((error: unknown) => {
    if (!stopping.signal.aborted) cluster.log.error("the workload controllers ended", { reason: messageOf(error) });
  });
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
};

/** Who may give others what it does not have itself. */
const MASTER = { name: "system:apiserver", groups: ["system:masters"] };

/** As metrics-server's: who may view a namespace sees what its pods use. One that is there is left as it is. */
const USAGE_READERS = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  metadata: {
    name: "system:aggregated-metrics-reader",
    labels: Object.fromEntries(
      ["admin", "edit", "view"].map((role) => [`rbac.authorization.k8s.io/aggregate-to-${role}`, "true"]),
    ),
  },
  rules: [{ apiGroups: ["metrics.k8s.io"], resources: ["pods", "nodes"], verbs: ["get", "list"] }],
};

async function allowUsage(client: KubernetesClient): Promise<void> {
  const path = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
  try {
    await client.request("POST", path, { body: USAGE_READERS });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

async function run(cluster: ControlledCluster, signal: AbortSignal): Promise<void> {
  const { clock } = cluster;
  await cluster.whenStored(WORKLOADS, signal);
  const log = cluster.log.with({ component: "workload-controllers" });
  const client = cluster.client(USER);
  const informers = createInformers(client, { clock, log });
  const eventsOf = (component: string) => createEventRecorder(client, { component, clock, log, signal });
  const clusterCIDRs = cluster.podCidr?.split(",") ?? [];
  const charge = <T>(work: () => T): T => cluster.charge("workload controllers", work);
  const context = { informers, events: eventsOf("workload-controllers"), clock, log, clusterCIDRs, charge };
  const controllers = createWorkloadControllers(context, { eventsOf });
  log.info("the workload controllers started");
  await allowUsage(cluster.client(MASTER)).catch((error: unknown) => {
    if (!signal.aborted) log.warn("who may view pods may not see what they use", { reason: messageOf(error) });
  });
  await Promise.all([informers.run(signal), controllers.run(signal)]);
}
