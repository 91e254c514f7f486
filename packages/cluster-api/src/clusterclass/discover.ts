import type { ClusterClass } from "@causeway/api";
import { messageOf } from "@causeway/foundation";
import type { NamedCalls } from "../runtime/named-calls.ts";
import { readDiscovered } from "../variables/class-variables.ts";
import type { VariableDefinition } from "../variables/definition.ts";
import type { DiscoveredVariables } from "./observed.ts";

/** Milliseconds that a response to an equal request is used again, by other classes, too. */
const keep = 10 * 60_000;

/** Asks the extensions of a class which variables their patches have. */
export async function discoverVariables(
  calls: NamedCalls,
  clusterClass: ClusterClass,
  signal: AbortSignal,
): Promise<DiscoveredVariables[]> {
  const { metadata, spec } = clusterClass;
  const found: DiscoveredVariables[] = [];
  for (const { name: patch, external } of spec.patches ?? []) {
    const handler = external?.discoverVariablesExtension;
    if (!handler) continue;
    try {
      const call = { hook: "DiscoverVariables", handler, settings: external.settings, fields: {}, keep } as const;
      const response = await calls.call({ ...call, namespace: metadata.namespace ?? "" }, signal);
      found.push(
        response
          ? { patch, handler, variables: readDiscovered(response) }
          : { patch, handler, variables: knownVariables(clusterClass, patch), isOld: true },
      );
    } catch (error) {
      signal.throwIfAborted();
      found.push({ patch, handler, problem: messageOf(error) });
    }
  }
  return found;
}

/** The variables of a patch that the status lists: they stay while an extension that may be ignored is unreachable. */
function knownVariables({ status }: ClusterClass, patch: string): VariableDefinition[] {
  return (status?.variables ?? []).flatMap(({ name, definitions }) =>
    definitions.flatMap(({ from, ...definition }) => (from === patch ? [{ name, ...definition }] : [])),
  );
}
