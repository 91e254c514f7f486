import type { ClusterClass } from "@causeway/api";
import { isRecord } from "@causeway/foundation";
import type { VariableDefinition } from "./definition.ts";

/** The source of variables in `spec.variables`; the source of a discovered variable is the name of its patch. */
export const inline = "inline";

/** A variable of a ClusterClass, and what defines it: `inline`, or names of patches. */
export interface ClassVariable extends VariableDefinition {
  readonly from: readonly string[];
}

/** The variables in the spec of a ClusterClass, and those that extensions of its patches have discovered. */
export function classVariables({ spec, status }: Pick<ClusterClass, "spec" | "status">): ClassVariable[] {
  const discovered = (status?.variables ?? []).map(({ name, definitions }) => ({
    name,
    definitions: definitions.filter(({ from }) => from !== inline),
  }));
  const sources = new Map(discovered.map(({ name, definitions }) => [name, definitions.map(({ from }) => from)]));
  const own = (spec.variables ?? []).map((one) => ({ ...one, from: [inline, ...(sources.get(one.name) ?? [])] }));
  const known = new Set(own.map(({ name }) => name));
  const others = discovered.flatMap(({ name, definitions }): ClassVariable[] => {
    const [first] = definitions;
    if (!first || known.has(name)) return [];
    const { required, schema } = first;
    return [{ name, required, schema, from: definitions.map(({ from }) => from) }];
  });
  return [...own, ...others];
}

/** Whether a patch may read a variable: those that its own extension defines, and those of the spec. */
export function isDefinedFor({ from }: ClassVariable, patch: string): boolean {
  return from.includes(inline) || from.includes(patch);
}

const mostVariables = 1_000;

/** The variables in the response to DiscoverVariables, of v1beta1. @throws Error that says what is wrong with it */
export function readDiscovered(response: Readonly<Record<string, unknown>>): VariableDefinition[] {
  const { variables = [] } = response;
  if (!Array.isArray(variables)) throw new Error("variables of the response are no list");
  if (variables.length > mostVariables) throw new Error(`an extension has ${mostVariables} variables at most`);
  return variables.map((entry: unknown, at) => {
    const { name, required = false, schema, metadata } = isRecord(entry) ? entry : {};
    if (typeof name !== "string" || name === "" || name.length > 256) throw new Error(`variables[${at}] has no name`);
    if (typeof required !== "boolean") throw new Error(`required of variable ${name} is not a boolean`);
    const inner = isRecord(schema) ? schema["openAPIV3Schema"] : undefined;
    if (!isRecord(inner)) throw new Error(`variable ${name} has no schema.openAPIV3Schema`);
    const older = isRecord(metadata) ? { deprecatedV1Beta1Metadata: metadata } : {};
    return { name, required, schema: { openAPIV3Schema: inner }, ...older } as VariableDefinition;
  });
}
