import { OpenStackServer } from "@causeway/api";
import { addFinalizer, removeFinalizer } from "@causeway/kubernetes";
import type { ServerPerformContext as CloudPerformContext } from "../openstackmachine/perform-context.ts";
import { performShared } from "../openstackmachine/perform.ts";
import { serverFinalizer } from "../resources/naming.ts";
import type { ServerStep } from "./steps.ts";

/** What the steps of an OpenStackServer are performed. */
export interface ServerPerformContext extends CloudPerformContext {
  readonly object: OpenStackServer;
}

/** The field manager of an OpenStackServer's status. */
export const fieldManager = "causeway-openstackserver";

/** Makes one step true. Each step may be repeated. */
export async function perform(step: ServerStep, using: ServerPerformContext, signal: AbortSignal): Promise<void> {
  const { client, object } = using;
  const change = { finalizer: serverFinalizer, signal };
  if (step.type === "add-finalizer") await addFinalizer(client, OpenStackServer, object, change);
  else if (step.type === "remove-finalizer") await removeFinalizer(client, OpenStackServer, object, change);
  else await performShared(step, using, signal);
}
