import { gzipSync } from "node:zlib";
import type { Generator, Step } from "../input.ts";
import { FIXED, objectOf, pathOf } from "../objects.ts";
import type { Random } from "../random.ts";
import { hostileText } from "../values.ts";
import { jwt } from "./reads.ts";

const MOST = 12_000;

/** Headers over HTTP/2, and whole requests as bytes over HTTP/1.1. */
export const header: Generator = (random) => {
  if (random.chance(0.03)) return [raw(random)];
  const list = pathOf("configmaps");
  const visible = (text: string): string => text.replaceAll(/[^\x20-\x7e]/g, "x").slice(0, MOST);
  const n = random.size(1000);
  const accept = (): string =>
    random.pick([
      () => Array.from({ length: n }, (_, i) => `application/x${i};q=0.${i}`).join(","),
      () => "application/json;as=Table;v=v1;g=meta.k8s.io,".repeat(n),
      () => `application/json;${"a=b;".repeat(n)}`,
      () => `application/json;q=${"0".repeat(n)}`,
      () => ",".repeat(n),
      () => ";".repeat(n),
      () => `application/json;a="${"\\".repeat(n)}`,
      () => visible(hostileText(random)),
      () =>
        random.pick([
          "application/yaml",
          "application/vnd.kubernetes.protobuf",
          "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
          "application/cbor",
          "*/*",
        ]),
    ])();
  const headers = random.pick<() => Record<string, string>>([
    () => ({ accept: visible(accept()) }),
    () => ({ "accept-encoding": visible(`${"gzip;q=0.1,".repeat(n)}*`) }),
    () => ({
      authorization: `Bearer ${visible(random.pick([hostileText(random), jwt(random), "a.".repeat(n), "eyJ".repeat(n)]))}`,
    }),
    () => ({ authorization: visible(random.pick(["Basic ", "Negotiate ", "bearer", ""]) + hostileText(random)) }),
    () => ({
      "impersonate-user": visible(hostileText(random)),
      [`impersonate-extra-${random.word()}`]: visible("%".repeat(n)),
    }),
    () => ({ "impersonate-user": "u", "impersonate-group": visible("g,".repeat(n)) }),
    () => Object.fromEntries(Array.from({ length: Math.min(n, 90) }, (_, i) => [`impersonate-extra-k${i}`, "v"])),
    () => ({ "user-agent": visible(hostileText(random)), "audit-id": visible(hostileText(random)) }),
    () => ({ "x-remote-user": "system:admin", "x-forwarded-for": visible("1.2.3.4,".repeat(n)) }),
    () => Object.fromEntries(Array.from({ length: Math.min(n, 200) }, (_, i) => [`x-h${i}`, "v"])),
    () => ({ cookie: visible("a=b; ".repeat(n)) }),
    () => ({ "if-none-match": visible('"a",'.repeat(n)), range: visible("bytes=" + "0-0,".repeat(n)) }),
    () => ({ traceparent: visible(hostileText(random)), "kubectl-command": visible(hostileText(random)) }),
  ])();
  if (random.chance(0.6)) return [{ method: "GET", path: random.chance(0.7) ? list : pathOf("pods", FIXED), headers }];
  return [content(random)];
};

/** Types and encodings of content that do not fit the content. */
function content(random: Random): Step {
  const object = JSON.stringify(objectOf("configmaps", "fuzz"));
  const types = [
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
    "text/plain",
    "application/json-patch+json",
    "application/cbor",
    "",
    "application/json;".repeat(random.size(500)),
  ];
  const bomb = (): Buffer =>
    gzipSync(Buffer.alloc(random.pick([1e3, 1e5, 1e6, 5e6]), random.pick([" ", "[", "0", "a"])));
  const body = random.pick<() => string | Uint8Array>([
    () => object,
    () => gzipSync(object),
    bomb,
    () => hostileText(random),
  ])();
  const encoding: Record<string, string> = random.chance(0.7)
    ? { "content-encoding": random.pick(["gzip", "gzip", "deflate", "br", "gzip, gzip", "identity"]) }
    : {};
  return {
    method: random.pick(["POST", "PUT"]),
    path: `${pathOf("configmaps")}?dryRun=All`,
    headers: { "content-type": random.pick(types), ...encoding },
    body,
  };
}

/** A request as bytes: well-formed, or damaged. */
function raw(random: Random): Step {
  const n = random.size(3000);
  const lines = random.pick([
    () => [`GET ${pathOf("configmaps")} HTTP/1.1`, "Host: a", `X-Long: ${"a".repeat(n)}`],
    () => ["GET / HTTP/1.1", ...Array.from({ length: n }, (_, i) => `X-${i}: v`)],
    () => ["POST /api/v1/namespaces HTTP/1.1", "Host: a", "Content-Length: 5", "Content-Length: 6", "", "hello"],
    () => ["POST /api/v1/namespaces HTTP/1.1", "Host: a", "Transfer-Encoding: chunked", "", "FFFFFFFFFFFFFFFF", "x"],
    () => [
      "POST /api/v1/namespaces HTTP/1.1",
      "Host: a",
      "Transfer-Encoding: chunked",
      "Content-Type: application/json",
      "",
      "1;" + "a=b;".repeat(n),
      "{",
      "0",
      "",
      "",
    ],
    () => [
      "GET /api HTTP/1.1",
      "Host: a",
      "Connection: Upgrade",
      "Upgrade: websocket",
      "Sec-WebSocket-Version: 13",
      `Sec-WebSocket-Key: ${"a".repeat(n)}`,
    ],
    () => ["GET /api HTTP/1.1", "Host: a", "Connection: Upgrade", "Upgrade: SPDY/3.1"],
    () => [
      `GET /api/v1/pods?watch=true HTTP/1.1`,
      "Host: a",
      "Connection: Upgrade",
      "Upgrade: websocket",
      "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ],
    () => [`${"G".repeat(n)} / HTTP/1.1`, "Host: a"],
    () => [`GET /${"a".repeat(n)} HTTP/9.9`, "Host: a"],
    () => ["OPTIONS * HTTP/1.1", "Host: a"],
    () => ["GET http://[/ HTTP/1.1", "Host: a"],
    () => ["CONNECT a:1 HTTP/1.1", "Host: a"],
    () => ["PRI * HTTP/2.0", "", "SM"],
    () => ["GET /api HTTP/1.1", "Host: a", "Expect: 100-continue", "Content-Length: 10"],
    () => ["GET /api HTTP/1.1", "Host: a", "", "GET /version HTTP/1.1", "Host: a"],
    () => [hostileText(random)],
  ])();
  const text = `${lines.join("\r\n")}\r\n\r\n`;
  return { method: "RAW", path: "/", raw: random.chance(0.8) ? text : text.replaceAll("\r", "") };
}
