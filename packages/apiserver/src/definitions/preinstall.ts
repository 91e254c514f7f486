import { CausewayError } from "@causeway/foundation";
import type { Cluster } from "../contract/cluster.ts";
import { fields, isRecord, record, same, text } from "../json/json.ts";
import type { Draft } from "../contract/resource.ts";
import { internalCall } from "../contract/call.ts";
import { create } from "../registry/create.ts";
import { change } from "../registry/update.ts";
import { DEFINITIONS } from "./status.ts";

/** Makes the given CustomResourceDefinition manifests exist as given. Throws APISERVER_CRD_INVALID. */
export async function ensureDefinitions(cluster: Cluster, manifests: readonly unknown[]): Promise<void> {
  await Promise.all(manifests.map((manifest) => ensureDefinition(cluster, manifest)));
}

async function ensureDefinition(cluster: Cluster, manifest: unknown): Promise<void> {
  const resource = cluster.catalog.byKind("apiextensions.k8s.io", "CustomResourceDefinition");
  const name = text(record(record(manifest)["metadata"])["name"]);
  if (!resource || !isRecord(manifest) || !name) {
    throw new CausewayError("APISERVER_CRD_INVALID", "a manifest given as a CRD is not one", {
      hint: "Specify apiextensions.k8s.io/v1 CustomResourceDefinition objects.",
    });
  }
  const call = internalCall(cluster, resource, { name });
  const stored = cluster.store.get({ cluster: cluster.name, resource: DEFINITIONS, namespace: "", name });
  if (!stored) {
    await create(call, structuredClone(manifest));
    return;
  }
  // As a writer's body is read: with the names and the conversion that follow from the rest.
  const given = structuredClone(manifest) as Draft;
  resource.strategy.read?.(given);
  const wanted = record(given["spec"]);
  await change(call, ({ object }) => {
    const draft = structuredClone(object) as Draft;
    delete draft.metadata.resourceVersion;
    const metadata = record(manifest["metadata"]);
    draft.metadata.labels = { ...draft.metadata.labels, ...(metadata["labels"] as Record<string, string>) };
    draft.metadata.annotations = {
      ...draft.metadata.annotations,
      ...(metadata["annotations"] as Record<string, string>),
    };
    if (!same(wanted, record(fields(object)["spec"]))) draft["spec"] = structuredClone(wanted);
    return { draft, tracked: false };
  });
}
