import { createHmac } from "node:crypto";
import { hasCode, splitCertificates } from "@causeway/foundation";
import { bootstrapToken, type BootstrapToken } from "../auth/bootstrap-tokens.ts";
import type { Cluster } from "../contract/cluster.ts";
import { fields, record, same, text, type Json } from "../json/json.ts";
import type { Draft } from "../contract/resource.ts";
import { internalCall } from "../contract/call.ts";
import { create } from "../registry/create.ts";
import { change } from "../registry/update.ts";
import { builtIn, type Controller } from "../contract/controller.ts";
import { startLoop } from "./loop.ts";
import { yaml } from "../lazy-imports.ts";

const NAME = "cluster-info";
const NAMESPACE = "kube-public";
const SIGNATURE = "jws-kubeconfig-";

/**
 * Keeps ConfigMap cluster-info in kube-public: where the cluster is, with one signature per bootstrap token,
 * so that a machine that knows a token can trust it. Source: kubernetes.io "Authenticating with Bootstrap Tokens".
 */
export function bootstrapSigner(cluster: Cluster): Controller {
  const loop = startLoop({
    name: "bootstrap-signer",
    cluster,
    reconcile: () => publish(cluster),
  });
  return {
    saw({ resource, object }) {
      const { name, namespace } = object.metadata;
      const isToken =
        resource.storage === "/secrets" && namespace === "kube-system" && name.startsWith("bootstrap-token-");
      const isInfo = resource.storage === "/configmaps" && namespace === NAMESPACE && name === NAME;
      if (isToken || isInfo) loop.add(NAME);
    },
    resume() {
      // Nothing is published before a bootstrap token exists; what is published has the roots of today.
      const key = { cluster: cluster.name, resource: "/configmaps", namespace: NAMESPACE, name: NAME };
      if (signingTokens(cluster).length > 0 || cluster.store.get(key)) loop.add(NAME);
    },
    stop: () => loop.stop(),
  };
}

function signingTokens(cluster: Cluster): readonly BootstrapToken[] {
  const query = { cluster: cluster.name, resource: "/secrets", namespace: "kube-system" };
  const now = cluster.clock.now();
  return cluster.store
    .list(query)
    .items.map(({ object }) => bootstrapToken(object))
    .filter((t) => t !== undefined)
    .filter((t) => t.forSigning && (t.expires === undefined || t.expires > now));
}

async function publish(cluster: Cluster): Promise<void> {
  const configMaps = builtIn(cluster, "", "configmaps");
  const call = internalCall(cluster, configMaps, { namespace: NAMESPACE, name: NAME });
  const key = { cluster: cluster.name, resource: "/configmaps", namespace: NAMESPACE, name: NAME };
  const stored = cluster.store.get(key);
  if (!stored) {
    const metadata = { name: NAME, namespace: NAMESPACE };
    const manifest = { apiVersion: "v1", kind: "ConfigMap", metadata, data: signedData(cluster, {}) };
    await create(call, manifest).catch((error: unknown) => {
      if (!hasCode(error, "KUBERNETES_ALREADY_EXISTS")) throw error;
    });
    return;
  }
  const wanted = signedData(cluster, record(fields(stored.object)["data"]));
  if (same(wanted, fields(stored.object)["data"])) return;
  await change(call, ({ object }) => {
    const draft = structuredClone(object) as Draft;
    delete draft.metadata.resourceVersion;
    draft["data"] = signedData(cluster, record(draft["data"]));
    return { draft, tracked: false };
  });
}

/** The map's data with a kubeconfig (the given one, if it has one) and the signatures of today's tokens. */
function signedData(cluster: Cluster, before: Json): Json {
  const kubeconfig = withRoots(cluster, text(before["kubeconfig"])) || clusterKubeconfig(cluster);
  const others = Object.entries(before).filter(([name]) => name !== "kubeconfig" && !name.startsWith(SIGNATURE));
  const signatures = signingTokens(cluster).map((t) => [`${SIGNATURE}${t.id}`, detachedSignature(kubeconfig, t)]);
  return Object.fromEntries([...others, ["kubeconfig", kubeconfig], ...signatures]) as Json;
}

/** The given kubeconfig with the roots of today, if it has one of them: others' authorities remain. */
function withRoots(cluster: Cluster, kubeconfig: string): string {
  const [, found] = /certificate-authority-data:\s*["']?([A-Za-z0-9+/=]+)/.exec(kubeconfig) ?? [];
  if (found === undefined) return kubeconfig;
  const roots = cluster.servingAuthority();
  const ours = splitCertificates(roots);
  const isOurs = splitCertificates(Buffer.from(found, "base64").toString()).some((each) => ours.includes(each));
  return isOurs ? kubeconfig.replace(found, () => Buffer.from(roots).toString("base64")) : kubeconfig;
}

function clusterKubeconfig(cluster: Cluster): string {
  const authority = Buffer.from(cluster.servingAuthority()).toString("base64");
  return yaml().stringify({
    apiVersion: "v1",
    clusters: [{ cluster: { "certificate-authority-data": authority, server: cluster.url() }, name: "" }],
    contexts: null,
    "current-context": "",
    kind: "Config",
    preferences: {},
    users: null,
  });
}

/**
 * A JWS (HS256) whose payload is left out: "header..signature". The token's id names the key, its secret is the key.
 */
export function detachedSignature(content: string, token: Pick<BootstrapToken, "id" | "secret">): string {
  const header = Buffer.from(JSON.stringify({ alg: "HS256", kid: token.id })).toString("base64url");
  const payload = Buffer.from(content).toString("base64url");
  const signature = createHmac("sha256", token.secret).update(`${header}.${payload}`).digest("base64url");
  return `${header}..${signature}`;
}
