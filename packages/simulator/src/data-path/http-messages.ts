import type { Frontend } from "./model.ts";

/** Pages that HAProxy writes itself. */
const pages: Readonly<Record<number, readonly [reason: string, text: string]>> = {
  400: ["Bad request", "Your browser sent an invalid request."],
  403: ["Forbidden", "Request forbidden by administrative rules."],
  408: ["Request Time-out", "Your browser didn't send a complete request in time."],
  502: ["Bad Gateway", "The server returned an invalid or incomplete response."],
  503: ["Service Unavailable", "No server is available to handle this request."],
  504: ["Gateway Time-out", "The server didn't respond in time."],
};

/** A response that the load balancer writes itself; `headers` alternate names and values. */
export interface OwnPage {
  readonly status: number;
  readonly reason: string;
  readonly headers: readonly string[];
  readonly body: string;
}

/** HAProxy's page for a status: 400, 403, 408, 502, 503 or 504. */
export function errorPage(status: number): OwnPage {
  const [reason, text] = pages[status] ?? ["Error", ""];
  const body = `<html><body><h1>${status} ${reason}</h1>\n${text}\n</body></html>\n`;
  const headers = ["content-length", String(body.length), "cache-control", "no-cache", "content-type", "text/html"];
  return { status, reason, headers, body };
}

const reasons: Readonly<Record<number, string>> = {
  301: "Moved Permanently",
  302: "Found",
  303: "See Other",
  307: "Temporary Redirect",
  308: "Permanent Redirect",
};

/** The response of a redirecting L7 policy. Permanent redirects (301, 308) may be cached. */
export function redirectPage(code: number, location: string): OwnPage {
  const headers = ["content-length", "0", "location", location];
  const cache = code === 301 || code === 308 ? [] : ["cache-control", "no-cache"];
  return { status: code, reason: reasons[code] ?? "Found", headers: [...headers, ...cache], body: "" };
}

/** A page as it is written to a connection that ends with it. */
export function rawPage({ status, reason, headers, body }: OwnPage): string {
  const lines = headers.flatMap((value, i) => (i % 2 === 0 ? `${value}: ${headers[i + 1] ?? ""}` : []));
  return [`HTTP/1.1 ${status} ${reason}`, ...lines, "connection: close", "", body].join("\r\n");
}

/** Headers of one connection only; Node writes its own. */
const hops = new Set(["connection", "keep-alive", "proxy-connection", "transfer-encoding"]);

/** Node's `rawHeaders` as pairs of name and value. */
export function pairsOf(raw: readonly string[]): (readonly [string, string])[] {
  return raw.flatMap((name, i) => (i % 2 === 0 ? [[name, raw[i + 1] ?? ""] as const] : []));
}

/** What is known of a client's request apart from its headers. */
export interface ForwardedFacts {
  readonly source: string;
  readonly clientCertificate: ClientCertificate | undefined;
  /** The value of the cookie that the load balancer itself has set. */
  readonly hidesServerCookie: boolean;
}

/** A client certificate, as the headers X-SSL-… have it. */
export interface ClientCertificate {
  readonly subject: Readonly<Record<string, string>>;
  readonly issuer: Readonly<Record<string, string>>;
  readonly sha1: string;
  readonly notBefore: string;
  readonly notAfter: string;
}

/** The headers that a member gets: the client's, with those that the listener inserts. */
export function forwardedHeaders(
  raw: readonly string[],
  frontend: Frontend,
  { source, clientCertificate, hidesServerCookie }: ForwardedFacts,
): string[] {
  const set = insertedHeaders(frontend, clientCertificate);
  const switching = asksForSwitch(raw);
  const kept = pairsOf(raw).flatMap(([name, value]): (readonly [string, string])[] => {
    const lower = name.toLowerCase();
    if (set.has(lower) || (switching ? hops.has(lower) && lower !== "connection" : isOfConnection(lower))) return [];
    if (lower !== "cookie" || !hidesServerCookie) return [[name, value]];
    const rest = value.split(";").filter((pair) => !pair.trim().startsWith("SRV="));
    return rest.length === 0 ? [] : [[name, rest.join(";").trim()]];
  });
  const own = frontend.insertHeaders.has("X-Forwarded-For") ? [["X-Forwarded-For", source] as const] : [];
  return [...kept, ...set.values(), ...own].flat();
}

