import { computeError } from "../../compute/model.ts";
import { ownedBy } from "../../kernel/rest/owned.ts";
import { mountResource } from "../../kernel/rest/resource.ts";
import { linksOf, notThere } from "../model.ts";
import type { ShareApp, ShareEnv, ShareParts } from "../model.ts";
import { messagesOf, type Message } from "../rules/user-messages.ts";

const firstVersion = 37;

/** Messages: list, show, delete. */
export function mountMessages(app: ShareApp, parts: ShareParts): void {
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
