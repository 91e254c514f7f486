import { timingSafeEqual } from "node:crypto";
import type { KubeObject } from "@causeway/kubernetes";
import type { Cluster } from "../contract/cluster.ts";
import { fields, record, text } from "../json/json.ts";
import type { User } from "../contract/user.ts";

const TOKEN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const GROUP = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;
const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
/** The type of Secrets that are bootstrap tokens. */
export const BOOTSTRAP_TYPE = "bootstrap.kubernetes.io/token";

/** A token that a new node joins with, as its Secret describes it. */
export interface BootstrapToken {
  readonly id: string;
  readonly secret: string;
  /** Milliseconds since the epoch; undefined never. */
  readonly expires: number | undefined;
  readonly forAuthentication: boolean;
  readonly forSigning: boolean;
  readonly groups: readonly string[];
}

/**
 * Reads a Secret of type bootstrap.kubernetes.io/token; undefined when it is not a whole one, or names a group that it
 * may not give.
 */
export function bootstrapToken(object: KubeObject): BootstrapToken | undefined {
  const secret = fields(object);
  if (secret["type"] !== BOOTSTRAP_TYPE) return undefined;
  const data = record(secret["data"]);
  const value = (name: string): string => Buffer.from(text(data[name]), "base64").toString();
  const id = value("token-id");
  if (object.metadata.name !== `bootstrap-token-${id}` || !TOKEN.test(`${id}.${value("token-secret")}`))
    return undefined;
  const expiration = value("expiration");
  const named = value("auth-extra-groups");
  const extra = named === "" ? [] : named.split(",");
  if (!extra.every((group) => GROUP.test(group))) return undefined;
  return {
    id,
    secret: value("token-secret"),
    expires: expiration ? endOf(expiration) : undefined,
    forAuthentication: value("usage-bootstrap-authentication") === "true",
    forSigning: value("usage-bootstrap-signing") === "true",
    groups: [...new Set(["system:bootstrappers", ...extra])].sort(),
  };
}

/** A date that is not RFC 3339 has passed. */
function endOf(expiration: string): number {
  return RFC3339.test(expiration) ? Date.parse(expiration) || 0 : 0;
}

/** The user of "id.secret", while its Secret in kube-system says so and has not expired. */
export function bootstrapTokenUser(cluster: Cluster, token: string): User | undefined {
  const match = TOKEN.exec(token);
  if (!match) return undefined;
  const [, id = "", secret = ""] = match;
  const name = `bootstrap-token-${id}`;
  const stored = cluster.store.get({ cluster: cluster.name, resource: "/secrets", namespace: "kube-system", name });
  if (!stored || stored.object.metadata.deletionTimestamp) return undefined;
  const known = bootstrapToken(stored.object);
  if (!known?.forAuthentication || !timingSafeEqual(Buffer.from(known.secret), Buffer.from(secret))) return undefined;
  if (known.expires !== undefined && cluster.clock.now() >= known.expires) return undefined;
  return { name: `system:bootstrap:${id}`, groups: known.groups };
}
