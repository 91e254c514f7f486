import type { ExtensionConfig } from "@causeway/api";
import { messageOf } from "@causeway/foundation";
import type { ObjectKey } from "@causeway/kubernetes";
import type { Context } from "../objects/context.ts";
import { authorityOf } from "../runtime/authority.ts";
import { createExtensionClient } from "../runtime/client.ts";
import { readDiscovery } from "../runtime/handlers.ts";
import { hooksApi } from "../runtime/hooks.ts";
import type { Discovery, Observed } from "./observed.ts";
import { isDiscoveryDue } from "./plan.ts";

const timeout = 10_000;

/** When extensions were last called for what they handle, by the uid of their config (ms since the epoch). */
export type LastDiscoveries = Map<string, number>;

/** Asks the extension what it handles, where that is due. */
export async function gather(
  context: Context,
  { key, last }: { readonly key: ObjectKey; readonly last: LastDiscoveries },
  signal: AbortSignal,
): Promise<Observed | undefined> {
  const config = context.extensionConfigs.get({ namespace: "", name: key.name });
  if (!config) return undefined;
  const uid = config.metadata.uid ?? "";
  const now = context.clock.now();
  if (!isDiscoveryDue(config, last.get(uid), now)) return { config, discovery: undefined };
  const discovery = await discover(context, config, signal);
  last.set(uid, context.clock.now());
  return { config, discovery };
}

async function discover(context: Context, config: ExtensionConfig, signal: AbortSignal): Promise<Discovery> {
  const { settings } = config.spec;
  const body = { apiVersion: hooksApi, kind: "DiscoveryRequest", ...(settings ? { settings } : {}) };
  const extensions = context.extensions ?? createExtensionClient();
  try {
    const ca = await authorityOf(context.informers.client, config, signal);
    const response = await extensions.call({ config, path: "discovery", body, timeout, ca }, signal);
    return { handlers: readDiscovery(response, config.metadata.name) };
  } catch (error) {
    signal.throwIfAborted();
    return { problem: messageOf(error).slice(0, 1024) };
  }
}
