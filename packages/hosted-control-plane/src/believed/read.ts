import { createHash } from "node:crypto";
import { createClient, loadKubeconfig } from "@causeway/kubernetes";
import { issuersText, issuersVersions } from "../issuers.ts";
import type { TokenIssuers } from "../runtime.ts";
import type { ApiAccess } from "../webhooks/watchdog.ts";

/** What one API server says of the issuers in its file. Pending: it has not read them yet. */
export type Belief = "accepted" | "refused" | "pending";

const METRIC = "apiserver_authentication_config_controller_";
/** Metrics of kube-apiserver have half a MiB, and more with many kinds. */
const LARGEST = 16 * 1024 * 1024;
/**
 * Milliseconds after which a failure is over, where nothing says which configuration is in force: kube-apiserver tries
 * each minute, for a minute at most. A change that was reverted is not tried any more, and leaves the failure in the
 * metrics.
 */
const FRESH = 300_000;

/**
 * What the metrics of a kube-apiserver say of these issuers. Since v1.34 they have the hash of the configuration that
 * is in force; before that only when the last change was accepted, and when one was not.
 */
export function beliefIn(metrics: string, jwt: TokenIssuers, now: number): Belief {
  const hashes = samplesOf(metrics, "last_config_info").flatMap(({ labels }) => labels["hash"] ?? []);
  const [failed, succeeded] = ["failure", "success"].map((status) => {
    const times = samplesOf(metrics, "automatic_reload_last_timestamp_seconds");
    return Math.max(0, ...times.filter(({ labels }) => labels["status"] === status).map(({ value }) => value)) * 1_000;
  }) as [number, number];
  if (hashes.some((hash) => hash !== "")) {
    if (issuersVersions.some((version) => hashes.includes(hashOf(issuersText(jwt, version))))) return "accepted";
    return failed > succeeded ? "refused" : "pending";
  }
  return failed > succeeded && now - failed < FRESH ? "refused" : "accepted";
}

const hashOf = (text: string): string => `sha256:${createHash("sha256").update(text).digest("hex")}`;

interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

function samplesOf(metrics: string, name: string): readonly Sample[] {
  const lines = metrics.split("\n").filter((line) => line.startsWith(`${METRIC}${name}{`));
  return lines.map((line) => {
    const labels = [...line.matchAll(/([a-z_]+)="([^"]*)"/g)].map(([, label = "", value = ""]) => [label, value]);
    return { labels: Object.fromEntries(labels) as Record<string, string>, value: Number(line.split(" ").at(-1)) };
  });
}

/** The issuers of these that the output of API servers says it could not reach, or understand. */
export function namedIn(output: string, jwt: TokenIssuers): readonly string[] {
  const lines = output.split("\n").filter((line) => line.includes("oidc"));
  return jwt
    .map(({ issuer }) => issuer.url)
    .filter((url) =>
      lines.some((line) => [`${url}/.well-known/`, `${url}"`, `${url}\\"`].some((each) => line.includes(each))),
    );
}

/**
 * Requests the metrics of each API server; of those that respond, since the address of their Service may not lead there
 * from this process. Throws what the first one failed with where none does.
 */
export async function readMetrics({ kubeconfig, inside = [] }: ApiAccess, signal: AbortSignal): Promise<string[]> {
  const config = loadKubeconfig({ text: kubeconfig, selfContained: true });
  const all = inside.map((server) => ({ ...config, server, tlsServerName: "kubernetes" }));
  const read = await Promise.allSettled(
    (all.length === 0 ? [config] : all).map(async (each) => {
      const client = createClient(each, { largestResponse: LARGEST });
      try {
        return String(await client.request("GET", "/metrics", { signal }));
      } finally {
        await client.close();
      }
    }),
  );
  const responded = read.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  const [first] = read;
  if (responded.length === 0 && first?.status === "rejected") throw first.reason;
  return responded;
}
