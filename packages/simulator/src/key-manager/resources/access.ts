import type { Service } from "../../kernel/interface.ts";
import { at, bodyOf } from "../../kernel/json.ts";
import { instantOf, keyError, owned, readable, type Access, type KeyParts } from "../model.ts";
import { keyRoot } from "../listing.ts";

/** Who may read a secret or a container, in addition to its project. */
export function mountAccess(app: Service["app"], { kernel, tables }: KeyParts): void {
  for (const [kind, what] of [
    ["secrets", "Secret"],
    ["containers", "Container"],
  ] as const) {
    const path = `/v1/${kind}/:id/acl`;
    const table = tables[kind];
    const idOf = (c: { req: { param(name: "id"): string | undefined } }): string => c.req.param("id") ?? "";
    const keep = (id: string, acl: Access | null) =>
      kind === "secrets" ? tables.secrets.update(id, { acl }) : tables.containers.update(id, { acl });
    app.get(path, (c) => {
      const { acl } = readable(table.get(idOf(c)), c.get("caller"), { what, doing: `${what}ACL(s) retrieval` });
      return c.json({ read: acl ?? { "project-access": true } });
    });
    for (const method of ["PUT", "PATCH"] as const) {
      app.on(method, path, async (c) => {
        const { id, acl } = owned(table.get(idOf(c)), c.get("caller"), { what, doing: `${what}ACL(s) Update` });
        const old = method === "PATCH" ? acl : undefined;
        keep(id, accessOf(at(await bodyOf(c.req), "read"), { old, created: acl?.created, now: instantOf(kernel) }));
        return c.json({ acl_ref: `${keyRoot(c)}/${kind}/${id}/acl` });
      });
    }
    app.delete(path, (c) => {
      keep(owned(table.get(idOf(c)), c.get("caller"), { what, doing: `${what}ACL(s) deletion` }).id, null);
      return c.body(null, 200);
    });
  }
}

function accessOf(
  given: unknown,
  { old, created, now }: { old: Access | null | undefined; created: string | undefined; now: string },
): Access {
  const users = at(given, "users") ?? old?.users ?? [];
  const open = at(given, "project-access") ?? old?.["project-access"] ?? true;
  if (given === undefined || !Array.isArray(users) || typeof open !== "boolean") {
    throw keyError(400, "Bad Request", "Provided object does not match schema 'ACL'");
  }
  return { "project-access": open, users: users.map(String), created: created || now, updated: now };
}
