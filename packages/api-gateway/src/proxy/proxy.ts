import type { Socket } from "node:net";
import { messageOf, type Clock, type Log, type Metrics } from "@causeway/foundation";
import { listen } from "../gateway/gateway.ts";
import { authorityHeader } from "../preface/proxy-header.ts";
import { dial, prepare, relay, type Target } from "../relay/relay.ts";

/** Where it listens, and the gateway and tenant that it connects to. */
export interface ApiProxyOptions {
  readonly host: string;
  readonly port: number;
  /** Addresses of gateways: the next is tried when one cannot be reached. */
  readonly gateways: readonly Target[];
  /** The name of this cluster's API server at the gateways. */
  readonly serverName: string;
  readonly maxConnections?: number;
  /** Time (ms) to connect to one gateway. */
  readonly dialTimeout?: number;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

/** The proxy on a node: it names the tenant to the gateway for clients that have no server name. */
export interface ApiProxy {
  readonly port: number;
  drain(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

const HALF_OPEN_TIMEOUT = 60_000;

/**
 * The proxy on a node: clients of Service `kubernetes` name no API server that a gateway knows, so each connection is
 * passed on behind a header that does. @throws GATEWAY_LISTEN_FAILED
 */
export async function startApiProxy(options: ApiProxyOptions): Promise<ApiProxy> {
  const { gateways, serverName, maxConnections = 4_096, dialTimeout = 5_000, log } = options;
  const metrics = proxyMetrics(options.metrics);
  const header = authorityHeader(serverName);
  let open = 0;
  let preferred = 0;
  const connectAny = async (signal: AbortSignal): Promise<Socket | undefined> => {
    for (let i = 0; i < gateways.length && !signal.aborted; i++) {
      const index = (preferred + i) % gateways.length;
      try {
        const socket = await dial(gateways[index] as Target, dialTimeout, signal);
        preferred = index;
        return socket;
      } catch (error) {
        if (signal.aborted) return undefined;
        metrics.failures.increment();
        const { host, port } = gateways[index] as Target;
        log.warn("a gateway cannot be reached", { host, port, error: messageOf(error) });
      }
    }
    return undefined;
  };
  const serve = async (client: Socket): Promise<void> => {
    prepare(client);
    client.on("error", () => {});
    const gone = new AbortController();
    client.once("close", () => gone.abort(new Error("the client is gone")));
    const gateway = await connectAny(gone.signal);
    if (gateway === undefined || client.destroyed) {
      gateway?.destroy();
      client.resetAndDestroy();
      return;
    }
    await relay(client, gateway, { head: header, halfOpenTimeout: HALF_OPEN_TIMEOUT });
  };
  const listening = await listen({ host: options.host, port: options.port, reusePort: true }, (client) => {
    if (open >= maxConnections) {
      metrics.limited.increment();
      client.resetAndDestroy();
      return;
    }
    open += 1;
    metrics.connections.set(open);
    client.once("close", () => {
      open -= 1;
      metrics.connections.set(open);
    });
    serve(client).catch((error: unknown) => {
      log.error("a connection failed", { error: messageOf(error) });
      client.destroy();
    });
  });
  return { port: listening.port, drain: (signal) => listening.drain(signal), close: () => listening.close() };
}

function proxyMetrics(metrics: Metrics) {
  return {
    connections: metrics.gauge({
      name: "causeway_api_proxy_connections",
      help: "Open connections of this node's clients to the API.",
    }),
    failures: metrics.counter({
      name: "causeway_api_proxy_dial_failures_total",
      help: "Attempts to connect to a gateway that failed.",
    }),
    limited: metrics.counter({
      name: "causeway_api_proxy_limited_total",
      help: "Connections that were refused because too many were open.",
    }),
  };
}
