import type { KubeObject } from "@causeway/kubernetes";
import { at, fields, record, same, text } from "../../json.ts";
import type { WriteContext } from "../../kinds/resource.ts";
import { forbidden } from "../../server/status.ts";

const POLICIES = { group: "admissionregistration.k8s.io", plural: "validatingadmissionpolicies" };

/** Who has a policy read parameters must be allowed to read them. Throws 403. */
export function forbidParamKind(object: KubeObject, old: KubeObject | undefined, context: WriteContext): void {
  const kind = at(fields(object), "spec", "paramKind");
  if (!kind || (old && same(kind, at(fields(old), "spec", "paramKind")))) return;
  const { user, cluster } = context;
  if (user.groups.includes("system:masters")) return;
  const { apiVersion, kind: name } = record(kind);
  const [version = "", group = ""] = text(apiVersion).split("/").toReversed();
  const plural = cluster.catalog.byKind(group, text(name))?.plural ?? "*";
  const asked = { user, verb: "get", namespace: "*", group, version, plural, subresource: "", name: "*" };
  if (cluster.access.allows(asked)) return;
  const about = `(kind=${text(name)}, apiVersion=${text(apiVersion)})`;
  const why = `user ${user.name} must have "get" permission on all objects of the referenced paramKind ${about}`;
  throw forbidden(POLICIES, object.metadata.name, why);
}
