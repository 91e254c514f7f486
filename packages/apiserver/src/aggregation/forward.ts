import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from "node:http";
import { CausewayError, messageOf, refuseOddResponses, type KeyPair } from "@causeway/foundation";
import type { Extension, Forwarded } from "../contract/aggregation.ts";
import type { Request, Response } from "../contract/exchange.ts";
import { apiError, badRequest } from "../errors/status.ts";
import type { Transport } from "./transport.ts";

/**
 * Ms until an extension server must have begun to respond, and between two parts of its response, except of a watch.
 */
const RESPONSE_TIMEOUT = 60_000;
/** Bytes of a request's body, as for this server's own resources. */
const LARGEST_BODY = 3 * 1024 * 1024;

/** Credentials, identities, and what concerns one connection only: never passed on. */
const OWN =
  /^(:.*|authorization|host|impersonate-.*|x-remote-.*|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|http2-settings|expect)$/i;
const OF_CONNECTION = /^(connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/i;

/**
 * Passes a request on to an extension server and its response back, each at the pace of the other side. Throws 400, 413
 * and 503. Source: k8s.io/kube-aggregator, handler_proxy.go.
 */
export async function forward(
  transport: Transport,
  client: KeyPair,
  { extension, forwarded, response }: { extension: Extension; forwarded: Forwarded; response: Response },
): Promise<void> {
  const { request, user, url, isWatch, closing } = forwarded;
  if (request.headers.upgrade !== undefined)
    throw badRequest("connections to aggregated APIs cannot be upgraded: use plain HTTPS, without WebSocket and SPDY");
  checkPath(url);
  const over = new AbortController();
  const end = (): void => over.abort(new Error("the client went away"));
  const slow = setTimeout(() => over.abort(new Error("context deadline exceeded")), RESPONSE_TIMEOUT);
  response.once("close", end);
  closing.addEventListener("abort", end, { once: true });
  try {
    const headers = { ...passedOn(request.headers), ...forwardedFor(request) };
    const method = request.method ?? "GET";
    const sent = transport.begin(extension, client, { method, url, headers, user, signal: over.signal });
    const answer = await responseTo(sent, request);
    clearTimeout(slow);
    await passBack(answer, response, isWatch);
  } catch (error) {
    if (response.headersSent) return void response.destroy();
    if (error instanceof CausewayError) throw error;
    throw unreachable(over.signal.aborted ? over.signal.reason : error);
  } finally {
    clearTimeout(slow);
    closing.removeEventListener("abort", end);
    response.off("close", end);
  }
}

/** 503 for an extension that is known to be unavailable. */
export function unavailable(): Error {
  return apiError(503, "ServiceUnavailable", "service unavailable");
}

function unreachable(error: unknown): Error {
  return apiError(503, "ServiceUnavailable", `error trying to reach service: ${messageOf(error)}`);
}

/** What was authorized is what the extension server reads: a path that two servers may read in two ways is refused. */
function checkPath(url: string): void {
  const path = url.replace(/\?.*$/s, "");
  const isOdd = /%2f|%5c|%00|\\/i.test(path) || path.split("/").some((part) => /^(\.|%2e){1,2}$/i.test(part));
  if (isOdd) throw badRequest("the path has encoded slashes or steps to parent folders");
}

function passedOn(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const named = (headers.connection ?? "").split(",").map((each) => each.trim().toLowerCase());
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OWN.test(name) && !named.includes(name)));
}

function forwardedFor(request: Request): IncomingHttpHeaders {
  const { remoteAddress } = request.socket;
  const before = [request.headers["x-forwarded-for"] ?? []].flat();
  return remoteAddress === undefined ? {} : { "x-forwarded-for": [...before, remoteAddress].join(", ") };
}

function responseTo(sent: ClientRequest, request: Request): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    let size = 0;
    const failed = (error: Error): void => {
      request.unpipe(sent);
      sent.destroy();
      reject(error);
    };
    sent.once("response", resolve);
    sent.on("error", reject);
    refuseOddResponses(sent, reject);
    if (request.method === "GET" || request.method === "HEAD") return void sent.end();
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > LARGEST_BODY)
        failed(apiError(413, "RequestEntityTooLarge", `Request entity too large: limit is ${LARGEST_BODY}`));
    });
    request.on("aborted", () => failed(new Error("the client went away")));
    request.pipe(sent);
  });
}

function passBack(answer: IncomingMessage, response: Response, isWatch: boolean): Promise<void> {
  response.isStreamed = true;
  response.statusCode = answer.statusCode ?? 502;
  const isHttp2 = "stream" in response;
  for (const [name, value] of Object.entries(answer.headers)) {
    if (value === undefined || OF_CONNECTION.test(name) || name === "audit-id") continue;
    response.setHeader(name, value);
  }
  if (isHttp2) response.writeHead(response.statusCode);
  else response.flushHeaders();
  if (!isWatch) answer.setTimeout(RESPONSE_TIMEOUT, () => answer.destroy(new Error("context deadline exceeded")));
  return new Promise((resolve, reject) => {
    answer.once("error", reject);
    answer.once("aborted", () => reject(new Error("the extension server ended the response")));
    response.once("finish", resolve);
    response.once("close", resolve);
    answer.pipe(response as NodeJS.WritableStream);
  });
}
