import { readFileSync } from "node:fs";
import { Agent, request, type AgentOptions } from "node:https";
import { CausewayError, messageOf, refuseOddResponses, type Reach } from "@causeway/foundation";
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
/** Of a tenant's server, whose answers are not used. */
const LONGEST_UNUSED = 64 * 1024;

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
  const agent = agentOf(config.ca, {
    ...(config.certificate && config.key ? { cert: config.certificate, key: config.key } : {}),
    ...(config.tlsServerName ? { servername: config.tlsServerName } : {}),
    rejectUnauthorized: config.insecureSkipTlsVerify !== true,
  });
  return clientOf({ ...config, longest: LONGEST_ANSWER }, agent);
}

/** A server that a tenant names. */
export interface NamedServer {
  readonly url: string;
  /** PEM. */
  readonly ca: string | undefined;
  readonly token: string | undefined;
  readonly reach: Reach;
}

/** A client of a tenant's server: of no other, since redirects are not followed, and in the permitted networks only. */
export function createServerClient({ url, ca, token, reach }: NamedServer): WebhookClient {
  const agent = agentOf(ca, { lookup: reach.lookup });
  const client = clientOf({ server: url, token, longest: LONGEST_UNUSED }, agent);
  const refusal = reach.refusal(url);
  return refusal === undefined ? client : { ...client, post: () => Promise.reject(failure(url, refusal)) };
}

function agentOf(ca: string | undefined, more: AgentOptions): Agent {
  return new Agent({ keepAlive: true, ...(ca === undefined ? {} : { ca, allowPartialTrustChain: true }), ...more });
}

interface Target extends Pick<ClusterConfig, "server"> {
  readonly token?: string | undefined;
  readonly tokenFile?: string | undefined;
  /** Bytes of an answer that are read. */
  readonly longest: number;
}

function clientOf(target: Target, agent: Agent): WebhookClient {
  return {
    post: (body, options) => post(target, agent, body, options),
    close: () => agent.destroy(),
  };
}

function failure(server: string, why: string, cause?: unknown): CausewayError {
  return new CausewayError("WEBHOOK_FAILED", `the webhook at ${new URL(server).host} failed: ${why}`, {
    cause,
    hint: "Check that the webhook is up, and that the kubeconfig has its CA and credentials that it accepts.",
  });
}

function post(
  config: Target,
  agent: Agent,
  body: string,
  { timeout, signal }: { timeout: number; signal?: AbortSignal },
): Promise<Json> {
  const token = config.tokenFile === undefined ? config.token : readFileSync(config.tokenFile, "utf8").trim();
  const deadline = AbortSignal.timeout(timeout);
  return new Promise((resolve, reject) => {
    const fail = (why: string, cause?: unknown): void => reject(failure(config.server, why, cause));
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
    refuseOddResponses(sent, (error) => fail(error.message));
    sent.on("response", (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        size += chunk.length;
        if (size > config.longest) sent.destroy(new Error(`its answer is longer than ${config.longest} bytes`));
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
