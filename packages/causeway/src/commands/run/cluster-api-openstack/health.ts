import { once } from "node:events";
import { createServer } from "node:http";
import { InputError, messageOf, type Metrics } from "@causeway/foundation";
import type { Address } from "./flags.ts";

/** What is served over HTTP without TLS and login. */
export interface Plain {
  /** Undefined: no metrics are served here. */
  readonly metrics?: Metrics;
  /** The flag that the address comes from. */
  readonly flag: string;
}

/** /healthz and /readyz, or /metrics, over HTTP. @throws ENDPOINT_PORT_TAKEN when it cannot listen */
export async function servePlain(
  address: Address | undefined,
  { metrics, flag }: Plain,
): Promise<{ close(): Promise<void> } | undefined> {
  if (address === undefined) return undefined;
  const server = createServer((request, response) => {
    const path = (request.url ?? "/").split("?")[0] ?? "/";
    const known = metrics ? path === "/metrics" : ["/healthz", "/livez", "/readyz"].includes(path);
    const body = request.method !== "GET" || !known ? undefined : metrics ? metrics.render() : "ok";
    void Promise.resolve(body).then(
      (text) => {
        response.writeHead(text === undefined ? 404 : 200, { "content-type": "text/plain; charset=utf-8" });
        response.end(text ?? "not found\n");
      },
      () => response.writeHead(500).end(),
    );
  });
  server.headersTimeout = 10_000;
  server.requestTimeout = 10_000;
  server.maxConnections = 50;
  server.listen(address.port, address.host);
  try {
    await once(server, "listening");
  } catch (cause) {
    throw new InputError("ENDPOINT_PORT_TAKEN", `--${flag}: nothing can be served there: ${messageOf(cause)}.`, {
      cause,
      hint: "Choose another address, or 0 for none.",
    });
  }
  return {
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
