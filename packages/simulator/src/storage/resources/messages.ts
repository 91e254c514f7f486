import { computeError } from "../../compute/model.ts";
import { mountResource } from "../../kernel/rest/resource.ts";
import type { StorageApp, StorageEnv, StorageParts } from "../model.ts";
import { messagesOf, type Message } from "../rules/user-messages.ts";
import { narrowed } from "../listing.ts";
import { linksOf, type StorageContext } from "../views.ts";

/** Messages are there from 3.3 on. */
export function mountMessages(app: StorageApp, parts: StorageParts): void {
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
