import { shortList } from "@causeway/foundation";
import type { KubeadmConfig, KubeadmConfigStatus } from "@causeway/api";
import {
  isControlledBy,
  isTrue,
  type Plan,
  type PlannedEvent,
  type Secret,
  type WantedCondition,
} from "@causeway/kubernetes";
import { certificateKinds, certificateSecretName } from "../objects/certificates.ts";
import { notPaused, settleConditions } from "../objects/conditions.ts";
import { pausedPlan } from "../objects/paused.ts";
import { ignitionProblems } from "./ignition.ts";
import type { Observed } from "./observed.ts";
import type { ConfigStep } from "./steps.ts";
import { expiryOf, tokenLifetime } from "./token.ts";

/** Steps take the lock, make the token and the data Secret; secrets are in none of them. */
export type ConfigPlan = Plan<ConfigStep, KubeadmConfigStatus>;

interface Decision {
  readonly steps?: readonly ConfigStep[];
  /** Why the data Secret is not there yet. */
  readonly waiting?: { readonly reason: string; readonly message: string; readonly warn?: boolean };
  readonly until?: number;
}

/**
 * What to do for a KubeadmConfig: the data Secret first, with the token in it, then that token in the workload cluster.
 * So there is one token however often this is interrupted, and none that is unknown. Until the machine has joined the
 * token is kept alive; then it goes.
 */
export function plan(observed: Observed, now: number): ConfigPlan {
  const { config } = observed;
  const paused = pausedPlan(config, observed.cluster, now);
  if (paused) return paused;
  const { steps = [], waiting, until } = decide(observed, now);
  const ready = waiting === undefined || config.status?.initialization?.dataSecretCreated === true;
  const { generation, name } = config.metadata;
  const conditions = conditionsOf(observed, ready ? undefined : waiting);
  const status: KubeadmConfigStatus = {
    conditions: settleConditions(conditions, { previous: config.status?.conditions, generation, now }),
    ...(ready ? { dataSecretName: name, initialization: { dataSecretCreated: true } } : {}),
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  };
  return {
    steps,
    status,
    events: eventsOf(config, waiting),
    wait: { for: waiting?.message ?? "the machine to join", ...(until === undefined ? {} : { until }) },
  };
}

function decide(observed: Observed, now: number): Decision {
  const { config, owner, dataSecret } = observed;
  if (config.metadata.deletionTimestamp) return {};
  if (owner?.hasJoined && dataSecret) return afterJoining(observed);
  const initialises = owner?.isControlPlane === true && !hasControlPlane(observed);
  const waiting = refusal(observed) ?? obstacle(observed) ?? (initialises ? undefined : joinObstacle(observed));
  if (waiting) return { waiting };
  if (initialises && !dataSecret) {
    const turn = takeTurn(observed, now);
    if (turn) return turn;
  }
  if (!dataSecret) return { steps: [{ type: "create-data-secret" }] };
  return keepData(observed, dataSecret, now);
}

/** Another owner's Secret is left alone; the token in one of ours is kept alive. */
function keepData(observed: Observed, dataSecret: Secret, now: number): Decision {
  const { config } = observed;
  if (!isControlledBy(dataSecret, config)) {
    const message = `Secret ${dataSecret.metadata.name} exists and belongs to another owner, not to this KubeadmConfig`;
    return { waiting: { reason: "DataSecretForeign", message, warn: true } };
  }
  if (!dataSecret.data?.["bootstrap-token"]) return {};
  return keepToken(observed, now);
}

/** Whether the control plane that machines join is there; without one, a control-plane machine initialises it. */
export function hasControlPlane({ cluster }: Pick<Observed, "cluster">): boolean {
  return isTrue(cluster?.status?.conditions, "ControlPlaneInitialized");
}

const lockRetry = 30_000;

/** What comes before this machine may initialise the control plane; undefined once it is its turn. */
function takeTurn({ lock, owner }: Observed, now: number): Decision | undefined {
  if (!lock) return { steps: [{ type: "acquire-lock" }] };
  if (lock.holder === owner?.name) return undefined;
  if (!lock.isHeld) return { steps: [{ type: "release-lock", uid: lock.uid }] };
  const message = `Machine ${lock.holder} initialises the control plane`;
  return { waiting: { reason: "WaitingForControlPlaneInitialized", message }, until: now + lockRetry };
}

function afterJoining(observed: Observed): Decision {
  const { token, lock, owner } = observed;
  if (lock && lock.holder === owner?.name && hasControlPlane(observed)) {
    return { steps: [{ type: "release-lock", uid: lock.uid }] };
  }
  if (token === undefined || token === "unreachable") return {};
  return { steps: [{ type: "delete-token", name: token.metadata.name }] };
}

