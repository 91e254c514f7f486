import { labels, Machine, type KubeadmConfig } from "@causeway/api";
import {
  controllerOf,
  Secret,
  secretText,
  type Informer,
  type ObjectKey,
  type RemoteCluster,
} from "@causeway/kubernetes";
import { clusterKeyOf, type Context } from "../objects/context.ts";
import { secretKeysOf } from "./cloud-config.ts";
import type { ConfigFacts } from "./facts.ts";
import { isToken, tokenLabel, tokenNamespace, tokenSecretName } from "./token.ts";

/** The bootstrap tokens of ours in a workload cluster. */
export function tokensIn({ informers }: RemoteCluster): Informer<Secret> {
  return informers.for(Secret, { namespace: tokenNamespace, labelSelector: tokenLabel });
}

/** Reads caches; only Secrets without the cluster's label are requested, and only until the data Secret exists. */
export async function gatherKubeadmConfig(
  context: Context,
  key: ObjectKey,
  signal: AbortSignal,
): Promise<ConfigFacts | undefined> {
  const config = context.configs.get(key);
  if (!config) return undefined;
  const machine = ownerOf(context, config);
  const cluster = machine && context.clusters.get(clusterKeyOf(machine));
  const dataSecret = await find(context, { namespace: key.namespace, name: key.name }, signal);
  const authority =
    cluster && (await find(context, { namespace: key.namespace, name: `${cluster.metadata.name}-ca` }, signal));
  const taken = dataSecret
    ? { secrets: new Map<string, string>(), missingSecrets: [] }
    : await secretsFor(context, config, signal);
  return {
    config,
    machine,
    cluster,
    dataSecret,
    token: machine && tokenOf(context, machine, dataSecret),
    authority: secretText(authority, "tls.crt"),
    ...taken,
  };
}

function ownerOf({ machines }: Context, config: KubeadmConfig): Machine | undefined {
  const owner = controllerOf(config);
  if (owner?.kind !== Machine.kind) return undefined;
  const machine = machines.get({ namespace: config.metadata.namespace ?? "", name: owner.name });
  return machine?.metadata.uid === owner.uid ? machine : undefined;
}

function tokenOf(context: Context, machine: Machine, dataSecret: Secret | undefined): ConfigFacts["token"] {
  const remote = context.remoteClusters.get(clusterKeyOf(machine));
  if (!remote) return "unreachable";
  const tokens = tokensIn(remote);
  if (!tokens.synced) return "unreachable";
  const token = secretText(dataSecret, "bootstrap-token");
  const found = isToken(token) ? tokens.get({ namespace: tokenNamespace, name: tokenSecretName(token) }) : undefined;
  return found && context.asked.view(found, context.clock.now()).metadata.deletionTimestamp ? undefined : found;
}

async function find(context: Context, key: ObjectKey, signal: AbortSignal): Promise<Secret | undefined> {
  return context.secrets.get(key) ?? (await context.informers.client.find(Secret, key, { signal }));
}

async function secretsFor(
  context: Context,
  config: KubeadmConfig,
  signal: AbortSignal,
): Promise<Pick<ConfigFacts, "secrets" | "missingSecrets">> {
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
export function clusterLabels(machine: Machine): Record<string, string> {
  return { [labels.clusterName]: machine.spec.clusterName };
}
