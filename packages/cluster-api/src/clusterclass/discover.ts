import type { ClusterClass } from "@causeway/api";
import { messageOf } from "@causeway/foundation";
import type { NamedCalls } from "../runtime/named-calls.ts";
import { readDiscovered } from "../variables/class-variables.ts";
import type { DiscoveredVariables } from "./observed.ts";

/** Milliseconds that the answer to an equal question is used again, by other classes, too. */
const keep = 10 * 60_000;

/** Asks the extensions of a class which variables their patches have. */
export async function discoverVariables(
  calls: NamedCalls,
  { metadata, spec }: ClusterClass,
  signal: AbortSignal,
): Promise<DiscoveredVariables[]> {
  const found: DiscoveredVariables[] = [];
  for (const { name: patch, external } of spec.patches ?? []) {
    const handler = external?.discoverVariablesExtension;
    if (!handler) continue;
    try {
      const call = { hook: "DiscoverVariables", handler, settings: external.settings, fields: {}, keep } as const;
      const response = await calls.call({ ...call, namespace: metadata.namespace ?? "" }, signal);
      found.push({ patch, handler, variables: readDiscovered(response) });
    } catch (error) {
      signal.throwIfAborted();
      found.push({ patch, handler, problem: messageOf(error) });
    }
  }
  return found;
}
