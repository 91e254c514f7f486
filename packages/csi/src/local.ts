import { createClient, createRouterTransport, type Client } from "@connectrpc/connect";
import { Controller, GroupController } from "./protocol.generated.ts";
import { observing, type ObservingOptions } from "./server.ts";
import type { ControllerImpl, GroupControllerImpl } from "./services.ts";

/**
 * A client of a controller service in this process: no socket, and the same errors, log and metrics as through one.
 *
 * @example
 * const controller = localController({ controller: createController(options), translate });
 * await controller.listVolumes({});
 */
export function localController({
  controller,
  ...options
}: ObservingOptions & { readonly controller: ControllerImpl }): Client<typeof Controller> {
  const transport = createRouterTransport((router) => void router.service(Controller, controller), {
    router: { interceptors: [observing(options)] },
  });
  return createClient(Controller, transport);
}

/** The same of a group controller service. */
export function localGroupController({
  groupController,
  ...options
}: ObservingOptions & { readonly groupController: GroupControllerImpl }): Client<typeof GroupController> {
  const transport = createRouterTransport((router) => void router.service(GroupController, groupController), {
    router: { interceptors: [observing(options)] },
  });
  return createClient(GroupController, transport);
}
