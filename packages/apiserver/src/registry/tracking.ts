import type { KubeObject } from "@causeway/kubernetes";
import { timestamp } from "../json.ts";
import { inVersion, type Draft } from "../kinds/resource.ts";
import { trackUpdate } from "../patch/index.ts";
import { blankOf } from "../wire/canonical.ts";
import type { Call } from "./call.ts";

/** Writes into metadata.managedFields which fields this (non-apply) write set. */
export function tracked(call: Call, before: KubeObject | undefined, draft: Draft): Draft {
  const { resource, version, subresource } = call;
  const { apiVersion } = inVersion(resource, version, draft);
  const seen = (object: KubeObject): KubeObject =>
    resource.custom ? object : (version.fromStored?.(object) ?? object);
  const was = before ?? blank(call, draft);
  const { metadata } = trackUpdate({
    ...(was ? { before: writable(call, seen(was)) } : {}),
    after: writable(call, seen(draft)),
    manager: call.fieldManager,
    subresource,
    apiVersion,
    ...(version.schema ? { schema: version.schema.shape } : {}),
    time: timestamp(call.cluster.clock.now()),
  });
  return { ...draft, metadata };
}

/** What a new object of a built-in kind has before its maker says anything: nobody owns that. */
function blank({ resource, cluster }: Call, draft: Draft): KubeObject | undefined {
  return resource.custom ? undefined : blankOf(cluster.catalog.tables, draft);
}

/** Status is written through its subresource: what stands there in other writes is nobody's. */
function writable({ resource, version, subresource }: Call, object: KubeObject): KubeObject {
  const hasStatus = version.subresources?.some((s) => s.name === "status") ?? false;
  if (resource.custom || !hasStatus || subresource !== "") return object;
  const { status: _status, ...rest } = object as Draft;
  return rest as KubeObject;
}
