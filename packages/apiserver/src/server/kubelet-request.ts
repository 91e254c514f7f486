import {
  request as httpRequest,
  STATUS_CODES,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from "node:http";
import type { TLSSocket } from "node:tls";
import { refuseInformational, refuseOddResponses } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";
import type { Call } from "../contract/call.ts";
import type { Response } from "../contract/exchange.ts";
import { apiError, badRequest } from "../errors/status.ts";
import { hostHeader, kubeletAddress } from "../kubelets/address.ts";
import { isSet } from "./connect-admission.ts";
import { isOver, whenOver } from "./pace.ts";
import { canTakeOver } from "./pod-upgrade.ts";
import type { UpgradeResponse } from "./upgrade.ts";

/** Headers that are between the client and this server. */
const OWN_HEADERS = /^(authorization|host|impersonate-.*|x-remote-.*|transfer-encoding|content-length|audit-id)$/;
const LONGEST_ERROR = 2048;

/** Passes a request for a pod's log, exec, attach or port-forward on to its kubelet. Throws 400, 429 and 503. */
export async function askKubelet(
  call: Call,
  where: { pod: KubeObject; node: KubeObject; container: string },
  { query, response }: Ask,
): Promise<void> {
  const { kubelets } = call.cluster;
  if (!kubelets) throw new Error("no kubelets");
  const upgrade = canTakeOver(response) ? response : undefined;
  if (call.subresource !== "log" && !upgrade) throw badRequest("Upgrade request required");
  const protocols = upgrade && protocolsOf(upgrade.request.headers);
  const gone = new AbortController();
  whenOver(response, () => gone.abort());
  const address = kubeletAddress(where.node);
  const socket = await kubelets.connect(address.host, address.port, gone.signal);
  if (isOver(response)) return void socket.destroy();
  const path = pathOf(call, where, query);
  const headers = { host: hostHeader(address) };
  if (upgrade)
    return join(
      upgrade,
      send(socket, {
        method: upgrade.request.method ?? "GET",
        path,
        headers: { ...passed(upgrade.request.headers), ...protocols, ...headers },
      }),
      socket,
    );
  return stream(send(socket, { method: "GET", path, headers }), { socket, response });
}

interface Ask {
  readonly query: URLSearchParams;
  readonly response: Response;
}

function send(
  socket: TLSSocket,
  options: { method: string; path: string; headers: IncomingHttpHeaders },
): ClientRequest {
  const sent = httpRequest({ ...options, createConnection: () => socket });
  sent.end();
  return sent;
}

/** The log, as it comes. */
function stream(sent: ClientRequest, { socket, response }: { socket: TLSSocket; response: Response }): Promise<void> {
  whenOver(response, () => socket.destroy());
  return new Promise((resolve, reject) => {
    sent.once("error", (error) => reject(unavailable(error)));
    refuseOddResponses(sent, (error) => reject(unavailable(error)));
    sent.once("response", (answer) => {
      const status = answer.statusCode ?? 500;
      if (status !== 200) {
        return void beginningOf(answer).then((body) => {
          socket.destroy();
          reject(apiError(status, reasonOf(status), body.trim() || `the kubelet responded with ${status}`));
        });
      }
      response.isStreamed = true;
      response.statusCode = 200;
      response.setHeader("content-type", answer.headers["content-type"] ?? "text/plain");
      if ("flushHeaders" in response) response.flushHeaders();
      else response.writeHead(200);
      // Both kinds of response are written the same way, but their types do not say so.
      answer.pipe(response as NodeJS.WritableStream);
      answer.once("error", () => response.destroy());
      answer.once("aborted", () => response.destroy());
      resolve();
    });
  });
}

/** The connection, once the kubelet agreed to it. Its refusal is passed on. */
function join(upgrade: UpgradeResponse, sent: ClientRequest, kubelet: TLSSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    sent.once("error", (error) => {
      kubelet.destroy();
      reject(unavailable(error));
    });
    refuseInformational(sent, (error) => reject(unavailable(error)));
    sent.once("response", (answer) => {
      void beginningOf(answer).then((body) => {
        kubelet.destroy();
        const status = answer.statusCode ?? 500;
        upgrade.writeHead(status, { "content-type": answer.headers["content-type"] ?? "text/plain" });
        upgrade.end(body);
        resolve();
      });
    });
    sent.once("upgrade", (answer, _socket, head) => {
      const { socket: client, head: early } = upgrade.takeOver();
      client.write(headOf(answer));
      if (head.length > 0) client.write(head);
      if (early.length > 0) kubelet.write(early);
      const end = (): void => {
        client.destroy();
        kubelet.destroy();
      };
      for (const socket of [client, kubelet]) {
        socket.setTimeout(0);
        socket.on("error", end).once("close", end);
      }
      client.pipe(kubelet);
      kubelet.pipe(client);
      resolve();
    });
  });
}

