import type { OpenStackDeployment } from "@causeway/api";
import { readCertificate, type Metrics } from "@causeway/foundation";
import { secretText, type Secret } from "@causeway/kubernetes";
import { mutableSecrets } from "../render/desired.ts";
import { byDeployment, type GatherFrom } from "./gather.ts";
import { rotatedAtAnnotation } from "./rotation.ts";

/**
 * Metrics of every deployment and component, made from statuses and Secrets each time that they are read: what was
 * deleted is not in them. Returns how to end that.
 */
export function exposeMetrics(metrics: Metrics, from: GatherFrom): () => void {
  const gauges = gaugesOf(metrics);
  return gauges.ready.onRender(() => {
    for (const gauge of Object.values(gauges)) gauge.clear();
    for (const deployment of from.deployments.list()) {
      setStatus(gauges, deployment);
      setSecrets(gauges, deployment, from);
    }
  });
}

type Gauges = ReturnType<typeof gaugesOf>;

function gaugesOf(metrics: Metrics) {
  return {
    ready: metrics.gauge({
      name: "causeway_operator_deployment_ready",
      help: "1 while every component of an OpenStackDeployment is up to date and serves.",
      labels: ["deployment", "phase"],
    }),
    component: metrics.gauge({
      name: "causeway_operator_component_ready",
      help: "1 for a component that serves, also with fewer replicas; 0 for one that does not.",
      labels: ["deployment", "component"],
    }),
    degraded: metrics.gauge({
      name: "causeway_operator_component_degraded",
      help: "1 for a component that serves with fewer replicas.",
      labels: ["deployment", "component"],
    }),
    failed: metrics.gauge({
      name: "causeway_operator_component_failed",
      help: "1 for a component whose Job failed or whose rollout stopped.",
      labels: ["deployment", "component"],
    }),
    unmet: metrics.gauge({
      name: "causeway_operator_component_unmet_dependencies",
      help: "Dependencies that a component waits for.",
      labels: ["deployment", "component"],
    }),
    certificate: metrics.gauge({
      name: "causeway_operator_certificate_expiry_timestamp_seconds",
      help: "When a certificate of the deployment ends.",
      labels: ["deployment", "certificate"],
    }),
    rotated: metrics.gauge({
      name: "causeway_operator_keys_rotated_timestamp_seconds",
      help: "When keys were rotated last.",
      labels: ["deployment", "keys"],
    }),
    rotating: metrics.gauge({
      name: "causeway_operator_rotation_under_way",
      help: "1 while passwords are being replaced.",
      labels: ["deployment"],
    }),
    backup: metrics.gauge({
      name: "causeway_operator_backup_timestamp_seconds",
      help: "When the last complete backup was begun; 0: there is none.",
      labels: ["deployment"],
    }),
    interval: metrics.gauge({
      name: "causeway_operator_backup_interval_seconds",
      help: "Time between backups.",
      labels: ["deployment"],
    }),
    size: metrics.gauge({
      name: "causeway_operator_backup_bytes",
      help: "Size of the last complete backup.",
      labels: ["deployment"],
    }),
    failedBackup: metrics.gauge({
      name: "causeway_operator_backup_failed",
      help: "1 if the newest backup failed.",
      labels: ["deployment"],
    }),
    nodes: metrics.gauge({
      name: "causeway_operator_maintenance_nodes",
      help: "Compute nodes in maintenance, by phase.",
      labels: ["deployment", "phase"],
    }),
  };
}

const nameOf = ({ metadata }: OpenStackDeployment): string => `${metadata.namespace ?? ""}/${metadata.name}`;

function setStatus(gauges: Gauges, { spec, status = {}, ...rest }: OpenStackDeployment): void {
  const deployment = nameOf({ spec, ...rest });
  const isReady = status.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") === true;
  gauges.ready.set(Number(isReady), { deployment, phase: status.phase ?? "" });
  for (const { name: component, state, waitingFor = [] } of status.components ?? []) {
    const of = { deployment, component };
    gauges.component.set(Number(state === "Ready" || state === "Degraded"), of);
    gauges.degraded.set(Number(state === "Degraded"), of);
    gauges.failed.set(Number(state === "Failed"), of);
    gauges.unmet.set(waitingFor.length, of);
  }
  gauges.rotating.set(Number(status.rotation?.step !== undefined), { deployment });
  for (const { phase } of status.maintenance ?? []) gauges.nodes.add(1, { deployment, phase });
  if (!spec.backup) return;
  const backups = status.backups ?? [];
  const last = backups.find(({ state }) => state === "Complete");
  gauges.interval.set((spec.backup.everyHours ?? 24) * 3600, { deployment });
  gauges.backup.set(last ? Date.parse(last.startedAt) / 1000 : 0, { deployment });
  gauges.failedBackup.set(Number(backups[0]?.state === "Failed"), { deployment });
  if (last?.bytes !== undefined) gauges.size.set(last.bytes, { deployment });
}

function setSecrets(gauges: Gauges, object: OpenStackDeployment, from: GatherFrom): void {
  const deployment = nameOf(object);
  const { name } = object.metadata;
  const informer = from.written.find(({ type }) => type.kind === "Secret");
  const secrets = (informer?.byIndex(byDeployment, deployment) ?? []) as readonly Secret[];
  const keys = mutableSecrets(name);
  for (const secret of secrets) {
    const { name: full, annotations = {} } = secret.metadata;
    const short = full.startsWith(`${name}-`) ? full.slice(name.length + 1) : full;
    if (full === keys.authority || full === object.spec.tls?.name || full.endsWith("-certificates")) {
      const end = expiryOf(secretText(secret, "tls.crt"));
      if (end !== undefined) gauges.certificate.set(end / 1000, { deployment, certificate: short });
    }
    const rotated = Date.parse(annotations[rotatedAtAnnotation] ?? "");
    if (Number.isFinite(rotated)) gauges.rotated.set(rotated / 1000, { deployment, keys: short });
  }
}

/** An unreadable certificate must not take all other metrics with it. */
function expiryOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  try {
    return readCertificate(text).notAfter;
  } catch {
    return undefined;
  }
}
