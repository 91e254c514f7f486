import {
  labels,
  MachineHealthCheck,
  manifest,
  type MagnumCluster,
  type MagnumNodeGroup,
  type Manifest,
} from "@causeway/api";
import { ownerReference } from "@causeway/kubernetes";
import { labelSettings } from "./labels.ts";
import { magnumLabels, poolNameOf } from "./names.ts";
import { keptGroups } from "./pools.ts";

/** Seconds without a ready kubelet, and from a Machine's creation to its Node, after which it is replaced. */
const UNREADY = 300;
const STARTUP = 1_200;
/**
 * Where more are unhealthy at once the cause is rarely the machines: none is replaced then. One of a small group may
 * always be.
 */
const MOST = "40%";
const SMALL = 2;

/** What has unhealthy machines of a node group replaced: one for each group with label auto_healing_enabled. */
export function healingManifests(cluster: MagnumCluster): readonly Manifest[] {
  return keptGroups(cluster)
    .filter((group) => labelSettings(group.labels ?? cluster.spec.labels ?? {}).healing)
    .map((group) => healthCheck(cluster, group));
}

function healthCheck(cluster: MagnumCluster, group: MagnumNodeGroup): Manifest {
  const { metadata, spec } = cluster;
  const unready = (status: string) => ({ type: "Ready", status, timeoutSeconds: UNREADY });
  return manifest(MachineHealthCheck, {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "MachineHealthCheck",
    metadata: {
      name: poolNameOf(metadata.name, group),
      namespace: metadata.namespace ?? "",
      labels: {
        [magnumLabels.uuid]: spec.uuid,
        [labels.clusterName]: metadata.name,
        [magnumLabels.nodeGroup]: group.uuid,
      },
      ownerReferences: [ownerReference(cluster)],
    },
    spec: {
      clusterName: metadata.name,
      selector: { matchLabels: { [labels.clusterName]: metadata.name, [magnumLabels.nodeGroup]: group.uuid } },
      checks: {
        nodeStartupTimeoutSeconds: STARTUP,
        unhealthyNodeConditions: [unready("False"), unready("Unknown")],
      },
      remediation: { triggerIf: { unhealthyLessThanOrEqualTo: group.nodeCount <= SMALL ? 1 : MOST } },
    },
  });
}
