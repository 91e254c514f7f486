import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import {
  messageOf,
  parseCidr,
  parseIp,
  reachWithin,
  type Log,
  type Reach,
  type ResolveAll,
} from "@causeway/foundation";

/** The way to the audit sink of one control plane, and to nothing else. */
export interface SinkProxy {
  /** With a password: other programs of this machine cannot use it. */
  readonly url: string;
  /** The sink that it leads to from now on. */
  lead(sink: string): void;
  close(): Promise<void>;
}

/** Networks of sinks, and how their names are found. */
export interface SinkProxyOptions {
  readonly networks: readonly string[];
  readonly log: Log;
  /** Default: by /etc/hosts and DNS. */
  readonly resolve?: ResolveAll;
}

const MOST_CONNECTIONS = 64;
/** Ms for a request to the proxy, and for the connection to a sink. */
const TIMEOUT = 10_000;
/** Ms in which neither side sends or reads anything: kube-apiserver itself ends what it does not use in 90 s. */
const IDLE = 120_000;

/**
 * An HTTP proxy (CONNECT) on loopback. kube-apiserver follows redirects and whatever a name leads to: through this
 * proxy it reaches the host and port of the tenant's sink alone, at addresses in the permitted networks.
 */
export async function startSinkProxy({ networks, log, resolve }: SinkProxyOptions): Promise<SinkProxy> {
  const reach = reachWithin(
    networks.flatMap((each) => parseCidr(each) ?? []),
    resolve,
  );
  const password = randomBytes(24).toString("base64url");
  const credentials = `Basic ${Buffer.from(`kube-apiserver:${password}`).toString("base64")}`;
  let sink: URL | undefined;
  let hasRedirected = false;
  const open = new Set<Socket>();
  // A redirect to http:// is requested from the proxy itself.
  const server = createServer((_, response) => response.writeHead(403, { connection: "close" }).end());
  server.maxConnections = MOST_CONNECTIONS;
  server.headersTimeout = TIMEOUT;
  server.on("connection", (socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  server.on("connect", (request, client: Socket, head) => {
    client.on("error", () => client.destroy());
    if (!isSame(request.headers["proxy-authorization"] ?? "", credentials)) return refuse(client, 407);
    if (sink === undefined || authorityOf(`https://${request.url}`) !== authorityOf(sink.href)) {
      // Once: a sink may redirect each batch to another place.
      const write = hasRedirected ? "debug" : "warn";
      hasRedirected = true;
      log[write]("a redirect of an audit sink is not followed", { to: shown(request) });
      return refuse(client, 403);
    }
    return join(client, head, { sink, reach, log });
  });
  await new Promise<void>((resolved, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      server.off("error", reject);
      server.on("error", (error) =>
        log.warn("the proxy to an audit sink could not accept a connection", { error: messageOf(error) }),
      );
      resolved();
    });
  });
  return {
    url: `http://kube-apiserver:${password}@127.0.0.1:${(server.address() as AddressInfo).port}`,
    lead(to) {
      if (sink?.href !== new URL(to).href) hasRedirected = false;
      sink = new URL(to);
    },
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise<void>((done) => server.close(() => done()));
    },
  };
}

/** "HOST:PORT"; undefined: it is no URL. */
function authorityOf(url: string): string | undefined {
  const { hostname, port } = URL.parse(url) ?? {};
  return hostname === undefined ? undefined : `${hostname}:${port || "443"}`;
}

function shown({ url = "" }: IncomingMessage): string {
  return url.slice(0, 253);
}

interface Way {
  readonly sink: URL;
  readonly reach: Reach;
  readonly log: Log;
}

function join(client: Socket, head: Buffer, { sink, reach, log }: Way): void {
  const host = sink.hostname.replace(/^\[(.*)\]$/, "$1");
  const refusal = reach.refusal(sink.href);
  if (refusal !== undefined) return refuse(client, 403);
  const lookup = parseIp(host) === undefined ? { lookup: reach.lookup } : {};
  const far = connect({ host, port: Number(sink.port || "443"), ...lookup });
  let isJoined = false;
  const timer = setTimeout(() => far.destroy(new Error("no connection in time")), TIMEOUT);
  far.once("connect", () => {
    isJoined = true;
    clearTimeout(timer);
    client.write("HTTP/1.1 200 Connection established\r\n\r\n");
    if (head.length > 0) far.write(head);
    far.setTimeout(IDLE, () => far.destroy());
    client.pipe(far).pipe(client);
  });
  far.on("error", (error) => {
    if (isJoined) client.destroy();
    else {
      log.debug("an audit sink cannot be reached", { error: messageOf(error) });
      refuse(client, 502);
    }
  });
  far.once("close", () => {
    clearTimeout(timer);
    if (isJoined) client.destroy();
  });
  // kube-apiserver ends what it uses no more: a sink that does not end its side would keep one of the places.
  client.once("end", () => far.destroySoon());
  client.once("close", () => far.destroy());
}

function refuse(client: Socket, code: 403 | 407 | 502): void {
  const words = { 403: "Forbidden", 407: "Proxy Authentication Required", 502: "Bad Gateway" }[code];
  client.end(`HTTP/1.1 ${code} ${words}\r\nconnection: close\r\n\r\n`);
}

function isSame(given: string, wanted: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}
