import {
  request as requestOf,
  type ClientRequest,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from "node:http";
import type { Socket } from "node:net";
import { pipeline } from "node:stream";
import { TLSSocket } from "node:tls";
import { connectMember, type Connected } from "./connect-member.ts";
import { decide } from "./decide.ts";
import {
  errorPage,
  forwardedHeaders,
  framing,
  pairsOf,
  rawPage,
  redirectPage,
  returnedHeaders,
  type ClientCertificate,
  type OwnPage,
} from "./http-messages.ts";
import type { RequestFacts } from "./match-rule.ts";
import type { Backend, Frontend } from "./model.ts";
import type { ProxyContext } from "./proxy-context.ts";
import { beginSession, learnSession, ownCookie, sessionMember } from "./sessions.ts";

/** HAProxy takes no more header lines (`tune.http.maxhdr`). */
const MOST_HEADERS = 101;

/** What is requested of a connection, and by whom. */
interface ProxyRequest {
  readonly frontend: Frontend;
  readonly request: IncomingMessage;
  readonly facts: RequestFacts;
  readonly certificate: ClientCertificate | undefined;
  readonly source: string;
}

/** Where the response goes: a response of Node's, or the bare connection of an upgrade. */
interface Answerer {
  page(page: OwnPage): void;
  forward(asked: ProxyRequest, pool: Backend, connected: Connected): void;
}

/** Serves requests of a listener. The body of a request is streamed; what is decided is decided on its header. */
export function httpListener(context: ProxyContext): RequestListener {
  return (request, response) => {
    // The client may be gone before its response is written.
    response.on("error", () => {});
    void serve(context, request, {
      page: (page) => writePage(response, page),
      forward: (asked, pool, connected) => forward(context, { asked, pool, connected }, response),
    });
  };
}

/** Serves requests to change the protocol (WebSocket): once the member accepts, bytes are passed on both ways. */
export function upgradeListener(context: ProxyContext) {
  return (request: IncomingMessage, socket: Socket, head: Buffer): void => {
    socket.on("error", () => {});
    void serve(context, request, {
      page: (page) => void socket.end(rawPage(page)),
      forward: (asked, pool, connected) => forwardUpgrade(context, { asked, pool, connected }, { socket, head }),
    });
  };
}

async function serve(context: ProxyContext, request: IncomingMessage, answerer: Answerer): Promise<void> {
  const frontend = context.frontend();
  const headers = pairsOf(request.rawHeaders);
  if (!frontend || headers.length > MOST_HEADERS) return answerer.page(errorPage(frontend ? 400 : 503));
  const certificate = certificateOf(request.socket);
  const facts = { target: request.url ?? "/", headers, clientSubject: certificate?.subject };
  const decision = decide(frontend, facts);
  if (decision.type === "deny") return answerer.page(errorPage(403));
  if (decision.type === "redirect") return answerer.page(redirectPage(decision.code, decision.location));
  if (decision.type === "unavailable") return answerer.page(errorPage(503));
  const { pool } = decision;
  const source = context.source(request.socket);
  const memory = context.memory(pool.id);
  const connected = await connectMember({
    pool,
    memory,
    table: context.table,
    preferred: sessionMember(pool, memory, { source, request: facts }),
    client: context.client(request.socket, frontend),
    timeout: frontend.connectTimeout,
    tls: context.memberTls(pool),
  });
  if (!connected) return answerer.page(errorPage(503));
  if (request.socket.destroyed) return void connected.socket.destroy();
  beginSession(pool, memory, { source, member: connected.member });
  answerer.forward({ frontend, request, facts, certificate, source }, pool, connected);
}

interface ForwardTarget {
  readonly asked: ProxyRequest;
  readonly pool: Backend;
  readonly connected: Connected;
}

function send({ asked, pool, connected }: ForwardTarget): ClientRequest {
  const { frontend, request, source, certificate } = asked;
  const hidesServerCookie = pool.persistence?.type === "HTTP_COOKIE";
  const headers = forwardedHeaders(request.rawHeaders, frontend, {
    source,
    clientCertificate: certificate,
    hidesServerCookie,
  });
  const upstream = requestOf({
    method: request.method ?? "GET",
    path: asked.facts.target,
    headers: [...headers, ...framing(request.rawHeaders)],
    setHost: false,
    createConnection: () => connected.socket,
  });
  connected.socket.setTimeout(frontend.memberTimeout, () => connected.socket.destroy(new TimedOut()));
  return upstream;
}

class TimedOut extends Error {}

function forward(context: ProxyContext, forwarding: ForwardTarget, response: ServerResponse): void {
  const { asked, pool, connected } = forwarding;
  const upstream = send(forwarding);
  const memory = context.memory(pool.id);
  upstream.on("continue", () => response.writeContinue());
  upstream.on("response", (answer) => {
    learnSession(pool, memory, { member: connected.member, setCookies: answer.headers["set-cookie"] ?? [] });
    const cookie = ownCookie(pool, connected.member, asked.facts);
    response.sendDate = false;
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage ?? "", [
      ...returnedHeaders(answer.rawHeaders, cookie),
      ...closing(response),
    ]);
    answer.once("end", () => response.addTrailers(trailersOf(answer)));
    pipeline(answer, response, () => connected.socket.destroy());
  });
  upstream.on("information", ({ statusCode }) => {
    if (statusCode === 102) response.writeProcessing();
  });
  upstream.on("error", (error) => {
    connected.socket.destroy();
    if (response.headersSent) response.destroy();
    else writePage(response, errorPage(error instanceof TimedOut ? 504 : 502));
  });
  response.on("close", () => connected.socket.destroy());
  asked.request.on("error", () => {});
  asked.request.once("end", () => upstream.addTrailers(trailersOf(asked.request)));
  asked.request.pipe(upstream);
}

