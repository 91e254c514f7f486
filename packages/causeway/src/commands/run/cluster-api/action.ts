import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { clusterApiRules, createClusterApi } from "@causeway/cluster-api";
import { createMetrics, InputError, systemClock, type Log, type Metrics } from "@causeway/foundation";
import {
  createClient,
  createEventRecorder,
  createInformers,
  createRemoteClusters,
  CustomResourceDefinition,
  electLeader,
  inClusterConfig,
  loadKubeconfig,
  reviewAdmission,
  reviewDefaults,
  type KubernetesClient,
  type Shards,
} from "@causeway/kubernetes";
import { relatedBy } from "../../../composition/related.ts";
import { ownVersion } from "../../../release.ts";
import { commandLog } from "../../../terminal/text-log.ts";
import { CONVERT_PATH, serveConversion } from "../serving/conversion.ts";
import { serveEndpoint } from "../serving/endpoint.ts";
import { clusterGuard } from "../serving/guard.ts";
import { readShards, shareWork } from "../serving/shared-work.ts";
import { webhookCertificate } from "../serving/webhook-certificate.ts";
import type { ClusterApiFlags } from "./command.ts";
import { CONTRACT_LABEL, contractKinds, kindsKey } from "./contract-kinds.ts";
import { installAdmission } from "./admission.ts";
import { installDefinitions } from "./definitions.ts";
import { kindsOf, providers, readProviders, type ProviderName } from "./providers.ts";

interface Run {
  readonly client: KubernetesClient;
  readonly names: readonly ProviderName[];
  readonly metrics: Metrics;
  readonly log: Log;
  readonly shards?: Shards;
}

/**
 * Runs the managers until the signal aborts; elected, unless it is to work without.
 * @throws FLAG_INVALID, CERTIFICATE_UNREADABLE, ENDPOINT_PORT_TAKEN, KUBECONFIG_…
 */
export async function runClusterApi(flags: ClusterApiFlags, signal: AbortSignal): Promise<void> {
  const names = readProviders(flags.providers);
  const kinds = names.flatMap(kindsOf);
  const shards = readShards(flags.shards);
  const log = commandLog(flags.logLevel);
  const metrics = createMetrics();
  const ports = {
    webhook: portOf("webhook-port", flags.webhookPort),
    health: portOf("diagnostics-port", flags.diagnosticsPort),
  };
  const config = flags.kubeconfig === undefined ? inClusterConfig() : loadKubeconfig({ path: flags.kubeconfig });
  const { authority, pair } = await webhookCertificate({ dir: flags.webhookCertDir, host: flags.webhookHost });
  const client = createClient(config, { userAgent: "causeway-cluster-api", clock: systemClock, metrics });
  const address = flags.bindAddress;
  const rules = clusterApiRules(relatedBy(() => client));
  const served = await serveConversion({
    kinds,
    address,
    port: ports.webhook,
    certificate: pair,
    admit: (review) => reviewAdmission(review, rules),
    mutate: (review) => reviewDefaults(review, rules),
    log,
  });
  const endpoint =
    ports.health === 0
      ? undefined
      : await serveEndpoint({
          address,
          port: ports.health,
          certificate: pair,
          minVersion: "TLSv1.2",
          metrics,
          open: ["/healthz", "/livez", "/readyz"],
          guard: clusterGuard(client, systemClock),
          unready: () => undefined,
          log,
        });
  try {
    log.info("starting Cluster API", { version: ownVersion(), providers: names.join(",") });
    if (flags.installCrds === true) {
      const url = `https://${flags.webhookHost}:${served.port}`;
      const caBundle = Buffer.from(authority).toString("base64");
      await installDefinitions(client, kinds, { webhook: { url: `${url}${CONVERT_PATH}`, caBundle }, signal });
      const at = (path: string) => ({ url: `${url}${path}`, caBundle });
      const installation = { kinds, rules, at, name: "causeway-cluster-api" };
      await installAdmission(client, installation, signal);
    }
    const run: Run = { client, names, metrics, log };
    if (shards !== undefined) await share(run, { flags, shards }, signal);
    else await (flags.leaderElect === "false" ? work(run, signal) : elect(run, flags, signal));
    log.info("stopped");
  } finally {
    await Promise.allSettled([endpoint?.close(), served.close(), client.close()]);
  }
}

async function share(
  run: Run,
  { flags, shards }: { readonly flags: ClusterApiFlags; readonly shards: number },
  signal: AbortSignal,
): Promise<void> {
  const { name, namespace } = leaseOf(run, flags);
  const sharing = { ...run, namespace, lease: name };
  await shareWork(shards, sharing, (owned, term) => work({ ...run, shards: owned }, term), signal);
}

/** The Lease of an elected process. */
function leaseOf({ names }: Run, flags: ClusterApiFlags): { readonly name: string; readonly namespace: string } {
  return {
    name: flags.leaderElectResourceName ?? providers[names[0] ?? "core"].lease,
    namespace: flags.leaderElectResourceNamespace ?? process.env["POD_NAMESPACE"] ?? "kube-system",
  };
}

async function elect(run: Run, flags: ClusterApiFlags, signal: AbortSignal): Promise<void> {
  const { client, log } = run;
  const { name, namespace } = leaseOf(run, flags);
  const identity = `${hostname()}_${randomUUID()}`;
  const onLeading = (term: AbortSignal) => work(run, term);
  await electLeader({ client, namespace, name, identity, onLeading, clock: systemClock, log }, signal);
}

/** Works with the providers that the cluster has; a provider that comes, changes or goes restarts the controllers. */
async function work(run: Run, signal: AbortSignal): Promise<void> {
  const { client, log } = run;
  const watching = createInformers(client, { clock: systemClock, log });
  const definitions = watching.for(CustomResourceDefinition, { labelSelector: CONTRACT_LABEL });
  const ended = new AbortController();
  const life = AbortSignal.any([signal, ended.signal]);
  const watch = watching.run(life);
  try {
    await definitions.whenSynced(life);
    while (!signal.aborted) {
      const kinds = contractKinds(definitions.list());
      const generation = new AbortController();
      const stop = definitions.onChange(() => {
        if (kindsKey(contractKinds(definitions.list())) !== kindsKey(kinds)) generation.abort();
      });
      log.info("working with the kinds of the cluster", { kinds: kindsKey(kinds) });
      await controllers(run, kinds, AbortSignal.any([signal, generation.signal])).finally(stop);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    ended.abort();
    await watch;
  }
}

async function controllers(
  { client, names, metrics, log, shards }: Run,
  kinds: ReturnType<typeof contractKinds>,
  signal: AbortSignal,
): Promise<void> {
  const clock = systemClock;
  const informers = createInformers(client, { clock, log });
  const remoteClusters = createRemoteClusters({ informers, clock, log, shards });
  const events = createEventRecorder(client, { component: "cluster-api", clock, log, warnings: "warn", signal });
  const base = { informers, remoteClusters, clock, log, events, metrics, shards };
  const api = createClusterApi({ ...base, kinds, providers: names });
  await Promise.all([informers.run(signal), remoteClusters.run(signal), api.run(signal)]);
}

function portOf(flag: string, text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new InputError("FLAG_INVALID", `--${flag} must be a port from 0 to 65535; it is ${JSON.stringify(text)}.`);
}
