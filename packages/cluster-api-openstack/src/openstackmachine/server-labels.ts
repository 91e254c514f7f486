import type { Server } from "@causeway/openstack";
import { serverOwnerKey } from "../resources/naming.ts";
import { tagsAfter } from "../resources/ownership.ts";
import type { MachineContext } from "./model.ts";
import type { MachineStep } from "./steps.ts";

/** The tags and metadata that the spec gives a server. */
export interface ServerLabels {
  readonly tags: readonly string[];
  readonly metadataKeys: readonly string[];
  readonly steps: readonly MachineStep[];
}

const failure = { reason: "ServerUpdateFailed", isUpdate: true } as const;

/** Tags of a server: the machine's and the cluster's. */
export function serverTags({ object, infrastructure }: MachineContext): string[] {
  return [...new Set([...(object.spec.tags ?? []), ...(infrastructure?.spec.tags ?? [])])];
}

/** Brings tags and metadata to what the spec says; those that others have set remain. */
export function planServerLabels(context: MachineContext, server: Server): ServerLabels {
  const { spec, status } = context.object;
  const tags = serverTags(context);
  const metadata = Object.fromEntries(
    (spec.serverMetadata ?? []).filter(({ key }) => key !== serverOwnerKey).map(({ key, value }) => [key, value]),
  );
  const keys = Object.keys(metadata).sort();
  // A Nova without tags lists none.
  const next = server.tags && tagsAfter(server.tags, { wanted: tags, before: status?.resolved?.tags ?? [] });
  const set = Object.fromEntries(Object.entries(metadata).filter(([key, value]) => server.metadata[key] !== value));
  const remove = (status?.resolved?.metadataKeys ?? []).filter((key) => !keys.includes(key) && key in server.metadata);
  const changed = Object.keys(set).length + remove.length > 0;
  return {
    tags,
    metadataKeys: keys,
    steps: [
      ...(next ? [{ type: "set-server-tags", ...failure, id: server.id, tags: next } as const] : []),
      ...(changed ? [{ type: "set-server-metadata", ...failure, id: server.id, set, remove } as const] : []),
    ],
  };
}