function headOf({ statusCode = 101, rawHeaders }: IncomingMessage): string {
  const lines = [`HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode] ?? ""}`];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`);
  return `${lines.join("\r\n")}\r\n\r\n`;
}

async function beginningOf(answer: IncomingMessage): Promise<string> {
  let body = "";
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      body += chunk.toString("utf8");
      if (body.length > LONGEST_ERROR) break;
    }
  } catch {
    // What came is shown.
  }
  return body.slice(0, LONGEST_ERROR);
}

/**
 * Kubelets of this release know WebSockets up to version 4 of the channels: clients of later ones try SPDY when they
 * are refused. Throws 400.
 */
function protocolsOf(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  if (headers.upgrade?.toLowerCase() !== "websocket") return {};
  const asked = headers["sec-websocket-protocol"];
  if (asked === undefined) return {};
  const known = asked.split(",").map((each) => each.trim());
  const left = known.filter((each) => each !== "v5.channel.k8s.io" && !/^SPDY\/|^base64url\.bearer\./.test(each));
  if (left.length === 0)
    throw badRequest(
      `unable to upgrade: no protocol of ${JSON.stringify(asked.slice(0, 200))} is supported; use SPDY/3.1`,
    );
  return { "sec-websocket-protocol": left.join(", ") };
}

function passed(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OWN_HEADERS.test(name)));
}

/**
 * Source: the paths of kubelet's server, and of k8s.io/kubernetes/pkg/registry/core/pod, LogLocation and
 * StreamLocation.
 */
function pathOf(
  { namespace, name, subresource }: Call,
  { container }: { container: string },
  query: URLSearchParams,
): string {
  const encoded = [namespace, name, ...(subresource === "portforward" ? [] : [container])]
    .map(encodeURIComponent)
    .join("/");
  const sent = new URLSearchParams();
  if (subresource === "log") {
    for (const flag of ["follow", "previous", "timestamps"]) if (isSet(query, flag)) sent.set(flag, "true");
    for (const value of ["sinceSeconds", "sinceTime", "tailLines", "limitBytes"]) {
      const found = query.get(value);
      if (found !== null && found !== "") sent.set(value, found);
    }
    const only = query.get("stream");
    if (only !== null && only !== "" && only !== "All") sent.set("stream", only);
    return withQuery(`/containerLogs/${encoded}`, sent);
  }
  if (subresource === "portforward") {
    for (const ports of query.getAll("ports")) for (const port of ports.split(",")) sent.append("port", port);
    return withQuery(`/portForward/${encoded}`, sent);
  }
  for (const [field, parameter] of [
    ["stdin", "input"],
    ["stdout", "output"],
    ["stderr", "error"],
    ["tty", "tty"],
  ] as const) {
    if (isSet(query, field)) sent.set(parameter, "1");
  }
  if (subresource === "exec") for (const word of query.getAll("command")) sent.append("command", word);
  return withQuery(`/${subresource}/${encoded}`, sent);
}

function withQuery(path: string, query: URLSearchParams): string {
  const asText = query.toString();
  return asText === "" ? path : `${path}?${asText}`;
}

function unavailable(error: Error): Error {
  return apiError(503, "ServiceUnavailable", `error dialing backend: ${error.message}`);
}

function reasonOf(status: number): string {
  if (status === 400) return "BadRequest";
  if (status === 404) return "NotFound";
  return status >= 500 ? "InternalError" : "Unknown";
}
