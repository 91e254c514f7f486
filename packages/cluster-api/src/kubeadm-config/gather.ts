import { labels, Machine, MachinePool, type Cluster, type KubeadmConfig } from "@causeway/api";
import {
  ConfigMap,
  controllerOf,
  isTrue,
  Secret,
  secretText,
  type Informer,
  type ObjectKey,
  type RemoteCluster,
} from "@causeway/kubernetes";
import { by, indexOfCluster, type Context } from "../objects/context.ts";
import { certificateIn, certificateKinds, certificateSecretName, type Certificates } from "../objects/certificates.ts";
import { secretKeysOf } from "./cloud-config.ts";
import type { Observed, ConfigOwner, InitLock } from "./observed.ts";
import { holderOf, lockName } from "./lock.ts";
import { isToken, tokenLabel, tokenNamespace, tokenSecretName } from "./token.ts";

/** The bootstrap tokens of ours in a workload cluster. */
export function tokensIn({ informers }: RemoteCluster): Informer<Secret> {
  return informers.for(Secret, { namespace: tokenNamespace, labelSelector: tokenLabel });
}

/** Reads caches; only Secrets without the cluster's label are requested, and only until the data Secret exists. */
export async function gather(context: Context, key: ObjectKey, signal: AbortSignal): Promise<Observed | undefined> {
  const config = context.configs.get(key);
  if (!config) return undefined;
  const owner = ownerOf(context, config);
  const clusterKey = owner && { namespace: key.namespace, name: owner.clusterName };
  const cluster = clusterKey && context.clusters.get(clusterKey);
  const dataSecret = await find(context, { namespace: key.namespace, name: key.name }, signal);
  const authority =
    cluster && (await find(context, { namespace: key.namespace, name: `${cluster.metadata.name}-ca` }, signal));
  const taken = dataSecret
    ? { secrets: new Map<string, string>(), missingSecrets: [] }
    : await secretsFor(context, config, signal);
  return {
    config,
    owner,
    cluster,
    dataSecret,
    token: clusterKey && tokenOf(context, clusterKey, dataSecret),
    authority: secretText(authority, "tls.crt"),
    certificates:
      owner?.isControlPlane && cluster ? await certificatesOf(context, { cluster, config }, signal) : undefined,
    lock: owner?.isControlPlane && cluster ? await lockOf(context, cluster, signal) : undefined,
    ...taken,
  };
}

/** What a KubeadmConfig makes bootstrap data for; undefined: it has no such owner. */
export function ownerOf(
  { machines, pools }: Pick<Context, "machines" | "pools">,
  config: KubeadmConfig,
): ConfigOwner | undefined {
  const owner = controllerOf(config);
  const key = { namespace: config.metadata.namespace ?? "", name: owner?.name ?? "" };
  if (owner?.kind === Machine.kind) {
    const machine = machines.get(key);
    return machine?.metadata.uid === owner.uid ? ownerFromMachine(machine) : undefined;
  }
  if (owner?.kind !== MachinePool.kind) return undefined;
  const pool = pools.get(key);
  return pool?.metadata.uid === owner.uid ? ownerFromPool(pool) : undefined;
}

/** What a KubeadmConfig needs to know of its Machine. */
export function ownerFromMachine({ metadata, spec, status }: Machine): ConfigOwner {
  return {
    kind: "Machine",
    name: metadata.name,
    clusterName: spec.clusterName,
    version: spec.version,
    isControlPlane: metadata.labels?.[labels.controlPlane] !== undefined,
    hasJoined: status?.nodeRef !== undefined,
  };
}

function ownerFromPool({ metadata, spec }: MachinePool): ConfigOwner {
  const { version } = spec.template.spec;
  const { clusterName } = spec;
  return { kind: "MachinePool", name: metadata.name, clusterName, version, isControlPlane: false, hasJoined: false };
}

function tokenOf(context: Context, cluster: ObjectKey, dataSecret: Secret | undefined): Observed["token"] {
  const remote = context.remoteClusters.get(cluster);
  if (!remote) return "unreachable";
  const tokens = tokensIn(remote);
  if (!tokens.synced) return "unreachable";
  const token = secretText(dataSecret, "bootstrap-token");
  const found = isToken(token) ? tokens.get({ namespace: tokenNamespace, name: tokenSecretName(token) }) : undefined;
  return found && context.pendingDeletions.view(found, context.clock.now()).metadata.deletionTimestamp
    ? undefined
    : found;
}

async function certificatesOf(
  context: Context,
  { cluster: { metadata }, config }: { readonly cluster: Cluster; readonly config: KubeadmConfig },
  signal: AbortSignal,
): Promise<Certificates | undefined> {
  const { namespace = "" } = metadata;
  const pairs = await Promise.all(
    certificateKinds(config.spec.clusterConfiguration).map(async (kind) => {
      const name = certificateSecretName(metadata.name, kind.purpose);
      return [kind.purpose, certificateIn(await find(context, { namespace, name }, signal), kind)] as const;
    }),
  );
  return pairs.every(([, pair]) => pair) ? (Object.fromEntries(pairs) as Certificates) : undefined;
}

/** Read until the control plane is initialized, and for as long as it is there after that. */
async function lockOf(
  { informers, machines }: Context,
  cluster: Cluster,
  signal: AbortSignal,
): Promise<InitLock | undefined> {
  const { namespace = "", name } = cluster.metadata;
  const initialized = isTrue(cluster.status?.conditions, "ControlPlaneInitialized");
  if (initialized && machines.byIndex(by.cluster, indexOfCluster({ namespace, name })).length > 1) return undefined;
  const found = await informers.client.find(ConfigMap, { namespace, name: lockName(name) }, { signal });
  if (!found) return undefined;
  const holder = holderOf(found) ?? "";
  return { uid: found.metadata.uid ?? "", holder, isHeld: machines.get({ namespace, name: holder }) !== undefined };
}

async function find(context: Context, key: ObjectKey, signal: AbortSignal): Promise<Secret | undefined> {
  return context.secrets.get(key) ?? (await context.informers.client.find(Secret, key, { signal }));
}

async function secretsFor(
  context: Context,
  config: KubeadmConfig,
  signal: AbortSignal,
): Promise<Pick<Observed, "secrets" | "missingSecrets">> {
  const secrets = new Map<string, string>();
  const missingSecrets: string[] = [];
  for (const { name, key } of secretKeysOf(config.spec)) {
    const found = await find(context, { namespace: config.metadata.namespace ?? "", name }, signal);
    const value = secretText(found, key);
    if (value === undefined) missingSecrets.push(`${name}/${key}`);
    else secrets.set(`${name}/${key}`, value);
  }
  return { secrets, missingSecrets };
}

/** The label by which Secrets of a cluster are cached. */
export function clusterLabels({ clusterName }: ConfigOwner): Record<string, string> {
  return { [labels.clusterName]: clusterName };
}
