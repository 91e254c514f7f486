import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { CausewayError, messageOf } from "@causeway/foundation";
import type { ClusterConfig } from "@causeway/kubernetes";
import { isRecord, type Json } from "../json/json.ts";
import { kubernetes } from "../lazy-imports.ts";

/** A server of the operator that reviews tokens or receives audit events. */
export interface WebhookClient {
  /** POSTs JSON and reads the answer. Throws WEBHOOK_FAILED; neither body reaches the message. */
  post(body: string, options: { readonly timeout: number; readonly signal?: AbortSignal }): Promise<Json>;
  close(): void;
}

const LONGEST_ANSWER = 3 * 1024 * 1024;

/**
 * A client of the server that a kubeconfig's current context names: the form in which kube-apiserver takes its
 * webhooks. Throws KUBECONFIG_NOT_FOUND, KUBECONFIG_INVALID, KUBECONFIG_CONTEXT_UNKNOWN, WEBHOOK_CONFIG_INVALID.
 */
export function createWebhookClient(kubeconfigFile: string): WebhookClient {
  const config = kubernetes().loadKubeconfig({ path: kubeconfigFile });
  if (!config.server.startsWith("https://") || config.exec) {
    throw new CausewayError("WEBHOOK_CONFIG_INVALID", `${kubeconfigFile} does not lead to a webhook`, {
      hint: "Specify an https:// server, and a user with a certificate or a token; commands are not run.",
    });
  }
  const agent = new Agent({
    keepAlive: true,
    ...(config.ca === undefined ? {} : { ca: config.ca, allowPartialTrustChain: true }),
    ...(config.certificate && config.key ? { cert: config.certificate, key: config.key } : {}),
    ...(config.tlsServerName ? { servername: config.tlsServerName } : {}),
    rejectUnauthorized: config.insecureSkipTlsVerify !== true,
  });
  return {
    post: (body, options) => post(config, agent, body, options),
    close: () => agent.destroy(),
  };
}

function post(
  config: ClusterConfig,
  agent: Agent,
  body: string,
  { timeout, signal }: { timeout: number; signal?: AbortSignal },
): Promise<Json> {
  const token = config.tokenFile === undefined ? config.token : readFileSync(config.tokenFile, "utf8").trim();
  const deadline = AbortSignal.timeout(timeout);
  return new Promise((resolve, reject) => {
    const fail = (why: string, cause?: unknown): void => {
      reject(
        new CausewayError("WEBHOOK_FAILED", `the webhook at ${new URL(config.server).host} failed: ${why}`, {
          cause,
          hint: "Check that the webhook is up, and that the kubeconfig has its CA and credentials that it accepts.",
        }),
      );
    };
    const sent = request(config.server, {
      method: "POST",
      agent,
      signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
      headers: {
        accept: "application/json",
        "content-type": "application/json",
        "content-length": String(Buffer.byteLength(body)),
        ...(token ? { authorization: `Bearer ${token}` } : {}),
      },
    });
    sent.on("error", (error) => fail(messageOf(error), error));
    sent.on("response", (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        size += chunk.length;
        if (size > LONGEST_ANSWER) sent.destroy(new Error(`its answer is longer than ${LONGEST_ANSWER} bytes`));
      });
      response.on("error", (error) => fail(messageOf(error), error));
      response.on("end", () => {
        const code = response.statusCode ?? 0;
        if (code < 200 || code > 299) return fail(`it returned ${code}`);
        resolve(parsed(Buffer.concat(chunks).toString("utf8")));
      });
    });
    sent.end(body);
  });
}

function parsed(answer: string): Json {
  try {
    const value: unknown = JSON.parse(answer);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}
