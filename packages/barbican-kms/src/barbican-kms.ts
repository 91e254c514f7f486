import { CausewayError, messageOf, type Clock, type Log, type Metrics } from "@causeway/foundation";
import { serveKms } from "@causeway/kms";
import { connectCloud } from "@causeway/openstack";
import { readConfiguration, type Configuration } from "./configuration.ts";
import { createKeys } from "./keys/keys.ts";
import { healthOf } from "./health.ts";
import { createMeasures } from "./measures.ts";
import { createService } from "./service.ts";

/** The socket, the cloud and the key of a plugin. */
export interface BarbicanKmsOptions {
  /** A path, or "unix:///path". */
  readonly socketPath: string;
  /** Path of the cloud.conf. */
  readonly cloudConfig: string;
  /** Data of the upstream plugin is decrypted. Default false. */
  readonly readUpstreamData?: boolean;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
  /** Called once it listens, with what its health is: "ok", or what is wrong. */
  readonly onListening?: (health: () => Promise<string>) => void;
}

/** Between two reads of cloud.conf: a mounted Secret changes by a link, of which no file event reports. */
const PAUSE = 5_000;

/**
 * Serves the plugin until the signal aborts. A new `key-id` in cloud.conf is the key of all further data, without a
 * restart.
 * @throws KMS_CONFIG_INVALID, KMS_ENDPOINT_INVALID, KMS_ENDPOINT_IN_USE, KMS_ENDPOINT_UNUSABLE, INI_INVALID,
 * CLOUD_CONFIG_INVALID
 * @example
 * const files = { socketPath: "unix:///run/kms/kms.sock", cloudConfig: "/etc/kms/cloud.conf" };
 * await runBarbicanKms({ ...files, metrics, clock: systemClock, log }, signal);
 */
export async function runBarbicanKms(options: BarbicanKmsOptions, signal: AbortSignal): Promise<void> {
  const { socketPath, cloudConfig, readUpstreamData = false, metrics, clock, log } = options;
  let configuration = readConfiguration(cloudConfig);
  for (const warning of configuration.warnings) log.warn("cloud.conf", { warning });
  if (readUpstreamData) {
    const advice = "rewrite all records, check that the metric of its reads does not change, and remove the flag";
    log.warn("data of the upstream plugin is decrypted: who can write to etcd can change it unnoticed", { advice });
  }
  const { lifetime, outage } = configuration;
  const reload = () => readConfiguration(cloudConfig).cloud;
  const cloud = connectCloud(configuration.cloud, { clock, log, metrics, reload, userAgent: "causeway-barbican-kms" });
  const read = async (id: string): Promise<Uint8Array> => {
    const over = new AbortController();
    const done = new AbortController();
    // kube-apiserver waits ten seconds at most.
    clock.sleep(8_000, done.signal).then(
      () => over.abort(new CausewayError("KMS_UNAVAILABLE", "Barbican did not respond within 8 s.")),
      () => {},
    );
    try {
      return await cloud.keyManager.payload(id, { signal: over.signal });
    } finally {
      done.abort();
    }
  };
  const measures = createMeasures(metrics);
  const keys = createKeys({
    read,
    onRead: (outcome) => measures.keyRead(outcome),
    clock,
    log,
    ...(lifetime === undefined ? {} : { lifetime }),
    ...(outage === undefined ? {} : { outage }),
  });
  const service = createService(keys, () => configuration.keyId, {
    readUpstreamData,
    onUpstreamData: () => measures.upstreamRead(),
  });
  const measured = measures.service(service, clock);
  const onCall = (method: string, failed: string | undefined): void => measures.call(method, failed === undefined);
  try {
    const server = await serveKms({ endpoint: socketPath, service: measured, log, onCall });
    log.info("the KMS plugin listens", { socket: socketPath, keyId: configuration.keyId });
    options.onListening?.(healthOf(measured, clock));
    for await (const next of changes(cloudConfig, () => configuration, { clock, log, signal })) {
      log.info("new data is encrypted with another key", { before: configuration.keyId, now: next.keyId });
      configuration = next;
    }
    await server.close();
  } finally {
    await cloud.close();
  }
}

/** Configurations with another key id, until the signal aborts. One that cannot be used changes nothing. */
async function* changes(
  path: string,
  current: () => Configuration,
  { clock, log, signal }: { clock: Clock; log: Log; signal: AbortSignal },
): AsyncGenerator<Configuration> {
  let problem = "";
  for (;;) {
    try {
      await clock.sleep(PAUSE, signal);
    } catch {
      return;
    }
    try {
      const next = readConfiguration(path);
      problem = "";
      if (next.keyId !== current().keyId) yield next;
    } catch (error) {
      const message = messageOf(error);
      if (message !== problem) log.warn("the changed cloud.conf is not used", { error: message });
      problem = message;
    }
  }
}
