import { request } from "node:https";
import type { ExtensionConfig } from "@causeway/api";
import { CausewayError, messageOf, parseBoundedJson, refuseOddResponses } from "@causeway/foundation";
import { hooksApi } from "./hooks.ts";

/** Bytes of a response at most: a handler says yes or no. */
export const longestResponse = 1024 * 1024;

/** Levels of a response at most: what reads it recurses. */
const deepestResponse = 200;

/** One request to an extension. */
export interface ExtensionCall {
  readonly config: ExtensionConfig;
  /** "discovery", or "HOOK/HANDLER" in lower case. */
  readonly path: string;
  readonly body: object;
  /** Milliseconds. */
  readonly timeout: number;
  /** PEM of authorities in the place of those of the ExtensionConfig. */
  readonly ca?: string | undefined;
}

/** Asks a runtime extension. Tests have one of their own. */
export interface ExtensionClient {
  /** The response's JSON. @throws RUNTIME_EXTENSION_FAILED */
  call(call: ExtensionCall, signal: AbortSignal): Promise<unknown>;
}

/** Over HTTPS, with the authority that the ExtensionConfig names; redirects are not followed. */
export function createExtensionClient(): ExtensionClient {
  return { call: send };
}

/** Where an extension is. @throws Error if the ExtensionConfig says so in no way, or in two */
export function urlOf({ spec: { clientConfig } }: Pick<ExtensionConfig, "spec">, path: string): URL {
  const { url, service } = clientConfig;
  if ((url === undefined) === (service === undefined))
    throw new Error("spec.clientConfig must have exactly one of url and service");
  const base = service
    ? `https://${service.name}.${service.namespace}.svc:${service.port ?? 443}/${(service.path ?? "").replace(/^\/+/, "")}`
    : (url ?? "");
  const parsed = new URL(base);
  if (parsed.protocol !== "https:") throw new Error("the URL of an extension must begin with https://");
  parsed.pathname = `${parsed.pathname.replace(/\/+$/, "")}/${hooksApi}/${path}`;
  return parsed;
}

async function send({ config, path, body, timeout, ca }: ExtensionCall, signal: AbortSignal): Promise<unknown> {
  const text = JSON.stringify(body);
  try {
    const url = urlOf(config, path);
    const bundle = ca ?? Buffer.from(config.spec.clientConfig.caBundle ?? "", "base64").toString("utf8");
    return await exchange(url, { text, ca: bundle, signal: AbortSignal.any([signal, AbortSignal.timeout(timeout)]) });
  } catch (cause) {
    signal.throwIfAborted();
    const why =
      cause instanceof Error && cause.name === "TimeoutError" ? `no response in ${timeout} ms` : messageOf(cause);
    throw new CausewayError(
      "RUNTIME_EXTENSION_FAILED",
      `extension ${config.metadata.name} could not be called (${path}): ${why}`,
      { cause, hint: "Check the extension and its ExtensionConfig, or give its handlers failurePolicy Ignore." },
    );
  }
}

interface Exchange {
  readonly text: string;
  readonly ca: string;
  readonly signal: AbortSignal;
}

function exchange(url: URL, { text, ca, signal }: Exchange): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", accept: "application/json" };
    const sent = request(
      url,
      { method: "POST", headers, signal, agent: false, ...(ca === "" ? {} : { ca }) },
      (response) => {
        const chunks: Buffer[] = [];
        let size = 0;
        response.on("data", (chunk: Buffer) => {
          size += chunk.length;
          if (size > longestResponse) sent.destroy(new Error(`the response has more than ${longestResponse} bytes`));
          else chunks.push(chunk);
        });
        response.on("error", reject);
        response.on("end", () => {
          try {
            if (response.statusCode !== 200) throw new Error(`it responded with status ${response.statusCode}`);
            resolve(parseBoundedJson(Buffer.concat(chunks).toString("utf8"), deepestResponse));
          } catch (error) {
            reject(error instanceof Error ? error : new Error(String(error)));
          }
        });
      },
    );
    refuseOddResponses(sent, reject);
    sent.on("error", (error) => reject(signal.aborted && signal.reason instanceof Error ? signal.reason : error));
    sent.end(text);
  });
}
