import { computeError } from "../compute/model.ts";
import type { Table } from "../kernel/interface.ts";
import { ownedBy } from "../kernel/rest/owned.ts";
import { mountResource } from "../kernel/rest/resource.ts";
import { instantOf, linksOf, notThere } from "./model.ts";
import type { Share, ShareApp, ShareEnv, ShareParts } from "./model.ts";

/**
 * Why a request failed after its response was 200:
 * https://docs.openstack.org/api-ref/shared-file-system/#user-messages-since-api-v2-37 .
 */
interface Message {
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

const messagesOf = ({ kernel }: ShareParts): Table<Message> => kernel.table("_share_message", ["project_id"]);
const month = 30 * 24 * 3600 * 1000;
const firstVersion = 37;

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

/** Messages: list, show, delete. */
export function addMessageRoutes(app: ShareApp, parts: ShareParts): void {
  const messages = messagesOf(parts);
  mountResource<ShareEnv, Message>(app, parts.kernel, {
    path: "/v2/messages",
    one: "message",
    many: "messages",
    permit(c) {
      if (c.get("minor") < firstVersion) throw notThere();
    },
    find(c) {
      const id = c.req.param("id") ?? "";
      return ownedBy(c.get("caller"), messages.get(id), () => computeError(404, `Message ${id} could not be found.`));
    },
    list(c) {
      const of = c.req.query("resource_id");
      const all = messages.by("project_id", c.get("caller").projectId).toReversed();
      return { rows: all.filter((message) => of === undefined || message.resource_id === of) };
    },
    view: (c, message) => ({
      ...message,
      message_level: "ERROR",
      resource_type: "SHARE",
      links: linksOf(c, "messages", message.id),
    }),
    remove: (_c, { id }) => messages.remove(id),
  });
}
