import { performance } from "node:perf_hooks";
import type { Attributes, Authorize, Decision } from "../contract/attributes.ts";
import { authenticate, type Credentials } from "../auth/authenticate.ts";
import type { CertificateUsers } from "../auth/client-certificates.ts";
import type { User } from "../contract/user.ts";
import type { Cluster } from "../contract/cluster.ts";

/** `authenticate`, counted and timed. */
export async function authenticated(
  cluster: Cluster,
  credentials: Credentials,
  certificates: CertificateUsers,
): Promise<User> {
  const began = performance.now();
  const seconds = (): number => (performance.now() - began) / 1000;
  try {
    const user = await authenticate(cluster, credentials, certificates);
    cluster.metrics.authenticated("success", user.name, seconds());
    return user;
  } catch (error) {
    cluster.metrics.authenticated("failure", "", seconds());
    throw error;
  }
}

/** The authorizer's decision, counted and timed. */
export function authorized(
  { cluster, authorize }: { readonly cluster: Cluster; readonly authorize: Authorize },
  asked: Attributes,
): Decision {
  const began = performance.now();
  const decision = authorize(asked);
  cluster.metrics.authorized(decision.allowed, (performance.now() - began) / 1000);
  return decision;
}
