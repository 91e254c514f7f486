import { once } from "node:events";
import { createServer } from "node:https";
import type { ExtensionConfig } from "@causeway/api";
import { createAuthority, isRecord, issueCertificate } from "@causeway/foundation";
import { hooksApi } from "../runtime/hooks.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A handler of a runtime extension: its hook, and its response to a request. */
export interface PlayedHandler {
  readonly hook: string;
  readonly failurePolicy?: "Fail" | "Ignore";
  answer(request: Fields): Fields;
}

/** A runtime extension over HTTPS, by the contract of upstream's server: one path for each handler, and discovery. */
export interface PlayedExtension {
  readonly clientConfig: ExtensionConfig["spec"]["clientConfig"];
  /** Requests, with the handler that they were for. */
  readonly calls: { readonly handler: string; readonly request: Fields }[];
  close(): void;
}

/** `handlers` by their names. */
export async function startExtension(handlers: Readonly<Record<string, PlayedHandler>>): Promise<PlayedExtension> {
  const now = Date.now();
  const lifetime = 3_600_000;
  const authority = await createAuthority({ commonName: "authority", lifetime, now });
  const pair = await issueCertificate(authority, {
    commonName: "extension",
    ipAddresses: ["127.0.0.1"],
    usages: ["server"],
    lifetime,
    now,
  });
  const calls: PlayedExtension["calls"] = [];
  const answer = (path: string, request: Fields): Fields | undefined => {
    if (path === `/${hooksApi}/discovery`) return discovery(handlers);
    const [name = "", hook = ""] = path.split("/").toReversed();
    const handler = handlers[name];
    if (handler?.hook.toLowerCase() !== hook || request["kind"] !== `${handler.hook}Request`) return undefined;
    calls.push({ handler: name, request });
    return { apiVersion: hooksApi, kind: `${handler.hook}Response`, ...handler.answer(request) };
  };
  const server = createServer({ cert: pair.certificate, key: pair.key }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body: unknown = JSON.parse(Buffer.concat(chunks).toString("utf8"));
      const made = answer(request.url ?? "", isRecord(body) ? body : {});
      response.writeHead(made ? 200 : 404, { "content-type": "application/json" }).end(JSON.stringify(made ?? {}));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  return {
    clientConfig: {
      url: `https://127.0.0.1:${port}`,
      caBundle: Buffer.from(authority.certificate).toString("base64"),
    },
    calls,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function discovery(handlers: Readonly<Record<string, PlayedHandler>>): Fields {
  const list = Object.entries(handlers).map(([name, { hook, failurePolicy = "Fail" }]) => ({
    name,
    requestHook: { apiVersion: hooksApi, hook },
    timeoutSeconds: 5,
    failurePolicy,
  }));
  return { apiVersion: hooksApi, kind: "DiscoveryResponse", status: "Success", handlers: list };
}
