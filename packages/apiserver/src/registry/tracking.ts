import type { KubeObject } from "@causeway/kubernetes";
import { timestamp } from "../json.ts";
import { inVersion, type Draft } from "../kinds/resource.ts";
import { trackUpdate } from "../patch/index.ts";
import type { Call } from "./call.ts";

/** Writes into metadata.managedFields which fields this (non-apply) write set. */
export function tracked(call: Call, before: KubeObject | undefined, draft: Draft): Draft {
  const { resource, version, subresource } = call;
  const { apiVersion } = inVersion(resource, version, draft);
  return trackUpdate({
    ...(before ? { before } : {}),
    after: draft,
    manager: call.fieldManager,
    subresource,
    apiVersion,
    ...(version.schema ? { schema: version.schema.shape } : {}),
    time: timestamp(call.cluster.clock.now()),
  }) as Draft;
}
