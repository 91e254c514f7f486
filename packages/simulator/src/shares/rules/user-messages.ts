import type { Table } from "../../kernel/interface.ts";
import { instantOf, type Share, type ShareParts } from "../model.ts";

/**
 * Why a request failed after its response was 200:
 * https://docs.openstack.org/api-ref/shared-file-system/#user-messages-since-api-v2-37 .
 */
export interface Message {
  readonly id: string;
  readonly project_id: string;
  readonly action_id: string;
  readonly detail_id: string;
  readonly user_message: string;
  readonly resource_id: string;
  readonly request_id: string;
  readonly created_at: string;
  readonly expires_at: string;
}

/** The messages of all projects. */
export const messagesOf = ({ kernel }: ShareParts): Table<Message> => kernel.table("_share_message", ["project_id"]);
const month = 30 * 24 * 3600 * 1000;

/** By the number of the detail: what was being done, and why it failed. */
const reasons = {
  "003": {
    action_id: "002",
    user_message: "create: Driver does not expect share-network to be provided with current configuration.",
  },
  "007": {
    action_id: "001",
    user_message:
      "allocate host: No storage could be allocated for this share request, Availability filter didn't succeed.",
  },
  "008": {
    action_id: "001",
    user_message:
      "allocate host: No storage could be allocated for this share request, Capabilities filter didn't succeed.",
  },
  "009": {
    action_id: "001",
    user_message:
      "allocate host: No storage could be allocated for this share request, Capacity filter didn't succeed.",
  },
} as const;

/** Reports to the owner of a share why it is in error. */
export function noteOf(parts: ShareParts, share: Share, detail: keyof typeof reasons): void {
  const { kernel } = parts;
  messagesOf(parts).insert({
    id: kernel.newId(),
    project_id: share.project_id,
    detail_id: detail,
    ...reasons[detail],
    resource_id: share.id,
    request_id: `req-${kernel.newId()}`,
    created_at: instantOf(kernel),
    expires_at: `${new Date(kernel.clock.now() + month).toISOString().slice(0, 19)}.000000`,
  });
}
