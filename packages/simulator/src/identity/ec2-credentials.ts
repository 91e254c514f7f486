import { createHash, randomBytes } from "node:crypto";
import type { Table } from "../kernel/interface.ts";
import { bodyOf, textAt } from "../kernel/json.ts";
import { list } from "./lists.ts";
import { identityError, schemaError } from "./model.ts";
import {
  baseOf,
  callerOf,
  requireAdmin,
  type IdentityApp,
  type IdentityContext,
  type IdentityParts,
} from "./request.ts";

interface Ec2Credential {
  /** The access key. */
  readonly id: string;
  readonly secret: string;
  readonly user_id: string;
  readonly tenant_id: string;
}

/** Access keys for EC2's API: stored and returned; nothing here accepts them. */
export function addEc2Routes(app: IdentityApp, { kernel, tables }: IdentityParts): void {
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
  const found = (c: IdentityContext, rule: string): Ec2Credential => {
    const user = owner(c, rule);
    const key = table.get(c.req.param("id") ?? "");
    // Keystone keeps a credential under the digest of its key.
    const digest = createHash("sha256")
      .update(c.req.param("id") ?? "")
      .digest("hex");
    if (key?.user_id !== user) throw identityError(404, `Could not find credential: ${digest}.`);
    return key;
  };
  app.get(path, (c) => {
    const keys = table.by("user_id", owner(c, "ec2_list_credentials"));
    return list(
      c,
      "credentials",
      keys.map((key) => view(c, key)),
    );
  });
  app.post(path, async (c) => {
    const user_id = owner(c, "ec2_create_credential");
    const tenant_id = textAt(await bodyOf(c.req), "tenant_id");
    if (tenant_id === undefined) throw schemaError("'tenant_id' is a required property");
    if (!tables.projects.get(tenant_id)) throw identityError(404, `Could not find project: ${tenant_id}.`);
    const [id, secret] = [randomBytes(16).toString("hex"), randomBytes(16).toString("hex")];
    return c.json({ credential: view(c, table.insert({ id, secret, user_id, tenant_id })) }, 201);
  });
  app.get(`${path}/:id`, (c) => c.json({ credential: view(c, found(c, "ec2_get_credential")) }));
  app.delete(`${path}/:id`, (c) => {
    table.remove(found(c, "ec2_delete_credential").id);
    return c.body(null, 204);
  });
}
