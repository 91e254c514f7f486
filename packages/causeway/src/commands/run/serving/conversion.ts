import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import { reviewConversion, type Kind } from "@causeway/api";
import { InputError, messageOf, type KeyPair, type Log } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";

/** The path at which API servers send ConversionReviews. */
export const CONVERT_PATH = "/convert";
/** The path at which API servers send AdmissionReviews. */
export const VALIDATE_PATH = "/validate";
/** The path at which API servers send AdmissionReviews of objects that may be changed. */
export const MUTATE_PATH = "/mutate";
/** Bytes of a review at most: a list of objects as large as etcd takes a request to be, many times over. */
const LARGEST = 64 * 1024 * 1024;
/**
 * For how long a connection without a request is kept, in ms: longer than API servers keep it (90 s). One that ends
 * here while they send a review on it fails the write that is reviewed, since a POST is not sent again.
 */
const IDLE = 120_000;

/** Where the webhook is served, and what it converts and judges. */
export interface ConversionOptions {
  readonly kinds: readonly Kind<KubeObject>[];
  readonly address: string;
  readonly port: number;
  readonly certificate: KeyPair;
  /** Responds to AdmissionReviews; without it only conversion is served. */
  readonly admit?: (review: unknown) => Promise<object>;
  /** Responds to AdmissionReviews before objects are judged. */
  readonly mutate?: (review: unknown) => object;
  readonly log: Log;
}

/** Serves the conversion webhook of the kinds over HTTPS. @throws ENDPOINT_PORT_TAKEN when it cannot listen */
export async function serveConversion(options: ConversionOptions): Promise<{ port: number; close(): Promise<void> }> {
  const { certificate, address, port, log } = options;
  const server = createServer({ cert: certificate.certificate, key: certificate.key }, (request, response) => {
    answer(options, request, response).catch((error: unknown) => {
      log.warn("a review failed", { error: messageOf(error) });
      if (!response.headersSent) send(response, 400, messageOf(error));
    });
  });
  server.keepAliveTimeout = IDLE;
  server.listen(port, address);
  try {
    await once(server, "listening");
  } catch (cause) {
    throw new InputError("ENDPOINT_PORT_TAKEN", `The conversion webhook cannot be served at ${address}:${port}.`, {
      cause,
      hint: "Choose another port with --webhook-port.",
    });
  }
  const bound = server.address();
  return {
    port: typeof bound === "object" && bound !== null ? bound.port : port,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function answer(options: ConversionOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = new URL(request.url ?? "/", "https://here").pathname;
  const review = reviewOf(options, path);
  if (!review) return send(response, 404, "not found");
  if (request.method !== "POST") return send(response, 405, "method not allowed");
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > LARGEST) return send(response, 413, `a review has ${LARGEST} bytes at most`);
    chunks.push(chunk);
  }
  const body: unknown = JSON.parse(Buffer.concat(chunks).toString("utf8"));
  const reviewed = await review(body);
  response.setHeader("Content-Type", "application/json");
  return send(response, 200, JSON.stringify(reviewed));
}

type Review = (body: unknown) => object | Promise<object>;

function reviewOf({ kinds, admit, mutate }: ConversionOptions, path: string): Review | undefined {
  if (path === CONVERT_PATH) return (body) => reviewConversion(kinds, body);
  if (path === VALIDATE_PATH) return admit;
  return path === MUTATE_PATH ? mutate : undefined;
}

function send(response: ServerResponse, status: number, text: string): void {
  response.statusCode = status;
  response.end(text);
}
