import { timingSafeEqual } from "node:crypto";
import type { KubeObject } from "@causeway/kubernetes";
import type { Cluster } from "../clusters/cluster.ts";
import { fields, record, text } from "../json.ts";
import type { User } from "./user.ts";

const TOKEN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const GROUP = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;
export const BOOTSTRAP_TYPE = "bootstrap.kubernetes.io/token";

export interface BootstrapToken {
  readonly id: string;
  readonly secret: string;
  /** Milliseconds since the epoch; undefined never. */
  readonly expires: number | undefined;
  readonly forAuthentication: boolean;
  readonly forSigning: boolean;
  readonly groups: readonly string[];
}

/** Reads a Secret of type bootstrap.kubernetes.io/token; undefined when it is not a whole one. */
export function bootstrapToken(object: KubeObject): BootstrapToken | undefined {
  const secret = fields(object);
  if (secret["type"] !== BOOTSTRAP_TYPE) return undefined;
  const data = record(secret["data"]);
  const value = (name: string): string => Buffer.from(text(data[name]), "base64").toString();
  const id = value("token-id");
  if (object.metadata.name !== `bootstrap-token-${id}` || !TOKEN.test(`${id}.${value("token-secret")}`))
    return undefined;
  const expiration = value("expiration");
  const extra = value("auth-extra-groups")
    .split(",")
    .filter((g) => GROUP.test(g));
  return {
    id,
    secret: value("token-secret"),
    // A date that cannot be read has passed.
    expires: expiration ? Date.parse(expiration) || 0 : undefined,
    forAuthentication: value("usage-bootstrap-authentication") === "true",
    forSigning: value("usage-bootstrap-signing") === "true",
    groups: ["system:bootstrappers", ...extra],
  };
}

/** Whom "id.secret" stands for, while its Secret in kube-system says so and has not expired. */
export function bootstrapTokenUser(cluster: Cluster, token: string): User | undefined {
  const [, id, secret] = TOKEN.exec(token) ?? [];
  if (!id || !secret) return undefined;
  const name = `bootstrap-token-${id}`;
  const stored = cluster.store.get({ cluster: cluster.name, resource: "/secrets", namespace: "kube-system", name });
  if (!stored || stored.object.metadata.deletionTimestamp) return undefined;
  const known = bootstrapToken(stored.object);
  if (!known?.forAuthentication || !timingSafeEqual(Buffer.from(known.secret), Buffer.from(secret))) return undefined;
  if (known.expires !== undefined && cluster.clock.now() >= known.expires) return undefined;
  return { name: `system:bootstrap:${id}`, groups: known.groups };
}
