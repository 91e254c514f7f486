import { createMetrics, systemClock } from "@causeway/foundation";
import { readSettings, runKeystoneAuth } from "@causeway/keystone-auth";
import { createClient, inClusterConfig, loadKubeconfig } from "@causeway/kubernetes";
import type { KeystoneAuthFlags } from "./command.ts";
import { levelOf } from "../../../options/logging.ts";
import { commandLog } from "../../../terminal/text-log.ts";

/**
 * Serves the webhook until the signal aborts. @throws KEYSTONE_AUTH_FLAG_INVALID, KEYSTONE_POLICY_INVALID, KUBECONFIG_…
 */
export async function keystoneAuth(flags: KeystoneAuthFlags, signal: AbortSignal): Promise<void> {
  const settings = readSettings(flags, process.env);
  const log = commandLog(levelOf(flags));
  const metrics = createMetrics();
  const { kubeconfig, needsCluster, userAgent } = settings;
  const cluster = kubeconfig === undefined ? inClusterConfig : () => loadKubeconfig({ path: kubeconfig });
  const client = needsCluster ? createClient(cluster(), { userAgent, clock: systemClock, metrics }) : undefined;
  try {
    await runKeystoneAuth({ settings, client, metrics, clock: systemClock, log }, signal);
  } finally {
    await client?.close();
  }
}
