import type { RequestListener, Server } from "node:http";
import { createServer, type Socket } from "node:net";
import type { Metrics } from "@causeway/foundation";
import { listen, type Listen, type ListeningServer } from "./listen.ts";

/** A connection without a byte for so long ends (ms). */
const IDLE = 30_000;
/** Connections at a time. One more ends the oldest: it may be that of a probe, on which the process' life depends. */
const MOST = 100;

/**
 * Health (/healthz, /readyz) or metrics (/metrics) in plain text, as konnectivity's health and admin ports. @throws
 * TUNNEL_LISTEN_FAILED
 */
export function serveStatus(
  where: Listen,
  { metrics, unready }: { readonly metrics?: Metrics; readonly unready: () => string | undefined },
): Promise<ListeningServer> {
  const respond: RequestListener = (request, response) => {
    const path = (request.url ?? "/").replace(/\?.*/, "");
    const send = (status: number, text: string, type = "text/plain; charset=utf-8"): void => {
      response.writeHead(status, { "Content-Type": type });
      response.end(text);
    };
    if (request.method !== "GET" && request.method !== "HEAD") return send(405, "method not allowed\n");
    if (path === "/healthz" || path === "/livez") return send(200, "ok");
    if (path === "/readyz" || path === "/ready") {
      const why = unready();
      return why === undefined ? send(200, "ok") : send(500, why);
    }
    if (path !== "/metrics" || !metrics) return send(404, "not found\n");
    return void metrics.render().then(
      (text) => send(200, text, metrics.contentType),
      () => send(500, "metrics cannot be rendered\n"),
    );
  };
  let http: Server | undefined;
  // Loaded with the first connection: it takes 4 MiB.
  const load = (): Server => process.getBuiltinModule("node:http").createServer(respond).setTimeout(IDLE);
  const open = new Set<Socket>();
  const end = (socket: Socket): void => {
    open.delete(socket);
    socket.destroy();
  };
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    const [oldest] = open;
    if (oldest && open.size >= MOST) end(oldest);
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    http ??= load();
    http.emit("connection", socket);
  });
  return listen(server, where);
}
