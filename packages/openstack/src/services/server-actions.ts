import type { ServiceClient } from "../session/client.ts";
import type { CallOptions } from "../types/collection.ts";
import type { ServerActions } from "../types/compute-extras.ts";
import { actionsOf } from "./action.ts";
import { objectIn } from "./wire.ts";

/** POST /servers/{id}/action: https://docs.openstack.org/api-ref/compute/#servers-run-an-action-servers-action */
export function createServerActions(client: ServiceClient): ServerActions {
  const act = actionsOf(client, "/servers");
  const plain =
    (name: string) =>
    async (id: string, options?: CallOptions): Promise<void> => {
      await act(id, { [name]: null }, options);
    };
  const withBody = async (id: string, order: Record<string, unknown>, options?: CallOptions): Promise<void> => {
    await act(id, order, options);
  };
  return {
    start: plain("os-start"),
    stop: plain("os-stop"),
    reboot: (id, type = "SOFT", options) => withBody(id, { reboot: { type } }, options),
    pause: plain("pause"),
    unpause: plain("unpause"),
    suspend: plain("suspend"),
    resume: plain("resume"),
    lock: (id, reason, options) =>
      withBody(id, { lock: reason === undefined ? null : { locked_reason: reason } }, options),
    unlock: plain("unlock"),
    rescue: plain("rescue"),
    unrescue: plain("unrescue"),
    shelve: plain("shelve"),
    unshelve: plain("unshelve"),
    resize: (id, flavorRef, options) => withBody(id, { resize: { flavorRef } }, options),
    confirmResize: plain("confirmResize"),
    revertResize: plain("revertResize"),
    rebuild: async (id, imageRef, options) => objectIn(await act(id, { rebuild: { imageRef } }, options), "server"),
    async createImage(id, name, options) {
      return objectIn<{ image_id: string }>(await act(id, { createImage: { name } }, options), "").image_id;
    },
    async consoleOutput(id, lines, options) {
      const order = { "os-getConsoleOutput": lines === undefined ? {} : { length: lines } };
      return objectIn<{ output: string }>(await act(id, order, options), "").output;
    },
    addSecurityGroup: (id, name, options) => withBody(id, { addSecurityGroup: { name } }, options),
    removeSecurityGroup: (id, name, options) => withBody(id, { removeSecurityGroup: { name } }, options),
    forceDelete: plain("forceDelete"),
    liveMigrate: (id, options) => withBody(id, { "os-migrateLive": { host: null, block_migration: "auto" } }, options),
    migrate: plain("migrate"),
    evacuate: (id, options) => withBody(id, { evacuate: {} }, options),
  };
}
