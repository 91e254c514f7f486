import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { createAuthority, issueCertificate } from "@causeway/foundation";
import type { Json } from "./interface.ts";

const DAY = 86_400_000;

export interface WebhookAnswer {
  readonly code?: number;
  /** The response of the review; its uid is filled in. */
  readonly response?: Json;
  /** Instead of a review. */
  readonly text?: string;
  /** Never answers. */
  readonly silent?: true;
}

export interface WebhookServer {
  readonly port: number;
  readonly url: string;
  /** base64 PEM of whom to trust. */
  readonly caBundle: string;
  /** The requests of the reviews so far, and their headers. */
  readonly seen: { readonly path: string; readonly request: Json; readonly headers: Json }[];
  readonly close: () => Promise<void>;
}

/** A webhook on loopback TLS: answers every review with what `answer` makes of its request. */
export async function startWebhook(answer: (request: Json, path: string) => WebhookAnswer): Promise<WebhookServer> {
  const authority = await createAuthority({ commonName: "webhook-authority", lifetime: DAY });
  const serving = await issueCertificate(authority, {
    commonName: "webhook",
    dnsNames: ["localhost", "hook.hooks.svc"],
    ipAddresses: ["127.0.0.1"],
    usages: ["server"],
    lifetime: DAY,
  });
  const seen: { path: string; request: Json; headers: Json }[] = [];
  const server = createServer({ cert: serving.certificate, key: serving.key }, (asked, replied) => {
    let body = "";
    asked.on("data", (chunk: Buffer) => (body += chunk.toString()));
    asked.on("end", () => {
      const review = JSON.parse(body) as Json;
      const request = review["request"] as Json;
      const path = asked.url ?? "";
      seen.push({ path, request, headers: { ...asked.headers } });
      const { code = 200, response = {}, text, silent } = answer(request, path);
      if (silent) return;
      const { kind, apiVersion } = review;
      const said = text ?? JSON.stringify({ kind, apiVersion, response: { uid: request["uid"], ...response } });
      replied.writeHead(code, { "content-type": text === undefined ? "application/json" : "text/plain" }).end(said);
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `https://127.0.0.1:${port}`,
    caBundle: Buffer.from(authority.certificate).toString("base64"),
    seen,
    close: () =>
      new Promise((done) => {
        server.closeAllConnections();
        server.close(() => done());
      }),
  };
}
