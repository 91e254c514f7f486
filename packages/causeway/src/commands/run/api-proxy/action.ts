import { startApiProxy } from "@causeway/api-gateway";
import { createMetrics, InputError, systemClock, whenAborted } from "@causeway/foundation";

import { commandLog } from "../../../terminal/text-log.ts";
import { readAddress } from "../serving/address.ts";
import { readDuration } from "../serving/duration.ts";
import { serveMetrics } from "../serving/plain-metrics.ts";
import type { ApiProxyFlags } from "./command.ts";

/**
 * Serves the proxy until the signal aborts, and then as long as connections are open.
 * @throws FLAG_INVALID, GATEWAY_LISTEN_FAILED, METRICS_ADDRESS_INVALID
 */
export async function apiProxy(flags: ApiProxyFlags, signal: AbortSignal): Promise<void> {
  const log = commandLog(flags.logLevel);
  const metrics = createMetrics();
  const gateways = flags.gateways.split(",").map((each) => readAddress("gateways", each.trim()));
  const where = readAddress("bind-address", flags.bindAddress);
  const drain = readDuration("drain-timeout", flags.drainTimeout);
  const health = async () => (signal.aborted ? "stopping" : "ok");
  const served = await serveMetrics(flags.metricsAddress, { metrics, log, health });
  try {
    const proxy = await startApiProxy({
      ...where,
      gateways,
      serverName: serverNameOf(flags.serverName),
      maxConnections: count(flags.maxConnections),
      dialTimeout: readDuration("dial-timeout", flags.dialTimeout),
      metrics,
      clock: systemClock,
      log,
    });
    log.info("the API proxy listens", { address: flags.bindAddress, port: proxy.port, serverName: flags.serverName });
    await whenAborted(signal);
    await proxy.drain(AbortSignal.timeout(Math.max(drain, 1)));
    await proxy.close();
  } finally {
    await served?.close();
  }
}

function serverNameOf(text: string): string {
  if (text.length <= 253 && /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/.test(text)) return text;
  throw new InputError("FLAG_INVALID", `--server-name must be a DNS name; it is ${JSON.stringify(text)}.`);
}

function count(text: string): number {
  if (/^[1-9][0-9]{0,6}$/.test(text)) return Number(text);
  throw new InputError("FLAG_INVALID", `--max-connections must be a number; it is ${JSON.stringify(text)}.`);
}
