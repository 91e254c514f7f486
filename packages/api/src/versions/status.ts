import { all, converted, moved, type Lens } from "../lenses/lens.ts";
import { isJson } from "../lenses/json.ts";

/** Conditions: those of v1beta1 are kept as deprecated ones; v1beta1 shows the current ones under status.v1beta2. */
export const conditionsLens: Lens = all(
  moved("conditions", "deprecated.v1beta1.conditions"),
  moved("v1beta2.conditions", "conditions"),
);

/** The reason and message of a failure that cannot be repaired: the stored version has them as deprecated ones. */
export const failureLens: Lens = all(
  moved("failureReason", "deprecated.v1beta1.failureReason"),
  moved("failureMessage", "deprecated.v1beta1.failureMessage"),
);

/** A counter of v1beta1 that means something else in the stored version, which v1beta1 shows under status.v1beta2. */
export function counter(name: string): Lens {
  return all(moved(name, `deprecated.v1beta1.${name}`), moved(`v1beta2.${name}`, name));
}

/** A counter that only v1beta1 has. */
export function oldCounter(name: string): Lens {
  return moved(name, `deprecated.v1beta1.${name}`);
}

/** A reference to a Node: by its name alone in the stored version. */
export const nodeReference: Lens = converted("nodeRef", "nodeRef", {
  up: (value) => (isJson(value) ? { name: value["name"] } : value),
  down: (value) => (isJson(value) ? { apiVersion: "v1", kind: "Node", name: value["name"] } : value),
});
