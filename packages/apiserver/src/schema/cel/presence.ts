import { callOf, type CelNode, nodesOf } from "./ast.ts";
import type { Declared } from "./declared.ts";
import { goType, printed } from "./problems.ts";

/** has() about a field that the schema does not have, which the library lets through. */
export function presenceProblem(root: CelNode, self: Declared, text: string): string | undefined {
  for (const node of nodesOf(root)) {
    const call = callOf(node);
    const [field] = call?.name === "has" && !call.receiver ? call.args : [];
    if (field?.op !== ".") continue;
    const holder = declaredAt(field.args[0], self);
    if (!holder || holder.type === "dyn" || holder.type.startsWith("map<")) continue;
    if (!holder.fields) {
      const why = `type '${goType(holder.type)}' does not support field selection`;
      return printed(text, why, text.indexOf("(", node.start));
    }
    if (holder.fields.has(field.args[1])) continue;
    return printed(text, `undefined field '${field.args[1]}'`, text.indexOf("(", node.start));
  }
  return undefined;
}

/** What the schema declares at a path of fields below self or oldSelf. */
function declaredAt(node: CelNode, self: Declared): Declared | undefined {
  if (node.op === "id") return node.args === "self" || node.args === "oldSelf" ? self : undefined;
  return node.op === "." ? declaredAt(node.args[0], self)?.fields?.get(node.args[1]) : undefined;
}
