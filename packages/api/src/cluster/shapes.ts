import {
  int32,
  int64,
  instant,
  intOrString,
  labelSelector,
  list,
  listByKey,
  object,
  oneOf,
  optional,
} from "../schema/fields.ts";
import { anyText, checked, conditions, immutable, templateMetadata, text } from "../schema/fields.ts";

/** A reference to a provider's object in the same namespace; the version is found from the kind table. */
export function contractReference(description?: string) {
  const options = description === undefined ? {} : { description };
  return object({ apiGroup: text(1, 253), kind: text(1, 63), name: text(1, 253) }, options);
}

/** Conditions of an object that count for its own condition Ready or Available; "Negative" ones must be False. */
export const readinessGates = listByKey(
  object({ conditionType: text(1, 316), polarity: optional(oneOf(["Positive", "Negative"])) }),
  ["conditionType"],
  { min: 1, max: 32, description: "More conditions that must hold." },
);

/** Taints of a Machine's Node, for the Node's whole life or only until it is initialized. */
export const machineTaints = listByKey(
  object({
    key: text(1, 317),
    value: optional(text(1, 63)),
    effect: oneOf(["NoSchedule", "PreferNoSchedule", "NoExecute"]),
    propagation: oneOf(["Always", "OnInitialization"]),
  }),
  ["key", "effect"],
  { min: 1, max: 64, description: "Taints put on the Node." },
);

const seconds = (description: string) => optional(int32({ minimum: 0, description }));

/** The `deletion` of a Machine's spec: how long each step of its deletion may take, in seconds. */
export const deletionTimeouts = {
  nodeDrainTimeoutSeconds: seconds("Longest time to drain the Node; 0 or unset is unlimited."),
  nodeVolumeDetachTimeoutSeconds: seconds("Longest time to wait for volumes to detach; 0 or unset is unlimited."),
  nodeDeletionTimeoutSeconds: seconds("Longest time to try to delete the Node; 0 is unlimited, unset is 10 s."),
};

/** The `deletion` of MachineSets and MachineDeployments. */
export const deletionOrder = object({
  order: optional(oneOf(["Random", "Newest", "Oldest"], { description: "Which Machines go first when scaling down." })),
});

/** A semantic version, with or without a "v" in front. */
const semver = "^v?(0|[1-9][0-9]*)[.](0|[1-9][0-9]*)[.](0|[1-9][0-9]*)([-+][0-9A-Za-z.+-]+)?$";

/** The spec of a Machine, which is also that of a template. */
export const machineSpec = object(
  {
    clusterName: immutable(text(1, 63, { description: "The Cluster this belongs to." })),
    bootstrap: object(
      {
        configRef: optional(contractReference("The bootstrap configuration object.")),
        dataSecretName: optional(text(0, 253, { description: "The Secret with the bootstrap data." })),
      },
      { description: "How the machine's first boot is described." },
    ),
    infrastructureRef: contractReference("The infrastructure object behind the Machine."),
    version: optional(text(1, 256, { pattern: semver, description: "Kubernetes version of the kubelet." })),
    providerID: optional(
      text(1, 512, { description: "The machine's name at the provider, as in Node.spec.providerID." }),
    ),
    failureDomain: optional(text(1, 256)),
    minReadySeconds: optional(int32({ minimum: 0, description: "Seconds a Machine must be ready to be available." })),
    readinessGates: optional(readinessGates),
    deletion: optional(object(deletionTimeouts)),
    taints: optional(machineTaints),
  },
  { description: "What the machine is to be." },
);

/** `spec.template` of whatever makes Machines. */
export const machineTemplate = object(
  { metadata: optional(templateMetadata), spec: machineSpec },
  { description: "What new Machines are made from." },
);

/** How many of the replicas have each Kubernetes version. */
export const versionCounts = (max: number) =>
  optional(
    listByKey(object({ version: text(1, 256), replicas: optional(int32({ minimum: 1 })) }), ["version"], {
      min: 1,
      max,
    }),
  );

/** What MachineSet and MachineDeployment have in common. */
export const scalableSpec = {
  clusterName: immutable(text(1, 63, { description: "The Cluster this belongs to." })),
  replicas: optional(int32({ minimum: 0, default: 1, description: "How many Machines there are to be." })),
  selector: optional(labelSelector),
  template: machineTemplate,
  machineNaming: optional(object({ template: optional(text(1, 256)) })),
  deletion: optional(deletionOrder),
};

/** What the statuses of MachineSet and MachineDeployment have in common. */
export const scalableStatus = {
  conditions: conditions(),
  observedGeneration: optional(int64({ minimum: 1 })),
  selector: optional(text(1, 4096, { description: "The label selector as text, for the scale subresource." })),
  replicas: optional(int32()),
  readyReplicas: optional(int32()),
  availableReplicas: optional(int32()),
  upToDateReplicas: optional(int32()),
  versions: versionCounts(100),
};

/** How fast Machines are replaced, or OnDelete: only those that a user deletes. */
export const rolloutStrategy = object(
  {
    type: oneOf(["RollingUpdate", "OnDelete"], { default: "RollingUpdate" }),
    rollingUpdate: optional(
      checked(
        object({
          maxSurge: optional(intOrString({ default: 1, description: "Machines above replicas during a rollout." })),
          maxUnavailable: optional(intOrString({ default: 0, description: "Machines that may be missing." })),
        }),
        [
          {
            rule: "!(has(self.maxSurge) && has(self.maxUnavailable) && (self.maxSurge == 0 || self.maxSurge == '0%') && (self.maxUnavailable == 0 || self.maxUnavailable == '0%'))",
            message: "maxUnavailable must not be 0 when maxSurge is 0",
          },
        ],
      ),
    ),
  },
  { description: "How Machines of an old template are replaced." },
);

/** When Machines are replaced that need not be, and how. */
export const rolloutFields = {
  after: optional(instant({ description: "Machines made before this instant are replaced once it has passed." })),
  strategy: optional(rolloutStrategy),
};

/** `spec.rollout` of a MachineDeployment. */
export const rollout = object(rolloutFields);

/** The scale subresource of kinds that count `spec.replicas`. */
export const scaleOfReplicas = {
  specReplicasPath: ".spec.replicas",
  statusReplicasPath: ".status.replicas",
  labelSelectorPath: ".status.selector",
};

/** Facts about a Node, as corev1.NodeSystemInfo. */
export const nodeInfo = object({
  machineID: anyText(),
  systemUUID: anyText(),
  bootID: anyText(),
  kernelVersion: anyText(),
  osImage: anyText(),
  containerRuntimeVersion: anyText(),
  kubeletVersion: anyText(),
  kubeProxyVersion: anyText(),
  operatingSystem: anyText(),
  architecture: anyText(),
  swap: optional(object({ capacity: optional(int64()) })),
});

/** The addresses of a Machine, by type. */
export const addressList = list(
  object({
    type: oneOf(["Hostname", "ExternalIP", "InternalIP", "ExternalDNS", "InternalDNS"]),
    address: text(1, 256),
  }),
  { max: 256 },
);
