import { Environment } from "@marcbachmann/cel-js";
import { isRecord, type Json } from "../../json/json.ts";
import { registerLists } from "../../schema/cel/lists.ts";
import { registerNetworks } from "../../schema/cel/networks.ts";
import { registerQuantities } from "../../schema/cel/quantities.ts";
import { registerStrings } from "../../schema/cel/strings.ts";
import { escapeName } from "../../schema/cel/values.ts";

/** What an expression makes of a value; throws when it cannot be evaluated. */
export type Expression = (value: Json) => unknown;

/** Compiles CEL about one variable, "claims" or "user". Throws what is wrong with it. */
export function compileExpression(variable: "claims" | "user", source: string): Expression {
  const environment = new Environment({
    homogeneousAggregateLiterals: false,
    enableOptionalTypes: true,
    limits: { maxAstNodes: 10_000, maxDepth: 100 },
  }).registerVariable(variable, "dyn");
  registerLists(environment);
  registerStrings(environment);
  registerNetworks(environment);
  registerQuantities(environment);
  const run = environment.parse(source);
  const { valid, error } = environment.check(source);
  if (!valid) throw error ?? new Error("invalid expression");
  return (value) => run({ [variable]: celValue(value) }) as unknown;
}

/** JSON as CEL has it: whole numbers are integers, and names that CEL cannot write are escaped. */
function celValue(value: unknown): unknown {
  if (typeof value === "number" && Number.isSafeInteger(value)) return BigInt(value);
  if (Array.isArray(value)) return value.map(celValue);
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).flatMap(([name, child]) => {
    const seen = celValue(child);
    const escaped = escapeName(name);
    return escaped === name ? [[name, seen] as const] : [[name, seen] as const, [escaped, seen] as const];
  });
  return Object.fromEntries(entries);
}
