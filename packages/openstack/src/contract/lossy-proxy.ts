import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isRecord } from "@causeway/foundation";
import { identityUrl } from "../session/endpoints.ts";

/** A proxy of `lossyProxy`, as a case uses it. */
export interface LossyProxy {
  /** In place of the cloud's own auth_url; calls to the network service go through the proxy, too. */
  readonly authUrl: string;
  /** How many responses were dropped. */
  lost(): number;
  close(): Promise<void>;
}

/** A proxy before a cloud's identity and network services that drops the first response to a POST of this path. */
export async function lossyProxy(authUrl: string, path: string): Promise<LossyProxy> {
  let network = "";
  let lost = 0;
  let self = "";
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks = await Array.fromAsync(request as AsyncIterable<Buffer>);
    const url = request.url ?? "/";
    const identity = url.startsWith("/v3");
    const target = identity ? identityUrl(authUrl) + url.slice(3) : network + url.slice("/network".length);
    const answer = await fetch(target, {
      method: request.method ?? "GET",
      headers: copied(request),
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    });
    const text = await answer.text();
    if (lost === 0 && request.method === "POST" && url.endsWith(path)) {
      lost++;
      request.socket.destroy();
      return;
    }
    const token = answer.headers.get("x-subject-token");
    response.writeHead(answer.status, {
      "content-type": "application/json",
      ...(token && { "x-subject-token": token }),
    });
    response.end(identity ? redirected(text) : text);
  };
  const redirected = (text: string): string => {
    const body: unknown = JSON.parse(text);
    const token = isRecord(body) ? body["token"] : undefined;
    const catalog: unknown = isRecord(token) ? token["catalog"] : undefined;
    for (const service of Array.isArray(catalog) ? catalog : []) {
      if (!isRecord(service) || service["type"] !== "network" || !Array.isArray(service["endpoints"])) continue;
      for (const endpoint of service["endpoints"].filter(isRecord)) {
        network = String(endpoint["url"]).replace(/\/+$/, "");
        endpoint["url"] = `${self}/network`;
      }
    }
    return JSON.stringify(body);
  };
  const server = createServer((request, response) => {
    handle(request, response).catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  self = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    authUrl: `${self}/v3`,
    lost: () => lost,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function copied(request: IncomingMessage): Record<string, string> {
  const kept = ["accept", "content-type", "x-auth-token"];
  return Object.fromEntries(
    kept.flatMap((name) => [[name, request.headers[name]]]).filter(([, v]) => typeof v === "string"),
  );
}
