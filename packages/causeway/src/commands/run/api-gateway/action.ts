import { fileRoutes, joinRoutes, serviceRoutes, startApiGateway, type Routes } from "@causeway/api-gateway";
import {
  createMetrics,
  InputError,
  messageOf,
  parseCidr,
  systemClock,
  whenAborted,
  type Cidr,
  type Log,
} from "@causeway/foundation";
import { createClient, createInformers, inClusterConfig, loadKubeconfig } from "@causeway/kubernetes";

import { commandLog } from "../../../terminal/text-log.ts";
import { serveMetrics } from "../serving/plain-metrics.ts";
import { readAddress } from "../serving/address.ts";
import { readDuration } from "../serving/duration.ts";
import type { ApiGatewayFlags } from "./command.ts";

const clock = systemClock;
/** Between two reads of the routes (ms): a mounted ConfigMap changes by a link, which no file event reports. */
const PAUSE = 2_000;

/**
 * Serves the gateway until the signal aborts, and then as long as connections are open.
 * @throws FLAG_INVALID, GATEWAY_ROUTES_INVALID, GATEWAY_LISTEN_FAILED, KUBECONFIG_…, METRICS_ADDRESS_INVALID
 */
export async function apiGateway(flags: ApiGatewayFlags, signal: AbortSignal): Promise<void> {
  const log = commandLog(flags.logLevel);
  const metrics = createMetrics();
  const where = readAddress("bind-address", flags.bindAddress);
  const limits = {
    total: count("max-connections", flags.maxConnections),
    perTenant: count("max-connections-per-tenant", flags.maxConnectionsPerTenant),
    pending: count("max-pending-connections", flags.maxPendingConnections),
  };
  const timing = {
    helloTimeout: readDuration("hello-timeout", flags.helloTimeout),
    dialTimeout: readDuration("dial-timeout", flags.dialTimeout),
  };
  const [delay, drain] = [
    readDuration("shutdown-delay", flags.shutdownDelay),
    readDuration("drain-timeout", flags.drainTimeout),
  ];
  const ended = new AbortController();
  const opened = openRoutes(flags, log, ended.signal);
  const { routes } = opened;
  const health = (): string => {
    if (signal.aborted) return "stopping";
    return routes.ready ? "ok" : "the Services of control planes are not read yet";
  };
  const trusted = flags.proxyProtocolFrom === undefined ? [] : networks(flags.proxyProtocolFrom);
  const served = await serveMetrics(flags.metricsAddress, { metrics, log, health: async () => health() });
  try {
    const gateway = await startApiGateway({ ...where, routes, limits, timing, trusted, metrics, clock, log });
    log.info("the API gateway listens", { address: flags.bindAddress, port: gateway.port });
    await Promise.race([whenAborted(signal), opened.failed]);
    await pause(delay, ended.signal);
    const over = AbortSignal.timeout(Math.max(drain, 1));
    log.info("waiting for open connections", { connections: gateway.connections });
    await gateway.drain(over);
    await gateway.close();
  } finally {
    ended.abort();
    await Promise.allSettled([served?.close(), opened.close()]);
  }
}

interface Opened {
  readonly routes: Routes;
  /** Rejects when routes cannot be followed any more. */
  readonly failed: Promise<never>;
  close(): Promise<void>;
}

/** Routes of the file and of the service cluster, followed until the signal aborts. */
function openRoutes(flags: ApiGatewayFlags, log: Log, signal: AbortSignal): Opened {
  const file = flags.routes === undefined ? undefined : fileRoutes(flags.routes);
  if (file !== undefined) void follow(file, { log, signal });
  if (file !== undefined && flags.kubeconfig === undefined)
    return { routes: file, failed: new Promise(() => {}), close: async () => {} };
  const config = flags.kubeconfig === undefined ? inClusterConfig() : loadKubeconfig({ path: flags.kubeconfig });
  const client = createClient(config, { userAgent: "causeway-api-gateway", clock });
  const informers = createInformers(client, { clock, log });
  const services = serviceRoutes(informers, log);
  const running = informers.run(signal);
  const failed = running.then(() => new Promise<never>(() => {}));
  failed.catch(() => {});
  return {
    // What the operator wrote goes before what a controller did.
    routes: joinRoutes(file === undefined ? [services] : [file, services]),
    failed,
    async close() {
      services.close();
      await running.catch(() => {});
      await client.close();
    },
  };
}

async function follow(
  file: { reread(): void },
  { log, signal }: { readonly log: Log; readonly signal: AbortSignal },
): Promise<void> {
  let problem = "";
  while (!signal.aborted) {
    await pause(PAUSE, signal);
    try {
      file.reread();
      problem = "";
    } catch (error) {
      if (messageOf(error) !== problem) log.warn("the changed routes are not used", { error: messageOf(error) });
      problem = messageOf(error);
    }
  }
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return clock.sleep(milliseconds, signal).catch(() => {});
}

function count(flag: string, text: string): number {
  if (/^[1-9][0-9]{0,6}$/.test(text)) return Number(text);
  throw new InputError("FLAG_INVALID", `--${flag} must be a number from 1 to 9999999; it is ${JSON.stringify(text)}.`);
}

function networks(text: string): Cidr[] {
  return text.split(",").map((each) => {
    const cidr = parseCidr(each.trim());
    if (cidr) return cidr;
    throw new InputError("FLAG_INVALID", `--proxy-protocol-from: ${each} is not a network, such as 10.0.0.0/24.`);
  });
}
