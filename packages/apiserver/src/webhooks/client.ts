import { posix } from "node:path";
import { CausewayError, messageOf } from "@causeway/foundation";
import { isRecord, type Json } from "../json/json.ts";
import type { ClusterView } from "../contract/resource.ts";
import { Connections, type Dial } from "./connections.ts";
import type { WebhookCallOptions, WebhookClient, WebhookClientConfig } from "../contract/webhooks.ts";
import { resolveService } from "./services.ts";
import { answerProblem, transportProblem } from "./problems.ts";

const SECOND = 1000;

/**
 * The webhook client of one cluster. `allowed` false refuses every call: a tenant's webhooks would have this process
 * reach whatever it can reach. A `Dial` makes the connections, and judges what may be reached.
 */
export function createWebhookClient(
  cluster: Pick<ClusterView, "name" | "store">,
  allowed: boolean | Dial,
): WebhookClient {
  const connections = new Connections(typeof allowed === "function" ? allowed : undefined);
  return {
    async call(config, body, options) {
      const target = targetOf(config, options.timeout);
      const ask = async (): Promise<Json> => {
        if (allowed === false) throw new Error("this cluster may not call webhooks");
        const address = config.service ? resolveService(cluster, config.service) : undefined;
        const ca = config.caBundle === undefined ? undefined : Buffer.from(config.caBundle, "base64").toString();
        return answered(connections, { target, address, ca }, { body, options });
      };
      try {
        return await ask();
      } catch (error) {
        if (error instanceof CausewayError) throw error;
        throw failed(`Post "${shown(config, target)}": ${messageOf(error)}`, error);
      }
    },
    close: () => connections.close(),
  };
}

interface Where {
  readonly target: URL;
  readonly address: { readonly host: string; readonly port: number } | undefined;
  readonly ca: string | undefined;
}

async function answered(
  connections: Connections,
  { target, address, ca }: Where,
  { body, options }: { body: Json; options: WebhookCallOptions },
): Promise<Json> {
  const deadline = AbortSignal.timeout(options.timeout);
  const signal = options.signal ? AbortSignal.any([deadline, options.signal]) : deadline;
  const { code, text } = await connections
    .post({ target, address, ca, body: JSON.stringify(body), signal, limit: options.limit })
    .catch((error: unknown) => {
      throw deadline.aborted ? new Error("context deadline exceeded") : transportProblem(error);
    });
  const problem = answerProblem(code, text);
  if (problem !== undefined) throw failed(problem);
  try {
    const parsed: unknown = JSON.parse(text);
    if (isRecord(parsed)) return parsed;
  } catch (cause) {
    throw failed("couldn't get version/kind; json parse error: the answer is not JSON", cause);
  }
  throw failed("couldn't get version/kind; json parse error: the answer is not an object");
}

/** The URL as Go shows it, with the port as it was given. */
function shown({ url, service }: WebhookClientConfig, target: URL): string {
  const given = /^https:\/\/([^/?#]*)/i.exec(url ?? "")?.[1];
  const host = service ? `${target.hostname}:${service.port ?? 443}` : (given ?? target.host);
  return `${target.protocol}//${host}${target.pathname}${target.search}`;
}

/** The URL as Kubernetes builds it, with the timeout as a query parameter. */
function targetOf({ url, service }: WebhookClientConfig, timeout: number): URL {
  const base = service
    ? new URL(`https://${service.name}.${service.namespace}.svc:${service.port ?? 443}`)
    : url !== undefined && URL.canParse(url)
      ? new URL(url)
      : undefined;
  if (!base) throw failed("webhook configuration must have either service or URL");
  // As Go's path.Join has it: client-go asks for no path with an empty step, and servers may answer such a one with a
  // redirect.
  base.pathname = posix.normalize(service?.path ? service.path : base.pathname).replace(/(?<=.)\/$/, "");
  base.searchParams.set("timeout", `${Math.ceil(timeout / SECOND)}s`);
  return base;
}

function failed(message: string, cause?: unknown): CausewayError {
  const hint = "See that the webhook runs, is reached from here, and serves a certificate that caBundle vouches for.";
  return new CausewayError("WEBHOOK_CALL_FAILED", message, { hint, ...(cause === undefined ? {} : { cause }) });
}
