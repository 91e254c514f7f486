import { computeError } from "../compute/model.ts";
import type { Table } from "../kernel/interface.ts";
import { mountResource } from "../kernel/rest/resource.ts";
import { instantOf, type StorageApp, type StorageEnv, type StorageParts, type Volume } from "./model.ts";
import { narrowed } from "./list.ts";
import { linksOf, type StorageContext } from "./views.ts";

/** Why a request failed after its response was 202: https://docs.openstack.org/api-ref/block-storage/v3/#messages . */
interface Message {
  readonly id: string;
  readonly project_id: string;
  readonly event_id: string;
  readonly user_message: string;
  readonly resource_uuid: string;
  readonly request_id: string;
  readonly created_at: string;
  readonly guaranteed_until: string;
}

const messagesOf = ({ kernel }: StorageParts): Table<Message> => kernel.table("_volume_message", ["project_id"]);
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

/** Messages are there from 3.3 on. */
export function addMessageRoutes(app: StorageApp, parts: StorageParts): void {
  const messages = messagesOf(parts);
  const found = (c: StorageContext): Message => {
    const id = c.req.param("id") ?? "";
    const message = messages.get(id);
    if (message?.project_id === c.get("caller").projectId) return message;
    throw computeError(404, `Message ${id} could not be found.`);
  };
  const view = (c: StorageContext, { project_id: _project, ...message }: Message) => ({
    ...message,
    message_level: "ERROR",
    resource_type: "VOLUME",
    links: linksOf(c, "messages", message.id),
  });
  mountResource<StorageEnv, Message>(app, parts.kernel, {
    path: "/v3/:project/messages",
    one: "message",
    many: "messages",
    find: found,
    list(c) {
      const all = messages.by("project_id", c.get("caller").projectId).toReversed();
      const levels = { message_level: "ERROR", resource_type: "VOLUME" };
      return {
        rows: narrowed(
          c,
          "message",
          all.map((message) => ({ ...message, ...levels })),
        ),
      };
    },
    view,
    remove: (_c, { id }) => messages.remove(id),
  });
}
