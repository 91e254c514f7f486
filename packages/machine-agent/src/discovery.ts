import { createHmac, timingSafeEqual } from "node:crypto";
import { request } from "node:https";
import { parse } from "yaml";
import { CausewayError, publicKeyHash, splitCertificates } from "@causeway/foundation";
import type { JoinConfiguration } from "./join-configuration.ts";

/**
 * Learns the cluster's root certificate as `kubeadm join` does: the public cluster-info ConfigMap, read without
 * trusting the connection, proved by the token's signature and by the pinned public key.
 * @throws MACHINE_DISCOVERY_FAILED when the proof fails: another server responded, or the token is unknown.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/bootstrap-tokens/#configmap-signing
 */
export async function discoverAuthority(join: JoinConfiguration, signal: AbortSignal): Promise<string> {
  const answer = await getPublic(`${join.server}/api/v1/namespaces/kube-public/configmaps/cluster-info`, signal);
  const data = (answer as { data?: Record<string, string> }).data ?? {};
  const kubeconfig = data["kubeconfig"];
  const [id = "", secret = ""] = join.token.split(".");
  const signature = data[`jws-kubeconfig-${id}`];
  if (kubeconfig === undefined) throw failed("the server publishes no cluster-info");
  if (signature === undefined || !isSignedBy(kubeconfig, signature, secret))
    throw failed("cluster-info is not signed with this machine's token; the token may have expired");
  const authority = authorityOf(kubeconfig);
  // As kubeadm does: one of a bundle is enough.
  const hashes = splitCertificates(authority).map(publicKeyHash);
  if (join.caCertHashes.length > 0 && !hashes.some((hash) => join.caCertHashes.includes(hash))) {
    throw failed("the cluster's root certificate is not the pinned one");
  }
  return authority;
}

function failed(why: string, cause?: unknown): CausewayError {
  return new CausewayError("MACHINE_DISCOVERY_FAILED", `joining is not safe: ${why}`, {
    hint: "Check the endpoint and the age of the machine's bootstrap token.",
    cause,
  });
}

/** A detached JWS, HS256, over the kubeconfig: HEADER..SIGNATURE. */
function isSignedBy(content: string, jws: string, secret: string): boolean {
  const [header = "", , signature = ""] = jws.split(".");
  const payload = Buffer.from(content, "utf8").toString("base64url");
  const expected = createHmac("sha256", secret).update(`${header}.${payload}`).digest();
  const given = Buffer.from(signature, "base64url");
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function authorityOf(kubeconfig: string): string {
  const document = parse(kubeconfig, { uniqueKeys: false }) as {
    clusters?: { cluster?: { "certificate-authority-data"?: string } }[];
  };
  const encoded = document.clusters?.[0]?.cluster?.["certificate-authority-data"];
  if (encoded === undefined) throw failed("cluster-info carries no root certificate");
  return Buffer.from(encoded, "base64").toString("utf8");
}

/** An answer that is not proved yet may not take more than this. */
const answerTimeout = 10_000;
const largestAnswer = 1024 * 1024;

/** The one request whose server is not verified: what it answers is proved afterwards. */
function getPublic(url: string, signal: AbortSignal): Promise<unknown> {
  const within = AbortSignal.any([signal, AbortSignal.timeout(answerTimeout)]);
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      { rejectUnauthorized: false, signal: within, agent: false, headers: { accept: "application/json" } },
      (incoming) => {
        const chunks: Buffer[] = [];
        let size = 0;
        incoming.on("data", (chunk: Buffer) => {
          chunks.push(chunk);
          size += chunk.length;
          if (size > largestAnswer) outgoing.destroy(new Error("the answer is too large"));
        });
        incoming.on("error", reject);
        incoming.on("end", () => {
          if (incoming.statusCode !== 200)
            return reject(failed(`the server returned ${incoming.statusCode} for cluster-info`));
          try {
            resolve(JSON.parse(Buffer.concat(chunks).toString("utf8")));
          } catch (error) {
            reject(failed("cluster-info is not JSON", error));
          }
        });
      },
    );
    outgoing.on("error", (error) => reject(signal.aborted ? signal.reason : failed(`${url} cannot be reached`, error)));
    outgoing.end();
  });
}
