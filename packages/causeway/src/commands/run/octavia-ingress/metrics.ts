import { once } from "node:events";
import { createServer } from "node:http";
import { InputError, messageOf, type Log, type Metrics } from "@causeway/foundation";

/** GET /healthz and GET /metrics over HTTP at "ADDRESS:PORT"; undefined: nowhere. @throws METRICS_ADDRESS_INVALID */
export async function serveMetrics(
  address: string | undefined,
  { metrics, log }: { readonly metrics: Metrics; readonly log: Log },
): Promise<{ close(): Promise<void> } | undefined> {
  if (address === undefined) return undefined;
  const [, host = "", port = ""] = /^\[?([^[\]]*?)\]?:(\d{1,5})$/.exec(address) ?? [];
  if (port === "") throw invalid(address, "it has no port");
  const server = createServer((request, response) => {
    const path = (request.url ?? "/").split("?")[0];
    const body =
      request.method === "GET" && path === "/metrics"
        ? metrics.render()
        : Promise.resolve(request.method === "GET" && path === "/healthz" ? "ok" : undefined);
    body.then(
      (text) => {
        response.writeHead(text === undefined ? 404 : 200, { "content-type": "text/plain; charset=utf-8" });
        response.end(text ?? "not found\n");
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
  return {
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function invalid(address: string, why: string): InputError {
  return new InputError("METRICS_ADDRESS_INVALID", `--metrics-address ${address} cannot be used: ${why}.`, {
    hint: "Give an address of this machine and a free port, such as 127.0.0.1:10253.",
  });
}
