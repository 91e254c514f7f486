import type { Table } from "../../kernel/interface.ts";
import { instantOf, type StorageParts, type Volume } from "../model.ts";

/** Why a request failed after its response was 202: https://docs.openstack.org/api-ref/block-storage/v3/#messages . */
export interface Message {
  readonly id: string;
  readonly project_id: string;
  readonly event_id: string;
  readonly user_message: string;
  readonly resource_uuid: string;
  readonly request_id: string;
  readonly created_at: string;
  readonly guaranteed_until: string;
}

/** The messages of all projects. */
export const messagesOf = ({ kernel }: StorageParts): Table<Message> => kernel.table("_volume_message", ["project_id"]);
const month = 30 * 24 * 3600 * 1000;

/** Reports to the owner of a volume that no backend could be found for it. */
export function noBackendFor(parts: StorageParts, volume: Volume): void {
  const { kernel } = parts;
  const until = new Date(kernel.clock.now() + month).toISOString();
  messagesOf(parts).insert({
    id: kernel.newId(),
    project_id: volume.project_id,
    event_id: "VOLUME_VOLUME_001_003",
    user_message: "schedule allocate volume:Could not find any available weighted backend.",
    resource_uuid: volume.id,
    request_id: `req-${kernel.newId()}`,
    created_at: instantOf(kernel),
    guaranteed_until: `${until.slice(0, 23)}000`,
  });
}
