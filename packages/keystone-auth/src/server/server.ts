import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import {
  followCertificate,
  InputError,
  LimitExceeded,
  messageOf,
  readBounded,
  type Clock,
  type Log,
  type Metrics,
} from "@causeway/foundation";
import type { ReviewResponse } from "../review/review.ts";
import { secureContext } from "./certificate.ts";

/** Where the webhook listens, and what responds to reviews. */
export interface ServerOptions {
  readonly host: string;
  readonly port: number;
  readonly certificateFile: string;
  readonly keyFile: string;
  /** PEM: only clients with a certificate of these authorities may send reviews. Undefined: every client. */
  readonly clientCaFile?: string | undefined;
  readonly review: (body: string) => Promise<ReviewResponse>;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** A webhook that listens: `port` is the one it got where 0 was given. */
export interface WebhookServer {
  readonly port: number;
  close(): Promise<void>;
}

/** A SubjectAccessReview has the user's groups and extra; a megabyte is a thousand times what they have. */
const LARGEST = 1024 * 1024;
const MOST_CONNECTIONS = 1_000;
const MOST_REVIEWS = 1_000;
const REQUEST_TIMEOUT = 30_000;

/** POST /webhook, GET /healthz and GET /metrics over HTTPS. @throws KEYSTONE_AUTH_CERTIFICATE, KEYSTONE_AUTH_PORT */
export async function serveWebhook(options: ServerOptions): Promise<WebhookServer> {
  const measures = measuresOf(options.metrics);
  let underWay = 0;
  const secure = secureContext(options);
  const server = createServer({ ...secure, minVersion: "TLSv1.2" }, (request, response) => {
    if (underWay >= MOST_REVIEWS) return send(response, { status: 429, body: "too many requests\n" });
    underWay += 1;
    const begun = options.clock.now();
    void respond(options, request)
      .catch((error: unknown): Answer => {
        options.log.error("a review failed", { error: messageOf(error) });
        return { status: 500, body: "internal error\n" };
      })
      .then((answer) => {
        underWay -= 1;
        measures(request, answer, (options.clock.now() - begun) / 1000);
        send(response, answer);
      });
  });
  server.maxConnections = MOST_CONNECTIONS;
  server.requestTimeout = REQUEST_TIMEOUT;
  server.headersTimeout = 10_000;
  server.keepAliveTimeout = 120_000;
  server.listen(options.port, options.host);
  try {
    await once(server, "listening");
  } catch (cause) {
    throw new InputError("KEYSTONE_AUTH_PORT", `The webhook cannot listen at ${options.host}:${options.port}.`, {
      cause,
      hint: "Choose another address or port with --listen.",
    });
  }
  const { clock, log } = options;
  void followCertificate({ server, first: secure, read: () => secureContext(options), clock, log }, options.signal);
  const bound = server.address();
  return {
    port: typeof bound === "object" && bound !== null ? bound.port : options.port,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

interface Answer {
  readonly status: number;
  readonly type?: string;
  /** JSON unless it is a text. */
  readonly body: unknown;
}

async function respond(options: ServerOptions, request: IncomingMessage): Promise<Answer> {
  const [path] = (request.url ?? "/").split("?");
  if (path === "/healthz") return { status: 200, body: "ok" };
  if (path === "/metrics")
    return { status: 200, type: options.metrics.contentType, body: await options.metrics.render() };
  if (path !== "/webhook") return { status: 404, body: "not found\n" };
  if (request.method !== "POST") return { status: 405, body: "method not allowed\n" };
  if (options.clientCaFile !== undefined && !isAuthorized(request))
    return { status: 403, body: "a client certificate is needed\n" };
  try {
    return await options.review((await readBounded(request, LARGEST)).toString("utf8"));
  } catch (error) {
    if (error instanceof LimitExceeded) return { status: 413, body: `${error.message}\n` };
    throw error;
  }
}

function isAuthorized({ socket }: IncomingMessage): boolean {
  return "authorized" in socket && socket.authorized === true;
}

function send(response: ServerResponse, { status, type, body }: Answer): void {
  if (response.destroyed) return;
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const plain = typeof body === "string" ? "text/plain; charset=utf-8" : "application/json";
  // What was not read of a body that is too large goes with the connection.
  if (status === 413) response.setHeader("connection", "close");
  response.writeHead(status, { "content-type": type ?? plain, "content-length": Buffer.byteLength(text) });
  response.end(text);
}

function measuresOf(metrics: Metrics): (request: IncomingMessage, answer: Answer, seconds: number) => void {
  const seconds = metrics.histogram({
    name: "causeway_keystone_auth_request_duration_seconds",
    help: "Duration of requests to the webhook.",
    labels: ["status"],
  });
  return (request, { status }, taken) => {
    if (request.url === "/webhook") seconds.observe(taken, { status: String(status) });
  };
}