function trailersOf({ rawTrailers }: IncomingMessage): [string, string][] {
  return pairsOf(rawTrailers).map(([name, value]) => [name, value]);
}

/**
 * A client that was not bidden to send its body may send it or not: nothing on the connection after the response would
 * be certain.
 */
function closing(response: ServerResponse): readonly string[] {
  const { req: request } = response;
  const waits = request.headers.expect?.toLowerCase() === "100-continue";
  return waits && !request.complete && request.readableLength === 0 ? ["connection", "close"] : [];
}

function forwardUpgrade(
  context: ProxyContext,
  forwarding: ForwardTarget,
  { socket, head }: { readonly socket: Socket; readonly head: Buffer },
): void {
  const { asked, connected } = forwarding;
  const upstream = send(forwarding);
  upstream.on("upgrade", (answer, member, first) => {
    socket.write(headOf(answer));
    socket.write(first);
    member.write(head);
    member.setTimeout(asked.frontend.memberTimeout, () => member.destroy());
    // It is no request any more that could be late.
    socket.removeAllListeners("timeout");
    socket.setTimeout(asked.frontend.clientTimeout, () => socket.destroy());
    context.join(socket, member);
  });
  upstream.on("response", (answer) => {
    socket.write(headOf(answer, ["connection", "close"]));
    pipeline(answer, socket, () => connected.socket.destroy());
  });
  upstream.on("error", (error) => void socket.end(rawPage(errorPage(error instanceof TimedOut ? 504 : 502))));
  socket.on("close", () => connected.socket.destroy());
  upstream.end();
}

/** Status line and headers. Without a length the end of the connection ends the body. */
function headOf(answer: IncomingMessage, more: readonly string[] = []): string {
  const raw = more.length === 0 ? answer.rawHeaders : [...returnedHeaders(answer.rawHeaders, undefined), ...more];
  const lines = pairsOf(raw).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${answer.statusCode ?? 502} ${answer.statusMessage ?? ""}`, ...lines, "", ""].join("\r\n");
}

function writePage(response: ServerResponse, { status, reason, headers, body }: OwnPage): void {
  response.sendDate = false;
  response.writeHead(status, reason, [...headers, ...closing(response)]);
  response.end(body);
}

function certificateOf(socket: Socket): ClientCertificate | undefined {
  const found = socket instanceof TLSSocket ? socket.getPeerCertificate() : undefined;
  if (!found || Object.keys(found).length === 0) return undefined;
  const plain = (name: object): Record<string, string> =>
    Object.fromEntries(Object.entries(name).map(([key, value]) => [key, String(value)]));
  return {
    subject: plain(found.subject),
    issuer: plain(found.issuer),
    sha1: found.fingerprint.replaceAll(":", ""),
    notBefore: found.valid_from,
    notAfter: found.valid_to,
  };
}