function keepToken({ token, owner }: Observed, now: number): Decision {
  const expires = now + tokenLifetime;
  if (token === "unreachable") return {};
  if (token === undefined) return { steps: [{ type: "create-token", expires }] };
  const left = expiryOf(token) - now;
  // A pool's machines come at any time: its token is replaced before it expires, and none lives for long.
  if (owner?.kind === "MachinePool") {
    const due = tokenLifetime / 2;
    return left < due ? { steps: [{ type: "rotate-token" }] } : { until: now + left - due };
  }
  if (left < (tokenLifetime * 5) / 6) return { steps: [{ type: "extend-token", name: token.metadata.name, expires }] };
  return { until: now + tokenLifetime / 3 };
}

/** Requested features that are not supported; waiting does not help. */
function refusal({ config, owner }: Observed): Decision["waiting"] {
  const { spec } = config;
  const refuse = (message: string) => ({ reason: "NotServed", message, warn: true });
  if (spec.joinConfiguration?.controlPlane && owner && !owner.isControlPlane) {
    return refuse("joinConfiguration.controlPlane is for Machines with the control-plane label only: remove it");
  }
  const unsuited = spec.format === "ignition" ? ignitionProblems(spec) : [];
  if (unsuited.length > 0) return refuse(shortList(unsuited, 5, { separator: "; " }));
  if (spec.files?.some(({ contentFormat }) => contentFormat === "Template")) {
    return refuse("files with contentFormat Template are not supported: use Raw");
  }
  if (spec.joinConfiguration?.discovery?.file?.kubeConfig) {
    return refuse("discovery.file.kubeConfig is not supported: write the file with files, or use token discovery");
  }
  return undefined;
}

/** What has to come before; each of these changes by itself. */
function obstacle({ config, owner, cluster, certificates, authority, missingSecrets }: Observed): Decision["waiting"] {
  if (!owner) return wait("WaitingForMachine", "Waiting for a Machine or MachinePool to own this KubeadmConfig");
  if (!cluster) return wait("WaitingForCluster", `Cluster ${owner.clusterName} does not exist`);
  if (!cluster.status?.initialization?.infrastructureProvisioned) {
    return wait("WaitingForClusterInfrastructureReady", "Waiting for the cluster's infrastructure");
  }
  if (!owner.isControlPlane && !hasControlPlane({ cluster })) return notInitialized;
  const { host, port } = cluster.spec.controlPlaneEndpoint ?? {};
  if (!host || !port) return wait("WaitingForEndpoint", "Waiting for the Cluster's spec.controlPlaneEndpoint");
  if (!authority) return wait("WaitingForCertificates", `Waiting for Secret ${cluster.metadata.name}-ca with tls.crt`);
  if (owner.isControlPlane && !certificates) {
    const kinds = certificateKinds(config.spec.clusterConfiguration);
    const names = kinds.map(({ purpose }) => certificateSecretName(cluster.metadata.name, purpose));
    return wait("WaitingForCertificates", `Waiting for tls.crt and tls.key in Secrets ${names.join(", ")}`);
  }
  if (missingSecrets.length > 0)
    return wait("WaitingForSecrets", `These Secret values do not exist: ${missingSecrets.join(", ")}`);
  return undefined;
}

const wait = (reason: string, message: string) => ({ reason, message });
const notInitialized = wait("WaitingForControlPlaneInitialized", "Waiting for the control plane to be initialized");

/** A join needs a token in the workload cluster. */
function joinObstacle({ token }: Observed): Decision["waiting"] {
  return token === "unreachable" ? wait("WaitingForConnection", "The workload cluster cannot be reached") : undefined;
}

function conditionsOf({ authority, cluster }: Observed, waiting: Decision["waiting"]): WantedCondition[] {
  const reason = waiting?.reason ?? "Available";
  const message = waiting?.message ?? "";
  const status = waiting ? "False" : "True";
  return [
    { type: "Ready", status, reason: waiting ? "NotReady" : "Ready", message },
    authority
      ? { type: "CertificatesAvailable", status: "True", reason: "Available" }
      : {
          type: "CertificatesAvailable",
          status: "False",
          reason: "NotAvailable",
          message: `Secret ${cluster?.metadata.name ?? "CLUSTER"}-ca`,
        },
    { type: "DataSecretAvailable", status, reason, message },
    notPaused,
  ];
}

/** Only what the user must fix is reported, once. */
function eventsOf(config: KubeadmConfig, waiting: Decision["waiting"]): PlannedEvent[] {
  if (!waiting?.warn) return [];
  const before = config.status?.conditions?.find(({ type }) => type === "DataSecretAvailable");
  return before?.reason === waiting.reason
    ? []
    : [{ type: "Warning", reason: waiting.reason, message: waiting.message }];
}
