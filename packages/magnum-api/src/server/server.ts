import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer as createPlain, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createSecure } from "node:https";
import { followCertificate, InputError, messageOf, type Clock, type Log, type Metrics } from "@causeway/foundation";
import { errorBody, MagnumError } from "../wire/error.ts";
import { bodyOf } from "./body.ts";
import type { Answer } from "../call/call.ts";
import { servingCertificate, type CertificateFiles } from "./certificate.ts";
import { respond, type Request, type RespondOptions } from "./respond.ts";

/** Where the API is served, in addition to how requests are responded to. */
export interface ServerOptions extends RespondOptions {
  readonly host: string;
  readonly port: number;
  /** Undefined: HTTP, for a proxy on the same host that ends TLS. */
  readonly certificateFiles?: CertificateFiles | undefined;
  /** "https://magnum.example.org": what links begin with. Default: what the client used. */
  readonly publicUrl?: string | undefined;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

/** A server that listens: `port` is the one it got where 0 was given. */
export interface MagnumServer {
  readonly port: number;
  /** Accepts no more connections, and ends those that there are: with a response when it is there in a few seconds. */
  close(): Promise<void>;
}

const MOST_CONNECTIONS = 2_000;
/** Milliseconds that requests under way have to end. */
const FAREWELL = 10_000;

/** Serves the API until it is closed. @throws MAGNUM_PORT, MAGNUM_CERTIFICATE */
export async function serve(options: ServerOptions): Promise<MagnumServer> {
  const { certificateFiles, host, port, clock, log } = options;
  const measure = measures(options.metrics);
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const requestId = `req-${randomUUID()}`;
    const begun = options.clock.now();
    void answer(options, request, response, requestId)
      .catch((error: unknown): Answer => {
        log.error("a request to the Magnum API failed", { requestId, error: messageOf(error) });
        return { status: 500, body: errorBody(new MagnumError(500, "The request failed.")) };
      })
      .then((result) => {
        measure(request.method ?? "GET", result.status, (options.clock.now() - begun) / 1000);
        send(request, response, result);
      });
  };
  const read =
    certificateFiles && (() => ({ ...servingCertificate(certificateFiles), minVersion: "TLSv1.2" as const }));
  const first = read?.();
  const secure = first && createSecure(first, handle);
  const server = secure ?? createPlain(handle);
  server.maxConnections = MOST_CONNECTIONS;
  server.requestTimeout = 60_000;
  server.headersTimeout = 10_000;
  server.listen(port, host);
  await listening(server, options);
  const closing = new AbortController();
  if (secure && read) void followCertificate({ server: secure, first, read, clock, log }, closing.signal);
  const bound = server.address();
  let closed: Promise<void> | undefined;
  return {
    port: typeof bound === "object" && bound !== null ? bound.port : port,
    close() {
      closing.abort();
      closed ??= closeServer(server, clock);
      return closed;
    },
  };
}

async function closeServer(server: Server, clock: Clock): Promise<void> {
  const closed = once(server, "close");
  server.close();
  server.closeIdleConnections();
  const timer = new AbortController();
  clock.sleep(FAREWELL, timer.signal).then(
    () => server.closeAllConnections(),
    () => {},
  );
  await closed;
  timer.abort();
}

async function listening(server: Server, { host, port }: ServerOptions): Promise<void> {
  try {
    await once(server, "listening");
  } catch (cause) {
    throw new InputError("MAGNUM_PORT", `The Magnum API cannot listen at ${host}:${port}.`, {
      cause,
      hint: "Choose another address or port.",
    });
  }
}

async function answer(
  options: ServerOptions,
  incoming: IncomingMessage,
  response: ServerResponse,
  requestId: string,
): Promise<Answer> {
  const { clock, log } = options;
  const begun = clock.now();
  const gone = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) gone.abort();
  });
  const scheme = options.certificateFiles ? "https" : "http";
  const request: Request = {
    method: incoming.method ?? "GET",
    url: incoming.url ?? "/",
    header: (name) => textOf(incoming.headers[name]),
    body: () => bodyOf(incoming, clock),
    origin: options.publicUrl ?? `${scheme}://${hostOf(incoming) ?? `${options.host}:${options.port}`}`,
    signal: gone.signal,
  };
  const { project, ...result } = await respond(options, request, requestId);
  const [path = ""] = request.url.split("?");
  log.info("request", {
    requestId,
    method: request.method,
    path: path.slice(0, 300),
    status: result.status,
    project,
    ms: clock.now() - begun,
  });
  return result;
}

const textOf = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value);

/** A Host header that is one: it becomes part of links. */
function hostOf({ headers }: IncomingMessage): string | undefined {
  return headers.host !== undefined && /^[A-Za-z0-9.[\]:-]{1,255}$/.test(headers.host) ? headers.host : undefined;
}

function send(request: IncomingMessage, response: ServerResponse, { status, headers, ...given }: Answer): void {
  if (response.destroyed) return;
  const json = given.json ?? (given.body === undefined ? undefined : JSON.stringify(given.body));
  const bytes = Buffer.from(json ?? "");
  const type = json === undefined ? {} : { "content-type": "application/json" };
  const length = status === 204 ? {} : { "content-length": bytes.length };
  // A body that is not read would hold its connection.
  const close = request.complete ? {} : { connection: "close" };
  response.writeHead(status, { ...type, ...length, ...headers, ...close });
  response.end(request.method === "HEAD" ? "" : bytes);
}

function measures(metrics: Metrics): (method: string, status: number, seconds: number) => void {
  const duration = metrics.histogram({
    name: "causeway_magnum_api_request_duration_seconds",
    help: "Duration of requests to the Magnum API.",
    labels: ["method", "status"],
  });
  return (method, status, seconds) => duration.observe(seconds, { method, status: String(status) });
}
