import Type from "typebox";
import { object, optional } from "../schema/fields.ts";

/** Shapes that only versions before v1beta2 have. */

const anyText = optional(Type.String());

/** A reference with version and namespace, as v1beta1 has it. */
export function objectReference() {
  return object({
    apiVersion: anyText,
    fieldPath: anyText,
    kind: anyText,
    name: anyText,
    namespace: anyText,
    resourceVersion: anyText,
    uid: anyText,
  });
}

/** Conditions of Cluster API before v1beta2: with a severity, and without an observed generation. */
export function oldConditions() {
  const item = object({
    lastTransitionTime: Type.String({ format: "date-time" }),
    message: optional(Type.String({ maxLength: 10240 })),
    reason: optional(Type.String({ maxLength: 256 })),
    severity: optional(Type.String({ maxLength: 32 })),
    status: Type.String(),
    type: Type.String({ minLength: 1, maxLength: 256 }),
  });
  return optional(
    Type.Array(item, { description: "Conditions of the form before v1beta2.", "x-kubernetes-list-type": "atomic" }),
  );
}

/** status.deprecated of the stored version: what v1beta1 has as status, with more fields of the kind. */
export function deprecatedStatus<T extends Type.TProperties>(fields: T) {
  return optional(
    object(
      { v1beta1: optional(object({ conditions: oldConditions(), ...fields })) },
      { description: "What only v1beta1 shows. Removed together with that version." },
    ),
  );
}

/** How a failure was reported before v1beta2. */
export const oldFailure = { failureReason: anyText, failureMessage: optional(Type.String({ maxLength: 10240 })) };
