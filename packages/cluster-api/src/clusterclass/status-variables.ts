import type { ClusterClassStatus } from "@causeway/api";
import { canonicalJson, isRecord } from "@causeway/foundation";
import { againAfterFailure } from "../runtime/named-calls.ts";
import { inline } from "../variables/class-variables.ts";
import { definitionProblems, type VariableDefinition } from "../variables/definition.ts";
import type { Observed } from "./gather.ts";
import { classProblems } from "./problems.ts";

type StatusVariable = NonNullable<ClusterClassStatus["variables"]>[number];
type StatusDefinition = StatusVariable["definitions"][number];

interface VariablesVerdict {
  readonly problems: readonly string[];
  /** What the status lists; undefined while not all of it is known. */
  readonly variables: StatusVariable[] | undefined;
  /** Milliseconds until extensions are called again. */
  readonly again?: number;
}

/** Milliseconds after which an extension that responded is called again. */
const againAfterSuccess = 10 * 60_000;

/** Variables that all extensions of a class define at most, and bytes of their definitions. */
const mostDiscovered = 1_000;
const mostBytes = 256 * 1024;

/** All variables of a class by their sources, and the problems of their definitions. */
export function judgeVariables({ clusterClass, discovered }: Observed): VariablesVerdict {
  const own = classProblems(clusterClass);
  if (own.length > 0) return { problems: own, variables: undefined };
  const excess = excessOf(discovered);
  if (excess) return { problems: [excess], variables: undefined, again: againAfterFailure };
  const failures = discovered.flatMap((one) =>
    "problem" in one ? [`failed to call DiscoverVariables for patch ${one.patch}: ${one.problem}`] : [],
  );
  const wrong = discovered.flatMap((one) =>
    "problem" in one
      ? []
      : definitionProblems(one.variables).map((problem) => `${one.patch} (${one.handler}): ${problem}`),
  );
  const isOld = discovered.some((one) => "isOld" in one && one.isOld);
  const again = isOld ? againAfterFailure : discovered.length > 0 ? againAfterSuccess : undefined;
  if (failures.length + wrong.length > 0)
    return {
      problems: [...failures, ...wrong].map((problem) => `VariableDiscovery failed: ${problem}`),
      variables: undefined,
      again: againAfterFailure,
    };
  const variables = merged(clusterClass.spec.variables ?? [], discovered);
  const conflicts = variables.filter(({ definitionsConflict }) => definitionsConflict).map(({ name }) => name);
  return {
    problems:
      conflicts.length > 0
        ? [`VariableDiscovery failed: the following variables have conflicting schemas: ${conflicts.join(",")}`]
        : [],
    variables,
    ...(again === undefined ? {} : { again }),
  };
}

/** The message where the variables exceed their limit: the API server stores objects of 1.5 MiB at most. */
function excessOf(discovered: Observed["discovered"]): string | undefined {
  const parts = discovered.flatMap((one) =>
    "problem" in one
      ? []
      : { name: one.patch, count: one.variables.length, bytes: Buffer.byteLength(JSON.stringify(one.variables)) },
  );
  const count = parts.reduce((sum, one) => sum + one.count, 0);
  const bytes = parts.reduce((sum, one) => sum + one.bytes, 0);
  if (count <= mostDiscovered && bytes <= mostBytes) return undefined;
  const largest = parts.toSorted((a, b) => b.bytes - a.bytes).slice(0, 3);
  const named = largest.map((one) => `${one.name}: ${one.count} (${one.bytes} bytes)`).join(", ");
  return (
    `VariableDiscovery failed: the extensions of a class can define ${mostDiscovered} variables in ${mostBytes} bytes, ` +
    `and these define ${count} in ${bytes}; the largest are of ${named}`
  );
}

function merged(own: readonly VariableDefinition[], discovered: Observed["discovered"]): StatusVariable[] {
  const all = new Map<string, StatusDefinition[]>();
  const add = (from: string, { name, required, schema, deprecatedV1Beta1Metadata }: VariableDefinition) => {
    const older = deprecatedV1Beta1Metadata ? { deprecatedV1Beta1Metadata } : {};
    all.set(name, [...(all.get(name) ?? []), { from, required, schema, ...older }]);
  };
  for (const one of own) add(inline, one);
  for (const one of discovered) if ("variables" in one) for (const variable of one.variables) add(one.patch, variable);
  const list = [...all].map(([name, definitions]) => ({
    name,
    definitionsConflict: isConflict(definitions),
    definitions,
  }));
  // In the spec's order where extensions have no part in it.
  return discovered.length === 0 ? list : list.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function isConflict([first, ...others]: readonly StatusDefinition[]): boolean {
  const form = (one: StatusDefinition | undefined) =>
    one && canonicalJson([one.required, withoutFalse(one.schema), one.deprecatedV1Beta1Metadata]);
  return others.some((one) => form(one) !== form(first));
}

/** In a schema a boolean that is false equals a missing one; defaults and enums are values and remain. */
function withoutFalse(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutFalse);
  if (!isRecord(value)) return value;
  const values: ReadonlySet<string> = new Set(["default", "enum", "example"]);
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) =>
      values.has(name) ? [[name, inner]] : inner === false ? [] : [[name, withoutFalse(inner)]],
    ),
  );
}
