import type { OpenStackDeployment, OpenStackDeploymentSpec } from "@causeway/api";
import type { Pod } from "@causeway/kubernetes";
import { allComponents } from "../catalogue/index.ts";
import { labels } from "../model/names.ts";
import { digestOf, imageOf, metadataOf } from "../render/context.ts";
import type { PodDisruptionBudget } from "../render/types.ts";

/**
 * A pod on each compute node that a drain has to evict, as it does not evict those of DaemonSets, and a budget that
 * forbids it while servers are on the node. The node is named on the pod: a scheduler has no say.
 */
export const guardLabel = "openstack.causeway.dev/guard-of";
/** Label of a guard and its budget: `guardKey` of their node. */
export const nodeLabel = "openstack.causeway.dev/guarded-node";

/** Names of nodes may be longer than a label's value. */
export const guardKey = (node: string): string => digestOf(node);
/** The name of a node's guard, and of its budget. */
export const guardName = (deployment: string, node: string): string => `${deployment}-guard-${guardKey(node)}`;

/**
 * That of nova-compute in the release that runs: every compute node has it, and a release that is refused changes no
 * guard. Other nodes have that of Keystone.
 */
export function guardImage(
  { spec, status }: OpenStackDeployment,
  { isCompute }: { readonly isCompute: boolean },
): string {
  const compute = allComponents.find(({ name }) => name === (isCompute ? "nova-compute" : "keystone-api"));
  if (!compute) throw new TypeError("the catalogue has no nova-compute");
  return imageOf(
    { ...spec, release: (status?.release ?? spec.release) as OpenStackDeploymentSpec["release"] },
    compute,
  );
}

/** The pod that a drain has to evict. It sleeps, without rights and with nearly no resources. */
export function guardPod(deployment: OpenStackDeployment, node: string, image: string): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: guardMetadata(deployment, node),
    spec: {
      nodeName: node,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: 1,
      priorityClassName: "system-node-critical",
      tolerations: [{ operator: "Exists" }],
      securityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: "RuntimeDefault" } },
      containers: [
        {
          name: "guard",
          image,
          command: ["/bin/sleep", "infinity"],
          resources: { requests: { cpu: "1m", memory: "4Mi" }, limits: { memory: "16Mi" } },
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ["ALL"] },
          },
        },
      ],
    },
  };
}

/** The budget that keeps a drain from evicting the guard. */
export function guardBudget(deployment: OpenStackDeployment, node: string): PodDisruptionBudget {
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: guardMetadata(deployment, node),
    spec: { minAvailable: 1, selector: { matchLabels: selector(deployment, node) } },
  };
}

const selector = ({ metadata }: OpenStackDeployment, node: string): Record<string, string> => ({
  [guardLabel]: metadata.name,
  [nodeLabel]: guardKey(node),
});

/** Without the label of the deployment's own objects: guards are no part of its order. */
function guardMetadata(deployment: OpenStackDeployment, node: string) {
  const metadata = metadataOf({ deployment }, guardName(deployment.metadata.name, node));
  const { [labels.deployment]: _of, ...rest } = metadata.labels ?? {};
  return { ...metadata, labels: { ...rest, ...selector(deployment, node) } };
}
