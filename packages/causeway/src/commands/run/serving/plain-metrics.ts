import { once } from "node:events";
import { createServer } from "node:http";
import { InputError, messageOf, type Log, type Metrics } from "@causeway/foundation";

/** What is served over HTTP without TLS and login. */
export interface ServedMetrics {
  readonly metrics: Metrics;
  readonly log: Log;
  /**
   * "ok", or what is wrong: the response of /healthz. Without it the process alone is what is healthy, as for /livez.
   */
  readonly health?: () => Promise<string>;
}

/**
 * GET /healthz, /livez and /metrics over HTTP at "ADDRESS:PORT"; undefined: nowhere. @throws METRICS_ADDRESS_INVALID
 */
export async function serveMetrics(
  address: string | undefined,
  { metrics, log, health = () => Promise.resolve("ok") }: ServedMetrics,
): Promise<{ readonly port: number; close(): Promise<void> } | undefined> {
  if (address === undefined) return undefined;
  const [, host = "", port = ""] = /^\[?([^[\]]*?)\]?:(\d{1,5})$/.exec(address) ?? [];
  if (port === "") throw invalid(address, "it has no port");
  const server = createServer((request, response) => {
    const path = request.method === "GET" ? (request.url ?? "/").split("?")[0] : undefined;
    respond(path, { metrics, health }).then(
      ([status, body]) => {
        response.writeHead(status, { "content-type": "text/plain; charset=utf-8" });
        response.end(body);
      },
      (error: unknown) => {
        log.warn("a request for metrics failed", { error: messageOf(error) });
        response.writeHead(500).end();
      },
    );
  });
  server.headersTimeout = 10_000;
  server.requestTimeout = 10_000;
  server.maxConnections = 50;
  server.listen(Number(port), host === "" ? "0.0.0.0" : host);
  try {
    await once(server, "listening");
  } catch (cause) {
    throw invalid(address, messageOf(cause));
  }
  log.info("metrics are served", { address });
  const bound = server.address();
  return {
    port: typeof bound === "object" && bound !== null ? bound.port : Number(port),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function respond(
  path: string | undefined,
  { metrics, health }: Required<Omit<ServedMetrics, "log">>,
): Promise<readonly [status: number, body: string]> {
  switch (path) {
    case "/metrics":
      return [200, await metrics.render()];
    case "/livez":
      return [200, "ok"];
    case "/healthz": {
      const state = await health();
      return [state === "ok" ? 200 : 503, state];
    }
    default:
      return [404, "not found\n"];
  }
}

function invalid(address: string, why: string): InputError {
  return new InputError("METRICS_ADDRESS_INVALID", `--metrics-address ${address} cannot be used: ${why}.`, {
    hint: "Specify an address of this machine and a free port, such as 127.0.0.1:10253.",
  });
}
