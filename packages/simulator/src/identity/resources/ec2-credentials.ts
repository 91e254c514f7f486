import { createHash, randomBytes } from "node:crypto";
import type { Table } from "../../kernel/interface.ts";
import { textAt } from "../../kernel/json.ts";
import { mountResource } from "../../kernel/rest/resource.ts";
import { list } from "../listing.ts";
import { identityError, schemaError } from "../model.ts";
import {
  baseOf,
  callerOf,
  requireAdmin,
  type IdentityApp,
  type IdentityContext,
  type IdentityEnv,
  type IdentityParts,
} from "../kit/request.ts";

interface Ec2Credential {
  /** The access key. */
  readonly id: string;
  readonly secret: string;
  readonly user_id: string;
  readonly tenant_id: string;
}

/** Access keys for EC2's API: stored and returned; nothing here accepts them. */
export function mountEc2Credentials(app: IdentityApp, { kernel, tables }: IdentityParts): void {
  const table: Table<Ec2Credential> = kernel.table("_ec2_credential", ["user_id"]);
  const path = "/v3/users/:user/credentials/OS-EC2";
  const owner = (c: IdentityContext, rule: string): string => {
    const user = c.req.param("user") ?? "";
    if (callerOf(c).userId !== user) requireAdmin(c, rule);
    return user;
  };
  const view = (c: IdentityContext, { id, ...rest }: Ec2Credential) => ({
    ...rest,
    access: id,
    trust_id: null,
    links: { self: `${baseOf(c)}/users/${rest.user_id}/credentials/OS-EC2/${id}` },
  });
  mountResource<IdentityEnv, Ec2Credential>(app, kernel, {
    path,
    one: "credential",
    many: "credentials",
    permit(c, verb) {
      const rules = { list: "list_credentials", create: "create_credential", delete: "delete_credential" };
      owner(c, `ec2_${verb in rules ? rules[verb as keyof typeof rules] : "get_credential"}`);
    },
    find(c) {
      const id = c.req.param("id") ?? "";
      const key = table.get(id);
      if (key && key.user_id === c.req.param("user")) return key;
      // Keystone keeps a credential under the digest of its key.
      throw identityError(404, `Could not find credential: ${createHash("sha256").update(id).digest("hex")}.`);
    },
    list: (c) => ({ rows: table.by("user_id", c.req.param("user") ?? "") }),
    respondList: (c, views) => list(c, "credentials", views),
    view,
    givenOf: (body) => body,
    create(c, given) {
      const tenant_id = textAt(given, "tenant_id");
      if (tenant_id === undefined) throw schemaError("'tenant_id' is a required property");
      if (!tables.projects.get(tenant_id)) throw identityError(404, `Could not find project: ${tenant_id}.`);
      const [id, secret] = [randomBytes(16).toString("hex"), randomBytes(16).toString("hex")];
      return table.insert({ id, secret, user_id: c.req.param("user") ?? "", tenant_id });
    },
    remove: (_c, { id }) => table.remove(id),
  });
}
