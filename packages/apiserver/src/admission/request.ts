import type { Json } from "../json/json.ts";
import { kindIn, nameOf, namespaceOf, userInfoOf } from "./attributes.ts";
import type { Attempt } from "../contract/admission.ts";
import type { Form } from "./rules.ts";

/** admission.k8s.io/v1 AdmissionRequest but for its uid and objects, as it is seen in the given form. */
export function admissionRequest(attempt: Attempt, form: Form): Json {
  const { call, operation, kind, options } = attempt;
  const { resource, version, subresource, dryRun } = call;
  const name = nameOf(attempt);
  const namespace = namespaceOf(attempt);
  const sub = subresource ? { subResource: subresource } : {};
  return {
    kind: { ...kindIn(attempt, form) },
    resource: { group: form.resource.group, version: form.version.name, resource: form.resource.plural },
    ...sub,
    requestKind: { group: kind.group, version: kind.version, kind: kind.kind },
    requestResource: { group: resource.group, version: version.name, resource: resource.plural },
    ...(subresource ? { requestSubResource: subresource } : {}),
    ...(name ? { name } : {}),
    ...(namespace ? { namespace } : {}),
    operation,
    userInfo: userInfoOf(attempt),
    dryRun,
    options,
  };
}
