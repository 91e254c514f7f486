import { hasCode } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";
import type { Cluster } from "../contract/cluster.ts";
import {
  followsBootstrap,
  GROUP,
  mandatoryFlowObjects,
  suggestedFlowObjects,
  type FlowManifest,
} from "../flow/bootstrap.ts";
import { danglingCondition } from "../flow/dangling.ts";
import { at, fields, records, same, text } from "../json/json.ts";
import type { Draft, Resource } from "../contract/resource.ts";
import { internalCall } from "../contract/call.ts";
import { create } from "../registry/create.ts";
import { apply } from "../registry/patch.ts";
import { change } from "../registry/update.ts";
import { builtIn, type Controller } from "../contract/controller.ts";
import { startLoop } from "./loop.ts";
import { ignoreMissing } from "./namespaces.ts";

const PRODUCER = "api-priority-and-fairness-config-producer-v1";
const CONSUMER = "api-priority-and-fairness-config-consumer-v1";

/**
 * Keeps priority and fairness whole: the mandatory and suggested objects are there and as this server has them (unless
 * their annotation was removed), and every FlowSchema has a condition for whether its level exists.
 */
export function flowController(cluster: Cluster): Controller {
  const levels = builtIn(cluster, GROUP, "prioritylevelconfigurations");
  const schemas = builtIn(cluster, GROUP, "flowschemas");
  const loop = startLoop({
    name: "priority_and_fairness_config_queue",
    cluster,
    async reconcile() {
      for (const manifest of [...mandatoryFlowObjects(), ...suggestedFlowObjects()]) {
        await ensure(cluster, manifest.kind === "FlowSchema" ? schemas : levels, manifest);
      }
      const names = new Set(stored(cluster, levels).map((l) => l.metadata.name));
      for (const schema of stored(cluster, schemas)) await tellDangling(cluster, schemas, { schema, names });
    },
  });
  return {
    saw({ resource }) {
      if (resource === levels || resource === schemas) loop.add("all");
    },
    resume: () => loop.add("all"),
    stop: () => loop.stop(),
  };
}

function stored({ name, store }: Cluster, { storage }: Resource): readonly KubeObject[] {
  return store.list({ cluster: name, resource: storage }).items.map((i) => i.object);
}

async function ensure(cluster: Cluster, resource: Resource, manifest: FlowManifest): Promise<void> {
  const { name } = manifest.metadata;
  const call = { ...internalCall(cluster, resource, {}), fieldManager: PRODUCER };
  const found = cluster.store.get({ cluster: cluster.name, resource: resource.storage, namespace: "", name });
  if (!found) {
    await create(call, structuredClone(manifest)).catch((error: unknown) => {
      if (!hasCode(error, "KUBERNETES_ALREADY_EXISTS")) throw error;
    });
    return;
  }
  if (!followsBootstrap(found.object.metadata) || same(fields(found.object)["spec"], manifest.spec)) return;
  await change({ ...call, name }, ({ object }) => {
    const draft = structuredClone(object) as Draft;
    delete draft.metadata.resourceVersion;
    draft["spec"] = structuredClone(manifest.spec);
    return { draft, tracked: false };
  }).catch(ignoreMissing);
}

async function tellDangling(
  cluster: Cluster,
  resource: Resource,
  { schema, names }: { schema: KubeObject; names: ReadonlySet<string> },
): Promise<void> {
  const isThere = names.has(text(at(schema, "spec", "priorityLevelConfiguration", "name")));
  const present = records(at(schema, "status", "conditions")).find((c) => c["type"] === "Dangling");
  const condition = danglingCondition(schema, isThere, cluster.clock.now());
  if (present && present["status"] === condition["status"] && present["message"] === condition["message"]) return;
  const { name } = schema.metadata;
  const call = { ...internalCall(cluster, resource, { name, subresource: "status" }), fieldManager: CONSUMER };
  const body = {
    apiVersion: schema.apiVersion,
    kind: schema.kind,
    metadata: { name, uid: schema.metadata.uid },
    status: { conditions: [condition] },
  };
  await apply(call, body, true).catch(ignoreMissing);
}