/** Headers of one connection, for a request that does not switch its protocol. */
function isOfConnection(name: string): boolean {
  return hops.has(name) || name === "upgrade" || name === "http2-settings";
}

/**
 * Whether a request asks for another protocol (WebSocket, SPDY) that the proxy passes on as bytes. One with a body, or
 * for HTTP/2 without TLS, as clients try it with any request, is served as if the server had declined.
 */
export function asksForSwitch(raw: readonly string[]): boolean {
  const values = (wanted: string): string[] =>
    pairsOf(raw).flatMap(([name, value]) =>
      name.toLowerCase() === wanted ? value.split(",").map((each) => each.trim().toLowerCase()) : [],
    );
  const protocols = values("upgrade");
  const hasBody =
    values("transfer-encoding").length > 0 || values("content-length").some((length) => Number(length) !== 0);
  return protocols.length > 0 && values("connection").includes("upgrade") && !protocols.includes("h2c") && !hasBody;
}

/** A body without a length keeps its framing whatever the method: Node frames none of a DELETE by itself. */
export function framing(raw: readonly string[]): readonly string[] {
  return pairsOf(raw).some(([name]) => name.toLowerCase() === "transfer-encoding")
    ? ["transfer-encoding", "chunked"]
    : [];
}

/** By their names in lower case. They replace what the client sent. */
function insertedHeaders(
  { insertHeaders, port, protocol }: Frontend,
  certificate: ClientCertificate | undefined,
): Map<string, readonly [string, string]> {
  const tls = protocol === "TERMINATED_HTTPS";
  const values: Readonly<Record<string, string>> = {
    "X-Forwarded-Port": String(port),
    "X-Forwarded-Proto": tls ? "https" : "http",
    ...(tls ? certificateHeaders(certificate) : {}),
  };
  const wanted = Object.entries(values).filter(([name]) => insertHeaders.has(name));
  return new Map(wanted.map((pair) => [pair[0].toLowerCase(), pair]));
}

function certificateHeaders(certificate: ClientCertificate | undefined): Record<string, string> {
  return {
    "X-SSL-Client-Verify": "0",
    "X-SSL-Client-Has-Cert": certificate ? "1" : "0",
    "X-SSL-Client-DN": certificate ? `"${distinguished(certificate.subject)}"` : "",
    "X-SSL-Client-CN": certificate ? `"${certificate.subject["CN"] ?? ""}"` : "",
    "X-SSL-Issuer": certificate ? `"${distinguished(certificate.issuer)}"` : "",
    "X-SSL-Client-SHA1": certificate ? `"${certificate.sha1}"` : "",
    "X-SSL-Client-Not-Before": certificate ? `"${certificate.notBefore}"` : "",
    "X-SSL-Client-Not-After": certificate ? `"${certificate.notAfter}"` : "",
  };
}

const distinguished = (name: Readonly<Record<string, string>>): string =>
  Object.entries(name)
    .map(([key, value]) => `/${key}=${value}`)
    .join("");

/** The headers that a client gets: the member's, with the cookie of the session. */
export function returnedHeaders(raw: readonly string[], serverCookie: string | undefined): string[] {
  const kept = pairsOf(raw).filter(([name]) => !hops.has(name.toLowerCase()));
  const cookie = [
    ["set-cookie", `SRV=${serverCookie}; path=/`],
    ["cache-control", "private"],
  ];
  return [...kept, ...(serverCookie === undefined ? [] : cookie)].flat();
}
