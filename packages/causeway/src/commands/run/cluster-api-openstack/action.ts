import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { infrastructureKinds } from "@causeway/api";
import { createOpenStackInfrastructure, identityUsersOf, openStackRules } from "@causeway/cluster-api-openstack";
import { createMetrics, systemClock, type Log, type Metrics } from "@causeway/foundation";
import {
  createClient,
  createEventRecorder,
  createInformers,
  electLeader,
  inClusterConfig,
  loadKubeconfig,
  reviewAdmission,
  type KubernetesClient,
  type Shards,
} from "@causeway/kubernetes";
import { createCloudPool } from "@causeway/openstack";
import { ownVersion } from "../../../release.ts";
import { levelOf } from "../../../options/logging.ts";
import { commandLog } from "../../../terminal/text-log.ts";
import { installAdmission } from "../cluster-api/admission.ts";
import { installDefinitions } from "../cluster-api/definitions.ts";
import { CONVERT_PATH, serveConversion } from "../serving/conversion.ts";
import { serveEndpoint } from "../serving/endpoint.ts";
import { clusterGuard } from "../serving/guard.ts";
import { shareWork } from "../serving/shared-work.ts";
import { webhookCertificate } from "../serving/webhook-certificate.ts";
import type { ProviderFlags } from "./command.ts";
import { readFlags, type Election, type Settings } from "./flags.ts";
import { servePlain } from "./health.ts";

/** The Lease of upstream's manager: neither works while the other leads. */
const LEASE = "controller-leader-election-capo";
const clock = systemClock;

interface Run {
  readonly client: KubernetesClient;
  readonly flags: ProviderFlags;
  readonly settings: Settings;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly shards?: Shards;
}

/**
 * Runs the OpenStack provider until the signal aborts; elected, if it is to be. Wrong input ends it before anything is
 * started.
 * @throws FLAG_INVALID, CERTIFICATE_UNREADABLE, ENDPOINT_PORT_TAKEN, KUBECONFIG_…
 */
export async function runClusterApiOpenStack(flags: ProviderFlags, signal: AbortSignal): Promise<void> {
  const settings = readFlags(flags);
  const log = logOf(flags);
  const metrics = createMetrics();
  const config = flags.kubeconfig === undefined ? inClusterConfig() : loadKubeconfig({ path: flags.kubeconfig });
  const { authority, pair } = await webhookCertificate({ dir: flags.webhookCertDir, host: flags.webhookHost });
  const client = createClient(config, { userAgent: "causeway-cluster-api-openstack", clock, metrics });
  const run: Run = { client, flags, settings, metrics, log };
  const open: { close(): Promise<unknown> }[] = [client];
  try {
    const kinds = infrastructureKinds;
    const at = { address: "0.0.0.0", port: settings.webhookPort };
    const rules = openStackRules(identityUsersOf(() => client, flags.namespace));
    const admit = (review: unknown) => reviewAdmission(review, rules);
    const webhook = await serveConversion({ kinds, ...at, certificate: pair, admit, log });
    open.push(webhook);
    const diagnostics = await serveDiagnostics(run, pair);
    if (diagnostics) open.push(diagnostics);
    const health = await servePlain(settings.health, { flag: "health-addr" });
    if (health) open.push(health);
    log.info("starting Cluster API's OpenStack provider", {
      version: ownVersion(),
      namespace: flags.namespace ?? "all",
    });
    if (flags.installCrds === true) {
      const host = `https://${flags.webhookHost}:${webhook.port}`;
      const caBundle = Buffer.from(authority).toString("base64");
      await installDefinitions(client, kinds, { webhook: { url: `${host}${CONVERT_PATH}`, caBundle }, signal });
      const reached = (path: string) => ({ url: `${host}${path}`, caBundle });
      const name = "causeway-cluster-api-openstack";
      await installAdmission(client, { kinds, rules, at: reached, name }, signal);
    }
    if (settings.shards !== undefined) await share(run, settings.shards, signal);
    else await (settings.election ? elect(run, settings.election, signal) : work(run, signal));
    log.info("stopped");
  } finally {
    await Promise.allSettled(open.toReversed().map((one) => one.close()));
  }
}

async function serveDiagnostics(
  { settings, flags, client, metrics, log }: Run,
  certificate: Parameters<typeof serveEndpoint>[0]["certificate"],
) {
  const { diagnostics } = settings;
  if (!diagnostics) return undefined;
  if (flags.insecureDiagnostics === "true") return servePlain(diagnostics, { metrics, flag: "diagnostics-address" });
  return serveEndpoint({
    address: diagnostics.host,
    port: diagnostics.port,
    certificate,
    minVersion: "TLSv1.2",
    metrics,
    open: ["/healthz", "/livez", "/readyz"],
    guard: clusterGuard(client, clock),
    unready: () => undefined,
    log,
  });
}

async function share(run: Run, count: number, signal: AbortSignal): Promise<void> {
  const sharing = { ...run, namespace: ownNamespace(), lease: LEASE };
  await shareWork(count, sharing, (shards, term) => work({ ...run, shards }, term), signal);
}

const ownNamespace = (): string => process.env["POD_NAMESPACE"] ?? "capo-system";

async function elect(run: Run, election: Election, signal: AbortSignal): Promise<void> {
  const { client, metrics, log } = run;
  const status = metrics.gauge({
    name: "leader_election_master_status",
    help: "1 for the leader, 0 for a standby",
    labels: ["name"],
  });
  status.set(0, { name: LEASE });
  const onLeading = async (term: AbortSignal) => {
    status.set(1, { name: LEASE });
    await work(run, term).finally(() => status.set(0, { name: LEASE }));
  };
  const namespace = ownNamespace();
  const identity = `${hostname()}_${randomUUID()}`;
  await electLeader({ ...election, client, namespace, name: LEASE, identity, onLeading, clock, log }, signal);
}

async function work({ client, flags, settings, metrics, log, shards }: Run, signal: AbortSignal): Promise<void> {
  const informers = createInformers(client, { clock, log });
  const clouds = createCloudPool({ clock, log, metrics, userAgent: "causeway-cluster-api-openstack" });
  const events = createEventRecorder(client, {
    component: "openstack-controller",
    clock,
    log,
    warnings: "warn",
    signal,
  });
  const infrastructure = createOpenStackInfrastructure({
    informers,
    clouds,
    clock,
    log,
    events,
    metrics,
    shards,
    ...(flags.namespace === undefined ? {} : { namespace: flags.namespace }),
    ...(flags.watchFilter === undefined ? {} : { watchFilter: flags.watchFilter }),
    ...(settings.ca === undefined ? {} : { ca: settings.ca }),
  });
  try {
    await Promise.all([informers.run(signal), infrastructure.run(signal)]);
  } finally {
    await clouds.close();
  }
}

const logOf = (flags: ProviderFlags): Log => commandLog(levelOf(flags));
