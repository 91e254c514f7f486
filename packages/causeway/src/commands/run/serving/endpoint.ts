import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import { messageOf, type KeyPair, type Log, type Metrics, InputError } from "@causeway/foundation";
import type { Guard } from "./guard.ts";

/** Where health and metrics are served, and who may read them. */
export interface EndpointOptions {
  readonly address: string;
  readonly port: number;
  readonly certificate: KeyPair;
  readonly minVersion: "TLSv1.2" | "TLSv1.3";
  readonly metrics: Metrics;
  /** Paths that may be read without a credential. */
  readonly open: readonly string[];
  readonly guard: Guard;
  /** Why the component is not ready: /readyz is read without login; undefined: it is. */
  readonly unready: () => string | undefined;
  readonly log: Log;
}

/** A running endpoint. */
export interface Endpoint {
  readonly port: number;
  close(): Promise<void>;
}

/** /healthz, /livez, /readyz and /metrics over HTTPS. @throws ENDPOINT_PORT_TAKEN when it cannot listen */
export async function serveEndpoint(options: EndpointOptions): Promise<Endpoint> {
  const { certificate, address, port, log, minVersion } = options;
  const server = createServer(
    { cert: certificate.certificate, key: certificate.key, minVersion },
    (request, response) => {
      answer(options, request, response).catch((error: unknown) => {
        log.warn("a request of health or metrics failed", { error: messageOf(error) });
        if (!response.headersSent) send(response, 500, "internal error\n");
      });
    },
  );
  server.listen(port, address);
  try {
    await once(server, "listening");
  } catch (cause) {
    throw new InputError("ENDPOINT_PORT_TAKEN", `Health and metrics cannot be served at ${address}:${port}.`, {
      cause,
      hint: "Choose another with --bind-address and --secure-port; 0 serves none.",
    });
  }
  const bound = server.address();
  return {
    port: typeof bound === "object" && bound !== null ? bound.port : port,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function answer(options: EndpointOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = new URL(request.url ?? "/", "https://here").pathname;
  if (request.method !== "GET" && request.method !== "HEAD") return send(response, 405, "method not allowed\n");
  if (!options.open.some((open) => matches(open, path))) {
    const verdict = await options.guard({ path, authorization: request.headers.authorization });
    if (verdict !== "allowed") {
      return verdict === "unknown" ? send(response, 401, "unauthorized\n") : send(response, 403, "forbidden\n");
    }
  }
  const unready = /^\/readyz(\/|$)/.test(path) ? options.unready() : undefined;
  if (unready !== undefined) return send(response, 503, `not ready: ${unready}\n`);
  if (/^\/(healthz|livez|readyz)(\/|$)/.test(path)) return send(response, 200, "ok");
  if (path !== "/metrics") return send(response, 404, "not found\n");
  response.setHeader("Content-Type", options.metrics.contentType);
  return send(response, 200, await options.metrics.render());
}

/** "/healthz" is that path, "/healthz/*" all below it. */
function matches(open: string, path: string): boolean {
  return open.endsWith("*") ? path.startsWith(open.slice(0, -1)) : open === path;
}

function send(response: ServerResponse, status: number, text: string): void {
  response.statusCode = status;
  if (!response.hasHeader("Content-Type")) response.setHeader("Content-Type", "text/plain; charset=utf-8");
  response.end(text);
}
