import { runBarbicanKms } from "@causeway/barbican-kms";
import { createMetrics, systemClock } from "@causeway/foundation";
import { commandLog } from "../../../terminal/text-log.ts";
import { serveMetrics } from "../serving/plain-metrics.ts";
import type { BarbicanKmsFlags } from "./command.ts";

/**
 * Serves the plugin until the signal aborts. @throws KMS_CONFIG_INVALID, KMS_ENDPOINT_IN_USE, KMS_ENDPOINT_UNUSABLE,
 * CLOUD_CONFIG_INVALID, METRICS_ADDRESS_INVALID
 */
export async function barbicanKms(flags: BarbicanKmsFlags, signal: AbortSignal): Promise<void> {
  const log = commandLog(flags.logLevel);
  const { socketpath: socketPath, cloudConfig, readUpstreamData } = flags;
  const metrics = createMetrics();
  let health = (): Promise<string> => Promise.resolve("the plugin is starting");
  const served = await serveMetrics(flags.metricsAddress, { metrics, log, health: () => health() });
  try {
    const onListening = (ownHealth: () => Promise<string>): void => void (health = ownHealth);
    const options = { socketPath, cloudConfig, readUpstreamData, metrics, clock: systemClock, log, onListening };
    await runBarbicanKms(options, signal);
  } finally {
    await served?.close();
  }
}
