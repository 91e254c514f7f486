import { messageOf } from "@causeway/foundation";
import type { KubernetesClient } from "@causeway/kubernetes";

/** Which service account's tokens are an agent's. */
export interface TokenRules {
  /** Of the agent's service account; empty: any. */
  readonly namespace: string;
  readonly serviceAccount: string;
  readonly audience: string;
}

/** Reviews at a time. Others wait their turn as long as their caller does. */
const CONCURRENT = 8;

/** Reviews agents' tokens with the tenant's API server. Source: konnectivity's agent authentication. */
export function tokenReviewer(
  client: Pick<KubernetesClient, "request">,
  rules: TokenRules,
): (token: string, signal: AbortSignal) => Promise<string | undefined> {
  let running = 0;
  return async (token, signal) => {
    if (running >= CONCURRENT) return "too many tokens are under review; try again";
    running++;
    try {
      const body = {
        apiVersion: "authentication.k8s.io/v1",
        kind: "TokenReview",
        spec: { token, ...(rules.audience === "" ? {} : { audiences: [rules.audience] }) },
      };
      const review = await client.request("POST", "/apis/authentication.k8s.io/v1/tokenreviews", { body, signal });
      return refusalOf(review, rules);
    } catch (error) {
      return `the token cannot be reviewed: ${messageOf(error)}`;
    } finally {
      running--;
    }
  };
}

function refusalOf(review: unknown, { namespace, serviceAccount, audience }: TokenRules): string | undefined {
  const status = field(review, "status");
  if (field(status, "authenticated") !== true) return "the tenant's API server does not know the token";
  const audiences = field(status, "audiences");
  // An API server that knows no audiences says nothing of them: such a token is for its own audience only.
  if (audience !== "" && !(Array.isArray(audiences) && audiences.includes(audience))) {
    return `the token is not for audience ${audience}`;
  }
  const username = field(field(status, "user"), "username");
  const [system, kind, ns, account, ...more] = typeof username === "string" ? username.split(":") : [];
  if (system !== "system" || kind !== "serviceaccount" || account === undefined || more.length > 0) {
    return "the token is no service account's";
  }
  if (namespace !== "" && ns !== namespace) return `the service account is not in namespace ${namespace}`;
  if (serviceAccount !== "" && account !== serviceAccount) return `the service account is not ${serviceAccount}`;
  return undefined;
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}
