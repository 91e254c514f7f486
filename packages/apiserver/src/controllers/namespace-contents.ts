import { hasCode } from "@causeway/foundation";
import type { Cluster } from "../contract/cluster.ts";
import { fields, same, type Json } from "../json/json.ts";
import type { Draft } from "../contract/resource.ts";
import { internalCall } from "../contract/call.ts";
import { create } from "../registry/create.ts";
import { change } from "../registry/update.ts";
import { builtIn, type Controller } from "../contract/controller.ts";
import { startLoop } from "./loop.ts";

const ROOT_CA = "kube-root-ca.crt";

/** What every namespace has: the ServiceAccount "default" and the ConfigMap kube-root-ca.crt. */
export function namespaceContentsController(cluster: Cluster): Controller {
  const loop = startLoop({
    name: "namespace-contents",
    cluster,
    reconcile: (namespace) => fill(cluster, namespace),
  });
  return {
    saw({ resource, object, type }) {
      if (resource.storage === "/namespaces" && type === "ADDED") loop.add(object.metadata.name);
      const { name, namespace } = object.metadata;
      const isOurs =
        (resource.storage === "/serviceaccounts" && name === "default") ||
        (resource.storage === "/configmaps" && name === ROOT_CA);
      if (isOurs && type !== "ADDED" && namespace) loop.add(namespace);
    },
    resume() {
      for (const { key } of cluster.store.list({ cluster: cluster.name, resource: "/namespaces" }).items)
        loop.add(key.name);
    },
    stop: () => loop.stop(),
  };
}

async function fill(cluster: Cluster, namespace: string): Promise<void> {
  const key = { cluster: cluster.name, resource: "/namespaces", namespace: "", name: namespace };
  const stored = cluster.store.get(key);
  if (!stored || stored.object.metadata.deletionTimestamp) return;
  const data = { "ca.crt": cluster.trustedRoots };
  const description = "Holds the certificate authority that signs this cluster's API endpoint.";
  const annotations = { "kubernetes.io/description": description };
  await Promise.all([
    ensure(cluster, "serviceaccounts", { kind: "ServiceAccount", metadata: { name: "default", namespace } }),
    ensure(cluster, "configmaps", { kind: "ConfigMap", metadata: { name: ROOT_CA, namespace, annotations }, data }),
  ]);
}

interface Wanted extends Json {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

async function ensure(cluster: Cluster, plural: string, wanted: Wanted): Promise<void> {
  const call = internalCall(cluster, builtIn(cluster, "", plural), wanted.metadata);
  const { name, namespace } = wanted.metadata;
  const stored = cluster.store.get({ cluster: cluster.name, resource: `/${plural}`, namespace, name });
  if (!stored) {
    await create(call, { apiVersion: "v1", ...structuredClone(wanted) }).catch((error: unknown) => {
      if (!hasCode(error, "KUBERNETES_ALREADY_EXISTS") && !hasCode(error, "KUBERNETES_FORBIDDEN")) throw error;
    });
    return;
  }
  if (wanted["data"] === undefined || same(fields(stored.object)["data"], wanted["data"])) return;
  await change(call, ({ object }) => {
    const draft = structuredClone(object) as Draft;
    delete draft.metadata.resourceVersion;
    draft["data"] = wanted["data"];
    return { draft, tracked: false };
  });
}
