import type { KubeObject } from "@causeway/kubernetes";
import { timestamp } from "../json.ts";
import { inVersion, type Draft } from "../kinds/resource.ts";
import * as patching from "../patch/index.ts";
import type { Call } from "./call.ts";

/** Writes into metadata.managedFields which fields this (non-apply) write set. */
export function tracked(call: Call, before: KubeObject | undefined, draft: Draft): Draft {
  const { resource, version, subresource } = call;
  const { trackUpdate } = patching as unknown as { trackUpdate?: (o: unknown) => unknown };
  if (!trackUpdate) return draft;
  return trackUpdate({
    ...(before ? { before: inVersion(resource, version, before) } : {}),
    after: draft,
    manager: call.fieldManager,
    subresource,
    apiVersion: inVersion(resource, version, draft).apiVersion,
    ...(version.schema ? { schema: version.schema.shape } : {}),
    time: timestamp(call.cluster.clock.now()),
  }) as Draft;
}
