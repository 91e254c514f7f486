import type { Column } from "../../contract/resource.ts";
import { at, records, text, type Json } from "../../json/json.ts";
import { CREATED } from "../../tables/cells.ts";
import { AGE, NAME } from "../../tables/table.ts";

/** As `kubectl get clusterroles` prints them: with the time of creation instead of the age. */
export const CLUSTER_ROLE_COLUMNS: readonly Column[] = [NAME, CREATED];

/** As `kubectl get rolebindings` prints them, and `kubectl get clusterrolebindings`; subjects with -o wide. */
export const BINDING_COLUMNS: readonly Column[] = [
  NAME,
  { name: "Role", cell: (o) => `${text(at(o, "roleRef", "kind"))}/${text(at(o, "roleRef", "name"))}` },
  AGE,
  { name: "Users", priority: 1, cell: (o) => subjects(o, "User") },
  { name: "Groups", priority: 1, cell: (o) => subjects(o, "Group") },
  { name: "ServiceAccounts", priority: 1, cell: (o) => subjects(o, "ServiceAccount") },
];

function subjects(binding: Json, kind: string): string {
  const found = records(binding["subjects"]).filter((s) => s["kind"] === kind);
  return found.map((s) => (kind === "ServiceAccount" ? `${text(s["namespace"])}/` : "") + text(s["name"])).join(", ");
}
