import { createServer as createHttp, type IncomingMessage, type Server as HttpServer } from "node:http";
import { createServer as createHttps } from "node:https";
import type { Socket } from "node:net";
import type { SecureVersion, TlsOptions } from "node:tls";
import type { KeyTables } from "../key-manager/model.ts";
import { authorities, contextFor, namedContext, tlsMaterial } from "./certificates.ts";
import { asksForSwitch, errorPage, rawPage } from "./http-messages.ts";
import { httpListener, upgradeListener } from "./http-proxy.ts";
import type { Frontend, FrontendTls } from "./model.ts";
import type { ProxyContext } from "./proxy-context.ts";
import { serveTcp } from "./tcp-proxy.ts";

/** HAProxy's buffer, less what it keeps for rewriting. */
const LARGEST_HEADER = 15 * 1024;

/** What serves the connections of a listener. */
export interface ConnectionServer {
  serve(socket: Socket): void;
}

/** `why`: it cannot serve. */
export type MadeServer = ConnectionServer | { readonly why: string };

/** The server for a listener's protocol: TCP and HTTPS pass bytes, HTTP and TERMINATED_HTTPS are proxied. */
export function serverFor(frontend: Frontend, context: ProxyContext, keys: KeyTables): MadeServer {
  if (frontend.protocol === "TCP" || frontend.protocol === "HTTPS")
    return { serve: (socket) => void serveTcp(context, socket) };
  if (!frontend.tls) return handlingHttp(createHttp(httpOptions, httpListener(context)), context);
  const tls = tlsOptions(frontend.tls, keys);
  if ("why" in tls) return tls;
  const server = createHttps({ ...httpOptions, ...tls }, httpListener(context));
  server.on("tlsClientError", (_, socket) => socket.destroy());
  if (frontend.tls.clientAuthentication === "OPTIONAL") {
    server.on("secureConnection", (socket) => {
      // A certificate is not required; one that cannot be verified is refused.
      if (!socket.authorized && Object.keys(socket.getPeerCertificate()).length > 0) socket.destroy();
    });
  }
  return handlingHttp(server, context);
}

const httpOptions = {
  maxHeaderSize: LARGEST_HEADER,
  // The listener's own timeouts are set on each connection.
  requestTimeout: 0,
  headersTimeout: 0,
  keepAliveTimeout: 0,
  insecureHTTPParser: false,
  shouldUpgradeCallback: ({ rawHeaders }: IncomingMessage) => asksForSwitch(rawHeaders),
} as const;

function handlingHttp(server: HttpServer, context: ProxyContext): ConnectionServer {
  server.maxHeadersCount = 0;
  server.on("upgrade", (request, socket, head) => {
    // Node types it as a stream; it is the connection.
    upgradeListener(context)(request, socket as Socket, head);
  });
  // The member decides whether the client continues.
  server.on("checkContinue", (request, response) => void server.emit("request", request, response));
  server.on("clientError", (_, socket) => {
    if (socket.writable) socket.end(rawPage(errorPage(400)));
    else socket.destroy();
  });
  setTimeouts(server, context);
  return { serve: (socket) => void server.emit("connection", socket) };
}

/** `timeout client` of HAProxy: it runs while the client has to send something, or to receive it. */
function setTimeouts(server: HttpServer, context: ProxyContext): void {
  const begun = new WeakSet<Socket>();
  const idle = (socket: Socket): void => {
    socket.setTimeout(context.frontend()?.clientTimeout ?? 50_000);
  };
  server.on("connection", idle);
  server.on("secureConnection", idle);
  server.on("request", (request, response) => {
    const { socket } = request;
    begun.add(socket);
    // While a member is working on a complete request, its own timeout counts.
    request.once("end", () => {
      if (!response.writableEnded) socket.setTimeout(0);
    });
    response.once("finish", () => idle(socket));
  });
  server.on("timeout", (socket) => {
    if (begun.has(socket)) socket.destroy();
    else socket.end(rawPage(errorPage(408)));
  });
}

const versions: Readonly<Record<string, SecureVersion>> = {
  TLSv1: "TLSv1",
  "TLSv1.1": "TLSv1.1",
  "TLSv1.2": "TLSv1.2",
  "TLSv1.3": "TLSv1.3",
};

/** Certificates by server name; a client that names none, or one without a certificate, gets the default. */
function tlsOptions(tls: FrontendTls, keys: KeyTables): TlsOptions | { readonly why: string } {
  const offered = (tls.versions ?? ["TLSv1.2", "TLSv1.3"]).flatMap((version) => versions[version] ?? []).sort();
  const how = {
    ...(tls.ciphers === undefined ? {} : { ciphers: tls.ciphers }),
    ...(offered[0] === undefined ? {} : { minVersion: offered[0] }),
    ...(offered.at(-1) === undefined ? {} : { maxVersion: offered.at(-1) }),
  };
  const ca = tls.clientAuthentication === "NONE" ? undefined : authorities(keys, tls.clientCaRef);
  const more = { ...how, ...(ca ? { ca } : {}) };
  const refs = [tls.defaultRef, ...tls.sniRefs].flatMap((ref) => ref ?? []);
  const materials = refs.map((ref) => tlsMaterial(keys, ref));
  const missing = refs.find((_, i) => materials[i] === undefined);
  if (missing !== undefined) return { why: `the certificate ${missing} cannot be read` };
  const contexts = materials.map((material) => material && namedContext(material, more));
  const broken = refs.find((_, i) => contexts[i] === undefined);
  if (broken !== undefined) return { why: `the certificate ${broken} cannot be used` };
  const usable = contexts.flatMap((each) => each ?? []);
  return {
    ...materials[0],
    ...more,
    ...(ca ? { requestCert: true, rejectUnauthorized: tls.clientAuthentication === "MANDATORY" } : {}),
    ALPNProtocols: ["http/1.1", "http/1.0"],
    SNICallback: (name, done) => done(null, contextFor(usable, name) ?? usable[0]?.context),
  };
}
