import { createHash } from "node:crypto";
import { samplesOf } from "../api-metrics.ts";
import { issuersText, issuersVersions } from "../issuers.ts";
import type { TokenIssuers } from "../runtime.ts";

/** What one API server says of the issuers in its file. Pending: it has not read them yet. */
export type Belief = "accepted" | "refused" | "pending";

/** The beginning of the names of the metrics that are read. */
export const ISSUER_METRICS = "apiserver_authentication_config_controller_";
/**
 * Milliseconds after which a failure is over, where nothing says which configuration is in force: kube-apiserver tries
 * each minute, for a minute at most. A change that was reverted is not tried any more, and leaves the failure in the
 * metrics.
 */
const FRESH = 300_000;

/** Milliseconds since epoch. */
export interface BeliefTimes {
  readonly now: number;
  /** An API server that failed before then tried other issuers. */
  readonly since: number;
}

/**
 * What the metrics of a kube-apiserver say of these issuers. Since v1.34 they have the hash of the configuration that
 * is in force; before that only when the last change was accepted, and when one was not.
 */
export function beliefIn(metrics: string, jwt: TokenIssuers, { now, since }: BeliefTimes): Belief {
  const metric = (name: string) => samplesOf(metrics, `${ISSUER_METRICS}${name}`);
  const hashes = metric("last_config_info").flatMap(({ labels }) => labels["hash"] ?? []);
  const [failed, succeeded] = ["failure", "success"].map((status) => {
    const times = metric("automatic_reload_last_timestamp_seconds");
    return Math.max(0, ...times.filter(({ labels }) => labels["status"] === status).map(({ value }) => value)) * 1_000;
  }) as [number, number];
  const failure = failed >= since ? "refused" : "pending";
  if (hashes.some((hash) => hash !== "")) {
    if (issuersVersions.some((version) => hashes.includes(hashOf(issuersText(jwt, version))))) return "accepted";
    return failed > succeeded ? failure : "pending";
  }
  return failed > succeeded && now - failed < FRESH ? failure : "accepted";
}

const hashOf = (text: string): string => `sha256:${createHash("sha256").update(text).digest("hex")}`;

/** The issuers of these that the output of API servers says it could not reach, or understand. */
export function namedIn(output: string, jwt: TokenIssuers): readonly string[] {
  const lines = output.split("\n").filter((line) => line.includes("oidc"));
  return jwt
    .map(({ issuer }) => issuer.url)
    .filter((url) =>
      lines.some((line) => [`${url}/.well-known/`, `${url}"`, `${url}\\"`].some((each) => line.includes(each))),
    );
}
