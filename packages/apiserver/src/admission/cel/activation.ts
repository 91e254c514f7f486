import { record } from "../../json/json.ts";
import type { Json as JsonValue } from "../../json/values.ts";
import { toCel } from "../../schema/cel/values.ts";
import { OBJECT_LIMIT } from "../../schema/cel/program.ts";
import type { CelEnvironment } from "../../schema/cel/cel-environment.ts";
import { nameOf, namespaceObject, namespaceOf } from "../attributes.ts";
import type { Attempt } from "../../contract/admission.ts";
import { admissionRequest } from "../request.ts";
import type { Form } from "../rules.ts";
import { Authorizer } from "./authorizer.ts";
import type { Activation } from "./expressions.ts";

// Only strings of a known format need the environment, and there are none without a schema.
const NO_ENVIRONMENT = {} as CelEnvironment;

/** JSON as CEL sees it where there is no schema: whole numbers are ints. */
export function plainValue(value: unknown): unknown {
  return value === undefined ? null : toCel(NO_ENVIRONMENT, undefined, value as JsonValue);
}

/**
 * What expressions see of an attempt whose objects are in the given form; `withNamespace` where policies may check
 * the namespace.
 */
export function activationOf(attempt: Attempt, form: Form, withNamespace: boolean): Activation {
  const { call, object, old } = attempt;
  const { user, cluster, resource, version, subresource } = call;
  const { object: _object, oldObject: _old, ...request } = record(admissionRequest(attempt, form));
  const about = {
    namespace: namespaceOf(attempt),
    group: resource.group,
    version: version.name,
    plural: resource.plural,
    subresource,
    name: nameOf(attempt),
  };
  return {
    object: plainValue(object),
    oldObject: plainValue(old),
    request: plainValue({ name: "", namespace: "", subResource: "", requestSubResource: "", ...request }),
    namespaceObject: withNamespace ? plainValue(namespaceObject(attempt)) : null,
    meter: { left: OBJECT_LIMIT },
    authorizer: new Authorizer(user, (asked) => cluster.access.allows(asked), about),
  };
}
