import { runBarbicanKms } from "@causeway/barbican-kms";
import { createMetrics, systemClock } from "@causeway/foundation";
import type { BarbicanKmsFlags } from "./command.ts";
import { commandLog } from "../../../terminal/text-log.ts";

/** Serves the plugin until the signal aborts. @throws KMS_CONFIG_INVALID, KMS_ENDPOINT_IN_USE, CLOUD_CONFIG_INVALID */
export async function barbicanKms(flags: BarbicanKmsFlags, signal: AbortSignal): Promise<void> {
  const log = commandLog(flags.logLevel);
  const { socketpath: socketPath, cloudConfig } = flags;
  await runBarbicanKms({ socketPath, cloudConfig, metrics: createMetrics(), clock: systemClock, log }, signal);
}
